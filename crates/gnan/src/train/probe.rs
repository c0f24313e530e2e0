//! A probe: a few items prepared and stepped over as a fit would, to see what that takes.

use std::sync::Arc;
use std::time::Instant;

use super::resolve::ResolvedSpec;
use super::setup::Setup;
use super::statistics_cache::StatisticsCache;
use super::training_loop::TrainingLoop;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::model::{ItemRows, OptimiserState};
use crate::spec::Spec;
use crate::statistics::{Shells, Statistics};

/// Tries of which the fastest counts.
const TRIES: usize = 2;

/// A training loop on few items.
pub(crate) struct Probe<'a> {
    training: TrainingLoop<'a>,
    state: OptimiserState,
}

/// What a probe is made of.
pub(crate) struct ProbeSetup {
    setup: Setup,
    items: Dataset,
}

impl ProbeSetup {
    /// The setup of a probe on some items.
    pub(crate) fn new(spec: &Spec, resolved: &ResolvedSpec, items: &Dataset) -> Result<ProbeSetup> {
        let resolved = ResolvedSpec { spec: spec.clone(), ..resolved.clone() };
        let statistics = StatisticsCache::new(items).statistics(&resolved)?;
        Ok(ProbeSetup { setup: Setup::of_data(spec, resolved, statistics, items)?, items: items.clone() })
    }

    /// A probe of it.
    pub(crate) fn probe(&self) -> Result<Probe<'_>> {
        let training = TrainingLoop::of_one(&self.setup, &self.items, &self.items.subset(&[]))?;
        Ok(Probe { state: OptimiserState::new(&training.lanes[0].parameters), training })
    }
}

impl Probe<'_> {
    /// The statistics of the items.
    pub(crate) fn statistics(&self) -> &Arc<Statistics> {
        &self.training.setup.statistics
    }

    /// Lanes of the sums over shells.
    pub(crate) fn lanes(&self) -> usize {
        (self.statistics().channel_count() * self.training.setup.resolved.outputs).next_multiple_of(4)
    }

    /// ItemRows of the first items, with shells that `make` makes around them; and the seconds that took.
    pub(crate) fn rows(&self, items: usize, make: impl Fn(&Statistics, &[usize]) -> Vec<Shells>) -> (ItemRows, f64) {
        let rows: Vec<usize> = (0..items.min(self.statistics().items.len())).collect();
        let start = Instant::now();
        let shells = make(self.statistics(), &rows);
        let seconds = start.elapsed().as_secs_f64();
        (self.training.engine.rows_in(&rows, shells), seconds)
    }

    /// Seconds of one step over these rows: tables, outputs and gradients, and the step itself.
    pub(crate) fn step_seconds(&mut self, rows: &mut ItemRows) -> f64 {
        let gradient = self.gradient(rows);
        let mut outputs = gradient.clone();
        let resolved = &self.training.setup.resolved;
        let settings = resolved.step(resolved.learning_rate);
        fastest(|| {
            let TrainingLoop { engine, lanes, .. } = &mut self.training;
            let parameters = &mut lanes[0].parameters;
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
            self.training.engine.outputs(rows, &mut outputs);
            self.training.engine.gradients(rows, &gradient);
        })
    }

    /// A gradient of the usual size: much smaller numbers are slower.
    fn gradient(&self, rows: &ItemRows) -> Vec<f32> {
        let size = 0.1 / rows.len().max(1) as f32;
        let signs = [size, -size].into_iter().cycle();
        signs.take(rows.len() * self.training.setup.resolved.outputs).collect()
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
