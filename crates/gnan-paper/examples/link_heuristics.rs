//! How well links are ranked by one feature of a node pair alone: common neighbours, their rarity (Adamic and Adar), the distance
//! without the link, degrees, agreement. What `gnan evaluate PATH --task link` must be better than.
//!
//! `cargo run --release -p gnan-paper --example link_heuristics -- PATH [SEEDS]`
//!
//! Edges are divided as `gnan evaluate` does, seed after seed; pairs are ranked by larger values first, or by smaller ones where that
//! is better on training pairs.

use gnan::dataset::{Feature, LinkDivision, LinkFeatures, LinkOptions, LinkPairs};
use gnan::evaluate::LINK_TEST_SHARE;
use gnan::files::Values;
use gnan::score::roc_auc;
use gnan::{Dataset, DatasetOptions, Result};

/// The number that pairs are ranked by: a category by its place, so that "no path" is the farthest.
fn ranks(feature: &Feature) -> Vec<f64> {
    match &feature.values {
        Values::Numbers(values) => values.clone(),
        Values::Categories { codes, .. } => codes.iter().map(|code| f64::from(*code)).collect(),
        Values::Sparse { len, rows, values } => {
            let mut all = vec![0.0; *len];
            rows.iter()
                .zip(values)
                .for_each(|(row, value)| all[*row as usize] = if value.is_nan() { 0.0 } else { *value });
            all
        }
    }
}

fn auc(data: &Dataset, ranks: &[f64], sign: f64) -> f64 {
    let link = &data.targets()[0].values;
    let ranked = data.items().iter().map(|item| (sign * ranks[*item as usize], link[*item as usize] == 1.0)).collect();
    roc_auc(ranked).unwrap_or(f64::NAN)
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let path = args.next().unwrap_or_else(|| panic!("a path is needed"));
    let seeds: u64 = args.next().and_then(|seeds| seeds.parse().ok()).unwrap_or(3);
    let mut found: Vec<(String, Vec<f64>)> = Vec::new();
    for seed in 0..seeds {
        let division = LinkDivision { seed, test_share: Some(LINK_TEST_SHARE), ..LinkDivision::default() };
        let options = DatasetOptions {
            read: gnan_paper::read_options(),
            links: Some(LinkOptions { pairs: LinkPairs::Divided(division), features: LinkFeatures::All { own: true } }),
            ..DatasetOptions::default()
        };
        let data = Dataset::open_with(&path, &options)?;
        let split = data.given_split(0, seed)?;
        for (place, feature) in data.features().iter().filter(|feature| feature.own_only).enumerate() {
            let ranks = ranks(feature);
            let sign = if auc(&split.train, &ranks, 1.0) < 0.5 { -1.0 } else { 1.0 };
            if found.len() == place {
                found.push((feature.name.clone(), Vec::new()));
            }
            found[place].1.push(auc(&split.test, &ranks, sign));
        }
    }
    println!("{:<32} test ROC-AUC over {seeds} divisions", "ranked by");
    for (name, aucs) in found {
        let mean = aucs.iter().sum::<f64>() / aucs.len() as f64;
        let spread = (aucs.iter().map(|auc| (auc - mean).powi(2)).sum::<f64>() / aucs.len() as f64).sqrt();
        println!("{name:<32} {mean:.3} ± {spread:.3}");
    }
    Ok(())
}
