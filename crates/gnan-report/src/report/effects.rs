//! Effects in a sentence each, for a reader who looks at no figure.

use gnan::explain::{CanonicalLevel, FeatureOverview, Overview, Point, ShapeCurve};
use gnan::files::{Kind, Task};
use gnan::model::Definition;
use gnan::numbers::DAYS;

use crate::bands::Bands;
use crate::model_figures::ModelFigures;
use crate::text::{self, one_line, signed};

/// The quantiles of a numeric feature between which its effect is described.
const LOW: f64 = 0.1;
const HIGH: f64 = 0.9;

/// A sentence on each of the most important features; the structure of the graph counts as one.
pub(super) fn strongest(figures: &ModelFigures<'_>, overview: &Overview, bands: Bands<'_>, most: usize) -> Vec<String> {
    let importance = |k: usize| overview.importance.as_ref().map_or(0.0, |found| found.of_feature(k));
    let structure = overview.importance.as_ref().map_or(0.0, |found| found.of_structure());
    let place = figures.order().iter().filter(|k| importance(**k) >= structure).count();
    let mut sentences: Vec<String> =
        figures.order().iter().take(most).filter_map(|k| sentence(*k, overview, bands)).collect();
    if place < most && structure > 0.0 {
        let words = format!(
            "structure: the shape of the graph alone, how many nodes there are and how far apart, moves {} by {} on average.",
            output_words(overview, None),
            amount(structure, overview)
        );
        sentences.insert(place.min(sentences.len()), words);
        sentences.truncate(most);
    }
    sentences
}

/// What the sentences on effects are about.
pub(super) fn lead(definition: &Definition) -> &'static str {
    match definition.learned.task {
        _ if definition.learned.links.is_some() => "The strongest effects, compared with an average edge:",
        Task::Graph => {
            "The strongest effects of a node on its own output, compared with an average node (what it adds to the outputs of \
             other nodes comes on top, and the prediction pools the outputs of all nodes):"
        }
        Task::Node => {
            "The strongest effects of a node on its own prediction, compared with an average node (what other nodes add comes \
             on top):"
        }
    }
}

/// What is raised or lowered: "log_solubility", "the log-odds of toxic".
fn output_words(overview: &Overview, output: Option<usize>) -> String {
    let name = match (output, overview.shown_outputs.as_slice()) {
        (_, [only]) => one_line(only),
        (Some(output), names) => one_line(&names[output]),
        (None, _) => return format!("the {}s", overview.unit),
    };
    match overview.unit.as_str() {
        unit @ ("log-odds" | "centred logit") => format!("the {unit} of {name}"),
        _ => name,
    }
}

/// An amount with its unit, where that is not what is raised or lowered.
fn amount(value: f64, overview: &Overview) -> String {
    let number = signed(value.abs(), 2).trim_start_matches('+').to_owned();
    match overview.unit.as_str() {
        "log-odds" | "centred logit" => number,
        unit if overview.shown_outputs.iter().any(|name| name == unit) => number,
        DAYS => format!("{number} days"),
        unit => format!("{number} {}", one_line(unit)),
    }
}

/// The effect of a feature in a sentence; `None` where it has none to speak of.
pub(super) fn sentence(k: usize, overview: &Overview, bands: Bands<'_>) -> Option<String> {
    let feature = &overview.features[k];
    let name = one_line(&feature.name);
    let place = if feature.own_value { String::new() } else { format!(" (at {})", feature.anchor) };
    let effect = match (&feature.curve, feature.kind) {
        (Some(curve), _) => of_curve(feature, curve, k, overview, bands),
        (None, Kind::Binary) => {
            let level = feature.levels.iter().find(|level| !level.missing)?;
            format!("a node that has it {}", with_outputs(level, feature, k, overview, bands))
        }
        (None, _) => of_levels(feature, k, overview, bands)?,
    };
    Some(format!("{name}{place}: {effect}."))
}

/// The levels that raise and lower an output most, of those with enough support.
fn of_levels(feature: &FeatureOverview, k: usize, overview: &Overview, bands: Bands<'_>) -> Option<String> {
    let found = feature.extreme_levels();
    let words = |level: &&CanonicalLevel| {
        let (name, effect) = (one_line(&level.name), with_outputs(level, feature, k, overview, bands));
        format!("{name} {effect}")
    };
    let mut parts: Vec<String> = found.iter().rev().map(words).collect();
    parts.dedup();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// How a level changes the first output, and the class where there are several.
fn with_outputs(
    level: &CanonicalLevel,
    feature: &FeatureOverview,
    k: usize,
    overview: &Overview,
    bands: Bands<'_>,
) -> String {
    let point = level.point(feature.kind);
    let output = largest(&level.values);
    changes(level.values[output], bands.shape(k, &point, output), output, overview)
}

/// The output that is moved most.
fn largest(values: &[f64]) -> usize {
    (0..values.len()).max_by(|a, b| values[*a].abs().total_cmp(&values[*b].abs())).unwrap_or(0)
}

/// "raises the log-odds of toxic by 0.3 (95 % interval +0.2 to +0.4)".
fn changes(effect: f64, band: Option<[f64; 2]>, output: usize, overview: &Overview) -> String {
    let verb = if effect < 0.0 { "lowers" } else { "raises" };
    let what = output_words(overview, Some(output));
    let interval = |[low, high]: [f64; 2]| format!(" (95 % interval {} to {})", signed(low, 2), signed(high, 2));
    match band {
        Some([low, high]) if low <= 0.0 && high >= 0.0 => {
            format!("has no reliable effect on {what}{}", interval([low, high]))
        }
        band => format!("{verb} {what} by {}{}", amount(effect, overview), band.map(interval).unwrap_or_default()),
    }
}

/// How the effect changes between a low and a high value.
fn of_curve(feature: &FeatureOverview, curve: &ShapeCurve, k: usize, overview: &Overview, bands: Bands<'_>) -> String {
    let (low, high) = (curve.quantile(LOW), curve.quantile(HIGH));
    let [at_low, at_high] = [low, high].map(|x| curve.value_at(x));
    let differences: Vec<f64> = at_high.iter().zip(&at_low).map(|(high, low)| high - low).collect();
    let output = largest(&differences);
    let value = |x: f64| text::value(x, feature.unit.as_deref());
    let unreliable =
        |x: f64| bands.shape(k, &Point::Number(x), output).is_some_and(|[low, high]| low <= 0.0 && high >= 0.0);
    let reliable = if unreliable(low) && unreliable(high) { ", neither of them reliable" } else { "" };
    format!(
        "its effect on {} goes from {} at {} to {} at {}{reliable}",
        output_words(overview, Some(output)),
        signed(at_low[output], 2),
        value(low),
        signed(at_high[output], 2),
        value(high),
    )
}
