//! Prediction: from a model and data to outputs, probabilities and classes, and to metrics where targets are known.

mod band;
mod lines;

use std::sync::Arc;

pub use band::PredictionBand;

use crate::dataset::{
    Dataset, DatasetOptions, KnownFeature, LinkFeatures, LinkOptions, LinkPairs, LinkSchema, Outcome, Problem, Target,
};
use crate::distance::RECEIVERS_AT_ONCE;
use crate::error::{Error, Result};
use crate::files::{ReadOptions, SkippedRow, Task};
use crate::metric::Metrics;
use crate::model::{Definition, Engine, Model, Novelty};
use crate::score::{Scored, most_probable, probabilities, score};
use crate::statistics::Statistics;

/// Most memory for the statistics of the nodes that are predicted at a time, in bytes.
const BYTES_AT_ONCE: u64 = 64 << 20;
/// Slots by which that is judged before distances are known.
const USUAL_SLOTS: usize = 32;

/// The prediction of one item.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// let predictions = model.predict(&test)?;
/// println!("{}: {}", predictions.items[0].id, predictions.items[0].outputs[0]);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Id of the graph or node.
    pub id: String,
    /// Logits, or values in the units of the targets, also where the outputs of the model are logarithms of them.
    pub outputs: Vec<f32>,
    /// Probability of each class (binary, multiclass), or of "yes" for each target (multi-label); else empty.
    pub probabilities: Vec<f64>,
    /// The most probable class (binary, multiclass), or one class per target (multi-label); else empty.
    pub classes: Vec<String>,
    /// How sure the model is of each class, or of each target; empty where it does not know.
    pub bands: Vec<PredictionBand>,
    /// Why there is no prediction: a row that cannot be read has an empty one, so that rows match.
    pub problem: Option<String>,
}

impl Prediction {
    /// The empty prediction of a row that could not be read.
    pub fn of_skipped(row: &SkippedRow) -> Prediction {
        Prediction {
            id: row.id.clone(),
            outputs: Vec::new(),
            probabilities: Vec::new(),
            classes: Vec::new(),
            bands: Vec::new(),
            problem: Some(row.reason.clone()),
        }
    }
}

/// The predictions of all items of a data set.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// let predictions = model.predict(&test)?;
/// assert_eq!(predictions.items.len(), test.len());
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// One per item, in the order of the data set.
    pub items: Vec<Prediction>,
    /// What the data hold that training had not seen, with counts.
    pub novelty: Vec<String>,
    /// Features of the data that the model does not use.
    pub ignored: Vec<String>,
}

/// Remarks on the data that were predicted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remarks {
    /// What the data hold that training had not seen, with counts.
    pub novelty: Vec<String>,
    /// Features of the data that the model does not use.
    pub ignored: Vec<String>,
}

/// Raw outputs for the items of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    /// Outputs per item.
    pub width: usize,
    /// `[items, width]`: logits, or values in the units of the targets; of counts and gamma quantities the logarithms of their means, or
    /// these means themselves where values were requested.
    pub values: Vec<f32>,
    /// What the data hold that training had not seen, with counts.
    pub novelty: Vec<String>,
}

impl Model {
    /// How new data must be opened for this model: its task, direction and targets, which may be absent.
    pub fn data_options(&self) -> DatasetOptions {
        let definition = self.definition();
        if let Some(schema) = &definition.learned.links {
            return link_options(definition, schema);
        }
        let mut options = DatasetOptions {
            targets: definition.learned.targets.iter().map(|target| target.name.clone()).collect(),
            task: Some(definition.learned.task),
            // Classes may look like numbers, of which new data hold but a few; quantities may look like classes.
            problem: Some(if definition.learned.outcome.is_regression() {
                Problem::Regression
            } else {
                Problem::Classification
            }),
            targets_optional: true,
            known: Some(
                (definition.learned.features.iter())
                    .filter(|feature| feature.is_read())
                    .map(|feature| KnownFeature {
                        name: feature.name.clone(),
                        kind: feature.kind,
                        unit: feature.unit.clone(),
                        levels: feature.levels.iter().map(|level| level.name.clone()).collect(),
                        date_order: feature.date_order,
                    })
                    .collect(),
            ),
            ..DatasetOptions::default()
        };
        options.read = read_options(definition, definition.learned.directed);
        options
    }

    /// Logits or values for every item of `data`.
    pub fn outputs_on(&self, data: &Dataset) -> Result<Outputs> {
        let width = self.outputs();
        let mut values = Vec::with_capacity(data.len() * width);
        let novelty = self.outputs_each(data, |_, outputs| -> Result<()> {
            values.extend_from_slice(outputs);
            Ok(())
        })?;
        Ok(Outputs { width, values, novelty })
    }

    /// The same in the units of the targets: where outputs are logarithms of means, their means.
    pub fn values_on(&self, data: &Dataset) -> Result<Outputs> {
        let mut outputs = self.outputs_on(data)?;
        self.learned().to_values(&mut outputs.values);
        Ok(outputs)
    }

    /// The logits or values of items whose statistics are known, in the units of the targets.
    pub(crate) fn values_of_rows(&self, statistics: &Arc<Statistics>, rows: &[usize]) -> Vec<f32> {
        let mut values = self.outputs_of_rows(&mut self.engine(Arc::clone(statistics)), rows);
        self.learned().to_values(&mut values);
        values
    }

    fn outputs_of_rows(&self, engine: &mut Engine, rows: &[usize]) -> Vec<f32> {
        let width = self.outputs();
        let mut values = vec![0.0; rows.len() * width];
        engine.outputs(&mut engine.rows_once(rows), &mut values);
        for row in values.chunks_exact_mut(width.max(1)) {
            row.iter_mut().zip(&self.parameters().output_bias).for_each(|(y, b)| *y += b);
        }
        values
    }

    /// Hands on the logits or values of the items of `data` as they come, many items at a time: the position of the first
    /// of them, and `[items, outputs]`. Returns what the data hold that training had not seen.
    ///
    /// Memory is bounded whatever the number of nodes that are predicted.
    pub fn outputs_each<E: From<Error>>(
        &self,
        data: &Dataset,
        mut visit: impl FnMut(usize, &[f32]) -> std::result::Result<(), E>,
    ) -> std::result::Result<Vec<String>, E> {
        let definition = self.definition();
        let own = items_word(definition.learned.task, definition.learned.links.is_some());
        let found = items_word(data.task(), data.links().is_some());
        if own != found {
            return Err(Error::input(format!("the model predicts {own}, the data have targets of {found}")).into());
        }
        let features = self.features_of(data)?;
        let levels = self.levels(data, &features)?;
        let at_once = self.items_at_once(data);
        let mut novelty = Novelty::of_features(definition, &features, data);
        let lenses = definition.learned.lenses.len();
        let (mut longest, mut has_unreachable) = (vec![0; lenses], vec![false; lenses]);
        let mut engine: Option<Engine> = None;
        for first in (0..data.len()).step_by(at_once) {
            let positions: Vec<usize> = (first..data.len().min(first + at_once)).collect();
            let statistics = Arc::new(Statistics::with_levels(
                &data.subset(&positions),
                &features,
                Arc::clone(&levels),
                definition.statistics_request(),
                &longest,
            )?);
            has_unreachable.iter_mut().zip(&statistics.has_unreachable).for_each(|(any, found)| *any |= found);
            // Tables are evaluated again only where distances are longer than before.
            let engine = match &mut engine {
                Some(engine) if engine.statistics().axis == statistics.axis => {
                    engine.rebind(statistics, self.parameters());
                    engine
                }
                engine => {
                    longest = statistics.axis.longest();
                    let needed = Engine::bytes(definition.engine_model(), &statistics, 1);
                    data.run().memory.demand(needed, "the tables of the shape functions")?;
                    engine.insert(self.engine(statistics))
                }
            };
            let all: Vec<usize> = (0..positions.len()).collect();
            let values = self.outputs_of_rows(engine, &all);
            visit(first, &values)?;
        }
        novelty.add_distances(definition, &longest, &has_unreachable);
        Ok(novelty.sentences)
    }

    /// Predictions for every item of `data`.
    pub fn predict(&self, data: &Dataset) -> Result<Predictions> {
        let mut items = Vec::with_capacity(data.len());
        let Remarks { novelty, ignored } = self.predict_each(data, |prediction| -> Result<()> {
            items.push(prediction);
            Ok(())
        })?;
        Ok(Predictions { items, novelty, ignored })
    }

    /// Hands on the predictions for the items of `data` one by one, as they come, in the order of the data set.
    pub fn predict_each<E: From<Error>>(
        &self,
        data: &Dataset,
        mut visit: impl FnMut(Prediction) -> std::result::Result<(), E>,
    ) -> std::result::Result<Remarks, E> {
        let width = self.outputs().max(1);
        let features = self.features_of(data)?;
        let levels = if self.has_prediction_bands() { Some(self.levels(data, &features)?) } else { None };
        let novelty = self.outputs_each(data, |first, outputs| {
            let bands = match &levels {
                Some(levels) => {
                    let some: Vec<usize> = (first..first + outputs.len() / width).collect();
                    self.prediction_bands(&data.subset(&some), &features, levels, outputs)?
                }
                None => Vec::new(),
            };
            let mut bands = bands.into_iter();
            let mut rows = data.items()[first..].iter().zip(outputs.chunks_exact(width));
            rows.try_for_each(|(item, row)| {
                let bands = bands.next().unwrap_or_default();
                visit(Prediction { bands, ..self.prediction(data.item_id(*item), row) })
            })
        })?;
        let definition = self.definition();
        let used = |name: &String| {
            definition.learned.features.iter().any(|feature| feature.name == *name)
                || definition.learned.targets.iter().any(|target| target.name == *name)
        };
        let names = data.features().iter().map(|feature| feature.name.clone());
        Ok(Remarks { novelty, ignored: names.filter(|name| !used(name)).collect() })
    }

    /// The same for every row of the files: a row that could not be read has an empty prediction in its place.
    pub fn predict_rows<E: From<Error>>(
        &self,
        data: &Dataset,
        mut visit: impl FnMut(Prediction) -> std::result::Result<(), E>,
    ) -> std::result::Result<Remarks, E> {
        let mut skipped = data.skipped().iter().peekable();
        let mut place = 0;
        let remarks = self.predict_each(data, |prediction| {
            while let Some(row) = skipped.next_if(|row| row.place <= place) {
                visit(Prediction::of_skipped(row))?;
                place += 1;
            }
            place += 1;
            visit(prediction)
        })?;
        skipped.try_for_each(|row| visit(Prediction::of_skipped(row)))?;
        Ok(remarks)
    }

    /// How many items are predicted at a time: as many nodes as there is memory for their statistics.
    fn items_at_once(&self, data: &Dataset) -> usize {
        if data.task() == Task::Graph {
            return data.len().max(1);
        }
        let plan = self.definition().statistics_request().channels;
        let channels = plan.map_or(self.definition().learned.features.len(), |plan| plan.count());
        let lanes = (channels * self.outputs()).next_multiple_of(4);
        let free_bytes = data.run().memory.left().map_or(BYTES_AT_ONCE, |left| BYTES_AT_ONCE.min(left / 8));
        let receivers = free_bytes as usize / (USUAL_SLOTS * (8 + 4 * lanes));
        receivers.clamp(RECEIVERS_AT_ONCE, 1 << 20)
    }

    /// The probability of each class, or of "yes" for each target of several, by the outputs of an item; none of quantities.
    pub(crate) fn probabilities(&self, outputs: &[f32]) -> Vec<f64> {
        match self.definition().learned.outcome {
            Outcome::Binary | Outcome::Multiclass => probabilities(outputs),
            Outcome::MultiLabel => outputs.iter().map(|y| probabilities(&[*y])[1]).collect(),
            Outcome::Regression | Outcome::MultiRegression => Vec::new(),
        }
    }

    fn prediction(&self, id: String, outputs: &[f32]) -> Prediction {
        let targets = &self.definition().learned.targets;
        let class = |target: usize, index: usize| {
            let classes = targets[target].classes.as_ref().expect("a model of classes names them");
            classes[index].clone()
        };
        let probabilities = self.probabilities(outputs);
        let classes = match self.definition().learned.outcome {
            Outcome::Binary | Outcome::Multiclass => vec![class(0, most_probable(&probabilities))],
            Outcome::MultiLabel => {
                probabilities.iter().enumerate().map(|(k, p)| class(k, usize::from(*p > 0.5))).collect()
            }
            Outcome::Regression | Outcome::MultiRegression => Vec::new(),
        };
        let mut outputs = outputs.to_vec();
        self.learned().to_values(&mut outputs);
        Prediction { id, outputs, probabilities, classes, bands: Vec::new(), problem: None }
    }

    /// How well the model does on the labelled items of `data`.
    pub fn evaluate(&self, data: &Dataset) -> Result<Metrics> {
        let targets = self.align_targets(data)?;
        let labelled = data.labelled();
        if labelled.is_empty() {
            return Err(Error::input("none of the items has a known target to compare with"));
        }
        let outputs = self.values_on(&labelled)?;
        Ok(self.score(&labelled, &targets, &outputs.values))
    }

    /// How well logits or values, `[items, outputs]`, fit the targets of these items, as [`align_targets`](Self::align_targets)
    /// gives them.
    pub fn score(&self, items: &Dataset, targets: &[Target], outputs: &[f32]) -> Metrics {
        score(&self.scored(outputs), targets, items.items())
    }

    /// Logits or values, `[items, outputs]`, to be judged.
    pub(crate) fn scored<'a>(&'a self, outputs: &'a [f32]) -> Scored<'a> {
        let learned = self.learned();
        Scored { outcome: learned.outcome, width: self.outputs(), outputs, family: learned.target_family.as_ref() }
    }

    /// The targets of `data` in the model's order, classes numbered as the model numbers them.
    pub fn align_targets(&self, data: &Dataset) -> Result<Vec<Target>> {
        let align = |schema: &crate::model::TargetSchema| {
            let Some(target) = data.targets().iter().find(|target| target.name == schema.name) else {
                return Err(Error::input(format!("the data have no target \"{}\"", schema.name)));
            };
            let mut target = target.clone();
            if !schema.base_rates.is_empty() {
                target.base_rates.clone_from(&schema.base_rates);
            }
            match (&schema.classes, &target.classes) {
                (None, None) => {}
                (Some(known), Some(found)) => {
                    let index: Vec<f64> = found
                        .iter()
                        .map(|class| match known.iter().position(|k| k == class) {
                            Some(at) => Ok(at as f64),
                            None => Err(Error::input(format!(
                                "target \"{}\" holds class \"{class}\", which the model does not know",
                                schema.name
                            ))),
                        })
                        .collect::<Result<_>>()?;
                    target.values.iter_mut().filter(|v| !v.is_nan()).for_each(|v| *v = index[*v as usize]);
                    target.classes = Some(known.clone());
                }
                (None, Some(_)) => {
                    return Err(Error::input(format!(
                        "target \"{}\" holds classes, the model predicts numbers",
                        schema.name
                    )));
                }
                (Some(_), None) => {
                    return Err(Error::input(format!(
                        "target \"{}\" holds numbers, the model has classes",
                        schema.name
                    )));
                }
            }
            Ok(target)
        };
        self.definition().learned.targets.iter().map(align).collect()
    }
}

/// What is predicted, in a word.
fn items_word(task: Task, links: bool) -> &'static str {
    match task {
        _ if links => "links",
        Task::Graph => "graphs",
        Task::Node => "nodes",
    }
}

/// How data must be opened for a model of links: divided as its training data were.
fn link_options(definition: &Definition, schema: &LinkSchema) -> DatasetOptions {
    let pairs = LinkPairs::Divided(schema.division.clone());
    let known = schema.ends.iter().filter(|end| end.description.is_none()).map(|end| KnownFeature {
        name: end.name.clone(),
        kind: end.kind,
        unit: end.unit.clone(),
        levels: end.levels.clone(),
        date_order: end.date_order,
    });
    let mut options = DatasetOptions {
        links: Some(LinkOptions {
            pairs,
            features: LinkFeatures::Known { ends: schema.ends.clone(), own: schema.own },
        }),
        known: Some(known.collect()),
        ..DatasetOptions::default()
    };
    options.read = read_options(definition, false);
    options
}

/// How files are read for a model: as its training data were.
fn read_options(definition: &Definition, directed: bool) -> ReadOptions {
    let data = &definition.spec.data;
    ReadOptions {
        directed: Some(directed),
        explicit_hydrogens: data.explicit_hydrogens,
        largest_component: data.largest_component,
        smiles_column: data.smiles_column.clone(),
        name_column: data.name_column.clone(),
        ..ReadOptions::default()
    }
}
