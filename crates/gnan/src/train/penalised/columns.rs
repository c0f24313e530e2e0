//! Columns: the penalties of the coefficients of a penalised fit, and what items have of each; which coefficient is which effect
//! stands in [`CoefficientMap`].

use crate::likelihood::{Block, Design};
use crate::model::{CoefficientMap, CurveGroup, Definition, rhos_of_units};
use crate::statistics::Statistics;

/// What the columns are.
pub(super) struct Columns {
    /// Number of columns, the intercept included.
    pub count: usize,
    /// The penalties, one block for every group of curves.
    pub blocks: Vec<Block>,
    /// Which column is which effect.
    pub map: CoefficientMap,
}

impl Columns {
    /// The columns for a model of this definition.
    pub(super) fn new(definition: &Definition) -> Columns {
        let map = CoefficientMap::new(definition);
        let block = |group: &CurveGroup| match group.is_table {
            true => Block::table(group.first, group.curves, group.size, group.linked),
            false => Block::curves(group.first, group.curves, group.size, group.linked),
        };
        Columns { count: map.count, blocks: map.groups.iter().map(block).collect(), map }
    }

    /// What some items have of every column.
    pub(super) fn design(&self, definition: &Definition, statistics: &Statistics, rows: &[usize]) -> Design {
        let rhos = rhos_of_units(definition, &statistics.levels);
        let axis = &statistics.axis;
        let column = |cell: usize| {
            let (unit, slot) = (statistics.cells.units[cell], usize::from(statistics.cells.slots[cell]));
            self.map.coefficient(rhos[unit as usize]?, axis.lens_of(slot), slot)
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
