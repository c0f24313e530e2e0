//! A JSON object whose entries stand in the order of the program.

use serde::{Serialize, Serializer};

/// Names and values as a JSON object that keeps their order.
pub(crate) struct OrderedObject<'a, T>(pub Vec<(&'a str, T)>);

impl<T: Serialize> Serialize for OrderedObject<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
