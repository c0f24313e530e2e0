//! What to be careful about: everything that makes a part of the model, or its metrics, less reliable than it looks.

use gnan::dataset::Outcome;
use gnan::evaluate::{JudgedPart, Judgement};
use gnan::explain::{Canonical, Overview};
use gnan::model::LITTLE_SUPPORT;
use gnan::numbers::{count, percent};
use gnan::{Dataset, Metric, Model};

use super::performance::{part_remark, part_words};
use crate::words;

/// Names that one sentence lists.
const MOST_NAMES: usize = 8;
/// Graphs that are searched for disconnected parts.
const MOST_GRAPHS: usize = 2000;

/// Sentences, each with its numbers.
pub(super) fn cautions(
    model: &Model,
    data: &Dataset,
    judged: &Judgement,
    overview: &Overview,
    canonical: &Canonical,
) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(about_metrics(model, judged));
    let bounded = model.record().bounded_items;
    sentences
        .extend((bounded > 0).then(|| format!("The model assumes normal noise: {}.", words::bounded_items(bounded))));
    sentences.extend(little_support(model, overview));
    sentences.extend(judged.outputs.novelty.iter().map(|sentence| format!("In these data, {sentence}.")));
    sentences.extend(words::knots(model.definition()).map(|knots| format!("{knots}.")));
    sentences.extend(flat_rho(model, overview));
    sentences.extend(zero_rho(model, overview));
    sentences.extend(rare_distances(canonical));
    sentences.extend(disconnected(data));
    sentences.extend(imbalance(model, data, judged));
    sentences.push(
        "Contributions describe how the model computed its predictions, not what would happen if a value were changed: \
         correlated features share what either could explain."
            .to_owned(),
    );
    sentences
}

fn about_metrics(model: &Model, judged: &Judgement) -> Vec<String> {
    let record = &model.definition().record;
    let mut sentences = Vec::new();
    match judged.part {
        JudgedPart::Test => {}
        _ if judged.targets.is_empty() => {
            sentences.push("The data have no targets: this report cannot tell how accurate the model is.".to_owned())
        }
        _ => sentences.push(format!("The metrics were computed on {}. {}", part_words(judged), part_remark(judged))),
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
    if record.was_still_improving() {
        sentences.push("Training was still improving when it ended: more epochs may change the curves.".to_owned());
    }
    sentences
}

fn little_support(model: &Model, overview: &Overview) -> Option<String> {
    let mut weak = Vec::new();
    for feature in &overview.features {
        let several = feature.levels.len() > 1;
        for level in feature.levels.iter().filter(|level| level.support.is_little()) {
            let name = if several { format!("{}: {}", feature.name, level.name) } else { feature.name.clone() };
            weak.push(format!("{name} ({})", count(level.support.items as usize)));
        }
        if feature.levels.is_empty() && feature.support.is_little() {
            weak.push(format!("{} ({})", feature.name, count(feature.support.items as usize)));
        }
    }
    let items = words::item_noun(model.definition());
    (!weak.is_empty()).then(|| {
        format!(
            "Fewer than {LITTLE_SUPPORT} training {items}s have {} (their number in brackets): these effects are little more \
             than chance.",
            listed(&weak)
        )
    })
}

fn flat_rho(model: &Model, overview: &Overview) -> Option<String> {
    let flat = overview.flat_rhos(model.definition().learned.rho);
    let flat: Vec<String> = flat.into_iter().map(|rho| rho.name.clone()).collect();
    (!flat.is_empty()).then(|| {
        format!(
            "The influence by distance is nearly flat for {}: how far away a source is hardly matters.",
            listed(&flat)
        )
    })
}

fn zero_rho(model: &Model, overview: &Overview) -> Option<String> {
    let zero = overview.zero_rhos(model.definition().learned.rho);
    let zero: Vec<String> = zero.into_iter().map(|rho| rho.name.clone()).collect();
    (!zero.is_empty()).then(|| {
        format!(
            "The influence by distance is 0 everywhere for {}: it contributes nothing, whatever its effects; a constraint may \
             have pinned it there.",
            listed(&zero)
        )
    })
}

fn rare_distances(canonical: &Canonical) -> Option<String> {
    let axis = canonical.axis();
    let from: Vec<String> = canonical.first_rare_slots().into_iter().map(|slot| axis.name(slot)).collect();
    let items = words::items(canonical.definition());
    (!from.is_empty()).then(|| {
        format!(
            "Fewer than {LITTLE_SUPPORT} training {items} have a source at {} or beyond: the far ends of curves over distance \
             have little support.",
            from.join(", ")
        )
    })
}

fn disconnected(data: &Dataset) -> Option<String> {
    match data.disconnected_graphs(MOST_GRAPHS) {
        [0, _] => None,
        [_, 1] => Some("The graph has disconnected parts: for each other, their nodes are \"unreachable\".".to_owned()),
        [apart, looked] => Some(format!(
            "{} of the graphs have disconnected parts (such as salts): for each other, their nodes are \
             \"unreachable\".",
            percent(apart as f64 / looked as f64, 1)
        )),
    }
}

fn imbalance(model: &Model, data: &Dataset, judged: &Judgement) -> Option<String> {
    if !matches!(model.definition().learned.outcome, Outcome::Binary | Outcome::Multiclass) {
        return None;
    }
    let target = model.align_targets(data).ok()?.into_iter().next()?;
    let rare = target.rare_classes(data.items()).into_iter();
    let rare: Vec<String> = rare.map(|(class, share)| format!("{class} ({})", percent(share, 1))).collect();
    let better = |metric: &Metric| matches!(metric, Metric::AveragePrecision | Metric::BalancedAccuracy | Metric::F1);
    let shown = judged.shown().into_iter().map(|(metric, _)| metric).filter(better);
    let mut shown: Vec<&str> = shown.take(2).map(Metric::long_name).collect();
    shown.extend(judged.confusion().map(|_| "the confusion matrix"));
    let instead = shown.split_last().map(|(last, others)| match others {
        [] => format!("; see {last}"),
        others => format!("; see {} and {last}", others.join(", ")),
    });
    (!rare.is_empty()).then(|| {
        format!("Rare classes: {}. Accuracy says little about them{}.", listed(&rare), instead.unwrap_or_default())
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
