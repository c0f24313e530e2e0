//! The overview for programs: as JSON, or as one tidy CSV table with a number per row, and what it belongs to.

use super::overview::Overview;
use crate::error::{Error, Result};
use crate::model::Support;

/// What a number of the CSV table belongs to.
#[derive(Clone, Copy, Default)]
struct OverviewPlace<'a> {
    table: &'a str,
    feature: &'a str,
    level: &'a str,
    range: Option<(f64, f64)>,
    distance: &'a str,
    support: Option<Support>,
}

struct OverviewRows {
    writer: csv::Writer<Vec<u8>>,
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::input(format!("the overview cannot be written: {error}"))
}

impl OverviewRows {
    fn values(&mut self, place: OverviewPlace<'_>, outputs: &[String], values: &[f64]) -> Result<()> {
        let (from, to) = place.range.map(|(from, to)| (from.to_string(), to.to_string())).unwrap_or_default();
        let count = |of: fn(Support) -> u64| place.support.map(|support| of(support).to_string()).unwrap_or_default();
        let [nodes, graphs] = [count(|support| support.nodes), count(|support| support.graphs)];
        let items = count(|support| support.items);
        for (output, value) in outputs.iter().zip(values) {
            let OverviewPlace { table, feature, level, distance, .. } = place;
            let value = value.to_string();
            let row = [table, feature, level, &from, &to, distance, output, &value, &nodes, &graphs, &items];
            self.writer.write_record(row).map_err(broken)?;
        }
        Ok(())
    }
}

impl Overview {
    /// The overview as a JSON document.
    pub fn json(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self).map_err(broken)?;
        text.push(b'\n');
        Ok(text)
    }

    /// The CSV table. Rho has the model's own outputs, all others the shown ones.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let mut rows = OverviewRows { writer: csv::Writer::from_writer(Vec::new()) };
        let header =
            ["table", "feature", "level", "from", "to", "distance", "output", "value", "nodes", "graphs", "items"];
        rows.writer.write_record(header).map_err(broken)?;
        let (own, shown) = (&self.outputs, &self.shown_outputs);
        let distances: Vec<String> = (0..self.axis.slots()).map(|slot| self.axis.key(slot)).collect();
        let plain = OverviewPlace::default();
        rows.values(OverviewPlace { table: "base", ..plain }, shown, &self.base)?;
        for (distance, values) in distances.iter().zip(&self.structure) {
            rows.values(OverviewPlace { table: "structure", distance, ..plain }, shown, values)?;
        }
        for rho in self.rho.iter().filter(|rho| rho.anchor.is_some()) {
            for (distance, values) in distances.iter().zip(&rho.values) {
                rows.values(OverviewPlace { table: "rho", feature: &rho.name, distance, ..plain }, own, values)?;
            }
        }
        for feature in &self.features {
            let place = OverviewPlace { feature: &feature.name, ..plain };
            for level in &feature.levels {
                let support = Some(level.support);
                rows.values(
                    OverviewPlace { table: "level", level: &level.name, support, ..place },
                    shown,
                    &level.values,
                )?;
            }
            for (x, values) in feature.curve.iter().flat_map(|curve| &curve.points) {
                rows.values(OverviewPlace { table: "curve", range: Some((*x, *x)), ..place }, shown, values)?;
            }
            for curve in &feature.effects_by_distance {
                let place = OverviewPlace { table: "effect by distance", level: &curve.name, ..place };
                let output = std::slice::from_ref(&shown[curve.output]);
                let finite = curve.values.iter().enumerate().map(|(distance, value)| (distance.to_string(), *value));
                for (distance, value) in finite.chain([("unreachable".to_owned(), curve.unreachable)]) {
                    if let Some(value) = value {
                        rows.values(OverviewPlace { distance: &distance, ..place }, output, &[value])?;
                    }
                }
            }
            for bin in feature.curve.iter().flat_map(|curve| &curve.bins) {
                // Not an effect but a count: how many nodes and graphs have such values.
                let place = OverviewPlace {
                    table: "bin",
                    range: Some((bin.from, bin.to)),
                    support: Some(bin.support),
                    ..place
                };
                rows.values(place, &[String::new()], &[bin.support.nodes as f64])?;
            }
        }
        let Some(importance) = &self.importance else { return rows.writer.into_inner().map_err(broken) };
        rows.values(OverviewPlace { table: "importance of structure", ..plain }, shown, &importance.structure)?;
        for (distance, values) in distances.iter().zip(&importance.by_distance) {
            rows.values(OverviewPlace { table: "importance by distance", distance, ..plain }, shown, values)?;
        }
        let features = self.features.iter().zip(&importance.by_feature).zip(&importance.by_feature_and_distance);
        for ((feature, values), cells) in features {
            let place = OverviewPlace { feature: &feature.name, ..plain };
            rows.values(OverviewPlace { table: "importance by feature", ..place }, shown, values)?;
            for (distance, values) in distances.iter().zip(cells) {
                rows.values(
                    OverviewPlace { table: "importance by feature and distance", distance, ..place },
                    shown,
                    values,
                )?;
            }
        }
        rows.writer.into_inner().map_err(broken)
    }
}
