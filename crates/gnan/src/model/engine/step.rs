//! The step: Adam moves every parameter of a model along the gradient.

use crate::model::parameters::Parameters;
use crate::shape::{Adam, Bank, Moments};

use super::group_penalty::FeatureGroups;
use super::{Engine, ItemRows};

/// Free values, and coefficients of splines, are single numbers where a network has thousands: their steps are this much
/// larger.
const VALUE_RATE: f32 = 10.0;
/// The cells of a feature pair come after the effect of each feature alone: their steps are smaller than those of
/// other free values.
const CELL_RATE: f32 = 3.0;

/// What a step needs to know besides the gradient.
#[derive(Clone, Copy, Debug)]
pub struct StepSettings {
    /// Adam's settings.
    pub adam: Adam,
    /// Whether the output bias is trained.
    pub output_bias: bool,
    /// Strength of the penalty that switches features off; 0: none.
    pub group_penalty: f32,
}

/// Adam's memory for all parameters of a model.
#[derive(Clone)]
pub struct OptimiserState {
    /// Number of steps taken.
    pub steps: u64,
    shapes: Moments,
    rhos: Moments,
    readouts: Moments,
    /// First and second moments of values, bias and output bias, in that order.
    rest: [Vec<f32>; 2],
}

impl OptimiserState {
    /// The state before the first step.
    pub fn new(parameters: &Parameters) -> Self {
        let rest = vec![0.0; parameters.values.len() + parameters.bias.len() + parameters.output_bias.len()];
        OptimiserState {
            steps: 0,
            shapes: parameters.shapes.moments(),
            rhos: parameters.rhos.moments(),
            readouts: parameters.readouts.moments(),
            rest: [rest.clone(), rest],
        }
    }

    /// Of the first moments of every feature's weights the norm over the root of their number.
    pub(super) fn group_norms(&self, groups: &FeatureGroups, parameters: &Parameters) -> Vec<f64> {
        groups.norms(parameters, self.shapes.first.as_slice(), &self.rest[0])
    }

    /// The first moments: shape functions, distance functions, values, bias and output bias, readout functions.
    pub fn first_moments(&self) -> [&[f32]; 4] {
        let [shapes, rhos, readouts] = [&self.shapes, &self.rhos, &self.readouts].map(|of| of.first.as_slice());
        [shapes, rhos, &self.rest[0], readouts]
    }
}

impl Engine {
    /// For every feature the norm of the weights that switch it off, over the root of their number: 0 if it is off.
    pub fn group_norms(&self, parameters: &Parameters) -> Vec<f64> {
        self.groups.norms(parameters, parameters.shapes.all(), &parameters.values)
    }

    /// The same of the gradient that a state holds.
    pub fn group_gradients(&self, parameters: &Parameters, state: &OptimiserState) -> Vec<f64> {
        state.group_norms(&self.groups, parameters)
    }

    /// One Adam step along the gradient that `out_gradient` (`[rows, outputs]`, of the outputs with gain) gives for
    /// the rows last passed to [`outputs`](Self::outputs).
    pub fn step(
        &mut self,
        rows: &mut ItemRows,
        out_gradient: &[f32],
        parameters: &mut Parameters,
        state: &mut OptimiserState,
        settings: StepSettings,
    ) {
        self.gradients(rows, out_gradient);
        self.step_along(rows, parameters, state, settings);
    }

    /// One Adam step along the gradient that was left for these rows.
    pub fn step_along(
        &mut self,
        rows: &ItemRows,
        parameters: &mut Parameters,
        state: &mut OptimiserState,
        settings: StepSettings,
    ) {
        self.step_of(0, parameters, state, settings);
        if let Some(items) = &rows.readout {
            let step = settings.adam.step(state.steps);
            parameters.readouts.backward(&items.points, &items.gradient, &mut state.readouts, &step);
        }
    }

    /// One Adam step of one replicate along the gradient that [`gradients`](Self::gradients) left.
    pub fn step_of(
        &mut self,
        replicate: usize,
        parameters: &mut Parameters,
        state: &mut OptimiserState,
        settings: StepSettings,
    ) {
        let replicate = &mut self.replicates[replicate];
        replicate.take_gradient(&self.table_gradient, &self.binding, &self.unit_rows, &self.rho_slots);
        state.steps += 1;
        let step = settings.adam.step(state.steps);
        let faster = Adam { learning_rate: settings.adam.learning_rate * VALUE_RATE, ..settings.adam };
        let faster = faster.step(state.steps);
        let step_of = |bank: &Bank| if bank.kind().is_network() { step } else { faster };
        let Parameters { shapes, rhos, .. } = parameters;
        let (shape_step, rho_step) = (step_of(shapes), step_of(rhos));
        shapes.backward(&replicate.shape_points, &replicate.shape_gradient, &mut state.shapes, &shape_step);
        rhos.backward(&replicate.rho_points, &replicate.rho_gradient, &mut state.rhos, &rho_step);

        let (values, outputs) = (parameters.values.len(), replicate.lanes.outputs);
        let [first, second] = &mut state.rest;
        let decay = settings.adam.weight_decay;
        self.grid.smooth(&parameters.values, &mut replicate.value_gradient, outputs, decay);
        let cells_of_pairs = Adam { learning_rate: settings.adam.learning_rate * CELL_RATE, ..settings.adam };
        let cells = self.grid.first_value * outputs;
        let ranges = [(0..cells, faster), (cells..values, cells_of_pairs.step(state.steps))];
        for (range, step) in ranges {
            let gradient = &replicate.value_gradient[range.clone()];
            let (first, second) = (&mut first[range.clone()], &mut second[range.clone()]);
            step.update(&mut parameters.values[range], gradient, first, second);
        }
        if settings.group_penalty > 0.0 {
            let steps = [&shape_step, &faster];
            self.groups.shrink(parameters, &state.shapes, &second[..values], steps, settings.group_penalty);
        }
        let place = values..values + outputs;
        faster.update(&mut parameters.bias, &replicate.bias_gradient, &mut first[place.clone()], &mut second[place]);
        if settings.output_bias {
            let gradient: Vec<f32> = match self.readout {
                Some(_) => self.output_bias_gradient.clone(),
                None => replicate.lanes.from(&self.output_bias_gradient).copied().collect(),
            };
            let place = values + outputs..values + outputs + gradient.len();
            let undecayed = faster.with_decay(0.0);
            undecayed.update(&mut parameters.output_bias, &gradient, &mut first[place.clone()], &mut second[place]);
        }
    }
}

/// The sum of every column, added up in f64.
pub(super) fn column_sums(rows: &[f32], columns: usize) -> Vec<f32> {
    let mut sums = vec![0.0f64; columns];
    for row in rows.chunks_exact(columns) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    sums.into_iter().map(|sum| sum as f32).collect()
}
