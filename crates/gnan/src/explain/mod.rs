//! Explanations: the canonical form of a model, and predictions taken apart into parts that add up.

mod canonical;
mod explanation;

pub use canonical::{Canonical, CanonicalFeature, CanonicalLevel, RhoCurve, Value};
pub use explanation::{Explanation, TOLERANCE};
