//! Single predictions for people: ledgers that add up, largest terms first.

use gnan::dataset::Outcome;
use gnan::explain::{By, Explanation, Ledger, Output};
use gnan::files::{FunctionalGroup, Task};
use gnan::model::{Definition, TargetFamily};
use gnan::numbers::{count, number, percent};
use gnan::score::most_probable;

use crate::ledger::{LedgerTable, term_noun};
use crate::style::{BOLD, dim, escape_control, heading, warning};
use crate::table::shorten;

/// What people see first.
const USUAL: [By; 3] = [By::Feature, By::Distance, By::Node];
/// Widest name of an item, class or target.
const NAME_WIDTH: usize = 60;

/// What ledgers are wanted.
pub struct Ledgers<'a> {
    /// What the model is.
    pub definition: &'a Definition,
    /// For which outputs; `None`: the foremost.
    pub outputs: Option<Vec<Output>>,
    /// By which marginals; empty: the usual.
    pub by: Vec<By>,
    /// Most terms of a ledger.
    pub top: usize,
}

impl Ledgers<'_> {
    /// One prediction with its ledgers, and what training had not seen of it: its own values, and `novelty` of its graph; by
    /// functional group as well, where it is a molecule and nothing else was requested.
    pub fn text(&self, why: &Explanation, novelty: &[String], groups: &[FunctionalGroup]) -> String {
        let title = heading(shorten(&why.id, NAME_WIDTH));
        let mut text = format!("{title}  {}\n", self.prediction(why));
        let of_item = match (self.definition.learned.task, why.unseen.is_empty()) {
            (Task::Node, false) => Some(format!("{} (contributes 0)", why.unseen.join(", "))),
            _ => None,
        };
        for sentence in of_item.iter().chain(novelty) {
            text.push_str(&format!("  {}: {}\n", warning("not seen in training"), escape_control(sentence)));
        }
        let outputs = self.outputs.clone().unwrap_or_else(|| Output::foremost(self.definition, why));
        let by = if self.by.is_empty() { &USUAL[..] } else { &self.by };
        for output in &outputs {
            for by in by {
                text.push_str(&self.ledger(why, output, *by));
            }
            if self.by.is_empty() && !groups.is_empty() {
                let title =
                    format!("\n{}  {}\n", heading("by functional group: its atoms together"), dim(self.unit(output)));
                let ledger = output.ledger(why, By::Node).by_group(groups).top(self.top);
                text.push_str(&format!("{title}{}", self.table(&ledger, "group")));
            }
        }
        if self.definition.learned.target_family.is_some() {
            text.push_str(&format!("\n{}\n", dim(TargetFamily::SENTENCE)));
        }
        if !why.adds_up() {
            text.push_str(&format!("\n{}: these parts do not add up to the prediction\n", warning("warning")));
        }
        text
    }

    /// What the model says, in one line.
    fn prediction(&self, why: &Explanation) -> String {
        let definition = self.definition;
        let target = |index: usize| definition.learned.targets.get(index).map_or("", |target| target.name.as_str());
        match definition.learned.outcome {
            Outcome::Binary | Outcome::Multiclass => {
                let predicted = most_probable(&why.probabilities);
                let class =
                    Output::all(definition).into_iter().nth(predicted).map(|class| class.name).unwrap_or_default();
                let probability = with_probability(why.probabilities.get(predicted).copied());
                let class = shorten(&class, NAME_WIDTH);
                format!("{}: {class}{}", shorten(target(0), NAME_WIDTH), probability)
            }
            Outcome::MultiLabel => {
                let each = why.probabilities.iter().enumerate();
                let each = each
                    .map(|(index, p)| format!("{}{}", shorten(target(index), NAME_WIDTH), with_probability(Some(*p))));
                each.collect::<Vec<_>>().join("; ")
            }
            Outcome::Regression | Outcome::MultiRegression => {
                let each = why.prediction.iter().enumerate();
                let learned = &definition.learned;
                let value = |output: f64| match learned.target_family.is_some() {
                    true => format!("{} = exp({})", number(learned.value_of(output)), number(output)),
                    false => number(output),
                };
                let each =
                    each.map(|(index, output)| format!("{} {}", shorten(target(index), NAME_WIDTH), value(*output)));
                each.collect::<Vec<_>>().join(", ")
            }
        }
    }

    fn ledger(&self, why: &Explanation, output: &Output, by: By) -> String {
        let title = format!("\n{}  {}\n", heading(self.by_words(by)), dim(self.unit(output)));
        if !why.has(by) {
            let receiver = if self.definition.learned.links.is_some() { "pair" } else { "node" };
            return format!("{title}  the {receiver} itself is the only receiver\n");
        }
        let ledger = output.ledger(why, by);
        // Distances are best read in their order.
        let whole = by == By::Distance && ledger.terms.len() <= self.top;
        let mut ledger = if whole { ledger } else { ledger.top(self.top) };
        if by == By::Feature && self.definition.learned.links.is_some() {
            ledger.terms.iter_mut().for_each(|term| term.name = why.with_own_value(&term.name));
        }
        let noun = match by {
            By::Node if self.definition.learned.links.is_some() => "edge",
            by => term_noun(by),
        };
        format!("{title}{}", self.table(&ledger, noun))
    }

    /// A ledger as a table whose terms are called so.
    fn table(&self, ledger: &Ledger, noun: &str) -> String {
        let structure = match self.definition.learned.task {
            Task::Graph => "the shape of the graph alone",
            Task::Node => "the shape of its surroundings alone",
        };
        let mut table = LedgerTable::named(ledger, structure, "total", noun);
        let remark = match ledger.probability {
            Some(p) => format!("prediction of the model{}", with_probability(Some(p))),
            None if self.definition.learned.target_family.is_some() => {
                format!(
                    "prediction of the model: exp of it is {}",
                    number(self.definition.learned.value_of(ledger.prediction))
                )
            }
            None => "prediction of the model".to_owned(),
        };
        table.compare(BOLD, "model", ledger.prediction, &remark);
        table.render()
    }

    /// The unit of amounts: "log-odds of yes".
    fn unit(&self, output: &Output) -> String {
        let name = shorten(&output.name, NAME_WIDTH);
        match self.definition.learned.outcome {
            Outcome::Binary | Outcome::MultiLabel => format!("log-odds of {name}"),
            Outcome::Multiclass => format!("logit of {name} above the mean of the {} classes", count(self.classes())),
            Outcome::Regression | Outcome::MultiRegression => {
                let unit = self.definition.learned.targets.get(output.index).and_then(|target| target.unit.as_deref());
                let named = unit.map_or_else(|| name.clone(), |unit| format!("{name} ({})", escape_control(unit)));
                if self.definition.learned.target_family.is_some() { format!("log of {named}") } else { named }
            }
        }
    }

    fn by_words(&self, by: By) -> &'static str {
        let links = self.definition.learned.links.is_some();
        let shared = self.definition.learned.task == Task::Graph
            && self.definition.learned.features.iter().any(|feature| feature.is_of_item());
        match by {
            By::Feature => "by feature",
            By::Node if links => "by edge: what the features of its ends did",
            By::Node if shared => {
                "by node: what its own features did, and its equal share of the numbers of the whole graph"
            }
            By::Node => "by node: what its own features did",
            By::Distance => "by distance",
            By::FeatureAndDistance => "by feature and distance",
            By::NodeAndFeature if links => "by edge and feature",
            By::NodeAndFeature => "by node and feature",
            By::Receiver => "by receiver: contributions of all sources to it",
        }
    }

    fn classes(&self) -> usize {
        let classes = self.definition.learned.targets.first().and_then(|target| target.classes.as_ref());
        classes.map_or(0, Vec::len)
    }
}

fn with_probability(probability: Option<f64>) -> String {
    probability.map(|p| format!(", probability {}", percent(p, 1))).unwrap_or_default()
}
