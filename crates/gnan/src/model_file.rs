//! The model file `*.gnan`: a safetensors container with a versioned JSON description in its metadata.
//!
//! | tensor | shape |
//! |---|---|
//! | `shape.layer0.weight`, `shape.layer0.bias` | `[networks, hidden]` |
//! | `shape.layerN.weight`, `.bias` | `[networks, hidden in, hidden out]`, `[networks, hidden]` |
//! | `shape.output.weight`, `.bias` | `[networks, outputs, hidden]`, `[networks, outputs]` |
//! | `shape.coefficients` | `[coefficients, outputs]` instead of these, where shape functions are splines |
//! | `rho.*` | the same for the distance functions |
//! | `values` | `[levels, outputs]`: categorical levels and missing values, by feature |
//! | `bias`, `output_bias` | `[outputs]`: `b` and `b0` |
//! | `readout.*` | as `shape.*`, where there is a readout: the structure's function, then one per feature; then what sources say has one output |
//!
//! Networks are those of the numeric features in the order of the description; a network sees
//! `(x - shift) / scale`, and `f_k` is its output minus its output at 0. A rho network sees `t = 1 / (1 + distance)` (0
//! for unreachable) by `rho_scale` in the same way, and its output, times the factor of the distance in
//! `shell_scale` where there is one, is rho. A B-spline sees the same as a network would; its
//! degree and knots are in the description, its coefficients, feature after feature, in the tensor.
//!
//! A file can lie, so everything is checked at the door: size before reading, version by name, exact tensor names and
//! shapes, finite values. Writing is atomic.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::dataset::links::CLASSES;
use crate::dataset::pair::MOST_LEVELS;
use crate::dataset::{FeatureBins, FeaturePair, LinkSchema, Outcome};
use crate::error::{Error, Result};
use crate::files::{Kind, Task};
use crate::lens::{Lens, Pool};
use crate::limits::Limits;
use crate::model::{Description, FeatureSchema, Model, Parameters, RhoScale, TargetSchema, output_count};
use crate::output::write_atomically;
use crate::remedy::{Remedy, Step};
use crate::shape::{Architecture, Bank, BankForm, ShapeKind};
use crate::statistics::knots::{FEWEST_KNOTS, MOST_KNOTS};

/// The version this library writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;
/// The metadata key of the description.
const KEY: &str = "gnan";
/// Sizes beyond these are refused before anything is allocated.
const MOST_LAYERS: usize = 16;
const MOST_HIDDEN: usize = 4096;

#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    description: Description,
}

/// The version alone, readable whatever else a newer header holds.
#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

impl Model {
    /// The bytes of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let header = Header { version: FORMAT_VERSION, description: self.description().clone() };
        let json = serde_json::to_string(&header)
            .map_err(|error| Error::because("the description cannot be written", error))?;
        let tensors = tensors_of(self);
        let views = tensors
            .iter()
            .map(|(name, (shape, bytes))| Ok((name.as_str(), TensorView::new(Dtype::F32, shape.clone(), bytes)?)))
            .collect::<std::result::Result<Vec<_>, safetensors::SafeTensorError>>();
        let metadata = HashMap::from([(KEY.to_owned(), json)]);
        views
            .and_then(|views| safetensors::serialize(views, Some(metadata)))
            .map_err(|error| Error::because("the model cannot be written", error))
    }

    /// Writes the model file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path.as_ref(), &self.to_bytes()?)
    }

    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        if path.is_dir() {
            return Err(Error::input("this is a folder, not a model file").in_file(path));
        }
        if !path.exists() {
            return Err(Error::input("there is no such model file")
                .in_file(path)
                .with_remedy(Remedy::Run(Step::Train)));
        }
        let bytes = Limits::default().read(path, "bytes in a model file")?;
        Self::from_bytes(&bytes).map_err(|error| error.in_file(path))
    }

    /// Reads a model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        let broken = |what: String| Error::input(format!("this is not a usable model file: {what}"));
        let (_, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|error| broken(error.to_string()).caused_by(error))?;
        let json = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let json = json.ok_or_else(|| broken("it has no gnan description".to_owned()))?;
        let version: VersionOnly =
            serde_json::from_str(json).map_err(|error| broken(error.to_string()).caused_by(error))?;
        if version.version > FORMAT_VERSION {
            return Err(Error::version(format!(
                "the model file has format version {}; this gnan reads up to version {FORMAT_VERSION}",
                version.version
            ))
            .with_remedy("update gnan"));
        }
        let header: Header = serde_json::from_str(json).map_err(|error| broken(error.to_string()).caused_by(error))?;
        check(&header.description).map_err(broken)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| broken(error.to_string()).caused_by(error))?;
        let parameters = read_parameters(&header.description, &tensors).map_err(broken)?;
        Ok(Model::from_parts(header.description, parameters))
    }
}

type Tensors = BTreeMap<String, (Vec<usize>, Vec<u8>)>;

fn tensors_of(model: &Model) -> Tensors {
    let (parameters, forms) = (model.parameters(), model.description().forms());
    let mut tensors = Tensors::new();
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let banks = [
        ("shape", forms.shapes, &parameters.shapes),
        ("rho", forms.rhos, &parameters.rhos),
        ("readout", forms.readouts, &parameters.readouts),
    ];
    for (prefix, form, bank) in
        banks.into_iter().filter(|(prefix, ..)| *prefix != "readout" || model.description().readout)
    {
        for ((name, dimensions), values) in form.tensors().into_iter().zip(bank.tensors()) {
            tensors.insert(format!("{prefix}.{name}"), (dimensions, bytes(&values)));
        }
    }
    let outputs = parameters.bias.len();
    tensors.insert("values".into(), (vec![parameters.values.len() / outputs, outputs], bytes(&parameters.values)));
    tensors.insert("bias".into(), (vec![outputs], bytes(&parameters.bias)));
    tensors.insert("output_bias".into(), (vec![parameters.output_bias.len()], bytes(&parameters.output_bias)));
    tensors
}

/// Refuses descriptions that contradict themselves.
fn check(description: &Description) -> std::result::Result<(), String> {
    let Architecture { layers, hidden, outputs } = description.architecture;
    if layers == 0 || layers > MOST_LAYERS || hidden == 0 || hidden > MOST_HIDDEN || hidden % 16 != 0 {
        return Err(format!("networks of {layers} layers of {hidden}"));
    }
    let class_counts: Vec<Option<usize>> =
        description.targets.iter().map(|target| target.classes.as_ref().map(Vec::len)).collect();
    let fits = match (description.outcome, class_counts.as_slice()) {
        (Outcome::Binary, [Some(2)]) | (Outcome::Regression, [None]) => true,
        (Outcome::Multiclass, [Some(count)]) => *count > 2,
        (Outcome::MultiLabel, several) => several.len() > 1 && several.iter().all(|count| *count == Some(2)),
        (Outcome::MultiRegression, several) => several.len() > 1 && several.iter().all(Option::is_none),
        _ => false,
    };
    if !fits {
        return Err("its targets do not fit what it predicts".to_owned());
    }
    let counts: Vec<usize> =
        [false, true].map(|two_logits| output_count(description.outcome, &description.targets, two_logits)).to_vec();
    if outputs == 0 || !counts.contains(&outputs) {
        return Err(format!("{outputs} outputs do not fit its targets"));
    }
    if let Some(links) = &description.links {
        check_links(description, links)?;
    }
    let RhoScale { shift, scale } = description.rho_scale;
    if !(shift.is_finite() && scale.is_finite() && scale.abs() > 1e-9) {
        return Err("it has no usable scale of rho".to_owned());
    }
    let scales = &description.shell_scale;
    if scales.len() == 1
        || (!scales.is_empty() && description.lenses.len() != 1)
        || scales.iter().any(|factor| !(*factor > 0.0 && *factor < 1e9))
    {
        return Err("its factors of shells are not usable".to_owned());
    }
    if let Some(basis) = &description.rho_spline {
        let ends = basis.range() == Some((0.0, 1.0)) && description.rho_scale == RhoScale::PLAIN;
        if !basis.is_usable() || basis.degree != 1 || basis.anchored || basis.flat || !ends {
            return Err("it has no usable knots of rho".to_owned());
        }
    }
    let promises = description.rho_monotone || description.features.iter().any(|feature| feature.rules.promise());
    if promises && (description.rho_spline.is_none() || description.readout) {
        return Err("it promises what its distance functions cannot keep".to_owned());
    }
    if !(description.record.smooth.is_finite() && description.record.smooth >= 0.0) {
        return Err("its strength of smoothing is no number from 0".to_owned());
    }
    let mut names = BTreeSet::new();
    for (place, feature) in description.features.iter().enumerate() {
        let broken = |what: &str| Err(format!("feature \"{}\" {what}", feature.name));
        if !names.insert(&feature.name) {
            return broken("occurs twice");
        }
        let numeric = feature.kind != Kind::Categorical;
        match feature.scale {
            Some(scale) if numeric => {
                let finite = [scale.shift, scale.scale, scale.min, scale.max].iter().all(|x| x.is_finite());
                if !finite || scale.scale <= 0.0 {
                    return broken("has no usable scale");
                }
            }
            None if !numeric => {}
            _ => return broken("has a scale that does not fit its kind"),
        }
        let effects = &feature.mean_effect;
        let expected = if feature.kind == Kind::Continuous { [0, description.source_outputs()] } else { [0, 0] };
        if !expected.contains(&effects.len()) || effects.iter().any(|effect| !effect.is_finite()) {
            return broken("has a mean effect that does not fit");
        }
        if let Some(pair) = &feature.pair
            && let Err(what) = check_pair(pair, feature, &description.features[..place])
        {
            return broken(what);
        }
        let spline = numeric && description.shape == ShapeKind::Spline;
        if feature.spline.is_some() != spline || feature.spline.as_ref().is_some_and(|basis| !basis.is_usable()) {
            return broken("has knots that do not fit");
        }
        if feature.knots.is_some_and(|knots| !numeric || !(FEWEST_KNOTS..=MOST_KNOTS).contains(&knots)) {
            return broken("was trained on knots that cannot be");
        }
        if !feature.rules.are_sensible() || (feature.rules.promise() && !spline) {
            return broken("has rules that do not fit");
        }
        let levels: BTreeSet<_> = feature.levels.iter().map(|level| &level.name).collect();
        if levels.len() != feature.levels.len() || (numeric && !levels.is_empty()) {
            return broken("has levels that do not fit");
        }
    }
    Lens::check(&description.lenses).map_err(|error| error.to_string())?;
    let lengths =
        if description.slots.is_empty() { vec![description.receivers.len()] } else { description.slots.clone() };
    let total = lengths.iter().try_fold(0usize, |sum, slots| sum.checked_add(*slots));
    if lengths.len() != description.lenses.len()
        || lengths.iter().any(|slots| *slots < 2)
        || total != Some(description.receivers.len())
        || description.axis().lengths() != lengths
    {
        return Err("its distances do not fit the ways in which they are measured".to_owned());
    }
    if description.readout && description.task == Task::Node {
        return Err("it has a readout in a task about nodes".to_owned());
    }
    if description.task == Task::Node && description.lenses.iter().any(|lens| lens.pool == Pool::Mean) {
        return Err("it pools nodes in a task about nodes".to_owned());
    }
    if description.receivers.len() < 2 || description.receivers.iter().any(|count| !count.is_finite()) {
        return Err("it does not say which distances occurred in training".to_owned());
    }
    Ok(())
}

/// Refuses a model of links whose features are not made of those of the ends of pairs.
fn check_links(description: &Description, links: &LinkSchema) -> std::result::Result<(), String> {
    let link = |target: &TargetSchema| target.classes.as_deref() == Some(&CLASSES.map(str::to_owned));
    if description.task != Task::Node || description.directed || !description.targets.iter().all(link) {
        return Err("it predicts links and something else".to_owned());
    }
    links.division.check().map_err(|error| error.to_string())?;
    let known: BTreeSet<(String, &str)> =
        (links.ends.iter()).flat_map(|end| end.pair_features()).map(|(name, kind)| (name, kind.name())).collect();
    let mut own = description.features.iter().filter(|feature| feature.pair.is_none());
    match own.find(|feature| !known.contains(&(feature.name.clone(), feature.kind.name()))) {
        Some(feature) => Err(format!("feature \"{}\" is not made of features of the nodes", feature.name)),
        None => Ok(()),
    }
}

/// Refuses pairs that cannot be made of the features before them.
fn check_pair(
    pair: &FeaturePair,
    feature: &FeatureSchema,
    before: &[FeatureSchema],
) -> std::result::Result<(), &'static str> {
    let [first, second] = &pair.members;
    if feature.kind != Kind::Categorical || feature.description.is_some() || feature.missing.is_some() {
        return Err("is a pair, which is categorical, read from its members and never missing");
    }
    if first.feature == second.feature {
        return Err("is a pair of a feature with itself");
    }
    for member in &pair.members {
        let Some(schema) = before.iter().find(|other| other.name == member.feature && other.pair.is_none()) else {
            return Err("is a pair of features that do not stand before it");
        };
        let fits = match (&member.bins, schema.kind) {
            (FeatureBins::Edges(edges), Kind::Continuous | Kind::Sparse) => {
                edges.len() < MOST_LEVELS && edges.iter().all(|x| x.is_finite()) && edges.is_sorted_by(|a, b| a < b)
            }
            (FeatureBins::Flag, kind) => kind == Kind::Binary,
            (FeatureBins::Levels(levels), Kind::Categorical) => {
                let names: BTreeSet<_> = levels.iter().collect();
                levels.len() <= MOST_LEVELS && names.len() == levels.len()
            }
            _ => false,
        };
        if !fits {
            return Err("is a pair with bins that do not fit its members");
        }
    }
    Ok(())
}

fn read_parameters(description: &Description, tensors: &SafeTensors<'_>) -> std::result::Result<Parameters, String> {
    let layout = description.layout();
    let forms = description.forms();
    let (outputs, source_outputs) = (description.architecture.outputs, description.source_outputs());
    let mut expected = BTreeSet::new();
    let mut read = |name: String, shape: &[usize]| -> std::result::Result<Vec<f32>, String> {
        let tensor = tensors.tensor(&name).map_err(|_| format!("tensor \"{name}\" is missing"))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            return Err(format!("tensor \"{name}\" is {:?} {:?}, not F32 {shape:?}", tensor.dtype(), tensor.shape()));
        }
        let (chunks, _) = tensor.data().as_chunks::<4>();
        let values: Vec<f32> = chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("tensor \"{name}\" holds a value that is not finite"));
        }
        expected.insert(name);
        Ok(values)
    };
    let mut bank = |prefix: &str, form: &BankForm| -> std::result::Result<Bank, String> {
        // Tensors are checked against their shape before the bank is allocated, so a large claim needs a large file.
        let tensors = form.tensors().into_iter().map(|(name, shape)| read(format!("{prefix}.{name}"), &shape));
        Ok(Bank::from_tensors(form, &tensors.collect::<std::result::Result<Vec<_>, String>>()?))
    };
    let shapes = bank("shape", &forms.shapes)?;
    let rhos = bank("rho", &forms.rhos)?;
    let readouts = if description.readout { bank("readout", &forms.readouts)? } else { Bank::zeros(&forms.readouts) };
    let parameters = Parameters {
        shapes,
        rhos,
        values: read("values".to_owned(), &[layout.values, source_outputs])?,
        bias: read("bias".to_owned(), &[source_outputs])?,
        output_bias: read("output_bias".to_owned(), &[outputs])?,
        readouts,
    };
    match tensors.names().iter().find(|name| !expected.contains(**name)) {
        Some(extra) => Err(format!("tensor \"{extra}\" does not belong in it")),
        None => Ok(parameters),
    }
}

/// The size of a model.
pub fn parameter_count(description: &Description) -> usize {
    let layout = description.layout();
    let (forms, outputs) = (description.forms(), description.architecture.outputs);
    let own = (layout.values + 1) * description.source_outputs() + outputs;
    forms.shapes.parameters() + forms.rhos.parameters() + forms.readouts.parameters() + own
}
