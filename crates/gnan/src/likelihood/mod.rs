//! Penalised likelihood: generalised additive models fitted by Newton steps, their smoothness chosen by the marginal likelihood.
//!
//! ```text
//! maximise over b        loglik(X b) - 1/2 sum_j lambda_j b' S_j b
//! and over the lambdas   LAML = loglik - 1/2 b' S b + 1/2 log |S|_+ - 1/2 log |X' W X + S| + M/2 log 2 pi
//! ```
//!
//! [`Design`] is `X`, a [`Block`] says which coefficients have which penalties `S_j`, a [`Family`] is the likelihood of what is [`Observed`], and
//! [`fit`] alternates Newton steps in `b` with generalised Fellner-Schall updates of the lambdas (Wood and Fasiolo 2017). The
//! inverse of `X' W X + S` is the posterior covariance of the coefficients, kept by its [root](InverseRoot); a
//! [`wald_test`] compares sums of them with 0, and an [`Omission`] is what
//! the marginal likelihood loses without some of them. [`fit_within`] keeps an estimate to some [inequalities](Inequality). Where effects
//! are products of a value and a point of a curve that many values share, [`fit_bilinear`] finds both. Nothing here knows what the
//! coefficients mean.

mod bilinear;
mod chi_squared;
mod constrained;
mod design;
mod dispersion;
mod dual;
mod dual_covariance;
mod family;
mod inequality;
mod kernel;
mod left_out;
mod matrix;
mod newton;
mod observed;
mod omission;
mod penalty;
mod shared_curve;
mod special_functions;
mod vector;
mod wald;

pub use bilinear::{BilinearEstimate, BilinearProblem, Product, bilinear_bytes, fit_bilinear};
pub use chi_squared::chi_squared_tail;
pub use constrained::fit_within;
pub use design::Design;
pub use dual::{DualEstimate, DualProblem, dual_bytes, fit_dual, fit_dual_with};
pub use dual_covariance::{DualCovariance, DualRows};
pub use family::{Derivatives, Family};
pub use inequality::Inequality;
pub use kernel::Kernel;
pub use left_out::left_out_losses;
pub use matrix::InverseRoot;
pub use newton::{FitStart, Iteration, PenalisedEstimate, PenalisedProblem, fit};
pub use observed::Observed;
pub use omission::{NextOmission, Omission};
pub use penalty::{Block, CellPlace};
pub use shared_curve::fit_shared_curve;
pub use wald::{WaldTest, wald_test};
