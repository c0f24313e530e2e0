//! The planted cases: what is true in each of them, and how its labels come about.
//!
//! The truths are fixed, so that runs with different seeds differ in graphs, values and noise alone. All are raw: none
//! is written in canonical form. In graph tasks the bias of a source about makes up for the mean effect of features, so
//! that outputs do not merely count nodes: where they do, a hundredth of their variance is left to the features, and the
//! default number of epochs ends before the weaker curves are found.

use gnan::files::{Kind, Task};
use gnan::spec::{FitMethod, LogitChoice, RhoChoice, Spec};

use super::planted::{Planted, PlantedFeature, PlantedRho, PlantedValue};

/// Planted rhos are written down up to this distance; beyond it they stay what they are there.
const LONGEST: usize = 40;

/// What rhos are multiplied by for classes that are not nearly certain: log-odds have a standard deviation of about 2 then.
const UNCERTAIN: f64 = 0.35;

/// How labels are drawn from outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Labels {
    /// The output plus normal noise of this standard deviation.
    Number {
        /// Standard deviation of the noise.
        noise: f64,
    },
    /// A class: Bernoulli from the log-odds of one output, else by softmax.
    Classes,
}

/// A planted case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Its name.
    pub name: &'static str,
    /// Graphs or nodes.
    pub task: Task,
    /// How labels are drawn.
    pub labels: Labels,
    /// Share of items that have a label.
    pub labelled: f64,
    /// Number of graphs.
    pub graphs: usize,
    /// Limit on epochs where the default ends before the loss stops improving.
    pub epochs: Option<usize>,
    /// The truth.
    pub planted: Planted,
}

impl Case {
    /// The product's own training with its defaults, told which form the truth has and how long to go on.
    pub fn spec(&self, seed: u64) -> Spec {
        let rho = if self.planted.shares_rho() { RhoChoice::Shared } else { RhoChoice::PerFeature };
        let mut spec = Spec::default().method(FitMethod::Gradient).rho(rho).seed(seed);
        spec.fit.epochs = self.epochs;
        if self.labels == Labels::Classes && self.planted.outputs() == 1 { spec.logits(LogitChoice::One) } else { spec }
    }

    /// The same with classes that are not nearly certain. Where they are, a few items decide how large all effects are, and a
    /// penalised estimate is too small: the approximations behind bands are for likelihoods that are nearly normal.
    pub fn with_uncertain_classes(mut self) -> Case {
        if self.labels == Labels::Classes {
            let rows = self.planted.rhos.iter_mut().flat_map(|rho| rho.near.iter_mut().chain([&mut rho.unreachable]));
            rows.flatten().for_each(|rho| *rho *= UNCERTAIN);
        }
        self
    }

    /// All cases, the quickest first.
    pub fn all() -> Vec<Case> {
        vec![graph_regression(), graph_classification(), rho_per_feature(), node_regression(), node_classification()]
    }
}

/// One quantity per graph, with noise; one rho that decays and changes sign.
pub(crate) fn graph_regression() -> Case {
    let planted = Planted {
        features: vec![
            elements(|c| [[-0.2], [1.3], [-0.9], [0.6], [2.0]][c].to_vec(), [0; 5]),
            charge(|x| vec![(2.0 * x).sin() + 0.4 * (x * x - 0.8)], 0),
            aromatic(vec![0.8], 0),
            irrelevant(1, 0),
        ],
        rhos: vec![curve(|l| vec![-2.0 * wave(l)], vec![-0.6])],
        bias: vec![-0.3],
        output_bias: vec![5.0],
    };
    Case {
        name: "graph regression",
        task: Task::Graph,
        labels: Labels::Number { noise: 4.0 },
        labelled: 1.0,
        graphs: 800,
        epochs: None,
        planted,
    }
}

/// Two classes of graphs, one logit; one rho that is largest at distance 1.
fn graph_classification() -> Case {
    let planted = Planted {
        features: vec![
            elements(|c| [[-0.3], [0.9], [-0.5], [0.7], [0.4]][c].to_vec(), [0; 5]),
            charge(|x| vec![0.8 * (1.5 * x).tanh()], 0),
            aromatic(vec![-0.7], 0),
            irrelevant(1, 0),
        ],
        rhos: vec![curve(|l| vec![echo(l)], vec![0.1])],
        bias: vec![0.18],
        output_bias: vec![0.0],
    };
    Case {
        name: "graph classification",
        task: Task::Graph,
        labels: Labels::Classes,
        labelled: 1.0,
        graphs: 2000,
        epochs: None,
        planted,
    }
}

/// One quantity per graph; a rho for every numeric feature and for every level.
fn rho_per_feature() -> Case {
    let planted = Planted {
        features: vec![
            elements(|c| [[-0.4], [1.5], [-1.2], [0.9], [1.0]][c].to_vec(), [1, 2, 1, 3, 1]),
            charge(|x| vec![(2.0 * x).sin() + 0.4 * (x * x - 0.8)], 4),
            aromatic(vec![1.5], 5),
            irrelevant(1, 6),
        ],
        rhos: vec![
            curve(|l| vec![0.5 * near(l)], vec![0.0]),
            curve(|l| vec![near(l)], vec![0.0]),
            curve(|l| vec![1.5 * echo(l)], vec![0.2]),
            curve(|l| vec![wave(l)], vec![0.3]),
            curve(|l| vec![-1.5 * wave(l)], vec![0.4]),
            curve(|l| vec![echo(l)], vec![0.1]),
            curve(|l| vec![near(l)], vec![0.0]),
        ],
        bias: vec![0.2],
        output_bias: vec![-3.0],
    };
    Case {
        name: "rho per feature",
        task: Task::Graph,
        labels: Labels::Number { noise: 2.0 },
        labelled: 1.0,
        graphs: 1200,
        // Ten rhos against as many shapes: after the default 3,000 epochs the loss still falls, and the curves of
        // near distances are not yet those of the data but those that training starts from.
        epochs: Some(8000),
        planted,
    }
}

/// One quantity per node, half of the nodes labelled; one rho that changes sign.
pub(crate) fn node_regression() -> Case {
    let planted = Planted {
        features: vec![
            elements(|c| [[0.3], [-1.1], [1.2], [0.5], [-1.5]][c].to_vec(), [0; 5]),
            charge(|x| vec![1.2 * (-2.0 * x * x).exp() + 0.3 * x], 0),
            aromatic(vec![1.0], 0),
            irrelevant(1, 0),
        ],
        rhos: vec![curve(|l| vec![3.0 * wave(l)], vec![0.5])],
        bias: vec![-0.2],
        output_bias: vec![1.0],
    };
    Case {
        name: "node regression",
        task: Task::Node,
        labels: Labels::Number { noise: 1.0 },
        labelled: 0.5,
        graphs: 400,
        epochs: None,
        planted,
    }
}

/// Three classes of nodes; every class has its own rho.
fn node_classification() -> Case {
    let planted = Planted {
        features: vec![
            elements(
                |c| {
                    [[-0.5, 0.6, 0.2], [2.0, -0.5, -1.0], [-1.0, 1.5, 0.5], [0.5, -1.5, 1.5], [1.0, 0.0, -1.0]][c]
                        .to_vec()
                },
                [0; 5],
            ),
            charge(|x| vec![1.5 * (2.0 * x).sin(), -1.2 * x, 0.9 * x * x], 0),
            aromatic(vec![1.5, -1.0, 1.0], 0),
            irrelevant(3, 0),
        ],
        rhos: vec![curve(|l| vec![2.0 * wave(l), 2.5 * echo(l), 1.5 * near(l)], vec![0.2, 0.3, 0.0])],
        bias: vec![0.0, 0.1, -0.1],
        output_bias: vec![0.0, 0.3, -0.3],
    };
    Case {
        name: "node classification",
        task: Task::Node,
        labels: Labels::Classes,
        labelled: 0.7,
        graphs: 400,
        epochs: None,
        planted,
    }
}

/// Decays and changes sign twice: largest at distance 0, lowest at 4.
fn wave(distance: f64) -> f64 {
    (0.75 * distance).cos() * (-distance / 4.0).exp()
}

/// Largest at distance 1, so that neighbours count more than the node itself; negative at 3 and 4.
fn echo(distance: f64) -> f64 {
    (1.2 * (distance - 1.0)).cos() * (-(distance - 1.0).abs() / 3.0).exp()
}

/// Near nodes count, far ones hardly.
fn near(distance: f64) -> f64 {
    1.0 / (1.0 + (1.5 * (distance - 2.0)).exp())
}

fn curve(at: impl Fn(f64) -> Vec<f64>, unreachable: Vec<f64>) -> PlantedRho {
    PlantedRho { near: (0..=LONGEST).map(|distance| at(distance as f64)).collect(), unreachable }
}

/// A categorical feature with levels of unequal frequency, the last of which is rare.
fn elements(effects: impl Fn(usize) -> Vec<f64>, rhos: [usize; 5]) -> PlantedFeature {
    let levels = [("C", 0.55), ("N", 0.2), ("O", 0.15), ("S", 0.095), ("P", 0.005)];
    let values = levels.iter().zip(rhos).enumerate().map(|(index, ((name, share), rho))| PlantedValue {
        number: index as f64,
        level: (*name).to_owned(),
        share: *share,
        effects: effects(index),
        rho,
    });
    PlantedFeature { name: "element".to_owned(), kind: Kind::Categorical, values: values.collect() }
}

/// A continuous feature: normal values, rounded to a tenth.
fn charge(effects: impl Fn(f64) -> Vec<f64>, rho: usize) -> PlantedFeature {
    continuous("charge", 20, effects, rho)
}

/// A continuous feature that has no effect on any output.
fn irrelevant(outputs: usize, rho: usize) -> PlantedFeature {
    continuous("irrelevant", 10, |_| vec![0.0; outputs], rho)
}

/// A continuous feature whose values are `2 * steps + 1` points from -2 to 2, with normal shares.
fn continuous(name: &str, steps: i32, effects: impl Fn(f64) -> Vec<f64>, rho: usize) -> PlantedFeature {
    let points = (-steps..=steps).map(|step| 2.0 * f64::from(step) / f64::from(steps));
    let density = |x: f64| (-0.5 * x * x).exp();
    let total: f64 = points.clone().map(density).sum();
    let value =
        |x: f64| PlantedValue { number: x, level: String::new(), share: density(x) / total, effects: effects(x), rho };
    PlantedFeature { name: name.to_owned(), kind: Kind::Continuous, values: points.map(value).collect() }
}

/// A binary feature that is 1 for 30 % of nodes.
fn aromatic(effects: Vec<f64>, rho: usize) -> PlantedFeature {
    let value =
        |number: f64, share: f64, effects: Vec<f64>| PlantedValue { number, level: String::new(), share, effects, rho };
    let values = vec![value(0.0, 0.7, vec![0.0; effects.len()]), value(1.0, 0.3, effects)];
    PlantedFeature { name: "aromatic".to_owned(), kind: Kind::Binary, values }
}
