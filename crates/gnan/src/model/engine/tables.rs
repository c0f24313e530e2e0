//! The two tables: the value of every unit, and the weight of every distance.
//!
//! ```text
//! T[u, c]        found[u, c] - found[reference, c], where u is a point of a network; else its free value or bias
//! rho[r, l, c]   the distance function of rho r by the lens of slot l, at its distance, times the factor of that; 0
//!                outside the reach of r
//! ```
//!
//! Every unit has a row of `T`, but for those of networks that are evaluated piece by piece: see [`super::pieces`].
//!
//! With several replicates, `c` runs over the lanes of all of them.

use crate::lens::DistanceAxis;
use crate::model::parameters::{Layout, Parameters, RhoRow, shell_factor};
use crate::statistics::BIAS_UNIT;

use super::binding::Binding;
use super::pieces::UnitRows;
use super::replicate::Replicate;

/// The row of the bias.
pub(super) const BIAS_ROW: usize = BIAS_UNIT as usize;

/// `T` and `rho`, or their gradients.
pub(super) struct FunctionTables {
    /// Outputs times replicates.
    pub lanes: usize,
    pub slots: usize,
    /// `T`, `[units, lanes]`.
    pub units: Vec<f32>,
    /// `rho`, `[rhos, slots, lanes]`.
    pub rhos: Vec<f32>,
}

impl FunctionTables {
    pub(super) fn zeros(units: usize, rhos: usize, slots: usize, lanes: usize) -> FunctionTables {
        FunctionTables { lanes, slots, units: vec![0.0; units * lanes], rhos: vec![0.0; rhos * slots * lanes] }
    }

    pub(super) fn clear(&mut self) {
        self.units.fill(0.0);
        self.rhos.fill(0.0);
    }

    /// Makes room for so many rows of `T`.
    pub(super) fn set_rows(&mut self, rows: usize) {
        self.units.resize(rows * self.lanes, 0.0);
    }

    /// A row of `T`: the value of a unit, where it takes a row of its own.
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.units[row * self.lanes..][..self.lanes]
    }

    /// A row of `T`, to be changed.
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.units[row * self.lanes..][..self.lanes]
    }

    /// The value of a unit in a lane, by the row it takes and its share of the row after that.
    #[inline(always)]
    pub(super) fn value(&self, (row, share): (usize, f32), lane: usize) -> f32 {
        let own = self.units[row * self.lanes + lane];
        if share == 0.0 { own } else { (1.0 - share) * own + share * self.units[(row + 1) * self.lanes + lane] }
    }

    /// Where the lanes of a rho at a slot start in `rhos`.
    pub(super) fn rho_start(&self, rho: usize, slot: usize) -> usize {
        (rho * self.slots + slot) * self.lanes
    }
}

/// The slots at which every rho is not 0, and the points at which the distance functions are needed for it.
pub(super) struct RhoSlots {
    slots: usize,
    /// `[rhos, slots]`: the point of a distance function, counted over all of them; `None`: rho is 0.
    points: Vec<Option<u32>>,
    /// For every slot what rho is multiplied by.
    factors: Vec<f32>,
    /// For every distance function the slots at which it is needed.
    pub slots_of_function: Vec<Vec<usize>>,
}

impl RhoSlots {
    pub(super) fn new(layout: &Layout, axis: &DistanceAxis, shell_scale: &[f64]) -> RhoSlots {
        let slots = axis.slots();
        let mut slots_of_function = vec![Vec::new(); layout.rho_functions()];
        for slot in 0..slots {
            for function in 0..layout.functions {
                let included = |row: &RhoRow| row.function == function && row.reach.includes(axis.distance(slot));
                if layout.rhos.iter().any(included) {
                    slots_of_function[axis.lens_of(slot) * layout.functions + function].push(slot);
                }
            }
        }
        let mut first = 0;
        let firsts: Vec<usize> = (slots_of_function.iter())
            .map(|slots| {
                first += slots.len();
                first - slots.len()
            })
            .collect();
        let mut points = Vec::with_capacity(layout.rhos.len() * slots);
        for (rho, row) in layout.rhos.iter().enumerate() {
            points.extend((0..slots).map(|slot| {
                if !row.reach.includes(axis.distance(slot)) {
                    return None;
                }
                let function = layout.function(rho, axis.lens_of(slot));
                let place = slots_of_function[function].binary_search(&slot);
                let place = place.expect("a distance function is needed at every slot that one of its rhos includes");
                Some((firsts[function] + place) as u32)
            }));
        }
        let factors = (0..slots).map(|slot| shell_factor(shell_scale, axis.distance(slot))).collect();
        RhoSlots { slots, points, factors, slots_of_function }
    }

    /// The point of a rho at a slot; `None`: it is 0 there.
    pub(super) fn point(&self, rho: usize, slot: usize) -> Option<u32> {
        self.points[rho * self.slots + slot]
    }
}

impl Replicate {
    /// From the networks' results, free values and bias to this replicate's lanes of `T` and `rho`.
    pub(super) fn fill_tables(
        &self,
        parameters: &Parameters,
        binding: &Binding,
        unit_rows: &UnitRows,
        rho_slots: &RhoSlots,
        tables: &mut FunctionTables,
    ) {
        let (lanes, width) = (&self.lanes, tables.lanes);
        let copy = |to: &mut [f32], from: &[f32]| lanes.of(to).zip(from).for_each(|(to, from)| *to = *from);
        for ((rho, point), factor) in
            tables.rhos.chunks_exact_mut(width).zip(&rho_slots.points).zip(rho_slots.factors.iter().cycle())
        {
            if let Some(point) = point {
                let found = &self.rho_points.outputs[*point as usize * lanes.outputs..];
                lanes.of(rho).zip(found).for_each(|(to, from)| *to = from * factor);
            }
        }
        copy(tables.row_mut(BIAS_ROW), &parameters.bias);
        for units in &binding.network_units {
            let rows = self.shape_points.rows(units.network);
            let found = &self.shape_points.outputs[rows.start * lanes.outputs..rows.end * lanes.outputs];
            let (found, reference) = found.split_at(found.len() - lanes.outputs);
            let table = tables.units[units.first_row * width..].chunks_exact_mut(width);
            for (table, found) in table.zip(found.chunks_exact(lanes.outputs)) {
                for ((table, found), reference) in lanes.of(table).zip(found).zip(reference) {
                    *table = found - reference;
                }
            }
        }
        for (unit, value) in binding.values() {
            copy(tables.row_mut(unit_rows.of(unit as u32).0), &parameters.values[value * lanes.outputs..]);
        }
        for unseen in &binding.unseen {
            for (c, value) in lanes.of(tables.row_mut(unit_rows.of(unseen.unit).0)).enumerate() {
                let free = |value: usize| f64::from(parameters.values[value * lanes.outputs + c]);
                let mean: f64 = unseen.shares.iter().map(|share| share.share * free(share.value)).sum();
                *value = (mean + unseen.mean_effect.get(c).copied().unwrap_or(0.0)) as f32;
            }
        }
    }

    /// From this replicate's lanes of `T` and `rho` to its networks (the reference takes the opposite of the sum), free
    /// values and bias.
    pub(super) fn take_gradient(
        &mut self,
        tables: &FunctionTables,
        binding: &Binding,
        unit_rows: &UnitRows,
        rho_slots: &RhoSlots,
    ) {
        self.shape_gradient.resize(self.shape_points.len() * self.lanes.outputs, 0.0);
        let (lanes, width, outputs) = (&self.lanes, tables.lanes, self.lanes.outputs);
        let copy =
            |to: &mut [f32], from: &[f32]| to.iter_mut().zip(lanes.from(from)).for_each(|(to, from)| *to = *from);
        self.rho_gradient.fill(0.0);
        for ((rho, point), factor) in
            tables.rhos.chunks_exact(width).zip(&rho_slots.points).zip(rho_slots.factors.iter().cycle())
        {
            if let Some(point) = point {
                let sum = &mut self.rho_gradient[*point as usize * outputs..][..outputs];
                sum.iter_mut().zip(lanes.from(rho)).for_each(|(sum, g)| *sum += g * factor);
            }
        }
        copy(&mut self.bias_gradient, tables.row(BIAS_ROW));
        for units in &binding.network_units {
            let rows = self.shape_points.rows(units.network);
            let gradient = &mut self.shape_gradient[rows.start * outputs..rows.end * outputs];
            let (gradient, reference) = gradient.split_at_mut((rows.len() - 1) * outputs);
            reference.fill(0.0);
            let table = tables.units[units.first_row * width..].chunks_exact(width);
            for (gradient, table) in gradient.chunks_exact_mut(outputs).zip(table) {
                copy(gradient, table);
                reference.iter_mut().zip(gradient).for_each(|(sum, g)| *sum -= *g);
            }
        }
        self.value_gradient.fill(0.0);
        for (unit, value) in binding.values() {
            let sum = &mut self.value_gradient[value * outputs..][..outputs];
            sum.iter_mut().zip(lanes.from(tables.row(unit_rows.of(unit as u32).0))).for_each(|(sum, g)| *sum += g);
        }
    }
}
