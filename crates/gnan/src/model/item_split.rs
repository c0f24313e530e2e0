//! Which items a model was fitted on, validated by and is to be tested on: a model file remembers them, so that nothing has
//! to be given again about the data that it was trained on.

use std::sync::Arc;

use super::Model;
use crate::dataset::{Dataset, Identity, Split, SplitOrigin};

/// Items by their identities, each list ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemSplit {
    /// Fitted on.
    pub train: Arc<[u64]>,
    /// Validated by.
    pub valid: Arc<[u64]>,
    /// Set aside for testing; empty where none were, or where that is not recorded.
    pub test: Arc<[u64]>,
    /// A part of the identities of all items fitted on or validated by: the structures of graphs, the ids of nodes.
    pub seen: Arc<[u64]>,
}

/// The labelled items of some data by what a model did with them.
#[derive(Clone, Debug)]
pub struct RememberedSplit {
    /// The items that it was fitted on, was validated by, and that were set aside for testing.
    pub split: Split,
    /// Items that have the structure of a graph, or the id of a node, that training used, and another name or other
    /// values.
    pub doubtful: Dataset,
    /// Items that training did not use.
    pub new: Dataset,
    /// Whether all items that it was fitted on and validated by are there, with the targets that they had.
    pub is_whole: bool,
}

impl ItemSplit {
    /// The items of a fit.
    pub fn of(train: &Dataset, valid: &Dataset) -> ItemSplit {
        let names: Vec<&str> =
            train.features().iter().filter(|feature| feature.is_read()).map(|feature| feature.name.as_str()).collect();
        let [train, valid] = [train, valid].map(|part| part.identities(&names));
        let seen = train.iter().chain(&valid).map(|identity| identity.partial);
        ItemSplit { seen: ascending(seen), train: full(&train), valid: full(&valid), test: Arc::default() }
    }

    /// Whether nothing is remembered, as in files of before it was.
    pub fn is_empty(&self) -> bool {
        self.train.is_empty()
    }
}

fn full(identities: &[Identity]) -> Arc<[u64]> {
    ascending(identities.iter().map(|identity| identity.full))
}

fn ascending(numbers: impl Iterator<Item = u64>) -> Arc<[u64]> {
    let mut found: Vec<u64> = numbers.collect();
    found.sort_unstable();
    found.into()
}

impl Model {
    /// The same model, which remembers the items that were set aside for testing, and where its parts come from.
    pub fn tested_on(self, test: &Dataset, origin: SplitOrigin) -> Model {
        let identities = test.identities(&self.read_features());
        self.with_record(|record| {
            record.items.test = full(&identities);
            record.origin = Some(origin);
        })
    }

    /// The names of the features that are read from files.
    fn read_features(&self) -> Vec<&str> {
        self.learned()
            .features
            .iter()
            .filter(|feature| feature.is_read())
            .map(|feature| feature.name.as_str())
            .collect()
    }

    /// The labelled items of `data` by what was done with them; `None` for a model that remembers none.
    pub fn remembered(&self, data: &Dataset) -> Option<RememberedSplit> {
        let items = &self.record().items;
        if items.is_empty() {
            return None;
        }
        let labelled = data.labelled();
        let mut parts: [Vec<usize>; 5] = Default::default();
        for (position, identity) in labelled.identities(&self.read_features()).into_iter().enumerate() {
            let lists = [&items.train, &items.valid, &items.test].map(|list| (list, identity.full));
            let known = lists.into_iter().chain([(&items.seen, identity.partial)]);
            let part = known.enumerate().find(|(_, (list, number))| list.binary_search(number).is_ok());
            parts[part.map_or(4, |(part, _)| part)].push(position);
        }
        let [train, valid, test, doubtful, new] = parts.map(|positions| labelled.subset(&positions));
        let split = Split { train, valid, test };
        let is_whole = self.record().is_of(&split);
        Some(RememberedSplit { split, doubtful, new, is_whole })
    }
}
