//! Training under the group penalty: features are switched off one after the other, and rho cannot make up for it.

use crate::error::{Error, Result};
use crate::model::{Layout, OptimiserState, Rho, StepSettings};
use crate::shape::Adam;

use super::fit::Fit;
use super::report::{EpochReport, Monitor};

impl Fit<'_> {
    /// The strength of the group penalty that would switch every feature off at the start.
    pub(super) fn largest_penalty(&mut self) -> f64 {
        let mut gradient = vec![0.0; self.train.outputs.len()];
        self.engine.draw_masks(&self.parameters, 0.0, 0, 0);
        self.engine.tables(&self.parameters, true);
        self.train_loss(Some(&mut gradient));
        let mut state = OptimiserState::new(&self.parameters);
        // Such a step changes nothing and leaves the gradient in the first moments.
        let adam = Adam { learning_rate: 0.0, weight_decay: 0.0, beta1: 0.0, ..Adam::default() };
        let settings = StepSettings { adam, output_bias: true, group_penalty: 0.0 };
        self.engine.step(&mut self.train.rows, &gradient, &mut self.parameters, &mut state, settings);
        self.engine.group_gradients(&self.parameters, &state).into_iter().fold(0.0, f64::max)
    }

    /// Trains on with a group penalty for some epochs; which features are not switched off. `None`: the monitor broke off.
    pub(super) fn penalised(
        &mut self,
        strength: f64,
        epochs: usize,
        monitor: &mut Monitor<'_>,
    ) -> Result<Option<Vec<bool>>> {
        self.group_penalty = strength as f32;
        let mut gradient = vec![0.0; self.train.outputs.len()];
        let together = self.settled.dropout == 0.0;
        let candidate = format!("penalty {strength:.3e}");
        for epoch in 0..epochs {
            self.engine.draw_masks(&self.parameters, 0.0, 0, 0);
            self.engine.tables(&self.parameters, together);
            let (train_loss, valid_loss) = (self.train_loss(Some(&mut gradient)), self.valid_loss());
            if !(train_loss.is_finite() && valid_loss.is_finite()) {
                return Err(Error::training("the loss was not a finite number while features were selected")
                    .with_remedy("lower the learning rate"));
            }
            let (metric, best_epoch) = (self.valid_metric(), epoch);
            let report = EpochReport {
                candidate: &candidate,
                epoch: epoch + 1,
                epochs,
                train_loss,
                valid_loss,
                best_epoch,
                metric,
            };
            if monitor(&report).is_break() {
                return Ok(None);
            }
            self.epoch(epoch as u64, together, &mut gradient);
            self.balance_rhos();
        }
        Ok(Some(self.engine.group_norms(&self.parameters).into_iter().map(|norm| norm > 0.0).collect()))
    }

    /// Rescales every rho to a largest value of 1 and what is heard with it the other way round: a penalty on shape
    /// functions cannot be evaded by making them small and rho large.
    fn balance_rhos(&mut self) {
        let reach = self.training.reach(&self.train.data);
        let layout = Layout::new(&self.features, self.settled.rho, reach, self.training.lenses.len());
        let outputs = self.parameters.bias.len();
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
        let own_rhos = self.settled.rho == Rho::PerFeature;
        let level_rhos: Vec<bool> = self.features.iter().map(|k| own_rhos && k.has_level_rhos()).collect();
        self.parameters.balance(&layout, &level_rhos, &largest);
    }
}
