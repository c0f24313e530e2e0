//! The whole model for people: what it predicts, what matters, influence by distance, and every shape function.

use std::path::Path;

use gnan::explain::{Canonical, CurveByDistance, FeatureOverview, Importance, Output, Overview, Point};
use gnan::files::Task;
use gnan::numbers::{count, counted, counted_more, number};
use gnan::{Dataset, Intervals};
use gnan_report::words;

use crate::amounts::{
    EDGES, GRAPHS, MOST_OUTPUTS, NODES, Nouns, Row, amounts_table, curve_rows, largest_size, level_rows, strongest,
    summed, support_words,
};
use crate::findings::distance_table;
use crate::style::{dim, escape_control, heading};
use crate::table::{Table, shorten};

/// Widest name in a heading.
const NAME_WIDTH: usize = 40;

/// What is shown of a model.
pub struct Global<'a> {
    /// The model file.
    pub path: &'a Path,
    /// The model with its importances.
    pub overview: &'a Overview,
    /// Its canonical form.
    pub canonical: &'a Canonical,
    /// The data, if there are any.
    pub data: Option<&'a Dataset>,
    /// Which outputs.
    pub outputs: Vec<Output>,
    /// Which features in full; `None`: the strongest, in short.
    pub features: Option<Vec<usize>>,
    /// Most rows of a table.
    pub top: usize,
    /// 95 % bands, where there are any.
    pub intervals: Option<&'a Intervals>,
}

impl Global<'_> {
    /// The model in words and tables.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n{}", heading(self.path.display()), self.facts().render());
        if self.features.is_none() {
            if let Some(importance) = &self.overview.importance {
                text.push_str(&self.importances(importance));
            }
            text.push_str(&self.by_distance(None));
            text.push_str(&self.structure());
        }
        text.push_str(&self.shapes());
        text
    }

    fn facts(&self) -> Table {
        let definition = self.canonical.definition();
        let mut facts = Table::facts();
        facts.fact("predicts", words::prediction(definition));
        let several = self.overview.shown_outputs.len() > 1;
        let of = if several || definition.learned.outcome.is_regression() {
            String::new()
        } else {
            format!(" of {}", self.overview.shown_outputs.join(", "))
        };
        facts.fact("unit", format!("{}{of}", self.overview.unit));
        facts.fact("model", words::architecture(definition));
        match (self.data, &self.overview.importance) {
            (Some(data), Some(importance)) => {
                facts.fact("data", format!("{}, {}", data.name(), counted(importance.items, "prediction")));
            }
            _ => {
                facts.fact("data", "none given: no importances, and no counts under curves; name data after the model")
            }
        }
        let names = self.names();
        if names.len() > MOST_OUTPUTS {
            let hidden = count(names.len() - MOST_OUTPUTS);
            facts.fact("columns", format!("the first {MOST_OUTPUTS} outputs; {hidden} more with --class NAME"));
        }
        let base: Vec<String> = (self.outputs.iter().take(MOST_OUTPUTS))
            .map(|output| {
                let value = number(output.of_shown(&self.overview.base));
                if names.len() > 1 { format!("{} {value}", shorten(&output.name, NAME_WIDTH)) } else { value }
            })
            .collect();
        facts.fact("base", base.join(", "));
        facts
    }

    /// What sources are called: the message edges around a node pair, or nodes.
    /// In what the support of a feature is counted.
    fn counted_in(&self, feature: &FeatureOverview) -> (Task, Nouns) {
        match self.canonical.definition().learned.task {
            Task::Graph if feature.of_item => (Task::Node, GRAPHS),
            task => (task, self.nouns()),
        }
    }

    fn nouns(&self) -> Nouns {
        if self.canonical.definition().learned.links.is_some() { EDGES } else { NODES }
    }

    /// What receivers are called.
    fn receiver(&self) -> &'static str {
        if self.canonical.definition().learned.links.is_some() { "pair" } else { "node" }
    }

    /// Names of the outputs that effects and importances are shown for.
    fn shown_names(&self) -> Vec<String> {
        self.shown().iter().map(|output| output.name.clone()).collect()
    }

    /// Names of the outputs that influences are shown for.
    fn names(&self) -> Vec<String> {
        self.outputs.iter().map(|output| output.name.clone()).collect()
    }

    /// The outputs that effects and importances are shown for: of two classes the second, unless only the first was asked
    /// for.
    fn shown(&self) -> Vec<&Output> {
        let is_opposite = |a: &Output, b: &Output| a.shown.0 == b.shown.0 && a.shown.1 < b.shown.1;
        let is_shown = |output: &&Output| !self.outputs.iter().any(|other| is_opposite(output, other));
        self.outputs.iter().filter(is_shown).collect()
    }

    fn importances(&self, importance: &Importance) -> String {
        let shown = self.shown();
        let names: Vec<String> = shown.iter().map(|output| output.name.clone()).collect();
        let pick = |values: &[f64]| shown.iter().map(|output| values[output.shown.0]).collect::<Vec<f64>>();
        let row = |name: &str, values: &[f64]| Row {
            name: name.to_owned(),
            values: pick(values),
            remark: String::new(),
            is_sum: false,
        };
        let features = self.overview.features.iter().map(|feature| feature.name.as_str());
        let slots = importance.by_distance.len();
        let over = format!("mean size of its contribution, {}", self.overview.unit);

        let rows = features.clone().zip(&importance.by_feature).map(|(name, values)| row(name, values));
        let (mut first, others) = strongest(rows.collect(), self.top);
        first.extend(summed(&others, "feature"));
        let remark = "the shape of the graph alone".to_owned();
        first.push(Row { remark, ..row("structure", &importance.structure) });
        let mut text = section("importance by feature", &over, &amounts_table("feature", &first, &names, false));

        let seen = (0..slots).filter(|slot| self.canonical.seen(*slot));
        let rows: Vec<Row> =
            seen.map(|slot| row(&self.canonical.axis().name(slot), &importance.by_distance[slot])).collect();
        let (first, others) = self.nearest(rows);
        let rows: Vec<Row> = first.into_iter().chain(summed(&others, "distance")).collect();
        text.push_str(&section("importance by distance", &over, &amounts_table("distance", &rows, &names, false)));

        let pairs = features.zip(&importance.by_feature_and_distance).flat_map(|(name, cells)| {
            let cells = cells.iter().enumerate();
            cells.map(move |(slot, values)| (format!("{name}, {}", self.canonical.axis().name(slot)), values))
        });
        let pairs = pairs.filter(|(_, values)| values.iter().any(|value| *value != 0.0));
        let (mut first, others) = strongest(pairs.map(|(name, values)| row(&name, values)).collect(), self.top);
        first.extend(summed(&others, "pair"));
        let table = amounts_table("feature and distance", &first, &names, false);
        text.push_str(&section("importance by feature and distance", &over, &table));
        text
    }

    /// Rows of distances: the nearest, and the others.
    fn nearest(&self, mut rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
        let others = rows.split_off(self.top.min(rows.len()));
        (rows, others)
    }

    /// The influence by distance of all features, or of one; where effects are not separable, how large they are, or those of
    /// one feature.
    fn by_distance(&self, feature: Option<usize>) -> String {
        let definition = self.canonical.definition();
        let is_shown = |curve: &CurveByDistance| {
            feature.is_none_or(|k| self.canonical.rhos_of(k).contains(&curve.rho))
                && self.outputs.iter().any(|output| output.own.0 == curve.output)
        };
        let effects = feature.map_or_else(Vec::new, |k| self.canonical.effects_by_distance(k));
        let separable = definition.shows_own_outputs();
        let is_of_shown = |curve: &CurveByDistance| self.shown().iter().any(|output| output.shown.0 == curve.output);
        let of_levels = !effects.is_empty();
        let curves: Vec<CurveByDistance> = match (of_levels, separable) {
            (true, _) => effects.into_iter().filter(is_of_shown).collect(),
            (false, true) => self.canonical.influence_by_distance().into_iter().filter(is_shown).collect(),
            (false, false) => self.canonical.effect_size_by_distance().into_iter().filter(is_of_shown).collect(),
        };
        if curves.is_empty() {
            return String::new();
        }
        let table = distance_table(&curves, &definition.learned.receivers, self.top, self.receiver());
        let (title, words) = match (of_levels, separable) {
            (true, _) => {
                ("effects by distance", format!("what one such node adds at each distance, {}", self.overview.unit))
            }
            (false, true) => (
                "influence by distance",
                "relative to the distance at which effects are shown, where it is 1".to_owned(),
            ),
            (false, false) => (
                "size of effects by distance",
                format!("what one node usually adds or takes away at each distance, {}", self.overview.unit),
            ),
        };
        let more = curves.len().saturating_sub(self.top);
        let more = if curves.len() > 1 && more > 0 { more_line(more, "curve", " (--top)") } else { String::new() };
        let longest = curves.iter().map(|curve| curve.values.len()).max().unwrap_or(0);
        let cut = match curves.len() {
            0 | 1 => longest.saturating_sub(self.top),
            _ => longest.saturating_sub(crate::findings::FIRST_DISTANCES),
        };
        let cut = if cut > 0 { more_line(cut, "distance", " (--json has them)") } else { String::new() };
        format!("{}{more}{cut}", section(title, &words, &table))
    }

    fn structure(&self) -> String {
        let definition = self.canonical.definition();
        let slots = self.overview.structure.len();
        let row = |slot: usize| {
            let receivers = self.canonical.support_at(slot).nodes as usize;
            let values = self.shown().iter().map(|output| output.of_shown(&self.overview.structure[slot])).collect();
            Row {
                name: self.canonical.axis().name(slot),
                values,
                remark: format!("for {}", counted(receivers, self.receiver())),
                is_sum: false,
            }
        };
        let rows = (0..slots).filter(|slot| self.canonical.seen(*slot)).map(row).collect();
        let (rows, others) = self.nearest(rows);
        let table = amounts_table("distance", &rows, &self.shown_names(), true);
        let words = match definition.learned.task {
            Task::Graph => "what every node adds for having nodes at a distance, whatever they are",
            Task::Node if definition.learned.links.is_some() => {
                "what a pair gets for having edges at a distance, whatever they are"
            }
            Task::Node => "what a node gets for having nodes at a distance, whatever they are",
        };
        let more = if others.is_empty() { String::new() } else { more_line(others.len(), "distance", " (--top)") };
        format!("{}{more}", section("structure", words, &table))
    }

    /// Every shape function, or those of the requested features.
    fn shapes(&self) -> String {
        let features = &self.overview.features;
        let shown = match &self.features {
            Some(features) => features.clone(),
            None => {
                let outputs: Vec<usize> = self.shown().iter().map(|output| output.shown.0).collect();
                self.overview.by_importance(Some(&outputs))
            }
        };
        let mut text = String::new();
        for k in shown.iter().copied().take(if self.features.is_some() { usize::MAX } else { self.top }) {
            text.push_str(&self.shape(k, &features[k]));
        }
        let hidden = shown.get(self.top..).filter(|_| self.features.is_none()).unwrap_or_default();
        if !hidden.is_empty() {
            let example = shorten(&features[hidden[0]].name, NAME_WIDTH);
            let together = self.overview.importance.as_ref().map(|importance| {
                let outputs: Vec<usize> = self.shown().iter().map(|output| output.shown.0).collect();
                format!(", together of importance {}", number(importance.sum_over(hidden, &outputs)))
            });
            let how = format!("{} (--feature \"{example}\", or --top)", together.unwrap_or_default());
            text.push_str(&format!("\n{}", more_line(hidden.len(), "feature", &how)));
        }
        text
    }

    /// Every level and value of a feature.
    fn rows(&self, k: usize, feature: &FeatureOverview) -> Vec<Row> {
        let (task, nouns) = self.counted_in(feature);
        let choose = |values: &[f64]| self.shown().iter().map(|output| output.of_shown(values)).collect::<Vec<f64>>();
        let full = self.features.as_ref().is_some_and(|features| features.contains(&k));
        let mut rows = level_rows(&feature.levels, task, nouns, choose);
        for (row, level) in rows.iter_mut().zip(&feature.levels) {
            if let Some(words) = self.band_words(k, &level.point(feature.kind)) {
                row.remark = format!("{words}; {}", row.remark);
            }
        }
        if let Some(curve) = &feature.curve {
            // The missing level of a curve comes last.
            let unit = feature.unit.as_deref();
            rows.splice(0..0, curve_rows(curve, unit, feature.whole, full, task, nouns, choose));
        }
        rows
    }

    /// The 95 % band of the effect of a value in words, where there is one output alone.
    fn band_words(&self, k: usize, point: &Point) -> Option<String> {
        let [only] = self.shown()[..] else { return None };
        let band = self.intervals?.shape_at(k, point.value(), only.shown.0)?;
        let mut ends = [band.low, band.high].map(|end| only.shown.1 * end);
        ends.sort_by(f64::total_cmp);
        let reliable = if band.holds_zero() { ", no reliable effect" } else { "" };
        Some(format!("95 %: {} to {}{reliable}", number(ends[0]), number(ends[1])))
    }

    fn shape(&self, k: usize, feature: &FeatureOverview) -> String {
        let definition = self.canonical.definition();
        let full = self.features.is_some();
        let rows = self.rows(k, feature);
        let unit = feature.unit.as_deref().map(|unit| format!(" in {}", escape_control(unit))).unwrap_or_default();
        let (task, nouns) = self.counted_in(feature);
        let support = support_words(feature.support, task, nouns);
        let kind = if definition.learned.features[k].pair.is_some() { "pair" } else { feature.kind.name() };
        let mut words = format!("{kind}{unit}, {support}");
        if let Some(importance) = &self.overview.importance {
            let sizes: Vec<String> =
                self.shown().iter().take(MOST_OUTPUTS).map(|o| number(importance.by_feature[k][o.shown.0])).collect();
            words.push_str(&format!("; importance {}", sizes.join(", ")));
        }
        if self.canonical.has_level_rhos(k) && !feature.of_item {
            words.push_str("; every level has its own influence by distance");
        }
        if let (Some(_), Some([verdict])) =
            (&feature.curve, self.intervals.and_then(|intervals| intervals.shape_verdicts.get(k)).map(Vec::as_slice))
        {
            words.push_str(&format!("; {verdict}"));
        }
        words.push_str(&match feature.own_value {
            true if feature.of_item && definition.learned.task == Task::Graph => {
                "; effects of a number of the whole graph".to_owned()
            }
            true if feature.of_item => "; effects of a number of a node and those around it".to_owned(),
            true => "; effects of a node's own value".to_owned(),
            false => format!("; effects at {}", feature.anchor),
        });
        let mut more = String::new();
        let mut rows = rows;
        if feature.curve.is_none() {
            let most = if full { usize::MAX } else { self.top };
            let (strong, others) = strongest(rows, most);
            rows = strong;
            if self.shown().len() == 1 {
                rows.sort_by(|a, b| b.values[0].total_cmp(&a.values[0]));
            }
            if !others.is_empty() {
                let size = number(largest_size(&others));
                more = more_line(others.len(), "level", &format!(", none above {size} in size"));
            }
        } else if let Some(curve) = feature.curve.as_ref().filter(|curve| !full && curve.bins.len() > rows.len()) {
            let how = format!("the quartiles of {} bins; --feature shows all", count(curve.bins.len()));
            more = format!("  {}\n", dim(how));
        }
        let first = if feature.curve.is_some() { "value" } else { "level" };
        let table = amounts_table(first, &rows, &self.shown_names(), true);
        let mut text = format!("{}{more}", section(&shorten(&feature.name, NAME_WIDTH), &words, &table));
        if full {
            text.push_str(&self.by_distance(Some(k)));
            text.push_str(&self.distances_of(k));
        }
        text
    }

    /// The importance of one feature by distance.
    fn distances_of(&self, k: usize) -> String {
        let Some(importance) = &self.overview.importance else { return String::new() };
        let cells = &importance.by_feature_and_distance[k];
        let shown = self.shown();
        let row = |slot: usize| Row {
            name: self.canonical.axis().name(slot),
            values: shown.iter().map(|output| cells[slot][output.shown.0]).collect(),
            remark: String::new(),
            is_sum: false,
        };
        let rows: Vec<Row> = (0..cells.len()).filter(|slot| self.canonical.seen(*slot)).map(row).collect();
        let names: Vec<String> = shown.iter().map(|output| output.name.clone()).collect();
        let over = format!("mean size of its contribution, {}", self.overview.unit);
        section("its importance by distance", &over, &amounts_table("distance", &rows, &names, false))
    }
}

fn section(title: &str, words: &str, table: &Table) -> String {
    format!("\n{}  {}\n{}", heading(title), dim(words), table.render())
}

fn more_line(number: usize, noun: &str, how: &str) -> String {
    format!("  {}\n", dim(format!("... and {}{how}", counted_more(number, noun))))
}
