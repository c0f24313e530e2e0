//! The engine: tables of shape functions, a sparse bilinear form, and its gradient.
//!
//! ```text
//! T[u, c]          f_k[c] at the value of unit u, minus f_k[c] at its reference; b[c] for unit 0
//! rho[r, l, c]     rho r at slot l
//! y[i, c]          sum over cells (u, l) of Q_i[u, l] * T[u, c] * rho[r(u), l, c]
//!                  + sum over channels and slots of rho[r, l, c] * mean over S_i(l) of the source values
//! ```
//!
//! One call of [`Engine::tables`] evaluates every network at its distinct points; [`Engine::outputs`] and
//! [`Engine::step`] then touch only statistics. Sums run in a fixed order whatever the number of threads.
//!
//! Every module holds one term of the formula, its gradient directly below it: [`tables`] the two tables, [`cells`] the
//! sum over cells, [`shells`] the sum over channels and slots, [`source_values`] the source values for it, [`pieces`]
//! networks that are evaluated piece by piece, [`readout`] the functions that may stand between them and the outputs.
//! [`binding`] determines which unit takes what from which parameter, and [`step`] moves the parameters. One engine may
//! serve several models at once that differ in their parameters only: see [`replicate`].

mod binding;
mod cells;
mod gather;
mod grid;
mod group_penalty;
mod lanes;
mod pieces;
mod readout;
mod receiver_blocks;
mod replicate;
mod shells;
mod source_values;
mod step;
mod tables;

use std::sync::Arc;

use crate::lens::Reach;
use crate::shape::{Architecture, Basis, EvalPoints, ShapeKind};
use crate::statistics::{Shells, Statistics};

use super::parameters::{Layout, Parameters, Rho, RhoScale};
use super::schema::FeatureSchema;
use binding::Binding;
use cells::{BatchCells, CellTerm};
use grid::PairGrid;
use group_penalty::FeatureGroups;
use pieces::{Pieces, UnitRows};
use readout::{BatchReadout, Readout};
use replicate::Replicate;
use shells::{BatchShells, ShellTerm};
use step::column_sums;
pub use step::{OptimiserState, StepSettings};
use tables::{FunctionTables, RhoSlots};

/// The parts of a model that the engine needs.
#[derive(Clone, Copy)]
pub struct EngineModel<'a> {
    /// The features.
    pub features: &'a [FeatureSchema],
    /// Size of the networks; its outputs are those of a source.
    pub architecture: Architecture,
    /// Number of outputs of the readout functions, where there are any.
    pub readout: Option<usize>,
    /// Whether nothing is taken out of the features: then what training had not seen contributes nothing.
    pub uncentred: bool,
    /// Shared or per feature.
    pub rho: Rho,
    /// How distances enter the rhos.
    pub rho_scale: RhoScale,
    /// What the shape functions are made of.
    pub shape: ShapeKind,
    /// The knots of the rhos, where they are splines.
    pub rho_spline: Option<&'a Basis>,
    /// Strength of the smoothness penalty of splines.
    pub smooth: f64,
    /// Rho is 0 at other distances.
    pub reach: Reach,
    /// What rho is multiplied by at every distance; empty: 1.
    pub shell_scale: &'a [f64],
    /// A network with more distinct values than this is evaluated piece by piece, as training may; `None`: none is. There must
    /// be one replicate.
    pub pieces_above: Option<usize>,
}

/// Some rows of the statistics, copied out so that they are contiguous, with working memory for them.
pub struct ItemRows {
    cells: BatchCells,
    shells: Option<BatchShells>,
    readout: Option<BatchReadout>,
}

impl ItemRows {
    /// Draws another sample of every shell, where there are samples.
    pub fn redraw(&mut self, draw: u64) {
        if let Some(shells) = &mut self.shells {
            shells.redraw(draw);
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The inputs of the readout functions at the last outputs, part after part; nothing without a readout.
    pub fn readout_inputs(&self) -> &[f32] {
        self.readout.as_ref().map_or(&[], |readout| &readout.points.inputs)
    }
}

/// A model, or several replicates of one, bound to the statistics of some data.
pub struct Engine {
    statistics: Arc<Statistics>,
    binding: Binding,
    unit_rows: UnitRows,
    pieces: Option<Pieces>,
    grid: PairGrid,
    gain: f32,
    replicates: Vec<Replicate>,
    tables: FunctionTables,
    rho_slots: RhoSlots,
    groups: FeatureGroups,
    cells: CellTerm,
    shells: Option<ShellTerm>,
    readout: Option<Readout>,
    table_gradient: FunctionTables,
    /// The gradient of the output bias, by lane.
    output_bias_gradient: Vec<f32>,
}

impl Engine {
    /// Binds a model to statistics; outputs are multiplied by `gain`.
    pub fn new(model: EngineModel<'_>, statistics: Arc<Statistics>, gain: f32) -> Engine {
        Engine::replicated(model, statistics, gain, 1)
    }

    /// Binds replicates of a model to statistics: in rows of outputs and their gradients, lane `c * replicates + r` is
    /// output `c` of replicate `r`.
    pub fn replicated(model: EngineModel<'_>, statistics: Arc<Statistics>, gain: f32, replicates: usize) -> Engine {
        let axis = &statistics.axis;
        let layout = Layout::new(model.features, model.rho, model.reach, axis.lenses());
        let units = statistics.levels.unit_count();
        let outputs = model.architecture.outputs;
        let lanes = outputs * replicates;
        let (mut binding, points) = Binding::new(model, &layout, &statistics);
        let (pieces, unit_rows) = Pieces::new(model, &layout, &statistics.levels).unzip();
        let unit_rows = unit_rows.unwrap_or_default();
        binding.set_first_rows(&unit_rows);
        let rows = if unit_rows.are_plain() { units } else { 0 };
        let specs = model.bank_specs(&layout);
        let shape_points = EvalPoints::new(&specs.shapes, &points);
        let rho_slots = RhoSlots::new(&layout, axis, model.shell_scale);
        let argument = |slot: &usize| model.rho_scale.apply(axis.argument(*slot));
        let arguments: Vec<Vec<f64>> =
            rho_slots.slots_of_function.iter().map(|slots| slots.iter().map(argument).collect()).collect();
        let rho_points = EvalPoints::new(&specs.rhos, &arguments);
        let shells = statistics.shell_counts.first().map(|shell_counts| {
            let offsets = (0..axis.lenses()).map(|lens| axis.range(lens).start).collect();
            let bias = statistics.bias_channel();
            ShellTerm::new(binding.rho_of_channel.clone(), lanes, shell_counts.source_count, bias, offsets)
        });
        Engine {
            grid: PairGrid::new(model.features, &layout),
            gain,
            replicates: Replicate::several(replicates, &shape_points, &rho_points, layout.values, outputs),
            tables: FunctionTables::zeros(rows, layout.rhos.len(), axis.slots(), lanes),
            table_gradient: FunctionTables::zeros(rows, layout.rhos.len(), axis.slots(), lanes),
            rho_slots,
            groups: FeatureGroups::new(&layout),
            cells: CellTerm::new(statistics.cells.len(), lanes),
            shells,
            readout: model.readout.map(|outputs| Readout::new(specs.readouts, outputs, &statistics)),
            output_bias_gradient: vec![0.0; lanes],
            binding,
            unit_rows,
            pieces,
            statistics,
        }
    }

    /// The memory that an engine for replicates of a model takes, in bytes: tables, their gradients, the source values,
    /// and the parameters with what the optimiser remembers of them.
    pub fn bytes(model: EngineModel<'_>, statistics: &Statistics, replicates: usize) -> u64 {
        let lanes = model.architecture.outputs * replicates;
        let layout = Layout::new(model.features, model.rho, model.reach, statistics.axis.lenses());
        let channels =
            statistics.shell_counts.first().map_or(0, |_| statistics.channels.len().clamp(1, layout.rhos.len()));
        let sources = statistics.shell_counts.first().map_or(0, |of_lens| of_lens.source_count);
        let pieced = statistics.levels.features.iter().filter(|levels| model.is_pieced(levels));
        let pieced: usize = pieced.map(|levels| levels.units.len()).sum();
        let units = statistics.levels.unit_count() * (28 + 12 * lanes);
        // Row numbers of units instead of rows; few rows may come several times.
        let units =
            units - pieced * 12 * lanes + pieced * 8 + 4 * source_values::chunk_floats(&statistics.levels, lanes);
        let networks = model.features.len() * model.architecture.block_len() * replicates;
        (units + 8 * sources * channels * lanes.next_multiple_of(4) + 16 * networks) as u64
    }

    /// Number of replicates.
    pub fn replicates(&self) -> usize {
        self.replicates.len()
    }

    /// The statistics this engine is bound to.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Binds the same model, whose tables are evaluated, to the statistics of other items.
    ///
    /// They must have the same levels and the same distances: see [`Statistics::with_levels`].
    pub fn rebind(&mut self, statistics: Arc<Statistics>, parameters: &Parameters) {
        let cells = &statistics.cells;
        self.cells = CellTerm::new(cells.len(), self.tables.lanes);
        self.cells.fill(&self.tables, &self.binding, &self.unit_rows, cells);
        self.cells.average_unseen(&self.tables, &self.binding, cells, parameters, &self.replicates[0]);
        self.statistics = statistics;
    }

    /// `T[u, lane]` for every lane, as [`tables`](Self::tables) left it.
    pub fn unit(&self, unit: u32) -> impl Iterator<Item = f32> + '_ {
        let row = self.unit_rows.of(unit);
        (0..self.tables.lanes).map(move |lane| self.tables.value(row, lane))
    }

    /// `rho[r, l, lane]`, as [`tables`](Self::tables) left it.
    pub fn rho_table(&self) -> &[f32] {
        &self.tables.rhos
    }

    /// The rho of every unit.
    pub fn rho_of_unit(&self) -> &[u32] {
        &self.binding.rho_of_unit
    }

    /// Copies out some rows. `repeated` prepares them for many steps over all of them.
    pub fn rows(&self, rows: &[usize], repeated: bool) -> ItemRows {
        self.copied(rows, repeated, || self.statistics.shells(rows))
    }

    /// Rows with the shells that are given for them, lens after lens.
    pub(crate) fn rows_in(&self, rows: &[usize], shells: Vec<Shells>) -> ItemRows {
        self.copied(rows, false, || shells)
    }

    fn copied(&self, rows: &[usize], repeated: bool, shells: impl FnOnce() -> Vec<Shells>) -> ItemRows {
        ItemRows {
            readout: self.readout.as_ref().map(|readout| readout.items(rows.len())),
            cells: self.item_cells(rows, repeated),
            shells: self.shells.as_ref().map(|term| term.items(shells())),
        }
    }

    /// Rows that are used once: distances are searched for and not stored. The outputs of an item do not depend on which
    /// others are requested with it.
    pub fn rows_once(&self, rows: &[usize]) -> ItemRows {
        self.rows_in(rows, self.statistics.shells_once(rows))
    }

    fn item_cells(&self, rows: &[usize], repeated: bool) -> BatchCells {
        let cells = &self.statistics.cells;
        let included = |cell: u32| {
            let (unit, slot) = (cells.units[cell as usize], cells.slots[cell as usize]);
            self.rho_slots.point(self.binding.rho_of_unit[unit as usize] as usize, usize::from(slot)).is_some()
        };
        BatchCells::new(&self.statistics, rows, included, repeated)
    }

    /// Copies out the rows at some `positions` of `whole`, which holds `rows`.
    pub fn batch(&self, whole: &ItemRows, rows: &[usize], positions: &[usize]) -> ItemRows {
        let rows: Vec<usize> = positions.iter().map(|position| rows[*position]).collect();
        self.copied(&rows, false, || {
            let shells = whole.shells.as_ref().expect("all rows of an engine with shells have shells");
            shells.select(positions)
        })
    }

    /// Draws dropout masks for a step; `rate` 0 removes them.
    pub fn draw_masks(&mut self, parameters: &Parameters, rate: f32, seed: u64, step: u64) {
        self.draw_masks_of(0, parameters, rate, seed, step);
    }

    /// Draws the dropout masks of one replicate for a step; `rate` 0 removes them.
    pub fn draw_masks_of(&mut self, replicate: usize, parameters: &Parameters, rate: f32, seed: u64, step: u64) {
        let Replicate { shape_points, rho_points, .. } = &mut self.replicates[replicate];
        // Splines have no units to drop.
        if let Some(architecture) = parameters.shapes.architecture() {
            shape_points.draw_masks(architecture, rate, seed, "dropout of shapes", step);
        }
        if let Some(architecture) = parameters.rhos.architecture() {
            rho_points.draw_masks(architecture, rate, seed, "dropout of rho", step);
        }
    }

    /// Evaluates all tables; with `keep`, for a gradient to follow.
    pub fn tables(&mut self, parameters: &Parameters, keep: bool) {
        self.tables_of(&[Some(parameters)], keep);
    }

    /// Evaluates the tables of every replicate that has parameters here; the others' outputs lose their meaning.
    pub fn tables_of(&mut self, parameters: &[Option<&Parameters>], keep: bool) {
        for (replicate, parameters) in self.replicates.iter_mut().zip(parameters) {
            let Some(parameters) = parameters else { continue };
            if let Some(pieces) = &self.pieces {
                let (points, levels) = (&mut replicate.shape_points, &self.statistics.levels);
                let rows = pieces.lay_out(&parameters.shapes, levels, points, &mut self.binding, &mut self.unit_rows);
                self.tables.set_rows(rows);
                self.table_gradient.set_rows(rows);
            }
            parameters.shapes.forward(&mut replicate.shape_points, keep);
            parameters.rhos.forward(&mut replicate.rho_points, keep);
            replicate.fill_tables(parameters, &self.binding, &self.unit_rows, &self.rho_slots, &mut self.tables);
        }
        if let (Some(readout), [Some(parameters), ..]) = (&mut self.readout, parameters) {
            readout.fill(&parameters.readouts);
        }
        let cells = &self.statistics.cells;
        self.cells.fill(&self.tables, &self.binding, &self.unit_rows, cells);
        for (replicate, parameters) in self.replicates.iter().zip(parameters) {
            let Some(parameters) = parameters else { continue };
            self.cells.average_unseen(&self.tables, &self.binding, cells, parameters, replicate);
        }
        if let Some(shells) = &mut self.shells {
            shells.fill(&self.tables, &self.binding, &self.unit_rows, &self.statistics.levels);
        }
    }

    /// `out[i, lane] = gain * y[i, lane]`, without the output bias.
    pub fn outputs(&self, rows: &mut ItemRows, out: &mut [f32]) {
        if let Some((readout, items)) = self.readout.as_ref().zip(rows.readout.as_mut()) {
            return readout.outputs(&rows.cells.rows, &self.cells.products, self.gain, items, out);
        }
        self.cells.outputs(&rows.cells, out);
        if let Some((term, items)) = self.shells.as_ref().zip(rows.shells.as_mut()) {
            term.add_outputs(items, &self.tables, out);
        }
        out.iter_mut().for_each(|y| *y *= self.gain);
    }

    /// Leaves the gradient of every table, for the rows last passed to [`outputs`](Self::outputs).
    pub fn gradients(&mut self, rows: &mut ItemRows, out_gradient: &[f32]) {
        self.table_gradient.clear();
        match self.readout.as_ref().zip(rows.readout.as_mut()) {
            None => self.cells.product_gradients(&rows.cells, out_gradient, self.gain),
            Some((readout, items)) => {
                let products = &mut self.cells.gradient;
                readout.product_gradients(&rows.cells.rows, out_gradient, self.gain, items, products);
            }
        }
        let cells = &self.statistics.cells;
        self.cells.table_gradients(&self.tables, &self.binding, &self.unit_rows, cells, &mut self.table_gradient);
        if let Some((term, items)) = self.shells.as_mut().zip(rows.shells.as_mut()) {
            term.source_value_gradients(items, out_gradient, self.gain, &self.tables, &mut self.table_gradient);
            term.table_gradients(&self.binding, &self.unit_rows, &self.statistics.levels, &mut self.table_gradient);
        }
        let outputs = self.readout.as_ref().map_or(self.tables.lanes, Readout::output_count);
        self.output_bias_gradient = column_sums(out_gradient, outputs);
    }

    /// The mean over rows of what the bias, and then every feature, contributes to the outputs, without gain:
    /// `[1 + features][lanes]`. Outputs are linear in `T`, so that is `T` times the gradient of the mean output.
    pub fn mean_contributions(&mut self, rows: &mut ItemRows) -> Vec<Vec<f64>> {
        let lanes = self.tables.lanes;
        let mut values = vec![0.0; rows.len() * lanes];
        self.outputs(rows, &mut values);
        values.fill(1.0 / (rows.len().max(1) as f32 * self.gain));
        self.gradients(rows, &values);
        let levels = &self.statistics.levels;
        let mut place_of_row = vec![0; self.tables.units.len() / lanes];
        for unit in 0..levels.unit_count() as u32 {
            let (row, share) = self.unit_rows.of(unit);
            let place = levels.feature_of(unit).map_or(0, |feature| feature + 1);
            place_of_row[row] = place;
            if share != 0.0 {
                place_of_row[row + 1] = place;
            }
        }
        let mut means = vec![vec![0.0; lanes]; levels.features.len() + 1];
        for (row, place) in place_of_row.into_iter().enumerate() {
            let terms = self.tables.row(row).iter().zip(self.table_gradient.row(row));
            let terms = terms.map(|(value, gradient)| f64::from(*value) * f64::from(*gradient));
            means[place].iter_mut().zip(terms).for_each(|(mean, term)| *mean += term);
        }
        means
    }

    /// The same where the mean of all rows is taken out of the outputs before the output bias is added: what moves all
    /// outputs alike moves nothing but the output bias.
    pub fn centred_gradients(&mut self, rows: &mut ItemRows, out_gradient: &[f32]) {
        let sums = column_sums(out_gradient, self.tables.lanes);
        let count = rows.len().max(1) as f32;
        let mut projected = out_gradient.to_vec();
        for row in projected.chunks_exact_mut(sums.len()) {
            row.iter_mut().zip(&sums).for_each(|(g, sum)| *g -= sum / count);
        }
        self.gradients(rows, &projected);
        self.output_bias_gradient = sums;
    }
}
