//! The files of the node sets, with the checksums of the copies that their statistics were counted from.

use super::RemoteFile;

/// A file of Planetoid's, whose names follow one pattern.
macro_rules! planetoid {
    ($set:literal, $part:literal, $bytes:literal, $sha256:literal) => {
        RemoteFile {
            path: concat!("planetoid/ind.", $set, ".", $part),
            url: concat!("https://raw.githubusercontent.com/kimiyoung/planetoid/HEAD/data/ind.", $set, ".", $part),
            bytes: $bytes,
            sha256: Some($sha256),
            members: &[],
        }
    };
}

/// One of Cornell's ten splits.
macro_rules! cornell_split {
    ($number:literal, $bytes:literal, $sha256:literal) => {
        RemoteFile {
            path: concat!("geom/cornell/splits/cornell_split_0.6_0.2_", $number, ".npz"),
            url: concat!(
                "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/HEAD/splits/cornell_split_0.6_0.2_",
                $number,
                ".npz"
            ),
            bytes: $bytes,
            sha256: Some($sha256),
            members: &[],
        }
    };
}

/// A text of Cornell's. The copies that were counted have other line ends, so their checksums say nothing here.
macro_rules! cornell_text {
    ($name:literal, $bytes:literal) => {
        RemoteFile {
            path: concat!("geom/cornell/", $name),
            url: concat!(
                "https://raw.githubusercontent.com/JLloyd22/L65-Mini-Project---Polynomial-Neural-Sheaf-Diffusion/",
                "7b3a7a614bf7e2148a9763b6741d30a81a64cb4b/data/WebKB/Cornell/cornell/raw/",
                $name
            ),
            bytes: $bytes,
            sha256: None,
            members: &[],
        }
    };
}

pub(super) const CORA_FILES: &[RemoteFile] = &[
    planetoid!("cora", "x", 22_119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"),
    planetoid!("cora", "y", 4_054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"),
    planetoid!("cora", "tx", 148_025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
    planetoid!("cora", "ty", 28_135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
    planetoid!("cora", "allx", 257_305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
    planetoid!("cora", "ally", 47_959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
    planetoid!("cora", "graph", 59_847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
    planetoid!("cora", "test.index", 5_000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"),
];
pub(super) const CITESEER_FILES: &[RemoteFile] = &[
    planetoid!("citeseer", "x", 31_087, "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"),
    planetoid!("citeseer", "y", 3_014, "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"),
    planetoid!("citeseer", "tx", 260_321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"),
    planetoid!("citeseer", "ty", 24_135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"),
    planetoid!("citeseer", "allx", 595_021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"),
    planetoid!("citeseer", "ally", 55_623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"),
    planetoid!("citeseer", "graph", 61_987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"),
    planetoid!("citeseer", "test.index", 5_000, "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"),
];
pub(super) const PUBMED_FILES: &[RemoteFile] = &[
    planetoid!("pubmed", "x", 23_172, "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"),
    planetoid!("pubmed", "y", 854, "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"),
    planetoid!("pubmed", "tx", 405_505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"),
    planetoid!("pubmed", "ty", 12_135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"),
    planetoid!("pubmed", "allx", 7_578_385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"),
    planetoid!("pubmed", "ally", 224_739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"),
    planetoid!("pubmed", "graph", 471_808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"),
    planetoid!("pubmed", "test.index", 6_000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"),
];

pub(super) const CORNELL_FILES: &[RemoteFile] = &[
    cornell_text!("out1_node_feature_label.txt", 624_492),
    cornell_text!("out1_graph_edges.txt", 2_288),
    cornell_split!("0", 704, "14022a1e19ec7fc0a07a2c06a785a2f9dc52809dbcd1c14fc318f7800675d73f"),
    cornell_split!("1", 700, "5568fa27e968a724c92211bf97026a36a08893cf94b218043e49b4c973c35cfb"),
    cornell_split!("2", 695, "763fc1f423395e4172617fa5b6bc0d7adad2241e5fedd1a4f0a098a67f9dc8e9"),
    cornell_split!("3", 701, "4334321cd9ec42de9d51107fb9a6dc310512e0921bc1cff0f390301ee37315fa"),
    cornell_split!("4", 759, "2b6b3ef396f4dc7fcdc276fb16b88bb87409b25879dd672b3a506eca844dd8d7"),
    cornell_split!("5", 754, "1a40ef8b20aa9e1aa850e1abdaba3efac1f66c98ef2c6a59eadefa21136ece6b"),
    cornell_split!("6", 758, "bcddf4ab59eae4c7d47b8a6cec9025a54ec0e6d3f3bdcd7678e201f25ace4642"),
    cornell_split!("7", 693, "2b497e12dfc123d7e7c9bb4fc4a82b5bee18409e109a3e3a04da439cacec964d"),
    cornell_split!("8", 701, "5c4e110d252d7ad156b2e4cd34b6dbd1cecbcc1755f8d72e932cc2a54f2b643c"),
    cornell_split!("9", 704, "80f1531807194d301affbf6f879a4ab4f56a19bdccb62d192e3ecd1b5275f052"),
];

pub(super) const TOLOKERS_FILES: &[RemoteFile] = &[RemoteFile {
    path: "heterophilous/tolokers.npz",
    url: "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/a431395582e929d88271309716bea4fe24ce6318/data/tolokers.npz",
    bytes: 1_329_769,
    sha256: Some("dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667"),
    members: &[],
}];

pub(super) const ARXIV_FILES: &[RemoteFile] = &[RemoteFile {
    path: "ogb/arxiv.zip",
    url: "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip",
    // Size and checksum as several public projects that pin this archive state them.
    bytes: 83_058_288,
    sha256: Some("49f85c801589ecdcc52cfaca99693aaea7b8af16a9ac3f41dd85a5f3193fe276"),
    members: &[
        "arxiv/RELEASE_v1.txt",
        "arxiv/mapping/labelidx2arxivcategeory.csv.gz",
        "arxiv/mapping/nodeidx2paperid.csv.gz",
        "arxiv/raw/edge.csv.gz",
        "arxiv/raw/node-feat.csv.gz",
        "arxiv/raw/node-label.csv.gz",
        "arxiv/raw/node_year.csv.gz",
        "arxiv/raw/num-edge-list.csv.gz",
        "arxiv/raw/num-node-list.csv.gz",
        "arxiv/split/time/test.csv.gz",
        "arxiv/split/time/train.csv.gz",
        "arxiv/split/time/valid.csv.gz",
    ],
}];
