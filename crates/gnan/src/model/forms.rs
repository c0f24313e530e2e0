//! Forms: what the banks of a model hold, networks or splines, given its features and distances.

use std::sync::Arc;

use crate::shape::{Architecture, BankForm, Basis, ShapeKind, SplineForm};

use super::engine::EngineModel;
use super::parameters::Layout;

/// A rho is smoothed this much as shape functions are: neighbouring distances may well count differently.
const RHO_SMOOTH: f64 = 0.5;

/// The forms of both banks of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Forms {
    /// Of the shape functions, one per numeric feature.
    pub shapes: BankForm,
    /// Of the distance functions.
    pub rhos: BankForm,
    /// Of the readout functions, the structure's first, then one per feature; none without a readout.
    pub readouts: BankForm,
}

impl EngineModel<'_> {
    /// What the banks of the model hold.
    pub fn forms(&self, layout: &Layout) -> Forms {
        let outputs = self.architecture.outputs;
        let shapes = match self.shape {
            ShapeKind::Network => BankForm::Networks(self.architecture, layout.networks),
            ShapeKind::Spline => {
                let numeric = self.features.iter().zip(&layout.features).filter(|(_, place)| place.network.is_some());
                let form = numeric.map(|(feature, _)| {
                    let smooth = feature.rules.smooth.unwrap_or(self.smooth);
                    Arc::new(SplineForm::shape(feature.spline.clone().unwrap_or_default(), smooth))
                });
                BankForm::Splines(form.collect(), outputs)
            }
        };
        let rhos = match self.rho_spline {
            None => BankForm::Networks(self.architecture, layout.rho_functions()),
            Some(basis) => {
                let form = Arc::new(SplineForm::rho(Basis::clone(basis), RHO_SMOOTH * self.smooth));
                BankForm::Splines(vec![form; layout.rho_functions()], outputs)
            }
        };
        let readouts = self.readout.map_or(0, |_| self.features.len() + 1);
        let size = Architecture { outputs: self.readout.unwrap_or(1), ..self.architecture };
        Forms { shapes, rhos, readouts: BankForm::Networks(size, readouts) }
    }
}
