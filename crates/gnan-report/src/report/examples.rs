//! Some predictions, each with its picture and its ledgers.

use gnan::dataset::Outcome;
use gnan::explain::{By, Explainer, Explanation, Ledger};
use gnan::model::Definition;
use gnan::score::most_probable;
use gnan::{Dataset, Result};

use super::choice::{Example, choose};
use super::html::{Cell, details, facts, paragraph, table, text, with_total};
use super::judged::Judged;
use super::{Figures, Report, WIDTH};
use crate::figure::graph;
use crate::portrait::{output_words, picture, waterfall};
use crate::precision::Precision;
use crate::text::{count, number, one_line, signed};

/// Terms that a ledger lists; the others are summed.
const TERMS: usize = 12;

/// Where an example comes from: the data its position counts in.
struct Source<'a> {
    report: &'a Report<'a>,
    data: &'a Dataset,
    judged: &'a Judged,
}

pub(super) fn html(
    report: &Report<'_>,
    judged: &Judged,
    explainer: &Explainer<'_>,
    figures: &mut Figures,
) -> Result<String> {
    let mut html = String::new();
    if !report.wanted.is_empty() {
        let source = Source { report, data: report.data, judged };
        let all = Explainer::new(report.model, report.data)?;
        for (position, why) in report.wanted.iter().zip(all.explain(&report.wanted)?) {
            let output = most_spoken_for(report.model.definition(), &why);
            let example = Example { position: *position, why: "asked for".to_owned(), output };
            html += &source.html(&example, &why, figures);
        }
    }
    let examples = choose(report.model, judged, explainer)?;
    let positions: Vec<usize> = examples.iter().map(|example| example.position).collect();
    html += &paragraph("Chosen by rule, not by hand, from the items that the model was judged on:");
    let source = Source { report, data: &judged.data, judged };
    for (example, why) in examples.iter().zip(explainer.explain(&positions)?) {
        html += &source.html(example, &why, figures);
    }
    Ok(html)
}

/// The shown output of the predicted class.
fn most_spoken_for(definition: &Definition, why: &Explanation) -> usize {
    match definition.learned.outcome {
        Outcome::Multiclass => most_probable(&why.probabilities),
        _ => 0,
    }
}

impl Source<'_> {
    fn html(&self, example: &Example, why: &Explanation, figures: &mut Figures) -> String {
        let definition = self.report.model.definition();
        let output = example.output;
        let mut html =
            format!("<article>\n<h3>{} <small>{}</small></h3>\n", text(&one_line(&why.id)), text(&example.why));
        let mut pairs = vec![("predicted", said(definition, why, output))];
        pairs.extend(self.truth(example.position).map(|truth| ("in truth", truth)));
        let adds_up = if why.adds_up() { "yes, in every way it is taken apart" } else { "NO" };
        pairs.push(("adds up", adds_up.to_owned()));
        if !why.unseen.is_empty() {
            pairs.push(("unseen in training", format!("{} (contributes 0)", why.unseen.join(", "))));
        }
        html += &facts(&pairs);
        let by = graph::By::Source;
        html += &figures.html(picture(definition, self.data, example.position, why, output, by, WIDTH));
        html += &figures.html(waterfall(definition, why, output, WIDTH));
        html += &ledgers(why, output);
        html + "</article>\n"
    }

    /// The known target, in words.
    fn truth(&self, position: usize) -> Option<String> {
        let item = self.data.items()[position] as usize;
        let target = self.judged.targets.first()?;
        let value = target.values.get(item).copied().filter(|value| !value.is_nan())?;
        let class = target.classes.as_ref().and_then(|classes| classes.get(value as usize));
        Some(class.map_or_else(|| signed(value, 4), |class| one_line(class)))
    }
}

/// What was predicted: the class with its probability, and the output that is explained.
fn said(definition: &Definition, why: &Explanation, output: usize) -> String {
    let amount = format!("{} {}", signed(why.total(output), 4), output_words(definition, &why.outputs[output]));
    let classes = definition.learned.targets.first().and_then(|target| target.classes.as_ref());
    match (definition.learned.outcome, classes) {
        (Outcome::Binary | Outcome::Multiclass, Some(classes)) => {
            let best = most_probable(&why.probabilities);
            let name = classes.get(best).map(|class| one_line(class)).unwrap_or_default();
            format!("{name}, probability {} ({amount})", percent(why.probabilities[best]))
        }
        (Outcome::MultiLabel, _) => {
            let probability = why.probability(output).map(percent).unwrap_or_default();
            format!("{amount}, probability {probability}")
        }
        _ => amount,
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
    let amounts: Vec<f64> = terms.iter().map(|(_, amount)| *amount).collect();
    let precision = Precision::for_amounts(amounts.iter().copied()).finer().finer();
    let total = precision.units(ledger.total);
    let units = precision.adding_up(&amounts, total, 2);
    let mut running = 0;
    let rows = terms.into_iter().zip(units).map(|((name, amount), units)| {
        running += units;
        let [adds, so_far] = [units, running].map(|units| Cell::Number(precision.show(units)));
        vec![Cell::Words(name), adds, Cell::Bar(amount / largest), so_far]
    });
    let mut html = table(&["term", "adds", "", "so far"], rows.collect());
    let nothing = || Cell::Words(String::new());
    for (name, amount) in [("sum of the parts", ledger.total), ("what the model said", ledger.prediction)] {
        let amount = Cell::Number(format!("{}{}", precision.signed(amount), precision.words()));
        html = with_total(html, vec![Cell::Words(name.to_owned()), amount, nothing(), nothing()]);
    }
    html
}
