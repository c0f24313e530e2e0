//! Made-up data for every figure in every case that once went wrong or might: few and many features, one and seven
//! classes, hostile and endless names, all zero, not finite. The gallery shows them, the tests check them.

use gnan_report::Scene;
use gnan_report::figure::distance_curves::{Curve, DistanceCurves, DistancePanel};
use gnan_report::figure::heatmap::{Cell, Heatmap, Panel, RowKind};
use gnan_report::figure::importance::{Block, Importance, ImportanceRow};
use gnan_report::figure::shapes::{Form, Level, ShapeFunction, Shapes};
use gnan_report::figure::value_heatmap::{ValueHeatmap, Values};
use gnan_report::figure::waterfall::{Term, Waterfall};
use gnan_report::figure::{Bin, Estimate, FigureContent, Interval, Support};

const ATOMS: [&str; 14] = ["C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca"];

/// One case: its file name, the figure, and words that must be in it.
pub struct Case {
    /// File name without extension.
    pub name: String,
    /// The figure.
    pub scene: Scene,
    /// Words that must be found in the SVG.
    pub words: Vec<&'static str>,
}

/// A smooth made-up number between -1 and 1.
fn made_up(k: usize, l: usize) -> f64 {
    ((k as f64 * 1.7 + 0.3).sin() + (l as f64 * 0.9 + k as f64).cos()) / 2.0
}

fn estimate(value: f64, half: f64) -> Estimate {
    Estimate { value, interval: Some(Interval { low: value - half, high: value + half }) }
}

fn names(count: usize) -> Vec<String> {
    (0..count)
        .map(|k| match k {
            _ if count == 14 => ATOMS[k].to_string(),
            2 => "topological polar surface area".into(),
            _ => format!("feature {}", k + 1),
        })
        .collect()
}

fn classes(count: usize) -> Vec<String> {
    let known =
        ["Case Based", "Genetic Algorithms", "Neural Networks", "Probabilistic Methods", "Reinforcement Learning"];
    (0..count).map(|k| known.get(k).map_or(format!("Rule Learning {k}"), |name| name.to_string())).collect()
}

fn hostile() -> Vec<String> {
    vec![
        "<script>alert(1)</script>".into(),
        "a".repeat(200),
        "\"><img src=x onerror=alert(1)>".into(),
        "line\nbreak\u{202e}\0 &amp; 'quotes'".into(),
        String::new(),
        "ρ → ∞ Größe 測定 ]]>".into(),
    ]
}

/// A support: so many nodes, and a share of them as items.
fn support(nodes: u64, per_item: u64) -> Support {
    Support { nodes, graphs: nodes / per_item, items: nodes / per_item }
}

/// The made-up curve of a class over distances.
fn distance_curve(c: usize, distances: usize) -> Curve {
    let point = |l: usize| {
        let value = (1.0 / (1.0 + l as f64)) * (1.0 - 0.25 * c as f64) + 0.12 * made_up(c, l);
        estimate(value, 0.04 + 0.02 * l as f64 / (1.0 + distances as f64 / 10.0))
    };
    let unreachable = Some(estimate(0.1 * made_up(c, 3), 0.1));
    Curve { points: (0..distances).map(point).collect(), unreachable }
}

fn distance_panel(name: String, curves: Vec<Curve>, distances: usize) -> DistancePanel {
    let receivers = |l: usize| support((131_488.0 * (-0.25 * l as f64).exp()) as u64, 800);
    DistancePanel {
        name,
        curves,
        support: (0..distances).map(receivers).collect(),
        unreachable: Some(support(412, 800)),
    }
}

/// Curves over so many distances: of so many classes in one panel, or one each in so many panels.
pub fn influence(count: usize, distances: usize, in_panels: bool) -> DistanceCurves {
    let panels = match in_panels {
        true => (names(count).into_iter().enumerate())
            .map(|(c, name)| distance_panel(name, vec![distance_curve(c, distances)], distances))
            .collect(),
        false => {
            let curves = (0..count).map(|c| distance_curve(c, distances)).collect();
            vec![distance_panel(String::new(), curves, distances)]
        }
    };
    DistanceCurves {
        title: "Influence by distance".into(),
        unit: "influence (largest = 1)".into(),
        panels,
        series: if in_panels { Vec::new() } else { classes(count) },
        most: 24,
        items: "graph".into(),
    }
}

/// Panels of so many features with a curve for each of so many classes.
fn influence_of_classes(features: usize, of: usize) -> DistanceCurves {
    let panels = names(features).into_iter().map(|name| {
        let curves = (0..of).map(|c| distance_curve(c, 9)).collect();
        distance_panel(name, curves, 9)
    });
    DistanceCurves { panels: panels.collect(), series: classes(of), ..influence(1, 9, true) }
}

fn level(name: &str, k: usize, outputs: usize) -> Level {
    let values = (0..outputs).map(|c| estimate(made_up(k, c), 0.08 + 0.02 * (k % 4) as f64)).collect();
    let nodes = if k % 5 == 4 { 7 } else { 900 * (k as u64 + 1) };
    Level { name: name.into(), values, support: support(nodes, 3) }
}

fn curve(k: usize, outputs: usize) -> Form {
    let at = |i: usize| -2.0 + 0.35 * i as f64;
    Form::Curve {
        knots: (0..outputs).map(|c| (0..20).map(|i| [at(i), made_up(k + c, i / 2)]).collect()).collect(),
        bands: (0..outputs)
            .map(|c| {
                let band = |i: usize| {
                    let value = made_up(k + c, i / 2);
                    (at(i), Interval { low: value - 0.15, high: value + 0.15 })
                };
                (0..20).map(band).collect()
            })
            .collect(),
        bins: (0..19)
            .map(|i| {
                let nodes = (2000.0 * (-(i as f64 - 8.0).powi(2) / 18.0).exp()) as u64;
                Bin { from: at(i), to: at(i + 1), support: support(nodes, 9) }
            })
            .collect(),
        missing: (k % 8 == 4).then(|| level("missing", k, outputs)),
    }
}

/// Shape functions of mixed kinds.
pub fn shapes(features: usize, outputs: usize) -> Shapes {
    let feature = |(k, name): (usize, String)| {
        let (unit, form) = match k % 4 {
            0 => ("Å²", curve(k, outputs)),
            1 => (
                "",
                Form::Levels(
                    ["none", "one", "two"].iter().enumerate().map(|(v, n)| level(n, v + k, outputs)).collect(),
                ),
            ),
            2 => ("log₁₀ mol/L", curve(k, outputs)),
            _ => ("", Form::Binary(level("1", k, outputs))),
        };
        ShapeFunction { name, unit: unit.into(), counts: false, whole: false, form }
    };
    Shapes {
        title: "Effects of features".into(),
        unit: "effect (log-odds)".into(),
        outputs: if outputs > 1 { classes(outputs) } else { vec![] },
        features: names(features).into_iter().enumerate().map(feature).collect(),
        most: 60,
        items: "graph".into(),
    }
}

/// One categorical feature: the atoms of Mutagenicity, or more levels.
pub fn atoms(levels: usize, outputs: usize) -> Shapes {
    let name = |k: usize| ATOMS.get(k).map_or(format!("level {k}"), |name| name.to_string());
    let levels = (0..levels).map(|k| level(&name(k), k, outputs)).collect();
    let feature = ShapeFunction {
        name: "atom".into(),
        unit: "element".into(),
        counts: false,
        whole: false,
        form: Form::Levels(levels),
    };
    Shapes { features: vec![feature], ..shapes(1, outputs) }
}

/// Only binary features.
pub fn binary(features: usize, outputs: usize) -> Shapes {
    let feature = |(k, name): (usize, String)| ShapeFunction {
        name,
        unit: String::new(),
        counts: false,
        whole: false,
        form: Form::Binary(level("1", k, outputs)),
    };
    Shapes { features: names(features).into_iter().enumerate().map(feature).collect(), ..shapes(1, outputs) }
}

/// A heatmap with intervals, gaps and weak cells.
pub fn heatmap(features: usize, distances: usize, panels: usize) -> Heatmap {
    let cell = |c: usize, k: usize, l: usize| {
        let value = made_up(k + 3 * c, l) * 1.6 / (1.0 + 0.6 * l as f64) / (1.0 + 0.1 * k as f64);
        let support = support(if (k * 7 + l) % 11 == 10 { 3 } else { 5000 / (1 + l as u64) }, 2);
        ((k + l) % 13 != 12).then_some(Cell { estimate: estimate(value, 0.12), support })
    };
    let mut columns: Vec<String> = (0..distances).map(|l| l.to_string()).collect();
    columns.push("∞".into());
    Heatmap {
        title: "What a feature adds from each distance".into(),
        unit: "effect (log-odds)".into(),
        column_unit: "distance (edges)".into(),
        last_apart: true,
        rows: names(features),
        row_kind: RowKind::Features,
        row_unit: "feature".into(),
        most: 60,
        panels: classes(panels)
            .into_iter()
            .enumerate()
            .map(|(c, name)| Panel {
                name,
                cells: (0..features).map(|k| (0..=distances).map(|l| cell(c, k, l)).collect()).collect(),
            })
            .collect(),
        columns,
        items: "graph".into(),
    }
}

/// Value by distance on a grid, or by level.
pub fn value_heatmap(values: usize, panels: usize, grid: bool) -> ValueHeatmap {
    let like = heatmap(values, 8, panels);
    ValueHeatmap {
        title: "Partial charge: what a value adds from each distance".into(),
        unit: like.unit,
        column_unit: like.column_unit,
        columns: like.columns,
        last_apart: true,
        value_unit: "charge (e)".into(),
        values: match grid {
            true => Values::Grid((0..values).map(|k| -1.0 + 0.05 * k as f64).collect(), None),
            false => Values::Levels(names(values)),
        },
        most: 60,
        panels: like.panels,
        items: "graph".into(),
    }
}

/// Importances by feature and by distance.
pub fn importance(features: usize) -> Importance {
    let item = |(k, name): (usize, String)| {
        let value = 1.2 / (1.0 + 0.25 * k as f64);
        ImportanceRow { name, importance: estimate(value, 0.1 * value) }
    };
    let distances = (0..9).map(|l| if l == 8 { "unreachable".to_string() } else { format!("distance {l}") });
    Importance {
        title: "What matters".into(),
        unit: "mean |contribution| (log-odds)".into(),
        blocks: vec![
            Block { name: "by feature".into(), rows: names(features).into_iter().enumerate().map(item).collect() },
            Block { name: "by distance".into(), rows: distances.enumerate().map(item).collect() },
        ],
        most: 20,
    }
}

/// One prediction.
pub fn waterfall(terms: usize) -> Waterfall {
    let term = |(k, name): (usize, String)| Term {
        name,
        value: made_up(k, 2) / (1.0 + 0.1 * k as f64),
        detail: format!("{} nodes", k + 1),
    };
    let terms: Vec<Term> = names(terms).into_iter().enumerate().map(term).collect();
    let sum = -0.35 + 0.62 + terms.iter().map(|term| term.value).sum::<f64>();
    Waterfall {
        title: "Molecule 188: mutagenic".into(),
        unit: "log-odds of mutagenic".into(),
        base: -0.35,
        structure: Some(0.62),
        terms,
        prediction: sum,
        most: 12,
        probability: Some([0.413, 1.0 / (1.0 + (-sum).exp())]),
    }
}

/// All cases.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = |name: &str, scene: Scene, words: &[&'static str]| {
        cases.push(Case { name: name.into(), scene, words: words.to_vec() });
    };
    for (suffix, width) in [("", 760.0), ("-half", 380.0)] {
        let mut case =
            |name: &str, scene: Scene, words: &[&'static str]| case(&format!("{name}{suffix}"), scene, words);
        case(
            "influence-1",
            influence(1, 11, false).scene(width),
            &["distance (edges)", "influence (largest", "95 %", "receivers"],
        );
        case("influence-7", influence(7, 20, false).scene(width), &["Case Based", "data-toggle", "little support"]);
        case("influence-panels-14", influence(14, 9, true).scene(width), &["Cl", "∞"]);
        let several = influence_of_classes(4, 7);
        case("influence-panels-of-7-classes", several.scene(width), &["Case Based", "data-toggle", "∞"]);
        case("shapes-14", shapes(14, 1).scene(width), &["Br", "Å²", "Binary features", "effect (log-odds)"]);
        case("shapes-7-classes", shapes(6, 7).scene(width), &["Neural Networks", "feature 5"]);
        case("shapes-atoms", atoms(14, 1).scene(width), &["atom", "Na", " graphs"]);
        case("shapes-atoms-7", atoms(14, 7).scene(width), &["atom", "Na"]);
        case("shapes-binary-60", binary(60, 1).scene(width), &["feature 60"]);
        case("heatmap-14", heatmap(14, 10, 1).scene(width), &["distance (edges)", "effect (log-odds)", "contains 0"]);
        case("heatmap-60", heatmap(60, 10, 1).scene(width), &["feature 60"]);
        case("heatmap-7-classes", heatmap(14, 6, 7).scene(width), &["Rule Learning 6"]);
        case("heatmap-30-distances", heatmap(8, 30, 2).scene(width), &["30"]);
        case("values-grid", value_heatmap(41, 3, true).scene(width), &["−1.0", "charge (e)"]);
        case("values-levels", value_heatmap(5, 2, false).scene(width), &["topological"]);
        case("importance-14", importance(14).scene(width), &["by distance", "unreachable", "mean |contribution|"]);
        case("importance-60", importance(60).scene(width), &["40 others (sum)"]);
        case(
            "waterfall-14",
            waterfall(14).scene(width),
            &["structure", "prediction", "probability 41.3 %", "2 others (sum)"],
        );
    }
    for width in [360.0, 760.0, 860.0] {
        long_names(
            &mut |name: &str, scene: Scene, words: &[&'static str]| case(&format!("{name}-{width}"), scene, words),
            width,
        );
    }
    for count in [1, 500] {
        case(&format!("influence-panels-{count}"), influence(count, 5, true).scene(760.0), &["feature 1"]);
        case(&format!("shapes-{count}"), shapes(count, 1).scene(760.0), &["feature 1"]);
        case(&format!("shapes-levels-{count}"), atoms(count, 1).scene(760.0), &["atom"]);
        case(&format!("heatmap-{count}"), heatmap(count, 1, 1).scene(760.0), &["feature 1"]);
        case(&format!("importance-{count}"), importance(count).scene(760.0), &["feature 1"]);
        case(&format!("waterfall-{count}"), waterfall(count).scene(760.0), &["feature 1"]);
    }
    odd(&mut case);
    cases
}

/// Several lenses, several classes, and names that are longer than their places.
fn long_names(case: &mut impl FnMut(&str, Scene, &[&'static str]), width: f64) {
    let lenses = ["double+single", "d+s", "along"];
    let distances = |lens: &str| -> Vec<String> {
        let numbers = (0..14).map(|l| format!("{lens} {l}"));
        numbers.chain([format!("{lens} unreachable")]).collect()
    };
    for lens in 1..=3 {
        for panels in [1, 3] {
            let mut figure = heatmap(6, 15 * lens - 1, panels);
            figure.columns = lenses.iter().take(lens).flat_map(|lens| distances(lens)).collect();
            figure.last_apart = false;
            let words: &[&str] =
                if lens == 1 { &["double+single ∞", "∞: unreachable"] } else { &["∞: unreachable"] };
            case(&format!("long-heatmap-of-{lens}-lenses-{panels}"), figure.scene(width), words);
        }
    }
    let mut figure = heatmap(6, 14, 1);
    figure.columns[14] = "unreachable".into();
    case("long-heatmap-unreachable", figure.scene(width), &[">∞<", "∞: unreachable (no path)."]);
    let mut figure = heatmap(6, 2, 1);
    figure.columns[2] = "unreachable".into();
    let words: &[&str] = if width > 700.0 { &["∞: unreachable (no path)."] } else { &[">∞<"] };
    case("long-heatmap-few-columns", figure.scene(width), words);

    let mut figure = importance(6);
    figure.unit = "mean |contribution| (log-odds of Probabilistic Methods)".into();
    figure.blocks[0].rows[1].name = "structure term (graph shape alone)".into();
    for (k, row) in figure.blocks[1].rows.iter_mut().enumerate() {
        row.name = format!("double+single, distances {} to {}", k, k + 1);
    }
    case("long-importance", figure.scene(width), &["structure term (graph shape", "Probabilistic Methods)<"]);

    let mut figure = waterfall(9);
    figure.unit = "logit of Reinforcement Learning, above the mean of the classes".into();
    figure.terms[3].name = "topological polar surface area = 12.5 to 14.0".into();
    let shares = ["probability 41.3 %", "the mean of the classes<"];
    case("long-waterfall", figure.scene(width), &shares);
}

/// What has little support reaches far beyond the rest: it is cut off and marked. Counts and dates have axes of their own.
fn weak_ends(case: &mut impl FnMut(&str, Scene, &[&'static str]), width: f64) {
    const CUT: &[&str] = &["class=\"cut\"", "Triangles"];
    let mut figure = influence(2, 9, false);
    let panel = &mut figure.panels[0];
    panel.curves[0].points[8] = Estimate::from(90.0);
    panel.curves[1].points[7] = Estimate::from(-70.0);
    panel.support[7..].fill(support(4, 2));
    case("cut-influence", figure.scene(width), CUT);
    let mut figure = shapes(6, 1);
    if let Form::Curve { knots, bands, bins, .. } = &mut figure.features[0].form {
        knots[0][19][1] = 40.0;
        knots[0][0][1] = -30.0;
        bands.clear();
        (bins[0].support, bins[18].support) = (support(2, 1), support(2, 1));
    }
    if let Form::Levels(levels) = &mut figure.features[1].form {
        (levels[0].values[0], levels[0].support) = (Estimate::from(55.0), support(3, 1));
    }
    case("cut-shapes", figure.scene(width), CUT);
    let mut figure = heatmap(5, 4, 1);
    figure.panels[0].cells[2][2] = Some(Cell { estimate: Estimate::from(77.0), support: support(2, 1) });
    case("cut-heatmap", figure.scene(width), &["little support", "77"]);
    let edge_types = ["wire", "pipe"].map(|name| distance_panel(name.into(), vec![distance_curve(0, 6)], 6));
    let mut figure = DistanceCurves { panels: edge_types.to_vec(), ..influence(1, 6, true) };
    figure.panels[1].support.truncate(2);
    case("influence-by-lens", figure.scene(width), &["wire", "pipe"]);

    let value = |x: f64, nodes: u64| Bin { from: x, to: x, support: support(nodes, 1) };
    let counts = Form::Curve {
        knots: vec![(1..5).map(|k| [k as f64, 0.2 * k as f64]).collect()],
        bands: vec![],
        bins: (1..5).map(|k| value(k as f64, 500 / k)).collect(),
        missing: None,
    };
    let days = |k: usize| 16_000.0 + 300.0 * k as f64;
    let dates = Form::Curve {
        knots: vec![(0..12).map(|k| [days(k), made_up(2, k)]).collect()],
        bands: vec![],
        bins: (0..11).map(|k| Bin { from: days(k), to: days(k + 1), support: support(90, 1) }).collect(),
        missing: None,
    };
    let feature = |name: &str, unit: &str, counts: bool, form: Form| ShapeFunction {
        name: name.into(),
        unit: unit.into(),
        counts,
        whole: counts,
        form,
    };
    let features =
        vec![feature("chargebacks", "", true, counts), feature("opened", "days since 1970-01-01", false, dates)];
    case("counts-and-dates", Shapes { features, ..shapes(1, 1) }.scene(width), &[">0<", ">4<", ">2020<"]);
}

/// Hostile names, nothing, zero, not finite.
fn odd(case: &mut impl FnMut(&str, Scene, &[&'static str])) {
    let evil = hostile();
    let named = |k: usize| evil[k % evil.len()].clone();
    let escaped = &["&lt;script&gt;"];

    let mut figure = influence(6, 5, false);
    (figure.series, figure.panels[0].name) = (evil.clone(), named(2));
    (figure.title, figure.unit) = (named(0), named(2));
    case("hostile-influence", figure.scene(760.0), escaped);
    let mut figure = shapes(12, 6);
    figure.outputs = evil.clone();
    figure
        .features
        .iter_mut()
        .enumerate()
        .for_each(|(k, feature)| (feature.name, feature.unit) = (named(k), named(k + 1)));
    case("hostile-shapes", figure.scene(760.0), escaped);
    let mut figure = heatmap(6, 4, 6);
    figure.rows = evil.clone();
    figure.panels.iter_mut().enumerate().for_each(|(k, panel)| panel.name = named(k));
    figure.columns.iter_mut().enumerate().for_each(|(k, column)| *column = named(k));
    (figure.title, figure.unit) = (named(1), named(1));
    case("hostile-heatmap", figure.scene(760.0), escaped);
    let mut figure = importance(6);
    figure.blocks.iter_mut().flat_map(|block| &mut block.rows).enumerate().for_each(|(k, row)| row.name = named(k));
    case("hostile-importance", figure.scene(760.0), escaped);
    let mut figure = waterfall(6);
    figure.terms.iter_mut().enumerate().for_each(|(k, term)| (term.name, term.detail) = (named(k), named(k)));
    case("hostile-waterfall", figure.scene(760.0), escaped);

    for (name, value) in
        [("zero", 0.0), ("nan", f64::NAN), ("infinite", f64::INFINITY), ("huge", -1e308), ("tiny", 5e-324)]
    {
        let same = Estimate { value, interval: Some(Interval { low: value, high: -value }) };
        let mut figure = influence(2, 4, false);
        let panel = &mut figure.panels[0];
        panel.curves[0].points.fill(same);
        panel.curves[1].points[1] = same;
        panel.curves[1].unreachable = Some(same);
        panel.support.fill(Support::default());
        case(&format!("{name}-influence"), figure.scene(760.0), &["distance (edges)"]);
        let mut figure = shapes(8, 2);
        for feature in &mut figure.features {
            match &mut feature.form {
                Form::Binary(level) => level.values.fill(same),
                Form::Levels(levels) => levels.iter_mut().for_each(|level| level.values.fill(same)),
                Form::Curve { knots, bands, bins, .. } => {
                    knots.iter_mut().flatten().for_each(|knot| knot[1] = value);
                    knots[0][3] = [value, value];
                    bands[0][2].1 = Interval { low: value, high: value };
                    bins[0].from = value;
                }
            }
        }
        case(&format!("{name}-shapes"), figure.scene(760.0), &["effect (log-odds)"]);
        let mut figure = heatmap(4, 3, 2);
        for cell in figure.panels.iter_mut().flat_map(|panel| panel.cells.iter_mut().flatten().flatten()) {
            cell.estimate = same;
        }
        case(&format!("{name}-heatmap"), figure.scene(760.0), &["distance (edges)"]);
        let mut figure = value_heatmap(4, 1, true);
        figure.values = Values::Grid(vec![value; 4], None);
        case(&format!("{name}-values"), figure.scene(760.0), &["distance (edges)"]);
        let mut figure = importance(4);
        figure.blocks.iter_mut().flat_map(|block| &mut block.rows).for_each(|row| row.importance = same);
        case(&format!("{name}-importance"), figure.scene(760.0), &["by feature"]);
        let mut figure = waterfall(4);
        figure.terms.iter_mut().for_each(|term| term.value = value);
        (figure.base, figure.structure, figure.prediction) = (value, Some(value), value);
        figure.probability = Some([value, value]);
        case(&format!("{name}-waterfall"), figure.scene(f64::NAN), &["prediction"]);
    }

    for (suffix, width) in [("", 760.0), ("-half", 380.0)] {
        weak_ends(
            &mut |name: &str, scene: Scene, words: &[&'static str]| case(&format!("{name}{suffix}"), scene, words),
            width,
        );
    }

    // All rows, however many: nobody should have to count them first.
    let most = usize::MAX;
    case("all-importance", Importance { most, ..importance(30) }.scene(760.0), &["feature 30"]);
    case("all-waterfall", Waterfall { most, ..waterfall(30) }.scene(760.0), &["feature 30"]);
    case("all-heatmap", Heatmap { most, ..heatmap(70, 3, 1) }.scene(760.0), &["feature 70"]);
    case("all-shapes", Shapes { most, ..binary(70, 1) }.scene(760.0), &["feature 70"]);

    // Lists of unequal lengths are drawn as far as they go.
    let mut figure = shapes(8, 3);
    figure.outputs.truncate(2);
    if let Form::Levels(levels) = &mut figure.features[1].form {
        levels[0].values.clear();
    }
    if let Form::Curve { knots, bands, bins, .. } = &mut figure.features[0].form {
        knots[0].truncate(1);
        knots[1].reverse();
        bands.truncate(1);
        bins.clear();
    }
    case("ragged-shapes", figure.scene(760.0), &["feature 2"]);
    let mut figure = influence(3, 6, false);
    let panel = &mut figure.panels[0];
    panel.curves[0].points.truncate(2);
    panel.curves[1].points.clear();
    panel.support.truncate(4);
    panel.unreachable = None;
    figure.title = "a very long title ".repeat(20);
    case("ragged-influence", figure.scene(380.0), &["…"]);

    let nothing = vec![];
    case(
        "empty-influence",
        DistanceCurves { panels: vec![], most: 0, ..influence(1, 1, false) }.scene(760.0),
        &nothing,
    );
    let panel =
        DistancePanel { curves: vec![], support: vec![], unreachable: None, ..distance_panel("x".into(), vec![], 0) };
    case(
        "empty-influence-panel",
        DistanceCurves { panels: vec![panel], ..influence(1, 1, true) }.scene(760.0),
        &nothing,
    );
    case("empty-shapes", Shapes { features: vec![], ..shapes(1, 1) }.scene(760.0), &nothing);
    case(
        "empty-heatmap",
        Heatmap { rows: vec![], columns: vec![], panels: vec![], ..heatmap(1, 1, 1) }.scene(0.0),
        &nothing,
    );
    case(
        "ragged-heatmap",
        Heatmap { rows: vec!["a".into(); 9], columns: vec!["0".into()], most: 0, ..heatmap(3, 4, 2) }.scene(760.0),
        &nothing,
    );
    case(
        "empty-importance",
        Importance { blocks: vec![Block { name: "x".into(), rows: vec![] }], ..importance(1) }.scene(760.0),
        &nothing,
    );
    case(
        "empty-waterfall",
        Waterfall { terms: vec![], structure: None, most: 0, ..waterfall(1) }.scene(1e9),
        &["Warning"],
    );
    case(
        "far-waterfall",
        Waterfall {
            base: 512.0,
            prediction: 513.4,
            structure: None,
            terms: vec![Term { name: "a".into(), value: 1.4, detail: String::new() }],
            probability: None,
            unit: "boiling point (K)".into(),
            ..waterfall(1)
        }
        .scene(760.0),
        &["512"],
    );
}

/// Figures whose tables are looked at.
#[allow(dead_code, reason = "the gallery draws no tables")]
pub fn contents() -> Vec<(&'static str, Box<dyn FigureContent>)> {
    vec![
        ("influence", Box::new(influence(7, 12, false))),
        ("influence in panels", Box::new(influence_of_classes(4, 3))),
        ("shapes", Box::new(shapes(14, 1))),
        ("shapes of classes", Box::new(shapes(6, 7))),
        ("heatmap", Box::new(heatmap(14, 10, 2))),
        ("values", Box::new(value_heatmap(41, 3, true))),
        ("importance", Box::new(importance(60))),
        ("waterfall", Box::new(waterfall(14))),
    ]
}
