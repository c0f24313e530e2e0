//! Importances by feature and by distance.

use gnan::numbers::count;

use super::{Figure, ModelFigures, estimate};
use crate::figure::Estimate;
use crate::figure::importance::{Block, Importance, ImportanceRow};

/// Distances that have a bar of their own; those beyond are summed.
const NEAR: usize = 12;
/// Most bars of a block.
const MOST_BARS: usize = 30;

impl ModelFigures<'_> {
    /// Mean absolute contributions; `None` without data.
    pub fn importance(&self) -> Option<Figure> {
        let found = self.overview.importance.as_ref()?;
        let features = self.order.iter().map(|k| ImportanceRow {
            name: self.overview.features[*k].name.clone(),
            importance: estimate(found.of_feature(*k), self.bands.feature_importance(*k)),
        });
        let structure = ImportanceRow {
            name: "structure term (graph shape)".to_owned(),
            importance: estimate(found.of_structure(), self.bands.structure_importance()),
        };
        let mut by_feature: Vec<ImportanceRow> = features.chain([structure]).collect();
        by_feature.sort_by(|a, b| b.importance.value.total_cmp(&a.importance.value));
        let by_distance = self.rows_by_distance(found);
        let scene = Importance {
            title: "Importance: mean absolute contribution".to_owned(),
            unit: format!("mean |contribution| ({})", self.overview.unit),
            blocks: vec![
                Block { name: "by feature".to_owned(), rows: by_feature },
                Block { name: "by distance".to_owned(), rows: by_distance },
            ],
            most: MOST_BARS,
        };
        let outputs = if found.structure.len() > 1 { " and outputs" } else { "" };
        Some(Figure {
            name: "importance".to_owned(),
            caption: format!(
                "The absolute contribution of a feature (all source nodes together) and of a distance (all features \
                 together), averaged over {} predictions{outputs}.{}",
                count(found.items),
                self.bands.words()
            ),
            scene: scene.scene(self.width),
        })
    }

    fn rows_by_distance(&self, found: &gnan::explain::Importance) -> Vec<ImportanceRow> {
        let axis = self.canonical.axis();
        let mut rows: Vec<ImportanceRow> = Vec::new();
        let mut far: Option<(usize, usize, f64)> = None;
        for slot in self.slots() {
            let (value, band) = (found.of_distance(slot), self.bands.distance_importance(slot));
            if axis.lenses() > 1 || axis.distance(slot).is_none_or(|distance| distance <= NEAR) {
                rows.push(ImportanceRow { name: axis.name(slot), importance: estimate(value, band) });
            } else {
                far = Some(far.map_or((slot, slot, value), |(first, _, sum)| (first, slot, sum + value)));
            }
        }
        if let Some((first, last, sum)) = far {
            let name = format!("distances {first} to {last} (sum)");
            let unreachable = rows.iter().position(|row| row.name == axis.name(axis.slots() - 1));
            let row = ImportanceRow { name, importance: Estimate::from(sum) };
            rows.insert(unreachable.unwrap_or(rows.len()), row);
        }
        rows
    }
}
