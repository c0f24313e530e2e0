//! Explanations: the canonical form of a model, and predictions taken apart into parts that add up.

mod anchor;
mod by_distance;
mod canonical;
mod curves;
mod document;
mod each;
mod effect_sums;
mod explainer;
mod explanation;
mod importance;
mod kept_sds;
mod ledger;
mod output;
mod overview;
mod overview_table;
#[cfg(feature = "parquet")]
mod parquet_table;
mod part_sds;
mod parts;
mod pass;
mod readout;
mod reference;
mod shape_curve;
mod source_terms;
mod tables;
mod typical;
mod verification;
mod weak_values;

pub use crate::lens::DistanceAxis;
pub use by_distance::CurveByDistance;
pub use canonical::{Canonical, CanonicalFeature, CanonicalLevel, FeatureValue, RhoCurve};
pub use curves::{Curves, Point, Points};
pub use document::{ExplanationRow, ExplanationWriter};
pub(crate) use effect_sums::{EffectSums, scaled, value_of_unit};
pub use explainer::Explainer;
pub use explanation::{Contribution, Explanation, TOLERANCE};
pub use importance::Importance;
pub use ledger::{By, Ledger, Term};
pub use output::Output;
pub use overview::{FeatureOverview, Overview};
#[cfg(feature = "parquet")]
pub use parquet_table::ParquetTable;
pub use part_sds::PartSds;
pub use parts::{MOST_PARTS, Unlisted};
pub use readout::{ReadoutExplanation, ReadoutTerm};
pub use reference::{AverageParts, OwnAndOthers, Reference};
pub use shape_curve::ShapeCurve;
pub use tables::{
    AnchorTable, DistanceTable, FeatureTable, LevelTable, ModelTables, ReadoutTables, RhoTable, TABLES_VERSION,
};
pub use verification::{ReadoutVerification, Verification};
