//! The posterior of a model, from the estimates of its coefficients.

use std::sync::Arc;

use super::estimate::PartEstimate;
use crate::likelihood::Design;
use crate::model::{Covariance, MOST_KEPT_BYTES, Model, Posterior, PosteriorPart};

impl PartEstimate {
    /// The posterior of its coefficients, in the units of the outputs.
    fn posterior(&self, design: &Design, quantity: bool) -> Option<PosteriorPart> {
        let noise = if quantity { self.variance * self.scale * self.scale } else { 0.0 };
        if let Some(dual) = &self.dual {
            return dual.posterior(design, self.scale, noise);
        }
        if let Some(bilinear) = &self.bilinear {
            return Some(bilinear.posterior(self.scale, quantity));
        }
        let (estimate, count) = (self.primal.as_ref()?, self.factors.len());
        let order = estimate.root.order();
        let mut root = Vec::with_capacity(Covariance::root_length(order));
        for column in 0..order {
            let factor = self.factors[column % count] * self.scale;
            root.extend_from_slice(&estimate.root.times([(column, factor)])[column..]);
        }
        Some(PosteriorPart { outputs: order / count, covariance: Covariance::Root(root.into()), products: None, noise })
    }
}

/// The posterior of all coefficients, covariances included; of targets that are quantities, or classes. `None` where it is not
/// finite.
pub(super) fn posterior(model: &Model, found: &[PartEstimate], design: &Design, quantity: bool) -> Option<Posterior> {
    let mut parts = found.iter().map(|part| part.posterior(design, quantity)).collect::<Option<Vec<_>>>()?;
    let outputs: Vec<usize> = parts.iter().map(|part| part.outputs).collect();
    if let Some(products) = Model::product_slopes(model.definition(), model.parameters(), &outputs) {
        parts.iter_mut().zip(products).for_each(|(part, products)| part.products = Some(Arc::new(products)));
    }
    let posterior = Posterior {
        count: design.columns(),
        parts,
        means: design.moments().into_iter().map(|(mean, _)| mean).collect(),
    };
    posterior.is_finite().then_some(posterior)
}

/// The same model with as much of its posterior as is kept.
pub(super) fn keep_posterior(model: Model) -> Model {
    let Some(posterior) = model.posterior() else { return model };
    match is_kept(posterior) {
        true => model,
        false => model.without_covariances(),
    }
}

/// Whether covariances are few enough to be kept.
pub(super) fn is_kept(posterior: &Posterior) -> bool {
    posterior.parts.iter().map(PosteriorPart::bytes).sum::<usize>() <= MOST_KEPT_BYTES
}
