//! The two tables: what every unit says, and what every distance counts.
//!
//! ```text
//! T[u, c]        found[u, c] - found[reference, c], where u is a point of a network; else its free value or bias
//! rho[r, l, c]   rho network r at slot l, times the factor of the slot; 0 beyond the hop cap
//! ```
//!
//! With several replicates, `c` runs over the lanes of all of them.

use crate::model::parameters::Parameters;
use crate::statistics::BIAS_UNIT;

use super::binding::Binding;
use super::replicate::Replicate;

/// `T` and `rho`, or their gradients.
pub(super) struct Tables {
    /// Outputs times replicates.
    pub lanes: usize,
    pub slots: usize,
    /// The first slots are heard: all of them, or those up to the hop cap. Rho is 0 at the others.
    pub audible: usize,
    /// What rho is multiplied by at every slot.
    pub factors: Vec<f32>,
    /// `T`, `[units, lanes]`.
    pub units: Vec<f32>,
    /// `rho`, `[rhos, slots, lanes]`.
    pub rhos: Vec<f32>,
}

impl Tables {
    pub(super) fn zeros(units: usize, rhos: usize, factors: Vec<f32>, audible: usize, lanes: usize) -> Tables {
        let slots = factors.len();
        let (units, rhos) = (vec![0.0; units * lanes], vec![0.0; rhos * slots * lanes]);
        Tables { lanes, slots, audible, factors, units, rhos }
    }

    pub(super) fn clear(&mut self) {
        self.units.fill(0.0);
        self.rhos.fill(0.0);
    }

    /// What a unit says.
    pub(super) fn unit(&self, unit: u32) -> &[f32] {
        &self.units[unit as usize * self.lanes..][..self.lanes]
    }

    /// What a unit says, to be changed.
    pub(super) fn unit_mut(&mut self, unit: u32) -> &mut [f32] {
        &mut self.units[unit as usize * self.lanes..][..self.lanes]
    }

    /// Where the lanes of a rho at a slot start in `rhos`.
    pub(super) fn rho_start(&self, rho: usize, slot: usize) -> usize {
        (rho * self.slots + slot) * self.lanes
    }

    /// The rows of `rho` at audible slots, rho after rho.
    fn audible_rhos(&self) -> impl Iterator<Item = &[f32]> {
        let (whole, heard, lanes) = (self.slots * self.lanes, self.audible * self.lanes, self.lanes);
        self.rhos.chunks_exact(whole).flat_map(move |rho| rho[..heard].chunks_exact(lanes))
    }

    /// The same, to be changed.
    fn audible_rhos_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        let (whole, heard, lanes) = (self.slots * self.lanes, self.audible * self.lanes, self.lanes);
        self.rhos.chunks_exact_mut(whole).flat_map(move |rho| rho[..heard].chunks_exact_mut(lanes))
    }
}

/// Number of audible slots of `slots`: with a hop cap those up to it, and "unreachable", the last, never.
pub(super) fn audible_slots(slots: usize, hop_cap: Option<usize>) -> usize {
    hop_cap.map_or(slots, |cap| cap.saturating_add(1).min(slots - 1))
}

impl Replicate {
    /// From the networks' results, free values and bias to this replicate's lanes of `T` and `rho`.
    pub(super) fn fill_tables(&self, parameters: &Parameters, binding: &Binding, tables: &mut Tables) {
        let (lanes, width) = (&self.lanes, tables.lanes);
        let copy = |to: &mut [f32], from: &[f32]| lanes.of(to).zip(from).for_each(|(to, from)| *to = *from);
        let factors = tables.factors[..tables.audible].to_vec();
        let found = self.rho_points.outputs().chunks_exact(lanes.outputs);
        for ((rho, found), factor) in tables.audible_rhos_mut().zip(found).zip(factors.iter().cycle()) {
            lanes.of(rho).zip(found).for_each(|(to, from)| *to = from * factor);
        }
        copy(tables.unit_mut(BIAS_UNIT), &parameters.bias);
        for units in &binding.network_units {
            let rows = self.shape_points.rows(units.network);
            let found = &self.shape_points.outputs()[rows.start * lanes.outputs..rows.end * lanes.outputs];
            let (found, reference) = found.split_at(found.len() - lanes.outputs);
            let table = tables.units[units.first_unit * width..].chunks_exact_mut(width);
            for (table, found) in table.zip(found.chunks_exact(lanes.outputs)) {
                for ((table, found), reference) in lanes.of(table).zip(found).zip(reference) {
                    *table = found - reference;
                }
            }
        }
        for (unit, value) in binding.values() {
            copy(&mut tables.units[unit * width..][..width], &parameters.values[value * lanes.outputs..]);
        }
        for unseen in &binding.unseen {
            for (c, said) in lanes.of(tables.unit_mut(unseen.unit)).enumerate() {
                let value = |value: usize| f64::from(parameters.values[value * lanes.outputs + c]);
                let mean: f64 = unseen.shares.iter().map(|share| share.share * value(share.value)).sum();
                *said = (mean + unseen.mean_effect.get(c).copied().unwrap_or(0.0)) as f32;
            }
        }
    }

    /// From this replicate's lanes of `T` and `rho` to its networks (the reference takes the opposite of the sum), free
    /// values and bias.
    pub(super) fn take_gradient(&mut self, tables: &Tables, binding: &Binding) {
        let (lanes, width, outputs) = (&self.lanes, tables.lanes, self.lanes.outputs);
        let copy =
            |to: &mut [f32], from: &[f32]| to.iter_mut().zip(lanes.from(from)).for_each(|(to, from)| *to = *from);
        let factors = tables.factors[..tables.audible].iter().cycle();
        let rhos = tables.audible_rhos().zip(factors);
        for (gradient, (rho, factor)) in self.rho_gradient.chunks_exact_mut(outputs).zip(rhos) {
            gradient.iter_mut().zip(lanes.from(rho)).for_each(|(to, from)| *to = from * factor);
        }
        copy(&mut self.bias_gradient, tables.unit(BIAS_UNIT));
        for units in &binding.network_units {
            let rows = self.shape_points.rows(units.network);
            let gradient = &mut self.shape_gradient[rows.start * outputs..rows.end * outputs];
            let (gradient, reference) = gradient.split_at_mut((rows.len() - 1) * outputs);
            reference.fill(0.0);
            let table = tables.units[units.first_unit * width..].chunks_exact(width);
            for (gradient, table) in gradient.chunks_exact_mut(outputs).zip(table) {
                copy(gradient, table);
                reference.iter_mut().zip(gradient).for_each(|(sum, g)| *sum -= *g);
            }
        }
        self.value_gradient.fill(0.0);
        for (unit, value) in binding.values() {
            let sum = &mut self.value_gradient[value * outputs..][..outputs];
            sum.iter_mut().zip(lanes.from(&tables.units[unit * width..][..width])).for_each(|(sum, g)| *sum += g);
        }
    }
}
