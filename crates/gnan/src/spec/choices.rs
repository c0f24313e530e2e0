//! Choices between a few named things.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// An enum whose variants have names: read from them, written as them, listed.
macro_rules! choices {
    ($( $(#[$meta:meta])* $choice:ident { $( $(#[$variant_meta:meta])* $variant:ident = $name:literal, )+ } )+) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $choice { $( $(#[$variant_meta])* #[serde(rename = $name)] $variant, )+ }

        impl $choice {
            /// Every choice there is.
            pub const ALL: &[$choice] = &[$( $choice::$variant ),+];

            /// Its name, in files and wherever options are written.
            pub fn name(self) -> &'static str {
                match self { $( $choice::$variant => $name ),+ }
            }
        }

        impl fmt::Display for $choice {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $choice {
            type Err = Error;

            fn from_str(text: &str) -> Result<$choice> {
                Self::ALL.iter().copied().find(|choice| choice.name() == text.trim()).ok_or_else(|| {
                    let names: Vec<&str> = Self::ALL.iter().map(|choice| choice.name()).collect();
                    Error::usage(format!("\"{text}\" is not a choice")).with_remedy(format!("choose {}", names.join(", ")))
                })
            }
        }
    )+ };
}

choices! {
    /// What is predicted, where the data leave it open.
    TaskChoice {
        /// Numbers are classes.
        Classification = "classification",
        /// Numbers are quantities.
        Regression = "regression",
        /// Which nodes are joined.
        Link = "link",
    }

    /// How a model is fitted.
    #[derive(Default)]
    FitMethod {
        /// By penalised likelihood wherever that has all that is requested and is not too large, else by gradient descent.
        #[default]
        Auto = "auto",
        /// Shape and distance functions by gradient descent, stopped by validation items.
        Gradient = "gradient",
        /// Effects by penalised likelihood: Newton steps, smoothness by the marginal likelihood.
        Penalised = "penalised",
    }

    /// How rich a penalised model is.
    #[derive(Default)]
    LevelChoice {
        /// What training items choose.
        #[default]
        Auto = "auto",
        /// Effects of values at distances.
        One = "1",
        /// Curves over numbers that sum an item up as well, and tables over two of them.
        Two = "2",
    }

    /// What the effects of a number are over its values, in a penalised fit.
    #[derive(Default)]
    CurveChoice {
        /// Smooth, but linear over numbers that sum up items, and where training items choose linear.
        #[default]
        Auto = "auto",
        /// Cubic B-splines.
        Smooth = "smooth",
        /// Linear between knots at quantiles.
        Linear = "linear",
    }

    /// What targets that are quantities are, given the outputs of a penalised fit.
    #[derive(Default)]
    FamilyChoice {
        /// Normal quantities.
        #[default]
        Auto = "auto",
        /// Normal quantities, with one variance for all items; outputs are their means.
        Gaussian = "gaussian",
        /// Counts whose variance is their mean; outputs are logarithms of their means.
        Poisson = "poisson",
        /// Counts that vary more than that; outputs are logarithms of their means.
        NegativeBinomial = "negative-binomial",
        /// Quantities above 0 that vary in proportion to their means; outputs are logarithms of their means.
        Gamma = "gamma",
    }

    /// Which way edges are followed from a source to a receiver.
    #[derive(Default)]
    EdgeDirection {
        /// From source to target, where edges have a direction; else both ways.
        #[default]
        Along = "along",
        /// From target to source.
        Against = "against",
        /// Both ways, whatever direction edges have.
        Ignoring = "ignoring",
    }

    /// How the outputs of the nodes of a graph become one number.
    #[derive(Default)]
    PoolChoice {
        /// What training items choose in a penalised fit; else their sum.
        #[default]
        Auto = "auto",
        /// Their sum.
        Sum = "sum",
        /// Their mean.
        Mean = "mean",
        /// Both, with a distance function each.
        Both = "both",
    }

    /// How many distance functions the model has.
    RhoChoice {
        /// One for all features.
        Shared = "shared",
        /// One per feature.
        PerFeature = "per-feature",
        /// Both are trained; the lower validation loss wins.
        Auto = "auto",
    }

    /// How many logits a binary task has.
    LogitChoice {
        /// One: log-odds.
        One = "one",
        /// Two: one per class, softmax.
        Two = "two",
        /// Both are trained; the lower validation loss wins.
        Auto = "auto",
    }

    /// What a function of one number is made of.
    #[derive(Default)]
    ShapeKind {
        /// A ReLU network.
        #[default]
        Network = "network",
        /// A B-spline.
        Spline = "spline",
    }

    /// What training minimises.
    Loss {
        /// One logit per target: binary cross entropy.
        Logistic = "logistic",
        /// One logit per class: cross entropy.
        CrossEntropy = "cross-entropy",
        /// Squared error.
        Squared = "squared",
        /// Absolute error.
        Absolute = "absolute",
    }
}

impl FamilyChoice {
    /// Whether outputs are logarithms of the means of targets.
    pub fn is_log(self) -> bool {
        matches!(self, FamilyChoice::Poisson | FamilyChoice::NegativeBinomial | FamilyChoice::Gamma)
    }

    /// Whether targets are counts.
    pub fn is_of_counts(self) -> bool {
        matches!(self, FamilyChoice::Poisson | FamilyChoice::NegativeBinomial)
    }

    /// Its name in sentences.
    pub fn words(self) -> &'static str {
        match self {
            FamilyChoice::Auto | FamilyChoice::Gaussian => "normal quantities",
            FamilyChoice::Poisson => "Poisson counts",
            FamilyChoice::NegativeBinomial => "negative binomial counts",
            FamilyChoice::Gamma => "gamma quantities",
        }
    }
}

impl ShapeKind {
    /// Whether this is a network.
    pub fn is_network(&self) -> bool {
        *self == ShapeKind::Network
    }
}

/// Which features a model does without.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Selection {
    /// Those that the marginal likelihood shrinks to nothing, in a penalised fit; else those that a path over strengths of a group
    /// penalty shows to be of no use on validation items.
    Path,
    /// Those that a group penalty of this strength switches off.
    Strength(f64),
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selection::Path => f.write_str("path"),
            Selection::Strength(strength) => strength.fmt(f),
        }
    }
}

impl FromStr for Selection {
    type Err = Error;

    fn from_str(text: &str) -> Result<Selection> {
        match text.trim() {
            "path" => Ok(Selection::Path),
            number => number.parse().map(Selection::Strength).map_err(|_| {
                Error::usage(format!("\"{text}\" is not a strength"))
                    .with_remedy("give a number, or path for a path of them")
            }),
        }
    }
}

super::distances::as_text!(Selection);
