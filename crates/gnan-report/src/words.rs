//! What a model is, in words: used by the report and the command line alike.

use gnan::dataset::Outcome;
use gnan::files::Task;
use gnan::lens::{EdgeDirection, Lens, Pool};
use gnan::model::{Description, PairRank, Rho, SelectionStep};
use gnan::model_file::parameter_count;
use gnan::shape::ShapeKind;

use crate::text::{count, one_line};

/// What kind of prediction it is: "one of two classes".
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Binary => "one of two classes",
        Outcome::Multiclass => "one of several classes",
        Outcome::Regression => "a quantity",
        Outcome::MultiLabel => "several yes-or-no targets",
        Outcome::MultiRegression => "several quantities",
    }
}

/// What is predicted of what: "toxic of graphs, one of two classes".
pub fn prediction(description: &Description) -> String {
    let targets: Vec<String> = description
        .targets
        .iter()
        .take(5)
        .map(|target| match &target.unit {
            Some(unit) => format!("{} [{}]", one_line(&target.name), one_line(unit)),
            None => one_line(&target.name),
        })
        .collect();
    let more = description.targets.len().saturating_sub(targets.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let of = match description.task {
        _ if description.links.is_some() => "pairs of nodes",
        Task::Graph => "graphs",
        Task::Node => "nodes",
    };
    format!("{}{more} of {of}, {}", targets.join(", "), outcome(description.outcome))
}

/// Whether rho is "shared", "per feature" or "per group of features".
pub fn rho(rho: Rho) -> &'static str {
    match rho {
        Rho::Shared => "shared",
        Rho::PerFeature => "per feature",
        Rho::Grouped => "per group of features",
    }
}

/// The ways in which distance is measured, where they are not the usual one: ", distance along and against edges".
fn lenses(description: &Description) -> String {
    let lenses = &description.lenses;
    let one = |lens: &Lens| {
        let mut words = Vec::new();
        match lens.direction {
            EdgeDirection::Along if description.directed => words.push("along edges".to_owned()),
            EdgeDirection::Along => {}
            EdgeDirection::Against => words.push("against edges".to_owned()),
            EdgeDirection::Ignoring => words.push("ignoring direction".to_owned()),
        }
        if !lens.types.is_empty() {
            words.push(format!("over {} edges", lens.types.join(" and ")));
        }
        words.extend(lens.bins.as_ref().map(|bins| {
            let ends: Vec<String> = bins.ends.iter().map(|end| end.to_string()).collect();
            format!("by {} in bins up to {}", bins.weight, ends.join(", "))
        }));
        words.extend(lens.far.map(|far| format!("{far} or more edges as one")));
        words.extend((description.task == Task::Graph && !Lens::is_plain(lenses)).then(|| match lens.pool {
            Pool::Sum => "summed over receivers".to_owned(),
            Pool::Mean => "averaged over receivers".to_owned(),
        }));
        words.join(", ")
    };
    match Lens::is_plain(lenses) {
        true => String::new(),
        false => format!(", distance {}", lenses.iter().map(one).collect::<Vec<_>>().join(" and ")),
    }
}

/// How the pairs of features did among the candidates, the best first, and which of them the model has.
pub fn pairs(description: &Description) -> Vec<String> {
    let has = |features: &[String; 2]| {
        let pairs = description.features.iter().filter_map(|feature| feature.pair.as_ref());
        pairs
            .map(|pair| pair.members.each_ref().map(|member| &member.feature))
            .any(|[a, b]| [a, b] == [&features[0], &features[1]] || [b, a] == [&features[0], &features[1]])
    };
    let line = |rank: &PairRank| {
        let name = rank.features.each_ref().map(|name| one_line(name)).join(" × ");
        let taken = if has(&rank.features) { "" } else { ", left out" };
        format!("{name}: explains {:.2} % of what the features alone leave{taken}", 100.0 * rank.score)
    };
    description.record.pairs.iter().map(line).collect()
}

/// What the model looks like: "rho per feature, one logit, 3 layers of 64, 52,000 parameters".
pub fn architecture(description: &Description) -> String {
    let size = description.architecture;
    let logits = match (description.outcome, size.outputs) {
        (Outcome::Binary, 1) => ", one logit",
        (Outcome::Binary, _) => ", two logits",
        _ => "",
    };
    let cap = match description.hop_cap {
        Some(cap) => format!(", nothing beyond distance {cap}"),
        None if description.silent_unreachable => ", nothing from unreachable nodes".to_owned(),
        None => String::new(),
    };
    let normalise = if description.normalise { "" } else { ", not normalised" };
    let readout = if description.readout { ", readout" } else { "" };
    format!(
        "rho {}{}{logits}, {}{cap}{normalise}{readout}, {} parameters",
        rho(description.rho),
        lenses(description),
        shapes(description),
        count(parameter_count(description) as u64)
    )
}

/// What shape functions and rhos are made of: "3 layers of 64", "splines", "splines with rho of 3 layers of 64".
fn shapes(description: &Description) -> String {
    let size = description.architecture;
    let networks =
        if size.layers == 1 { "lines".to_owned() } else { format!("{} layers of {}", size.layers, size.hidden) };
    match (description.shape, description.rho_shape()) {
        (ShapeKind::Network, ShapeKind::Network) => networks,
        (ShapeKind::Spline, ShapeKind::Spline) => "splines".to_owned(),
        (ShapeKind::Spline, ShapeKind::Network) => format!("splines with rho of {networks}"),
        (ShapeKind::Network, ShapeKind::Spline) => format!("{networks} with rho of splines"),
    }
}

/// How it was fitted: "learning rate 0.001, weight decay 0.005, seed 0".
pub fn settings(description: &Description) -> String {
    let record = &description.record;
    let mut words = vec![
        format!("{} loss", record.loss),
        format!("learning rate {}", short(record.learning_rate)),
        format!("weight decay {}", short(record.weight_decay)),
    ];
    if record.smooth > 0.0 {
        words.push(format!("smoothness {}", short(record.smooth)));
    }
    if record.dropout > 0.0 {
        words.push(format!("dropout {}", short(record.dropout)));
    }
    if record.batch > 0 {
        words.push(format!("batches of {}", count(record.batch as u64)));
    }
    if record.shell_sample > 0 {
        let sources = count(u64::from(record.shell_sample));
        let moved =
            record.sample_error.map(|error| format!("which move an output by {:.1} % of its spread; ", 100.0 * error));
        let moved = moved.unwrap_or_default();
        words.push(format!("on samples of {sources} sources of every shell ({moved}predictions are exact)"));
    }
    words.push(format!("seed {}", record.seed));
    words.join(", ")
}

/// Which features were trained on knots: "3 features were trained on 256 quantile knots, an approximation; predictions
/// are exact". `None`: none was.
pub fn knots(description: &Description) -> Option<String> {
    let counts: Vec<usize> = description.features.iter().filter_map(|feature| feature.knots).collect();
    let (fewest, most) = (counts.iter().min()?, counts.iter().max()?);
    let what = match counts.len() {
        1 => "1 feature was".to_owned(),
        features => format!("{} features were", count(features as u64)),
    };
    let knots = match fewest == most {
        true => count(*most as u64),
        false => format!("{} to {}", count(*fewest as u64), count(*most as u64)),
    };
    Some(format!("{what} trained on {knots} quantile knots, an approximation; predictions are exact"))
}

/// How training went: "345 epochs, the best was 245: the validation loss stopped improving".
pub fn ending(description: &Description) -> String {
    let record = &description.record;
    let epochs =
        if record.epochs == 1 { "1 epoch".to_owned() } else { format!("{} epochs", count(record.epochs as u64)) };
    format!("{epochs}, the best was {}: {}", count(record.best_epoch as u64), record.ended)
}

/// A setting without needless zeros.
fn short(value: f64) -> String {
    format!("{value:.3e}").parse::<f64>().map_or_else(|_| value.to_string(), |rounded| rounded.to_string())
}

/// The path over strengths by which features were selected, a line each; the kept one is marked.
pub fn selection(description: &Description) -> Vec<String> {
    let record = &description.record;
    let line = |step: &SelectionStep| {
        let metric = step.metric.as_ref().map(|(name, value)| format!(", {name} {value:.4}")).unwrap_or_default();
        let kept = if step.features == description.features.len() { "  <- kept" } else { "" };
        let features = count(step.features as u64);
        format!(
            "{features} features (penalty {}): validation loss {:.4}{metric}{kept}",
            short(step.strength),
            step.valid_loss
        )
    };
    let mut lines: Vec<String> = record.selection.iter().map(line).collect();
    if !record.removed.is_empty() {
        let named: Vec<&str> = record.removed.iter().map(String::as_str).take(8).collect();
        let more = record.removed.len() - named.len();
        let more = if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
        lines.push(format!("removed: {}{more}", one_line(&named.join(", "))));
    }
    lines
}
