//! Some predictions, each with its graph, its waterfall and its terms summed in every way.

use gnan::dataset::Outcome;
use gnan::evaluate::{ExampleReason, Judgement};
use gnan::explain::{By, Explainer, Explanation, Ledger, Output};
use gnan::files::{FunctionalGroup, Task};
use gnan::model::Definition;
use gnan::numbers::{Precision, counted, percent};
use gnan::score::most_probable;
use gnan::{Dataset, Result};
use maud::{Markup, html};

use super::Report;
use super::chooser::{Choice, chooser};
use super::figures::Figures;
use super::html::{TableCell, details, facts, table};
use crate::figure::graph::NodeRole;
use crate::prediction_figures::{graph_drawing, output_words, waterfall};
use crate::text::{one_line, signed, with_minus};

/// Values with little support that are named.
const MOST_WEAK: usize = 8;
/// Terms that a table lists; the others are summed.
const TERMS: usize = 12;

/// The predictions that a page shows, each with its explanation.
pub(super) struct Examples {
    requested: Vec<Shown>,
    chosen: Vec<Shown>,
}

/// One prediction that is shown.
pub(super) struct Shown {
    explanation: Explanation,
    /// Position of its item.
    position: usize,
    data: Dataset,
    reason: String,
    actual: Option<String>,
    weak: Vec<Vec<String>>,
    groups: Vec<FunctionalGroup>,
}

impl Examples {
    /// Those that were requested, and those that are chosen by rule.
    pub(super) fn choose(report: &Report<'_>, judged: &Judgement, explainer: &Explainer<'_>) -> Result<Examples> {
        let show =
            |data: &Dataset, explainer: &Explainer<'_>, position: usize, reason: String, explanation: Explanation| {
                let item = data.items()[position] as usize;
                let groups = match data.task() {
                    Task::Graph => data.molecule(item).map(|molecule| molecule.functional_groups()).unwrap_or_default(),
                    Task::Node => Vec::new(),
                };
                let actual = actual(data, judged, position);
                let weak = explainer.weak_values(position);
                Shown { explanation, position, data: data.clone(), reason, actual, weak, groups }
            };
        let mut requested = Vec::new();
        if !report.wanted.is_empty() {
            let of_all = Explainer::new(report.model, report.data)?;
            for (position, explanation) in report.wanted.iter().zip(of_all.explain(&report.wanted)?) {
                requested.push(show(report.data, &of_all, *position, "requested".to_owned(), explanation));
            }
        }
        let examples = judged.examples(explainer)?;
        let positions: Vec<usize> = examples.iter().map(|example| example.position).collect();
        let mut chosen = Vec::new();
        for (example, explanation) in examples.iter().zip(explainer.explain(&positions)?) {
            let reason = reason_words(report.model.definition(), example.reason);
            chosen.push(show(&judged.data, explainer, example.position, reason, explanation));
        }
        // The most typical one first: it is what the page begins with.
        chosen.rotate_right(usize::from(examples.last().is_some_and(|last| last.reason == ExampleReason::MostTypical)));
        Ok(Examples { requested, chosen })
    }

    /// The first that was requested, or the most typical.
    pub(super) fn first(&self) -> Option<&Shown> {
        self.requested.first().or(self.chosen.first())
    }

    /// The section: all of them, one at a time.
    pub(super) fn html(&self, report: &Report<'_>, figures: &mut Figures) -> Markup {
        let shown = self.requested.iter().chain(&self.chosen);
        let choices: Vec<Choice> = shown
            .map(|shown| Choice {
                name: format!("{}: {}", one_line(&shown.explanation.id), shown.reason),
                content: shown.article(report, figures),
            })
            .collect();
        html! {
            p {
                @if !self.requested.is_empty() { "First those that were requested; the others were chosen " }
                @else { "Chosen " }
                "by rule, not by hand, from the items that the model is judged on."
            }
            (chooser("choose-example", "Prediction:", &choices))
        }
    }
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

impl Shown {
    /// The output that is explained: that of the predicted class, or the first.
    fn output(&self, definition: &Definition) -> usize {
        Output::foremost(definition, &self.explanation).first().map_or(0, |output| output.shown.0)
    }

    /// What is predicted for it, in a sentence.
    pub(super) fn lead(&self, report: &Report<'_>) -> String {
        let definition = report.model.definition();
        let predicted = prediction(definition, &self.explanation, self.output(definition));
        let actual = self.actual.as_ref().map(|actual| format!(" (actual: {actual})")).unwrap_or_default();
        format!("for {} it predicts {predicted}{actual}:", one_line(&self.explanation.id))
    }

    /// The values with little support of its nodes; of a node or a node pair, its own.
    fn own_weak(&self) -> &[Vec<String>] {
        let item = self.data.items()[self.position];
        let nodes = self.data.sources_of(self.data.graph_of_item(item));
        match self.data.task() {
            Task::Graph => &self.weak,
            Task::Node if self.data.links().is_some() => {
                let itself = self.explanation.labels.iter().position(|label| label == "itself");
                itself.and_then(|place| self.weak.get(place)).map_or(&[], std::slice::from_ref)
            }
            Task::Node => {
                let own = (item as usize).checked_sub(nodes.start).and_then(|place| self.weak.get(place));
                own.map_or(&[], std::slice::from_ref)
            }
        }
    }

    /// Its graph and its waterfall.
    pub(super) fn figures(&self, report: &Report<'_>, figures: &mut Figures) -> Markup {
        let definition = report.model.definition();
        let (output, role) = (self.output(definition), NodeRole::Source);
        let drawing = graph_drawing(definition, &self.data, self.position, &self.explanation, output, role, &self.weak);
        html! {
            (figures.html(drawing))
            (figures.html(waterfall(definition, &self.explanation, output)))
        }
    }

    /// Everything about it.
    fn article(&self, report: &Report<'_>, figures: &mut Figures) -> Markup {
        let definition = report.model.definition();
        let (explanation, output) = (&self.explanation, self.output(definition));
        let mut rows = vec![("predicted", prediction(definition, explanation, output))];
        rows.extend(self.actual.iter().map(|actual| ("actual", actual.clone())));
        let adds_up =
            if explanation.adds_up() { "equal to the prediction, however terms are grouped" } else { "NOT EQUAL" };
        rows.push(("sum of terms", adds_up.to_owned()));
        if !explanation.unseen.is_empty() {
            rows.push(("unseen in training", format!("{} (contributes 0)", explanation.unseen.join(", "))));
        }
        let mut weak: Vec<&str> = self.own_weak().iter().flatten().map(String::as_str).collect();
        weak.sort_unstable();
        weak.dedup();
        if !weak.is_empty() {
            let more = weak.len().saturating_sub(MOST_WEAK);
            weak.truncate(MOST_WEAK);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            rows.push(("little support", format!("{}{more}", one_line(&weak.join(", ")))));
        }
        html! {
            article {
                h3 { (one_line(&explanation.id)) " " small { (self.reason) } }
                (facts(&rows))
                (self.figures(report, figures))
                @if !self.groups.is_empty() {
                    @let by_group = explanation.ledger(output, By::Node).by_group(&self.groups).top(TERMS);
                    (details("Contributions by functional group (the atoms of a group together)", &ledger(by_group)))
                }
                (ledgers(explanation, output))
            }
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
        _ if definition.learned.target_family.is_some() => {
            let value = definition.learned.value_of(explanation.total(output));
            format!("{} {} ({amount})", signed(value, 4), one_line(&explanation.outputs[output]))
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
