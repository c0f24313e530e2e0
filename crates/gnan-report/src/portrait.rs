//! The portrait of one prediction: its waterfall, and the graph itself with what every node contributed.

use gnan::dataset::Outcome;
use gnan::explain::{By, Explanation};
use gnan::model::Description;

use crate::album::Figure;
use crate::figure::waterfall::{Term, Waterfall};

/// Most steps of a waterfall.
const MOST_STEPS: usize = 12;

/// What an output is called on an axis: "log-odds of toxic", "solubility (log mol/L)".
pub fn output_words(description: &Description, output: &str) -> String {
    match description.outcome {
        Outcome::Binary | Outcome::MultiLabel => format!("log-odds of {output}"),
        Outcome::Multiclass => format!("logit of {output}, above the mean of the classes"),
        Outcome::Regression => description.shown_unit(),
        Outcome::MultiRegression => output.to_owned(),
    }
}

/// One output of a prediction from its base to its sum, by feature.
pub fn waterfall(description: &Description, why: &Explanation, output: usize, width: f64) -> Figure {
    let ledger = why.ledger(output, By::Feature);
    let name = &why.outputs[output];
    let probability = match description.outcome {
        Outcome::Binary | Outcome::MultiLabel => ledger.probability.map(|at_end| [sigmoid(ledger.base), at_end]),
        _ => None,
    };
    let scene = Waterfall {
        title: format!("{}: from base to prediction", why.id),
        unit: output_words(description, name),
        base: ledger.base,
        structure: Some(ledger.structure),
        terms: (ledger.terms.into_iter())
            .map(|term| Term { name: term.name, value: term.amount, detail: String::new() })
            .collect(),
        prediction: ledger.total,
        most: MOST_STEPS,
        probability,
    };
    Figure {
        name: "waterfall".to_owned(),
        caption: "Every feature, all its nodes together, moves the prediction by this much; nothing is left over."
            .to_owned(),
        scene: scene.scene(width),
    }
}

fn sigmoid(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}
