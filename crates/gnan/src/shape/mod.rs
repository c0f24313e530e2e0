//! Shape functions: the univariate networks that `rho` and every `f_k` are made of.

mod adam;
mod bank;
mod exact;
mod kernel;
mod network;

pub use adam::Adam;

pub use bank::{AlignedFloats, Bank, Evaluation, Moments};
pub use network::{Architecture, ParameterPart};
