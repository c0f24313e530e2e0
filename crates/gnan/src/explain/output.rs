//! Outputs by name: the class or target that an explanation is about.

use super::explanation::Explanation;
use super::ledger::{By, Ledger};
use crate::dataset::Outcome;
use crate::error::Result;
use crate::model::Definition;
use crate::names::Names;
use crate::score::most_probable;

/// A class or a target, and which of a model's outputs it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Which of the classes or targets it is.
    pub index: usize,
    /// Which of the model's own outputs it is, and the sign with which it is.
    pub own: (usize, f64),
    /// Which of the shown outputs it is, and the sign with which it is: a contribution to one of two classes is the
    /// opposite contribution to the other.
    pub shown: (usize, f64),
}

impl Output {
    /// Every class or target of a model.
    pub fn all(definition: &Definition) -> Vec<Output> {
        let one_logit = definition.architecture().outputs == 1;
        let output = |(index, name): (usize, String)| match definition.learned.outcome {
            Outcome::Binary => {
                let sign = if index == 0 { -1.0 } else { 1.0 };
                let own = if one_logit { (0, sign) } else { (index, 1.0) };
                Output { name, index, own, shown: (0, sign) }
            }
            _ => Output { name, index, own: (index, 1.0), shown: (index, 1.0) },
        };
        let names = match definition.learned.outcome {
            Outcome::Binary | Outcome::Multiclass => definition.classes().to_vec(),
            _ => definition.learned.targets.iter().map(|target| target.name.clone()).collect(),
        };
        names.into_iter().enumerate().map(output).collect()
    }

    /// The outputs as contributions are shown: all but the first of two classes.
    pub fn shown(definition: &Definition) -> Vec<Output> {
        Output::all(definition).into_iter().filter(|output| output.shown.1 > 0.0).collect()
    }

    /// The outputs that rho and shape functions have: all but the first of two classes with one logit.
    pub fn own(definition: &Definition) -> Vec<Output> {
        Output::all(definition).into_iter().filter(|output| output.own.1 > 0.0).collect()
    }

    /// The outputs of these names, or `None` where none is named.
    pub fn named(definition: &Definition, wanted: &[String]) -> Result<Option<Vec<Output>>> {
        if wanted.is_empty() {
            return Ok(None);
        }
        let all = Output::all(definition);
        let missing = match definition.learned.outcome {
            Outcome::Binary | Outcome::Multiclass => "the model has no class",
            _ => "the model has no target",
        };
        let found = Names::new(all.iter().map(|output| output.name.clone())).pick(wanted, missing)?;
        Ok(Some(found.into_iter().map(|index| all[index].clone()).collect()))
    }

    /// The outputs to show first: the predicted one of several classes, the second of two, every target.
    pub fn foremost(definition: &Definition, why: &Explanation) -> Vec<Output> {
        let mut shown = Output::shown(definition);
        if definition.learned.outcome == Outcome::Multiclass {
            let predicted = most_probable(&why.probabilities);
            shown.retain(|output| output.index == predicted);
        }
        shown
    }

    /// Amounts of the shown outputs as this output has them.
    pub fn of_shown(&self, values: &[f64]) -> f64 {
        self.shown.1 * values[self.shown.0]
    }

    /// A prediction as a ledger for this output.
    pub fn ledger(&self, why: &Explanation, by: By) -> Ledger {
        let mut ledger = why.ledger(self.shown.0, by);
        let sign = self.shown.1;
        ledger.terms.iter_mut().for_each(|term| term.amount *= sign);
        ledger.rest = ledger.rest.map(|(others, sum)| (others, sign * sum));
        ledger.average_item = ledger.average_item.map(|amount| sign * amount);
        for amount in [&mut ledger.base, &mut ledger.structure, &mut ledger.total, &mut ledger.prediction] {
            *amount *= sign;
        }
        Ledger { output: self.name.clone(), probability: why.probabilities.get(self.index).copied(), ..ledger }
    }
}
