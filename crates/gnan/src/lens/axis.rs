//! The axis of distances: the slots of every lens, one lens after the other.
//!
//! The slots of a lens are distance 0, 1, ... up to the longest (or its bins), and "unreachable" last.

use std::ops::Range;

use serde::{Serialize, Serializer};

use super::Lens;
use crate::spec::WeightBins;

/// The slots of some lenses.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    parts: Vec<Part>,
}

/// The slots of one lens.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    name: String,
    slots: Range<usize>,
    bins: Option<WeightBins>,
    /// The distance that stands for all longer ones.
    far: Option<usize>,
}

impl Axis {
    /// The axis of lenses whose longest distances are these; bins count whether or not they occur.
    pub fn new(lenses: &[Lens], longest: &[usize]) -> Axis {
        let mut first = 0;
        let parts = lenses.iter().zip(Lens::names(lenses)).zip(longest).map(|((lens, name), longest)| {
            let finite = lens.bins.as_ref().map_or(longest + 1, |bins| bins.ends.len() + 1);
            let slots = first..first + finite + 1;
            first = slots.end;
            Part { name, slots, bins: lens.bins.clone(), far: lens.far.map(usize::from) }
        });
        Axis { parts: parts.collect() }
    }

    /// Number of slots of all lenses.
    pub fn slots(&self) -> usize {
        self.parts.last().map_or(0, |part| part.slots.end)
    }

    /// Number of lenses.
    pub fn lenses(&self) -> usize {
        self.parts.len()
    }

    /// The slots of a lens.
    pub fn range(&self, lens: usize) -> Range<usize> {
        self.parts[lens].slots.clone()
    }

    /// The name that tells a lens from the others; empty for one alone.
    pub fn lens_name(&self, lens: usize) -> &str {
        &self.parts[lens].name
    }

    /// The lens of a slot.
    pub fn lens_of(&self, slot: usize) -> usize {
        self.parts.partition_point(|part| part.slots.end <= slot)
    }

    /// The distance (or bin) of a slot within its lens; `None`: unreachable.
    pub fn distance(&self, slot: usize) -> Option<usize> {
        let slots = &self.parts[self.lens_of(slot)].slots;
        (slot + 1 < slots.end).then(|| slot - slots.start)
    }

    /// The slot of a distance by a lens; longer ones than the axis has count as its longest. `None`: unreachable.
    pub fn slot(&self, lens: usize, distance: Option<usize>) -> usize {
        let slots = &self.parts[lens].slots;
        match distance {
            Some(distance) => (slots.start + distance).min(slots.end - 2),
            None => slots.end - 1,
        }
    }

    /// The argument of rho for a slot: `1 / (1 + distance)`, the distance being the centre of a bin; 0 for
    /// "unreachable".
    pub fn argument(&self, slot: usize) -> f64 {
        let part = &self.parts[self.lens_of(slot)];
        match (self.distance(slot), &part.bins) {
            (None, _) => 0.0,
            (Some(bin @ 1..), Some(bins)) => {
                let [begin, end] = bins.bounds(bin);
                1.0 / (1.0 + 0.5 * (begin + end))
            }
            (Some(distance), _) => 1.0 / (1.0 + distance as f64),
        }
    }

    /// The longest distance (or the last bin) of every lens.
    pub fn longest(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.slots.len() - 2).collect()
    }

    /// Number of slots of every lens.
    pub fn lengths(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.slots.len()).collect()
    }

    /// The same slot on an axis of the same lenses, which may be longer or shorter.
    pub fn slot_on(&self, other: &Axis, slot: usize) -> usize {
        other.slot(self.lens_of(slot), self.distance(slot))
    }

    /// A slot in a word: "0", "3", "unreachable", with the lens before it where there are several.
    pub fn key(&self, slot: usize) -> String {
        let part = &self.parts[self.lens_of(slot)];
        let distance = match (self.distance(slot), &part.bins) {
            (None, _) => "unreachable".to_owned(),
            (Some(bin @ 1..), Some(bins)) => {
                let [begin, end] = bins.bounds(bin);
                format!("{begin}–{end}")
            }
            (Some(distance), _) if part.far == Some(distance) => format!("{distance}+"),
            (Some(distance), _) => distance.to_string(),
        };
        if part.name.is_empty() { distance } else { format!("{} {distance}", part.name) }
    }

    /// A slot as a person would say it: "distance 3", "unreachable", "along, distance 1".
    pub fn name(&self, slot: usize) -> String {
        let part = &self.parts[self.lens_of(slot)];
        let distance = match (self.distance(slot), &part.bins) {
            (None, _) => "unreachable".to_owned(),
            (Some(0), _) => "itself".to_owned(),
            (Some(bin), Some(bins)) => {
                let [begin, end] = bins.bounds(bin);
                format!("{} {begin} to {end}", bins.weight)
            }
            (Some(distance), None) if part.far == Some(distance) => format!("distance {distance} or more"),
            (Some(distance), None) => format!("distance {distance}"),
        };
        if part.name.is_empty() { distance } else { format!("{}, {distance}", part.name) }
    }
}

impl Serialize for Axis {
    /// A list of its slots, each in a word.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.slots()).map(|slot| self.key(slot)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lens::Pool;
    use crate::spec::EdgeDirection;

    #[test]
    fn slots_of_all_lenses_follow_one_another() {
        let lenses = [Lens::default(), Lens { direction: EdgeDirection::Against, pool: Pool::Sum, ..Lens::default() }];
        let axis = Axis::new(&lenses, &[2, 1]);
        assert_eq!((axis.slots(), axis.range(1), axis.lens_of(4)), (7, 4..7, 1));
        let keys: Vec<String> = (0..7).map(|slot| axis.key(slot)).collect();
        assert_eq!(keys[..4], ["along 0", "along 1", "along 2", "along unreachable"]);
        assert_eq!(keys[4..], ["against 0", "against 1", "against unreachable"]);
        assert_eq!((axis.argument(2), axis.argument(3), axis.argument(4)), (1.0 / 3.0, 0.0, 1.0));
        let longer = Axis::new(&lenses, &[2, 5]);
        assert_eq!((axis.slot_on(&longer, 6), longer.slot_on(&axis, 8)), (10, 5));
    }

    #[test]
    fn a_bin_is_heard_at_its_centre() {
        let bins = WeightBins { weight: "days".to_owned(), ends: vec![1.0, 7.0] };
        let axis = Axis::new(&[Lens { bins: Some(bins), ..Lens::default() }], &[1]);
        assert_eq!(axis.slots(), 4);
        assert_eq!([0, 1, 2, 3].map(|slot| axis.argument(slot)), [1.0, 1.0 / 1.5, 0.2, 0.0]);
        assert_eq!(axis.name(2), "days 1 to 7");
    }
}
