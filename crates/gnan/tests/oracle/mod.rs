//! The dense oracle: spec section 1 in f64, equation by equation, sharing no code with the engine.
//!
//! It sees a data set as plain lists ([`Case`]) and a model as the bytes of its file ([`FileModel`]), so it also checks
//! that the file alone says what the model is. Distances come from Floyd and Warshall, shells from loops over all pairs
//! of nodes, shape functions from plain loops over the layers. Slow on purpose.

#![allow(dead_code, reason = "every test file uses another part of the oracle")]

use std::collections::BTreeMap;

use safetensors::SafeTensors;

/// One value of one node.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// The name of a category.
    Category(String),
    /// Nothing is known.
    Missing,
}

/// A named column of the nodes of all graphs.
#[derive(Clone, Debug)]
pub struct CaseFeature {
    /// Its name.
    pub name: String,
    /// "binary", "categorical", "continuous" or "sparse".
    pub kind: &'static str,
    /// One value per node, graph by graph.
    pub values: Vec<Value>,
}

/// The structure of one graph; edges name nodes of this graph.
#[derive(Clone, Debug)]
pub struct CaseGraph {
    /// Number of nodes.
    pub nodes: usize,
    /// Edges as listed: self-loops and repeats are allowed.
    pub edges: Vec<[usize; 2]>,
}

/// A data set as plain lists.
#[derive(Clone, Debug)]
pub struct Case {
    /// Whether graphs are the items; else nodes are.
    pub graph_task: bool,
    /// Whether an edge goes one way.
    pub directed: bool,
    /// The graphs.
    pub graphs: Vec<CaseGraph>,
    /// The features.
    pub features: Vec<CaseFeature>,
}

impl Case {
    /// Number of nodes over all graphs.
    pub fn nodes(&self) -> usize {
        self.graphs.iter().map(|graph| graph.nodes).sum()
    }

    /// Number of things to predict.
    pub fn items(&self) -> usize {
        if self.graph_task { self.graphs.len() } else { self.nodes() }
    }

    /// The first node of a graph, counted over all graphs.
    pub fn first_node(&self, graph: usize) -> usize {
        self.graphs[..graph].iter().map(|graph| graph.nodes).sum()
    }

    /// Every node as a receiver, with its distances by Floyd and Warshall.
    pub fn receivers(&self) -> Vec<Receiver> {
        let mut receivers = Vec::new();
        let mut first = 0;
        for (index, graph) in self.graphs.iter().enumerate() {
            let distances = floyd_warshall(graph.nodes, &graph.edges, self.directed);
            for node in 0..graph.nodes {
                let item = if self.graph_task { index } else { first + node };
                let to_node = (0..graph.nodes).map(|source| distances[source][node]).collect();
                receivers.push(Receiver { item, first, distances: to_node, others: Vec::new() });
            }
            first += graph.nodes;
        }
        receivers
    }

    /// Every node as a receiver, with its distances by the lenses of a model: directions alone.
    pub fn receivers_by(&self, lenses: &[FileLens]) -> Vec<Receiver> {
        let seen = |lens: &FileLens| {
            let turn = |edge: &[usize; 2]| if lens.direction == "against" { [edge[1], edge[0]] } else { *edge };
            let graph =
                |graph: &CaseGraph| CaseGraph { nodes: graph.nodes, edges: graph.edges.iter().map(turn).collect() };
            let graphs = self.graphs.iter().map(graph).collect();
            let directed = self.directed && lens.direction != "ignoring";
            Case { graphs, directed, ..self.clone() }.receivers()
        };
        let mut by_lens = lenses.iter().map(seen);
        let mut receivers = by_lens.next().expect("a lens");
        for others in by_lens {
            let pairs = receivers.iter_mut().zip(others);
            pairs.for_each(|(receiver, other)| receiver.others.push(other.distances));
        }
        receivers
    }
}

/// A node whose sources are all nodes of its graph.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The item whose output it adds to.
    pub item: usize,
    /// The first node of its graph, counted over all graphs.
    pub first: usize,
    /// `dist(j, i)` for every node `j` of the graph; `None` is unreachable.
    pub distances: Vec<Option<usize>>,
    /// The same by further lenses.
    pub others: Vec<Vec<Option<usize>>>,
}

/// A way of measuring distance, as the file describes it.
#[derive(Clone, Debug)]
pub struct FileLens {
    /// "along", "against" or "ignoring".
    pub direction: String,
    /// Whether receivers are averaged.
    pub mean: bool,
    /// Where bins end.
    pub ends: Vec<f64>,
}

/// The distances at which something counts, as in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FileReach {
    from: usize,
    to: Option<usize>,
    unreachable: bool,
}

/// `distances[j][i]`: the number of edges on the shortest path from `j` to `i`.
pub fn floyd_warshall(nodes: usize, edges: &[[usize; 2]], directed: bool) -> Vec<Vec<Option<usize>>> {
    let mut distances = vec![vec![None; nodes]; nodes];
    for [source, target] in edges {
        distances[*source][*target] = Some(1);
        if !directed {
            distances[*target][*source] = Some(1);
        }
    }
    for node in 0..nodes {
        distances[node][node] = Some(0);
    }
    for middle in 0..nodes {
        for source in 0..nodes {
            let Some(before) = distances[source][middle] else { continue };
            for target in 0..nodes {
                if let Some(after) = distances[middle][target]
                    && distances[source][target].is_none_or(|known| before + after < known)
                {
                    distances[source][target] = Some(before + after);
                }
            }
        }
    }
    distances
}

/// `dist(j, receiver)` for every node `j`, by the textbook search with a queue.
pub fn queue_search(nodes: usize, edges: &[[usize; 2]], directed: bool, receiver: usize) -> Vec<Option<usize>> {
    let mut senders = vec![Vec::new(); nodes];
    for [source, target] in edges {
        senders[*target].push(*source);
        if !directed {
            senders[*source].push(*target);
        }
    }
    let mut distances = vec![None; nodes];
    distances[receiver] = Some(0);
    let mut queue = std::collections::VecDeque::from([(receiver, 0)]);
    while let Some((node, distance)) = queue.pop_front() {
        for sender in &senders[node] {
            if distances[*sender].is_none() {
                distances[*sender] = Some(distance + 1);
                queue.push_back((*sender, distance + 1));
            }
        }
    }
    distances
}

/// A tensor of the model file.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// Its values, the last dimension fastest.
    pub values: Vec<f64>,
}

/// What the file says of a feature, and where its parameters are.
#[derive(Clone, Debug)]
struct FileFeature {
    name: String,
    /// Shift and scale of a numeric feature.
    scale: Option<[f64; 2]>,
    levels: Vec<String>,
    has_missing: bool,
    /// Share of the training nodes in each level, missing last.
    shares: Vec<f64>,
    /// Mean of `f_k` over the training nodes of a continuous feature.
    mean_effect: Vec<f64>,
    network: usize,
    first_value: usize,
    /// Its distance function, the first of several where every level has one.
    first_rho: usize,
    /// Its association rule.
    rule: Option<FileReach>,
    /// Its shape function, where that is a spline.
    spline: Option<FileSpline>,
    /// The two features it is made of, each with its name and bins as the file has them.
    pair: Option<[(String, serde_json::Value); 2]>,
}

impl FileFeature {
    /// Whether every level has a distance function of its own, where features have: the cells of a pair share one.
    fn has_level_rhos(&self) -> bool {
        self.scale.is_none() && self.pair.is_none()
    }
}

/// The name of the bin that a value falls into; `None`: a category that training had not seen.
fn bin_name(bins: &serde_json::Value, value: &Value) -> Option<String> {
    let edges: Option<Vec<f64>> =
        bins["edges"].as_array().map(|edges| edges.iter().map(|edge| edge.as_f64().expect("an edge")).collect());
    match (value, edges) {
        (Value::Missing, _) => Some("missing".to_owned()),
        (Value::Number(number), None) => Some(if *number == 0.0 { "0" } else { "1" }.to_owned()),
        (Value::Number(number), Some(edges)) => {
            let below = edges.iter().rev().find(|edge| **edge <= *number);
            let above = edges.iter().find(|edge| **edge > *number);
            Some(match (below, above) {
                (None, None) => "any".to_owned(),
                (None, Some(above)) => format!("< {above}"),
                (Some(below), Some(above)) => format!("{below} to {above}"),
                (Some(below), None) => format!("≥ {below}"),
            })
        }
        (Value::Category(name), _) => {
            let levels = bins["levels"].as_array().expect("levels");
            levels.iter().any(|level| level.as_str() == Some(name)).then(|| name.clone())
        }
    }
}

/// A spline, as the file describes it, without its coefficients.
#[derive(Clone, Debug)]
struct FileSpline {
    degree: usize,
    knots: Vec<f64>,
    anchored: bool,
    flat: bool,
    /// Its first coefficient in the tensor.
    first: usize,
    /// Strength of its smoothness penalty.
    smooth: f64,
}

impl FileSpline {
    fn read(json: &serde_json::Value, first: usize, smooth: f64) -> FileSpline {
        FileSpline {
            degree: json["degree"].as_u64().expect("a degree") as usize,
            knots: json["knots"].as_array().expect("knots").iter().map(|knot| knot.as_f64().expect("a knot")).collect(),
            anchored: json["anchored"].as_bool().unwrap_or(false),
            flat: json["flat"].as_bool().unwrap_or(false),
            first,
            smooth,
        }
    }

    /// Number of coefficients, one that is not stored included.
    fn full(&self) -> usize {
        if self.knots.len() < 2 { 0 } else { self.knots.len() - 1 + self.degree }
    }

    fn stored(&self) -> usize {
        self.full() - usize::from(self.anchored)
    }

    /// The knots with both ends repeated.
    fn repeated(&self) -> Vec<f64> {
        let ends = |end: f64| vec![end; self.degree];
        [ends(self.knots[0]), self.knots.clone(), ends(self.knots[self.knots.len() - 1])].concat()
    }

    /// `B_j` of a degree at `z` by its recursive definition; intervals are closed on the left, the last one on both sides.
    fn basis(&self, t: &[f64], j: usize, degree: usize, z: f64) -> f64 {
        if degree == 0 {
            let last = t[j] < t[j + 1] && t[j + 1] == t[t.len() - 1] && z == t[j + 1];
            return f64::from(u8::from((t[j] <= z && z < t[j + 1]) || last));
        }
        let part = |above: f64, below: f64, lower: usize| {
            if below == 0.0 { 0.0 } else { above / below * self.basis(t, lower, degree - 1, z) }
        };
        part(z - t[j], t[j + degree] - t[j], j) + part(t[j + degree + 1] - z, t[j + degree + 1] - t[j + 1], j + 1)
    }

    /// The function of one output; `c` are all of its coefficients.
    fn value(&self, c: &[f64], z: f64) -> f64 {
        if self.full() == 0 {
            return 0.0;
        }
        let (knots, n, d) = (&self.knots, self.full() - 1, self.degree as f64);
        let last = knots.len() - 1;
        let t = self.repeated();
        let inside = |z: f64| (0..=n).map(|j| c[j] * self.basis(&t, j, self.degree, z)).sum::<f64>();
        let slope = |flat: f64| if self.flat { 0.0 } else { flat };
        if z < knots[0] {
            return inside(knots[0]) + (z - knots[0]) * slope(d * (c[1] - c[0]) / (knots[1] - knots[0]));
        }
        if z > knots[last] {
            let slope = slope(d * (c[n] - c[n - 1]) / (knots[last] - knots[last - 1]));
            return inside(knots[last]) + (z - knots[last]) * slope;
        }
        inside(z)
    }

    /// Half the sum of squared second differences over the places of the coefficients; infinite places are left out.
    fn roughness(&self, c: &[f64], places: &[f64]) -> f64 {
        let mut sum = 0.0;
        for j in 2..places.len() {
            let [a, b, e] = [places[j - 2], places[j - 1], places[j]];
            if a.is_finite() && e.is_finite() {
                let line = (c[j - 2] * (e - b) + c[j] * (b - a)) / (e - a);
                sum += (2.0 * (line - c[j - 1])).powi(2);
            }
        }
        sum / 2.0
    }

    /// Averages of as many knots as the degree is.
    fn averages(&self) -> Vec<f64> {
        let t = if self.full() == 0 { Vec::new() } else { self.repeated() };
        (0..self.full()).map(|j| t[j + 1..=j + self.degree].iter().sum::<f64>() / self.degree as f64).collect()
    }

    /// Distances; the node itself is no neighbour of others, and unreachable nodes are not.
    fn distances(&self) -> Vec<f64> {
        let distance = |t: &f64| if *t == 1.0 { f64::INFINITY } else { 1.0 / t - 1.0 };
        self.knots.iter().map(distance).collect()
    }
}

/// Factors of the hidden units of every network, `[networks][hidden layers * hidden]`.
#[derive(Clone, Debug)]
pub struct Masks {
    /// Of the shape networks.
    pub shapes: Vec<Vec<f64>>,
    /// Of the rho networks.
    pub rhos: Vec<Vec<f64>>,
}

/// A term of what a source says: the distance function it is weighed with, and a number per output; and the feature
/// whose association rule it is under.
pub type Term = (usize, Vec<f64>, Option<usize>);

/// One output of one item.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer {
    /// The output.
    pub value: f64,
    /// The sum of the absolute values of all terms it is the sum of: the scale of rounding errors.
    pub magnitude: f64,
}

/// A model, as its file describes it.
#[derive(Clone, Debug)]
pub struct FileModel {
    /// All parameters, by name.
    pub tensors: Vec<Tensor>,
    /// Number of outputs.
    pub outputs: usize,
    /// Dropout masks; `None` for a prediction.
    pub masks: Option<Masks>,
    /// Features that are evaluated at knots only, by name: between two of them lies a line, beyond them nothing changes.
    pub knots: BTreeMap<String, Vec<f64>>,
    layers: usize,
    hidden: usize,
    normalise: bool,
    hop_cap: Option<usize>,
    silent_unreachable: bool,
    /// Whether items are node pairs.
    links: bool,
    /// The ways of measuring distance.
    pub lenses: Vec<FileLens>,
    rho_shift: f64,
    shell_scale: Vec<f64>,
    rho_scale: f64,
    per_feature: bool,
    features: Vec<FileFeature>,
    rho_count: usize,
    shape_parts: Vec<usize>,
    rho_parts: Vec<usize>,
    /// Every rho, where they are splines.
    rho_splines: Vec<FileSpline>,
    values: usize,
    bias: usize,
    output_bias: usize,
    /// The readout functions, where there are any, and the number of outputs before them.
    readout_parts: Vec<usize>,
    source_outputs: usize,
}

impl FileModel {
    /// Reads the bytes of a model file.
    pub fn read(bytes: &[u8]) -> FileModel {
        let (_, metadata) = SafeTensors::read_metadata(bytes).expect("a safetensors header");
        let json = &metadata.metadata().as_ref().expect("metadata")["gnan"];
        let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(json["version"], 3);
        let [spec, learned, record] = ["spec", "learned", "record"].map(|part| &json["definition"][part]);
        let number = |value: &serde_json::Value| value.as_u64().expect("a whole number") as usize;
        let [layers, hidden] = ["layers", "hidden"].map(|key| number(&spec["model"][key]));
        let outputs = number(&learned["outputs"]);

        let file = SafeTensors::deserialize(bytes).expect("tensors");
        let mut tensors: Vec<Tensor> = file
            .tensors()
            .into_iter()
            .filter(|(name, _)| !name.starts_with("items."))
            .map(|(name, view)| {
                let numbers = view.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]).into());
                Tensor { name, shape: view.shape().to_vec(), values: numbers.collect() }
            })
            .collect();
        tensors.sort_by(|a, b| a.name.cmp(&b.name));
        let place: BTreeMap<&str, usize> = tensors.iter().enumerate().map(|(at, t)| (t.name.as_str(), at)).collect();
        let shape_splines = learned["shape"] == "spline";
        let parts = |prefix: &str| -> Vec<usize> {
            if let Some(coefficients) = place.get(format!("{prefix}.coefficients").as_str()) {
                return vec![*coefficients];
            }
            let mut names: Vec<String> = (0..layers - 1).map(|layer| format!("layer{layer}")).collect();
            names.push("output".to_owned());
            let both = |name: String| [format!("{prefix}.{name}.weight"), format!("{prefix}.{name}.bias")];
            names.into_iter().flat_map(both).map(|name| place[name.as_str()]).collect()
        };
        let (shape_parts, rho_parts) = (parts("shape"), parts("rho"));
        let [values, bias, output_bias] = ["values", "bias", "output_bias"].map(|name| place[name]);
        let has_readout = spec["model"]["readout"].as_bool().unwrap_or(false);
        let readout_parts = if has_readout { parts("readout") } else { Vec::new() };
        let source_outputs = if has_readout { 1 } else { outputs };

        let (per_feature, grouped) = match learned["rho"].as_str() {
            Some("per-feature") => (true, false),
            Some("shared") => (false, false),
            Some("grouped") => (false, true),
            other => panic!("rho is {other:?}"),
        };
        let mut groups: Vec<Option<String>> = Vec::new();
        let (mut networks, mut value_count, mut rho_count) = (0, 0, 1);
        let (smooth, mut coefficients) = (record["resolved"]["fit"]["smooth"].as_f64().unwrap_or(0.0), 0);
        let mut features = Vec::new();
        for feature in learned["features"].as_array().expect("features") {
            let categorical = feature["kind"] == "categorical";
            let levels: Vec<String> = match feature["levels"].as_array() {
                Some(levels) => levels.iter().map(|level| level["name"].as_str().expect("a name").to_owned()).collect(),
                None => Vec::new(),
            };
            let has_missing = !feature["missing"].is_null();
            let nodes = |support: &serde_json::Value| support["nodes"].as_f64().expect("a count");
            let mut counts: Vec<f64> = match feature["levels"].as_array() {
                Some(levels) => levels.iter().map(|level| nodes(&level["support"])).collect(),
                None => Vec::new(),
            };
            if has_missing {
                counts.push(nodes(&feature["missing"]));
            }
            let total = counts.iter().sum::<f64>().max(1.0);
            let mean_effect = match feature["mean_effect"].as_array() {
                Some(means) => means.iter().map(|mean| mean.as_f64().expect("a number")).collect(),
                None => Vec::new(),
            };
            let scale = &feature["scale"];
            let scale = ["shift", "scale"].map(|key| scale[key].as_f64());
            let free_values = levels.len() + usize::from(has_missing);
            let smooth = feature["rules"]["smooth"].as_f64().unwrap_or(smooth);
            let spline =
                (shape_splines && !categorical).then(|| FileSpline::read(&feature["spline"], coefficients, smooth));
            coefficients += spline.as_ref().map_or(0, FileSpline::stored);
            features.push(FileFeature {
                name: feature["name"].as_str().expect("a name").to_owned(),
                scale: (!categorical).then(|| scale.map(|number| number.expect("a scale"))),
                levels,
                has_missing,
                shares: counts.iter().map(|count| count / total).collect(),
                mean_effect,
                network: networks,
                first_value: value_count,
                first_rho: match grouped {
                    true => {
                        let group = feature["rho_group"].as_str().map(str::to_owned);
                        let known = groups.iter().position(|known| *known == group);
                        1 + known.unwrap_or_else(|| {
                            groups.push(group);
                            groups.len() - 1
                        })
                    }
                    false if per_feature => rho_count,
                    false => 0,
                },
                rule: feature["reach"].is_object().then(|| FileReach {
                    from: feature["reach"]["from"].as_u64().unwrap_or(0) as usize,
                    to: feature["reach"]["to"].as_u64().map(|to| to as usize),
                    unreachable: feature["reach"]["unreachable"].as_bool().expect("yes or no"),
                }),
                spline,
                pair: feature["pair"]["members"].as_array().map(|members| {
                    [0, 1].map(|at| {
                        (members[at]["feature"].as_str().expect("a name").to_owned(), members[at]["bins"].clone())
                    })
                }),
            });
            networks += usize::from(!categorical);
            value_count += free_values;
            if per_feature {
                rho_count += if features[features.len() - 1].has_level_rhos() { free_values } else { 1 };
            }
        }
        rho_count += groups.len();
        let lenses: Vec<FileLens> = match learned["lenses"].as_array() {
            None => vec![FileLens { direction: "along".to_owned(), mean: false, ends: Vec::new() }],
            Some(lenses) => lenses
                .iter()
                .map(|lens| FileLens {
                    direction: lens["direction"].as_str().expect("a direction").to_owned(),
                    mean: lens["pool"] == "mean",
                    ends: match lens["bins"]["ends"].as_array() {
                        Some(ends) => ends.iter().map(|end| end.as_f64().expect("a number")).collect(),
                        None => Vec::new(),
                    },
                })
                .collect(),
        };
        let functions = rho_count * lenses.len();
        let mut rho_splines = Vec::new();
        for _ in 0..if learned["rho_spline"].is_null() { 0 } else { functions } {
            let first = rho_splines.iter().map(FileSpline::stored).sum();
            rho_splines.push(FileSpline::read(&learned["rho_spline"], first, 0.5 * smooth));
        }
        let count = |parts: &[usize]| tensors[parts[0]].shape[0];
        assert_eq!(count(&shape_parts), if shape_splines { coefficients } else { networks });
        let rho_coefficients: usize = rho_splines.iter().map(FileSpline::stored).sum();
        assert_eq!(count(&rho_parts), if rho_splines.is_empty() { functions } else { rho_coefficients });
        assert_eq!(tensors[values].shape, [value_count, source_outputs]);
        FileModel {
            outputs,
            masks: None,
            knots: BTreeMap::new(),
            layers,
            hidden,
            normalise: spec["statistics"]["normalise"].as_bool().unwrap_or(true),
            hop_cap: spec["distances"]["hop-cap"].as_u64().map(|cap| cap as usize),
            silent_unreachable: spec["distances"]["ignore-unreachable"].as_bool().unwrap_or(false),
            links: !learned["links"].is_null(),
            lenses,
            rho_shift: learned["rho_scale"]["shift"].as_f64().expect("a number"),
            shell_scale: match learned["shell_scale"].as_array() {
                Some(factors) => factors.iter().map(|factor| factor.as_f64().expect("a factor")).collect(),
                None => Vec::new(),
            },
            rho_scale: learned["rho_scale"]["scale"].as_f64().expect("a number"),
            per_feature,
            features,
            rho_count,
            shape_parts,
            rho_parts,
            rho_splines,
            values,
            bias,
            output_bias,
            readout_parts,
            source_outputs,
            tensors,
        }
    }

    /// Number of rho functions.
    pub fn rho_count(&self) -> usize {
        self.rho_count
    }

    /// Width of all hidden layers together: the length of a dropout mask.
    pub fn mask_len(&self) -> usize {
        (self.layers - 1) * self.hidden
    }

    /// All coefficients of one output of a spline.
    fn coefficients(&self, tensor: usize, spline: &FileSpline, output: usize) -> Vec<f64> {
        let values = &self.tensors[tensor].values;
        let stored = (0..spline.stored()).map(|j| values[(spline.first + j) * self.source_outputs + output]);
        spline.anchored.then_some(0.0).into_iter().chain(stored).collect()
    }

    fn spline(&self, tensor: usize, spline: &FileSpline, z: f64) -> Vec<f64> {
        (0..self.source_outputs).map(|output| spline.value(&self.coefficients(tensor, spline, output), z)).collect()
    }

    /// What is added to the loss for functions that are not smooth.
    pub fn penalty(&self) -> f64 {
        let shapes = self.features.iter().filter_map(|feature| feature.spline.as_ref());
        let shapes = shapes.map(|spline| (self.shape_parts[0], spline, spline.averages()));
        let rhos = self.rho_splines.iter().map(|spline| (self.rho_parts[0], spline, spline.distances()));
        let rough = |(tensor, spline, places): (usize, &FileSpline, Vec<f64>)| {
            let outputs = 0..self.source_outputs;
            let rough = outputs.map(|c| spline.roughness(&self.coefficients(tensor, spline, c), &places));
            spline.smooth * rough.sum::<f64>()
        };
        shapes.chain(rhos).map(rough).sum()
    }

    /// A network of one number: relu layers, then a linear one. `parts` are weight and bias of each layer in turn.
    fn network(&self, parts: &[usize], index: usize, input: f64, mask: Option<&[f64]>) -> Vec<f64> {
        let slice = |part: usize| -> &[f64] {
            let tensor = &self.tensors[parts[part]];
            let size: usize = tensor.shape[1..].iter().product();
            &tensor.values[index * size..(index + 1) * size]
        };
        if self.layers == 1 {
            return slice(0).iter().zip(slice(1)).map(|(weight, bias)| weight * input + bias).collect();
        }
        let mut activations = vec![input];
        for layer in 0..self.layers - 1 {
            let (weight, bias) = (slice(2 * layer), slice(2 * layer + 1));
            let mut next = bias.to_vec();
            // weight[from, to]
            for (from, activation) in activations.iter().enumerate() {
                for (to, sum) in next.iter_mut().enumerate() {
                    *sum += activation * weight[from * self.hidden + to];
                }
            }
            for (to, sum) in next.iter_mut().enumerate() {
                let factor = mask.map_or(1.0, |mask| mask[layer * self.hidden + to]);
                *sum = sum.max(0.0) * factor;
            }
            activations = next;
        }
        let (weight, bias) = (slice(2 * self.layers - 2), slice(2 * self.layers - 1));
        // weight[output, from]
        let sum = |output: usize| -> f64 {
            let weight = &weight[output * self.hidden..(output + 1) * self.hidden];
            weight.iter().zip(&activations).map(|(weight, activation)| weight * activation).sum()
        };
        (0..bias.len()).map(|output| sum(output) + bias[output]).collect()
    }

    /// Whether anything may count at a distance under an association rule.
    fn includes(&self, rule: Option<usize>, distance: Option<usize>) -> bool {
        let within = |reach: FileReach| match distance {
            None => reach.unreachable,
            Some(distance) => distance >= reach.from && reach.to.is_none_or(|to| distance <= to),
        };
        let capped = self.hop_cap.is_some_and(|cap| distance.is_none_or(|distance| distance > cap));
        let silent = self.silent_unreachable && distance.is_none();
        !capped && !silent && rule.and_then(|feature| self.features[feature].rule).is_none_or(within)
    }

    /// Whether a node pair would be a source for itself by something that is not a feature of its own.
    fn is_own_edge(&self, rule: Option<usize>, distance: Option<usize>) -> bool {
        let own = FileReach { from: 0, to: Some(0), unreachable: false };
        let is_own = rule.is_some_and(|feature| self.features[feature].rule == Some(own));
        self.links && distance == Some(0) && !is_own
    }

    /// `rho(l)` by the first lens for every output; `None` is unreachable. Zero beyond the hop cap.
    pub fn rho(&self, index: usize, distance: Option<usize>) -> Vec<f64> {
        self.rho_by(0, index, distance)
    }

    /// `rho(l)` by a lens for every output.
    fn rho_by(&self, lens: usize, index: usize, distance: Option<usize>) -> Vec<f64> {
        if !self.includes(None, distance) {
            return vec![0.0; self.source_outputs];
        }
        let t = match (distance, &self.lenses[lens].ends[..]) {
            (None, _) => 0.0,
            (Some(0), _) => 1.0,
            (Some(distance), []) => 1.0 / (1.0 + distance as f64),
            (Some(bin), ends) => {
                let begin = if bin == 1 { 0.0 } else { ends[bin - 2] };
                1.0 / (1.0 + (begin + ends[bin - 1]) / 2.0)
            }
        };
        let argument = (t - self.rho_shift) / self.rho_scale;
        let index = lens * self.rho_count + index;
        let function = match self.rho_splines.get(index) {
            Some(spline) => self.spline(self.rho_parts[0], spline, argument),
            None => {
                self.network(&self.rho_parts, index, argument, self.masks.as_ref().map(|masks| &masks.rhos[index][..]))
            }
        };
        let last = self.shell_scale.len().saturating_sub(1);
        let factor = match distance {
            _ if self.shell_scale.is_empty() => 1.0,
            None => self.shell_scale[last],
            Some(distance) => self.shell_scale[distance.min(last - 1)],
        };
        function.into_iter().map(|rho| factor * rho).collect()
    }

    /// `b`, with its rho.
    pub fn bias_term(&self) -> Term {
        (0, self.tensors[self.bias].values.clone(), None)
    }

    /// `b0`.
    pub fn output_bias(&self) -> &[f64] {
        &self.tensors[self.output_bias].values
    }

    /// `f_k(value)`, with its rho. A value unseen in training says what the training nodes say on average.
    fn feature_terms(&self, place: usize, value: &Value) -> Vec<Term> {
        let feature = &self.features[place];
        let under = Some(place);
        let free_value = |level: usize| {
            let at = (feature.first_value + level) * self.source_outputs;
            self.tensors[self.values].values[at..at + self.source_outputs].to_vec()
        };
        // The levels of a categorical feature have a rho each; a missing number is weighed by the feature's rho.
        let own_rho = |level: usize| match feature.scale {
            None if self.per_feature && feature.has_level_rhos() => feature.first_rho + level,
            _ => feature.first_rho,
        };
        let unseen = || match feature.scale {
            // A readout function is given its input as it is: nothing is taken out of it.
            _ if !self.readout_parts.is_empty() => Vec::new(),
            None => (feature.shares.iter().enumerate())
                .map(|(level, share)| (own_rho(level), free_value(level).iter().map(|x| share * x).collect(), under))
                .collect(),
            Some(_) if feature.mean_effect.is_empty() => Vec::new(),
            Some(_) => vec![(feature.first_rho, feature.mean_effect.clone(), under)],
        };
        match (value, feature.scale) {
            (Value::Number(number), Some([shift, scale])) => {
                let mask = self.masks.as_ref().map(|masks| &masks.shapes[feature.network][..]);
                let at = |input: f64| match &feature.spline {
                    Some(spline) => self.spline(self.shape_parts[0], spline, input),
                    None => self.network(&self.shape_parts, feature.network, input, mask),
                };
                let mut terms_of_source: Vec<f64> = at(0.0).into_iter().map(|reference| -reference).collect();
                for (place, share) in self.evaluated_at(&feature.name, *number) {
                    terms_of_source.iter_mut().zip(at((place - shift) / scale)).for_each(|(sum, f)| *sum += share * f);
                }
                vec![(feature.first_rho, terms_of_source, under)]
            }
            (Value::Category(name), None) => match feature.levels.iter().position(|level| level == name) {
                Some(level) => vec![(own_rho(level), free_value(level), under)],
                None => unseen(),
            },
            (Value::Missing, _) if feature.has_missing => {
                vec![(own_rho(feature.levels.len()), free_value(feature.levels.len()), under)]
            }
            (Value::Missing, _) => unseen(),
            _ => panic!("feature {} holds {value:?}", feature.name),
        }
    }

    /// Where the shape function of a feature is evaluated, and how much each value counts.
    fn evaluated_at(&self, name: &str, number: f64) -> Vec<(f64, f64)> {
        let Some(knots) = self.knots.get(name) else { return vec![(number, 1.0)] };
        let number = number.max(knots[0]).min(knots[knots.len() - 1]);
        match knots.windows(2).find(|pair| pair[0] <= number && number <= pair[1]) {
            Some(pair) => {
                let share = (number - pair[0]) / (pair[1] - pair[0]);
                vec![(pair[0], 1.0 - share), (pair[1], share)]
            }
            None => vec![(knots[0], 1.0)],
        }
    }

    /// The value of a feature of the model, which may be a pair of others, at a node.
    fn value_at(&self, case: &Case, place: usize, node: usize) -> Value {
        let value_of = |name: &String| {
            &case.features.iter().find(|column| column.name == *name).expect("the feature").values[node]
        };
        match &self.features[place].pair {
            None => value_of(&self.features[place].name).clone(),
            Some(members) => {
                let [first, second] = members.each_ref().map(|(name, bins)| bin_name(bins, value_of(name)));
                // A cell with an unseen category is unseen, whatever it is called.
                let cell = first.zip(second).map_or("?".to_owned(), |(first, second)| format!("{first} & {second}"));
                Value::Category(cell)
            }
        }
    }

    /// The same case with a column for every pair.
    pub fn with_pairs(&self, case: &Case) -> Case {
        let mut larger = case.clone();
        for (place, feature) in self.features.iter().enumerate().filter(|(_, feature)| feature.pair.is_some()) {
            let values = (0..case.nodes()).map(|node| self.value_at(case, place, node)).collect();
            larger.features.push(CaseFeature { name: feature.name.clone(), kind: "categorical", values });
        }
        larger
    }

    /// Everything that a node says: the bias and its features.
    pub fn terms_of_source(&self, case: &Case, node: usize) -> Vec<Term> {
        let mut terms = vec![self.bias_term()];
        for place in 0..self.features.len() {
            terms.extend(self.feature_terms(place, &self.value_at(case, place, node)));
        }
        terms
    }

    /// The outputs of all items that have a receiver in the list; `gain` multiplies all but the output bias.
    pub fn outputs_of(&self, case: &Case, receivers: &[Receiver], gain: f64) -> Vec<Vec<Answer>> {
        let terms_of_source: Vec<Vec<Term>> = (0..case.nodes()).map(|node| self.terms_of_source(case, node)).collect();
        let mut rho: BTreeMap<(usize, usize, Option<usize>), Vec<f64>> = BTreeMap::new();
        // [items][parts][outputs of a source]: the sums of the bias and of every feature.
        let nothing = vec![vec![Answer::default(); self.source_outputs]; self.features.len() + 1];
        let mut sums = vec![nothing; case.items()];
        for receiver in receivers {
            let by_lens = [&receiver.distances].into_iter().chain(&receiver.others);
            for ((lens, way), distances) in self.lenses.iter().enumerate().zip(by_lens) {
                let pooled = if way.mean { 1.0 / distances.len() as f64 } else { 1.0 };
                let mut counts: BTreeMap<Option<usize>, f64> = BTreeMap::new();
                for distance in distances {
                    *counts.entry(*distance).or_default() += 1.0;
                }
                for (source, distance) in distances.iter().enumerate() {
                    let share = pooled * if self.normalise { 1.0 / counts[distance] } else { 1.0 };
                    for (index, term, rule) in &terms_of_source[receiver.first + source] {
                        if !self.includes(*rule, *distance) || self.is_own_edge(*rule, *distance) {
                            continue;
                        }
                        let rho = (rho.entry((lens, *index, *distance)))
                            .or_insert_with(|| self.rho_by(lens, *index, *distance));
                        let part = rule.map_or(0, |feature| feature + 1);
                        for (output, answer) in sums[receiver.item][part].iter_mut().enumerate() {
                            let part = gain * share * rho[output] * term[output];
                            answer.value += part;
                            answer.magnitude += part.abs();
                        }
                    }
                }
            }
        }
        sums.iter().map(|parts| self.read_out(parts)).collect()
    }

    /// `b0` and the sums of every part: as they are, or what the readout functions make of them.
    fn read_out(&self, parts: &[Vec<Answer>]) -> Vec<Answer> {
        let start = |bias: &f64| Answer { value: *bias, magnitude: bias.abs() };
        let mut outputs: Vec<Answer> = self.output_bias().iter().map(start).collect();
        for (part, sums) in parts.iter().enumerate() {
            let (values, sizes): (Vec<f64>, Vec<f64>) = match self.readout_parts.is_empty() {
                true => sums.iter().map(|sum| (sum.value, sum.magnitude)).unzip(),
                false => {
                    let at = |input: f64| self.network(&self.readout_parts, part, input, None);
                    // An error of the input grows with the slope.
                    let (below, above) = (at(sums[0].value - 0.01), at(sums[0].value + 0.01));
                    let slopes = below.iter().zip(above).map(|(below, above)| (above - below).abs() / 0.02);
                    let values = at(sums[0].value);
                    let size = |(value, slope): (&f64, f64)| value.abs() + slope * sums[0].magnitude.max(1.0);
                    let sizes = values.iter().zip(slopes).map(size).collect();
                    (values, sizes)
                }
            };
            for ((answer, value), size) in outputs.iter_mut().zip(values).zip(sizes) {
                answer.value += value;
                answer.magnitude += size;
            }
        }
        outputs
    }

    /// The outputs of all items.
    pub fn outputs(&self, case: &Case) -> Vec<Vec<Answer>> {
        self.outputs_of(case, &case.receivers_by(&self.lenses), 1.0)
    }
}

/// How wrong outputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// One logit per target.
    Logistic,
    /// One logit per class.
    CrossEntropy,
    /// Squared error.
    Squared,
    /// Absolute error.
    Absolute,
}

/// What outputs should be: per item a class or a number per target (`None`: unknown), and weights.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// `[items][targets]`.
    pub targets: Vec<Vec<Option<f64>>>,
    /// One per item.
    pub item_weights: Vec<f64>,
    /// One per class; empty: 1.
    pub class_weights: Vec<f64>,
}

/// The mean loss over the known targets of the given items, weighted.
pub fn loss(kind: LossKind, outputs: &[Vec<Answer>], wanted: &Wanted) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (item, targets) in wanted.targets.iter().enumerate() {
        let outputs: Vec<f64> = outputs[item].iter().map(|answer| answer.value).collect();
        for (at, target) in targets.iter().enumerate() {
            let Some(target) = *target else { continue };
            let class_weight = wanted.class_weights.get(target as usize).copied().unwrap_or(1.0);
            let weight = wanted.item_weights[item] * class_weight;
            let one = match kind {
                LossKind::Logistic => {
                    // -log(sigmoid(y)) or -log(1 - sigmoid(y))
                    let against = if target == 1.0 { -outputs[at] } else { outputs[at] };
                    (1.0 + against.exp()).ln()
                }
                LossKind::CrossEntropy => {
                    let total: f64 = outputs.iter().map(|y| y.exp()).sum();
                    total.ln() - outputs[target as usize]
                }
                LossKind::Squared => (outputs[at] - target) * (outputs[at] - target),
                LossKind::Absolute => (outputs[at] - target).abs(),
            };
            sum += weight * one;
            total += weight;
        }
    }
    sum / total
}

/// The largest deviation of `found` (`[items, outputs]`), relative to the magnitude of each output.
pub fn deviation(found: &[f32], expected: &[Vec<Answer>]) -> f64 {
    assert_eq!(found.len(), expected.iter().map(Vec::len).sum::<usize>());
    let pairs = found.iter().zip(expected.iter().flatten());
    let one =
        |(found, expected): (&f32, &Answer)| (f64::from(*found) - expected.value).abs() / expected.magnitude.max(1.0);
    // A NaN must not be lost in a maximum.
    pairs.map(one).fold(0.0, |largest, one| if one.is_nan() { f64::INFINITY } else { f64::max(largest, one) })
}
