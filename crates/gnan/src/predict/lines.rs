//! Predictions as text: a CSV table, or one JSON object per line.
//!
//! | outcome | CSV columns | JSON keys |
//! |---|---|---|
//! | classes | `id`, `class`, `probability:<class>` ... | `id`, `class`, `probabilities` by class |
//! | several yes-or-no targets | `id`, then `<target>`, `probability:<target>` for each | `id`, `classes`, `probabilities` by target |
//! | quantities | `id`, `<target>` ... | `id`, `values` by target |
//!
//! A penalised model also gives, for every class or target, the standard deviation of its output (of the log-odds of a class, of the
//! logarithm of the mean of counts and gamma quantities) and the ends of a 95 % interval: of the quantity, of that mean, or of the
//! probability. CSV has columns `sd:<name>`, `lower:<name>` and `upper:<name>`
//! (for a single quantity `sd`, `lower`, `upper`), JSON objects `sd`, `lower` and `upper` by class or target.
//!
//! Where rows could not be read, a last column `problem` says why their prediction is empty; in JSON they have `id` and
//! `problem` alone.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Prediction, PredictionBand};
use crate::dataset::Outcome;
use crate::error::{Error, Result};
use crate::model::{Definition, Model};
use crate::ordered_object::OrderedObject;

impl Model {
    /// The header of a CSV table of predictions, with a column for problems where there are any.
    pub fn csv_header(&self, with_problems: bool) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let problem = with_problems.then(|| "problem".to_owned());
        writer.write_record(self.columns().into_iter().chain(problem)).map_err(broken)?;
        writer.into_inner().map_err(broken)
    }

    /// Predictions as rows of a CSV table.
    pub fn csv_lines(&self, predictions: &[Prediction], with_problems: bool) -> Result<Vec<u8>> {
        let definition = self.definition();
        let width = self.columns().len();
        let mut writer = csv::Writer::from_writer(Vec::new());
        for item in predictions {
            let mut cells = match &item.problem {
                None => record(item, definition),
                Some(_) => vec![item.id.clone()],
            };
            cells.resize(width, String::new());
            cells.extend(with_problems.then(|| item.problem.clone().unwrap_or_default()));
            writer.write_record(cells).map_err(broken)?;
        }
        writer.into_inner().map_err(broken)
    }

    /// The columns of a table of predictions.
    fn columns(&self) -> Vec<String> {
        let mut columns = header(self.definition());
        if !self.has_prediction_bands() {
            return columns;
        }
        match self.definition().learned.outcome {
            Outcome::Regression => columns.extend(BAND.map(str::to_owned)),
            _ => {
                let named = banded(self.definition());
                columns.extend(named.iter().flat_map(|name| BAND.map(|end| format!("{end}:{name}"))));
            }
        }
        columns
    }

    /// Predictions as one JSON object per line.
    pub fn json_lines(&self, predictions: &[Prediction]) -> Result<Vec<u8>> {
        let mut lines = Vec::new();
        for item in predictions {
            serde_json::to_writer(&mut lines, &PredictionLine { item, definition: self.definition() })
                .map_err(broken)?;
            lines.push(b'\n');
        }
        Ok(lines)
    }
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::input(format!("the predictions cannot be written: {error}"))
}

/// What a band is written as.
const BAND: [&str; 3] = ["sd", "lower", "upper"];

/// The classes or targets that have bands.
fn banded(definition: &Definition) -> Vec<&str> {
    match definition.learned.outcome {
        Outcome::Binary | Outcome::Multiclass => definition.classes().iter().map(String::as_str).collect(),
        _ => definition.learned.targets.iter().map(|target| target.name.as_str()).collect(),
    }
}

/// The numbers of a band, in single precision as predictions are.
fn numbers(band: &PredictionBand) -> [f32; 3] {
    [band.sd, band.lower, band.upper].map(|number| number as f32)
}

fn header(definition: &Definition) -> Vec<String> {
    let mut columns = vec!["id".to_owned()];
    match definition.learned.outcome {
        Outcome::Binary | Outcome::Multiclass => {
            columns.push("class".to_owned());
            columns.extend(definition.classes().iter().map(|class| format!("probability:{class}")));
        }
        Outcome::MultiLabel => {
            for target in &definition.learned.targets {
                columns.push(target.name.clone());
                columns.push(format!("probability:{}", target.name));
            }
        }
        Outcome::Regression | Outcome::MultiRegression => {
            columns.extend(definition.learned.targets.iter().map(|target| target.name.clone()));
        }
    }
    columns
}

fn record(item: &Prediction, definition: &Definition) -> Vec<String> {
    let mut cells = vec![item.id.clone()];
    match definition.learned.outcome {
        Outcome::Binary | Outcome::Multiclass => {
            cells.extend(item.classes.first().cloned());
            cells.extend(item.probabilities.iter().map(|p| single(*p).to_string()));
        }
        Outcome::MultiLabel => {
            for (class, p) in item.classes.iter().zip(&item.probabilities) {
                cells.push(class.clone());
                cells.push(single(*p).to_string());
            }
        }
        Outcome::Regression | Outcome::MultiRegression => cells.extend(item.outputs.iter().map(f32::to_string)),
    }
    cells.extend(item.bands.iter().flat_map(|band| numbers(band).map(|number| number.to_string())));
    cells
}

struct PredictionLine<'a> {
    item: &'a Prediction,
    definition: &'a Definition,
}

impl Serialize for PredictionLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let PredictionLine { item, definition } = self;
        let targets = || definition.learned.targets.iter().map(|target| target.name.as_str());
        let probabilities = || item.probabilities.iter().map(|p| single(*p));
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &item.id)?;
        if let Some(problem) = &item.problem {
            map.serialize_entry("problem", problem)?;
            return map.end();
        }
        match definition.learned.outcome {
            Outcome::Binary | Outcome::Multiclass => {
                map.serialize_entry("class", &item.classes.first())?;
                let names = definition.classes().iter().map(String::as_str);
                map.serialize_entry("probabilities", &OrderedObject(names.zip(probabilities()).collect()))?;
            }
            Outcome::MultiLabel => {
                map.serialize_entry("classes", &OrderedObject(targets().zip(&item.classes).collect()))?;
                map.serialize_entry("probabilities", &OrderedObject(targets().zip(probabilities()).collect()))?;
            }
            Outcome::Regression | Outcome::MultiRegression => {
                map.serialize_entry("values", &OrderedObject(targets().zip(&item.outputs).collect()))?;
            }
        }
        for (place, name) in BAND.into_iter().enumerate().filter(|_| !item.bands.is_empty()) {
            let ends = banded(definition).into_iter().zip(item.bands.iter().map(|band| numbers(band)[place]));
            map.serialize_entry(name, &OrderedObject(ends.collect()))?;
        }
        map.end()
    }
}

/// Probabilities come from single-precision outputs: more digits would be noise.
fn single(probability: f64) -> f32 {
    probability as f32
}
