//! Protocols: how the data are divided, how often everything is repeated, and where options are tuned.

use crate::dataset::{Dataset, Split};
use crate::error::{Error, Result};
use crate::remedy::Remedy;

/// Folds where the data bring no split.
const USUAL_FOLDS: usize = 10;
/// The share of the links that is tested where links are divided to be evaluated.
pub const LINK_TEST_SHARE: f64 = 0.1;

/// How the data are divided into training, validation and test parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Division {
    /// Stratified folds, each the test part once; 10 % of the rest validates.
    Folds(usize),
    /// The same with folds that are blocks of the items in their order, as they are in the files.
    Blocks(usize),
    /// The splits that came with the data.
    GivenSplits,
    /// One random split, stratified: this share validates and this share is tested.
    Random {
        /// Share of the items that validates.
        valid: f64,
        /// Share of the items that is tested.
        test: f64,
    },
}

impl Division {
    /// The splits that came with the data, or else 10 folds: fewer where there are fewer labelled items.
    pub fn usual(data: &Dataset) -> Division {
        match data.given_splits() {
            0 => Division::Folds(USUAL_FOLDS.min(data.labelled().len())),
            _ => Division::GivenSplits,
        }
    }
}

/// On which splits options are tuned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tuning {
    /// On every split, for that split.
    #[default]
    EachSplit,
    /// On the first split, for all of them.
    FirstSplit,
}

/// A way to evaluate.
///
/// ```
/// use gnan::evaluate::Division;
/// use gnan::{Dataset, Protocol};
/// let protocol = Protocol::new(Division::Folds(10), 1);
/// let splits = protocol.splits(&Dataset::open("solubility")?, 1)?;
/// assert_eq!(splits.len(), 10);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Protocol {
    /// How the data are divided.
    pub division: Division,
    /// The seed of the division and of every run that chooses.
    pub seed: u64,
    /// How often every split is tested, with seeds counted up from `seed`.
    pub repeats: u64,
    /// Where options are tuned.
    pub tuning: Tuning,
    /// Whether every repeat divides the data anew.
    pub new_division_each: bool,
}

impl Protocol {
    /// A protocol that tests every split once.
    pub fn new(division: Division, seed: u64) -> Protocol {
        Protocol { division, seed, repeats: 1, tuning: Tuning::EachSplit, new_division_each: true }
    }

    /// The same, repeated.
    pub fn repeated(self, repeats: u64) -> Protocol {
        Protocol { repeats, ..self }
    }

    /// The seeds of the repeats.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.seed;
        (0..self.repeats).map(move |step| first.wrapping_add(step))
    }

    /// The splits that the division makes with a seed.
    pub fn splits(&self, data: &Dataset, seed: u64) -> Result<Vec<Split>> {
        match self.division {
            Division::Folds(count) => held_out(data.folds(count, seed)?, seed),
            Division::Blocks(count) => held_out(data.blocks(count)?, seed),
            Division::GivenSplits => (0..data.given_splits())
                .map(|index| {
                    let split = data.given_split(index, seed)?;
                    if split.test.is_empty() {
                        return Err(Error::input("the given split has no labelled test items")
                            .in_file(data.name())
                            .with_remedy(
                                Remedy::Set("folds", USUAL_FOLDS.to_string()).to("evaluate over folds instead"),
                            ));
                    }
                    Ok(split)
                })
                .collect(),
            Division::Random { valid: valid_share, test: test_share } => {
                if !(valid_share > 0.0 && test_share > 0.0 && valid_share + test_share < 1.0) {
                    return Err(Error::usage(format!(
                        "shares of {valid_share} and {test_share} leave no sensible training part"
                    )));
                }
                let (rest, test) = data.split(1.0 - test_share, seed)?;
                let (train, valid) = rest.split(1.0 - valid_share / (1.0 - test_share), seed)?;
                Ok(vec![Split { train, valid, test }])
            }
        }
    }
}

fn held_out(folds: Vec<(Dataset, Dataset)>, seed: u64) -> Result<Vec<Split>> {
    let split = |(rest, test): (Dataset, Dataset)| {
        let (train, valid) = rest.hold_out(seed)?;
        Ok(Split { train, valid, test })
    };
    folds.into_iter().map(split).collect()
}
