//! Speed on dense numbers: CPU milliseconds of an epoch on 256 knots, piece by piece, and on every distinct value.
//!
//! `cargo run --release -p gnan --example dense -- [nodes] [features] [classes] [labelled] [epochs] [ways]`: one graph of
//! five edges per node, all features standard normal, shared rho, full batch; `ways` is a list such as `knots,pieces,plain`.
//! Run it with `RAYON_NUM_THREADS=1` for figures of one thread.

use std::ops::ControlFlow;

use cpu_time::ProcessTime;
use gnan::files::{Column, Kind, Tables, Task, Values};
use gnan::internals::random::Stream;
use gnan::spec::BinChoice;
use gnan::spec::RhoChoice;
use gnan::{Dataset, DatasetOptions, Spec};

fn main() -> gnan::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (nodes, features, classes) = (number(0, 100_000).max(10), number(1, 32), number(2, 2).max(2));
    let (labelled, epochs) = (number(3, 200).clamp(2, nodes), number(4, 5).max(1));
    let wanted = arguments.get(5).map_or("knots,pieces,plain", String::as_str);
    let data = generate(nodes, features, classes, labelled)?;
    println!("{nodes} nodes, {features} features, {classes} classes, {labelled} labelled nodes\n");
    println!("| way | getting started, s | epoch, ms of CPU | loss at the end |\n|---|---|---|---|");
    let usual = Spec::default().epochs(epochs).patience(0).rho(RhoChoice::Shared);
    let ways = [
        ("knots", usual.clone().bins(BinChoice::Auto)),
        ("pieces", usual.clone().bins(BinChoice::Off)),
        ("plain", usual.bins(BinChoice::Off).pieces_above(usize::MAX)),
    ];
    for (name, training) in ways.iter().filter(|(name, _)| wanted.split(',').any(|way| way == *name)) {
        let start = ProcessTime::now();
        let (mut first, mut last, mut loss) = (None, start.elapsed(), 0.0);
        training.fit_watched(&data, Some(&data.subset(&[])), &mut |report| {
            first.get_or_insert(start.elapsed());
            (last, loss) = (start.elapsed(), report.train_loss);
            ControlFlow::Continue(())
        })?;
        let first = first.unwrap_or(last);
        let epoch = (last - first).as_secs_f64() * 1000.0 / (epochs - 1).max(1) as f64;
        println!("| {name} | {:.2} | {epoch:.0} | {loss:.6} |", first.as_secs_f64());
    }
    Ok(())
}

/// A graph in which every node cites five earlier ones, with standard normal features and classes by the first of them.
fn generate(nodes: usize, features: usize, classes: usize, labelled: usize) -> gnan::Result<Dataset> {
    let mut random = Stream::named(7, "dense", 0);
    let edges = (1..nodes).flat_map(|node| (0..5).map(move |k| (node, k))).collect::<Vec<_>>();
    let edges = edges.into_iter().map(|(node, _)| [node as u32, random.below(node) as u32]).collect();
    let mut columns: Vec<Column> = (0..features)
        .map(|k| {
            let mut random = Stream::named(7, "dense feature", k as u64);
            let values = (0..nodes).map(|_| random.normal()).collect();
            Column::new(format!("x{k}"), Values::Numbers(values)).with_kind(Kind::Continuous)
        })
        .collect();
    let codes = (0..nodes).map(|node| {
        let own = columns.first().map_or(0.0, |column| match &column.values {
            Values::Numbers(values) => values[node].abs() * classes as f64 / 2.0,
            _ => 0.0,
        });
        if node % (nodes / labelled).max(1) == 0 { (own as u32).min(classes as u32 - 1) } else { gnan::files::MISSING }
    });
    let levels = (0..classes).map(|class| class.to_string()).collect();
    let target = Values::Categories { codes: codes.collect(), levels };
    columns.push(Column::new("class".to_owned(), target));
    let tables = Tables {
        name: "dense".to_owned(),
        graph_ids: vec!["0".to_owned()],
        node_offsets: vec![0, nodes],
        edges,
        node_columns: columns,
        task: Some(Task::Node),
        targets: vec!["class".to_owned()],
        ..Tables::default()
    };
    Dataset::from_tables(tables, &DatasetOptions::default())
}
