//! scratch
use gnan::evaluate::{Evaluation, Protocol};
use gnan::train::{LogitChoice, RhoChoice};
use gnan::{Dataset, DatasetOptions, Training};
use std::ops::ControlFlow;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut o = DatasetOptions::default();
    let get = |k: &str| args.iter().position(|a| a == k).map(|i| args[i + 1].clone());
    o.read.largest_component = args.iter().any(|a| a == "--lcc");
    let t0 = std::time::Instant::now();
    let data = Dataset::open_with(&args[1], &o).unwrap();
    eprintln!("read {:?}", t0.elapsed());
    let mut t = Training::default();
    if let Some(x) = get("--rho") {
        t.rho = match x.as_str() {
            "shared" => RhoChoice::Shared,
            "auto" => RhoChoice::Auto,
            _ => RhoChoice::PerFeature,
        };
    }
    if let Some(x) = get("--logits") {
        t.logits = match x.as_str() {
            "one" => LogitChoice::One,
            _ => LogitChoice::Two,
        };
    }
    if let Some(x) = get("--wd") {
        t.weight_decay = Some(x.parse().unwrap());
    }
    if let Some(x) = get("--lr") {
        t.learning_rate = Some(x.parse().unwrap());
    }
    if let Some(x) = get("--epochs") {
        t.epochs = Some(x.parse().unwrap());
    }
    if let Some(x) = get("--patience") {
        t.patience = Some(x.parse().unwrap());
    }
    if let Some(x) = get("--cap") {
        t.hop_cap = Some(x.parse().unwrap());
    }
    if let Some(x) = get("--batch") {
        t.batch = Some(x.parse().unwrap());
    }
    if let Some(x) = get("--dropout") {
        t.dropout = x.parse().unwrap();
    }
    if let Some(x) = get("--bias") {
        t.output_bias = Some(x == "true");
    }
    let p = if let Some(k) = get("--folds") { Protocol::Folds(k.parse().unwrap()) } else { Protocol::GivenSplits };
    let seeds: Vec<u64> = (0..get("--seeds").map_or(1, |x| x.parse().unwrap())).collect();
    let t0 = std::time::Instant::now();
    let e = Evaluation::run(&data, &t, p, &seeds, &|_, r| {
        if args.iter().any(|a| a == "-v") && r.epoch % 50 == 0 {
            eprintln!("{} {:.4} {:.4} {:?}", r.epoch, r.train_loss, r.valid_loss, r.metric);
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    for (k, s) in &e.metrics {
        print!("{k} {:.4}±{:.4}  ", s.mean, s.std);
    }
    println!("\nepochs {:?}", e.folds.iter().map(|f| (f.best_epoch, f.epochs)).collect::<Vec<_>>());
    println!("{:?}", t0.elapsed());
}
