//! The two tables: what every unit says, and what every distance counts.
//!
//! ```text
//! T[u, c]        found[u, c] - found[reference, c], where u is a point of a network; else its free value or bias
//! rho[r, l, c]   rho network r at slot l; 0 beyond the hop cap
//! ```

use crate::model::parameters::Parameters;
use crate::statistics::BIAS_UNIT;

use super::Engine;

/// `T` and `rho`, or their gradients.
pub(super) struct Tables {
    pub outputs: usize,
    pub slots: usize,
    /// `T`, `[units, outputs]`.
    pub units: Vec<f32>,
    /// `rho`, `[rhos, slots, outputs]`.
    pub rhos: Vec<f32>,
}

impl Tables {
    pub(super) fn zeros(units: usize, rhos: usize, slots: usize, outputs: usize) -> Tables {
        Tables { outputs, slots, units: vec![0.0; units * outputs], rhos: vec![0.0; rhos * slots * outputs] }
    }

    pub(super) fn clear(&mut self) {
        self.units.fill(0.0);
        self.rhos.fill(0.0);
    }

    /// What a unit says.
    pub(super) fn unit(&self, unit: u32) -> &[f32] {
        &self.units[unit as usize * self.outputs..][..self.outputs]
    }

    /// What a unit says, to be changed.
    pub(super) fn unit_mut(&mut self, unit: u32) -> &mut [f32] {
        &mut self.units[unit as usize * self.outputs..][..self.outputs]
    }

    /// Where the outputs of a rho at a slot start in `rhos`.
    pub(super) fn rho_start(&self, rho: usize, slot: usize) -> usize {
        (rho * self.slots + slot) * self.outputs
    }

    /// Slots beyond the hop cap count nothing, "unreachable" always included.
    fn silence_beyond(&mut self, hop_cap: Option<usize>) {
        let Some(cap) = hop_cap else { return };
        let first = cap.saturating_add(1).min(self.slots - 1);
        for rho in self.rhos.chunks_exact_mut(self.slots * self.outputs) {
            rho[first * self.outputs..].fill(0.0);
        }
    }
}

impl Engine {
    /// From the networks' results, free values and bias to `T` and `rho`.
    pub(super) fn fill_tables(&mut self, parameters: &Parameters) {
        let outputs = self.tables.outputs;
        let tables = &mut self.tables;
        tables.rhos.copy_from_slice(self.rho_points.outputs());
        tables.silence_beyond(self.hop_cap);
        tables.unit_mut(BIAS_UNIT).copy_from_slice(&parameters.bias);
        for units in &self.binding.network_units {
            let rows = self.shape_points.rows(units.network);
            let found = &self.shape_points.outputs()[rows.start * outputs..rows.end * outputs];
            let (found, reference) = found.split_at(found.len() - outputs);
            let table = &mut tables.units[units.first_unit * outputs..][..found.len()];
            for (table, found) in table.chunks_exact_mut(outputs).zip(found.chunks_exact(outputs)) {
                for c in 0..outputs {
                    table[c] = found[c] - reference[c];
                }
            }
        }
        for (unit, value) in self.binding.values() {
            let value = &parameters.values[value * outputs..][..outputs];
            tables.units[unit * outputs..][..outputs].copy_from_slice(value);
        }
        for unseen in &self.binding.unseen {
            for (c, said) in tables.unit_mut(unseen.unit).iter_mut().enumerate() {
                let value = |value: usize| f64::from(parameters.values[value * outputs + c]);
                let mean: f64 = unseen.shares.iter().map(|share| share.share * value(share.value)).sum();
                *said = (mean + unseen.mean_effect.get(c).copied().unwrap_or(0.0)) as f32;
            }
        }
    }

    /// From `T` to the networks (the reference takes the opposite of the sum) and the free values; `rho` needs only its
    /// silent slots removed.
    pub(super) fn spread_table_gradient(&mut self) {
        let (tables, outputs) = (&mut self.table_gradient, self.tables.outputs);
        tables.silence_beyond(self.hop_cap);
        for units in &self.binding.network_units {
            let rows = self.shape_points.rows(units.network);
            let gradient = &mut self.shape_gradient[rows.start * outputs..rows.end * outputs];
            let (gradient, reference) = gradient.split_at_mut((rows.len() - 1) * outputs);
            gradient.copy_from_slice(&tables.units[units.first_unit * outputs..][..gradient.len()]);
            reference.fill(0.0);
            for row in gradient.chunks_exact(outputs) {
                reference.iter_mut().zip(row).for_each(|(sum, g)| *sum -= g);
            }
        }
        self.value_gradient.fill(0.0);
        for (unit, value) in self.binding.values() {
            let sum = &mut self.value_gradient[value * outputs..][..outputs];
            sum.iter_mut().zip(&tables.units[unit * outputs..]).for_each(|(sum, g)| *sum += g);
        }
    }
}
