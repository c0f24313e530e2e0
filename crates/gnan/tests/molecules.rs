//! Which graphs are molecules, and what is known of their atoms and bonds.

use std::fs;
use std::path::Path;

use gnan::files::{BondOrder, Molecule, ReadOptions, Tables};
use gnan::{Dataset, DatasetOptions, Result};

const SMILES: &str = "name,smiles,y\nsalt,CC(=O)[O-].[Na+],1\nring,c1ccncc1O,0\nmethane,C,1\n";

const TU: [(&str, &str); 6] = [
    // Nodes 1, 2 and 5 are graph 1, nodes 3 and 4 graph 2; every edge is listed both ways.
    ("T_A.txt", "1, 2\n4, 3\n2, 1\n5, 2\n3, 4\n2, 5\n"),
    ("T_graph_indicator.txt", "1\n1\n2\n2\n1\n"),
    ("T_graph_labels.txt", "1\n0\n"),
    ("T_node_labels.txt", "0\n0\n1\n0\n2\n"),
    ("T_edge_labels.txt", "0\n2\n0\n1\n2\n1\n"),
    ("README.txt", "Node labels:\n\n  0  C\n  1  N\n  2  O\n\nEdge labels:\n\n  0  single\n  1  2\n  2  triple\n"),
];

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, content)| fs::write(folder.path().join(name), content).unwrap());
    folder
}

fn open(path: &Path, read: ReadOptions) -> Result<Dataset> {
    Dataset::open_with(path, &DatasetOptions { read, ..DatasetOptions::default() })
}

fn open_files(files: &[(&str, &str)]) -> Result<Dataset> {
    open(folder(files).path(), gnan_paper::read_options())
}

fn tu_with(name: &'static str, content: &'static str) -> Vec<(&'static str, &'static str)> {
    TU.into_iter().map(|file| if file.0 == name { (name, content) } else { file }).collect()
}

/// Atoms as symbols with charge and hydrogens, bonds as ends with an order.
fn described(molecule: &Molecule) -> (Vec<String>, Vec<([u32; 2], BondOrder)>) {
    let atoms = molecule.atoms.iter().map(|atom| format!("{}{}{:+}", atom.element, atom.hydrogens, atom.charge));
    (atoms.collect(), molecule.bonds.iter().map(|bond| (bond.atoms, bond.order)).collect())
}

#[test]
fn molecules_of_smiles_are_those_that_were_read() {
    let files = folder(&[("set.csv", SMILES)]);
    let path = files.path().join("set.csv");
    let data = open(&path, gnan_paper::read_options()).unwrap();
    for (graph, smiles) in ["CC(=O)[O-].[Na+]", "c1ccncc1O", "C"].into_iter().enumerate() {
        let read = Molecule::parse(smiles).unwrap();
        let found = data.molecule(graph).unwrap();
        assert_eq!((found.atoms, found.bonds), (read.atoms, read.bonds));
    }
    let hydrogens = open(&path, ReadOptions { explicit_hydrogens: true, ..gnan_paper::read_options() }).unwrap();
    let methane = hydrogens.molecule(2).unwrap();
    assert_eq!((methane.atoms.len(), methane.bonds.len(), methane.atoms[0].hydrogens), (5, 4, 0));
}

#[test]
fn bonds_stay_with_their_edges_when_fragments_are_dropped() {
    let files = folder(&[("set.csv", "smiles,y\n[Na+].CC(=O)[O-],1\nC.N.O=CC#N,0\n")]);
    let options = ReadOptions { largest_component: true, ..gnan_paper::read_options() };
    let data = open(&files.path().join("set.csv"), options).unwrap();
    let (atoms, bonds) = described(&data.molecule(0).unwrap());
    assert_eq!(atoms, ["C3+0", "C0+0", "O0+0", "O0-1"]);
    assert_eq!(bonds, [([0, 1], BondOrder::Single), ([1, 2], BondOrder::Double), ([1, 3], BondOrder::Single)]);
    let (_, bonds) = described(&data.molecule(1).unwrap());
    assert_eq!(bonds, [([0, 1], BondOrder::Double), ([1, 2], BondOrder::Single), ([2, 3], BondOrder::Triple)]);
}

#[test]
fn tu_labels_that_name_elements_and_bonds_make_molecules() {
    let data = open_files(&TU).unwrap();
    let (atoms, bonds) = described(&data.molecule(0).unwrap());
    assert_eq!(atoms, ["C0+0", "C0+0", "O0+0"]);
    assert_eq!(bonds, [([0, 1], BondOrder::Single), ([2, 1], BondOrder::Double)]);
    assert_eq!(described(&data.molecule(1).unwrap()).1, [([1, 0], BondOrder::Triple)]);
    assert!(
        data.notes()
            .iter()
            .any(|note| note.contains("T_edge_labels.txt is used for drawings and descriptions of nodes"))
    );
}

#[test]
fn bonds_without_names_have_no_order() {
    let readme = "Node labels:\n\n  0  C\n  1  N\n  2  O\n";
    let data = open_files(&tu_with("README.txt", readme)).unwrap();
    assert!(data.molecule(0).unwrap().bonds.iter().all(|bond| bond.order == BondOrder::Other));
    let one_unknown = open_files(&tu_with("T_edge_labels.txt", "0\n2\n0\n7\n2\n7\n")).unwrap();
    assert!(one_unknown.molecule(0).unwrap().bonds.iter().all(|bond| bond.order == BondOrder::Other));
    let message = open_files(&tu_with("T_edge_labels.txt", "0\n2\n")).unwrap_err().to_string();
    assert!(message.contains("2 lines for 6 edges"), "{message}");
}

#[test]
fn other_graphs_are_no_molecules() {
    let readme = "Node labels:\n\n  0  helix\n  1  N\n  2  O\n";
    assert!(open_files(&tu_with("README.txt", readme)).unwrap().molecule(0).is_none());
    // Elements without carbon or bonds may be anything.
    let readme = "Node labels:\n\n  0  I\n  1  V\n  2  W\n";
    assert!(open_files(&tu_with("README.txt", readme)).unwrap().molecule(0).is_none());
    assert!(open_files(&tu_with("T_node_labels.txt", "0\n0\n9\n0\n2\n")).unwrap().molecule(0).is_none());
    let directed = ReadOptions { directed: Some(true), ..gnan_paper::read_options() };
    assert!(open(folder(&TU).path(), directed).unwrap().molecule(0).is_none());
}

#[test]
fn orders_must_match_the_edges() {
    let tables = Tables {
        graph_ids: vec!["g".to_string()],
        node_offsets: vec![0, 2],
        edges: vec![[0, 1]],
        bonds: Some(vec![]),
        ..Tables::default()
    };
    let options = DatasetOptions { targets_optional: true, ..DatasetOptions::default() };
    let message = Dataset::from_tables(tables, &options).unwrap_err().to_string();
    assert!(message.contains("0 orders of bonds for 1 edges"), "{message}");
}
