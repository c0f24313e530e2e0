//! What happened when a model was trained.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::certificate::Certificate;
use super::fit_summary::FitSummary;
use super::item_split::ItemSplit;
use crate::dataset::{Split, SplitOrigin};
use crate::metric::Metric;
use crate::spec::Spec;

/// Why training ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The limit on epochs was reached.
    #[default]
    Epochs,
    /// The validation loss did not improve for long enough.
    Patience,
    /// It was interrupted; the best model so far was kept.
    Interrupted,
    /// The loss was no longer a finite number; the best model before that was kept.
    Diverged,
    /// Nothing changed any more.
    Converged,
}

impl Ended {
    /// Every reason there is.
    pub const ALL: [Ended; 5] = [Ended::Epochs, Ended::Patience, Ended::Interrupted, Ended::Diverged, Ended::Converged];

    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Ended::Epochs => "the limit on epochs was reached",
            Ended::Patience => "the validation loss stopped improving",
            Ended::Interrupted => "it was interrupted",
            Ended::Diverged => "the loss was no longer finite",
            Ended::Converged => "nothing changed any more",
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// How a model came about.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// let record = model.record();
/// assert_eq!(record.epochs, 20);
/// println!("best after {} epochs; {}", record.best_epoch, record.ended);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Version of the library.
    pub version: String,
    /// Name of the data set.
    pub data: String,
    /// Items fitted on.
    pub train_items: usize,
    /// Validation items.
    pub valid_items: usize,
    /// How many of the items fitted on were set aside for validation, which nothing needed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub joined_items: usize,
    /// How many of the items fitted on have a target of which only a bound is known, and no known one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bounded_items: usize,
    /// Nodes of the training graphs.
    pub nodes: usize,
    /// Where the parts of the data come from; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<SplitOrigin>,
    /// The items of every part; in a file they are tensors.
    #[serde(skip)]
    pub items: ItemSplit,
    /// Rows of the table of molecules that could not be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped_rows: usize,
    /// A checksum of the ids and targets of the items fitted on, whatever their order; empty in files of before this was
    /// recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub items_checksum: String,
    /// The specification with every option filled in that was left to the data.
    pub resolved: Spec,
    /// For every quantity that is a target, what was subtracted from it and what the rest was divided by while training.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_scale: Vec<(f64, f64)>,
    /// Epochs run.
    pub epochs: usize,
    /// Epoch whose weights were kept.
    pub best_epoch: usize,
    /// Why training ended.
    pub ended: Ended,
    /// Training and validation loss after each epoch, thinned to at most 200 points: (epoch, train, valid).
    pub history: Vec<(usize, f64, f64)>,
    /// How much a sample of shells changes an output, as a share of the spread of outputs over the items fitted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_error: Option<f64>,
    /// What was tried before this model was chosen, and the validation loss of each; empty where there was no choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<(String, f64)>,
    /// The path over strengths by which features were selected; empty where they were not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selection: Vec<SelectionStep>,
    /// The features that were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// How much each feature pair explains of what the additive model leaves, the best first; empty where none was
    /// searched for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairRank>,
    /// What the model promises, as it was checked when it was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<Certificate>,
    /// What a penalised fit says of its terms; `None` for other models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<FitSummary>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Record {
    /// Why training ended, in words: without validation items it is the training loss that stopped improving.
    pub fn ending(&self) -> &'static str {
        match (self.ended, self.valid_items) {
            (Ended::Patience, 0) => "the training loss stopped improving",
            (ended, _) => ended.words(),
        }
    }

    /// Whether a split has the very items that the model was fitted on and validated by, as far as is recorded.
    pub fn is_of(&self, split: &Split) -> bool {
        if self.joined_items > 0 && !split.valid.is_empty() {
            let nothing = split.valid.subset(&[]);
            let train = split.train.union(&split.valid);
            return self.is_of(&Split { train, valid: nothing, test: split.test.clone() });
        }
        // Items of which only a bound is known are remembered by their number.
        let train = split.train.labelled();
        train.len() + self.bounded_items == self.train_items
            && split.valid.len() == self.valid_items
            && (self.items_checksum.is_empty() || self.items_checksum == train.items_checksum())
    }

    /// The point of the thinned history with the lowest validation loss: (epoch, train, valid).
    pub fn best_point(&self) -> Option<(usize, f64, f64)> {
        self.history.iter().copied().min_by(|a, b| a.2.total_cmp(&b.2))
    }

    /// Whether the last epoch was the best: more of them might have been better still.
    pub fn was_still_improving(&self) -> bool {
        self.ended != Ended::Converged && self.epochs > 0 && self.best_epoch + 1 >= self.epochs
    }
}

/// How well a feature pair did among the candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairRank {
    /// The two features.
    pub features: [String; 2],
    /// The share of what the additive model leaves that the pair explains, less what chance would explain.
    pub score: f64,
}

/// A set of features on the path over strengths of the group penalty, or of those that a penalised fit still had.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectionStep {
    /// The strength that left them; 0 in a penalised fit.
    pub strength: f64,
    /// How many they are.
    pub features: usize,
    /// The validation loss of a model of these features alone; of a penalised fit that of items that were left out.
    pub valid_loss: f64,
    /// Its chief metric on the validation items.
    pub metric: Option<(Metric, f64)>,
}
