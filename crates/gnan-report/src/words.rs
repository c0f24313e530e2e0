//! Descriptions of a model in words, for the report and the command line alike.

use gnan::dataset::Outcome;
use gnan::files::Task;
use gnan::model::{Definition, PairRank, Rho, SelectionStep};
use gnan::model_file::parameter_count;
use gnan::numbers::{count, counted, metric, number, percent};
use gnan::spec::ShapeKind;
use gnan::spec::{EdgeDirection, FitMethod, OPTIONS, Spec, SpecOption, Stage};
use gnan::{Lens, Pool};

use crate::text::one_line;

/// What kind of prediction it is: "binary classification".
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Binary => "binary classification",
        Outcome::Multiclass => "classification into several classes",
        Outcome::Regression => "regression",
        Outcome::MultiLabel => "multi-label classification",
        Outcome::MultiRegression => "multi-target regression",
    }
}

/// What is predicted of what: "toxic of graphs (binary classification)".
pub fn prediction(definition: &Definition) -> String {
    let targets: Vec<String> = definition
        .learned
        .targets
        .iter()
        .take(5)
        .map(|target| match &target.unit {
            Some(unit) => format!("{} [{}]", one_line(&target.name), one_line(unit)),
            None => one_line(&target.name),
        })
        .collect();
    let more = definition.learned.targets.len().saturating_sub(targets.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let family = definition.learned.target_family.as_ref().map(|family| format!(", {}", family.words()));
    let kind = outcome(definition.learned.outcome);
    format!("{}{more} of {} ({kind}{})", targets.join(", "), items(definition), family.unwrap_or_default())
}

/// How many training items are known by a bound alone, and what that means.
pub fn bounded_items(items: usize) -> String {
    let items = counted(items, "training item");
    format!("of {items} only a bound of the target is known, which counts as such (censored)")
}

/// Of two classes, that which effects are of, where the metrics are those of the other, the rarer one.
pub fn shown_class(definition: &Definition, rare: Option<&str>) -> Option<String> {
    let (rare, shown) = (rare?, definition.shown_names());
    let [shown] = shown.as_slice() else { return None };
    let (shown, other) = (one_line(shown), one_line(rare));
    (shown != other).then(|| {
        format!(
            "Effects and contributions are of the log-odds of {shown}: what raises them lowers those of {other}, the rarer class."
        )
    })
}

/// Why metrics that compare classes are not shown, where all items that were judged are of one class.
pub fn only_class(class: Option<&str>) -> Option<String> {
    let class = one_line(class?);
    Some(format!("All these items are of class {class}: metrics that compare classes cannot be computed on them."))
}

/// What the model predicts something of: "graphs", "nodes" or "node pairs".
pub fn items(definition: &Definition) -> &'static str {
    match definition.learned.task {
        _ if definition.learned.links.is_some() => "node pairs",
        Task::Graph => "graphs",
        Task::Node => "nodes",
    }
}

/// What support is counted in: "graph", "labelled node", "source edge", or "node pair" for features of pairs themselves.
pub fn item_noun(definition: &Definition) -> &'static str {
    match definition.learned.task {
        _ if definition.learned.links.as_ref().is_some_and(|links| links.own.is_some()) => "source edge or node pair",
        _ if definition.learned.links.is_some() => "source edge",
        Task::Graph => "graph",
        Task::Node => "labelled node",
    }
}

/// Whether the distance function rho is "shared", "per feature" or "per group of features".
pub fn rho(rho: Rho) -> &'static str {
    match rho {
        Rho::Shared => "shared",
        Rho::PerFeature => "per feature",
        Rho::Grouped => "per group of features",
    }
}

/// How distance is measured, unless in the usual way: ", distance along and against edges".
fn lenses(definition: &Definition) -> String {
    let lenses = &definition.learned.lenses;
    let one = |lens: &Lens| {
        let mut words = Vec::new();
        match lens.direction {
            EdgeDirection::Along if definition.learned.directed => words.push("along edges".to_owned()),
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
        words.extend((definition.learned.task == Task::Graph && !Lens::is_plain(lenses)).then(|| match lens.pool {
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

/// The candidate feature pairs, the best first: how much each explains, and whether the model has it.
pub fn pairs(definition: &Definition) -> Vec<String> {
    let has = |features: &[String; 2]| {
        let pairs = definition.learned.features.iter().filter_map(|feature| feature.pair.as_ref());
        pairs
            .map(|pair| pair.members.each_ref().map(|member| &member.feature))
            .any(|[a, b]| [a, b] == [&features[0], &features[1]] || [b, a] == [&features[0], &features[1]])
    };
    let line = |rank: &PairRank| {
        let name = rank.features.each_ref().map(|name| one_line(name)).join(" × ");
        let taken = if has(&rank.features) { "" } else { ", left out" };
        format!("{name}: explains {} of the residual of the additive model{taken}", percent(rank.score, 2))
    };
    definition.record.pairs.iter().map(line).collect()
}

/// The architecture: "distance function (rho) per feature, one logit, networks of 3 layers of 64, 52,000 parameters".
pub fn architecture(definition: &Definition) -> String {
    let size = definition.architecture();
    let logits = match (definition.learned.outcome, size.outputs) {
        (Outcome::Binary, 1) => ", one logit",
        (Outcome::Binary, _) => ", two logits",
        _ => "",
    };
    let cap = match definition.spec.distances.hop_cap {
        Some(cap) => format!(", no influence beyond distance {cap}"),
        None if definition.spec.distances.ignore_unreachable => ", no influence of unreachable nodes".to_owned(),
        None => String::new(),
    };
    let normalise =
        if definition.spec.statistics.normalises() { "" } else { ", sums instead of means over nodes at one distance" };
    let readout = if definition.spec.model.readout { ", readout" } else { "" };
    format!(
        "distance function (rho) {}{}{logits}, {}{cap}{normalise}{readout}, {} parameters",
        rho(definition.learned.rho),
        lenses(definition),
        shapes(definition),
        count(parameter_count(definition))
    )
}

/// What shape functions and distance functions are made of: "networks of 3 layers of 64", "splines", "splines with rho of
/// networks of 3 layers of 64".
fn shapes(definition: &Definition) -> String {
    let size = definition.architecture();
    let networks = if size.layers == 1 {
        "straight lines".to_owned()
    } else {
        format!("networks of {} layers of {}", size.layers, size.hidden)
    };
    match (definition.learned.shape, definition.rho_shape()) {
        (ShapeKind::Network, ShapeKind::Network) => networks,
        (ShapeKind::Spline, ShapeKind::Spline) => "splines".to_owned(),
        (ShapeKind::Spline, ShapeKind::Network) => format!("splines with rho of {networks}"),
        (ShapeKind::Network, ShapeKind::Spline) => format!("{networks} with rho of splines"),
    }
}

/// How it was fitted, every option that differs from its default: "learning rate 0.001, weight decay 0.005, seed 0".
pub fn settings(definition: &Definition) -> String {
    let (resolved, usual) = (&definition.record.resolved, Spec::default());
    let unused: Vec<&str> = resolved.without_effect().into_iter().map(|(name, _)| name).collect();
    let shown = |option: &&SpecOption| {
        let differs = resolved.get(option.name) != usual.get(option.name) && !unused.contains(&option.name);
        option.name == "seed" || (differs && matches!(option.stage, Stage::Statistics | Stage::Fit))
    };
    let words = OPTIONS.iter().filter(shown).map(|option| {
        let value = option.words(resolved);
        let value = value.parse().map_or(value, number);
        format!("{} {value}", option.name.replace('-', " "))
    });
    let mut words: Vec<String> = words.collect();
    if let Some(error) = definition.record.sample_error {
        let share = percent(error, 1);
        words.push(format!("samples of shells move an output by {share} of its spread, predictions are exact"));
    }
    words.join(", ")
}

/// Which features were trained on knots: "3 features were trained on 256 quantile knots, an approximation; predictions
/// are exact"; `None` if none was.
pub fn knots(definition: &Definition) -> Option<String> {
    let counts: Vec<usize> = definition.learned.features.iter().filter_map(|feature| feature.knots).collect();
    let (fewest, most) = (counts.iter().min()?, counts.iter().max()?);
    let what = match counts.len() {
        1 => "1 feature was".to_owned(),
        features => format!("{} features were", count(features)),
    };
    let knots = match fewest == most {
        true => count(*most),
        false => format!("{} to {}", count(*fewest), count(*most)),
    };
    Some(format!("{what} trained on {knots} quantile knots, an approximation; predictions are exact"))
}

/// How training went: "345 epochs, the best was 245: the validation loss stopped improving".
pub fn ending(definition: &Definition) -> String {
    let record = &definition.record;
    if definition.spec.fit.method == FitMethod::Penalised {
        return format!("{}: {}", counted(record.epochs, "Newton step"), record.ending());
    }
    let epochs = counted(record.epochs, "epoch");
    format!("{epochs}, the best was {}: {}", count(record.best_epoch), record.ending())
}

/// The sets of features among which was selected, a line each, with the penalties that left them; the kept one is marked.
pub fn selection(definition: &Definition) -> Vec<String> {
    let record = &definition.record;
    let line = |step: &SelectionStep| {
        let metric_words = step
            .metric
            .as_ref()
            .map(|(name, value)| format!(", {} {}", name.label(), metric(*value)))
            .unwrap_or_default();
        let kept = if step.features == definition.learned.features.len() { "  <- kept" } else { "" };
        let features = counted(step.features, "feature");
        let penalty = match definition.spec.fit.method {
            FitMethod::Penalised => String::new(),
            _ => format!(" (penalty {})", number(step.strength)),
        };
        let judge = judged_by(definition);
        format!("{features}{penalty}: {judge} loss {}{metric_words}{kept}", metric(step.valid_loss))
    };
    let mut lines: Vec<String> = record.selection.iter().map(line).collect();
    if !record.removed.is_empty() {
        let named: Vec<&str> = record.removed.iter().map(String::as_str).take(8).collect();
        let more = record.removed.len() - named.len();
        let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
        lines.push(format!("removed: {}{more}", one_line(&named.join(", "))));
    }
    lines
}

/// Which items decided between what was tried.
pub fn judged_by(definition: &Definition) -> &'static str {
    if definition.spec.fit.method == FitMethod::Penalised { "left-out" } else { "validation" }
}
