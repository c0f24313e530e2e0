//! Bank specifications: what the banks of a model hold, networks or splines, given its features and distances.

use std::sync::Arc;

use crate::shape::{Architecture, BankSpec, Basis, ShapeKind, SplineSpec};

use super::engine::EngineModel;
use super::parameters::Layout;

/// A rho is smoothed this much as shape functions are: neighbouring distances may well count differently.
const RHO_SMOOTH: f64 = 0.5;

/// The specifications of all banks of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct BankSpecs {
    /// Of the shape functions, one per numeric feature.
    pub shapes: BankSpec,
    /// Of the distance functions.
    pub rhos: BankSpec,
    /// Of the readout functions, the structure's first, then one per feature; none without a readout.
    pub readouts: BankSpec,
}

impl EngineModel<'_> {
    /// What the banks of the model hold.
    pub fn bank_specs(&self, layout: &Layout) -> BankSpecs {
        let outputs = self.architecture.outputs;
        let shapes = match self.shape {
            ShapeKind::Network => BankSpec::Networks(self.architecture, layout.networks),
            ShapeKind::Spline => {
                let numeric = self.features.iter().zip(&layout.features).filter(|(_, place)| place.network.is_some());
                let spec = numeric.map(|(feature, _)| {
                    let smooth = feature.rules.smooth.unwrap_or(self.smooth);
                    Arc::new(SplineSpec::shape(feature.spline.clone().unwrap_or_default(), smooth))
                });
                BankSpec::Splines(spec.collect(), outputs)
            }
        };
        let rhos = match self.rho_spline {
            None => BankSpec::Networks(self.architecture, layout.rho_functions()),
            Some(basis) => {
                let spec = Arc::new(SplineSpec::rho(Basis::clone(basis), RHO_SMOOTH * self.smooth));
                BankSpec::Splines(vec![spec; layout.rho_functions()], outputs)
            }
        };
        let readouts = self.readout.map_or(0, |_| self.features.len() + 1);
        let size = Architecture { outputs: self.readout.unwrap_or(1), ..self.architecture };
        BankSpecs { shapes, rhos, readouts: BankSpec::Networks(size, readouts) }
    }
}
