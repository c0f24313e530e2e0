//! The axis of distances: the slots of every lens, one lens after the other.
//!
//! The slots of a lens are distance 0, 1, ... up to the longest (or its bins), and "unreachable" last.

use std::ops::Range;

use serde::{Serialize, Serializer};

use super::Lens;
use crate::spec::WeightBins;

/// The slots of some lenses.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceAxis {
    lenses: Vec<LensSlots>,
}

/// The slots of one lens.
#[derive(Clone, Debug, PartialEq)]
struct LensSlots {
    name: String,
    slots: Range<usize>,
    bins: Option<WeightBins>,
    /// The distance that stands for all longer ones.
    far: Option<usize>,
}

impl DistanceAxis {
    /// The axis of lenses whose longest distances are these; bins count whether or not they occur.
    pub fn new(lenses: &[Lens], longest: &[usize]) -> DistanceAxis {
        let mut first = 0;
        let lenses = lenses.iter().zip(Lens::names(lenses)).zip(longest).map(|((lens, name), longest)| {
            let finite = lens.bins.as_ref().map_or(longest + 1, |bins| bins.ends.len() + 1);
            let slots = first..first + finite + 1;
            first = slots.end;
            LensSlots { name, slots, bins: lens.bins.clone(), far: lens.far.map(usize::from) }
        });
        DistanceAxis { lenses: lenses.collect() }
    }

    /// Number of slots of all lenses.
    pub fn slots(&self) -> usize {
        self.lenses.last().map_or(0, |lens| lens.slots.end)
    }

    /// Number of lenses.
    pub fn lenses(&self) -> usize {
        self.lenses.len()
    }

    /// The slots of a lens.
    pub fn range(&self, lens: usize) -> Range<usize> {
        self.lenses[lens].slots.clone()
    }

    /// The name that distinguishes a lens from the others; empty for one alone.
    pub fn lens_name(&self, lens: usize) -> &str {
        &self.lenses[lens].name
    }

    /// The lens of a slot.
    pub fn lens_of(&self, slot: usize) -> usize {
        self.lenses.partition_point(|lens| lens.slots.end <= slot)
    }

    /// The distance (or bin) of a slot within its lens; `None`: unreachable.
    pub fn distance(&self, slot: usize) -> Option<usize> {
        let slots = &self.lenses[self.lens_of(slot)].slots;
        (slot + 1 < slots.end).then(|| slot - slots.start)
    }

    /// Whether a slot may hold nodes that are farther away, in edges, than its distance: a bin of weights, or all far nodes.
    pub fn may_be_farther(&self, slot: usize) -> bool {
        let lens = &self.lenses[self.lens_of(slot)];
        self.distance(slot).is_some_and(|distance| distance > 0 && lens.bins.is_some() || lens.far == Some(distance))
    }

    /// The slot of a distance by a lens; longer ones than the axis has count as its longest. `None`: unreachable.
    pub fn slot(&self, lens: usize, distance: Option<usize>) -> usize {
        let slots = &self.lenses[lens].slots;
        match distance {
            Some(distance) => (slots.start + distance).min(slots.end - 2),
            None => slots.end - 1,
        }
    }

    /// The argument of rho for a slot: `1 / (1 + distance)`, the distance being the centre of a bin; 0 for
    /// "unreachable".
    pub fn argument(&self, slot: usize) -> f64 {
        let lens = &self.lenses[self.lens_of(slot)];
        match (self.distance(slot), &lens.bins) {
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
        self.lenses.iter().map(|lens| lens.slots.len() - 2).collect()
    }

    /// Number of slots of every lens.
    pub fn lengths(&self) -> Vec<usize> {
        self.lenses.iter().map(|lens| lens.slots.len()).collect()
    }

    /// The same slot on an axis of the same lenses, which may be longer or shorter.
    pub fn slot_on(&self, other: &DistanceAxis, slot: usize) -> usize {
        other.slot(self.lens_of(slot), self.distance(slot))
    }

    /// The short name of a slot: "0", "3", "unreachable", with the lens before it where there are several.
    pub fn key(&self, slot: usize) -> String {
        let lens = &self.lenses[self.lens_of(slot)];
        let distance = match (self.distance(slot), &lens.bins) {
            (None, _) => "unreachable".to_owned(),
            (Some(bin @ 1..), Some(bins)) => {
                let [begin, end] = bins.bounds(bin);
                format!("{begin}–{end}")
            }
            (Some(distance), _) if lens.far == Some(distance) => format!("{distance}+"),
            (Some(distance), _) => distance.to_string(),
        };
        if lens.name.is_empty() { distance } else { format!("{} {distance}", lens.name) }
    }

    /// The long name of a slot: "distance 3", "unreachable", "along, distance 1".
    pub fn name(&self, slot: usize) -> String {
        let lens = &self.lenses[self.lens_of(slot)];
        let distance = match (self.distance(slot), &lens.bins) {
            (None, _) => "unreachable".to_owned(),
            (Some(0), _) => "itself".to_owned(),
            (Some(bin), Some(bins)) => {
                let [begin, end] = bins.bounds(bin);
                format!("{} {begin} to {end}", bins.weight)
            }
            (Some(distance), None) if lens.far == Some(distance) => format!("distance {distance} or more"),
            (Some(distance), None) => format!("distance {distance}"),
        };
        if lens.name.is_empty() { distance } else { format!("{}, {distance}", lens.name) }
    }
}

impl Serialize for DistanceAxis {
    /// A list of the short names of its slots.
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
        let axis = DistanceAxis::new(&lenses, &[2, 1]);
        assert_eq!((axis.slots(), axis.range(1), axis.lens_of(4)), (7, 4..7, 1));
        let keys: Vec<String> = (0..7).map(|slot| axis.key(slot)).collect();
        assert_eq!(keys[..4], ["along 0", "along 1", "along 2", "along unreachable"]);
        assert_eq!(keys[4..], ["against 0", "against 1", "against unreachable"]);
        assert_eq!((axis.argument(2), axis.argument(3), axis.argument(4)), (1.0 / 3.0, 0.0, 1.0));
        let longer = DistanceAxis::new(&lenses, &[2, 5]);
        assert_eq!((axis.slot_on(&longer, 6), longer.slot_on(&axis, 8)), (10, 5));
    }

    #[test]
    fn a_bin_counts_at_its_centre() {
        let bins = WeightBins { weight: "days".to_owned(), ends: vec![1.0, 7.0] };
        let axis = DistanceAxis::new(&[Lens { bins: Some(bins), ..Lens::default() }], &[1]);
        assert_eq!(axis.slots(), 4);
        assert_eq!([0, 1, 2, 3].map(|slot| axis.argument(slot)), [1.0, 1.0 / 1.5, 0.2, 0.0]);
        assert_eq!(axis.name(2), "days 1 to 7");
    }
}
