//! The whole model as tables: what an export holds, and all that is needed to compute its predictions by hand.
//!
//! With `t = 1 / (1 + distance)` (the centre of a bin; 0 for unreachable), `n` the number of sources at that distance from
//! a receiver (1 where normalisation is off), every `f` read off its table and every curve in `t` linear between its
//! points, and every lens with rho, structure and centre of its own,
//!
//! ```text
//! output = base + sum over lenses, receivers and distances that occur of structure(t)   (normalisation off: times n)
//!               + sum over lenses, receivers, sources and features of (f * rho(t) - centre(t)) / n
//! ```
//!
//! where a curve in a value is linear between its knots or, where it has bends `p` and `q` there, at the share `u` of the
//! way from one knot to the next `from + u * (to - from) + u * (1 - u) * (p + q * u)`. A lens that averages divides by the
//! number of receivers, and `centre` is 0 unless a feature has one. Rho, centre and structure are 0 at distances that are
//! not within their `reach` (a centre has that of its feature's rho); `at_distance_0` replaces a structure curve there. Where there is a `shell_scale`, they are multiplied by it at every
//! distance. A
//! level that is not listed contributes 0. A node pair has one source at distance 0, itself, by the features whose rho has the reach
//! `0..0`, which edges do not have; its own edge is none of its sources. The output for a graph without nodes is `empty`. In a softmax the outputs are those of the model up to a number common to all
//! classes.

use serde::Serialize;

use crate::dataset::{FeatureBins, FeaturePair, ItemStatistic, Outcome};
use crate::error::{Error, Result};
use crate::files::{Kind, Task};
use crate::lens::{Lens, Pool, Reach};
use crate::model::{Model, Support, TargetFamily, TargetSchema};
use crate::shape::Piecewise;

use super::canonical::{Canonical, FeatureValue};
use super::effect_sums::EffectSums;

/// The version of the table form.
pub const TABLES_VERSION: u32 = 3;

/// A model as tables, in canonical form.
#[derive(Clone, Debug, Serialize)]
pub struct ModelTables {
    /// What this is: "gnan tables".
    pub format: &'static str,
    /// The version of the form.
    pub version: u32,
    /// Whether it predicts graphs or nodes.
    pub task: Task,
    /// What it predicts.
    pub outcome: Outcome,
    /// The family of its targets, where outputs are logarithms of their means: what is predicted is `exp(output)` then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_family: Option<TargetFamily>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Names of the outputs as effects on them are shown: the second of two classes, whose effects are on its log-odds; every
    /// class, whose effects are less their mean over classes; or every target.
    pub shown_outputs: Vec<String>,
    /// The targets.
    pub targets: Vec<TargetSchema>,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether shells are divided by their size.
    pub normalise: bool,
    /// The ways in which distance is measured.
    pub lenses: Vec<Lens>,
    /// What every curve over distance is multiplied by: distance 0, 1, ..., the longest for all beyond, and unreachable last;
    /// none: 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shell_scale: Vec<f64>,
    /// `b0`, per output.
    pub base: Vec<f64>,
    /// The output of a graph without nodes.
    pub empty: Vec<f64>,
    /// Every rho, lens after lens: rho `r` by lens `v` is number `v * rhos_per_lens + r`.
    pub rho: Vec<RhoTable>,
    /// Number of rhos of every lens.
    pub rhos_per_lens: usize,
    /// Curves whose sum is the structure curve of every lens.
    pub structure: Vec<StructureTable>,
    /// Every feature.
    pub features: Vec<FeatureTable>,
    /// What stands between the sums that the tables above give for a graph, one for the structure and one for each
    /// feature, and the outputs; where there is a readout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readout: Option<ReadoutTables>,
}

/// The readout: `output = base + sum over parts of its function of what the tables give for the part`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadoutTables {
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// The targets.
    pub targets: Vec<TargetSchema>,
    /// What they predict.
    pub outcome: Outcome,
    /// `b0`, per output.
    pub base: Vec<f64>,
    /// The function of the structure, then of every feature.
    pub functions: Vec<Piecewise>,
}

impl Model {
    /// The whole model as tables.
    pub fn tables(&self) -> ModelTables {
        let definition = self.definition();
        let readout = || ReadoutTables {
            outputs: definition.output_names(),
            targets: definition.learned.targets.clone(),
            outcome: definition.learned.outcome,
            base: self.parameters().output_bias.iter().map(|bias| f64::from(*bias)).collect(),
            functions: self.readout_curves().into_iter().map(|(_, curve)| curve).collect(),
        };
        ModelTables { readout: definition.spec.model.readout.then(readout), ..self.canonical().tables() }
    }
}

/// A curve over `t = 1 / (1 + distance)` from 0 to 1, linear between its points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DistanceTable {
    /// Where the points are, ascending from 0 to 1.
    pub t: Vec<f64>,
    /// The values there, `[points][outputs]`.
    pub values: Vec<Vec<f64>>,
}

/// A rho by a lens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RhoTable {
    /// What it weighs.
    pub name: String,
    /// The lens.
    pub lens: usize,
    /// Where it is not 0.
    pub reach: Reach,
    /// The curve.
    #[serde(flatten)]
    pub curve: DistanceTable,
}

/// A part of the structure curve of a lens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StructureTable {
    /// The lens.
    pub lens: usize,
    /// Where it is not 0.
    pub reach: Reach,
    /// The curve.
    #[serde(flatten)]
    pub curve: DistanceTable,
    /// Its value at distance 0, where that is not on the curve.
    pub at_distance_0: Option<Vec<f64>>,
}

/// A feature: a curve, or levels, or both where values may be missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeatureTable {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The unit of its values.
    pub unit: Option<String>,
    /// Its support in training.
    pub support: Support,
    /// How it is cut, where it is a pair: its levels are cells, named after a bin of the one and a bin of the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<FeaturePair>,
    /// Which number it is that sums up its item: every node of a graph has the same, and they are averaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistic: Option<ItemStatistic>,
    /// The range of its values in training.
    pub range: Option<[f64; 2]>,
    /// Where figures show its effects.
    pub anchor: AnchorTable,
    /// The curve of a continuous or sparse feature, a function of the value itself; its rho is that of the feature.
    pub curve: Option<Piecewise>,
    /// The knots of a feature that has effects of its own at every distance: linear between them, constant beyond. The 0 of a
    /// sparse feature is one of them, with value 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub knots: Vec<KnotTable>,
    /// Which rho of a lens weighs the curve.
    pub rho: usize,
    /// Its levels, the 1 of a binary feature, and `missing` where training had it.
    pub levels: Vec<LevelTable>,
    /// The level of categories that are not listed; without, they contribute 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// What is taken off every product at a distance, by every lens, where every level has a rho of its own.
    pub centre: Option<Vec<DistanceTable>>,
}

/// A knot of a feature.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KnotTable {
    /// The value.
    pub at: f64,
    /// Which rho of a lens weighs it.
    pub rho: usize,
    /// What rho is multiplied by, per output.
    pub values: Vec<f64>,
    /// Its effect at the anchor of the feature, per shown output.
    pub effect: Vec<f64>,
    /// The standard deviation of that, where it is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sd: Vec<f64>,
}

/// The distance at which the effects of a feature are shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnchorTable {
    /// The lens.
    pub lens: usize,
    /// The distance; `None`: unreachable.
    pub distance: Option<usize>,
}

/// A level of a feature.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelTable {
    /// Its name.
    pub name: String,
    /// Whether it stands for missing values.
    pub missing: bool,
    /// Which rho of a lens weighs it.
    pub rho: usize,
    /// Its value, per output: what rho is multiplied by.
    pub values: Vec<f64>,
    /// Its effect at the anchor of the feature, per shown output: what figures and ledgers show.
    pub effect: Vec<f64>,
    /// The standard deviation of that, where it is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sd: Vec<f64>,
    /// Its support in training.
    pub support: Support,
}

impl Canonical {
    /// The whole model as tables.
    pub fn tables(&self) -> ModelTables {
        let definition = self.definition();
        let sums = EffectSums::new(self);
        ModelTables {
            format: "gnan tables",
            version: TABLES_VERSION,
            task: definition.learned.task,
            outcome: definition.learned.outcome,
            target_family: definition.learned.target_family.clone(),
            outputs: definition.output_names(),
            shown_outputs: definition.shown_names(),
            targets: definition.learned.targets.clone(),
            directed: definition.learned.directed,
            normalise: definition.spec.statistics.normalises(),
            lenses: definition.learned.lenses.clone(),
            shell_scale: definition.learned.shell_scale.iter().map(|factor| f64::from(*factor as f32)).collect(),
            base: self.output_bias().to_vec(),
            empty: self.empty_output().to_vec(),
            rho: (0..self.axis().lenses()).flat_map(|lens| self.rho_tables(lens)).collect(),
            rhos_per_lens: self.layout.rhos.len(),
            structure: (0..self.axis().lenses()).flat_map(|lens| self.structure_tables(lens)).collect(),
            features: (0..definition.learned.features.len()).map(|k| self.feature_table(k, sums.as_ref())).collect(),
            readout: None,
        }
    }

    fn rho_tables(&self, lens: usize) -> Vec<RhoTable> {
        let of_lens = self.axis().lens_name(lens);
        let table = |(r, name): (usize, String)| {
            let (nothing, scale) = (vec![0.0; self.outputs()], self.rho_scale(r));
            let factors: Vec<f64> = scale.iter().map(|a| if *a == 0.0 { 0.0 } else { 1.0 / a }).collect();
            let curve = distance_table(&self.raw_rho_curve(r, lens).rescaled(&nothing, &factors));
            let name = if of_lens.is_empty() { name } else { format!("{name}, {of_lens}") };
            RhoTable { name, lens, reach: self.layout.rhos[r].reach, curve }
        };
        self.rho_names().into_iter().enumerate().map(table).collect()
    }

    /// Raw rho by a lens as a function of `t`.
    fn raw_rho_curve(&self, r: usize, lens: usize) -> Piecewise {
        let (bank, scale) = (&self.model.parameters().rhos, self.definition().learned.rho_scale);
        bank.curve(self.layout.function(r, lens)).of_unscaled(scale.shift, scale.scale)
    }

    /// `b * rho_b(t)` and what centring takes out of every feature, a table for each reach.
    fn structure_tables(&self, lens: usize) -> Vec<StructureTable> {
        let bias = self.model.parameters().bias.iter().map(|b| f64::from(*b)).collect();
        let mut terms: Vec<(Vec<f64>, usize)> = vec![(bias, 0)];
        (0..self.definition().learned.features.len()).for_each(|k| terms.extend(self.centre_terms(k)));
        let reach_of = |rho: usize| self.layout.rhos[rho].reach;
        let mut reaches: Vec<Reach> = terms.iter().map(|(_, rho)| reach_of(*rho)).collect();
        reaches.sort();
        reaches.dedup();
        let at_distance_0 = self.folds_structure(lens).then(|| vec![0.0; self.outputs()]);
        let table = |reach: Reach| {
            let within = terms.iter().filter(|(_, rho)| reach_of(*rho) == reach).cloned().collect();
            let curve = self.sum_of_rhos(within, lens);
            StructureTable { lens, reach, curve, at_distance_0: at_distance_0.clone() }
        };
        reaches.into_iter().map(table).collect()
    }

    /// What centring takes out of a feature: the sum of these factors times their raw rhos.
    fn centre_terms(&self, k: usize) -> Vec<(Vec<f64>, usize)> {
        if self.definition().learned.uncentred {
            return Vec::new();
        }
        if !self.has_level_rhos(k) {
            return vec![(self.mean_effect(k), self.rho_of(k, 0))];
        }
        let shares = self.definition().learned.features[k].level_shares().into_iter().enumerate();
        shares
            .map(|(level, share)| {
                let raw = self.free_value(k, level);
                (raw.into_iter().map(|raw| raw * share).collect(), self.rho_of(k, level))
            })
            .collect()
    }

    /// The sum of raw rhos by a lens, each times a factor per output.
    fn sum_of_rhos(&self, mut terms: Vec<(Vec<f64>, usize)>, lens: usize) -> DistanceTable {
        terms.retain(|(factors, _)| factors.iter().any(|factor| *factor != 0.0));
        terms.sort_by_key(|(_, rho)| *rho);
        terms.dedup_by(|next, kept| {
            let same = next.1 == kept.1;
            if same {
                kept.0.iter_mut().zip(&next.0).for_each(|(kept, next)| *kept += next);
            }
            same
        });
        let nothing = vec![0.0; self.outputs()];
        let curves: Vec<Piecewise> =
            terms.iter().map(|(factors, rho)| self.raw_rho_curve(*rho, lens).rescaled(&nothing, factors)).collect();
        let mut t: Vec<f64> = vec![0.0, 1.0];
        t.extend(curves.iter().flat_map(|curve| &curve.knots).copied().filter(|t| *t > 0.0 && *t < 1.0));
        t.sort_by(f64::total_cmp);
        t.dedup();
        let at = |t: &f64| {
            let mut sum = nothing.clone();
            for curve in &curves {
                sum.iter_mut().zip(curve.evaluate(*t)).for_each(|(sum, value)| *sum += value);
            }
            sum
        };
        let values = t.iter().map(at).collect();
        DistanceTable { t, values }
    }

    fn feature_table(&self, k: usize, sums: Option<&EffectSums>) -> FeatureTable {
        let feature = &self.definition().learned.features[k];
        let anchor = self.anchor(k);
        let levels =
            self.level_values(feature).into_iter().enumerate().map(|(index, (name, value, support))| LevelTable {
                name,
                missing: value == FeatureValue::Missing,
                rho: self.rho_of(k, if value == FeatureValue::Missing { feature.known_values() } else { index }),
                values: self.shape_times_scale(k, value).expect("a model has a value for each of its own levels"),
                effect: self.effect(k, value, anchor),
                sd: self.anchor_sd(k, value, sums),
                support,
            });
        FeatureTable {
            name: feature.name.clone(),
            kind: feature.kind,
            unit: feature.unit.clone(),
            support: feature.support,
            pair: feature.pair.clone(),
            statistic: feature.statistic.clone(),
            range: feature.scale.map(|scale| [scale.min, scale.max]),
            anchor: AnchorTable { lens: self.axis().lens_of(anchor), distance: self.axis().distance(anchor) },
            curve: self.curve_times_scale(k),
            knots: self.knot_tables(k, sums),
            rho: self.rho_of(k, 0),
            levels: levels.collect(),
            other: feature.rare_level().map(|level| feature.levels[level].name.clone()),
            centre: self
                .has_level_rhos(k)
                .then(|| (0..self.axis().lenses()).map(|lens| self.sum_of_rhos(self.centre_terms(k), lens)).collect()),
        }
    }
}

impl Canonical {
    /// The standard deviation of an effect at the anchor of its feature, where it is known.
    fn anchor_sd(&self, k: usize, value: FeatureValue<'_>, sums: Option<&EffectSums>) -> Vec<f64> {
        sums.map(|sums| sums.effect_sd(self, k, value, self.anchor(k))).unwrap_or_default()
    }

    fn knot_tables(&self, k: usize, sums: Option<&EffectSums>) -> Vec<KnotTable> {
        let feature = &self.definition().learned.features[k];
        let Some(knots) = feature.effect_knots.as_ref().filter(|_| feature.kind != Kind::Binary) else {
            return Vec::new();
        };
        let knot = |(level, at): (usize, &f64)| {
            let rho = self.rho_of(k, level);
            let mean = self.centred_by(k);
            let centred = self.free_value(k, level).into_iter().zip(mean).map(|(value, mean)| value - mean);
            let scaled = centred.zip(self.rho_scale(rho));
            let effect = self.effect(k, FeatureValue::Number(*at), self.anchor(k));
            let values = scaled.map(|(value, scale)| value * scale).collect();
            KnotTable { at: *at, rho, values, effect, sd: self.anchor_sd(k, FeatureValue::Number(*at), sums) }
        };
        knots.at.iter().enumerate().map(knot).collect()
    }
}

fn distance_table(curve: &Piecewise) -> DistanceTable {
    let (t, values) = curve.points_between(0.0, 1.0).into_iter().unzip();
    DistanceTable { t, values }
}

impl ModelTables {
    /// The tables as one JSON document.
    pub fn json(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::because("the tables cannot be written as JSON", error))?;
        text.push(b'\n');
        Ok(text)
    }

    /// The tables as one CSV table, a number per row.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let mut rows = CsvRows { outputs: &self.outputs, writer: csv::Writer::from_writer(Vec::new()) };
        rows.write(["table", "feature", "level", "rho", "at", "output", "value", "nodes", "graphs", "items"])?;
        let switch = |on: bool| if on { "1" } else { "0" };
        rows.write(["setting", "normalise", "", "", "", "", switch(self.normalise), "", "", ""])?;
        for (number, lens) in self.lenses.iter().enumerate() {
            let number = number.to_string();
            rows.write(["setting", "mean pooling", &number, "", "", "", switch(lens.pool == Pool::Mean), "", "", ""])?;
        }
        for (distance, factor) in self.shell_scale.iter().enumerate() {
            let (distance, factor) = (distance.to_string(), factor.to_string());
            rows.write(["setting", "shell scale", "", "", &distance, "", &factor, "", "", ""])?;
        }
        let plain = RowPlace::default();
        rows.values(&RowPlace { table: "base", ..plain }, &self.base)?;
        rows.values(&RowPlace { table: "empty", ..plain }, &self.empty)?;
        for rho in &self.rho {
            let place = RowPlace { rho: &rho.name, ..plain };
            rows.reach(&RowPlace { table: "rho reach", ..place }, rho.reach)?;
            rows.curve(&RowPlace { table: "rho", ..place }, &rho.curve)?;
        }
        for (number, structure) in self.structure.iter().enumerate() {
            let (number, lens) = (number.to_string(), structure.lens.to_string());
            let place = RowPlace { feature: &lens, level: &number, ..plain };
            rows.reach(&RowPlace { table: "structure reach", ..place }, structure.reach)?;
            rows.curve(&RowPlace { table: "structure", ..place }, &structure.curve)?;
            if let Some(values) = &structure.at_distance_0 {
                rows.values(&RowPlace { table: "structure at distance 0", ..place }, values)?;
            }
        }
        for feature in &self.features {
            let place = RowPlace { feature: &feature.name, rho: &self.rho[feature.rho].name, ..plain };
            for member in feature.pair.iter().flat_map(|pair| &pair.members) {
                if let FeatureBins::Edges(edges) = &member.bins {
                    for edge in edges {
                        let edge = edge.to_string();
                        rows.write(["pair edge", &feature.name, &member.feature, "", "", "", &edge, "", "", ""])?;
                    }
                }
            }
            if let Some(curve) = &feature.curve {
                rows.values(&RowPlace { table: "left slope", ..place }, &curve.left_slope)?;
                for (index, (x, values)) in curve.knots.iter().zip(&curve.values).enumerate() {
                    rows.values(&RowPlace { table: "knot", at: Some(*x), ..place }, values)?;
                    for (table, which) in [("bend p", 0), ("bend q", 1)] {
                        let bends = curve.bends.get(index).into_iter().flatten();
                        let bends: Vec<f64> = bends.map(|bends| bends[which]).collect();
                        rows.values(&RowPlace { table, at: Some(*x), ..place }, &bends)?;
                    }
                }
                rows.values(&RowPlace { table: "right slope", ..place }, &curve.right_slope)?;
            }
            for knot in &feature.knots {
                let place = RowPlace { rho: &self.rho[knot.rho].name, at: Some(knot.at), ..place };
                rows.values(&RowPlace { table: "effect knot", ..place }, &knot.values)?;
                let place = RowPlace { rho: "", ..place };
                rows.named_values(&RowPlace { table: "effect sd", ..place }, &self.shown_outputs, &knot.sd)?;
            }
            for level in &feature.levels {
                let table = if level.missing { "missing" } else { "level" };
                let rho = &self.rho[level.rho].name;
                let support = Some(level.support);
                rows.values(&RowPlace { table, level: &level.name, rho, support, ..place }, &level.values)?;
                let place = RowPlace { table: "effect", level: &level.name, rho: "", ..place };
                rows.named_values(&place, &self.shown_outputs, &level.effect)?;
                rows.named_values(&RowPlace { table: "effect sd", ..place }, &self.shown_outputs, &level.sd)?;
            }
            if let Some(other) = &feature.other {
                rows.write(["other", &feature.name, other, "", "", "", "", "", "", ""])?;
            }
            for (lens, centre) in feature.centre.iter().flatten().enumerate() {
                rows.curve(&RowPlace { table: "centre", rho: "", level: &lens.to_string(), ..place }, centre)?;
            }
        }
        if let Some(readout) = &self.readout {
            let mut rows = CsvRows { outputs: &readout.outputs, writer: rows.writer };
            rows.values(&RowPlace { table: "readout base", ..plain }, &readout.base)?;
            let names = ["structure"].into_iter().chain(self.features.iter().map(|feature| feature.name.as_str()));
            for (name, curve) in names.zip(&readout.functions) {
                let place = RowPlace { feature: name, ..plain };
                rows.values(&RowPlace { table: "readout left slope", ..place }, &curve.left_slope)?;
                for (x, values) in curve.knots.iter().zip(&curve.values) {
                    rows.values(&RowPlace { table: "readout knot", at: Some(*x), ..place }, values)?;
                }
                rows.values(&RowPlace { table: "readout right slope", ..place }, &curve.right_slope)?;
            }
            return rows.finish();
        }
        rows.finish()
    }
}

/// What a number of the CSV table belongs to.
#[derive(Clone, Copy, Default)]
struct RowPlace<'a> {
    table: &'a str,
    feature: &'a str,
    level: &'a str,
    rho: &'a str,
    at: Option<f64>,
    support: Option<Support>,
}

struct CsvRows<'a> {
    outputs: &'a [String],
    writer: csv::Writer<Vec<u8>>,
}

impl CsvRows<'_> {
    fn write<const N: usize>(&mut self, row: [&str; N]) -> Result<()> {
        self.writer.write_record(row).map_err(|error| Error::because("the tables cannot be written", error))
    }

    /// The bytes of the table.
    fn finish(self) -> Result<Vec<u8>> {
        self.writer.into_inner().map_err(|error| Error::because("the tables cannot be written", error))
    }

    /// One row per output.
    fn values(&mut self, place: &RowPlace<'_>, values: &[f64]) -> Result<()> {
        self.named_values(place, self.outputs, values)
    }

    /// The same for outputs of these names.
    fn named_values(&mut self, place: &RowPlace<'_>, outputs: &[String], values: &[f64]) -> Result<()> {
        let at = place.at.map(|at| at.to_string()).unwrap_or_default();
        let [nodes, graphs, items] = match place.support {
            Some(Support { nodes, graphs, items }) => [nodes, graphs, items].map(|count| count.to_string()),
            None => Default::default(),
        };
        for (output, value) in outputs.iter().zip(values) {
            let value = value.to_string();
            self.write([
                place.table,
                place.feature,
                place.level,
                place.rho,
                &at,
                output,
                &value,
                &nodes,
                &graphs,
                &items,
            ])?;
        }
        Ok(())
    }

    /// Two rows, or three: the distances from which something contributes.
    fn reach(&mut self, place: &RowPlace<'_>, reach: Reach) -> Result<()> {
        let unreachable = if reach.unreachable { "1" } else { "0" };
        let parts = [("from", Some(reach.from.to_string())), ("to", reach.to.map(|to| to.to_string()))];
        for (at, value) in parts.into_iter().chain([("unreachable", Some(unreachable.to_owned()))]) {
            if let Some(value) = value {
                self.write([place.table, place.feature, place.level, place.rho, at, "", &value, "", "", ""])?;
            }
        }
        Ok(())
    }

    /// One row per point and output.
    fn curve(&mut self, place: &RowPlace<'_>, curve: &DistanceTable) -> Result<()> {
        for (t, values) in curve.t.iter().zip(&curve.values) {
            self.values(&RowPlace { at: Some(*t), ..*place }, values)?;
        }
        Ok(())
    }
}
