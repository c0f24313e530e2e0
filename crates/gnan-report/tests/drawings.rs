//! Drawings of graphs: the same graph has the same places, nothing covers anything, and nothing is refused.

use gnan::Graph;
use gnan::files::{Molecule, Tables};
use gnan::{Dataset, DatasetOptions};
use gnan_report::drawing::{self, DrawingLabels, NodeNumbers};
use gnan_report::figure::FigureContent;
use gnan_report::figure::graph::{Edge, GraphFigure, Label, Node, NodeRole};
use gnan_report::placement::{MOST_NODES, Point, molecule, rings, stress};

const SMILES: [&str; 12] = [
    "CCO",
    "C",
    "[Na+].[Cl-]",
    "CC(=O)Oc1ccccc1C(=O)O",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "O=[N+]([O-])c1ccc2c(c1)Cc1cc(ccc1-2)N",
    "CC12CCC3C(CCC4=CC(=O)CCC34C)C1CCC2O",
    "C1CC2CCC1CC2",
    "C12C3C4C1C5C2C3C45",
    "N#CC#CC#N",
    "CC(C)(C)C(C(C)(C)C)(C(C)(C)C)C(C)(C)C",
    "c1ccc2ccccc2c1.O.O.CC",
];

fn closest(places: &[Point]) -> f64 {
    let mut closest = f64::INFINITY;
    for (row, one) in places.iter().enumerate() {
        for other in &places[row + 1..] {
            closest = closest.min((one[0] - other[0]).hypot(one[1] - other[1]));
        }
    }
    closest
}

fn is_finite(places: &[Point]) -> bool {
    places.iter().flatten().all(|x| x.is_finite())
}

fn path(nodes: u32) -> Graph {
    Graph::new(nodes as usize, (1..nodes).map(|node| [node - 1, node]), false)
}

fn sample_graphs() -> Vec<Graph> {
    let star = Graph::new(40, (1..40u32).map(|node| [0, node]), false);
    let tree = Graph::new(400, (1..400u32).map(|node| [node, (node - 1) / 3]), false);
    let complete = Graph::new(12, (0..12u32).flat_map(|one| (0..one).map(move |other| [one, other])), false);
    let twins = Graph::new(12, (2..12u32).flat_map(|node| [[0, node], [1, node]]), false);
    let apart = Graph::new(30, (0..30u32).filter(|node| node % 5 < 3).map(|node| [node, node + 1]), false);
    let isolated = Graph::new(25, [].into_iter(), false);
    let empty = Graph::new(0, [].into_iter(), false);
    vec![empty, path(1), path(2), path(3), path(300), star, tree, complete, twins, apart, isolated]
}

#[test]
fn the_general_layout_is_deterministic_and_keeps_nodes_apart() {
    for graph in sample_graphs() {
        let places = stress::stress(&graph);
        assert_eq!(places, stress::stress(&graph));
        assert_eq!(places.len(), graph.len());
        assert!(is_finite(&places) && closest(&places) > 0.2, "{} nodes: {}", graph.len(), closest(&places));
    }
}

#[test]
fn whatever_the_numbering_no_two_nodes_share_a_place() {
    for graph in sample_graphs().into_iter().filter(|graph| graph.len() > 2) {
        let nodes = graph.len() as u32;
        let step = [7, 11, 13].into_iter().find(|prime| !nodes.is_multiple_of(*prime)).unwrap();
        let renumber = |node: u32| (node * step + 3) % nodes;
        let edges = (0..nodes).flat_map(|node| graph.successors(node as usize).iter().map(move |&next| [node, next]));
        let other = Graph::new(graph.len(), edges.map(|edge| edge.map(renumber)), false);
        let places = stress::stress(&other);
        assert!(is_finite(&places) && closest(&places) > 0.2, "{nodes} nodes: {}", closest(&places));
    }
}

#[test]
fn a_path_is_long_and_a_triangle_even() {
    let places = stress::stress(&path(20));
    let length = places.iter().map(|place| place[0]).fold(f64::NEG_INFINITY, f64::max)
        - places.iter().map(|place| place[0]).fold(f64::INFINITY, f64::min);
    assert!((length - 19.0).abs() < 1.5, "{length}");
    let triangle = stress::stress(&Graph::new(3, [[0, 1], [1, 2], [2, 0]].into_iter(), false));
    assert!((closest(&triangle) - 1.0).abs() < 0.05);
}

#[test]
fn molecules_have_bonds_of_one_length_and_atoms_apart() {
    for smiles in SMILES {
        for molecule in [Molecule::parse(smiles).unwrap(), Molecule::parse(smiles).unwrap().with_hydrogens()] {
            let depiction = molecule::depict(&molecule);
            assert_eq!(depiction, molecule::depict(&molecule));
            assert_eq!((depiction.places.len(), depiction.orders.len()), (molecule.atoms.len(), molecule.bonds.len()));
            assert!(is_finite(&depiction.places) && closest(&depiction.places) > 0.15, "{smiles}");
            for bond in &molecule.bonds {
                let [one, other] = bond.atoms.map(|atom| depiction.places[atom as usize]);
                let length = (one[0] - other[0]).hypot(one[1] - other[1]);
                assert!((0.3..2.5).contains(&length), "{smiles}: {length}");
            }
        }
    }
}

#[test]
fn aromatic_rings_get_alternating_bonds() {
    use gnan::files::BondOrder::{Double, Single};
    let benzene = molecule::depict(&Molecule::parse("c1ccccc1").unwrap());
    assert_eq!(benzene.orders.iter().filter(|order| **order == Double).count(), 3);
    assert_eq!(benzene.orders.iter().filter(|order| **order == Single).count(), 3);
    // The nitrogen of pyrrole keeps its hydrogen and has no double bond.
    let pyrrole = Molecule::parse("c1cc[nH]c1").unwrap();
    let orders = molecule::depict(&pyrrole).orders;
    let at_nitrogen = pyrrole.bonds.iter().zip(orders).filter(|(bond, _)| bond.atoms.contains(&3));
    assert!(at_nitrogen.into_iter().all(|(_, order)| order == Single));
}

#[test]
fn rings_keep_distances_as_radii_and_paths_whole() {
    let grid = Graph::new(
        900,
        (0..900u32).filter(|n| n % 30 < 29).map(|n| [n, n + 1]).chain((0..870).map(|n| [n, n + 30])),
        false,
    );
    let contributions: Vec<f64> = (0..900).map(|node| (node as f64).sin()).collect();
    let arranged = rings::rings(&grid, 435, &contributions);
    assert_eq!(arranged, rings::rings(&grid, 435, &contributions));
    assert_eq!((arranged.nodes[0], arranged.places[0]), (435, [0.0, 0.0]));
    assert!(arranged.nodes.len() <= rings::MOST_SOURCES);
    assert_eq!(arranged.nodes.len() + arranged.left_out.len(), 900);
    for (place, distance) in arranged.places.iter().zip(&arranged.distances).skip(1) {
        assert!((place[0].hypot(place[1]) - arranged.radii[*distance as usize - 1]).abs() < 1e-9);
    }
    let steps: Vec<f64> = arranged.radii.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|step| (step - 1.0).abs() < 1e-9));
    for (node, parent) in arranged.parents.iter().enumerate().skip(1) {
        let parent = parent.expect("every source has a next node");
        assert_eq!(arranged.distances[parent] + 1, arranged.distances[node]);
        let joined = grid.successors(arranged.nodes[node]).contains(&(arranged.nodes[parent] as u32));
        assert!(joined && closest(&arranged.places) > 0.05);
    }
}

#[test]
fn rings_follow_the_direction_of_edges_and_count_the_unreachable() {
    let graph = Graph::new(5, [[1, 0], [2, 1], [0, 3]].into_iter(), true);
    let arranged = rings::rings(&graph, 0, &[f64::NAN; 5]);
    assert_eq!((arranged.nodes.as_slice(), arranged.distances.as_slice()), (&[0, 1, 2][..], &[0, 1, 2][..]));
    assert_eq!(arranged.unreachable, [3, 4]);
    let hub = Graph::new(2_001, (1..=2_000u32).map(|node| [node, 0]), false);
    let arranged = rings::rings(&hub, 0, &[]);
    assert_eq!((arranged.nodes.len(), arranged.left_out.len()), (rings::MOST_SOURCES, 2_001 - rings::MOST_SOURCES));
    assert!(closest(&arranged.places) > 0.3);
    assert!(rings::rings(&hub, 9_999, &[]).nodes.is_empty());
}

/// Every picture of it is well formed.
fn is_drawn(figure: &GraphFigure) {
    for width in [0.0, 300.0, 640.0, f64::NAN] {
        let scene = figure.scene(width);
        assert!(scene.width.is_finite() && scene.height.is_finite() && scene.height < 5_000.0);
        let svg = scene.svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("<b>"));
    }
}

#[test]
fn hostile_figures_are_drawn() {
    let node = |place: Point, contribution: f64| Node {
        place,
        label: Label::Words("<b>\n".repeat(50)),
        contribution,
        tooltip: "</svg>\u{202e}<b>".into(),
        weak: vec!["<b>".into()],
    };
    let edge = |one: usize, other: usize| Edge {
        nodes: [one, other],
        order: gnan::files::BondOrder::Triple,
        directed: true,
        faint: false,
    };
    let values = [f64::NAN, f64::INFINITY, -1e300, 1e-300, 0.0, 1.0];
    let nodes = values.iter().map(|&value| node([value, 0.0], value)).collect();
    for molecule in [false, true] {
        let figure = GraphFigure {
            title: "<b>".into(),
            molecule,
            nodes: if molecule { vec![node([0.0; 2], 1.0); 3] } else { Vec::clone(&nodes) },
            edges: vec![edge(0, 0), edge(0, 1), edge(1, 99), edge(usize::MAX, 2)],
            notes: vec!["<b>".into()],
            ..GraphFigure::default()
        };
        is_drawn(&figure);
    }
    is_drawn(&GraphFigure::default());
}

/// Left and right of the words of a legend and of its marks, by the line that they stand on.
#[test]
fn words_of_a_legend_end_before_the_next_mark() {
    let node = |x: f64, contribution: f64| Node {
        place: [x, 0.0],
        label: Label::Words(String::new()),
        contribution,
        tooltip: "n".into(),
        weak: vec!["colour: teal".into()],
    };
    let figure = GraphFigure {
        title: "Paper 7".into(),
        output: "logit of Probabilistic Methods, above the mean of the classes".into(),
        unit: "centred logit".into(),
        nodes: vec![node(0.0, 2.5), node(1.0, -1.5)],
        ..GraphFigure::default()
    };
    for width in [360.0, 400.0, 760.0, 860.0, 1100.0] {
        let svg = figure.scene(width).svg();
        let document = resvg::usvg::roxmltree::Document::parse(&svg).unwrap();
        let number = |node: resvg::usvg::roxmltree::Node<'_, '_>, name: &str| -> f64 {
            node.attribute(name).and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
        };
        let texts = document.descendants().filter(|node| node.has_tag_name("text"));
        let words: Vec<[f64; 3]> = texts
            .filter(|node| node.attribute("textLength").is_some() && number(*node, "font-size") == 12.0)
            .map(|node| [number(node, "x"), number(node, "x") + number(node, "textLength"), number(node, "y")])
            .collect();
        assert!(words.len() >= 3, "{width}: {words:?}");
        let marks = document.descendants().filter(|node| node.has_tag_name("circle"));
        let marks: Vec<[f64; 3]> = marks
            .map(|node| (number(node, "cx"), number(node, "r"), number(node, "cy")))
            .map(|(x, radius, y)| [x - radius, x + radius, y])
            .collect();
        for [from, to, y] in &words {
            assert!(*to <= width, "{width}: {from} to {to}");
            let apart = |other: &[f64; 3]| (other[2] - y).abs() > 8.0 || other[1] <= *from || other[0] >= *to;
            assert!(marks.iter().all(apart), "{width}: {from} to {to} at {y}: {marks:?}");
        }
    }
}

fn dataset(nodes: usize, edges: Vec<[u32; 2]>, directed: bool) -> Dataset {
    let tables =
        Tables { graph_ids: vec!["g".into()], node_offsets: vec![0, nodes], edges, directed, ..Tables::default() };
    Dataset::from_tables(tables, &DatasetOptions { targets_optional: true, ..DatasetOptions::default() }).unwrap()
}

#[test]
fn graphs_of_every_size_are_drawn_and_the_rest_is_counted() {
    let labels =
        || DrawingLabels { title: "t".into(), output: "y".into(), unit: "mol".into(), role: NodeRole::Receiver };
    for nodes in [1, 2, 3, MOST_NODES, MOST_NODES + 1, 5_000] {
        for directed in [false, true] {
            let data = dataset(nodes, (1..nodes as u32).map(|node| [node - 1, node]).collect(), directed);
            let mut contributions = vec![0.5; nodes];
            contributions[0] = f64::NAN;
            let figure = drawing::graph(&data, 0, contributions.as_slice().into(), labels());
            assert_eq!(figure.nodes.len(), nodes.min(MOST_NODES));
            assert_eq!(figure.notes.len(), usize::from(nodes > MOST_NODES));
            is_drawn(&figure);
            is_drawn(&drawing::graph(&data, 0, NodeNumbers::default(), labels()));
            is_drawn(&drawing::neighbourhood(&data, nodes / 2, contributions.as_slice().into(), labels()));
        }
    }
    let large = dataset(5_000, (1..5_000).map(|node| [node - 1, node]).collect(), false);
    let figure = drawing::neighbourhood(&large, 0, [1.0; 5_000].as_slice().into(), labels());
    assert_eq!(figure.notes, ["Not drawn: 4,993 nodes that are farther away or contribute less, together +4993 mol."]);
}

#[test]
fn molecules_of_a_data_set_are_drawn_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set.csv");
    std::fs::write(&path, "smiles,y\nCC(=O)[O-].[Na+],1\nc1ccccc1,0\n").unwrap();
    let data = Dataset::open(&path).unwrap();
    let figure = drawing::graph(&data, 0, [0.1, -0.2, 0.3, 0.0, f64::NAN].as_slice().into(), DrawingLabels::default());
    assert!(figure.molecule && figure.nodes.len() == 5 && figure.edges.len() == 3);
    assert_eq!(figure.nodes[3].label, Label::Atom { element: "O".into(), hydrogens: 0, charge: -1 });
    assert_eq!(figure.nodes[3].tooltip, "O4");
    is_drawn(&figure);
}
