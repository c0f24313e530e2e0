//! The posterior of a penalised fit in a model file: its tensors, and what they may not claim.
//!
//! | tensor (F64) | shape |
//! |---|---|
//! | `posterior.means` | `[coefficients]`: what the average training item has of every coefficient |
//! | `posterior.noise` | `[parts]`: the variance of a quantity around its output, 0 for classes |
//! | `posterior.N.root` | the root of the covariance of part N, column after column from the diagonal down: of its coefficients, or of the values and points of distance functions that they are products of |
//! | `posterior.N.effects` | `[coefficients, outputs]` instead: the standard deviations of its effects |
//!
//! A part is the outputs that were fitted together: all classes of a softmax, else a single output.

use std::sync::Arc;

use safetensors::tensor::{Dtype, SafeTensors};

use super::tensors::{Tensor, Tensors};
use crate::dataset::Outcome;
use crate::files::Kind;
use crate::model::{
    CoefficientMap, Covariance, Definition, FeatureSchema, Model, Parameters, Posterior, PosteriorPart, Rho,
};

const MEANS: &str = "posterior.means";
const NOISE: &str = "posterior.noise";
/// Features times distances beyond which a file is not believed: penalised fits have at most some thousand coefficients.
const MOST_CURVES: usize = 100_000_000;

fn root_name(part: usize) -> String {
    format!("posterior.{part}.root")
}

fn effects_name(part: usize) -> String {
    format!("posterior.{part}.effects")
}

/// Adds the tensors of a posterior.
pub(super) fn add_posterior(tensors: &mut Tensors, posterior: &Posterior) {
    let mut add = |name: String, shape: Vec<usize>, values: &[f64]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        tensors.insert(name, Tensor { dtype: Dtype::F64, shape, bytes });
    };
    add(MEANS.to_owned(), vec![posterior.count], &posterior.means);
    let noise: Vec<f64> = posterior.parts.iter().map(|part| part.noise).collect();
    add(NOISE.to_owned(), vec![noise.len()], &noise);
    for (place, part) in posterior.parts.iter().enumerate() {
        match &part.covariance {
            Covariance::Root(root) => add(root_name(place), vec![root.len()], root),
            Covariance::Effects(effects) => add(effects_name(place), vec![posterior.count, part.outputs], effects),
        }
    }
}

/// Whether a tensor of this name may belong to a posterior.
pub(super) fn is_of_posterior(name: &str) -> bool {
    name.starts_with("posterior.")
}

/// The posterior in a file, whose tensors must be exactly those that the definition needs; `None` where it has none.
pub(super) fn read_posterior(
    definition: &Definition,
    parameters: &Parameters,
    tensors: &SafeTensors<'_>,
) -> Result<Option<Posterior>, String> {
    let found = tensors.names().iter().filter(|name| is_of_posterior(name)).count();
    if found == 0 {
        return Ok(None);
    }
    let learned = &definition.learned;
    let of_values = |feature: &FeatureSchema| match learned.rho {
        Rho::PerFeature => feature.has_level_rhos(),
        Rho::Shared | Rho::Grouped => feature.kind == Kind::Categorical || feature.effect_knots.is_some(),
    };
    let linear = learned.rho_spline.is_some()
        && learned.shell_scale.is_empty()
        && !definition.spec.model.readout
        && learned.features.iter().all(of_values);
    let curves = learned.features.len().saturating_mul(learned.receivers.len());
    if !linear || curves > MOST_CURVES {
        return Err("it has a posterior and is not made of coefficients".to_owned());
    }
    let count = CoefficientMap::new(definition).count;
    let means = read(tensors, MEANS, &[count])?;
    let outputs = match learned.outcome {
        Outcome::Multiclass => vec![learned.outputs],
        Outcome::Binary if learned.outputs != 1 => return Err("its posterior is of two logits".to_owned()),
        _ => vec![1; learned.outputs],
    };
    let noise = read(tensors, NOISE, &[outputs.len()])?;
    if noise.iter().any(|noise| *noise < 0.0) {
        return Err("its variance around outputs is below 0".to_owned());
    }
    let mut products = Model::product_slopes(definition, parameters, &outputs).unwrap_or_default().into_iter();
    if learned.rho != Rho::PerFeature && products.len() != outputs.len() {
        return Err("its posterior does not fit its distance functions".to_owned());
    }
    let part = |(place, (outputs, noise)): (usize, (usize, f64))| -> Result<PosteriorPart, String> {
        let (root, effects) = (root_name(place), effects_name(place));
        let products = products.next().map(Arc::new);
        let covariance = match tensors.tensor(&root).is_ok() {
            true => {
                let own = products.as_ref().map_or(count, |products| products.parameters);
                let order = own.checked_mul(outputs).filter(|order| order.checked_mul(order + 1).is_some());
                let order = order.ok_or("its posterior has too many coefficients")?;
                Covariance::Root(read(tensors, &root, &[Covariance::root_length(order)])?)
            }
            false => {
                let effects = read(tensors, &effects, &[count, outputs])?;
                if effects.iter().any(|sd| *sd < 0.0) {
                    return Err("a standard deviation is below 0".to_owned());
                }
                Covariance::Effects(effects)
            }
        };
        Ok(PosteriorPart { outputs, covariance, products, noise })
    };
    let parts = outputs.into_iter().zip(noise.iter().copied()).enumerate().map(part);
    let parts = parts.collect::<Result<Vec<_>, String>>()?;
    if found != parts.len() + 2 {
        return Err("it has tensors of a posterior that do not belong in it".to_owned());
    }
    Ok(Some(Posterior { count, parts, means }))
}

fn read(tensors: &SafeTensors<'_>, name: &str, shape: &[usize]) -> Result<Arc<[f64]>, String> {
    let tensor = tensors.tensor(name).map_err(|_| format!("tensor \"{name}\" is missing"))?;
    if tensor.dtype() != Dtype::F64 || tensor.shape() != shape {
        return Err(format!("tensor \"{name}\" is {:?} {:?}, not F64 {shape:?}", tensor.dtype(), tensor.shape()));
    }
    let (chunks, _) = tensor.data().as_chunks::<8>();
    let values: Arc<[f64]> = chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
    if values.iter().any(|value| !value.is_finite()) {
        return Err(format!("tensor \"{name}\" holds a value that is not finite"));
    }
    Ok(values)
}
