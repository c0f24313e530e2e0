//! Speed of the bootstrap: CPU seconds for 200 replicates of a model of Mutagenicity, 1000 epochs each.
//!
//! `cargo run --release -p gnan --example replicates -- Mutagenicity.zip [resamples] [epochs] [one-hot]`: shared rho, one
//! logit, full batch, no early stopping. With `one-hot` every atom type is a binary feature with a network of its own,
//! as in the paper; else there is one categorical feature with a free value per type.

use std::ops::ControlFlow;
use std::time::Instant;

use cpu_time::ProcessTime;
use gnan::bootstrap::{Bootstrap, Intervals};
use gnan::files::{self, Column, Kind, Values};
use gnan::spec::{LogitChoice, RhoChoice};
use gnan::{Dataset, DatasetOptions, Spec};

fn main() -> gnan::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let Some(path) = arguments.first() else {
        println!("usage: replicates DATA [resamples] [epochs] [one-hot]");
        return Ok(());
    };
    let (resamples, epochs) = (number(1, 200), number(2, 1000));
    let mut tables = files::read(path, &gnan_paper::read_options())?;
    if arguments.iter().any(|argument| argument == "one-hot") {
        tables.node_columns = tables.node_columns.into_iter().flat_map(one_hot).collect();
    }
    let options = DatasetOptions { known: Some(Vec::new()), ..DatasetOptions::default() };
    let data = Dataset::from_tables(tables, &options)?;
    let training = Spec::default().epochs(epochs).patience(0);
    let training = training.rho(RhoChoice::Shared).logits(LogitChoice::One);
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    let model = training.fit(&data)?;
    println!("point estimate: {:.2} s of CPU, {:.2} s", cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());

    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    let bootstrap = Bootstrap { resamples, ..Bootstrap::default() };
    let replicates = bootstrap.run(&model, &data, None, &|_| ControlFlow::Continue(()))?;
    println!(
        "{resamples} replicates of {epochs} epochs: {:.2} s of CPU, {:.2} s",
        cpu.elapsed().as_secs_f64(),
        wall.elapsed().as_secs_f64()
    );
    let cpu = ProcessTime::now();
    let intervals = Intervals::new(&model, &replicates)?;
    println!("intervals: {:.2} s of CPU", cpu.elapsed().as_secs_f64());
    println!("rho: {}", intervals.rho_verdicts[0][0]);
    for (feature, verdicts) in model.definition().learned.features.iter().zip(&intervals.shape_verdicts) {
        println!("{}: {}", feature.name, verdicts[0]);
    }
    Ok(())
}

/// The levels of a categorical column as binary columns.
fn one_hot(column: Column) -> Vec<Column> {
    let Values::Categories { codes, levels } = &column.values else { return vec![column] };
    let binary = |(level, name): (u32, &String)| {
        let rows: Vec<u32> = (0u32..).zip(codes).filter(|(_, code)| **code == level).map(|(row, _)| row).collect();
        let values = Values::Sparse { len: codes.len(), values: vec![1.0; rows.len()], rows };
        Column::new(format!("{}_{name}", column.name), values).with_kind(Kind::Binary)
    };
    (0u32..).zip(levels).map(binary).collect()
}
