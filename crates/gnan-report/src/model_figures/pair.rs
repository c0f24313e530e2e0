//! The heatmap of a feature pair: the joint effect of two features of one node, cell by cell of their grid.

use gnan::dataset::{FeatureBins, FeaturePair, PairMember};
use gnan::explain::CanonicalLevel;

use super::{Figure, MOST_ROWS, ModelFigures, estimate};
use crate::figure::hatching_words;
use crate::figure::heatmap::{Cell, Heatmap, Panel, RowKind};
use crate::text::one_line;

impl ModelFigures<'_> {
    /// The joint effect of a feature pair; `None` for a feature that is not one.
    pub fn pair_heatmap(&self, k: usize) -> Option<Figure> {
        let pair = self.canonical.definition().learned.features[k].pair.as_ref()?;
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
            support: level.support,
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
        let content = Heatmap {
            title: format!("Effect of the feature pair {}", self.overview.features[k].name),
            unit: format!("effect ({})", self.overview.unit),
            column_unit: unit(second),
            last_apart: columns.len() > 1 && columns.last().is_some_and(|name| name == "missing"),
            columns: columns.clone(),
            rows: rows.clone(),
            row_kind: RowKind::Levels,
            row_unit: unit(first),
            most: MOST_ROWS,
            panels: self.overview.shown_outputs.iter().enumerate().map(panel).collect(),
            items: self.item_noun(),
        };
        let caption = format!(
            "The joint effect of {} and {} beyond the effects of each alone, {}; mean 0 over the training nodes. Hatched: {}; \
             blank: no nodes.{}",
            one_line(&first.feature),
            one_line(&second.feature),
            match &self.overview.features[k] {
                feature if feature.of_item && self.item_noun() == "graph" => "for the graph as a whole".to_owned(),
                feature if feature.own_value => "for the node itself".to_owned(),
                feature => format!("at {}", feature.anchor),
            },
            hatching_words(&self.item_noun()),
            self.bands.cell_words()
        );
        Some(Figure::new(format!("feature-pair-{}", k + 1), caption, content))
    }

    fn unit_of(&self, feature: &str) -> Option<&str> {
        self.overview.features.iter().find(|other| other.name == feature)?.unit.as_deref()
    }
}
