//! Which predictions a report shows: the most confident, the largest error and the most typical.

use gnan::dataset::Outcome;
use gnan::explain::Explainer;
use gnan::score::{most_probable, probabilities};
use gnan::{Model, Result};

use super::judged::Judged;

/// Most items that are compared to find a typical one.
const MOST_COMPARED: usize = 400;

/// A prediction worth showing.
pub(super) struct Example {
    /// Position in the judged part.
    pub position: usize,
    /// Why it is shown.
    pub reason: String,
    /// The output that is explained, of those that are shown.
    pub output: usize,
}

/// Chooses examples; no item is shown twice.
pub(super) fn choose(model: &Model, judged: &Judged, explainer: &Explainer<'_>) -> Result<Vec<Example>> {
    let mut examples: Vec<Example> = Vec::new();
    let mut add = |found: Option<usize>, reason: &str| {
        if let Some(position) = found
            && examples.iter().all(|example| example.position != position)
        {
            let output = explained_output(model, judged, position);
            examples.push(Example { position, reason: reason.to_owned(), output });
        }
    };
    let all = || 0..judged.data.len();
    // Of several targets the first is shown.
    let targets = &model.definition().learned.targets;
    let of = if targets.len() > 1 { format!(" of {}", targets[0].name) } else { String::new() };
    if model.definition().learned.outcome.is_regression() {
        let value = |position: &usize| f64::from(judged.row(*position)[0]);
        let error = |position: &usize| judged.target(*position).map_or(-1.0, |target| (value(position) - target).abs());
        add(all().max_by(|a, b| value(a).total_cmp(&value(b))), &format!("the highest prediction{of}"));
        add(all().min_by(|a, b| value(a).total_cmp(&value(b))), &format!("the lowest prediction{of}"));
        add(
            all().filter(|p| error(p) > 0.0).max_by(|a, b| error(a).total_cmp(&error(b))),
            &format!("the largest error{of}"),
        );
    } else {
        let sure = |position: &usize| confidence(model, judged, *position);
        for class in predicted_classes(model, judged).into_iter().take(3) {
            let of_class = |p: &usize| class_of(model, judged, *p) == class && wrong(model, judged, *p) != Some(true);
            let found = all().filter(of_class).max_by(|a, b| sure(a).total_cmp(&sure(b)));
            let name = class_name(model, class);
            let right = found.is_some_and(|position| wrong(model, judged, position) == Some(false));
            let right = if right { ", correct" } else { "" };
            add(found, &format!("the most confident \"{name}\"{of}{right}"));
        }
        let mistakes = |p: &usize| wrong(model, judged, *p) == Some(true);
        add(all().filter(mistakes).max_by(|a, b| sure(a).total_cmp(&sure(b))), "the most confident error");
    }
    add(typical(judged, explainer)?, "the most typical: its contributions by feature are nearest to the medians");
    Ok(examples)
}

/// The shown output that explains the prediction best: that of the predicted class.
fn explained_output(model: &Model, judged: &Judged, position: usize) -> usize {
    match model.definition().learned.outcome {
        Outcome::Multiclass => class_of(model, judged, position),
        _ => 0,
    }
}

/// The predicted class; of several labels that of the first.
fn class_of(model: &Model, judged: &Judged, position: usize) -> usize {
    let row = judged.row(position);
    match model.definition().learned.outcome {
        Outcome::MultiLabel => usize::from(row[0] > 0.0),
        _ => most_probable(&probabilities(row)),
    }
}

/// How confident a prediction is: the lead of its largest logit, which orders predictions even where probabilities round
/// to 1.
fn confidence(model: &Model, judged: &Judged, position: usize) -> f64 {
    let row = judged.row(position);
    match (model.definition().learned.outcome, row) {
        (Outcome::Binary, [logit]) => f64::from(logit.abs()),
        (Outcome::MultiLabel, row) => f64::from(row[0].abs()),
        (_, row) => {
            let mut sorted: Vec<f64> = row.iter().map(|logit| f64::from(*logit)).collect();
            sorted.sort_by(|a, b| b.total_cmp(a));
            sorted.first().zip(sorted.get(1)).map_or(0.0, |(first, second)| first - second)
        }
    }
}

/// Whether a predicted class is wrong; `None` where that is not known.
fn wrong(model: &Model, judged: &Judged, position: usize) -> Option<bool> {
    if model.definition().learned.outcome.is_regression() {
        return None;
    }
    judged.target(position).map(|target| target as usize != class_of(model, judged, position))
}

/// The classes that occur among predictions, the most frequent first.
fn predicted_classes(model: &Model, judged: &Judged) -> Vec<usize> {
    let mut counts: Vec<usize> = Vec::new();
    for position in 0..judged.data.len() {
        let class = class_of(model, judged, position);
        counts.resize(counts.len().max(class + 1), 0);
        counts[class] += 1;
    }
    let mut classes: Vec<usize> = (0..counts.len()).filter(|class| counts[*class] > 0).collect();
    classes.sort_by_key(|class| (std::cmp::Reverse(counts[*class]), *class));
    classes
}

fn class_name(model: &Model, class: usize) -> String {
    let target = model.definition().learned.targets.first();
    target.and_then(|target| target.classes.as_ref()?.get(class).cloned()).unwrap_or_default()
}

/// The item whose contributions by feature, with the structure term, lie nearest to the medians over the items.
fn typical(judged: &Judged, explainer: &Explainer<'_>) -> Result<Option<usize>> {
    let every = judged.data.len().div_ceil(MOST_COMPARED).max(1);
    let positions: Vec<usize> = (0..judged.data.len()).step_by(every).collect();
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(positions.len());
    for position in &positions {
        rows.push(explainer.by_feature(*position)?);
    }
    let Some(width) = rows.first().map(Vec::len) else { return Ok(None) };
    let median = |column: usize| {
        let mut values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let middle: Vec<f64> = (0..width).map(median).collect();
    let far = |row: &Vec<f64>| row.iter().zip(&middle).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let nearest = (0..rows.len()).min_by(|a, b| far(&rows[*a]).total_cmp(&far(&rows[*b])));
    Ok(nearest.map(|row| positions[row]))
}
