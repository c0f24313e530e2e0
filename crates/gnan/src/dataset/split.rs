//! Splits: given by the data or made here, always seeded, stratified by class where there is one class per item.
//!
//! Items without a target of which a bound is known go with training items: nothing can be judged on them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::SplitPart;
use crate::random::Stream;

use super::{Dataset, Outcome};

/// Share of the training part that is set aside for validation when the data bring none.
pub const VALIDATION_SHARE: f64 = 0.1;

/// With fewer labelled items than this none are set aside for validation.
const LEAST_TO_HOLD_OUT: usize = 10;

/// Where the parts of a data set come from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitOrigin {
    /// Links and node pairs without one, divided when they were made of the edges.
    Links,
    /// Drawn at random: this share of the items is for testing.
    Random(f64),
    /// The only split that came with the data.
    Given,
    /// The first of several splits that came with the data.
    FirstGiven,
    /// All labelled items are for training.
    All,
}

impl std::fmt::Display for SplitOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SplitOrigin::Links => "links and pairs without one",
            SplitOrigin::Random(_) => "random split",
            SplitOrigin::Given => "given split",
            SplitOrigin::FirstGiven => "first given split",
            SplitOrigin::All => "all labelled items",
        })
    }
}

/// Three views of one data set.
///
/// ```
/// use gnan::Dataset;
/// let (split, origin) = Dataset::open("solubility")?.parts(Some(0.2), 42)?;
/// assert!(split.test.len() < split.train.len());
/// println!("{origin}");
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Split {
    /// Fitted on.
    pub train: Dataset,
    /// Used to stop training and to choose options.
    pub valid: Dataset,
    /// Looked at once, at the end.
    pub test: Dataset,
}

impl Split {
    /// The same split without its test items, for runs that must not see them.
    pub fn without_test(&self) -> Split {
        Split { test: self.test.subset(&[]), ..self.clone() }
    }

    /// The same items of data that have the same items as these.
    pub fn view_in(&self, data: &Dataset) -> Split {
        Split { train: data.view_of(&self.train), valid: data.view_of(&self.valid), test: data.view_of(&self.test) }
    }
}

impl Dataset {
    /// Two random parts, the first with `share` of the labelled items, stratified by class.
    pub fn split(&self, share: f64, seed: u64) -> Result<(Dataset, Dataset)> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::usage(format!("a share of {share} is not between 0 and 1")));
        }
        let labelled = self.labelled();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut owed = 0.0;
        for stratum in labelled.shuffled_strata(seed, "split") {
            // The shares owed are carried over from class to class, so that the total is right as well.
            owed += share * stratum.len() as f64;
            let take = (owed.round() as usize).min(stratum.len());
            owed -= take as f64;
            first.extend_from_slice(&stratum[..take]);
            second.extend_from_slice(&stratum[take..]);
        }
        if first.is_empty() || second.is_empty() {
            return Err(Error::input(format!("{} labelled items are too few to split", labelled.len()))
                .with_remedy("give more items a target"));
        }
        first.sort_unstable();
        second.sort_unstable();
        Ok((labelled.subset(&first).with_bounded(self), labelled.subset(&second)))
    }

    /// The same items, and those of others of which only a bound is known.
    fn with_bounded(self, others: &Dataset) -> Dataset {
        let bounded = others.bounded();
        if bounded.is_empty() { self } else { self.union(&bounded) }
    }

    /// The same, for validation: 10 % of the labelled items go into the second part, none of fewer than 10.
    pub fn hold_out(&self, seed: u64) -> Result<(Dataset, Dataset)> {
        let labelled = self.labelled();
        if labelled.len() < LEAST_TO_HOLD_OUT {
            let nothing = labelled.subset(&[]);
            return Ok((labelled.with_bounded(self), nothing));
        }
        self.split(1.0 - VALIDATION_SHARE, seed)
    }

    /// `count` folds, stratified by class; each is (training part, test part) and the test parts cover all.
    pub fn folds(&self, count: usize, seed: u64) -> Result<Vec<(Dataset, Dataset)>> {
        let labelled = self.labelled();
        check_folds(count, labelled.len())?;
        let mut fold_of = vec![0; labelled.len()];
        let strata = labelled.shuffled_strata(seed, "folds");
        strata.into_iter().flatten().enumerate().for_each(|(turn, position)| fold_of[position] = turn % count);
        Ok((0..count)
            .map(|fold| {
                let (test, train): (Vec<usize>, Vec<usize>) =
                    (0..labelled.len()).partition(|position| fold_of[*position] == fold);
                (labelled.subset(&train).with_bounded(self), labelled.subset(&test))
            })
            .collect())
    }

    /// The same with folds that are blocks of the labelled items in their order; the first ones are longer by one where
    /// the number does not divide.
    pub fn blocks(&self, count: usize) -> Result<Vec<(Dataset, Dataset)>> {
        let labelled = self.labelled();
        check_folds(count, labelled.len())?;
        let size = |fold: usize| labelled.len() / count + usize::from(fold < labelled.len() % count);
        let mut start = 0;
        let mut folds = Vec::with_capacity(count);
        for fold in 0..count {
            let block = start..start + size(fold);
            start = block.end;
            let (test, train): (Vec<usize>, Vec<usize>) = (0..labelled.len()).partition(|at| block.contains(at));
            folds.push((labelled.subset(&train).with_bounded(self), labelled.subset(&test)));
        }
        Ok(folds)
    }

    /// The `index`-th split that came with the data; without a validation part, 10 % of its training part become one.
    pub fn given_split(&self, index: usize, seed: u64) -> Result<Split> {
        let parts = self.content.tables.splits.get(index).ok_or_else(|| {
            Error::usage(format!("the data have {} given splits, there is no number {index}", self.given_splits()))
        })?;
        let part = |wanted: SplitPart| {
            let positions: Vec<usize> =
                (0..self.len()).filter(|position| parts[self.items[*position] as usize] == wanted).collect();
            let part = self.subset(&positions);
            let labelled = part.labelled();
            if wanted == SplitPart::Train && !labelled.is_empty() { labelled.with_bounded(&part) } else { labelled }
        };
        let (train, valid, test) = (part(SplitPart::Train), part(SplitPart::Valid), part(SplitPart::Test));
        if train.is_empty() {
            return Err(Error::input("the given split has no labelled training items"));
        }
        if valid.is_empty() {
            let (train, valid) = train.hold_out(seed)?;
            return Ok(Split { train, valid, test });
        }
        Ok(Split { train, valid, test })
    }

    /// The parts that training, bootstrap and report agree on, and where they come from: a random test part of
    /// `test_share`, else the first split that came with the data, else everything but a validation part.
    pub fn parts(&self, test_share: Option<f64>, seed: u64) -> Result<(Split, SplitOrigin)> {
        if self.links().is_some() {
            // Their edges were divided before anything was made of them.
            return Ok((self.given_split(0, seed)?, SplitOrigin::Links));
        }
        if let Some(share) = test_share {
            if !(share > 0.0 && share < 1.0) {
                return Err(Error::usage(format!("a test share of {share}"))
                    .with_remedy("it must be between 0 and 1; 0.2 is usual"));
            }
            let (rest, test) = self.split(1.0 - share, seed)?;
            let (train, valid) = rest.hold_out(seed)?;
            return Ok((Split { train, valid, test }, SplitOrigin::Random(share)));
        }
        if self.given_splits() > 0 {
            let origin = if self.given_splits() > 1 { SplitOrigin::FirstGiven } else { SplitOrigin::Given };
            return Ok((self.given_split(0, seed)?, origin));
        }
        let (train, valid) = self.hold_out(seed)?;
        let test = self.subset(&[]);
        Ok((Split { train, valid, test }, SplitOrigin::All))
    }

    /// Positions in this view, by class where there is exactly one class per item, each list in random order.
    fn shuffled_strata(&self, seed: u64, purpose: &str) -> Vec<Vec<usize>> {
        let mut strata = match self.outcome() {
            Ok(Outcome::Binary | Outcome::Multiclass) => {
                let target = &self.targets()[0];
                let mut strata = vec![Vec::new(); target.classes.as_ref().map_or(0, Vec::len)];
                for (position, item) in self.items.iter().enumerate() {
                    strata[target.values[*item as usize] as usize].push(position);
                }
                strata
            }
            _ => vec![(0..self.len()).collect()],
        };
        for (index, stratum) in (0u64..).zip(&mut strata) {
            Stream::named(seed, purpose, index).shuffle(stratum);
        }
        strata
    }
}

fn check_folds(count: usize, labelled: usize) -> Result<()> {
    if (2..=labelled).contains(&count) {
        return Ok(());
    }
    Err(Error::usage(format!("{count} folds of {labelled} labelled items are not possible"))
        .with_remedy("choose from 2 up to the number of labelled items"))
}
