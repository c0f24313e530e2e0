//! The engine: tables of shape functions, a sparse bilinear form, and its gradient.
//!
//! ```text
//! T[u, c]          f_k[c] at the value of unit u, minus f_k[c] at its reference; b[c] for unit 0
//! rho[r, l, c]     rho r at slot l
//! y[i, c]          sum over cells (u, l) of Q_i[u, l] * T[u, c] * rho[r(u), l, c]
//!                  + sum over channels and slots of rho[r, l, c] * mean over S_i(l) of what sources say
//! ```
//!
//! One call of [`Engine::tables`] evaluates every network at its distinct points; [`Engine::outputs`] and
//! [`Engine::step`] then touch only statistics. Sums run in a fixed order whatever the number of threads.

use std::sync::Arc;

use rayon::prelude::*;

use crate::files::Kind;
use crate::shape::{Adam, Architecture, Evaluation, Moments};
use crate::statistics::{BIAS_UNIT, CellRows, LevelValues, Shells, Statistics};

use super::parameters::{Layout, Parameters, Rho, RhoScale};
use super::schema::FeatureSchema;

/// Free values are single numbers where a network has thousands: their steps are this much larger.
const VALUE_RATE: f32 = 10.0;
/// Rows of the cell form that one task handles.
const ROWS_PER_TASK: usize = 512;
/// Sums over this many entries are made in f32 and then added up in f64.
const ENTRIES_IN_F32: usize = 1024;
/// The channel of a unit that is in cells.
const NO_CHANNEL: u32 = u32::MAX;
/// Cells of the cell form that one task handles.
const CELLS_PER_TASK: usize = 256;

/// The parts of a model that the engine needs.
#[derive(Clone, Copy)]
pub struct EngineModel<'a> {
    /// The features.
    pub features: &'a [FeatureSchema],
    /// Size of the networks.
    pub architecture: Architecture,
    /// Shared or per feature.
    pub rho: Rho,
    /// How distances enter the rho networks.
    pub rho_scale: RhoScale,
    /// Rho is 0 beyond this distance.
    pub hop_cap: Option<usize>,
}

/// Some rows of the statistics, copied out so that they are contiguous, with working memory for them.
pub struct Rows {
    cells: CellRows,
    by_cell: Option<CellRows>,
    shells: Option<Shells>,
    means: Vec<f32>,
    pull: Vec<f32>,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

/// A numeric feature's network and the units it fills.
struct NetworkUnits {
    network: usize,
    first_unit: usize,
}

/// A unit that training had not seen: it says what the feature says on average, which is 0 in canonical form.
struct Unseen {
    unit: u32,
    /// Share of every free value of a categorical feature in that average: (value, rho, share).
    shares: Vec<(usize, usize, f64)>,
    /// The average effect of a continuous feature; empty: 0.
    mean_effect: Vec<f64>,
}

/// Lanes of the shell rows: channels times outputs, in blocks of a width the kernels know.
#[derive(Clone, Copy)]
struct Lanes {
    width: usize,
    blocks: usize,
}

impl Lanes {
    fn new(total: usize) -> Lanes {
        let width = total.next_power_of_two().clamp(1, 16);
        Lanes { width, blocks: total.div_ceil(width) }
    }
}

/// A model bound to the statistics of some data.
pub struct Engine {
    statistics: Arc<Statistics>,
    outputs: usize,
    gain: f32,
    slots: usize,
    hop_cap: Option<usize>,
    network_units: Vec<NetworkUnits>,
    /// For every unit its free value, where it has one.
    value_of_unit: Vec<Option<u32>>,
    unseen: Vec<Unseen>,
    rho_of_unit: Vec<u32>,
    channel_of_unit: Vec<u32>,
    rho_of_channel: Vec<usize>,
    lanes: Lanes,
    shape_points: Evaluation,
    rho_points: Evaluation,
    table: Vec<f32>,
    rho: Vec<f32>,
    products: Vec<f32>,
    said: Vec<f32>,
    table_gradient: Vec<f32>,
    rho_gradient: Vec<f32>,
    product_gradient: Vec<f32>,
    said_gradient: Vec<f32>,
    shape_gradient: Vec<f32>,
    value_gradient: Vec<f32>,
}

/// Adam's memory for all parameters of a model.
#[derive(Clone)]
pub struct OptimiserState {
    /// Number of steps taken.
    pub steps: u64,
    shapes: Moments,
    rhos: Moments,
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
            rest: [rest.clone(), rest],
        }
    }

    /// The first moments: shape networks, rho networks, then values, bias and output bias.
    pub fn first_moments(&self) -> [&[f32]; 3] {
        [self.shapes.first.as_slice(), self.rhos.first.as_slice(), &self.rest[0]]
    }
}

impl Engine {
    /// Binds a model to statistics; outputs are multiplied by `gain`.
    pub fn new(model: EngineModel<'_>, statistics: Arc<Statistics>, gain: f32) -> Engine {
        let layout = Layout::new(model.features, model.rho);
        let levels = statistics.levels();
        let (units, slots, outputs) = (levels.unit_count(), statistics.slots(), model.architecture.outputs);
        let mut value_of_unit = vec![None; units];
        let mut rho_of_unit = vec![0; units];
        let mut channel_of_unit = vec![NO_CHANNEL; units];
        let channels = statistics.channels().iter().flatten().max().map_or(0, |channel| channel + 1);
        let channels = if statistics.shells().is_some() { channels.max(1) } else { 0 };
        let mut rho_of_channel = vec![0; channels];
        let mut network_units = Vec::new();
        let mut unseen = Vec::new();
        let mut points = Vec::new();
        let bound = model.features.iter().zip(&layout.features).zip(levels.features()).zip(statistics.channels());
        for (((feature, place), levels), channel) in bound {
            let first = levels.units.start as usize;
            let end = levels.missing.map_or(levels.units.end, |missing| missing + 1) as usize;
            // An unseen category says nothing, so any rho will do; its feature may have none of its own.
            if feature.kind != Kind::Categorical {
                rho_of_unit[first..end].fill(place.first_rho as u32);
            }
            if let Some(channel) = channel {
                channel_of_unit[first..end].fill(*channel as u32);
                rho_of_channel[*channel] = place.first_rho;
            }
            match (&levels.values, place.network, &feature.scale) {
                (LevelValues::Numbers(values), Some(network), Some(scale)) => {
                    let mut inputs: Vec<f32> = values.iter().map(|value| scale.apply(*value)).collect();
                    inputs.push(0.0);
                    points.push(inputs);
                    network_units.push(NetworkUnits { network, first_unit: first });
                }
                (LevelValues::Names(names), ..) => {
                    for (unit, name) in (first..).zip(names) {
                        if let Some(level) = feature.level(name) {
                            value_of_unit[unit] = Some((place.first_value + level) as u32);
                            if model.rho == Rho::PerFeature {
                                rho_of_unit[unit] = (place.first_rho + level) as u32;
                            }
                        }
                    }
                }
                _ => {}
            }
            if let (Some(unit), Some(_)) = (levels.missing, feature.missing) {
                value_of_unit[unit as usize] = Some((place.first_value + feature.levels.len()) as u32);
                if model.rho == Rho::PerFeature && feature.kind == Kind::Categorical {
                    rho_of_unit[unit as usize] = (place.first_rho + feature.levels.len()) as u32;
                }
            }
            let has_network = |unit: usize| place.network.is_some() && (unit as u32) < levels.units.end;
            for unit in (first..end).filter(|unit| value_of_unit[*unit].is_none() && !has_network(*unit)) {
                let categorical = feature.kind == Kind::Categorical;
                let shares = if categorical { feature.level_shares() } else { Vec::new() };
                let own_rho = usize::from(model.rho == Rho::PerFeature);
                let shares = shares
                    .into_iter()
                    .enumerate()
                    .map(|(level, share)| (place.first_value + level, place.first_rho + level * own_rho, share));
                unseen.push(Unseen {
                    unit: unit as u32,
                    shares: shares.collect(),
                    mean_effect: feature.mean_effect.clone(),
                });
            }
        }
        let shape_points = Evaluation::new(points, outputs);
        let arguments: Vec<f32> = (0..slots).map(|slot| model.rho_scale.apply(statistics.rho_argument(slot))).collect();
        let rho_points = Evaluation::new((0..layout.rhos).map(|_| arguments.clone()), outputs);
        let lanes = Lanes::new(channels * outputs);
        let nodes = if channels > 0 { levels_nodes(&statistics) } else { 0 };
        let said = vec![0.0; lanes.blocks * lanes.width * nodes];
        Engine {
            outputs,
            gain,
            slots,
            hop_cap: model.hop_cap,
            network_units,
            value_of_unit,
            unseen,
            rho_of_unit,
            channel_of_unit,
            rho_of_channel,
            lanes,
            table: vec![0.0; units * outputs],
            rho: vec![0.0; rho_points.len() * outputs],
            products: vec![0.0; statistics.cells().len() * outputs],
            said_gradient: said.clone(),
            said,
            table_gradient: vec![0.0; units * outputs],
            rho_gradient: vec![0.0; rho_points.len() * outputs],
            product_gradient: vec![0.0; statistics.cells().len() * outputs],
            shape_gradient: vec![0.0; shape_points.len() * outputs],
            value_gradient: vec![0.0; layout.values * outputs],
            shape_points,
            rho_points,
            statistics,
        }
    }

    /// The statistics this engine is bound to.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Copies out some rows. `repeated` prepares them for many steps over all of them.
    pub fn rows(&self, rows: &[usize], repeated: bool) -> Rows {
        let cells = self.statistics.rows().select(rows);
        let by_cell = repeated.then(|| cells.transpose(self.statistics.cells().len()));
        let shells = self.statistics.shells().map(|shells| shells.select(rows));
        let means = if shells.is_some() { rows.len() * self.slots * self.lanes.width * self.lanes.blocks } else { 0 };
        Rows { cells, by_cell, shells, means: vec![0.0; means], pull: Vec::new() }
    }

    /// Draws dropout masks for a step; `rate` 0 removes them.
    pub fn draw_masks(&mut self, parameters: &Parameters, rate: f32, seed: u64, step: u64) {
        self.shape_points.draw_masks(parameters.shapes.architecture(), rate, seed, "dropout of shapes", step);
        self.rho_points.draw_masks(parameters.rhos.architecture(), rate, seed, "dropout of rho", step);
    }

    /// Evaluates all tables; with `keep`, for a gradient to follow.
    pub fn tables(&mut self, parameters: &Parameters, keep: bool) {
        let outputs = self.outputs;
        parameters.shapes.forward(&mut self.shape_points, keep);
        parameters.rhos.forward(&mut self.rho_points, keep);
        self.rho.copy_from_slice(self.rho_points.outputs());
        for slot in silent_slots(self.hop_cap, self.slots) {
            for rho in self.rho.chunks_exact_mut(self.slots * outputs) {
                rho[slot * outputs..(slot + 1) * outputs].fill(0.0);
            }
        }
        self.table[..outputs].copy_from_slice(&parameters.bias);
        for units in &self.network_units {
            let rows = self.shape_points.rows(units.network);
            let found = &self.shape_points.outputs()[rows.start * outputs..rows.end * outputs];
            let (found, reference) = found.split_at(found.len() - outputs);
            let table = &mut self.table[units.first_unit * outputs..][..found.len()];
            for (table, found) in table.chunks_exact_mut(outputs).zip(found.chunks_exact(outputs)) {
                for c in 0..outputs {
                    table[c] = found[c] - reference[c];
                }
            }
        }
        for (unit, value) in self.value_of_unit.iter().enumerate() {
            if let Some(value) = value {
                let value = &parameters.values[*value as usize * outputs..][..outputs];
                self.table[unit * outputs..][..outputs].copy_from_slice(value);
            }
        }
        self.fill_unseen(parameters);
        self.fill_products();
        self.average_unseen_products(parameters);
        self.fill_said();
    }

    /// What a unit says that training had not seen.
    fn fill_unseen(&mut self, parameters: &Parameters) {
        let outputs = self.outputs;
        for unseen in &self.unseen {
            let table = &mut self.table[unseen.unit as usize * outputs..][..outputs];
            for (c, said) in table.iter_mut().enumerate() {
                let values = unseen
                    .shares
                    .iter()
                    .map(|(value, _, share)| share * f64::from(parameters.values[value * outputs + c]));
                *said = (values.sum::<f64>() + unseen.mean_effect.get(c).copied().unwrap_or(0.0)) as f32;
            }
        }
    }

    /// Where every level has a rho of its own, it is the products that are averaged, per distance.
    fn average_unseen_products(&mut self, parameters: &Parameters) {
        let (outputs, slots) = (self.outputs, self.slots);
        let cells = self.statistics.cells();
        for unseen in self.unseen.iter().filter(|unseen| !unseen.shares.is_empty()) {
            let start = cells.units.partition_point(|unit| *unit < unseen.unit);
            let end = cells.units.partition_point(|unit| *unit <= unseen.unit);
            for cell in start..end {
                let slot = usize::from(cells.slots[cell]);
                for c in 0..outputs {
                    let products = unseen.shares.iter().map(|(value, rho, share)| {
                        let rho = f64::from(self.rho[(rho * slots + slot) * outputs + c]);
                        share * f64::from(parameters.values[value * outputs + c]) * rho
                    });
                    self.products[cell * outputs + c] = products.sum::<f64>() as f32;
                }
            }
        }
    }

    /// `T[u, c]`, as [`tables`](Self::tables) left it.
    pub fn table(&self) -> &[f32] {
        &self.table
    }

    /// `rho[r, l, c]`, as [`tables`](Self::tables) left it.
    pub fn rho_table(&self) -> &[f32] {
        &self.rho
    }

    /// The rho of every unit.
    pub fn rho_of_unit(&self) -> &[u32] {
        &self.rho_of_unit
    }

    fn fill_products(&mut self) {
        let (outputs, slots) = (self.outputs, self.slots);
        let cells = self.statistics.cells();
        for ((product, unit), slot) in self.products.chunks_exact_mut(outputs).zip(&cells.units).zip(&cells.slots) {
            let unit = *unit as usize;
            let rho = &self.rho[(self.rho_of_unit[unit] as usize * slots + usize::from(*slot)) * outputs..][..outputs];
            let table = &self.table[unit * outputs..][..outputs];
            for c in 0..outputs {
                product[c] = table[c] * rho[c];
            }
        }
    }

    fn fill_said(&mut self) {
        if self.said.is_empty() {
            return;
        }
        let (outputs, lanes) = (self.outputs, self.lanes);
        let shared = !self.statistics.options().rho_per_feature;
        let (table, channel_of_unit, statistics) = (&self.table, &self.channel_of_unit, &self.statistics);
        let nodes = self.said.len() / (lanes.width * lanes.blocks);
        let add = |said: &mut [f32], first_lane: usize, node: usize| {
            if shared {
                // One channel: lanes are the outputs from `first_lane` on.
                let here = (outputs - first_lane).min(lanes.width);
                said[..here].copy_from_slice(&table[first_lane..first_lane + here]);
                for unit in statistics.levels().of_node(node) {
                    let table = &table[*unit as usize * outputs + first_lane..][..here];
                    said.iter_mut().zip(table).for_each(|(said, value)| *said += value);
                }
                return;
            }
            said.fill(0.0);
            for unit in statistics.levels().of_node(node) {
                let channel = channel_of_unit[*unit as usize] as usize;
                if channel == NO_CHANNEL as usize {
                    continue;
                }
                for c in 0..outputs {
                    let lane = channel * outputs + c;
                    if (first_lane..first_lane + lanes.width).contains(&lane) {
                        said[lane - first_lane] += table[*unit as usize * outputs + c];
                    }
                }
            }
        };
        for (block, said) in self.said.chunks_exact_mut(nodes * lanes.width).enumerate() {
            said.par_chunks_mut(1024 * lanes.width).enumerate().for_each(|(task, said)| {
                for (node, said) in (task * 1024..).zip(said.chunks_exact_mut(lanes.width)) {
                    add(said, block * lanes.width, node);
                }
            });
        }
    }

    /// `out[i, c] = gain * y[i, c]`, without the output bias.
    pub fn outputs(&self, rows: &mut Rows, out: &mut [f32]) {
        let (outputs, gain, products) = (self.outputs, self.gain, &self.products);
        let cells = &rows.cells;
        out.par_chunks_mut(ROWS_PER_TASK * outputs).enumerate().for_each(|(task, out)| {
            for (row, out) in (task * ROWS_PER_TASK..).zip(out.chunks_exact_mut(outputs)) {
                let (cells, weights) = cells.row(row);
                gather_row(cells, weights, products, out);
            }
        });
        if let Some(shells) = &rows.shells {
            self.shell_outputs(shells, &mut rows.means, out);
        }
        out.iter_mut().for_each(|y| *y *= gain);
    }

    fn shell_outputs(&self, shells: &Shells, means: &mut [f32], out: &mut [f32]) {
        let (outputs, slots, lanes) = (self.outputs, self.slots, self.lanes);
        let receivers = shells.receivers.len();
        let nodes = self.said.len() / (lanes.width * lanes.blocks);
        for block in 0..lanes.blocks {
            let means = &mut means[block * receivers * slots * lanes.width..][..receivers * slots * lanes.width];
            shells.means(&self.said[block * nodes * lanes.width..][..nodes * lanes.width], lanes.width, means);
            for (means, out) in means.chunks_exact(slots * lanes.width).zip(out.chunks_exact_mut(outputs)) {
                self.each_lane(block, |lane, rho, c| {
                    let sum: f32 = (0..slots)
                        .map(|slot| self.rho[(rho * slots + slot) * outputs + c] * means[slot * lanes.width + lane])
                        .sum();
                    out[c] += sum;
                });
            }
        }
    }

    /// Calls `visit(lane within the block, rho, output)` for every lane of a block.
    fn each_lane(&self, block: usize, mut visit: impl FnMut(usize, usize, usize)) {
        let total = self.rho_of_channel.len() * self.outputs;
        let start = block * self.lanes.width;
        for lane in start..(start + self.lanes.width).min(total) {
            visit(lane - start, self.rho_of_channel[lane / self.outputs], lane % self.outputs);
        }
    }

    /// One Adam step along the gradient that `out_gradient` (`[rows, outputs]`, of the outputs with gain) gives for
    /// the rows last passed to [`outputs`](Self::outputs).
    pub fn step(
        &mut self,
        rows: &mut Rows,
        out_gradient: &[f32],
        parameters: &mut Parameters,
        state: &mut OptimiserState,
        settings: StepSettings,
    ) {
        self.product_gradients(rows, out_gradient);
        self.table_gradient.fill(0.0);
        self.rho_gradient.fill(0.0);
        self.cell_gradients();
        self.shell_gradients(rows, out_gradient);
        for slot in silent_slots(self.hop_cap, self.slots) {
            for gradient in self.rho_gradient.chunks_exact_mut(self.slots * self.outputs) {
                gradient[slot * self.outputs..(slot + 1) * self.outputs].fill(0.0);
            }
        }
        self.spread_table_gradient();
        state.steps += 1;
        let step = settings.adam.step(state.steps);
        parameters.shapes.backward(&self.shape_points, &self.shape_gradient, &mut state.shapes, &step);
        parameters.rhos.backward(&self.rho_points, &self.rho_gradient, &mut state.rhos, &step);

        let faster = Adam { learning_rate: settings.adam.learning_rate * VALUE_RATE, ..settings.adam };
        let faster = faster.step(state.steps);
        let (values, outputs) = (parameters.values.len(), self.outputs);
        let [first, second] = &mut state.rest;
        faster.update(&mut parameters.values, &self.value_gradient, &mut first[..values], &mut second[..values]);
        let place = values..values + outputs;
        let bias_gradient = &self.table_gradient[..outputs];
        faster.update(&mut parameters.bias, bias_gradient, &mut first[place.clone()], &mut second[place]);
        if settings.output_bias {
            let mut sums = vec![0.0f64; outputs];
            for row in out_gradient.chunks_exact(outputs) {
                sums.iter_mut().zip(row).for_each(|(sum, g)| *sum += f64::from(*g));
            }
            let gradient: Vec<f32> = sums.iter().map(|sum| *sum as f32).collect();
            let place = values + outputs..values + 2 * outputs;
            let undecayed = faster.with_decay(0.0);
            undecayed.update(&mut parameters.output_bias, &gradient, &mut first[place.clone()], &mut second[place]);
        }
    }

    /// `dP[cell, c] = gain * sum_i g[i, c] * Q_i[cell]`
    fn product_gradients(&mut self, rows: &Rows, out_gradient: &[f32]) {
        let (outputs, gain) = (self.outputs, self.gain);
        if let Some(by_cell) = &rows.by_cell {
            let work = self.product_gradient.par_chunks_mut(CELLS_PER_TASK * outputs).enumerate();
            return work.for_each(|(task, gradient)| {
                for (cell, gradient) in (task * CELLS_PER_TASK..).zip(gradient.chunks_exact_mut(outputs)) {
                    let (items, weights) = by_cell.row(cell);
                    gather_row(items, weights, out_gradient, gradient);
                    gradient.iter_mut().for_each(|g| *g *= gain);
                }
            });
        }
        self.product_gradient.fill(0.0);
        for (row, gradient) in out_gradient.chunks_exact(outputs).enumerate() {
            let (cells, weights) = rows.cells.row(row);
            for (cell, weight) in cells.iter().zip(weights) {
                let sum = &mut self.product_gradient[*cell as usize * outputs..][..outputs];
                for c in 0..outputs {
                    sum[c] += gain * weight * gradient[c];
                }
            }
        }
    }

    /// From products back to `T` and `rho`.
    fn cell_gradients(&mut self) {
        let (outputs, slots) = (self.outputs, self.slots);
        let cells = self.statistics.cells();
        let gradients = self.product_gradient.chunks_exact(outputs);
        for ((gradient, unit), slot) in gradients.zip(&cells.units).zip(&cells.slots) {
            let unit = *unit as usize;
            let at = (self.rho_of_unit[unit] as usize * slots + usize::from(*slot)) * outputs;
            for c in 0..outputs {
                self.table_gradient[unit * outputs + c] += gradient[c] * self.rho[at + c];
                self.rho_gradient[at + c] += gradient[c] * self.table[unit * outputs + c];
            }
        }
    }

    /// From shell means back to `rho` and to what sources say, and on to `T`.
    fn shell_gradients(&mut self, rows: &mut Rows, out_gradient: &[f32]) {
        let Some(shells) = &rows.shells else { return };
        let (outputs, slots, lanes, gain) = (self.outputs, self.slots, self.lanes, self.gain);
        let receivers = shells.receivers.len();
        let nodes = self.said.len() / (lanes.width * lanes.blocks);
        let size = receivers * slots * lanes.width;
        rows.pull.resize(rows.means.len(), 0.0);
        let mut rho_gradient = std::mem::take(&mut self.rho_gradient);
        for block in 0..lanes.blocks {
            let means = &rows.means[block * size..][..size];
            let pull = &mut rows.pull[block * size..][..size];
            let per_receiver = means.chunks_exact(slots * lanes.width).zip(pull.chunks_exact_mut(slots * lanes.width));
            for (i, (means, pull)) in per_receiver.enumerate() {
                let shares = &shells.shares[i * slots..][..slots];
                let gradient = &out_gradient[i * outputs..][..outputs];
                self.each_lane(block, |lane, rho, c| {
                    let g = gain * gradient[c];
                    for slot in 0..slots {
                        let at = (rho * slots + slot) * outputs + c;
                        rho_gradient[at] += g * means[slot * lanes.width + lane];
                        pull[slot * lanes.width + lane] = g * self.rho[at] * shares[slot];
                    }
                });
            }
            let said_gradient = &mut self.said_gradient[block * nodes * lanes.width..][..nodes * lanes.width];
            shells.gather(pull, lanes.width, said_gradient);
        }
        self.rho_gradient = rho_gradient;
        self.said_to_table();
    }

    fn said_to_table(&mut self) {
        let (outputs, lanes) = (self.outputs, self.lanes);
        let shared = !self.statistics.options().rho_per_feature;
        let nodes = self.said.len() / (lanes.width * lanes.blocks);
        let levels = self.statistics.levels();
        let mut bias = vec![0.0f64; outputs];
        for (block, gradient) in self.said_gradient.chunks_exact(nodes * lanes.width).enumerate() {
            let first_lane = block * lanes.width;
            for (node, gradient) in gradient.chunks_exact(lanes.width).enumerate() {
                if shared {
                    let here = (outputs - first_lane).min(lanes.width);
                    for unit in levels.of_node(node) {
                        let table = &mut self.table_gradient[*unit as usize * outputs + first_lane..][..here];
                        table.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g);
                    }
                    let bias = &mut bias[first_lane..first_lane + here];
                    bias.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += f64::from(*g));
                    continue;
                }
                for unit in levels.of_node(node) {
                    let channel = self.channel_of_unit[*unit as usize] as usize;
                    if channel == NO_CHANNEL as usize {
                        continue;
                    }
                    for c in 0..outputs {
                        let lane = channel * outputs + c;
                        if (first_lane..first_lane + lanes.width).contains(&lane) {
                            self.table_gradient[*unit as usize * outputs + c] += gradient[lane - first_lane];
                        }
                    }
                }
            }
        }
        let place = BIAS_UNIT as usize * outputs;
        self.table_gradient[place..place + outputs].iter_mut().zip(bias).for_each(|(sum, g)| *sum += g as f32);
    }

    /// From `T` to the networks (the reference takes the opposite of the sum) and the free values.
    fn spread_table_gradient(&mut self) {
        let outputs = self.outputs;
        for units in &self.network_units {
            let rows = self.shape_points.rows(units.network);
            let gradient = &mut self.shape_gradient[rows.start * outputs..rows.end * outputs];
            let (gradient, reference) = gradient.split_at_mut((rows.len() - 1) * outputs);
            gradient.copy_from_slice(&self.table_gradient[units.first_unit * outputs..][..gradient.len()]);
            reference.fill(0.0);
            for row in gradient.chunks_exact(outputs) {
                reference.iter_mut().zip(row).for_each(|(sum, g)| *sum -= g);
            }
        }
        self.value_gradient.fill(0.0);
        for (unit, value) in self.value_of_unit.iter().enumerate() {
            if let Some(value) = value {
                let sum = &mut self.value_gradient[*value as usize * outputs..][..outputs];
                sum.iter_mut().zip(&self.table_gradient[unit * outputs..]).for_each(|(sum, g)| *sum += g);
            }
        }
    }
}

/// What a step needs to know besides the gradient.
#[derive(Clone, Copy, Debug)]
pub struct StepSettings {
    /// Adam's settings.
    pub adam: Adam,
    /// Whether the output bias is trained.
    pub output_bias: bool,
}

/// `out[c] = sum_e weights[e] * table[columns[e], c]`, in f32 within pieces that are added up in f64.
fn gather_row(columns: &[u32], weights: &[f32], table: &[f32], out: &mut [f32]) {
    if columns.len() <= ENTRIES_IN_F32 {
        return gather_piece(columns, weights, table, out);
    }
    let mut exact = vec![0.0f64; out.len()];
    for (columns, weights) in columns.chunks(ENTRIES_IN_F32).zip(weights.chunks(ENTRIES_IN_F32)) {
        gather_piece(columns, weights, table, out);
        exact.iter_mut().zip(out.iter()).for_each(|(exact, out)| *exact += f64::from(*out));
    }
    out.iter_mut().zip(exact).for_each(|(out, exact)| *out = exact as f32);
}

fn gather_piece(columns: &[u32], weights: &[f32], table: &[f32], out: &mut [f32]) {
    if let [out] = out {
        let mut sums = [0.0f32; 4];
        let (columns4, columns_rest) = columns.as_chunks::<4>();
        let (weights4, weights_rest) = weights.as_chunks::<4>();
        for (columns, weights) in columns4.iter().zip(weights4) {
            for e in 0..4 {
                sums[e] += weights[e] * table[columns[e] as usize];
            }
        }
        for (column, weight) in columns_rest.iter().zip(weights_rest) {
            sums[0] += weight * table[*column as usize];
        }
        *out = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        return;
    }
    out.fill(0.0);
    let outputs = out.len();
    for (column, weight) in columns.iter().zip(weights) {
        let values = &table[*column as usize * outputs..][..outputs];
        out.iter_mut().zip(values).for_each(|(out, value)| *out += weight * value);
    }
}

/// Slots beyond the hop cap, "unreachable" always included.
fn silent_slots(hop_cap: Option<usize>, slots: usize) -> std::ops::Range<usize> {
    hop_cap.map_or(slots, |cap| cap.saturating_add(1).min(slots - 1))..slots
}

fn levels_nodes(statistics: &Statistics) -> usize {
    statistics.shells().map_or(0, Shells::source_count)
}
