//! Some predictions, each with its picture and its ledgers.

use gnan::Result;
use gnan::dataset::Outcome;
use gnan::explain::{By, Explainer, Explanation, Ledger};

use super::choice::{Example, choose};
use super::html::{Cell, details, facts, paragraph, table, text, with_total};
use super::judged::Judged;
use super::{Figures, Report, WIDTH};
use crate::portrait::{output_words, waterfall};
use crate::text::{count, number, one_line, signed};

/// Terms that a ledger lists; the others are summed.
const TERMS: usize = 12;

pub(super) fn html(
    report: &Report<'_>,
    judged: &Judged,
    explainer: &Explainer<'_>,
    figures: &mut Figures,
) -> Result<String> {
    let examples = choose(report.model, judged, explainer)?;
    let positions: Vec<usize> = examples.iter().map(|example| example.position).collect();
    let mut html = paragraph("Chosen by rule, not by hand, from the items that the model was judged on.");
    for (example, why) in examples.iter().zip(explainer.explain(&positions)?) {
        html += &one(report, judged, example, &why, figures);
    }
    Ok(html)
}

fn one(report: &Report<'_>, judged: &Judged, example: &Example, why: &Explanation, figures: &mut Figures) -> String {
    let description = report.model.description();
    let output = example.output;
    let mut html = format!("<article>\n<h3>{} <small>{}</small></h3>\n", text(&one_line(&why.id)), text(&example.why));
    let unit = output_words(description, &why.outputs[output]);
    let mut said = format!("{} {unit}", signed(why.total(output), 4));
    if let Some(probability) = why.probability(output) {
        said += &format!(", probability {}", percent(probability));
    }
    let mut pairs = vec![("predicted", said)];
    if let Some(target) = judged.target(example.position) {
        pairs.push(("in truth", truth(judged, target, description.outcome)));
    }
    pairs.push((
        "adds up",
        if why.adds_up() { "yes, in every way it is taken apart".to_owned() } else { "NO".to_owned() },
    ));
    if !why.unseen.is_empty() {
        pairs.push(("unseen in training", format!("{} (contributes 0)", why.unseen.join(", "))));
    }
    html += &facts(&pairs);
    // PICTURE
    html += &figures.html(waterfall(description, why, output, WIDTH));
    html += &ledgers(why, output);
    html + "</article>\n"
}

fn truth(judged: &Judged, target: f64, outcome: Outcome) -> String {
    let class = judged.targets.first().and_then(|t| t.classes.as_ref()?.get(target as usize).cloned());
    match (outcome, class) {
        (Outcome::Regression | Outcome::MultiRegression, _) | (_, None) => signed(target, 4),
        (_, Some(class)) => one_line(&class),
    }
}

fn percent(probability: f64) -> String {
    format!("{} %", number(100.0 * probability, 3))
}

/// The ledgers of one output, by everything but features, which the waterfall shows.
fn ledgers(why: &Explanation, output: usize) -> String {
    let mut html = String::new();
    for (by, summary) in [
        (By::Feature, "Ledger by feature"),
        (By::Distance, "Ledger by distance"),
        (By::Node, "Ledger by source node: what its own features did"),
        (By::Receiver, "Ledger by receiving node: what it heard"),
        (By::FeatureAndDistance, "Ledger by feature and distance"),
        (By::NodeAndFeature, "Ledger by source node and feature"),
    ] {
        if by == By::Receiver && why.by_receiver.is_empty() {
            continue;
        }
        html += &details(summary, &ledger(why.ledger(output, by).top(TERMS)));
    }
    html
}

fn ledger(ledger: Ledger) -> String {
    let mut terms = vec![("base".to_owned(), ledger.base), ("structure".to_owned(), ledger.structure)];
    terms.extend(ledger.terms.into_iter().map(|term| (one_line(&term.name), term.amount)));
    terms.extend(ledger.rest.map(|(others, amount)| (format!("{} others", count(others as u64)), amount)));
    let largest = terms.iter().fold(f64::MIN_POSITIVE, |largest, (_, amount)| largest.max(amount.abs()));
    let mut running = 0.0;
    let rows = terms.into_iter().map(|(name, amount)| {
        running += amount;
        vec![
            Cell::Words(name),
            Cell::Number(signed(amount, 5)),
            Cell::Bar(amount / largest),
            Cell::Number(signed(running, 5)),
        ]
    });
    let table = table(&["term", "adds", "", "so far"], rows.collect());
    let total = with_total(
        table,
        vec![
            Cell::Words("sum of the parts".to_owned()),
            Cell::Number(signed(ledger.total, 5)),
            Cell::Words(String::new()),
            Cell::Words(String::new()),
        ],
    );
    with_total(
        total,
        vec![
            Cell::Words("what the model said".to_owned()),
            Cell::Number(signed(ledger.prediction, 5)),
            Cell::Words(String::new()),
            Cell::Words(String::new()),
        ],
    )
}
