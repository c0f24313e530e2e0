//! Outputs by name: which class or target an explanation is asked for.

use gnan::dataset::Outcome;
use gnan::explain::{By, Explanation, Ledger};
use gnan::model::Description;
use gnan::{Error, Result};

use super::names::{Names, pick};
use crate::style::escape_control;

/// A class or a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Which of the classes or targets it is.
    pub index: usize,
    /// Which of the model's own outputs it is, and the sign with which it is.
    pub own: (usize, f64),
    /// Which of the shown outputs it is, and the sign with which it is: what speaks for one of two classes speaks against
    /// the other.
    pub shown: (usize, f64),
}

/// Every class or target of a model.
pub fn every(description: &Description) -> Vec<Output> {
    let classes = || description.targets.first().and_then(|target| target.classes.clone()).unwrap_or_default();
    let one_logit = description.architecture.outputs == 1;
    let output = |(index, name): (usize, String)| match description.outcome {
        Outcome::Binary => {
            let sign = if index == 0 { -1.0 } else { 1.0 };
            let own = if one_logit { (0, sign) } else { (index, 1.0) };
            Output { name, index, own, shown: (0, sign) }
        }
        _ => Output { name, index, own: (index, 1.0), shown: (index, 1.0) },
    };
    let names = match description.outcome {
        Outcome::Binary | Outcome::Multiclass => classes(),
        _ => description.targets.iter().map(|target| target.name.clone()).collect(),
    };
    names.into_iter().enumerate().map(output).collect()
}

/// The outputs as the model has them: all but the first of two classes.
pub fn usual(description: &Description) -> Vec<Output> {
    every(description).into_iter().filter(|output| output.shown.1 > 0.0).collect()
}

/// The outputs of these names, or `None` where none is named.
pub fn named(description: &Description, wanted: &[String]) -> Result<Option<Vec<Output>>> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let every = every(description);
    let names = Names::new(every.iter().map(|output| output.name.clone()).collect());
    let found = pick(wanted, |name| names.find(name)).map_err(|name| {
        let kind = if description.outcome == Outcome::Binary || description.outcome == Outcome::Multiclass {
            "class"
        } else {
            "target"
        };
        let error = Error::usage(format!("the model has no {kind} \"{}\"", escape_control(&name)));
        error.with_remedy(names.remedy(&name))
    })?;
    Ok(Some(found.into_iter().map(|index| every[index].clone()).collect()))
}

/// What people want to see first: the predicted one of several classes, the second of two, every target.
pub fn foremost(description: &Description, why: &Explanation) -> Vec<Output> {
    let mut usual = usual(description);
    if description.outcome == Outcome::Multiclass {
        let predicted = most_probable(&why.probabilities);
        usual.retain(|output| output.index == predicted);
    }
    usual
}

/// The class of largest probability, the first of several.
pub fn most_probable(probabilities: &[f64]) -> usize {
    (0..probabilities.len())
        .reduce(|best, next| if probabilities[next] > probabilities[best] { next } else { best })
        .unwrap_or(0)
}

impl Output {
    /// Amounts of the shown outputs as this output has them.
    pub fn of_shown(&self, values: &[f64]) -> f64 {
        self.shown.1 * values[self.shown.0]
    }

    /// Values of the model's own outputs as this output has them.
    pub fn of_own(&self, values: &[f64]) -> f64 {
        self.own.1 * values[self.own.0]
    }

    /// A prediction as a ledger for this output.
    pub fn ledger(&self, why: &Explanation, by: By) -> Ledger {
        let mut ledger = why.ledger(self.shown.0, by);
        let sign = self.shown.1;
        ledger.terms.iter_mut().for_each(|term| term.amount *= sign);
        ledger.rest = ledger.rest.map(|(others, sum)| (others, sign * sum));
        for amount in [&mut ledger.base, &mut ledger.structure, &mut ledger.total, &mut ledger.prediction] {
            *amount *= sign;
        }
        Ledger { output: self.name.clone(), probability: why.probabilities.get(self.index).copied(), ..ledger }
    }
}
