//! Shape functions: what `rho` and every `f_k` are made of, univariate networks or B-splines.

mod adam;
mod aligned;
mod bank;
mod basis;
mod blocks;
mod eval_points;
mod exact;
mod input_gradient;
mod kernel;
mod knots;
mod network;
mod networks;
mod passes;
mod pieces;
mod piecewise;
mod splines;

pub use crate::spec::ShapeKind;
pub use adam::Adam;
pub(crate) use adam::AdamStep;
pub use bank::{Bank, BankSpec, Moments};
pub use basis::Basis;
pub use eval_points::EvalPoints;
pub use network::Architecture;
pub use pieces::Piece;
pub(crate) use pieces::extremes;
pub use piecewise::Piecewise;
pub use splines::SplineSpec;
