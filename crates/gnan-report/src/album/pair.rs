//! The heatmap of a pair: what every cell of the grid of two features says, at the distance where rho is 1.

use gnan::dataset::{FeatureBins, FeaturePair, PairMember};
use gnan::explain::{CanonicalLevel, LITTLE_SUPPORT};

use super::{Album, Figure, MOST_ROWS, estimate};
use crate::figure::heatmap::{Cell, Heatmap, Panel, RowKind};
use crate::text::one_line;

impl Album<'_> {
    /// Value by value of a pair; `None` for a feature that is not one.
    pub fn pair_heatmap(&self, k: usize) -> Option<Figure> {
        let pair = self.canonical.description().features[k].pair.as_ref()?;
        let [first, second] = &pair.members;
        let levels = &self.overview.features[k].levels;
        let find = |row: &String, column: &String| {
            let name = FeaturePair::cell_name(row, column);
            levels.iter().find(|level| level.name == name)
        };
        let (mut rows, mut columns) = (first.names(), second.names());
        let all_rows = rows.clone();
        rows.retain(|row| columns.iter().any(|column| find(row, column).is_some()));
        columns.retain(|column| all_rows.iter().any(|row| find(row, column).is_some()));
        // Numbers rise upwards, as on a y-axis.
        if matches!(first.bins, FeatureBins::Edges(_)) {
            rows.reverse();
        }
        let kind = self.overview.features[k].kind;
        let cell = |level: &CanonicalLevel, c: usize| Cell {
            estimate: estimate(level.values[c], self.bands.shape(k, &level.point(kind), c)),
            support: level.support.nodes,
        };
        let panel = |(c, name): (usize, &String)| Panel {
            name: name.clone(),
            cells: rows
                .iter()
                .map(|row| columns.iter().map(|column| find(row, column).map(|level| cell(level, c))).collect())
                .collect(),
        };
        let unit = |member: &PairMember| match self.unit_of(&member.feature) {
            Some(unit) => format!("{} ({unit})", member.feature),
            None => member.feature.clone(),
        };
        let scene = Heatmap {
            title: format!("{}: value by value", self.overview.features[k].name),
            unit: format!("contribution of one such node where rho is 1 ({})", self.unit()),
            column_unit: unit(second),
            last_apart: columns.len() > 1 && columns.last().is_some_and(|name| name == "missing"),
            columns: columns.clone(),
            rows: rows.clone(),
            row_kind: RowKind::Levels,
            row_unit: unit(first),
            most: MOST_ROWS,
            panels: self.overview.outputs.iter().enumerate().map(panel).collect(),
            enough: LITTLE_SUPPORT,
            counted: "node".to_owned(),
        };
        Some(Figure {
            name: format!("pair-{}", k + 1),
            caption: format!(
                "What {} and {} say together beyond what each says alone, at the distance where rho is 1; mean 0 over the \
                 training nodes. Hatched: fewer than {LITTLE_SUPPORT} nodes; blank: none.{}",
                one_line(&first.feature),
                one_line(&second.feature),
                self.bands.cell_words()
            ),
            scene: scene.scene(self.width),
        })
    }

    fn unit_of(&self, feature: &str) -> Option<&str> {
        self.overview.features.iter().find(|other| other.name == feature)?.unit.as_deref()
    }

    /// Whether a feature is a pair, which has a heatmap of its own in place of bars.
    pub(super) fn is_pair(&self, k: usize) -> bool {
        self.canonical.description().features[k].pair.is_some()
    }

    /// The cells of a pair that stand for it among the features: that which says least and that which says most, of
    /// those with enough support.
    pub(super) fn extreme_cells(&self, k: usize) -> Vec<&CanonicalLevel> {
        let levels = self.overview.features[k].levels.iter();
        let mut found: Vec<&CanonicalLevel> = levels.filter(|level| level.support.nodes >= LITTLE_SUPPORT).collect();
        found.sort_by(|a, b| a.values[0].total_cmp(&b.values[0]));
        if found.len() > 2 {
            found.drain(1..found.len() - 1);
        }
        found
    }
}
