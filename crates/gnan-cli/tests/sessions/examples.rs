//! Every example in the help texts is run as it stands there, on data of the names that it uses.

use std::collections::BTreeSet;
use std::io::{Cursor, Write};
use std::path::Path;
use std::process::Command;

use super::desk::{Desk, GNAN};

/// Examples that are not run, and why.
const NOT_RUN: [(&str, &str); 4] = [
    ("gnan data fetch", "it needs the network"),
    ("gnan reproduce", "it needs the paper's data and takes hours"),
    ("--protocol paper", "it needs the paper's data and takes minutes"),
    ("gnan selftest --full", "it takes minutes"),
];

/// Commands, whose help has examples.
const COMMANDS: [&str; 20] = [
    "demo",
    "train",
    "evaluate",
    "predict",
    "explain",
    "plot",
    "report",
    "bootstrap",
    "export",
    "inspect",
    "summary",
    "check",
    "plan",
    "reproduce",
    "selftest",
    "completions",
    "data info",
    "data list",
    "data fetch",
    "data convert",
];

/// The examples of a command, without the remarks beside them.
fn examples(desk: &Desk, command: &str) -> Vec<String> {
    let help = desk.works(&format!("{command} --help")).stdout;
    let lines = help.lines().skip_while(|line| !line.contains("Examples:")).skip(1);
    let lines = lines.map(str::trim).take_while(|line| line.starts_with("gnan "));
    lines.map(|line| line.split("   ").next().unwrap_or(line).split("  ").next().unwrap_or(line).to_owned()).collect()
}

/// Eighty chains of atoms; a chain with a nitrogen is toxic.
fn write_tables(desk: &Desk, folder: &str) {
    let (mut nodes, mut edges, mut graphs) = (
        "graph_id,node_id,element,logp\n".to_owned(),
        "graph_id,source,target\n".to_owned(),
        "graph_id,toxic,label\n".to_owned(),
    );
    for graph in 0..80usize {
        let elements: Vec<&str> = (0..3 + graph % 5)
            .map(|node| ["C", "O", "C", "N", "C"][(graph * graph + node * (graph % 3)) % 5])
            .collect();
        for (node, element) in elements.iter().enumerate() {
            nodes.push_str(&format!("g{graph},a{node},{element},{}\n", 0.1 * ((graph * 7 + node * 3) % 31) as f64));
            if node > 0 {
                edges.push_str(&format!("g{graph},a{},a{node}\n", node - 1));
            }
        }
        let toxic = elements.contains(&"N");
        graphs.push_str(&format!("g{graph},{},{}\n", ["no", "toxic"][usize::from(toxic)], graph % 2));
    }
    for (name, text) in [("nodes", nodes), ("edges", edges), ("graphs", graphs)] {
        desk.write(&format!("{folder}/{name}.csv"), &text);
    }
}

/// One graph of forty nodes in a ring with chords.
fn write_ring(desk: &Desk, folder: &str) {
    let nodes: String = (0..40).map(|node| format!("n{node},{},{}\n", node % 3, ["a", "b"][node % 2])).collect();
    let edges: String =
        (0..40).map(|node| format!("n{node},n{}\nn{node},n{}\n", (node + 1) % 40, (node + 7) % 40)).collect();
    desk.write(&format!("{folder}/nodes.csv"), &format!("node_id,size,kind\n{nodes}"));
    desk.write(&format!("{folder}/edges.csv"), &format!("source,target\n{edges}"));
}

fn zipped(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).expect("a member");
        archive.write_all(bytes).expect("its bytes");
    }
    archive.finish().expect("an archive").into_inner()
}

/// Sixty rings and chains as a TU set.
fn tu_set(name: &str) -> Vec<u8> {
    let [mut edges, mut indicator, mut labels, mut atoms, mut bonds] = [const { String::new() }; 5];
    let mut first = 1;
    for graph in 0..60usize {
        let nodes = 4 + graph % 4;
        for node in 0..nodes {
            indicator += &format!("{}\n", graph + 1);
            atoms += &format!("{}\n", (graph + node * node) % 3);
            if node + 1 < nodes || graph % 2 == 0 {
                let (one, other) = (first + node, first + (node + 1) % nodes);
                edges += &format!("{one}, {other}\n{other}, {one}\n");
                bonds += &format!("{0}\n{0}\n", node % 2);
            }
        }
        first += nodes;
        labels += &format!("{}\n", graph % 2);
    }
    let parts = [
        ("A", edges),
        ("graph_indicator", indicator),
        ("graph_labels", labels),
        ("node_labels", atoms),
        ("edge_labels", bonds),
    ];
    zipped(&parts.map(|(part, text)| (format!("{name}/{name}_{part}.txt"), text.into_bytes())))
}

/// An array in NumPy's format, version 1.
fn npy(kind: &str, shape: &str, bytes: Vec<u8>) -> Vec<u8> {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.into_bytes());
    file.extend(bytes);
    file
}

/// A hundred and twenty papers of three classes, each with the words of its class and citations within it.
fn citations() -> Vec<u8> {
    const PAPERS: i64 = 120;
    let whole =
        |values: Vec<i64>, shape: &str| npy("<i8", shape, values.into_iter().flat_map(i64::to_le_bytes).collect());
    let list = |values: Vec<i64>| {
        let shape = format!("({},)", values.len());
        whole(values, &shape)
    };
    let words: Vec<[i64; 2]> = (0..PAPERS).map(|paper| [paper % 3, 3 + (paper * 5) % 9]).collect();
    let ones: Vec<u8> = (0..2 * PAPERS).flat_map(|_| 1f32.to_le_bytes()).collect();
    let edges: Vec<i64> = (0..PAPERS)
        .flat_map(|paper| {
            [[paper, (paper + 3) % PAPERS], [paper, (paper + if paper % 10 == 0 { 1 } else { 12 }) % PAPERS]]
        })
        .flatten()
        .collect();
    let part = |from: i64, to: i64| list((from..to).collect());
    let files = [
        ("feat_data", npy("<f4", &format!("({},)", 2 * PAPERS), ones)),
        ("feat_indices", list(words.iter().flatten().copied().collect())),
        ("feat_indptr", list((0..=PAPERS).map(|paper| 2 * paper).collect())),
        ("feat_shape", list(vec![PAPERS, 12])),
        ("labels", list((0..PAPERS).map(|paper| paper % 3).collect())),
        ("edges", whole(edges, &format!("({}, 2)", 2 * PAPERS))),
        ("train_idx", part(0, 60)),
        ("val_idx", part(60, 90)),
        ("test_idx", part(90, 120)),
    ];
    zipped(&files.map(|(name, bytes)| (format!("{name}.npy"), bytes)))
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() { copy(&entry, &target) } else { std::fs::copy(&entry, &target).map(drop).expect("a copy") }
    }
}

/// The data that examples name, and models of them.
fn world() -> Desk {
    let desk = Desk::new();
    ["my-tables", "my-data", "new-data"].iter().for_each(|folder| write_tables(&desk, folder));
    write_ring(&desk, "ring");
    desk.write("pairs.csv", "source,target\nn0,n1\nn0,n5\n");
    desk.write("options.toml", "target = \"toxic\"\nepochs = 20\n");
    desk.write("molecules.csv", "name,smiles\nethanol,CCO\nbenzene,c1ccccc1\n");
    std::fs::write(desk.path("MUTAG.zip"), tu_set("MUTAG")).expect("a file");
    std::fs::write(desk.path("Mutagenicity.zip"), tu_set("Mutagenicity")).expect("a file");
    std::fs::write(desk.path("cora.npz"), citations()).expect("a file");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../gnan/tests/samples/ogb"), &desk.path("ogb/arxiv"));
    for folder in
        ["home/.local/share/bash-completion/completions", "home/.zfunc", "home/.config/fish/completions", "bin"]
    {
        std::fs::create_dir_all(desk.path(folder)).expect("a folder");
    }
    std::os::unix::fs::symlink(GNAN, desk.path("bin/gnan")).expect("a link");
    desk.works("train my-data --target toxic --epochs 30 --hidden 16 -o of-tables.gnan");
    desk.works("train solubility --epochs 5 --hidden 16 -o of-molecules.gnan");
    desk.works("train ring --task link --epochs 5 --hidden 16 -o links.gnan");
    desk
}

/// Runs a line as a shell does, with the data and the model that it is about.
fn run(desk: &Desk, line: &str) {
    let of_molecules = line.contains("solubility") || line.contains("molecules.csv");
    let model = if of_molecules { "of-molecules.gnan" } else { "of-tables.gnan" };
    for left in ["model.gnan", "model.bootstrap", "report.html", "figures"] {
        let path = desk.path(left);
        let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
    if line.contains("model.gnan") {
        std::fs::copy(desk.path(model), desk.path("model.gnan")).expect("a model");
    }
    // Less of the same where it only takes time; what needs a tool that is not there runs without it.
    let mut line =
        line.replace("links.gnan my-tables/", "links.gnan ring/").replace("--resamples 1000", "--resamples 8");
    if line.starts_with("gnan bootstrap") && !line.contains("--resamples") {
        line = line.replacen("my-data/", "my-data/ --resamples 8", 1);
    }
    if Command::new("jq").arg("--version").output().is_err() {
        line = line.split(" | jq").next().unwrap_or_default().to_owned();
    }
    let path = format!("{}:{}", desk.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &line]).current_dir(desk.path("")).env("PATH", path).env("HOME", desk.path("home"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GNAN_")) {
        shell.env_remove(name);
    }
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_example_of_the_help_texts_works() {
    let desk = world();
    let mut done = BTreeSet::new();
    for command in COMMANDS {
        let lines = examples(&desk, command);
        assert!(!lines.is_empty(), "the help of {command} has no examples");
        for line in lines {
            match NOT_RUN.iter().find(|(words, _)| line.contains(words)) {
                Some((_, why)) => eprintln!("not run: {line} ({why})"),
                None if done.insert(line.clone()) => run(&desk, &line),
                None => {}
            }
        }
    }
    assert!(done.len() > 50, "{} examples", done.len());
}

/// A command that is not in the list above would have untested examples.
#[test]
fn every_command_is_looked_at() {
    let desk = Desk::new();
    for (command, prefix) in [("", ""), ("data", "data ")] {
        let help = desk.works(&format!("{command} --help")).stdout;
        let listed =
            help.lines().skip_while(|line| !line.contains("Commands:")).skip(1).take_while(|line| !line.is_empty());
        let is_entry = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
        for line in listed.filter(is_entry) {
            let name = line.split_whitespace().next().unwrap_or_default();
            let known = COMMANDS.contains(&format!("{prefix}{name}").as_str()) || ["data", "help"].contains(&name);
            assert!(known, "the examples of {prefix}{name} are not run");
        }
    }
}
