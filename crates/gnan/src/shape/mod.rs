//! Shape functions: the univariate networks that `rho` and every `f_k` are made of.

mod adam;
mod aligned;
mod bank;
mod evaluation;
mod exact;
mod kernel;
mod knots;
mod network;
mod passes;
mod piecewise;

pub use adam::Adam;
pub use aligned::AlignedFloats;
pub use bank::{Bank, Moments};
pub use evaluation::Evaluation;
pub use network::{Architecture, ParameterPart};
pub use piecewise::PiecewiseLinear;
