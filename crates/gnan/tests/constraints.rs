//! Constraints of penalised fits: effects keep to their rules at every distance, after rounding, for every family and several
//! targets; certificates say so, and find out files that were changed; what constraints do not touch stays what it was.

mod common;
mod oracle;

use common::{CaseShape, FeaturePlan, class_column, dataset, random_case};
use gnan::bootstrap::Intervals;
use gnan::dataset::Problem;
use gnan::explain::{Canonical, Explainer, FeatureValue};
use gnan::files::{Column, Kind, Values};
use gnan::internals::model::Parameters;
use gnan::internals::random::Stream;
use gnan::model::{Certificate, Definition, Ended};
use gnan::spec::{Curvature, CurveChoice, FamilyChoice, FitMethod, LevelChoice, PoolChoice, Rules, Trend};
use gnan::{Dataset, DatasetOptions, Model, Spec};
use oracle::Case;

fn plan() -> Vec<FeaturePlan> {
    let plan = |name: &str, kind, missing, distinct| FeaturePlan { name: name.to_owned(), kind, missing, distinct };
    vec![
        plan("rising", "continuous", 0.0, 0),
        plan("bent", "continuous", 0.0, 0),
        plan("small", "continuous", 0.2, 0),
        plan("few", "continuous", 0.1, 3),
        plan("count", "sparse", 0.1, 3),
        plan("flag", "binary", 0.0, 0),
        plan("colour", "categorical", 0.1, 3),
    ]
}

/// What the data are labelled with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Labels {
    Number,
    TwoNumbers,
    TwoClasses,
    Counts,
    Positive,
}

/// Graphs in whose labels everything goes against the rules below, with noise.
fn data(seed: u64, graph_task: bool, labels: Labels) -> (Case, Dataset) {
    let mut random = Stream::named(seed, "constraints", 0);
    let mut case = random_case(&mut random, CaseShape { graph_task, graphs: 1, nodes: [1, 1] }, &plan());
    case.graphs = (0..if graph_task { 90 } else { 12 }).map(|k| common::random_graph(&mut random, 1 + k % 9)).collect();
    let nodes = case.nodes();
    for (feature, plan) in case.features.iter_mut().zip(plan()) {
        feature.values = common::random_values(&mut random, &plan, nodes);
    }
    let number = |name: &str, node: usize| match case.features.iter().find(|f| f.name == name).unwrap().values[node] {
        oracle::Value::Number(x) => x,
        _ => -1.0,
    };
    let against = |node: usize| {
        -number("rising", node) - number("bent", node).powi(2) + 2.0 * number("small", node)
            - 0.7 * number("count", node)
            + number("flag", node)
    };
    let mut first = 0;
    let mut scores = Vec::new();
    for graph in &case.graphs {
        let own: Vec<f64> = (first..first + graph.nodes).map(against).collect();
        first += graph.nodes;
        match graph_task {
            true => scores.push(own.iter().sum::<f64>()),
            false => scores.extend(own),
        }
    }
    let mut noisy = |scale: f64| -> Vec<f64> { scores.iter().map(|score| scale * (score + random.normal())).collect() };
    let numbers = |name: &str, values: Vec<f64>| Column::new(name, Values::Numbers(values));
    let targets = match labels {
        Labels::Number => vec![numbers("target", noisy(20.0))],
        Labels::TwoNumbers => vec![numbers("first", noisy(1.0)), numbers("second", noisy(-50.0))],
        Labels::TwoClasses => {
            let classes: Vec<Option<usize>> = noisy(1.0).iter().map(|score| Some(usize::from(*score > -1.0))).collect();
            vec![class_column("target", 2, &classes)]
        }
        Labels::Counts => {
            let counts = noisy(0.4).iter().map(|x| (2.0 + x).clamp(-1.0, 5.0).exp().round()).collect();
            vec![numbers("target", counts)]
        }
        Labels::Positive => vec![numbers("target", noisy(0.2).iter().map(|x| x.clamp(-2.0, 4.0).exp()).collect())],
    };
    let data = match labels {
        // Few distinct whole numbers would be read as classes.
        Labels::Counts => {
            let mut tables = common::tables(&case);
            tables.targets = vec!["target".to_owned()];
            if graph_task { &mut tables.graph_columns } else { &mut tables.node_columns }.extend(targets);
            let options = DatasetOptions { problem: Some(Problem::Regression), ..DatasetOptions::default() };
            Dataset::from_tables(tables, &options).unwrap()
        }
        _ => dataset(&case, targets),
    };
    (case, data)
}

const RULES: [&str; 6] =
    ["rising: up", "bent: convex", "small: bounded 0.4, down", "few: concave, up", "count: up", "flag: down"];

fn constrained(rules: &[&str]) -> Spec {
    // Numbers with rules have curves that are linear between knots: so that others have them, too.
    let mut spec = Spec::default().method(FitMethod::Penalised).curves(CurveChoice::Linear);
    (spec.fit.level, spec.fit.choose) = (LevelChoice::One, false);
    spec.constrain(rules.iter().map(|rule| rule.parse().unwrap()).collect())
}

/// The rules of a feature hold everywhere, by the effects of the canonical form alone.
fn assert_feature_kept(canonical: &Canonical, k: usize, rules: &Rules, outputs: usize) {
    let feature = &canonical.definition().learned.features[k];
    let scale = feature.scale.unwrap();
    let width = scale.max - scale.min;
    let mut places: Vec<f64> = feature.effect_knots.as_ref().unwrap().at.clone();
    places.extend((0..=200).map(|step| scale.min + width * f64::from(step) / 200.0));
    places.sort_by(f64::total_cmp);
    let mut beyond = [vec![scale.min - width, scale.min - 1e-3], places.clone(), vec![scale.max + width]].concat();
    if feature.kind == Kind::Binary {
        (places, beyond) = (vec![0.0, 1.0], vec![0.0, 1.0]);
    }
    for (slot, c) in (0..canonical.slots()).flat_map(|slot| (0..outputs).map(move |c| (slot, c))) {
        let at = |x: &f64| canonical.product(k, FeatureValue::Number(*x), slot)[c];
        let values: Vec<f64> = places.iter().map(at).collect();
        // What is taken out of flat curves may be much larger than what is left of them.
        let size = values.iter().fold(1e-3f64, |size, value| size.max(value.abs()));
        let sign = |yes: bool| if yes { 1.0 } else { -1.0 };
        let name = format!("{} {rules:?} in slot {slot}", feature.name);
        if let Some(direction) = rules.direction {
            let sign = sign(direction == Trend::Up);
            let all: Vec<f64> = beyond.iter().map(at).collect();
            let fall = all.windows(2).map(|pair| sign * (pair[0] - pair[1])).fold(0.0, f64::max);
            assert!(fall <= 1e-9 * size, "{name}: {fall} of {size}");
        }
        if let Some(curvature) = rules.curvature {
            let sign = sign(curvature == Curvature::Convex);
            for (x, y) in places.windows(3).zip(values.windows(3)).filter(|(x, _)| x[2] - x[0] > 1e-9) {
                let line = y[0] + (y[2] - y[0]) * (x[1] - x[0]) / (x[2] - x[0]);
                // The share of a value between two knots is an f32.
                assert!(sign * (line - y[1]) >= -1e-6 * size, "{name} at {}", x[1]);
            }
        }
        if let Some(bound) = rules.bound {
            let missing = feature.missing.map(|_| canonical.product(k, FeatureValue::Missing, slot)[c]);
            let all = beyond.iter().map(at).chain(missing);
            all.for_each(|effect| assert!(effect.abs() <= bound * (1.0 + 1e-9), "{name}: {effect}"));
        }
    }
}

fn assert_kept(model: &Model) {
    let (definition, canonical) = (model.definition(), model.canonical());
    assert!(definition.spec.fit.method == FitMethod::Penalised);
    let mut ruled = 0;
    for (k, feature) in definition.learned.features.iter().enumerate().filter(|(_, feature)| feature.rules.promise()) {
        assert_feature_kept(&canonical, k, &feature.rules, model.outputs());
        ruled += 1;
    }
    assert!(ruled > 0);
    let certificates = model.check_certificates();
    assert!(certificates.iter().all(|certificate| certificate.holds), "{certificates:#?}");
    assert_eq!(certificates, definition.record.certificates);
}

#[test]
fn rules_are_kept_at_every_distance() {
    for (index, (labels, family)) in [
        (Labels::Number, FamilyChoice::Auto),
        (Labels::TwoNumbers, FamilyChoice::Auto),
        (Labels::TwoClasses, FamilyChoice::Auto),
        (Labels::Counts, FamilyChoice::Poisson),
        (Labels::Counts, FamilyChoice::NegativeBinomial),
        (Labels::Positive, FamilyChoice::Gamma),
    ]
    .into_iter()
    .enumerate()
    {
        for graph_task in [false, true] {
            let (_, data) = data(index as u64, graph_task, labels);
            let mut spec = constrained(&RULES);
            spec.fit.family = family;
            let bytes = spec.fit(&data).unwrap().to_bytes().unwrap();
            let model = Model::from_bytes(&bytes).unwrap();
            assert_eq!(model.to_bytes().unwrap(), bytes);
            // One for a hop cap as well, where one was chosen.
            assert!((8..=9).contains(&model.record().certificates.len()));
            assert_kept(&model);
            let explainer = Explainer::new(&model, &data).unwrap();
            assert!(explainer.explain(&[0, 1, 2, 3, 4]).unwrap().iter().all(gnan::Explanation::adds_up));
            // The same without rules breaks them: there is something to keep.
            spec.model.constrain.clear();
            let free = spec.fit(&data).unwrap();
            let ended = [&free, &model].map(|model| model.record().ended);
            assert!(ended[0] != Ended::Converged || ended[1] == Ended::Converged, "{labels:?} {graph_task} {ended:?}");
            assert!(broken(with_rules(&free, &RULES).certify()).len() >= 3, "{labels:?} {graph_task}");
        }
    }
}

/// A model with the rules of features in its definition.
fn with_rules(model: &Model, rules: &[&str]) -> Model {
    let mut definition = model.definition().clone();
    for feature in &mut definition.learned.features {
        let parsed = rules.iter().map(|rule| rule.parse::<gnan::spec::FeatureRules>().unwrap());
        feature.rules = parsed.into_iter().find(|r| r.feature == feature.name).map_or_else(Rules::default, |r| r.rules);
    }
    Model::from_parts(definition, model.parameters().clone())
}

fn broken(found: Vec<Certificate>) -> Vec<String> {
    found.into_iter().filter(|found| !found.holds).map(|found| found.subject).collect()
}

/// A larger value of a monotone feature never lowers a prediction.
#[test]
fn predictions_are_monotone() {
    for graph_task in [false, true] {
        let (case, data) = data(20, graph_task, Labels::Number);
        let model = constrained(&RULES).fit(&data).unwrap();
        let before = model.outputs_on(&data).unwrap().values;
        let largest = before.iter().fold(1.0f32, |largest, value| largest.max(value.abs()));
        for (feature, sign) in [("rising", 1.0), ("small", -1.0), ("count", 1.0)] {
            let mut moved = case.clone();
            let column = moved.features.iter_mut().find(|column| column.name == feature).unwrap();
            for value in &mut column.values {
                if let oracle::Value::Number(x) = value {
                    *x += 0.7;
                }
            }
            let items = vec![0.0; moved.items()];
            let moved = dataset(&moved, vec![Column::new("target", Values::Numbers(items))]);
            let after = model.outputs_on(&moved).unwrap().values;
            assert!(before.iter().zip(&after).all(|(a, b)| sign * (b - a) >= -1e-5 * largest), "{feature}");
        }
    }
}

/// Rules beside rules of distance, several lenses, and candidates that are chosen from.
#[test]
fn rules_combine_with_those_of_distance() {
    let (_, graphs) = data(30, true, Labels::Number);
    let (_, nodes) = data(31, false, Labels::Number);
    let mut spec = constrained(&RULES);
    spec.set("own-only", &["rising".to_owned(), "small".to_owned()]).unwrap();
    spec.set("neighbours-only", &["bent".to_owned()]).unwrap();
    spec.set("hop-cap-of", &["few=1".to_owned()]).unwrap();
    for (data, spec) in [(&graphs, spec.clone()), (&nodes, spec.clone()), (&graphs, spec.pool(PoolChoice::Both))] {
        let model = spec.fit(data).unwrap();
        assert_kept(&model);
        assert!((12..=13).contains(&model.record().certificates.len()));
    }
}

/// A rule that the data keep anyway changes nothing.
#[test]
fn what_holds_anyway_changes_nothing() {
    let (_, data) = data(40, true, Labels::Number);
    let free = constrained(&[]).fit(&data).unwrap();
    let kept = constrained(&["small: bounded 100000"]).fit(&data).unwrap();
    let bits = |model: &Model| -> Vec<u32> {
        (0..model.definition().layout().rho_functions())
            .flat_map(|rho| model.parameters().rhos.block(rho).iter().map(|x| x.to_bits()).collect::<Vec<u32>>())
            .collect()
    };
    assert_eq!(bits(&free), bits(&kept));
    assert_eq!(free.record().summary, kept.record().summary);
}

/// Bands: effects that are held together have the same uncertainty, and none is less certain than without rules, up to the noise
/// that is estimated anew.
#[test]
fn bands_are_those_of_what_is_held() {
    let (_, data) = data(50, true, Labels::Number);
    let noise = |model: &Model| model.record().summary.as_ref().unwrap().noise_sd[0];
    let (free, kept) = (constrained(&[]).fit(&data).unwrap(), constrained(&["rising: up"]).fit(&data).unwrap());
    // The data fall where the rule lets nothing fall: more is left over, and fewer degrees of freedom are taken.
    assert!(noise(&kept) > 1.1 * noise(&free), "{} {}", noise(&kept), noise(&free));
    let edf = |model: &Model, name: &str| {
        let terms = &model.record().summary.as_ref().unwrap().terms;
        terms.iter().find(|term| term.name == name).unwrap().edf
    };
    assert!(edf(&kept, "rising") < 0.5 && edf(&free, "rising") > 0.9);
    // The whole curve is flat, and so it is known that it is: its effects are certainly 0.
    let widths = |model: &Model| {
        let intervals = Intervals::of_posterior(model, false).unwrap();
        let bands = intervals.products[0].iter().flat_map(|slots| &slots[0]).map(|band| band.high - band.low);
        bands.fold(0.0f64, f64::max)
    };
    assert!(widths(&kept) < 1e-3 * widths(&free), "{} {}", widths(&kept), widths(&free));
}

#[test]
fn threads_change_nothing() {
    for (graph_task, labels) in [(true, Labels::TwoClasses), (false, Labels::Number)] {
        let (_, data) = data(60, graph_task, labels);
        let in_pool = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| constrained(&RULES).fit(&data).unwrap().to_bytes().unwrap())
        };
        let one = in_pool(1);
        assert!(one == in_pool(2) && one == in_pool(5));
    }
}

#[test]
fn a_tampered_file_is_found_out() {
    let (_, data) = data(70, true, Labels::Number);
    let model = constrained(&RULES).fit(&data).unwrap();
    let same = model.definition().clone();
    let layout = same.layout();
    let reread = |definition: &Definition, change: &dyn Fn(&mut Parameters)| {
        let mut parameters = model.parameters().clone();
        change(&mut parameters);
        let model = Model::from_parts(definition.clone(), parameters);
        broken(Model::from_bytes(&model.to_bytes().unwrap()).unwrap().check_certificates())
    };
    assert!(reread(&same, &|_| {}).is_empty());
    // The effect of a knot of a feature, at the nearest distance.
    let moved = |name: &str, knot: usize, by: f32| {
        let k = same.learned.features.iter().position(|feature| feature.name == name).unwrap();
        let function = layout.function(layout.features[k].first_rho + knot, 0);
        reread(&same, &|p| *p.rhos.block_mut(function).last_mut().unwrap() += by)
    };
    assert_eq!(moved("rising", 0, 1e4), ["rising"]);
    assert_eq!(moved("bent", 3, 1e4), ["bent"]);
    assert!(moved("small", 2, -1e3).iter().all(|name| name == "small") && !moved("small", 2, -1e3).is_empty());
    assert_eq!(moved("flag", 0, 1e4), ["flag"]);
    let few = same.learned.features.iter().position(|feature| feature.name == "few").unwrap();
    let knots = same.learned.features[few].effect_knots.as_ref().unwrap().at.len();
    assert!(moved("few", knots / 2, -1e4).contains(&"few".to_owned()));
    // Free values multiply effects: the last missing value is that of a bounded feature.
    let small = same.learned.features.iter().position(|feature| feature.name == "small").unwrap();
    let missing = layout.values_of(small).end - 1;
    let missing_rho = layout.function(layout.features[small].first_rho + (missing - layout.values_of(small).start), 0);
    let found = reread(&same, &|p| {
        p.values[missing] = 1e6;
        p.rhos.block_mut(missing_rho).iter_mut().for_each(|x| *x += 1e-3);
    });
    assert_eq!(found, ["small"]);
    // The 0 of a sparse feature gets an effect beside it.
    let count = same.learned.features.iter().position(|feature| feature.name == "count").unwrap();
    let zero = same.learned.features[count].effect_knots.as_ref().unwrap().at.iter().position(|x| *x == 0.0).unwrap();
    let (value, rho) = (layout.values_of(count).start + zero, layout.features[count].first_rho + zero);
    let found = reread(&same, &|p| {
        p.values[value] = 1.0;
        p.rhos.block_mut(layout.function(rho, 0)).fill(1e-3);
    });
    assert_eq!(found, ["count"]);
    // The rule is gone, the claim stays.
    let mut claims = same.clone();
    claims.learned.features[0].rules = Default::default();
    assert_eq!(reread(&claims, &|_| {}), ["rising"]);
}

/// Means over the nodes around one are left out of the second level for features with rules, and in no table.
#[test]
fn ruled_features_are_not_summed_up() {
    let (_, data) = data(80, false, Labels::Number);
    let mut spec = constrained(&["rising: up"]);
    spec.fit.level = LevelChoice::Two;
    (spec.model.feature_pairs, spec.fit.choose) = (4, false);
    let model = spec.clone().fit(&data).unwrap();
    let features = &model.learned().features;
    let of = |name: &str| {
        let statistics = features.iter().filter_map(|feature| feature.statistic.as_ref());
        statistics.filter(|statistic| statistic.feature().is_some_and(|(of, _)| of == name)).count()
    };
    let paired = features.iter().filter_map(|feature| feature.pair.as_ref()).flat_map(|pair| &pair.members);
    assert!(of("rising") == 0 && of("bent") > 0);
    assert!(paired.into_iter().all(|member| !member.feature.contains("rising")));
    assert_kept(&model);
    // Where they are not, the certificate does not hold.
    spec.model.constrain.clear();
    spec.model.feature_pairs = 0;
    let free = with_rules(&spec.fit(&data).unwrap(), &["rising: bounded 1e9"]);
    let found = free.certify();
    assert!(!found[0].holds && found[0].evidence.contains("keep to no rule"), "{found:?}");
}

/// Which fit keeps the rules where that is left open, and what is refused.
#[test]
fn penalised_fits_are_chosen_where_they_keep_the_rules() {
    let (_, data) = data(90, true, Labels::Number);
    let method = |spec: Spec| spec.fit(&data).unwrap().definition().spec.fit.method;
    let rules = |rules: &[&str]| Spec::default().constrain(rules.iter().map(|rule| rule.parse().unwrap()).collect());
    assert_eq!(method(rules(&["rising: up"])), FitMethod::Penalised);
    assert_eq!(method(rules(&["rising: up, smooth 2"]).epochs(2)), FitMethod::Gradient);
    assert_eq!(method(rules(&["rising: up"]).rho_monotone(true).epochs(2)), FitMethod::Gradient);
    let error = constrained(&["rising: smooth 2"]).check().unwrap_err().to_string();
    assert!(error.contains("strengths of smoothness"), "{error}");
    assert!(constrained(&["colour: up"]).fit(&data).unwrap_err().to_string().contains("categorical"));
}
