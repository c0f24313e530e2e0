//! What to be careful about: everything that makes a part of the model, or its metrics, less reliable than it looks.

use gnan::dataset::Outcome;
use gnan::explain::{LITTLE_SUPPORT, Overview};
use gnan::files::Task;
use gnan::model::Rho;
use gnan::numbers::{count, percent};
use gnan::{Dataset, Model};

use super::judged::{Judged, Part};
use crate::words;

/// Names that one sentence lists.
const MOST_NAMES: usize = 8;
/// A class with less than this share of the items is rare.
const RARE: f64 = 0.1;
/// An influence that changes by less than this over the distances seen is flat.
const FLAT: f64 = 0.1;
/// Graphs that are searched for disconnected parts.
const MOST_GRAPHS: usize = 2000;

/// Sentences, each with its numbers.
pub(super) fn cautions(model: &Model, data: &Dataset, judged: &Judged, overview: &Overview) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(about_metrics(model, judged));
    sentences.extend(little_support(model, overview));
    sentences.extend(judged.outputs.novelty.iter().map(|sentence| format!("In these data, {sentence}.")));
    sentences.extend(words::knots(model.definition()).map(|knots| format!("{knots}.")));
    sentences.extend(flat_rho(model, overview));
    sentences.extend(rare_distances(model, overview));
    sentences.extend(disconnected(data));
    sentences.extend(imbalance(model, data));
    sentences.push(
        "Contributions describe how the model computed its predictions, not what would happen if a value were changed: \
         correlated features share what either could explain."
            .to_owned(),
    );
    sentences
}

fn about_metrics(model: &Model, judged: &Judged) -> Vec<String> {
    let record = &model.definition().record;
    let mut sentences = Vec::new();
    match judged.part {
        Part::Test => {}
        _ if judged.targets.is_empty() => {
            sentences.push("The data have no targets: this report cannot tell how accurate the model is.".to_owned())
        }
        _ => sentences.push(format!("The metrics were computed on {}. {}", judged.part_words(), judged.part_remark())),
    }
    if judged.beats_baseline() == Some(false) {
        sentences.push(
            "The model is not clearly better than a constant prediction: read its curves as hypotheses at most."
                .to_owned(),
        );
    }
    if record.best_epoch == 0 {
        sentences.push("No epoch of training was better than the untrained model.".to_owned());
    }
    if record.epochs > 0 && record.best_epoch + 1 >= record.epochs {
        sentences.push("Training was still improving when it ended: more epochs may change the curves.".to_owned());
    }
    sentences
}

fn little_support(model: &Model, overview: &Overview) -> Option<String> {
    let task = model.definition().learned.task;
    let mut weak = Vec::new();
    for feature in &overview.features {
        let several = feature.levels.len() > 1;
        for level in feature.levels.iter().filter(|level| level.support.is_little(task)) {
            let name = if several { format!("{}: {}", feature.name, level.name) } else { feature.name.clone() };
            weak.push(format!("{name} ({})", count(level.support.nodes as usize)));
        }
        if feature.levels.is_empty() && feature.support.is_little(task) {
            weak.push(format!("{} ({})", feature.name, count(feature.support.nodes as usize)));
        }
    }
    let items = if task == Task::Graph { "graphs" } else { "nodes" };
    (!weak.is_empty()).then(|| {
        let sentence = format!("Fewer than {LITTLE_SUPPORT} training {items} have");
        format!(
            "{sentence} {} (number of nodes in brackets): these effects are little more than chance.",
            listed(&weak)
        )
    })
}

fn flat_rho(model: &Model, overview: &Overview) -> Option<String> {
    let seen = |slot: usize| overview.receivers.get(slot).is_some_and(|count| *count > 0.0);
    let is_flat = |values: &[Vec<f64>], c: usize| {
        let mut found = values.iter().enumerate().filter(|(slot, _)| seen(*slot)).map(|(_, row)| row[c]);
        let first = found.next().unwrap_or(0.0);
        let (low, high) = found.fold((first, first), |(low, high), value| (low.min(value), high.max(value)));
        high - low < FLAT
    };
    // The rho of the bias is part of the structure term.
    let skipped = usize::from(model.definition().learned.rho != Rho::Shared);
    let flat: Vec<String> = overview.rho[skipped..]
        .iter()
        .filter(|rho| (0..overview.outputs.len()).all(|c| is_flat(&rho.values, c)))
        .map(|rho| rho.name.clone())
        .collect();
    (!flat.is_empty()).then(|| {
        format!(
            "The influence by distance is nearly flat for {}: how far away a source is hardly matters.",
            listed(&flat)
        )
    })
}

fn rare_distances(model: &Model, overview: &Overview) -> Option<String> {
    let finite = model.definition().axis().range(0).len().saturating_sub(1);
    let first = (0..finite)
        .find(|slot| overview.receivers[*slot] > 0.0 && overview.receivers[*slot] < LITTLE_SUPPORT as f64)?;
    Some(format!(
        "Fewer than {LITTLE_SUPPORT} receivers of the training data have a source at distance {first} or beyond: the far end of \
         every curve over distance rests on them."
    ))
}

fn disconnected(data: &Dataset) -> Option<String> {
    let graphs = data.graphs();
    let every = graphs.len().div_ceil(MOST_GRAPHS).max(1);
    let looked: Vec<usize> = graphs.into_iter().step_by(every).collect();
    let structure = |graph: usize| match data.links() {
        Some(links) => links.message_graph(data, graph),
        None => data.graph(graph),
    };
    let apart = looked.iter().filter(|graph| structure(**graph).components().1 > 1).count();
    match (apart, looked.len()) {
        (0, _) => None,
        (_, 1) => Some("The graph has disconnected parts: for each other, their nodes are \"unreachable\".".to_owned()),
        (apart, looked) => Some(format!(
            "{} of the graphs have disconnected parts (such as salts): for each other, their nodes are \
             \"unreachable\".",
            percent(apart as f64 / looked as f64, 1)
        )),
    }
}

fn imbalance(model: &Model, data: &Dataset) -> Option<String> {
    if !matches!(model.definition().learned.outcome, Outcome::Binary | Outcome::Multiclass) {
        return None;
    }
    let target = model.align_targets(data).ok()?.into_iter().next()?;
    let classes = target.classes.as_ref()?;
    let mut counts = vec![0.0; classes.len()];
    let known = data.items().iter().map(|item| target.values[*item as usize]).filter(|value| !value.is_nan());
    known.for_each(|class| counts[class as usize] += 1.0);
    let total: f64 = counts.iter().sum();
    let rare: Vec<String> = classes
        .iter()
        .zip(&counts)
        .filter(|(_, count)| **count < RARE * total)
        .map(|(class, count)| format!("{class} ({})", percent(count / total, 1)))
        .collect();
    (!rare.is_empty()).then(|| {
        format!(
            "Rare classes: {}. Accuracy says little about them; see balanced accuracy and the confusion matrix.",
            listed(&rare)
        )
    })
}

/// The first names, and how many more there are.
fn listed(names: &[String]) -> String {
    let first = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
