//! Some predictions, each with its graph, its waterfall and its terms summed in every way.

use gnan::dataset::Outcome;
use gnan::evaluate::{ExampleReason, Judgement};
use gnan::explain::{By, Explainer, Explanation, Ledger, Output};
use gnan::model::Definition;
use gnan::numbers::{Precision, counted, percent};
use gnan::score::most_probable;
use gnan::{Dataset, Result};
use maud::{Markup, html};

use super::html::{TableCell, details, facts, table};
use super::{Figures, Report, WIDTH};
use crate::figure::graph::NodeRole;
use crate::prediction_figures::{graph_drawing, output_words, waterfall};
use crate::text::{one_line, signed, with_minus};

/// Terms that a table lists; the others are summed.
const TERMS: usize = 12;

pub(super) fn html(
    report: &Report<'_>,
    judged: &Judgement,
    explainer: &Explainer<'_>,
    figures: &mut Figures,
) -> Result<Markup> {
    let requested = match report.wanted.is_empty() {
        true => Vec::new(),
        false => Explainer::new(report.model, report.data)?.explain(&report.wanted)?,
    };
    let examples = judged.examples(explainer)?;
    let positions: Vec<usize> = examples.iter().map(|example| example.position).collect();
    let chosen = examples.iter().zip(explainer.explain(&positions)?);
    Ok(html! {
        @for (position, explanation) in report.wanted.iter().zip(&requested) {
            (article(report, report.data, judged, *position, "requested", explanation, figures))
        }
        p { "Chosen by rule, not by hand, from the items of the metrics above:" }
        @for (example, explanation) in chosen {
            @let reason = reason_words(report.model.definition(), example.reason);
            (article(report, &judged.data, judged, example.position, &reason, &explanation, figures))
        }
    })
}

/// Why a prediction is shown.
fn reason_words(definition: &Definition, reason: ExampleReason) -> String {
    let targets = &definition.learned.targets;
    let of = if targets.len() > 1 { format!(" of {}", targets[0].name) } else { String::new() };
    match reason {
        ExampleReason::Highest => format!("the highest prediction{of}"),
        ExampleReason::Lowest => format!("the lowest prediction{of}"),
        ExampleReason::LargestError => format!("the largest error{of}"),
        ExampleReason::MostConfident { class, right } => {
            let classes = targets.first().and_then(|target| target.classes.as_ref());
            let name = classes.and_then(|classes| classes.get(class)).map_or("", String::as_str);
            format!("the most confident \"{name}\"{of}{}", if right { ", correct" } else { "" })
        }
        ExampleReason::MostConfidentError => "the most confident error".to_owned(),
        ExampleReason::MostTypical => {
            "the most typical: its contributions by feature are nearest to the medians".to_owned()
        }
    }
}

/// One example, the item at a position of `data`: the output of its predicted class, or the first.
fn article(
    report: &Report<'_>,
    data: &Dataset,
    judged: &Judgement,
    position: usize,
    reason: &str,
    explanation: &Explanation,
    figures: &mut Figures,
) -> Markup {
    let definition = report.model.definition();
    let output = Output::foremost(definition, explanation).first().map_or(0, |output| output.shown.0);
    let mut rows = vec![("predicted", prediction(definition, explanation, output))];
    rows.extend(actual(data, judged, position).map(|actual| ("actual", actual)));
    let adds_up =
        if explanation.adds_up() { "equal to the prediction, however terms are grouped" } else { "NOT EQUAL" };
    rows.push(("sum of terms", adds_up.to_owned()));
    if !explanation.unseen.is_empty() {
        rows.push(("unseen in training", format!("{} (contributes 0)", explanation.unseen.join(", "))));
    }
    let role = NodeRole::Source;
    html! {
        article {
            h3 { (one_line(&explanation.id)) " " small { (reason) } }
            (facts(&rows))
            (figures.html(graph_drawing(definition, data, position, explanation, output, role, WIDTH)))
            (figures.html(waterfall(definition, explanation, output, WIDTH)))
            (ledgers(explanation, output))
        }
    }
}

/// The actual target of an item, where it is known.
fn actual(data: &Dataset, judged: &Judgement, position: usize) -> Option<String> {
    let item = data.items()[position] as usize;
    let target = judged.targets.first()?;
    let value = target.values.get(item).copied().filter(|value| !value.is_nan())?;
    let class = target.classes.as_ref().and_then(|classes| classes.get(value as usize));
    Some(class.map_or_else(|| signed(value, 4), |class| one_line(class)))
}

/// The prediction: the class with its probability, and the output that is explained.
fn prediction(definition: &Definition, explanation: &Explanation, output: usize) -> String {
    let name = output_words(definition, &explanation.outputs[output]);
    let amount = format!("{} {name}", signed(explanation.total(output), 4));
    let classes = definition.learned.targets.first().and_then(|target| target.classes.as_ref());
    match (definition.learned.outcome, classes) {
        (Outcome::Binary | Outcome::Multiclass, Some(classes)) => {
            let best = most_probable(&explanation.probabilities);
            let name = classes.get(best).map(|class| one_line(class)).unwrap_or_default();
            format!("{name}, probability {} ({amount})", percent(explanation.probabilities[best], 1))
        }
        (Outcome::MultiLabel, _) => {
            let share = explanation.probability(output).map(|share| percent(share, 1)).unwrap_or_default();
            format!("{amount}, probability {share}")
        }
        _ => amount,
    }
}

/// The terms of one output, summed in every way; closed until the reader opens them.
fn ledgers(explanation: &Explanation, output: usize) -> Markup {
    let ways = [
        (By::Feature, "Contributions by feature"),
        (By::Distance, "Contributions by distance"),
        (By::Node, "Contributions by source node (of its own features)"),
        (By::Receiver, "Contributions by receiver (its output from all sources)"),
        (By::FeatureAndDistance, "Contributions by feature and distance"),
        (By::NodeAndFeature, "Contributions by source node and feature"),
    ];
    html! {
        @for (by, summary) in ways {
            @if by != By::Receiver || !explanation.by_receiver.is_empty() {
                (details(summary, &ledger(explanation.ledger(output, by).top(TERMS))))
            }
        }
    }
}

fn ledger(ledger: Ledger) -> Markup {
    let mut terms = vec![("base".to_owned(), ledger.base)];
    if ledger.by != By::Receiver {
        terms.push(("structure".to_owned(), ledger.structure));
    }
    terms.extend(ledger.average_item.map(|amount| ("average item".to_owned(), amount)));
    terms.extend(ledger.terms.into_iter().map(|term| (one_line(&term.name), term.amount)));
    terms.extend(ledger.rest.map(|(others, amount)| (format!("{} (sum)", counted(others, "other")), amount)));
    let largest = terms.iter().fold(f64::MIN_POSITIVE, |largest, (_, amount)| largest.max(amount.abs()));
    let amounts: Vec<f64> = terms.iter().map(|(_, amount)| *amount).collect();
    let precision = Precision::for_amounts(amounts.iter().copied()).finer().finer();
    let units = precision.adding_up(&amounts, precision.units(ledger.total), 2);
    let mut running = 0;
    let rows = terms.into_iter().zip(units).map(|((name, amount), units)| {
        running += units;
        let [amount_cell, sum_cell] =
            [units, running].map(|units| TableCell::Number(with_minus(&precision.show(units))));
        vec![TableCell::Text(name), amount_cell, TableCell::Bar(amount / largest), sum_cell]
    });
    let rows: Vec<Vec<TableCell>> = rows.collect();
    let total = |name: &str, amount: f64| {
        let amount = with_minus(&format!("{}{}", precision.signed(amount), precision.words()));
        let empty = || TableCell::Text(String::new());
        vec![TableCell::Text(name.to_owned()), TableCell::Number(amount), empty(), empty()]
    };
    let totals = [total("sum of the terms", ledger.total), total("prediction of the model", ledger.prediction)];
    table(&["term", "contribution", "", "running sum"], &rows, &totals)
}
