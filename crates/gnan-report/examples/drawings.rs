//! Draws graphs of every kind with made-up contributions into a folder: molecules, real graphs (with GNAN_DATA set to
//! the folder of public data sets), a graph of 400 nodes, the neighbourhood of a paper.
//!
//! `cargo run -p gnan-report --example drawings -- FOLDER [NAME...]`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use gnan::Graph;
use gnan::files::{Molecule, ReadOptions};
use gnan::{Dataset, DatasetOptions};
use gnan_report::drawing::{self, DrawingLabels};
use gnan_report::figure::FigureContent;
use gnan_report::figure::graph::{GraphFigure, NodeRole};

type Outcome = Result<(), Box<dyn Error>>;

const MOLECULES: [(&str, &str); 10] = [
    ("aspirin", "CC(=O)Oc1ccccc1C(=O)O"),
    ("caffeine", "Cn1cnc2c1c(=O)n(C)c(=O)n2C"),
    ("nitro", "O=[N+]([O-])c1ccc2c(c1)Cc1cc(ccc1-2)N"),
    ("testosterone", "CC12CCC3C(CCC4=CC(=O)CCC34C)C1CCC2O"),
    ("salt", "CC(=O)[O-].[Na+]"),
    ("penicillin-salt", "CC1(C)SC2C(NC(=O)Cc3ccccc3)C(=O)N2C1C(=O)[O-].[K+]"),
    ("ethanol", "CCO"),
    ("methane", "C"),
    (
        "taxol",
        "CC1=C2C(C(=O)C3(C(CC4C(C3C(C(C2(C)C)(CC1OC(=O)C(C(C5=CC=CC=C5)NC(=O)C6=CC=CC=C6)O)O)OC(=O)C7=CC=CC=C7)(CO4)OC(=O)C)O)C)OC(=O)C",
    ),
    ("adamantane-azide", "N#[N+][N-]C12CC3CC(C1)CC(C3)C2C#N"),
];

struct Drawings {
    folder: PathBuf,
    requested: Vec<String>,
}

impl Drawings {
    fn is_requested(&self, name: &str) -> bool {
        self.requested.is_empty() || self.requested.iter().any(|part| name.contains(part.as_str()))
    }

    fn add(&self, name: &str, figure: GraphFigure, started: Instant) -> Outcome {
        let scene = figure.scene(640.0);
        let elapsed = started.elapsed();
        std::fs::write(self.folder.join(format!("{name}.png")), scene.png(1.5)?)?;
        std::fs::write(self.folder.join(format!("{name}.svg")), scene.svg())?;
        println!("{name}: {} nodes, {} edges, {elapsed:.1?}", figure.nodes.len(), figure.edges.len());
        Ok(())
    }
}

fn labels(title: &str, role: NodeRole) -> DrawingLabels {
    DrawingLabels { title: title.into(), output: "log-odds of mutagenic".into(), unit: "log-odds".into(), role }
}

/// Contributions that change smoothly and have both signs.
fn made_up(nodes: usize) -> Vec<f64> {
    (0..nodes).map(|node| (0.9 * node as f64 + 0.5).sin() * (0.2 + (0.37 * node as f64).cos().abs())).collect()
}

fn molecules(drawings: &Drawings) -> Outcome {
    for (name, smiles) in MOLECULES.iter().filter(|(name, _)| drawings.is_requested(name)) {
        let started = Instant::now();
        let molecule = Molecule::parse(smiles)?;
        let mut figure =
            drawing::of_molecule(&molecule, made_up(molecule.atoms.len()).as_slice().into(), |atom| atom.to_string());
        let DrawingLabels { title, output, unit, role } = labels(name, NodeRole::Receiver);
        figure = GraphFigure { title, output, unit, role, ..figure };
        drawings.add(name, figure, started)?;
    }
    Ok(())
}

fn real_graphs(drawings: &Drawings, folder: &Path, set: &str, graphs: &[usize]) -> Outcome {
    if !drawings.is_requested(set) {
        return Ok(());
    }
    let data = Dataset::open(folder.join("tu").join(format!("{set}.zip")))?;
    for &graph in graphs {
        let started = Instant::now();
        let contributions = made_up(data.nodes_of(graph).len());
        let title = format!("{set}, graph {}", data.graph_id(graph));
        let figure = drawing::graph(&data, graph, contributions.as_slice().into(), labels(&title, NodeRole::Source));
        drawings.add(&format!("{set}-{graph}"), figure, started)?;
    }
    Ok(())
}

fn neighbourhoods(drawings: &Drawings, folder: &Path) -> Outcome {
    if !drawings.is_requested("cora") {
        return Ok(());
    }
    let read = ReadOptions { largest_component: true, ..gnan_paper::read_options() };
    let options = DatasetOptions { read, ..DatasetOptions::default() };
    let data = Dataset::open_with(folder.join("planetoid/cora.npz"), &options)?;
    for receiver in [0, 1, 1358, 2000] {
        let started = Instant::now();
        let nodes = data.nodes_of(0).len();
        let decay = |node: usize| 1.0 / (1.0 + (node as f64 - receiver as f64).abs().sqrt());
        let contributions: Vec<f64> = made_up(nodes).iter().enumerate().map(|(node, x)| x * decay(node)).collect();
        let title = format!("Cora, paper {}", data.node_id(receiver));
        let figure =
            drawing::neighbourhood(&data, receiver, contributions.as_slice().into(), labels(&title, NodeRole::Source));
        drawings.add(&format!("cora-{receiver}"), figure, started)?;
    }
    Ok(())
}

fn shapes(drawings: &Drawings) -> Outcome {
    let side = 20u32;
    let right = (0..side * side).filter(|node| node % side + 1 < side).map(|node| [node, node + 1]);
    let down = (0..side * (side - 1)).map(|node| [node, node + side]);
    let graphs = [
        ("grid-400", Graph::new(400, right.chain(down), false)),
        ("tree-400", Graph::new(400, (1..400u32).map(|node| [node, (node - 1) / 3]), false)),
        ("star-30", Graph::new(31, (1..31u32).map(|node| [0, node]), false)),
        ("directed-5", Graph::new(5, [[0, 1], [1, 2], [2, 0], [3, 2], [2, 3], [4, 3]].into_iter(), true)),
        ("triangle", Graph::new(3, [[0, 1], [1, 2], [2, 0]].into_iter(), false)),
        ("path-5000", Graph::new(5_000, (1..5_000u32).map(|node| [node - 1, node]), false)),
        ("fragments-60", Graph::new(60, (0..60u32).filter(|n| n % 7 < 5).map(|n| [n, (n + 1).min(59)]), false)),
    ];
    for (name, graph) in graphs.iter().filter(|(name, _)| drawings.is_requested(name)) {
        let started = Instant::now();
        let figure =
            drawing::of_graph(graph, made_up(graph.len()).as_slice().into(), |node| node.to_string(), "log-odds");
        let DrawingLabels { title, output, unit, role } = labels(name, NodeRole::Source);
        drawings.add(name, GraphFigure { title, output, unit, role, ..figure }, started)?;
    }
    Ok(())
}

fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "drawings".into()));
    std::fs::create_dir_all(&folder)?;
    let drawings = Drawings { folder, requested: arguments.collect() };
    molecules(&drawings)?;
    shapes(&drawings)?;
    match std::env::var_os("GNAN_DATA").map(PathBuf::from) {
        None => println!("set GNAN_DATA to draw real graphs too"),
        Some(data) => {
            real_graphs(&drawings, &data, "Mutagenicity", &[0, 2, 17, 41, 100, 4000])?;
            real_graphs(&drawings, &data, "PTC_MR", &[3, 40])?;
            real_graphs(&drawings, &data, "PROTEINS", &[0, 5, 100])?;
            neighbourhoods(&drawings, &data)?;
        }
    }
    Ok(())
}
