//! The graph sets: many small graphs, each of which is predicted.

use gnan::files::Task;

use super::{Entry, PublishedCounts, RemoteFile, paper};

/// QM9.
pub(super) const QM9: Entry = Entry {
    name: "qm9",
    title: "QM9",
    aliases: &[],
    task: Task::Graph,
    description: "Small organic molecules with computed properties; the public table also holds the 3,054 molecules that the paper leaves out",
    origin: "MoleculeNet (DeepChem), deepchemdata.s3-us-west-1.amazonaws.com",
    licence: "not stated by the table",
    citation: "Ramakrishnan et al.: Quantum chemistry structures and properties of 134 kilo molecules. Sci. Data 1, 140022 (2014)",
    statistics: PublishedCounts { graphs: 130_831, nodes: 2_359_210, features: 11, classes: 0 },
    files: QM9_FILES,
    open: "qm9/qm9.csv",
    places: &["qm9/qm9_graphs.npz", "qm9/qm9.csv", "qm9/qm9.csv.gz", "qm9.csv", "qm9.csv.gz"],
    split_places: &[],
    protocol: "seeded 80/10/10 split, one model for each of mu, alpha and homo, mean absolute error",
    paper: paper::QM9,
};

const QM9_FILES: &[RemoteFile] = &[RemoteFile {
    path: "qm9/qm9.csv",
    url: "https://deepchemdata.s3-us-west-1.amazonaws.com/datasets/qm9.csv",
    bytes: 30_000_000,
    sha256: None,
    members: &[],
}];

/// PROTEINS.
pub(super) const PROTEINS: Entry = Entry {
    name: "proteins",
    title: "PROTEINS",
    aliases: &[],
    task: Task::Graph,
    description: "Proteins as graphs of secondary-structure elements; enzymes or not",
    origin: "TUDataset, copy in github.com/bknyaz/graph_nn",
    licence: "not stated; splits GPL-3.0",
    citation: "Morris et al.: TUDataset: a collection of benchmark datasets for learning with graphs. 2020",
    statistics: PublishedCounts { graphs: 1_113, nodes: 43_471, features: 4, classes: 2 },
    files: PROTEINS_FILES,
    open: "tu/PROTEINS.zip",
    places: &["tu/PROTEINS.zip", "tu/PROTEINS", "PROTEINS.zip", "PROTEINS"],
    split_places: &["splits/PROTEINS_full_splits.json", "PROTEINS_full_splits.json"],
    protocol: "10 outer folds of Errica et al. with their inner hold-out, 3 seeds each",
    paper: paper::PROTEINS,
};

const PROTEINS_FILES: &[RemoteFile] = &[
    RemoteFile {
        path: "tu/PROTEINS.zip",
        url: "https://raw.githubusercontent.com/bknyaz/graph_nn/42424688d23f34f6b6e9b4c110f3381c02198312/data/PROTEINS.zip",
        bytes: 457_780,
        sha256: Some("fe9d19741637486ea1fd285bf669fce0b117e10b03cdd379f6a5e6197fc830ae"),
        members: &[],
    },
    RemoteFile {
        path: "splits/PROTEINS_full_splits.json",
        url: "https://raw.githubusercontent.com/diningphil/gnn-comparison/097d0a2c172149075e40ece474c30c222526dbcb/data_splits/CHEMICAL/PROTEINS_full_splits.json",
        bytes: 56_300,
        sha256: Some("785c4225474a5467427b704e424602e6a4b88ebd3463cf152d3ec82d2422cd6a"),
        members: &[],
    },
];

/// Mutagenicity.
pub(super) const MUTAGENICITY: Entry = Entry {
    name: "mutagenicity",
    title: "Mutagenicity",
    aliases: &["mutagen"],
    task: Task::Graph,
    description: "Drug-like molecules; mutagens or not",
    origin: "TUDataset, copy in github.com/zaidishz/GNN_XAI_Captum",
    licence: "not stated",
    citation: "Morris et al.: TUDataset: a collection of benchmark datasets for learning with graphs. 2020",
    statistics: PublishedCounts { graphs: 4_337, nodes: 131_488, features: 14, classes: 2 },
    files: MUTAGENICITY_FILES,
    open: "tu/Mutagenicity.zip",
    places: &["tu/Mutagenicity.zip", "tu/Mutagenicity", "Mutagenicity.zip", "Mutagenicity"],
    split_places: &[],
    protocol: "10 contiguous folds, nested cross-validation",
    paper: paper::MUTAGENICITY,
};

const MUTAGENICITY_FILES: &[RemoteFile] = &[RemoteFile {
    path: "tu/Mutagenicity.zip",
    url: "https://raw.githubusercontent.com/zaidishz/GNN_XAI_Captum/268f25bbc8c533e71f1c3b64059520ee828cb41b/data/Mutagenicity.zip",
    bytes: 679_429,
    sha256: Some("b7728a0e1fd021b8ebfb9ad243ece666fa5e2935f362de83518cd6613d566f7b"),
    members: &[],
}];

/// PTC.
pub(super) const PTC: Entry = Entry {
    name: "ptc",
    title: "PTC",
    aliases: &["ptc_mr", "ptc-mr"],
    task: Task::Graph,
    description: "Molecules; carcinogenic for male rats or not",
    origin: "TUDataset, copy in github.com/bknyaz/graph_nn",
    licence: "not stated",
    citation: "Morris et al.: TUDataset: a collection of benchmark datasets for learning with graphs. 2020",
    statistics: PublishedCounts { graphs: 344, nodes: 4_915, features: 18, classes: 2 },
    files: PTC_FILES,
    open: "tu/PTC_MR.zip",
    places: &["tu/PTC_MR.zip", "tu/PTC_MR", "PTC_MR.zip", "PTC_MR"],
    split_places: &[],
    protocol: "10 contiguous folds, nested cross-validation",
    paper: paper::PTC,
};

const PTC_FILES: &[RemoteFile] = &[RemoteFile {
    path: "tu/PTC_MR.zip",
    url: "https://raw.githubusercontent.com/bknyaz/graph_nn/42424688d23f34f6b6e9b4c110f3381c02198312/data/PTC_MR.zip",
    bytes: 34_185,
    sha256: Some("2f935126a9ec684e13ed9ff5ea389f62c4c70f41dcedb3e1114c0b0947103200"),
    members: &[],
}];

/// NCI1.
pub(super) const NCI1: Entry = Entry {
    name: "nci1",
    title: "NCI1",
    aliases: &["nci"],
    task: Task::Graph,
    description: "Molecules screened against lung-cancer cells; active or not",
    origin: "TUDataset, copy in github.com/xujing1994/Explanability_bkd_gnn",
    licence: "not stated; splits GPL-3.0",
    citation: "Morris et al.: TUDataset: a collection of benchmark datasets for learning with graphs. 2020",
    statistics: PublishedCounts { graphs: 4_110, nodes: 122_747, features: 37, classes: 2 },
    files: NCI1_FILES,
    open: "tu/NCI1.zip",
    places: &["tu/NCI1.zip", "tu/NCI1", "NCI1.zip", "NCI1"],
    split_places: &["splits/NCI1_splits.json", "NCI1_splits.json"],
    protocol: "10 outer folds of Errica et al. with their inner hold-out, 3 seeds each",
    paper: paper::NCI1,
};

const NCI1_FILES: &[RemoteFile] = &[
    RemoteFile {
        path: "tu/NCI1.zip",
        url: "https://raw.githubusercontent.com/xujing1994/Explanability_bkd_gnn/HEAD/data/NCI1.zip",
        bytes: 803_036,
        sha256: Some("10e1458f3bd9224f14e6d7627e74dcfd13e48d376d73935e7bd2900590ef1d82"),
        members: &[],
    },
    RemoteFile {
        path: "splits/NCI1_splits.json",
        url: "https://raw.githubusercontent.com/diningphil/gnn-comparison/097d0a2c172149075e40ece474c30c222526dbcb/data_splits/CHEMICAL/NCI1_splits.json",
        bytes: 236_120,
        sha256: Some("1c961b85422fb557edade036f614869bb996323efd21dbfa4b40ff1b80304924"),
        members: &[],
    },
];
