//! Effects in a sentence each, for a reader who looks at no figure.

use gnan::explain::{CanonicalLevel, FeatureOverview, Overview, ShapeCurve};
use gnan::files::{Kind, Task};
use gnan::model::Definition;
use gnan::numbers::DAYS;

use crate::bands::Bands;
use crate::figure::Interval;
use crate::text::{self, one_line, signed};

/// The quantiles of a numeric feature between which its effect is described.
const LOW: f64 = 0.1;
const HIGH: f64 = 0.9;

/// A change within a curve is described where it goes beyond both ends by this share of the range of the curve.
const NOTICEABLE: f64 = 0.15;

/// What is said first about a model: what the sentences are about, and a sentence each on what moves predictions most.
pub(super) struct Strongest {
    /// What the sentences are about.
    pub lead: String,
    /// A sentence on each of the most important features; the structure of the graph counts as one.
    pub sentences: Vec<String>,
}

impl Strongest {
    /// At most so many sentences. Features without a reliable effect are not among them while others are.
    pub fn new(definition: &Definition, order: &[usize], overview: &Overview, bands: Bands<'_>, most: usize) -> Self {
        let importance = |k: usize| overview.importance.as_ref().map(|found| found.of_feature(k));
        let structure = overview.importance.as_ref().map_or(0.0, |found| found.of_structure());
        let described = |k: &usize| effect(*k, overview, bands).map(|effect| (*k, effect));
        let mut found: Vec<(usize, Effect)> = order.iter().filter_map(described).collect();
        if found.iter().any(|(_, effect)| effect.is_reliable) {
            found.retain(|(_, effect)| effect.is_reliable);
        }
        let mut rows: Vec<(f64, bool, String)> = Vec::new();
        for (k, Effect { words, .. }) in found.into_iter().take(most) {
            let feature = &overview.features[k];
            let size = importance(k).map(|size| moves(size, overview));
            let remarks: Vec<String> = at_anchor(feature).into_iter().chain(size).collect();
            let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join("; ")) };
            let sentence = format!("{}{remarks}: {words}.", one_line(&feature.name));
            rows.push((importance(k).unwrap_or(0.0), feature.own_value, sentence));
        }
        let place = rows.iter().filter(|(importance, ..)| *importance >= structure).count();
        if place < most && structure > 0.0 {
            let sentence = format!(
                "structure ({}): the shape of the graph alone, how many nodes there are and how far apart.",
                moves(structure, overview)
            );
            rows.insert(place, (structure, true, sentence));
            rows.truncate(most);
        }
        let elsewhere = rows.iter().any(|(_, own_value, _)| !own_value);
        Strongest {
            lead: lead(definition, elsewhere),
            sentences: rows.into_iter().map(|(.., sentence)| sentence).collect(),
        }
    }
}

/// What the sentences on effects are about; `elsewhere`: some are effects at a distance.
fn lead(definition: &Definition, elsewhere: bool) -> String {
    let or_elsewhere =
        if elsewhere { " or, where a distance is named, on that of a node at that distance" } else { "" };
    let effects = match definition.learned.task {
        _ if definition.learned.links.as_ref().is_some_and(|links| links.own.is_some()) => {
            let elsewhere = match elsewhere {
                true => {
                    " or, where a distance is named, those of an edge at that distance, compared with an average edge"
                }
                false => "",
            };
            format!(
                "Effects are those of a node pair's own features, compared with an average node pair{elsewhere} (what other edges \
                 add comes on top):"
            )
        }
        _ if definition.learned.links.is_some() => "Effects are compared with an average edge:".to_owned(),
        Task::Graph => format!(
            "Effects are those of one node on its own output{or_elsewhere}, compared with an average node (what it adds to \
             the outputs of other nodes comes on top, and the prediction pools the outputs of all nodes):"
        ),
        Task::Node => format!(
            "Effects are those of one node on its own prediction{or_elsewhere}, compared with an average node (what other \
             nodes add comes on top):"
        ),
    };
    let sums_up = definition.learned.features.iter().any(|feature| feature.is_of_item());
    let summed = match definition.learned.task {
        Task::Graph if sums_up => " Numbers that sum up a graph are compared with the average graph.",
        Task::Node if sums_up => {
            " Numbers that sum up the nodes around one are compared with those of the average node."
        }
        _ => "",
    };
    format!("What moves predictions most, with its mean size in brackets. {effects}{summed}")
}

/// How much a part of the model moves predictions: "moves the log-odds of toxic by 0.3 on average".
fn moves(size: f64, overview: &Overview) -> String {
    format!("moves {} by {} on average", output_words(overview, None), amount(size, overview))
}

/// Where the effects of a feature are shown, unless it is the node itself.
fn at_anchor(feature: &FeatureOverview) -> Option<String> {
    (!feature.own_value).then(|| format!("at {}", feature.anchor))
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
        unit if is_log(unit) => format!("the log of {name}"),
        _ => name,
    }
}

/// Whether outputs are logarithms of what is predicted.
fn is_log(unit: &str) -> bool {
    unit.starts_with("log of ")
}

/// An amount with its unit, where that is not what is raised or lowered.
fn amount(value: f64, overview: &Overview) -> String {
    let number = signed(value.abs(), 2).trim_start_matches('+').to_owned();
    match overview.unit.as_str() {
        "log-odds" | "centred logit" => number,
        unit if is_log(unit) => number,
        unit if overview.shown_outputs.iter().any(|name| name == unit) => number,
        DAYS => format!("{number} days"),
        unit => format!("{number} {}", one_line(unit)),
    }
}

/// The effect of a feature in words.
struct Effect {
    words: String,
    /// Whether some of what is described differs from zero, or there are no intervals to tell.
    is_reliable: bool,
}

/// The effect of a feature in a sentence; `None` where it has none to speak of.
pub(super) fn sentence(k: usize, overview: &Overview, bands: Bands<'_>) -> Option<String> {
    let feature = &overview.features[k];
    let place = at_anchor(feature).map(|place| format!(" ({place})")).unwrap_or_default();
    Some(format!("{}{place}: {}.", one_line(&feature.name), effect(k, overview, bands)?.words))
}

fn effect(k: usize, overview: &Overview, bands: Bands<'_>) -> Option<Effect> {
    let feature = &overview.features[k];
    match (&feature.curve, feature.kind) {
        (Some(curve), _) => Some(of_curve(feature, curve, k, overview, bands)),
        (None, Kind::Binary) => {
            let level = feature.levels.iter().find(|level| !level.missing)?;
            let Effect { words, is_reliable } = of_level(level, feature, k, overview, bands);
            Some(Effect { words: format!("a node that has it {words}"), is_reliable })
        }
        (None, _) => of_levels(feature, k, overview, bands),
    }
}

/// The levels that raise and lower an output most, of those with enough support.
fn of_levels(feature: &FeatureOverview, k: usize, overview: &Overview, bands: Bands<'_>) -> Option<Effect> {
    let found = feature.extreme_levels();
    let effects: Vec<Effect> = found.iter().rev().map(|level| of_level(level, feature, k, overview, bands)).collect();
    let words = found.iter().rev().zip(&effects).map(|(level, effect)| (one_line(&level.name), &effect.words));
    let mut parts: Vec<String> = words.map(|(name, words)| format!("{name} {words}")).collect();
    parts.dedup();
    let is_reliable = effects.iter().any(|effect| effect.is_reliable);
    (!parts.is_empty()).then(|| Effect { words: parts.join("; "), is_reliable })
}

/// How a level changes the output that it moves most.
fn of_level(
    level: &CanonicalLevel,
    feature: &FeatureOverview,
    k: usize,
    overview: &Overview,
    bands: Bands<'_>,
) -> Effect {
    let output = largest(&level.values);
    let band = bands.shape(k, &level.point(feature.kind), output);
    Effect {
        words: changes(level.values[output], band, output, overview),
        is_reliable: !band.is_some_and(contains_zero),
    }
}

/// The output with the largest value, sign aside.
fn largest(values: &[f64]) -> usize {
    (0..values.len()).max_by(|a, b| values[*a].abs().total_cmp(&values[*b].abs())).unwrap_or(0)
}

fn contains_zero([low, high]: [f64; 2]) -> bool {
    low <= 0.0 && high >= 0.0
}

/// "raises the log-odds of toxic by 0.3 (95 % interval +0.2 to +0.4)".
fn changes(effect: f64, band: Option<[f64; 2]>, output: usize, overview: &Overview) -> String {
    let verb = if effect < 0.0 { "lowers" } else { "raises" };
    let what = output_words(overview, Some(output));
    let interval = |[low, high]: [f64; 2]| format!(" (95 % interval {} to {})", signed(low, 2), signed(high, 2));
    match band {
        Some(band) if contains_zero(band) => format!("has no reliable effect on {what}{}", interval(band)),
        band => format!("{verb} {what} by {}{}", amount(effect, overview), band.map(interval).unwrap_or_default()),
    }
}

/// How the effect changes from a low to a high value, and where it turns between them.
fn of_curve(feature: &FeatureOverview, curve: &ShapeCurve, k: usize, overview: &Overview, bands: Bands<'_>) -> Effect {
    let (output, points) = course(feature, curve);
    let band = bands.curve(k, output);
    let unreliable = points.iter().filter(|[x, _]| interval_at(&band, *x).is_some_and(contains_zero)).count();
    let is_reliable = unreliable < points.len();
    let remark = match points.len() {
        _ if is_reliable => "",
        2 => ", neither of them reliable",
        _ => ", none of them reliable",
    };
    let what = output_words(overview, Some(output));
    Effect {
        words: format!("its effect on {what} {}{remark}", course_words(&points, feature.unit.as_deref())),
        is_reliable,
    }
}

/// The output with the largest range over the supported part of a curve, and the course of it: its points at a low and at a
/// high quantile, and the extremes between them that go noticeably beyond both.
fn course(feature: &FeatureOverview, curve: &ShapeCurve) -> (usize, Vec<[f64; 2]>) {
    let (low, high) = (curve.quantile(LOW), curve.quantile(HIGH));
    let is_between = |x: f64| low < x && x < high && (curve.bins.is_empty() || feature.support_of(x).nodes > 0);
    // Of few distinct values, the knots of the curve may all lie between them.
    let middles = curve.bins.iter().map(|bin| bin.centre()).map(|x| (x, curve.value_at(x)));
    let between = curve.points.iter().cloned().chain(middles).filter(|(x, _)| is_between(*x));
    let ends = [low, high].map(|x| (x, curve.value_at(x)));
    let mut all: Vec<(f64, Vec<f64>)> = ends.into_iter().chain(between).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let of_output = |c: usize| -> Vec<[f64; 2]> {
        all.iter().filter_map(|(x, values)| values.get(c).map(|value| [*x, *value])).collect()
    };
    let range = |points: &[[f64; 2]]| {
        let values = || points.iter().map(|[_, value]| *value);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let outputs = all.first().map_or(0, |(_, values)| values.len());
    let ranges: Vec<f64> = (0..outputs).map(|c| range(&of_output(c))).collect();
    let output = largest(&ranges);
    let points = of_output(output);
    let ([Some(first), Some(last)], Some(range)) = ([points.first(), points.last()], ranges.get(output)) else {
        return (output, points);
    };
    let by_value = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
    let top = points.iter().max_by(by_value).filter(|top| top[1] - first[1].max(last[1]) >= NOTICEABLE * range);
    let bottom = points.iter().min_by(by_value).filter(|low| first[1].min(last[1]) - low[1] >= NOTICEABLE * range);
    let mut turns: Vec<[f64; 2]> = top.into_iter().chain(bottom).copied().filter(|_| *range > 0.0).collect();
    turns.sort_by(|a, b| a[0].total_cmp(&b[0]));
    (output, [*first].into_iter().chain(turns).chain([*last]).collect())
}

/// "goes from −0.65 at −1.25 up to +0.88 at 0.02 and down to −0.54 at 1.29".
fn course_words(points: &[[f64; 2]], unit: Option<&str>) -> String {
    let at = |[x, value]: [f64; 2]| format!("{} at {}", signed(value, 2), text::value(x, unit));
    let mut words = points.first().map(|first| format!("goes from {}", at(*first))).unwrap_or_default();
    for (place, pair) in points.windows(2).enumerate() {
        words += match place {
            0 => " ",
            _ if place + 2 == points.len() => " and ",
            _ => ", ",
        };
        words += match points.len() {
            2 => "",
            _ if pair[1][1] < pair[0][1] => "down ",
            _ => "up ",
        };
        words += &format!("to {}", at(pair[1]));
    }
    words
}

/// The interval of a curve at a number, on the lines between the numbers where it is known; `None` beyond them.
fn interval_at(band: &[(f64, Interval)], x: f64) -> Option<[f64; 2]> {
    let after = band.partition_point(|(at, _)| *at < x);
    let (to, upper) = band.get(after)?;
    let (from, lower) = band.get(after.saturating_sub(1))?;
    if *to == x || after == 0 {
        return (*to == x).then_some([upper.low, upper.high]);
    }
    let between = |a: f64, b: f64| a + (x - from) / (to - from) * (b - a);
    Some([between(lower.low, upper.low), between(lower.high, upper.high)])
}

#[cfg(test)]
mod tests {
    use gnan::bootstrap::{Band, Intervals};
    use gnan::explain::{Importance, Point, Points};
    use gnan::model::{Bin, Support};
    use gnan::{Dataset, Model, Spec};

    use super::*;

    /// A numeric feature whose values lie evenly from -1 to 1 and whose effects on the outputs are these functions.
    fn feature(effects: &[fn(f64) -> f64]) -> FeatureOverview {
        let at = |step: i32| f64::from(step) / 50.0;
        let support = Support { nodes: 100, graphs: 100, items: 100 };
        let curve = ShapeCurve {
            points: (-50..=50)
                .map(|step| (at(step), effects.iter().map(|effect| effect(at(step))).collect()))
                .collect(),
            bins: (-10..10).map(|b| Bin { from: at(5 * b), to: at(5 * b + 5), support }).collect(),
            deciles: (-5..=5).map(|decile| at(10 * decile)).collect(),
        };
        FeatureOverview {
            name: "x".to_owned(),
            kind: Kind::Continuous,
            unit: None,
            support,
            whole: false,
            anchor: "itself".to_owned(),
            own_value: true,
            of_item: false,
            levels: Vec::new(),
            curve: Some(curve),
            effects_by_distance: Vec::new(),
        }
    }

    fn words(effects: &[fn(f64) -> f64]) -> (usize, String) {
        let feature = feature(effects);
        let (output, points) = course(&feature, feature.curve.as_ref().unwrap());
        (output, course_words(&points, None))
    }

    /// The 10 % and 90 % quantiles are -0.8 and 0.8; 2 - 0.64 is 1.36.
    #[test]
    fn a_curve_that_turns_is_described_with_its_extreme() {
        let of = |effect: fn(f64) -> f64| words(&[effect]).1;
        assert_eq!(of(|x| 2.0 - x * x), "goes from +1.4 at −0.8 up to +2.0 at 0 and down to +1.4 at 0.8");
        assert_eq!(of(|x| x * x), "goes from +0.64 at −0.8 down to 0 at 0 and up to +0.64 at 0.8");
        assert_eq!(of(|x| 3.0 * x), "goes from −2.4 at −0.8 to +2.4 at 0.8");
        // The top, 0.3125 at 0.625, is beyond the end, 0.288, by less than 15 % of the range.
        assert_eq!(of(|x| x - 0.8 * x * x), "goes from −1.3 at −0.8 to +0.29 at 0.8");
        assert_eq!(of(|_| 0.5), "goes from +0.50 at −0.8 to +0.50 at 0.8");
        // Up and down again within the quantiles: sin has extremes at -0.5 and 0.5.
        let wave = of(|x| (std::f64::consts::PI * x).sin());
        assert_eq!(wave, "goes from −0.59 at −0.8 down to −1.0 at −0.5, up to +1.0 at 0.5 and down to +0.59 at 0.8");
    }

    /// The first output moves by 1.6 from end to end, the second by 2 * 0.64 * 4 in between and back.
    #[test]
    fn the_output_with_the_largest_range_is_described() {
        let (output, words) = words(&[|x| x, |x| 4.0 * x * x]);
        assert_eq!((output, words.as_str()), (1, "goes from +2.6 at −0.8 down to 0 at 0 and up to +2.6 at 0.8"));
    }

    /// No node has a value around 0: what the curve does there is no effect.
    #[test]
    fn a_turn_without_data_is_not_described() {
        let mut feature = feature(&[|x| 1.0 / (0.1 + x * x)]);
        let curve = feature.curve.as_mut().unwrap();
        curve.bins.iter_mut().filter(|bin| bin.centre().abs() < 0.8).for_each(|bin| bin.support = Support::default());
        let curve = curve.clone();
        assert_eq!(course(&feature, &curve).1.len(), 2);
    }

    #[test]
    fn intervals_lie_on_the_lines_between_points() {
        let band = [(0.0, Interval { low: 0.0, high: 1.0 }), (2.0, Interval { low: 2.0, high: 5.0 })];
        let found = [-1.0, 0.0, 1.0, 2.0, 3.0].map(|x| interval_at(&band, x));
        assert_eq!(found, [None, Some([0.0, 1.0]), Some([1.0, 3.0]), Some([2.0, 5.0]), None]);
        assert_eq!(interval_at(&[], 0.0), None);
    }

    fn small_model() -> Model {
        let data = Dataset::open("solubility").unwrap();
        Spec::default().epochs(1).hidden(16).seed(1).fit(&data.subset(&(0..60).collect::<Vec<_>>())).unwrap()
    }

    /// The more important feature has a band around 0; the other one has not.
    #[test]
    fn what_has_no_reliable_effect_is_not_among_the_strongest() {
        let model = small_model();
        let mut overview = model.overview();
        let mut sure = feature(&[|x| x]);
        sure.name = "sure".to_owned();
        overview.features = vec![feature(&[|x| x]), sure];
        let by_feature = vec![vec![0.9], vec![0.2]];
        overview.importance = Some(Importance { by_feature, structure: vec![0.0], ..Importance::default() });
        let points = vec![Point::Number(-1.0), Point::Number(1.0)];
        let band =
            |half: f64| vec![-1.0, 1.0].into_iter().map(|x| vec![Band { low: x - half, high: x + half }]).collect();
        let intervals = |halves: [f64; 2]| Intervals {
            kind: Default::default(),
            resamples: 100,
            points: Points { features: vec![points.clone(); 2] },
            rho: Vec::new(),
            shapes: halves.map(band).to_vec(),
            products: Vec::new(),
            structure: Vec::new(),
            importance: Default::default(),
            too_few: Vec::new(),
            rho_verdicts: Vec::new(),
            shape_verdicts: Vec::new(),
        };
        let of = |halves| {
            let intervals = intervals(halves);
            Strongest::new(model.definition(), &[0, 1], &overview, Bands::new(Some(&intervals)), 3).sentences
        };
        let sure = of([1.5, 0.1]);
        assert!(sure.len() == 1 && sure[0].starts_with("sure ("), "{sure:?}");
        let none = of([1.5, 1.5]);
        assert!(none.len() == 2 && none.iter().all(|words| words.contains("neither of them reliable")), "{none:?}");
        assert_eq!(of([0.1, 0.1]).len(), 2);
    }

    /// Features in the order of their importances, the structure term between them, and what the lead says of distances.
    #[test]
    fn what_moves_predictions_most_comes_with_its_size() {
        let model = small_model();
        let mut overview = model.overview();
        let (near, mut far) = (feature(&[|x| 0.01 * x]), feature(&[|x| 3.0 * x]));
        (far.name, far.own_value, far.anchor) = ("flag".to_owned(), false, "distance 1".to_owned());
        overview.features = vec![near, far];
        let by_feature = vec![vec![1.02], vec![0.2]];
        overview.importance = Some(Importance { by_feature, structure: vec![0.5], ..Importance::default() });
        let of =
            |overview: &Overview, most| Strongest::new(model.definition(), &[0, 1], overview, Bands::default(), most);
        let found = of(&overview, 3);
        let begins = ["x (moves ", "structure (moves ", "flag (at distance 1; moves "];
        assert!(
            found.sentences.iter().zip(begins).all(|(found, begin)| found.starts_with(begin)),
            "{:?}",
            found.sentences
        );
        assert!(
            found.sentences[0].contains(" by 1.0 log10 mol/L on average): its effect on "),
            "{}",
            found.sentences[0]
        );
        assert_eq!(found.sentences.len(), 3);
        assert!(found.lead.contains("on that of a node at that distance"), "{}", found.lead);
        let own = of(&overview, 1);
        assert!(own.sentences.len() == 1 && !own.lead.contains("distance"), "{}", own.lead);
    }
}
