//! The model file `*.gnan`: a safetensors container with a versioned JSON header in its metadata.
//!
//! The header holds the version, the definition of the model (its [`Spec`](crate::Spec), what it learned, its record) and
//! SHA-256 of the definition and all tensors. Files of version 2 do not remember their items; those of version 1 have a flat
//! description and no checksum. Both are read as models of the same definition.
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
//! | `items.train`, `items.valid`, `items.test` | U64 `[items]`: the identities of the items of every part, ascending; a part without items has none |
//! | `items.seen` | U64 `[items]`: the structures of the graphs, or the ids of the nodes, of the first two |
//! | `posterior.*` | how sure a penalised fit is of its coefficients: see `posterior` |
//! | `readout.*` | as `shape.*`, where there is a readout: the structure's function, then one per feature; then source values have one output |
//!
//! Networks are those of the numeric features in the order of the definition; a network sees
//! `(x - shift) / scale`, and `f_k` is its output minus its output at 0. A rho network sees `t = 1 / (1 + distance)` (0
//! for unreachable) by `rho_scale` in the same way, and its output, times the factor of the distance in
//! `shell_scale` where there is one, is rho. A B-spline sees the same as a network would; its
//! degree and knots are in the definition, its coefficients, feature after feature, in the tensor.
//!
//! A file can lie, so everything is checked before it is used: size before reading, version by name, exact tensor names and
//! shapes, finite values. Writing is atomic.

mod check;
mod posterior;
mod tensors;
mod version1;

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::checksum::Checksum;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::model::{Definition, Model};
use crate::output::write_atomically;
use crate::remedy::{Remedy, Step};
use crate::spec::hex;
use posterior::read_posterior;
use tensors::{Tensor, read_items, read_parameters, tensors_of};

/// The version this library writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 3;
/// The metadata key of the header.
const KEY: &str = "gnan";

#[derive(Serialize, Deserialize)]
struct ModelFileHeader {
    version: u32,
    sha256: String,
    definition: Box<RawValue>,
}

/// The version alone, readable whatever else a newer header holds.
#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

impl Model {
    /// The bytes of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let broken = |error: String| Error::input(format!("the model cannot be written: {error}"));
        let json = serde_json::to_string(self.definition()).map_err(|error| broken(error.to_string()))?;
        let tensors = tensors_of(self);
        let header = ModelFileHeader {
            version: FORMAT_VERSION,
            sha256: checksum(FORMAT_VERSION, &json, tensors.values().map(|tensor| tensor.bytes.as_slice())),
            definition: RawValue::from_string(json).map_err(|error| broken(error.to_string()))?,
        };
        let header = serde_json::to_string(&header).map_err(|error| broken(error.to_string()))?;
        let views = tensors
            .iter()
            .map(|(name, Tensor { dtype, shape, bytes })| {
                Ok((name.as_str(), TensorView::new(*dtype, shape.clone(), bytes)?))
            })
            .collect::<std::result::Result<Vec<_>, safetensors::SafeTensorError>>();
        views
            .and_then(|views| safetensors::serialize(views, Some(HashMap::from([(KEY.to_owned(), header)]))))
            .map_err(|error| broken(error.to_string()))
    }

    /// Writes the model file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path.as_ref(), &self.to_bytes()?)
    }

    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        Self::load_within(path, &Limits::default())
    }

    /// Reads a model file within limits.
    pub fn load_within(path: impl AsRef<Path>, limits: &Limits) -> Result<Model> {
        let path = path.as_ref();
        if path.is_dir() {
            return Err(Error::input("this is a folder, not a model file").in_file(path));
        }
        if !path.exists() {
            return Err(Error::input("there is no such model file")
                .in_file(path)
                .with_remedy(Remedy::Run(Step::Train)));
        }
        let bytes = limits.read(path, "bytes in a model file")?;
        Self::from_bytes(&bytes).map_err(|error| error.in_file(path))
    }

    /// Reads a model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| broken(error.to_string()))?;
        let json = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let json = json.ok_or_else(|| broken("it has no gnan header"))?;
        let VersionOnly { version } = parse(json)?;
        if version > FORMAT_VERSION {
            return Err(Error::version(format!(
                "the model file has format version {version}; this gnan reads up to version {FORMAT_VERSION}"
            ))
            .with_remedy("update gnan"));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| broken(error.to_string()))?;
        let mut definition = match version {
            0 => return Err(broken("its format version is 0, which there never was")),
            1 => version1::definition(json)?,
            _ => {
                let ModelFileHeader { sha256, definition, .. } = parse(json)?;
                let mut found = tensors.tensors();
                found.sort_by(|a, b| a.0.cmp(&b.0));
                if checksum(version, definition.get(), found.iter().map(|(_, tensor)| tensor.data())) != sha256 {
                    return Err(broken("its content is not what was written: its checksum does not fit")
                        .with_remedy("copy the file again from where it was made, or train the model again"));
                }
                let definition: Definition = parse(definition.get())?;
                definition.spec.check()?;
                definition
            }
        };
        if version < 3 {
            definition.learned.count_items();
        }
        if definition.learned.links.as_ref().is_some_and(|links| links.own.is_none()) {
            // Files of before there were features of node pairs do not name the option.
            for spec in [&mut definition.spec, &mut definition.record.resolved] {
                spec.data.pair_features = false;
            }
        }
        definition.check().map_err(broken)?;
        let parameters = read_parameters(&definition, &tensors).map_err(broken)?;
        let items = read_items(&definition, &tensors).map_err(broken)?;
        let posterior = read_posterior(&definition, &parameters, &tensors).map_err(broken)?;
        let model = Model::from_parts(definition, parameters).with_record(|record| record.items = items);
        let model = model.with_posterior(posterior);
        Ok(if version < FORMAT_VERSION { model.of_earlier_version(Checksum::of(bytes)) } else { model })
    }

    /// What replicates and other files know the model by: a checksum of its file.
    pub fn checksum(&self) -> Result<String> {
        let found = match self.earlier_checksum() {
            Some(known) => known,
            None => Checksum::of(&self.to_bytes()?),
        };
        Ok(found.to_string())
    }
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::input(format!("this is not a usable model file: {what}"))
        .with_remedy("name a file that training wrote; if this one was, train again")
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T> {
    serde_json::from_str(json).map_err(broken)
}

/// SHA-256 of the version (from 3 on), a definition, and tensors in the order of their names.
fn checksum<'a>(version: u32, definition: &str, tensors: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    if version > 2 {
        hash.update(version.to_le_bytes());
    }
    hash.update(definition);
    tensors.for_each(|bytes| hash.update(bytes));
    hex(&hash.finalize())
}

/// Number of parameters of a model.
pub fn parameter_count(definition: &Definition) -> usize {
    let layout = definition.layout();
    let (forms, outputs) = (definition.bank_specs(), definition.learned.outputs);
    let own = (layout.values + 1) * definition.source_outputs() + outputs;
    forms.shapes.parameters() + forms.rhos.parameters() + forms.readouts.parameters() + own
}
