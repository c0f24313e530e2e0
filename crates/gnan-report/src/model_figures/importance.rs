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
        let content = Importance {
            title: "Importance: mean absolute contribution".to_owned(),
            unit: format!("mean |contribution| ({})", self.overview.unit),
            blocks: vec![
                Block { name: "by feature".to_owned(), rows: by_feature },
                Block { name: "by distance".to_owned(), rows: by_distance },
            ],
            most: MOST_BARS,
        };
        let outputs = if found.structure.len() > 1 { " and outputs" } else { "" };
        let caption = format!(
            "The absolute contribution of a feature (all source nodes together) and of a distance (all features together), \
             averaged over {} predictions{outputs}.{}",
            count(found.items),
            self.bands.words()
        );
        Some(Figure::new("importance", caption, content))
    }

    fn rows_by_distance(&self, found: &gnan::explain::Importance) -> Vec<ImportanceRow> {
        let axis = self.canonical.axis();
        let row = |slot: usize| ImportanceRow {
            name: axis.name(slot),
            importance: estimate(found.of_distance(slot), self.bands.distance_importance(slot)),
        };
        let mut rows: Vec<ImportanceRow> = Vec::new();
        for lens in 0..axis.lenses() {
            let slots: Vec<usize> = self.slots().into_iter().filter(|slot| axis.lens_of(*slot) == lens).collect();
            let (far, near): (Vec<usize>, Vec<usize>) =
                slots.into_iter().partition(|slot| axis.distance(*slot).is_some_and(|distance| distance > NEAR));
            let (finite, unreachable): (Vec<usize>, Vec<usize>) =
                near.into_iter().partition(|slot| axis.distance(*slot).is_some());
            rows.extend(finite.into_iter().map(row));
            if let ([first, ..], [.., last]) = (far.as_slice(), far.as_slice()) {
                let [first, last] = [*first, *last].map(|slot| axis.distance(slot).unwrap_or_default());
                let of_lens = match axis.lens_name(lens) {
                    "" => String::new(),
                    name => format!("{name}, "),
                };
                let name = match first == last {
                    true => axis.name(far[0]),
                    false => format!("{of_lens}distances {first} to {last} (sum)"),
                };
                let sum = far.iter().map(|slot| found.of_distance(*slot)).sum::<f64>();
                rows.push(ImportanceRow { name, importance: Estimate::from(sum) });
            }
            rows.extend(unreachable.into_iter().map(row));
        }
        rows
    }
}
