//! Training under the group penalty: features are switched off one after the other, and rho cannot make up for it.

use super::report::{EpochReport, Monitor};
use super::training_loop::TrainingLoop;
use crate::error::{Error, Result};
use crate::model::Rho;
use crate::numbers::number;

impl TrainingLoop<'_> {
    /// The strength of the group penalty that would switch every feature off at the start.
    pub(super) fn largest_penalty(&mut self) -> f64 {
        let state = self.gradient_state();
        self.engine.group_gradients(&self.lanes[0].parameters, &state).into_iter().fold(0.0, f64::max)
    }

    /// Trains on with a group penalty for some epochs; which features are not switched off. `None`: the monitor broke off.
    pub(super) fn train_penalised(
        &mut self,
        strength: f64,
        epochs: usize,
        monitor: &mut Monitor<'_>,
    ) -> Result<Option<Vec<bool>>> {
        self.group_penalty = strength as f32;
        let candidate = format!("penalty {}", number(strength));
        for epoch in 0..epochs {
            let loss = self.advance();
            if !(loss.train.is_finite() && loss.left_out.is_finite()) {
                return Err(Error::training("the loss was not a finite number while features were selected")
                    .with_remedy("lower the learning rate"));
            }
            let report = EpochReport {
                candidate: &candidate,
                epoch: epoch + 1,
                epochs,
                train_loss: loss.train,
                valid_loss: loss.left_out,
                best_epoch: epoch + 1,
                metric: self.valid_metric(),
            };
            if monitor(&report).is_break() {
                return Ok(None);
            }
            self.balance_rhos();
        }
        let norms = self.engine.group_norms(&self.lanes[0].parameters);
        Ok(Some(norms.into_iter().map(|norm| norm > 0.0).collect()))
    }

    /// Rescales every distance function to a largest value of 1 and the shape functions it belongs to the other way round: a
    /// penalty on shape functions cannot be evaded by making them small and distance functions large.
    fn balance_rhos(&mut self) {
        let (layout, features) = (&self.setup.layout, &self.setup.definition.learned.features);
        let parameters = &mut self.lanes[0].parameters;
        let outputs = parameters.bias.len();
        let table = self.engine.rho_table();
        let mut largest = vec![vec![0.0f32; outputs]; layout.functions];
        for (row, values) in layout.rhos.iter().zip(table.chunks_exact(table.len() / layout.rhos.len())) {
            for values in values.chunks_exact(outputs) {
                largest[row.function]
                    .iter_mut()
                    .zip(values)
                    .for_each(|(largest, rho)| *largest = largest.max(rho.abs()));
            }
        }
        largest.iter_mut().flatten().filter(|largest| **largest == 0.0).for_each(|largest| *largest = 1.0);
        let own_rhos = self.setup.resolved.rho == Rho::PerFeature;
        let level_rhos: Vec<bool> = features.iter().map(|k| own_rhos && k.has_level_rhos()).collect();
        parameters.balance(layout, &level_rhos, &largest);
    }
}
