//! Columns: which coefficient of a penalised fit is which effect.
//!
//! ```text
//! y_i = b0 + sum_l beta(l) R_i(l) + sum over features, levels (or knots) u and distances l of theta_u(l) Q_i[u, l]
//! ```
//!
//! The intercept comes first, then the structure curve of every lens, then for every feature and lens the curves over distance of
//! its levels or knots, and of its missing values. Far distances share a coefficient: shells are still those of exact distances.

use crate::files::Kind;
use crate::lens::{DistanceAxis, Reach};
use crate::likelihood::{Block, Design};
use crate::model::{Definition, FeatureSchema};
use crate::statistics::{BIAS_UNIT, FeatureLevels, LevelValues, Statistics};

/// Finite distances from this one on share a coefficient.
pub(super) const FAR: usize = 11;

/// The coefficients of a curve over the distances of a lens.
#[derive(Clone, Debug, Default)]
pub(super) struct CurveSlots {
    /// For every slot its place in the curve, where it has one.
    place_of_slot: Vec<Option<usize>>,
    /// Number of places.
    pub size: usize,
    /// Number of finite distances among them; "unreachable" comes last.
    linked: usize,
}

impl CurveSlots {
    /// The places of the slots of a lens that occur and are within reach.
    fn new(axis: &DistanceAxis, lens: usize, reach: Reach, receivers: &[f64]) -> CurveSlots {
        let mut slots = CurveSlots { place_of_slot: vec![None; axis.slots()], ..CurveSlots::default() };
        let mut far = None;
        for slot in axis.range(lens).filter(|slot| receivers[*slot] > 0.0 && reach.includes(axis.distance(*slot))) {
            let shared = axis.distance(slot).is_some_and(|distance| distance >= FAR);
            let place = match far.filter(|_| shared) {
                Some(place) => place,
                None => {
                    slots.size += 1;
                    slots.linked += usize::from(axis.distance(slot).is_some());
                    slots.size - 1
                }
            };
            if shared {
                far = Some(place);
            }
            slots.place_of_slot[slot] = Some(place);
        }
        slots
    }

    /// The place of a slot.
    pub(super) fn place(&self, slot: usize) -> Option<usize> {
        self.place_of_slot[slot]
    }
}

/// The curves of a feature by a lens: curve `v` is that of its value `v`, as the layout of a model counts them.
#[derive(Clone, Debug)]
struct FeatureCurves {
    slots: CurveSlots,
    /// The first column of every value; `None`: it has no effect by construction.
    first: Vec<Option<usize>>,
}

/// What the columns are.
pub(super) struct Columns {
    /// Number of columns, the intercept included.
    pub count: usize,
    /// The penalties.
    pub blocks: Vec<Block>,
    structure: Vec<(CurveSlots, usize)>,
    /// `[features][lenses]`
    features: Vec<Vec<FeatureCurves>>,
}

impl Columns {
    /// The columns for a model of this definition.
    pub(super) fn new(definition: &Definition, axis: &DistanceAxis) -> Columns {
        let receivers = &definition.learned.receivers;
        let mut columns = Columns { count: 1, blocks: Vec::new(), structure: Vec::new(), features: Vec::new() };
        for lens in 0..axis.lenses() {
            let slots = CurveSlots::new(axis, lens, definition.reach(), receivers);
            let first = columns.curves(&slots, 1);
            columns.structure.push((slots, first));
        }
        for feature in &definition.learned.features {
            let reach = feature.reach_within(definition.reach());
            let own_only = feature.reach == Some(Reach::OWN);
            let by_lens = (0..axis.lenses()).map(|lens| {
                // A node is at distance 0 of itself by every lens: one of them is enough for its own values.
                let slots = match own_only && lens > 0 {
                    true => CurveSlots { place_of_slot: vec![None; axis.slots()], ..CurveSlots::default() },
                    false => CurveSlots::new(axis, lens, reach, receivers),
                };
                columns.feature(feature, slots)
            });
            let by_lens = by_lens.collect();
            columns.features.push(by_lens);
        }
        columns
    }

    /// Adds curves; the first column of the first of them.
    fn curves(&mut self, slots: &CurveSlots, count: usize) -> usize {
        let first = self.count;
        if slots.size * count > 0 {
            self.blocks.push(Block::curves(first, count, slots.size, slots.linked));
        }
        self.count += slots.size * count;
        first
    }

    fn feature(&mut self, feature: &FeatureSchema, slots: CurveSlots) -> FeatureCurves {
        let known = feature.known_values();
        let size = slots.size;
        // The 0 of a sparse feature has no effect.
        let zero = match (&feature.effect_knots, feature.kind) {
            (Some(knots), Kind::Sparse) => knots.at.iter().position(|knot| *knot == 0.0),
            _ => None,
        };
        let curves = known - usize::from(zero.is_some());
        let is_table = feature.kind == Kind::Continuous && curves > 2 && size > 0;
        let start = match is_table {
            true => {
                let first = self.count;
                self.blocks.push(Block::table(first, curves, size, slots.linked));
                self.count += curves * size;
                first
            }
            false => self.curves(&slots, curves),
        };
        let mut next = start;
        let mut first: Vec<Option<usize>> = (0..known)
            .map(|value| {
                if zero == Some(value) {
                    return None;
                }
                next += size;
                Some(next - size)
            })
            .collect();
        first.extend(feature.missing.map(|_| Some(self.curves(&slots, 1))));
        FeatureCurves { slots, first }
    }

    /// The coefficient of the structure curve in a slot.
    pub(super) fn structure(&self, lens: usize, slot: usize) -> Option<usize> {
        let (slots, first) = &self.structure[lens];
        Some(first + slots.place(slot)?)
    }

    /// The coefficient of a value of a feature in a slot of a lens.
    pub(super) fn effect(&self, feature: usize, value: usize, lens: usize, slot: usize) -> Option<usize> {
        let curves = &self.features[feature][lens];
        Some(curves.first[value]? + curves.slots.place(slot)?)
    }

    /// The columns by what they are at which distance, the intercept first: the structure, then all effects at every distance of
    /// every lens.
    pub(super) fn distance_groups(&self) -> Vec<Vec<usize>> {
        let mut groups = vec![vec![0]];
        for (slots, first) in &self.structure {
            groups.push((*first..first + slots.size).collect());
        }
        for lens in 0..self.structure.len() {
            let most = self.features.iter().map(|by_lens| by_lens[lens].slots.size).max().unwrap_or(0);
            for place in 0..most {
                let of_feature = |by_lens: &Vec<FeatureCurves>| {
                    let curves = &by_lens[lens];
                    let firsts = curves.first.iter().flatten().filter(|_| place < curves.slots.size);
                    firsts.map(|first| first + place).collect::<Vec<usize>>()
                };
                groups.push(self.features.iter().flat_map(of_feature).collect());
            }
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Number of distances at which every effect has a column, where that is so for all of them by one lens; else 0. The last so many
    /// of the [groups](Self::distance_groups) then hold the same effects in the same order.
    pub(super) fn places(&self) -> usize {
        let mut sizes = self.features.iter().flatten().map(|curves| curves.slots.size);
        match (sizes.next(), self.structure.len()) {
            (Some(size), 1) if sizes.all(|other| other == size) => size,
            _ => 0,
        }
    }

    /// What some items have of every column.
    pub(super) fn design(&self, definition: &Definition, statistics: &Statistics, rows: &[usize]) -> Design {
        let value_of_unit = values_of_units(definition, statistics);
        let axis = &statistics.axis;
        let column = |cell: usize| {
            let (unit, slot) = (statistics.cells.units[cell], usize::from(statistics.cells.slots[cell]));
            let lens = axis.lens_of(slot);
            match value_of_unit[unit as usize] {
                _ if unit == BIAS_UNIT => self.structure(lens, slot),
                Some((feature, value)) => self.effect(feature, value, lens, slot),
                None => None,
            }
        };
        let column_of_cell: Vec<Option<usize>> = (0..statistics.cells.len()).map(column).collect();
        let mut design = Design::new(self.count);
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for row in rows {
            let (cells, weights) = statistics.rows.row(*row);
            terms.clear();
            terms.push((0, 1.0));
            let found = cells
                .iter()
                .zip(weights)
                .filter_map(|(cell, weight)| column_of_cell[*cell as usize].map(|column| (column, f64::from(*weight))));
            terms.extend(found);
            terms.sort_by_key(|(column, _)| *column);
            terms.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
            design.push(terms.iter().copied());
        }
        design
    }
}

/// For every unit of the statistics the feature and which of its values it is; `None` for the bias, and for what training had not
/// seen.
fn values_of_units(definition: &Definition, statistics: &Statistics) -> Vec<Option<(usize, usize)>> {
    let mut found = vec![None; statistics.levels.unit_count()];
    for (k, (schema, levels)) in definition.learned.features.iter().zip(&statistics.levels.features).enumerate() {
        let FeatureLevels { values, units, missing, .. } = levels;
        for (level, unit) in units.clone().enumerate() {
            found[unit as usize] = match values {
                LevelValues::Names(names) => schema.level(&names[level]).map(|level| (k, level)),
                LevelValues::Numbers(_) => Some((k, level)),
            };
        }
        if let (Some(unit), Some(_)) = (missing, schema.missing) {
            found[*unit as usize] = Some((k, schema.known_values()));
        }
    }
    found
}
