//! The posterior of a penalised fit in a model file: its tensors, and what they may not claim.
//!
//! | tensor (F64, but where another type is named) | shape |
//! |---|---|
//! | `posterior.means` | `[coefficients]`: what the average training item has of every coefficient |
//! | `posterior.noise` | `[parts]`: the variance of a quantity around its output, 0 for classes |
//! | `posterior.N.root` | the root of the covariance of part N, column after column from the diagonal down: of its coefficients, or of the values and points of distance functions that they are products of |
//! | `posterior.N.latents`, `.loadings` | `[coefficients]` instead (the first U32), where items were weighed: the latent number that every coefficient is a multiple of, and by what |
//! | `posterior.N.rows` | `[latent numbers, items]`, F32: what every item has of every latent number |
//! | `posterior.N.weights` | `[outputs, items]`: the roots of the second derivatives of the items |
//! | `posterior.N.roots` | `[roots, items (items + 1) / 2]`: of every output the inverse root of `I + W^1/2 K W^1/2`, column after column from the diagonal down; of classes also that of what couples them |
//! | `posterior.N.effects` | `[coefficients, outputs]` instead: the standard deviations of its effects |
//!
//! A part is the outputs that were fitted together: all classes of a softmax, else a single output.

use std::sync::Arc;

use safetensors::tensor::{Dtype, SafeTensors};

use super::tensors::{Tensor, Tensors};
use crate::dataset::Outcome;
use crate::files::Kind;
use crate::likelihood::{DualCovariance, DualRows};
use crate::model::{
    CoefficientMap, Covariance, Definition, FeatureSchema, Model, Parameters, Posterior, PosteriorPart, Rho,
};

const MEANS: &str = "posterior.means";
const NOISE: &str = "posterior.noise";
const ROOT: &str = "root";
const EFFECTS: &str = "effects";
const LATENTS: &str = "latents";
const LOADINGS: &str = "loadings";
const ROWS: &str = "rows";
const WEIGHTS: &str = "weights";
const ROOTS: &str = "roots";
/// Features times distances beyond which a file is not believed: penalised fits have at most some thousand coefficients.
const MOST_CURVES: usize = 100_000_000;
/// Tensors of a part whose items were weighed.
const DUAL_TENSORS: usize = 5;

fn name_of(part: usize, what: &str) -> String {
    format!("posterior.{part}.{what}")
}

/// Adds the tensors of a posterior.
pub(super) fn add_posterior(tensors: &mut Tensors, posterior: &Posterior) {
    let mut insert = |name: String, dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>| {
        tensors.insert(name, Tensor { dtype, shape, bytes });
    };
    let doubles = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    insert(MEANS.to_owned(), Dtype::F64, vec![posterior.count], doubles(&posterior.means));
    let noise: Vec<f64> = posterior.parts.iter().map(|part| part.noise).collect();
    insert(NOISE.to_owned(), Dtype::F64, vec![noise.len()], doubles(&noise));
    for (place, part) in posterior.parts.iter().enumerate() {
        let mut add = |what: &str, shape: Vec<usize>, values: &[f64]| {
            insert(name_of(place, what), Dtype::F64, shape, doubles(values));
        };
        match &part.covariance {
            Covariance::Root(root) => add(ROOT, vec![root.len()], root),
            Covariance::Effects(effects) => add(EFFECTS, vec![posterior.count, part.outputs], effects),
            Covariance::Dual(dual) => {
                let DualRows { latents, loadings, rows, weights } = dual.rows();
                let (items, packed) = (weights.first().map_or(0, Vec::len), dual.packed_roots());
                let length = Covariance::root_length(items).max(1);
                add(LOADINGS, vec![loadings.len()], loadings);
                add(WEIGHTS, vec![weights.len(), items], &weights.concat());
                add(ROOTS, vec![packed.len() / length, length], &packed);
                let bytes = latents.iter().flat_map(|latent| latent.to_le_bytes()).collect();
                insert(name_of(place, LATENTS), Dtype::U32, vec![latents.len()], bytes);
                let bytes = rows.iter().flat_map(|entry| entry.to_le_bytes()).collect();
                insert(name_of(place, ROWS), Dtype::F32, vec![rows.len() / items.max(1), items], bytes);
            }
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
    let mut expected = 2 + outputs.len();
    let part = |(place, (outputs, noise)): (usize, (usize, f64))| -> Result<PosteriorPart, String> {
        let (root, effects, rows) = (name_of(place, ROOT), name_of(place, EFFECTS), name_of(place, ROWS));
        let products = products.next().map(Arc::new);
        let covariance = if tensors.tensor(&root).is_ok() {
            let own = products.as_ref().map_or(count, |products| products.parameters);
            let order = own.checked_mul(outputs).filter(|order| order.checked_mul(order + 1).is_some());
            let order = order.ok_or("its posterior has too many coefficients")?;
            Covariance::Root(read(tensors, &root, &[Covariance::root_length(order)])?)
        } else if tensors.tensor(&rows).is_ok() {
            if products.is_some() {
                return Err("its posterior does not fit its distance functions".to_owned());
            }
            expected += DUAL_TENSORS - 1;
            Covariance::Dual(Arc::new(read_dual(tensors, place, count, outputs)?))
        } else {
            let effects = read(tensors, &effects, &[count, outputs])?;
            if effects.iter().any(|sd| *sd < 0.0) {
                return Err("a standard deviation is below 0".to_owned());
            }
            Covariance::Effects(effects)
        };
        Ok(PosteriorPart { outputs, covariance, products, noise })
    };
    let parts = outputs.into_iter().zip(noise.iter().copied()).enumerate().map(part);
    let parts = parts.collect::<Result<Vec<_>, String>>()?;
    if found != expected {
        return Err("it has tensors of a posterior that do not belong in it".to_owned());
    }
    Ok(Some(Posterior { count, parts, means }))
}

/// The covariance of a part whose items were weighed.
fn read_dual(tensors: &SafeTensors<'_>, part: usize, count: usize, outputs: usize) -> Result<DualCovariance, String> {
    let rows_name = name_of(part, ROWS);
    let shape = tensors.tensor(&rows_name).map(|tensor| tensor.shape().to_vec()).unwrap_or_default();
    let [latents, items] = shape[..] else { return Err(format!("tensor \"{rows_name}\" has no rows and columns")) };
    if items == 0 || latents > count {
        return Err("its posterior has no items, or more latent numbers than coefficients".to_owned());
    }
    let length =
        items.checked_add(1).and_then(|next| items.checked_mul(next)).ok_or("its posterior has too many items")?;
    let roots = read(tensors, &name_of(part, ROOTS), &[outputs + usize::from(outputs > 1), length / 2])?;
    let weights = read(tensors, &name_of(part, WEIGHTS), &[outputs, items])?;
    if weights.iter().any(|weight| *weight < 0.0) {
        return Err("a root of a second derivative is below 0".to_owned());
    }
    let own = DualRows {
        latents: read_as(tensors, &name_of(part, LATENTS), Dtype::U32, &[count], u32::from_le_bytes)?,
        loadings: read(tensors, &name_of(part, LOADINGS), &[count])?,
        rows: read_as(tensors, &rows_name, Dtype::F32, &shape, f32::from_le_bytes)?,
        weights: weights.chunks_exact(items).map(<[f64]>::to_vec).collect(),
    };
    let found = DualCovariance::with_roots(own, &roots).ok_or("its posterior names latent numbers that it lacks")?;
    match found.is_finite() {
        true => Ok(found),
        false => Err(format!("tensor \"{rows_name}\" holds a value that is not finite")),
    }
}

fn read(tensors: &SafeTensors<'_>, name: &str, shape: &[usize]) -> Result<Arc<[f64]>, String> {
    let values = read_as(tensors, name, Dtype::F64, shape, f64::from_le_bytes)?;
    if values.iter().any(|value: &f64| !value.is_finite()) {
        return Err(format!("tensor \"{name}\" holds a value that is not finite"));
    }
    Ok(values)
}

/// The numbers of a tensor that must have this type and shape.
fn read_as<T, const BYTES: usize>(
    tensors: &SafeTensors<'_>,
    name: &str,
    dtype: Dtype,
    shape: &[usize],
    number: impl Fn([u8; BYTES]) -> T,
) -> Result<Arc<[T]>, String> {
    let tensor = tensors.tensor(name).map_err(|_| format!("tensor \"{name}\" is missing"))?;
    if tensor.dtype() != dtype || tensor.shape() != shape {
        return Err(format!("tensor \"{name}\" is {:?} {:?}, not {dtype:?} {shape:?}", tensor.dtype(), tensor.shape()));
    }
    let (chunks, _) = tensor.data().as_chunks::<BYTES>();
    Ok(chunks.iter().map(|chunk| number(*chunk)).collect())
}
