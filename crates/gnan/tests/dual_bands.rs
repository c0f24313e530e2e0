//! Bands of penalised fits in the dual form, where items are weighed in place of coefficients: what is shown is what the dense
//! inverse of `X' W X + P^-1` gives.
//!
//! The oracle knows the tensors of the model file alone: what items have of every latent number and their second derivatives. That these
//! belong to the model is shown by the estimate, which they make: `b = Z A' (y - p)`.

mod common;
mod oracle;

use std::ops::ControlFlow;

use common::class_column;
use faer::{Mat, Side};
use gnan::dataset::Split;
use gnan::explain::FeatureValue;
use gnan::files::{Column, Values};
use gnan::internals::random::Stream;
use gnan::spec::LevelChoice;
use gnan::{Dataset, DatasetOptions, Explainer, Intervals, Model, Spec};
use safetensors::tensor::SafeTensors;

/// Half the width of a pointwise 95 % band in standard deviations.
const WIDTH: f64 = 1.959_963_984_540_054;

/// Nodes of a random tree with many words; a node has one with a chance of 0.1, of those of its class 0.4. The first are fitted on.
fn word_nodes(seed: u64, count: usize, words: usize, fitted: usize) -> Split {
    let mut random = Stream::named(seed, "dual bands", 0);
    let nodes = fitted + 12;
    let classes: Vec<usize> = (0..nodes).map(|_| random.below(count)).collect();
    let edges = (1..nodes).map(|node| [random.below(node) as u32, node as u32]).collect();
    let mut columns = Vec::new();
    for w in 0..words {
        let chance = |node: usize| if w % count == classes[node] { 0.4 } else { 0.1 };
        let rows: Vec<u32> = (0..nodes as u32).filter(|node| random.uniform() < chance(*node as usize)).collect();
        let values = vec![1.0; rows.len()];
        columns.push(Column::new(format!("w{w}"), Values::Sparse { len: nodes, rows, values }));
    }
    columns.push(class_column("class", count, &classes.iter().map(|class| Some(*class)).collect::<Vec<_>>()));
    let tables = gnan::files::Tables {
        name: "words".to_owned(),
        graph_ids: vec!["g".to_owned()],
        node_offsets: vec![0, nodes],
        edges,
        node_columns: columns,
        ..gnan::files::Tables::default()
    };
    let options = DatasetOptions { targets: vec!["class".to_owned()], ..DatasetOptions::default() };
    let data = Dataset::from_tables(tables, &options).unwrap();
    let part = |range: std::ops::Range<usize>| data.subset(&range.collect::<Vec<usize>>());
    Split { train: part(0..fitted), valid: data.subset(&[]), test: part(fitted..nodes) }
}

fn fitted(split: &Split) -> Model {
    let mut spec = Spec::default();
    spec.fit.level = LevelChoice::One;
    spec.fit_split(split, &mut |_| ControlFlow::Continue(())).unwrap().model
}

/// What a model file holds of a dual posterior.
struct Kept {
    latents: Vec<usize>,
    loadings: Vec<f64>,
    /// `[latents][items]`
    rows: Vec<Vec<f64>>,
    /// `[outputs][items]`
    second: Vec<Vec<f64>>,
}

impl Kept {
    fn of(model: &Model) -> Kept {
        let bytes = model.to_bytes().unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let tensor = |name: &str| tensors.tensor(&format!("posterior.0.{name}")).unwrap();
        let double = |chunk: &[u8]| f64::from_le_bytes(chunk.try_into().unwrap());
        let single = |chunk: &[u8]| f64::from(f32::from_le_bytes(chunk.try_into().unwrap()));
        let whole = |chunk: &[u8]| u32::from_le_bytes(chunk.try_into().unwrap()) as usize;
        let items = tensor("weights").shape()[1];
        let second: Vec<f64> = tensor("weights").data().chunks_exact(8).map(|chunk| double(chunk).powi(2)).collect();
        let rows: Vec<f64> = tensor("rows").data().chunks_exact(4).map(single).collect();
        Kept {
            latents: tensor("latents").data().chunks_exact(4).map(whole).collect(),
            loadings: tensor("loadings").data().chunks_exact(8).map(double).collect(),
            rows: rows.chunks_exact(items).map(<[f64]>::to_vec).collect(),
            second: second.chunks_exact(items).map(<[f64]>::to_vec).collect(),
        }
    }

    /// The dense covariance of the latent numbers, output after output: the inverse of `A' W A + I`, where the second derivatives of the
    /// classes of an item of weight 1 are `p_c [c = d] - p_c p_d`.
    fn covariance(&self) -> Mat<f64> {
        let (latents, outputs) = (self.rows.len(), self.second.len());
        let order = latents * outputs;
        let mut precision: Mat<f64> = Mat::zeros(order, order);
        for c in 0..outputs {
            for d in 0..outputs {
                let second = |item: usize| {
                    let own = if c == d { self.second[c][item] } else { 0.0 };
                    own - if outputs > 1 { self.second[c][item] * self.second[d][item] } else { 0.0 }
                };
                let weights: Vec<f64> = (0..self.second[0].len()).map(second).collect();
                let left = Mat::from_fn(latents, weights.len(), |v, i| self.rows[v][i] * weights[i]);
                let right = Mat::from_fn(weights.len(), latents, |i, v| self.rows[v][i]);
                let block = &left * &right;
                for i in 0..latents {
                    for j in 0..latents {
                        precision[(c * latents + i, d * latents + j)] =
                            block[(i, j)] + f64::from(u8::from(c == d && i == j));
                    }
                }
            }
        }
        let factor = precision.llt(Side::Lower).unwrap();
        faer::linalg::solvers::Solve::solve(&factor, Mat::<f64>::identity(order, order))
    }

    /// The standard deviation of a mixture of outputs, each the same sum of latent numbers.
    fn sd(&self, covariance: &Mat<f64>, sum: &[(usize, f64)], shares: &[f64]) -> f64 {
        let terms: Vec<(usize, f64)> = (shares.iter().enumerate())
            .flat_map(|(c, share)| sum.iter().map(move |(at, own)| (c * self.rows.len() + at, share * own)))
            .collect();
        let row =
            |(i, one): &(usize, f64)| terms.iter().map(|(j, other)| one * other * covariance[(*i, *j)]).sum::<f64>();
        terms.iter().map(row).sum::<f64>().sqrt()
    }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-6 * expected + 1e-9
}

#[test]
fn bands_are_those_of_the_dense_covariance() {
    for (seed, classes, words, items) in [(1, 2, 440, 60), (2, 3, 160, 45), (3, 3, 200, 30)] {
        let split = word_nodes(seed, classes, words, items);
        let model = fitted(&split);
        let kept = Kept::of(&model);
        let outputs = kept.second.len();
        let covariance = kept.covariance();
        let shown_shares = |c: usize| -> Vec<f64> {
            let of = |d: usize| f64::from(u8::from(c == d)) - if outputs > 1 { 1.0 / outputs as f64 } else { 0.0 };
            (0..outputs).map(of).collect()
        };
        // The estimate is what the rows make of the residuals.
        let values = model.outputs_on(&split.train).unwrap().values;
        let actual = split.train.targets()[0].values.clone();
        let residual = |item: usize, c: usize| -> f64 {
            let own: Vec<f64> = values[item * outputs..][..outputs].iter().map(|y| f64::from(*y)).collect();
            let class = actual[split.train.items()[item] as usize];
            match outputs {
                1 => class - 1.0 / (1.0 + (-own[0]).exp()),
                _ => f64::from(u8::from(class == c as f64)) - 1.0 / own.iter().map(|y| (y - own[c]).exp()).sum::<f64>(),
            }
        };
        let canonical = model.canonical();
        let intervals = Intervals::of_posterior(&model, false).unwrap();
        // The intercept and the structure come first.
        let size = (kept.latents.len() - 1) / (words + 1);
        assert_eq!(kept.latents.len(), 1 + (words + 1) * size, "every word was seen at every distance");
        let point =
            intervals.points.features[0].iter().position(|point| point.value() == FeatureValue::Number(1.0)).unwrap();
        let mut compared = 0;
        for k in (0..words).step_by(7) {
            let effects = canonical.effects(k, FeatureValue::Number(1.0));
            for slot in 0..size {
                let coefficient = 1 + size + k * size + slot;
                let (latent, loading) = (kept.latents[coefficient], kept.loadings[coefficient]);
                let estimate = |c: usize| -> f64 {
                    (0..items).map(|item| kept.rows[latent][item] * residual(item, c)).sum::<f64>() * loading
                };
                for c in 0..outputs {
                    let shown: f64 = shown_shares(c).iter().enumerate().map(|(d, share)| share * estimate(d)).sum();
                    assert!((shown - effects[slot][c]).abs() < 2e-4, "{seed} {k} {slot}: {shown} {}", effects[slot][c]);
                    let expected = kept.sd(&covariance, &[(latent, loading)], &shown_shares(c));
                    let band = intervals.products[k][point][slot][c];
                    let found = (band.high - band.low) / (2.0 * WIDTH);
                    assert!(close(found, expected), "{seed} {k} {slot}: {found}, not {expected}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 100);
        // Training items are the rows.
        let predictions = model.predict(&split.train).unwrap().items;
        let explainer = Explainer::new(&model, &split.train).unwrap();
        for item in (0..items).step_by(4) {
            let sum: Vec<(usize, f64)> = kept.rows.iter().map(|row| row[item]).enumerate().collect();
            let explained = explainer.explain(&[item]).unwrap().remove(0).sds.unwrap().prediction;
            for (c, found) in explained.iter().enumerate() {
                let expected = kept.sd(&covariance, &sum, &shown_shares(c));
                assert!((found - expected).abs() < 1e-5 * expected, "{seed} {item}: {found}, not {expected}");
            }
            let bands = &predictions[item].bands;
            assert_eq!(bands.len(), outputs.max(2));
            for (class, band) in bands.iter().enumerate() {
                let outputs: Vec<f64> = predictions[item].outputs.iter().map(|y| f64::from(*y)).collect();
                let others: f64 = outputs.iter().enumerate().filter(|(j, _)| *j != class).map(|(_, y)| y.exp()).sum();
                let slope = |j: usize| match j == class || outputs.len() == 1 {
                    true => 1.0,
                    false => -outputs[j].exp() / others,
                };
                let slopes: Vec<f64> = (0..outputs.len()).map(slope).collect();
                let expected = kept.sd(&covariance, &sum, &slopes);
                assert!((band.sd - expected).abs() < 1e-5 * expected, "{seed} {item}: {}, not {expected}", band.sd);
            }
        }
    }
}

/// New items have bands as well, the same after a round trip and in `explain`; simultaneous ones are wider.
#[test]
fn predictions_and_explanations_agree_and_survive_a_file() {
    let split = word_nodes(4, 2, 440, 50);
    let model = fitted(&split);
    let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert!(model.has_prediction_bands());
    let (before, after) = (model.predict(&split.test).unwrap(), read.predict(&split.test).unwrap());
    let explainer = Explainer::new(&read, &split.test).unwrap();
    for (place, (before, after)) in before.items.iter().zip(&after.items).enumerate() {
        assert_eq!(before.bands, after.bands);
        let why = explainer.explain(&[place]).unwrap().remove(0);
        let sd = why.sds.as_ref().unwrap().prediction[0];
        assert!((sd - after.bands[1].sd).abs() < 1e-9 * sd, "{sd} {}", after.bands[1].sd);
    }
    let [narrow, wide] = [false, true].map(|wide| Intervals::of_posterior(&read, wide).unwrap());
    let cells = |intervals: &Intervals| intervals.products.concat().concat().concat();
    assert!(cells(&narrow).iter().zip(cells(&wide)).all(|(narrow, wide)| wide.high >= narrow.high));
    assert_eq!(Intervals::of_posterior(&model, false).unwrap(), narrow);
    let summary = read.record().summary.as_ref().unwrap();
    let shares: f64 = summary.terms.iter().map(|term| term.edf).sum();
    // All but the intercept, of one degree of freedom at most.
    assert!(shares < summary.edf && summary.edf < shares + 1.0, "{shares} {}", summary.edf);
}
