//! What the library is made of, for its own tests and benchmarks and for the readers of `gnan-paper`. Nothing here is
//! promised to stay as it is.

#![allow(missing_docs)]

/// A module with the same public names as one of the crate.
macro_rules! mirror {
    ($($name:ident: $($path:path),+;)*) => {
        $(pub mod $name { $(pub use $path::*;)+ })*
    };
}

/// What readers of formats are made of.
pub mod files {
    mirror! {
        bundle: crate::files::bundle;
        naming: crate::files::naming;
        table: crate::files::table;
        text: crate::files::text;
    }
    /// Columns from what formats hold instead of tables with a header.
    pub mod columns {
        mirror! {
            label_map: crate::files::columns::label_map;
            levels: crate::files::columns::levels;
            number_table: crate::files::columns::number_table;
            units: crate::files::columns::units;
        }
    }
}

mirror! {
    dataset: crate::dataset::pair;
    distance: crate::distance;
    lens: crate::lens;
    likelihood: crate::likelihood;
    model: crate::model, crate::model::bank_specs, crate::model::engine, crate::model::parameters, crate::model::schema;
    random: crate::random;
    shape: crate::shape;
    statistics: crate::statistics;
    train: crate::train::loss, crate::train::retraining, crate::train::statistics_cache;
}
