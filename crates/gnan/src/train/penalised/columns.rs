//! Columns: the penalties of the coefficients of a penalised fit, and what items have of each; which coefficient is which effect
//! stands in [`CoefficientMap`].

use std::collections::BTreeSet;

use crate::dataset::{FeaturePair, ItemStatistic, Quantity};
use crate::likelihood::{Block, CellPlace, Design};
use crate::model::{
    CoefficientMap, CoefficientSum, CurveGroup, CurveTies, Definition, FeatureSchema, Level, rhos_of_units,
};
use crate::statistics::Statistics;

/// The curves over numbers that sum up items have strengths of their own where there are so many items for each of them, else those
/// of one kind share theirs. Set between 278 graphs, which so many strengths were fitted to by chance, and 900, which they were not.
const ITEMS_PER_STRENGTH: usize = 10;
/// A curve is as straight and as near 0 as two strengths make it.
const STRENGTHS_OF_CURVE: usize = 2;

/// What the columns are.
pub(super) struct Columns {
    /// Number of columns, the intercept included.
    pub count: usize,
    /// The penalties, one block for every group of curves.
    pub blocks: Vec<Block>,
    /// Which column is which effect.
    pub map: CoefficientMap,
    /// Of every feature whether it is a number that sums up an item.
    sums_up: Vec<bool>,
}

impl Columns {
    /// The columns for a model of this definition.
    pub(super) fn new(definition: &Definition) -> Columns {
        let map = CoefficientMap::new(definition);
        let block = |group: &CurveGroup| match group.ties {
            CurveTies::None => Block::curves(group.first, group.curves, group.size, group.linked),
            CurveTies::Ascending => Block::table(group.first, group.curves, group.size, group.linked),
            CurveTies::Cells => {
                let feature = group.feature.map(|k| &definition.learned.features[k]);
                Block::cells(group.first, &feature.map(cell_places).unwrap_or_default())
            }
        };
        // Of few items, as many strengths as curves would be fitted to chance.
        let curves = definition.learned.features.iter().filter(|feature| feature.statistic.is_some()).count();
        let (items, strengths) = (definition.record.train_items, STRENGTHS_OF_CURVE * curves);
        let mut kinds: Vec<(StatisticKind, usize)> = Vec::new();
        let mut tied = |group: &CurveGroup| {
            let mut block = block(group);
            let statistic = group.feature.and_then(|k| definition.learned.features[k].statistic.as_ref());
            if let Some(statistic) = statistic.filter(|_| items < ITEMS_PER_STRENGTH * strengths) {
                let kind = (StatisticKind::of(statistic), block.penalties());
                let place = kinds.iter().position(|other| *other == kind);
                block.tie = Some(place.unwrap_or_else(|| {
                    kinds.push(kind);
                    kinds.len() - 1
                }));
            }
            block
        };
        let sums_up = definition.learned.features.iter().map(|feature| feature.statistic.is_some()).collect();
        Columns { count: map.count, blocks: map.groups.iter().map(&mut tied).collect(), map, sums_up }
    }

    /// Number of strengths of the penalties.
    pub(super) fn strengths(&self) -> usize {
        strengths_of(&self.blocks)
    }

    /// Number of strengths of the penalties of curves over numbers that sum up items.
    pub(super) fn strengths_of_curves(&self) -> usize {
        let summing = |group: &CurveGroup| group.feature.is_some_and(|k| self.sums_up[k]);
        strengths_of(
            self.blocks.iter().zip(&self.map.groups).filter(|(_, group)| summing(group)).map(|(block, _)| block),
        )
    }

    /// The columns by what they are at which distance, the intercept first: the structure, numbers that sum up items, then all other
    /// effects at every distance of every lens.
    pub(super) fn distance_groups(&self) -> Vec<Vec<usize>> {
        let of_structure = self.map.groups.iter().filter(|group| group.feature.is_none());
        let mut found: Vec<Vec<usize>> =
            [vec![0]].into_iter().chain(of_structure.map(|group| group.coefficients().collect())).collect();
        let summing = |group: &&CurveGroup| group.feature.is_some_and(|k| self.sums_up[k]);
        found.push(self.map.groups.iter().filter(summing).flat_map(CurveGroup::coefficients).collect());
        let lenses = self.of_nodes().map(|group| group.lens + 1).max().unwrap_or(0);
        let most = self.of_nodes().map(|group| group.size).max().unwrap_or(0);
        for (lens, place) in (0..lenses).flat_map(|lens| (0..most).map(move |place| (lens, place))) {
            let own = self.of_nodes().filter(|group| group.lens == lens && place < group.size);
            found.push(
                own.flat_map(|group| (0..group.curves).map(|curve| group.first + curve * group.size + place)).collect(),
            );
        }
        found.retain(|columns| !columns.is_empty());
        found
    }

    /// The curves of features of nodes.
    fn of_nodes(&self) -> impl Iterator<Item = &CurveGroup> {
        self.map.groups.iter().filter(|group| group.feature.is_some_and(|k| !self.sums_up[k]))
    }

    /// Number of distances at which every effect of a feature of nodes has a column, where that is so for all of them by one lens;
    /// else 0. The last so many of the [groups](Self::distance_groups) then hold the same effects in the same order.
    pub(super) fn places(&self) -> usize {
        let mut groups = self.of_nodes();
        match groups.next() {
            Some(first) if first.lens == 0 && groups.all(|group| group.lens == 0 && group.size == first.size) => {
                first.size
            }
            _ => 0,
        }
    }

    /// What some items have of every column.
    pub(super) fn design(&self, definition: &Definition, statistics: &Statistics, rows: &[usize]) -> Design {
        let rhos = rhos_of_units(definition, &statistics.levels);
        let axis = &statistics.axis;
        let columns = |cell: usize| {
            let (unit, slot) = (statistics.cells.units[cell], usize::from(statistics.cells.slots[cell]));
            rhos[unit as usize].map(|rho| self.map.coefficients(rho, axis.lens_of(slot), slot)).unwrap_or_default()
        };
        let columns_of_cell: Vec<CoefficientSum> = (0..statistics.cells.len()).map(columns).collect();
        let mut design = Design::new(self.count);
        let mut sums: Vec<Option<f64>> = vec![None; self.count];
        let mut known = Vec::new();
        for row in rows {
            let (cells, weights) = statistics.rows.row(*row);
            let mut add = |column: usize, value: f64| {
                known.extend(sums[column].is_none().then_some(column));
                *sums[column].get_or_insert(0.0) += value;
            };
            add(0, 1.0);
            for (cell, weight) in cells.iter().zip(weights) {
                let own = columns_of_cell[*cell as usize].iter();
                own.for_each(|(column, share)| add(*column, f64::from(*weight) * share));
            }
            known.sort_unstable();
            design.push(known.drain(..).map(|column| (column, sums[column].take().unwrap_or_default())));
        }
        design
    }
}

/// Number of strengths of the penalties of some blocks, those that blocks share once.
pub(super) fn strengths_of<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> usize {
    let mut ties = BTreeSet::new();
    let own = blocks.into_iter().filter(|block| block.tie.is_none_or(|tie| ties.insert(tie)));
    own.map(Block::strengths).sum()
}

/// What a number that sums up an item is: the curves over those of one kind are about as smooth and as large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatisticKind {
    Size,
    Count,
    MeanAt(usize),
}

impl StatisticKind {
    fn of(statistic: &ItemStatistic) -> StatisticKind {
        match statistic.of {
            Quantity::Nodes | Quantity::Edges | Quantity::Reaching => StatisticKind::Size,
            Quantity::Count { .. } => StatisticKind::Count,
            Quantity::Mean { .. } | Quantity::Share { .. } => StatisticKind::MeanAt(statistic.distance),
        }
    }
}

/// Where the levels of a pair are in its grid, and how many training nodes have them.
fn cell_places(feature: &FeatureSchema) -> Vec<CellPlace> {
    let cells = feature.pair.as_ref().map(FeaturePair::cells).unwrap_or_default();
    let place = |level: &Level| {
        let cell = cells.get(&level.name);
        CellPlace {
            // A cell of an unseen category is tied to nothing.
            at: cell.map_or([usize::MAX; 2], |cell| cell.at),
            ordered: cell.map_or([false; 2], |cell| cell.ordered),
            weight: level.support.nodes as f64,
        }
    };
    feature.levels.iter().map(place).collect()
}
