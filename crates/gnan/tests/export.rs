//! The exported tables alone give the predictions back: read as plain JSON, and as plain CSV.

mod common;
mod oracle;

use std::collections::HashMap;

use common::{
    CaseShape, FeaturePlan, class_column, dataset, dataset_for, model_and_new_case, random_case, random_graph,
    random_plan, random_values,
};
use gnan::files::{Column, Kind, Values};
use gnan::internals::random::Stream;
use gnan::predict::Outputs;
use gnan::spec::{FitMethod, RhoChoice};
use gnan::{Dataset, DatasetOptions, Model, Spec};
use oracle::{Case, CaseFeature, CaseGraph, FileLens, FileModel, Receiver, Value};
use serde_json::Value as Json;

/// A curve given by points joined by lines or cubic pieces, and slopes beyond them.
#[derive(Clone, Default)]
struct Curve {
    at: Vec<f64>,
    values: Vec<Vec<f64>>,
    /// Bends `p` and `q` after every point, where there are any.
    bends: [Vec<Vec<f64>>; 2],
    slopes: [Vec<f64>; 2],
}

impl Curve {
    fn read(&self, x: f64) -> Vec<f64> {
        let beyond = |end: usize, slopes: &[f64]| {
            self.values[end].iter().zip(slopes).map(|(y, slope)| y + slope * (x - self.at[end])).collect::<Vec<f64>>()
        };
        let last = self.at.len() - 1;
        if x <= self.at[0] {
            return if x == self.at[0] { self.values[0].clone() } else { beyond(0, &self.slopes[0]) };
        }
        if x >= self.at[last] {
            return if x == self.at[last] { self.values[last].clone() } else { beyond(last, &self.slopes[1]) };
        }
        let right = self.at.iter().position(|knot| *knot > x).unwrap();
        let share = (x - self.at[right - 1]) / (self.at[right] - self.at[right - 1]);
        let ends = self.values[right - 1].iter().zip(&self.values[right]);
        let mut found: Vec<f64> = ends.map(|(left, right)| left * (1.0 - share) + right * share).collect();
        if let [Some(p), Some(q)] = [0, 1].map(|which| self.bends[which].get(right - 1)) {
            for (c, found) in found.iter_mut().enumerate() {
                *found += share * (1.0 - share) * (p[c] + q[c] * share);
            }
        }
        found
    }
}

/// A feature as the tables give it: what to look up for a value, and what to take off the products.
#[derive(Default)]
struct Feature {
    curve: Option<(Curve, usize)>,
    /// Places with a value and a rho each, between which products are lines.
    knots: Vec<(f64, (Vec<f64>, usize))>,
    levels: HashMap<String, (Vec<f64>, usize)>,
    missing: Option<(Vec<f64>, usize)>,
    /// For every lens.
    centre: Vec<Curve>,
    /// Lens and distance at which effects are shown; in JSON.
    anchor: Option<(usize, Option<usize>)>,
    /// The effects there, by level.
    effects: HashMap<String, Vec<f64>>,
}

/// The distances at which something counts.
#[derive(Clone, Copy, Default)]
struct TableReach {
    from: usize,
    to: Option<usize>,
    unreachable: bool,
}

/// A curve over distance.
#[derive(Default)]
struct RhoOrStructure {
    curve: Curve,
    reach: TableReach,
    lens: usize,
    at_0: Option<Vec<f64>>,
}

/// Nothing but what the tables say.
struct Tables {
    normalise: bool,
    /// Whether outputs are those of classes; in JSON.
    classes: bool,
    /// For every lens whether receivers are averaged, and which way edges are followed.
    mean: Vec<bool>,
    shell_scale: Vec<f64>,
    base: Vec<f64>,
    empty: Vec<f64>,
    rho: Vec<RhoOrStructure>,
    structure: Vec<RhoOrStructure>,
    features: HashMap<String, Feature>,
}

fn numbers(json: &Json) -> Vec<f64> {
    json.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn rows(json: &Json) -> Vec<Vec<f64>> {
    json.as_array().unwrap().iter().map(numbers).collect()
}

impl Tables {
    fn from_json(text: &[u8]) -> Tables {
        let json: Json = serde_json::from_slice(text).unwrap();
        let in_t = |json: &Json| Curve { at: numbers(&json["t"]), values: rows(&json["values"]), ..Curve::default() };
        let over_distance = |json: &Json| RhoOrStructure {
            curve: in_t(json),
            reach: TableReach {
                from: json["reach"]["from"].as_u64().unwrap() as usize,
                to: json["reach"]["to"].as_u64().map(|to| to as usize),
                unreachable: json["reach"]["unreachable"].as_bool().unwrap(),
            },
            lens: json["lens"].as_u64().unwrap() as usize,
            at_0: json["at_distance_0"].is_array().then(|| numbers(&json["at_distance_0"])),
        };
        let all = |json: &Json| json.as_array().unwrap().iter().map(over_distance).collect();
        let feature = |json: &Json| {
            let mut feature = Feature::default();
            if let curve @ Json::Object(_) = &json["curve"] {
                let slopes = [numbers(&curve["left_slope"]), numbers(&curve["right_slope"])];
                let bend = |which: usize| {
                    match curve["bends"].as_array() {
                        Some(pieces) => pieces.iter().map(|piece| rows(piece).iter().map(|pair| pair[which]).collect()),
                        None => return Vec::new(),
                    }
                    .collect()
                };
                let bends = [bend(0), bend(1)];
                let knots = Curve { at: numbers(&curve["knots"]), values: rows(&curve["values"]), bends, slopes };
                feature.curve = Some((knots, json["rho"].as_u64().unwrap() as usize));
            }
            for knot in json["knots"].as_array().into_iter().flatten() {
                let found = (numbers(&knot["values"]), knot["rho"].as_u64().unwrap() as usize);
                feature.knots.push((knot["at"].as_f64().unwrap(), found));
            }
            for level in json["levels"].as_array().unwrap() {
                let found = (numbers(&level["values"]), level["rho"].as_u64().unwrap() as usize);
                feature.effects.insert(level["name"].as_str().unwrap().to_owned(), numbers(&level["effect"]));
                if level["missing"].as_bool().unwrap() {
                    feature.missing = Some(found);
                } else {
                    feature.levels.insert(level["name"].as_str().unwrap().to_owned(), found);
                }
            }
            let (lens, distance) = (&json["anchor"]["lens"], &json["anchor"]["distance"]);
            let whole = |json: &Json| json.as_u64().map(|number| number as usize);
            feature.anchor = whole(lens).map(|lens| (lens, whole(distance)));
            feature.centre = json["centre"].as_array().map(|all| all.iter().map(in_t).collect()).unwrap_or_default();
            (json["name"].as_str().unwrap().to_owned(), feature)
        };
        Tables {
            normalise: json["normalise"].as_bool().unwrap(),
            classes: ["binary", "multiclass"].contains(&json["outcome"].as_str().unwrap()),
            mean: json["lenses"].as_array().unwrap().iter().map(|lens| lens["pool"] == "mean").collect(),
            shell_scale: json["shell_scale"].as_array().map(|_| numbers(&json["shell_scale"])).unwrap_or_default(),
            base: numbers(&json["base"]),
            empty: numbers(&json["empty"]),
            rho: all(&json["rho"]),
            structure: all(&json["structure"]),
            features: json["features"].as_array().unwrap().iter().map(feature).collect(),
        }
    }

    /// ItemRows of the CSV table, one per output, joined again.
    fn from_csv(text: &[u8]) -> Tables {
        let mut joined: Vec<(Vec<String>, Vec<f64>)> = Vec::new();
        for row in csv::Reader::from_reader(text).records() {
            let row = row.unwrap();
            let key: Vec<String> = row.iter().take(5).map(str::to_owned).collect();
            // Which level others count as: the oracle pools rare values itself.
            if &row[0] == "other" {
                continue;
            }
            let value: f64 = row[6].parse().unwrap();
            match joined.last_mut() {
                Some((last, values)) if *last == key => values.push(value),
                _ => joined.push((key, vec![value])),
            }
        }
        let mut tables = Tables {
            classes: false,
            normalise: false,
            mean: Vec::new(),
            shell_scale: Vec::new(),
            base: Vec::new(),
            empty: Vec::new(),
            rho: Vec::new(),
            structure: Vec::new(),
            features: HashMap::new(),
        };
        let mut rho_names: Vec<String> = Vec::new();
        let add = |curve: &mut Curve, at: &str, values: Vec<f64>| {
            curve.at.push(at.parse().unwrap());
            curve.values.push(values);
        };
        let set = |reach: &mut TableReach, which: &str, value: f64| match which {
            "from" => reach.from = value as usize,
            "to" => reach.to = Some(value as usize),
            _ => reach.unreachable = value == 1.0,
        };
        for (key, values) in joined {
            let [table, feature, level, rho, at] = [0, 1, 2, 3, 4].map(|column| key[column].as_str());
            let place = rho_names.iter().position(|name| name == rho);
            match (table, feature) {
                ("setting", "normalise") => tables.normalise = values[0] == 1.0,
                // Pairs are cut by the oracle.
                ("pair edge", _) => {}
                ("setting", "shell scale") => tables.shell_scale.extend(values),
                ("setting", "mean pooling") => tables.mean.push(values[0] == 1.0),
                ("base", _) => tables.base = values,
                ("empty", _) => tables.empty = values,
                ("rho reach", _) => {
                    if place.is_none() {
                        rho_names.push(rho.to_owned());
                        tables.rho.push(RhoOrStructure::default());
                    }
                    let last = tables.rho.len() - 1;
                    set(&mut tables.rho[place.unwrap_or(last)].reach, at, values[0]);
                }
                ("rho", _) => add(&mut tables.rho[place.unwrap()].curve, at, values),
                ("structure reach", lens) => {
                    let number: usize = level.parse().unwrap();
                    if number == tables.structure.len() {
                        tables
                            .structure
                            .push(RhoOrStructure { lens: lens.parse().unwrap(), ..RhoOrStructure::default() });
                    }
                    set(&mut tables.structure[number].reach, at, values[0]);
                }
                ("structure", _) => add(&mut tables.structure[level.parse::<usize>().unwrap()].curve, at, values),
                ("structure at distance 0", _) => {
                    tables.structure[level.parse::<usize>().unwrap()].at_0 = Some(values);
                }
                (table, name) => {
                    let feature = tables.features.entry(name.to_owned()).or_default();
                    let curve = || (Curve::default(), place.unwrap());
                    match table {
                        "left slope" => feature.curve.get_or_insert_with(curve).0.slopes[0] = values,
                        "right slope" => feature.curve.get_or_insert_with(curve).0.slopes[1] = values,
                        "knot" => add(&mut feature.curve.get_or_insert_with(curve).0, at, values),
                        "bend p" => feature.curve.get_or_insert_with(curve).0.bends[0].push(values),
                        "bend q" => feature.curve.get_or_insert_with(curve).0.bends[1].push(values),
                        "effect knot" => feature.knots.push((at.parse().unwrap(), (values, place.unwrap()))),
                        "level" => {
                            feature.levels.insert(level.to_owned(), (values, place.unwrap()));
                        }
                        "missing" => feature.missing = Some((values, place.unwrap())),
                        "effect" => {
                            feature.effects.insert(level.to_owned(), values);
                        }
                        // How sure the model is of an effect, which no prediction needs.
                        "effect sd" => assert!(values.iter().all(|sd| *sd >= 0.0)),
                        "centre" => {
                            let lens: usize = level.parse().unwrap();
                            if lens == feature.centre.len() {
                                feature.centre.push(Curve::default());
                            }
                            add(&mut feature.centre[lens], at, values);
                        }
                        other => panic!("an unknown table {other}"),
                    }
                }
            }
        }
        tables
    }

    /// A curve over distance; nothing beyond its reach.
    fn at_distance(&self, curve: &Curve, reach: TableReach, distance: Option<usize>) -> Vec<f64> {
        let counts = match distance {
            None => reach.unreachable,
            Some(distance) => distance >= reach.from && reach.to.is_none_or(|to| distance <= to),
        };
        let t = distance.map_or(0.0, |distance| 1.0 / (1.0 + distance as f64));
        let factor = match (self.shell_scale.len().checked_sub(1), distance) {
            (None, _) => 1.0,
            (Some(last), None) => self.shell_scale[last],
            (Some(last), Some(distance)) => self.shell_scale[distance.min(last - 1)],
        };
        let read = || curve.read(t).into_iter().map(|value| value * factor).collect();
        if counts { read() } else { vec![0.0; self.base.len()] }
    }

    /// Refuses effects that are not those which the other tables give at the anchor; how many there are.
    fn check_effects(&self) -> usize {
        let rhos = self.rho.len() / self.mean.len();
        let mut checked = 0;
        for (name, feature) in &self.features {
            let Some((lens, distance)) = feature.anchor else { panic!("{name} has no anchor") };
            let missing = feature.missing.iter().map(|found| ("missing", found));
            for (level, (values, rho)) in
                feature.levels.iter().map(|(name, found)| (name.as_str(), found)).chain(missing)
            {
                let over_distance = &self.rho[lens * rhos + rho];
                let rho = self.at_distance(&over_distance.curve, over_distance.reach, distance);
                let centre =
                    feature.centre.get(lens).map(|centre| self.at_distance(centre, over_distance.reach, distance));
                let products: Vec<f64> = (0..values.len())
                    .map(|c| values[c] * rho[c] - centre.as_ref().map_or(0.0, |centre| centre[c]))
                    .collect();
                let size = 1.0 + products.iter().map(|product| product.abs()).fold(0.0, f64::max);
                // Two classes are shown as the difference of both, more of them less their mean.
                let mean = products.iter().sum::<f64>() / products.len() as f64;
                let effects = &feature.effects[level];
                let expected: Vec<f64> = match (self.classes, &products[..]) {
                    (true, [no, yes]) => vec![yes - no],
                    (true, [_, _, ..]) => products.iter().map(|product| product - mean).collect(),
                    _ => products.clone(),
                };
                assert_eq!(effects.len(), expected.len(), "{name} {level}");
                for (effect, expected) in effects.iter().zip(expected) {
                    assert!((expected - effect).abs() < 1e-7 * size, "{name} {level}: {expected} {effect}");
                    checked += 1;
                }
            }
        }
        checked
    }

    /// The products that a value stands for: their factors, and the rho of each.
    fn terms_of(&self, feature: &Feature, value: &Value) -> Option<Vec<(Vec<f64>, usize)>> {
        let one = match value {
            Value::Missing => feature.missing.clone(),
            Value::Category(name) => feature.levels.get(name).cloned(),
            Value::Number(x) if !feature.knots.is_empty() => return Some(between(&feature.knots, *x)),
            Value::Number(x) => match &feature.curve {
                Some((curve, rho)) => Some((curve.read(*x), *rho)),
                // Of a binary feature only the 1 is listed.
                None => feature.levels.get("1").filter(|_| *x == 1.0).cloned(),
            },
        };
        one.map(|term| vec![term])
    }

    /// Outputs of every item and the sum of the sizes of their terms.
    fn outputs(&self, case: &Case, lenses: &[FileLens]) -> Vec<(Vec<f64>, f64)> {
        let start = |item: usize| match case.graph_task && case.graphs[item].nodes == 0 {
            true => (self.empty.clone(), 0.0),
            false => (self.base.clone(), 0.0),
        };
        let mut outputs: Vec<(Vec<f64>, f64)> = (0..case.items()).map(start).collect();
        for receiver in case.receivers_by(lenses) {
            for (lens, distances) in [&receiver.distances].into_iter().chain(&receiver.others).enumerate() {
                let pooled = if self.mean[lens] { 1.0 / distances.len() as f64 } else { 1.0 };
                self.add(case, &receiver, lens, distances, pooled, &mut outputs[receiver.item]);
            }
        }
        outputs
    }

    /// Adds the contributions to a receiver by a lens.
    fn add(
        &self,
        case: &Case,
        receiver: &Receiver,
        lens: usize,
        distances: &[Option<usize>],
        pooled: f64,
        (output, size): &mut (Vec<f64>, f64),
    ) {
        let mut counts: HashMap<Option<usize>, f64> = HashMap::new();
        distances.iter().for_each(|distance| *counts.entry(*distance).or_default() += 1.0);
        let mut add = |c: usize, term: f64| {
            output[c] += term * pooled;
            *size += (term * pooled).abs();
        };
        for (distance, count) in &counts {
            for part in self.structure.iter().filter(|part| part.lens == lens) {
                let beta = match (&part.at_0, distance) {
                    (Some(values), Some(0)) => values.clone(),
                    _ => self.at_distance(&part.curve, part.reach, *distance),
                };
                let times = if self.normalise { 1.0 } else { *count };
                beta.iter().enumerate().for_each(|(c, beta)| add(c, beta * times));
            }
        }
        let rhos = self.rho.len() / self.mean.len();
        for (source, distance) in distances.iter().enumerate() {
            let share = if self.normalise { 1.0 / counts[distance] } else { 1.0 };
            for column in &case.features {
                let feature = &self.features[&column.name];
                let Some(terms) = self.terms_of(feature, &column.values[receiver.first + source]) else { continue };
                // What centring takes out is taken out once.
                for (place, (value, rho)) in terms.into_iter().enumerate() {
                    let over_distance = &self.rho[lens * rhos + rho];
                    let rho = self.at_distance(&over_distance.curve, over_distance.reach, *distance);
                    let centre = feature.centre.get(lens).filter(|_| place == 0);
                    let centre = centre.map(|centre| self.at_distance(centre, over_distance.reach, *distance));
                    for c in 0..value.len() {
                        let centre = centre.as_ref().map_or(0.0, |centre| centre[c]);
                        add(c, (value[c] * rho[c] - centre) * share);
                    }
                }
            }
        }
    }
}

/// The knots around a number, each by its share.
fn between(knots: &[(f64, (Vec<f64>, usize))], x: f64) -> Vec<(Vec<f64>, usize)> {
    let after = knots.iter().position(|(at, _)| *at > x).unwrap_or(knots.len());
    let term = |knot: usize, share: f64| {
        let (values, rho) = &knots[knot].1;
        (values.iter().map(|value| value * share).collect(), *rho)
    };
    if after == 0 || after == knots.len() {
        return vec![term(after.saturating_sub(1), 1.0)];
    }
    let share = (x - knots[after - 1].0) / (knots[after].0 - knots[after - 1].0);
    vec![term(after - 1, 1.0 - share), term(after, share)]
}

/// Compares what the tables give with what the engine says; returns how many numbers agreed.
fn compare(model: &Model, tables: &Tables, case: &Case, engine: &Outputs) -> usize {
    // Which way every lens follows edges.
    let file = FileModel::read(&model.to_bytes().unwrap());
    compare_by(&file.lenses, model, tables, &file.with_pairs(case), engine)
}

fn compare_by(lenses: &[FileLens], model: &Model, tables: &Tables, case: &Case, engine: &Outputs) -> usize {
    let mut compared = 0;
    for (item, (found, size)) in tables.outputs(case, lenses).into_iter().enumerate() {
        let row: Vec<f64> =
            engine.values[item * engine.width..][..engine.width].iter().map(|y| f64::from(*y)).collect();
        // A softmax is given up to a number common to all classes, which centring removes.
        let (found, expected) = (model.definition().shown(&found), model.definition().shown(&row));
        for (found, expected) in found.iter().zip(expected) {
            let tolerated = 1e-5 * size.max(1.0);
            assert!((found - expected).abs() <= tolerated, "item {item}: {found} {expected} of {size}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn exported_tables_give_the_predictions_back() {
    let (mut compared, mut effects) = (0, 0);
    for seed in 0..250 {
        let (model, case) = model_and_new_case(&mut Stream::named(seed, "export", 0));
        if case.items() == 0 {
            continue;
        }
        let data = dataset_for(&case, &model);
        let engine = model.outputs_on(&data).unwrap();
        let exported = model.tables();
        let tables = [Tables::from_json(&exported.json().unwrap()), Tables::from_csv(&exported.csv().unwrap())];
        effects += tables[0].check_effects();
        for tables in &tables {
            compared += compare(&model, tables, &case, &engine);
        }
        assert_effects_are_shown(&model, &tables);
    }
    assert!(compared > 2000 && effects > 500, "{compared} {effects}");
}

/// The effects of both kinds of tables are those of the overview, which figures draw.
fn assert_effects_are_shown(model: &Model, tables: &[Tables]) {
    let overview = model.overview();
    for feature in &overview.features {
        for level in &feature.levels {
            for tables in tables {
                let exported = &tables.features[&feature.name].effects[&level.name];
                let close = exported.iter().zip(&level.values).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs()));
                assert!(close, "{} {}: {exported:?} {:?}", feature.name, level.name, level.values);
            }
        }
    }
}

/// Described nodes: a level per value, the rare ones in one.
#[test]
fn exported_tables_of_described_nodes_give_the_predictions_back() {
    let mut random = Stream::named(1, "export of descriptions", 0);
    let plan = FeaturePlan { name: "colour".to_owned(), kind: "categorical", missing: 0.1, distinct: 3 };
    let mut case = random_case(&mut random, CaseShape { graph_task: true, graphs: 1, nodes: [1, 1] }, &[]);
    case.graphs = (0..40).map(|k| random_graph(&mut random, 1 + k % 12)).collect();
    let values = random_values(&mut random, &plan, case.nodes());
    case.features = vec![CaseFeature { name: plan.name, kind: plan.kind, values }];
    let classes: Vec<Option<usize>> = (0..40).map(|item| Some(item % 2)).collect();
    let descriptions = ["environment", "ring", "degree"].map(|word| word.parse().unwrap());
    let data = dataset(&case, vec![class_column("target", 2, &classes)]).described(&descriptions).unwrap();
    let model = Spec::default().hidden(16).epochs(5).fit(&data).unwrap();
    let schemas = &model.definition().learned.features;
    assert!(schemas.iter().any(|feature| feature.rare_level().is_some()));
    // What the nodes are to the model: values that training had not seen are rare, or else nothing.
    for (schema, feature) in schemas.iter().zip(model.features_of(&data).unwrap().iter()).skip(1) {
        let Values::Categories { codes, levels } = &feature.values else { panic!("{} is no category", feature.name) };
        let name = |code: &u32| schema.level(&levels[*code as usize]).map(|level| schema.levels[level].name.clone());
        let values = codes.iter().map(|code| Value::Category(name(code).unwrap_or_default())).collect();
        case.features.push(CaseFeature { name: feature.name.clone(), kind: "categorical", values });
    }
    let exported = model.tables();
    let engine = model.outputs_on(&data).unwrap();
    for tables in [Tables::from_json(&exported.json().unwrap()), Tables::from_csv(&exported.csv().unwrap())] {
        compare(&model, &tables, &case, &engine);
    }
}

/// Fitted by penalised likelihood: every knot of a number has a distance function.
#[test]
fn exported_tables_of_penalised_models_give_the_predictions_back() {
    let mut compared = 0;
    for seed in 0..30 {
        let mut random = Stream::named(seed, "export of penalised models", 0);
        let graph_task = seed % 2 == 0;
        let shape = match graph_task {
            true => CaseShape { graph_task, graphs: 40, nodes: [2, 9] },
            false => CaseShape { graph_task, graphs: 1, nodes: [60, 90] },
        };
        let plan = random_plan(&mut random);
        let case = random_case(&mut random, shape, &plan);
        let items = case.items();
        if items < 10 {
            continue;
        }
        let target = match seed % 3 {
            0 => class_column("target", 2, &(0..items).map(|item| Some(item % 2)).collect::<Vec<_>>()),
            1 => class_column("target", 3, &(0..items).map(|item| Some(item % 3)).collect::<Vec<_>>()),
            _ => Column::new("target", Values::Numbers((0..items).map(|_| random.normal()).collect())),
        };
        let data = dataset(&case, vec![target]);
        let model = Spec::default().method(FitMethod::Penalised).choose(false).fit(&data).unwrap();
        // The lenses of any model of the same options.
        let other = Spec::default().hidden(16).epochs(1).fit(&data).unwrap();
        let lenses = FileModel::read(&other.to_bytes().unwrap()).lenses;
        let engine = model.outputs_on(&data).unwrap();
        let exported = model.tables();
        for tables in [Tables::from_json(&exported.json().unwrap()), Tables::from_csv(&exported.csv().unwrap())] {
            compared += compare_by(&lenses, &model, &tables, &case, &engine);
        }
        let why = model.explain(&data, 0).unwrap();
        assert!(why.adds_up());
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.outputs_on(&data).unwrap().values, engine.values);
    }
    assert!(compared > 1000, "{compared}");
}

/// The value of a feature at a node pair or an edge; a message edge has none of the features of pairs themselves.
fn value_of(feature: &gnan::dataset::Feature, node: usize) -> Value {
    let number = |x: f64| if x.is_nan() { Value::Missing } else { Value::Number(x) };
    match &feature.values {
        Values::Categories { codes, levels } => {
            levels.get(codes[node] as usize).map_or(Value::Missing, |level| Value::Category(level.clone()))
        }
        Values::Numbers(numbers) => number(numbers[node]),
        Values::Sparse { rows, values, .. } => match rows.binary_search(&(node as u32)) {
            Ok(at) => number(values[at]),
            Err(_) if feature.kind == Kind::Continuous => Value::Missing,
            Err(_) => Value::Number(0.0),
        },
    }
}

/// A node pair has itself as a source at distance 0, and message edges farther away.
#[test]
fn exported_tables_of_links_give_the_predictions_back() {
    let mut random = Stream::named(1, "export of links", 0);
    let nodes = 40;
    let ages = (0..nodes).map(|_| (10.0 * random.normal()).round()).collect();
    let codes = (0..nodes).map(|_| random.below(3) as u32).collect();
    let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
    let raw = gnan::files::Tables {
        name: "links".to_owned(),
        graph_ids: vec!["g".to_owned()],
        node_offsets: vec![0, nodes],
        edges: (0..100).map(|_| [random.below(nodes) as u32, random.below(nodes) as u32]).collect(),
        node_columns: vec![
            Column::new("age", Values::Numbers(ages)).with_kind(Kind::Continuous),
            Column::new("group", Values::Categories { codes, levels }).with_kind(Kind::Categorical),
        ],
        ..gnan::files::Tables::default()
    };
    let mut spec = Spec::default().hidden(16).layers(2).epochs(10);
    spec.set("task", &["link".to_owned()]).unwrap();
    let data = Dataset::from_tables(raw, &DatasetOptions::of(&spec.data, 3, None)).unwrap();
    let penalised = spec.clone().method(FitMethod::Penalised);
    let specs = [spec.clone().rho(RhoChoice::Shared), spec.rho(RhoChoice::PerFeature), penalised];
    for spec in specs {
        let model = spec.fit(&data).unwrap();
        let engine = model.outputs_on(&data).unwrap();
        let exported = model.tables();
        let tables = [Tables::from_json(&exported.json().unwrap()), Tables::from_csv(&exported.csv().unwrap())];
        for (position, row) in engine.values.chunks_exact(engine.width).enumerate() {
            let why = model.explain(&data, position).unwrap();
            let item = data.items()[position] as usize;
            let first = data.sources_of(data.graph_of(item)).start;
            let node = |place: usize| if why.labels[place] == "itself" { item } else { first + place };
            let distance = |label: &String| match label.as_str() {
                "itself" => Some(0),
                label => label.strip_prefix("distance ").map(|distance| distance.parse().expect("a distance")),
            };
            let column = |feature: &gnan::dataset::Feature| CaseFeature {
                name: feature.name.clone(),
                kind: feature.kind.name(),
                values: (0..why.nodes.len()).map(|place| value_of(feature, node(place))).collect(),
            };
            let distances: Vec<Option<usize>> = why.labels.iter().map(distance).collect();
            let case = Case {
                graph_task: true,
                directed: false,
                graphs: vec![CaseGraph { nodes: distances.len(), edges: Vec::new() }],
                features: data.features().iter().map(column).collect(),
            };
            let receiver = Receiver { item: 0, first: 0, distances: distances.clone(), others: Vec::new() };
            let row: Vec<f64> = row.iter().map(|y| f64::from(*y)).collect();
            let expected = model.definition().shown(&row);
            for tables in &tables {
                let mut found = (tables.base.clone(), 0.0);
                tables.add(&case, &receiver, 0, &distances, 1.0, &mut found);
                let miss = (model.definition().shown(&found.0)[0] - expected[0]).abs();
                assert!(miss <= 1e-5 * found.1.max(1.0), "{}: {found:?} {expected:?}", why.id);
            }
        }
    }
}
