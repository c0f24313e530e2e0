//! What a sample of every shell does to outputs and to the gradient of the loss, against its size.
//!
//! `cargo run --release -p gnan --example sampling -- DATA [SIZES...]`
//!
//! A model with one shared rho is trained exactly on 60 % of the nodes for a while. With its weights held, the outputs and
//! the gradient of the loss by all parameters are computed exactly and for many draws of a sample. Printed are, for every
//! size: how much one draw moves an output, as a share of the spread of outputs; how far the gradient of one draw is from
//! the mean over draws; and how far that mean is from the exact gradient, less what the finite number of draws explains
//! (both as a share of the exact gradient's length). The last is the bias: the loss is not linear in the outputs, so it
//! is not 0 although sampled means are right on average.

use std::ops::ControlFlow;
use std::sync::Arc;

use gnan::internals::model::{ItemRows, OptimiserState, StepSettings};
use gnan::internals::shape::Adam;
use gnan::internals::statistics::{Sample, Statistics, StatisticsRequest};
use gnan::internals::train::{ItemTargets, LaneTargets};
use gnan::spec::{Loss, RhoChoice};
use gnan::{Dataset, Error, Model, Result, Spec};

/// Sizes that are tried where none are given.
const SIZES: [u32; 5] = [4, 8, 16, 32, 64];
/// Draws of every size.
const DRAWS: u64 = 64;
/// Epochs of exact training.
const EPOCHS: usize = 150;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path =
        arguments.next().ok_or_else(|| Error::usage("which data?").with_remedy("give the path of a node task"))?;
    let sizes: Vec<u32> = arguments.filter_map(|size| size.parse().ok()).collect();
    let data = Dataset::open(&path)?.labelled();
    let part = |wanted: fn(usize) -> bool| data.subset(&(0..data.len()).filter(|p| wanted(p % 5)).collect::<Vec<_>>());
    let (train, valid) = (part(|place| place < 3), part(|place| place == 3));
    let training = Spec::default().epochs(EPOCHS).rho(RhoChoice::Shared);
    let model = training.fit_watched(&train, Some(&valid), &mut |_| ControlFlow::Continue(()))?.model;
    let exact = Measured::new(&model, &train, None)?.remove(0);
    let length = norm(&exact.gradient);
    let outputs = model.outputs();
    let means: Vec<f64> =
        (0..outputs).map(|c| exact.outputs.iter().skip(c).step_by(outputs).sum::<f64>() / train.len() as f64).collect();
    let centred: Vec<f64> = exact.outputs.iter().zip(means.iter().cycle()).map(|(y, mean)| y - mean).collect();
    println!("{}: {} nodes, {} fitted on\n", data.name(), data.node_count(), train.len());
    println!("| sources of a shell | an output moves by | gradient of one draw | bias of the gradient |");
    println!("|---:|---:|---:|---:|");
    for size in if sizes.is_empty() { SIZES.to_vec() } else { sizes } {
        let draws = Measured::new(&model, &train, Some(size))?;
        let count = draws.len() as f64;
        let mut mean = vec![0.0; exact.gradient.len()];
        for draw in &draws {
            mean.iter_mut().zip(&draw.gradient).for_each(|(mean, g)| *mean += g / count);
        }
        let moved = draws.iter().map(|draw| square(&difference(&draw.outputs, &exact.outputs))).sum::<f64>() / count;
        let noise = draws.iter().map(|draw| square(&difference(&draw.gradient, &mean))).sum::<f64>() / (count - 1.0);
        let bias = (square(&difference(&mean, &exact.gradient)) - noise / count).max(0.0);
        println!(
            "| {size} | {:.1} % | {:.1} % | {:.1} % |",
            100.0 * (moved / square(&centred)).sqrt(),
            100.0 * noise.sqrt() / length,
            100.0 * bias.sqrt() / length
        );
    }
    Ok(())
}

/// Outputs and the gradient by all parameters.
struct Measured {
    outputs: Vec<f64>,
    gradient: Vec<f64>,
}

impl Measured {
    /// Once exactly, or for many draws of a sample of this size.
    fn new(model: &Model, train: &Dataset, size: Option<u32>) -> Result<Vec<Measured>> {
        let features = model.features_of(train)?;
        let sample = size.map(|size| Sample { size, seed: 1, draw: 0 });
        let options = StatisticsRequest { sample, ..model.definition().statistics_request() };
        let statistics = Statistics::new(train, &features, options)?;
        let mut engine = model.engine(Arc::new(statistics));
        let mut rows: ItemRows = engine.rows(&(0..train.len()).collect::<Vec<_>>(), true);
        let target = &train.targets()[0];
        let values = train.items().iter().map(|item| target.values[*item as usize] as f32).collect();
        let targets = ItemTargets { width: 1, values, weights: vec![1.0; train.len()], class_weights: Vec::new() };
        let loss = Loss::usual(train.outcome()?, model.outputs() == 2);
        let mut parameters = model.parameters().clone();
        engine.tables(&parameters, true);
        let mut found = Vec::new();
        for draw in 0..size.map_or(1, |_| DRAWS) {
            rows.redraw(draw);
            let mut outputs = vec![0.0; train.len() * model.outputs()];
            engine.outputs(&mut rows, &mut outputs);
            for row in outputs.chunks_exact_mut(model.outputs()) {
                row.iter_mut().zip(&parameters.output_bias).for_each(|(y, bias)| *y += bias);
            }
            let mut gradient = vec![0.0; outputs.len()];
            LaneTargets::of_one(loss, model.outputs(), &targets).evaluate(&outputs, &mut gradient);
            // A step of length 0 leaves the gradient in the first moments.
            let adam = Adam { learning_rate: 0.0, weight_decay: 0.0, beta1: 0.0, ..Adam::default() };
            let settings = StepSettings { adam, output_bias: true, group_penalty: 0.0 };
            let mut state = OptimiserState::new(&parameters);
            engine.step(&mut rows, &gradient, &mut parameters, &mut state, settings);
            found.push(Measured {
                outputs: outputs.into_iter().map(f64::from).collect(),
                gradient: state.first_moments().concat().into_iter().map(f64::from).collect(),
            });
        }
        Ok(found)
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn square(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum()
}

fn norm(values: &[f64]) -> f64 {
    square(values).sqrt()
}
