//! The node sets: one graph each, whose nodes are predicted.

use gnan::files::Task;

use super::{Entry, PublishedCounts, node_files, paper};

/// Cora.
pub(super) const CORA: Entry = Entry {
    name: "cora",
    title: "Cora",
    aliases: &[],
    task: Task::Node,
    description: "Machine-learning papers and citations; the words of a paper predict its field",
    origin: "github.com/kimiyoung/planetoid",
    licence: "MIT",
    citation: "Yang, Cohen, Salakhutdinov: Revisiting semi-supervised learning with graph embeddings. ICML 2016",
    statistics: PublishedCounts { graphs: 1, nodes: 2_708, features: 1_433, classes: 7 },
    files: node_files::CORA_FILES,
    open: "planetoid/ind.cora",
    places: &["planetoid/ind.cora", "ind.cora", "planetoid/cora.npz", "cora.npz"],
    split_places: &[],
    protocol: "public split, largest component, 5 runs, options tuned on Cora itself",
    paper: paper::CORA,
};

/// Citeseer.
pub(super) const CITESEER: Entry = Entry {
    name: "citeseer",
    title: "Citeseer",
    aliases: &[],
    task: Task::Node,
    description: "Computer-science papers and citations; the words of a paper predict its field",
    origin: "github.com/kimiyoung/planetoid",
    licence: "MIT",
    citation: "Yang, Cohen, Salakhutdinov: Revisiting semi-supervised learning with graph embeddings. ICML 2016",
    statistics: PublishedCounts { graphs: 1, nodes: 3_327, features: 3_703, classes: 6 },
    files: node_files::CITESEER_FILES,
    open: "planetoid/ind.citeseer",
    places: &["planetoid/ind.citeseer", "ind.citeseer", "planetoid/citeseer.npz", "citeseer.npz"],
    split_places: &[],
    protocol: "public split, largest component, 5 runs, Cora's options",
    paper: paper::CITESEER,
};

/// PubMed.
pub(super) const PUBMED: Entry = Entry {
    name: "pubmed",
    title: "PubMed",
    aliases: &[],
    task: Task::Node,
    description: "Papers on diabetes and citations; the words of a paper predict the type of diabetes",
    origin: "github.com/kimiyoung/planetoid",
    licence: "MIT",
    citation: "Yang, Cohen, Salakhutdinov: Revisiting semi-supervised learning with graph embeddings. ICML 2016",
    statistics: PublishedCounts { graphs: 1, nodes: 19_717, features: 500, classes: 3 },
    files: node_files::PUBMED_FILES,
    open: "planetoid/ind.pubmed",
    places: &["planetoid/ind.pubmed", "ind.pubmed", "planetoid/pubmed.npz", "pubmed.npz"],
    split_places: &[],
    protocol: "public split, 5 runs, Cora's options",
    paper: paper::PUBMED,
};

/// ogbn-arxiv.
pub(super) const ARXIV: Entry = Entry {
    name: "ogbn-arxiv",
    title: "ogbn-arxiv",
    aliases: &["arxiv", "ogb-arxiv", "ogbn_arxiv"],
    task: Task::Node,
    description: "Computer-science papers on arXiv and citations; averaged word embeddings predict the subject area",
    origin: "Open Graph Benchmark, snap.stanford.edu",
    licence: "ODC-BY 1.0",
    citation: "Hu et al.: Open graph benchmark: datasets for machine learning on graphs. NeurIPS 2020",
    statistics: PublishedCounts { graphs: 1, nodes: 169_343, features: 128, classes: 40 },
    files: node_files::ARXIV_FILES,
    open: "ogb/arxiv",
    places: &["ogb/arxiv", "ogb/ogbn_arxiv", "ogbn_arxiv", "arxiv"],
    split_places: &[],
    protocol: "OGB's split by year, 10 runs",
    paper: paper::ARXIV,
};

/// Cornell.
pub(super) const CORNELL: Entry = Entry {
    name: "cornell",
    title: "Cornell",
    aliases: &[],
    task: Task::Node,
    description: "Web pages of a computer-science department and links; the words of a page predict its kind",
    origin: "WebKB as prepared by github.com/graphdml-uiuc-jlu/geom-gcn, corrected files",
    licence: "CC0 1.0; splits not stated",
    citation: "Pei et al.: Geom-GCN: geometric graph convolutional networks. ICLR 2020",
    statistics: PublishedCounts { graphs: 1, nodes: 183, features: 1_703, classes: 5 },
    files: node_files::CORNELL_FILES,
    open: "geom/cornell",
    places: &["geom/cornell", "cornell"],
    split_places: &[],
    protocol: "ten given splits (60/20/20), options chosen on validation data",
    paper: paper::CORNELL,
};

/// Tolokers.
pub(super) const TOLOKERS: Entry = Entry {
    name: "tolokers",
    title: "Tolokers",
    aliases: &[],
    task: Task::Node,
    description: "Workers of a crowdsourcing platform who shared a task; profiles and results predict who was banned",
    origin: "github.com/yandex-research/heterophilous-graphs",
    licence: "CC BY 4.0",
    citation: "Platonov et al.: A critical look at the evaluation of GNNs under heterophily. ICLR 2023",
    statistics: PublishedCounts { graphs: 1, nodes: 11_758, features: 10, classes: 2 },
    files: node_files::TOLOKERS_FILES,
    open: "heterophilous/tolokers.npz",
    places: &["heterophilous/tolokers.npz", "tolokers.npz"],
    split_places: &[],
    protocol: "ten given splits (50/25/25), ROC-AUC",
    paper: paper::TOLOKERS,
};
