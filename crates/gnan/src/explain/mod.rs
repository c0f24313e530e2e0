//! Explanations: the canonical form of a model, and predictions taken apart into parts that add up.

mod canonical;
mod curves;
mod explainer;
mod explanation;
mod importance;
mod ledger;
mod overview;
mod parts;
mod pass;
mod readout;
mod source_terms;
mod tables;

pub use canonical::{Canonical, CanonicalFeature, CanonicalLevel, FeatureValue, RhoCurve};
pub use curves::{Curves, Point, Points};
pub use explainer::Explainer;
pub use explanation::{Contribution, Explanation, TOLERANCE};
pub use importance::Importance;
pub use ledger::{By, Ledger, Term};
pub use overview::{Bin, FeatureOverview, LITTLE_SUPPORT, Overview, ShapeCurve};
pub use parts::{MOST_PARTS, Unlisted};
pub use readout::{ReadoutExplanation, ReadoutTerm};
pub use tables::{DistanceTable, FeatureTable, LevelTable, ModelTables, ReadoutTables, RhoTable, TABLES_VERSION};
