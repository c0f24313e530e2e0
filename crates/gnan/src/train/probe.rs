//! A probe: a few items prepared and stepped over as a fit would, to see what that takes.

use std::sync::Arc;
use std::time::Instant;

use super::Training;
use super::fit::Fit;
use super::prepared::Prepared;
use super::settings::Settled;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::model::{ItemRows, OptimiserState};
use crate::statistics::{Shells, Statistics};

/// Tries of which the fastest counts.
const TRIES: usize = 2;

/// A fit on few items.
pub(crate) struct Probe<'a> {
    fit: Fit<'a>,
    statistics: Arc<Statistics>,
    state: OptimiserState,
    settled: &'a Settled,
}

impl Training {
    /// The first of the models that a fit on `train` would try.
    pub(crate) fn first_candidate(&self, train: &Dataset) -> Result<Settled> {
        let outcome = train.outcome()?;
        let rho = self.rho_candidates(train)[0];
        self.settle(train, outcome, self.logit_candidates(outcome, rho)[0], rho)
    }
}

impl<'a> Probe<'a> {
    /// A probe on some items.
    pub(crate) fn new(training: &'a Training, settled: &'a Settled, items: &Dataset) -> Result<Probe<'a>> {
        let prepared = Prepared::new(items, training);
        let statistics = prepared.statistics(settled.rho)?;
        let fit = Fit::new(training, settled, &prepared, items, &items.subset(&[]))?;
        let state = OptimiserState::new(&fit.parameters);
        Ok(Probe { fit, statistics, state, settled })
    }

    /// The statistics of the items.
    pub(crate) fn statistics(&self) -> &Arc<Statistics> {
        &self.statistics
    }

    /// Lanes in which it is added up what a receiver hears.
    pub(crate) fn lanes(&self) -> usize {
        let channels = self.statistics.channels().iter().flatten().copied().chain(self.statistics.bias_channel()).max();
        channels.map_or(0, |last| ((last + 1) * self.settled.architecture.outputs).next_multiple_of(4))
    }

    /// Rows of the first items, with shells that `make` makes around them; and the seconds that took.
    pub(crate) fn rows(&self, items: usize, make: impl Fn(&Statistics, &[usize]) -> Vec<Shells>) -> (ItemRows, f64) {
        let rows: Vec<usize> = (0..items.min(self.statistics.items().len())).collect();
        let start = Instant::now();
        let shells = make(&self.statistics, &rows);
        let seconds = start.elapsed().as_secs_f64();
        (self.fit.engine.rows_in(&rows, shells), seconds)
    }

    /// Seconds of one step over these rows: tables, outputs and gradients, and the step itself.
    pub(crate) fn step_seconds(&mut self, rows: &mut ItemRows) -> f64 {
        let gradient = self.gradient(rows);
        let mut outputs = gradient.clone();
        let settings = self.settled.step(self.settled.learning_rate);
        fastest(|| {
            let Fit { engine, parameters, .. } = &mut self.fit;
            engine.tables(parameters, true);
            engine.outputs(rows, &mut outputs);
            engine.step(rows, &gradient, parameters, &mut self.state, settings);
        })
    }

    /// Seconds of the outputs of these rows and of their gradients.
    pub(crate) fn sweep_seconds(&mut self, rows: &mut ItemRows) -> f64 {
        let gradient = self.gradient(rows);
        let mut outputs = gradient.clone();
        fastest(|| {
            self.fit.engine.outputs(rows, &mut outputs);
            self.fit.engine.gradients(rows, &gradient);
        })
    }

    /// A gradient of the usual size: much smaller numbers are slower.
    fn gradient(&self, rows: &ItemRows) -> Vec<f32> {
        let size = 0.1 / rows.len().max(1) as f32;
        let signs = [size, -size].into_iter().cycle();
        signs.take(rows.len() * self.settled.architecture.outputs).collect()
    }
}

fn fastest(mut work: impl FnMut()) -> f64 {
    let mut seconds = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..TRIES).map(|_| seconds()).fold(f64::INFINITY, f64::min)
}
