//! Features: named columns of the nodes with a kind. Kinds are declared by the format or the user, or detected here.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::files::{Column, DateOrder, Kind, MISSING, Values, cell_days, cell_numbers, written_as_text};
use crate::numbers::{DAYS, counted};
use crate::spec::NodeDescription;

use super::{FeaturePair, ItemStatistic};

/// A numeric column with at least this share of zeros (and more than two distinct values) is sparse.
const SPARSE_SHARE_OF_ZEROS: f64 = 0.8;

/// A named property of every node.
///
/// Binary and sparse features hold [`Values::Sparse`], continuous ones [`Values::Numbers`], categorical ones
/// [`Values::Categories`].
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The unit of its values, where known.
    pub unit: Option<String>,
    /// One value per node.
    pub values: Values,
    /// How it was computed from the graphs; `None`: it was read.
    pub description: Option<NodeDescription>,
    /// Which two features it is made of; `None`: it is not a pair.
    pub pair: Option<FeaturePair>,
    /// Which number it is that sums its item up; `None`: it is none.
    pub statistic: Option<ItemStatistic>,
    /// Whether the day or the month comes first in its cells, where they are dates that show it.
    pub date_order: Option<DateOrder>,
    /// Whether candidate node pairs alone have it, and it counts for themselves alone. Numbers are then [`Values::Sparse`] whatever
    /// their kind, and list every candidate that has a value.
    pub own_only: bool,
}

/// What a model knows of a feature that data are opened for: its column is read as such, whatever it looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFeature {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The unit of its values, where known.
    pub unit: Option<String>,
    /// The levels of a categorical feature, which one-hot columns of these names stand for.
    pub levels: Vec<String>,
    /// Whether the day or the month came first in training, where it holds dates.
    pub date_order: Option<DateOrder>,
}

impl KnownFeature {
    /// Reads the column of a feature that is a number as numbers, where the file looks like words: cells that are none count
    /// as missing.
    pub(super) fn read(&self, column: &mut Column) -> Result<()> {
        if self.kind != Kind::Categorical {
            let dates = self.unit.as_deref() == Some(DAYS);
            if dates { read_as_dates(column, self.date_order)? } else { read_as_numbers(column) }
        }
        Ok(())
    }
}

/// Makes a column of words one of numbers; cells that are none are missing, and a caution counts them.
pub(super) fn read_as_numbers(column: &mut Column) {
    let Values::Categories { codes, levels } = &column.values else { return };
    let numbers = cell_numbers(levels);
    let lost: Vec<&str> =
        levels.iter().zip(&numbers).filter(|(_, number)| number.is_nan()).map(|(level, _)| level.as_str()).collect();
    let reasons = written_as_text(&lost).reasons;
    let reasons = if reasons.is_empty() { reasons } else { format!(": {reasons}") };
    let values = values_of(codes, &numbers);
    if let Some(cells) = lost_cells(codes, &values, "numbers") {
        column.note = Some(format!("column \"{}\" holds {cells}{reasons}", column.name));
        column.doubtful = true;
    }
    column.values = Values::Numbers(values);
}

/// Makes a column of words one of dates, whose day or month comes first as in `order` where they do not show it; cells that are
/// none are missing, and a caution counts them.
pub(super) fn read_as_dates(column: &mut Column, order: Option<DateOrder>) -> Result<()> {
    let Values::Categories { codes, levels } = &column.values else { return Ok(()) };
    let (days, ordered) = cell_days(levels, order).map_err(|example| {
        Error::input(format!(
            "column \"{}\" holds dates such as {example}, of which the day and the month cannot be told apart",
            column.name
        ))
        .with_remedy("write them as 2024-12-31")
    })?;
    let values = values_of(codes, &days);
    if ordered {
        let first = if order == Some(DateOrder::DayFirst) { "day" } else { "month" };
        column.note =
            Some(format!("column \"{}\" holds dates: the {first} comes first, as in the training data", column.name));
        column.doubtful = false;
    }
    if let Some(cells) = lost_cells(codes, &values, "dates") {
        column.note = Some(format!("column \"{}\" holds {cells}", column.name));
        column.doubtful = true;
    }
    column.values = Values::Numbers(values);
    Ok(())
}

/// The number of every row, from those of the levels.
fn values_of(codes: &[u32], numbers: &[f64]) -> Vec<f64> {
    codes.iter().map(|code| numbers.get(*code as usize).copied().unwrap_or(f64::NAN)).collect()
}

/// In words, how many cells became missing because they are no numbers or dates.
fn lost_cells(codes: &[u32], values: &[f64], noun: &str) -> Option<String> {
    let lost = codes.iter().zip(values).filter(|(code, value)| **code != MISSING && value.is_nan()).count();
    let [is, counts] = if lost == 1 { ["is", "counts"] } else { ["are", "count"] };
    (lost > 0).then(|| format!("{} that {is} no {noun} and {counts} as missing", counted(lost, "cell")))
}

impl Feature {
    /// A feature of which nothing else is known.
    pub(crate) fn new(name: String, kind: Kind, values: Values) -> Feature {
        Feature {
            name,
            kind,
            unit: None,
            values,
            description: None,
            pair: None,
            statistic: None,
            date_order: None,
            own_only: false,
        }
    }

    /// Makes features of columns: detects kinds that are not declared and fuses one-hot codes, or those of the features that
    /// a model knows.
    pub fn from_columns(columns: Vec<Column>, known: Option<&[KnownFeature]>) -> Result<Vec<Feature>> {
        let features = columns.into_iter().map(Feature::from_column).collect::<Result<Vec<_>>>()?;
        match known {
            None => Ok(fuse_one_hot(features)),
            Some(known) => Ok(fuse_exactly(features, known)),
        }
    }

    fn from_column(column: Column) -> Result<Feature> {
        let feature = Feature::convert(column)?;
        if feature.kind == Kind::Binary
            && let Values::Sparse { values, .. } = &feature.values
            && let Some(other) = values.iter().find(|x| **x != 1.0 && !x.is_nan())
        {
            return Err(Error::input(format!("feature \"{}\" is declared binary but holds {other}", feature.name))
                .with_remedy("use 0 and 1, or declare it continuous or categorical"));
        }
        Ok(feature)
    }

    /// Brings the values into the form of their kind.
    fn convert(column: Column) -> Result<Feature> {
        let Column { name, kind, unit, values, date_order, .. } = column;
        let kind = kind.unwrap_or_else(|| detect(&values));
        let values = match (kind, values) {
            (Kind::Categorical, Values::Categories { codes, levels }) => Values::Categories { codes, levels },
            (Kind::Categorical, numbers) => categories(&dense(numbers)),
            (_, Values::Categories { .. }) => {
                return Err(Error::input(format!("feature \"{name}\" holds text and cannot be {}", kind.name()))
                    .with_remedy("declare it categorical"));
            }
            (Kind::Continuous, numbers) => Values::Numbers(dense(numbers)),
            (Kind::Binary | Kind::Sparse, numbers) => sparse(numbers),
        };
        Ok(Feature { unit, date_order, ..Feature::new(name, kind, values) })
    }

    /// The same values understood as another kind, as far as that makes sense.
    pub fn with_kind(&self, kind: Kind) -> Result<Feature> {
        if self.kind == kind {
            return Ok(self.clone());
        }
        let Feature { name, unit, values, date_order, .. } = self.clone();
        Feature::convert(Column { unit, date_order, ..Column::new(name, values).with_kind(kind) })
    }

    /// Whether it is read from files, and not computed.
    pub fn is_read(&self) -> bool {
        self.description.is_none() && self.pair.is_none() && self.statistic.is_none()
    }

    /// Whether it is a value of the item itself, which counts at distance 0 and once: a statistic, or a pair with one.
    pub fn is_of_item(&self) -> bool {
        self.statistic.is_some() || self.pair.as_ref().is_some_and(|pair| pair.of_item)
    }

    /// Number of nodes whose value is missing.
    pub fn missing(&self) -> usize {
        match &self.values {
            Values::Numbers(values) | Values::Sparse { values, .. } => values.iter().filter(|x| x.is_nan()).count(),
            Values::Categories { codes, .. } => codes.iter().filter(|code| **code == MISSING).count(),
        }
    }
}

fn detect(values: &Values) -> Kind {
    match values {
        Values::Categories { .. } => Kind::Categorical,
        Values::Sparse { values, .. } if values.iter().all(|x| *x == 0.0 || *x == 1.0 || x.is_nan()) => Kind::Binary,
        Values::Sparse { .. } => Kind::Sparse,
        Values::Numbers(numbers) => {
            let known = || numbers.iter().filter(|x| !x.is_nan());
            let zeros = known().filter(|x| **x == 0.0).count();
            if known().all(|x| *x == 0.0 || *x == 1.0) && known().next().is_some() {
                Kind::Binary
            } else if zeros as f64 >= SPARSE_SHARE_OF_ZEROS * known().count() as f64 && zeros > 0 {
                Kind::Sparse
            } else {
                Kind::Continuous
            }
        }
    }
}

/// One number per row; the codes of categories count as numbers.
pub(super) fn dense(values: Values) -> Vec<f64> {
    match values {
        Values::Numbers(numbers) => numbers,
        Values::Sparse { len, rows, values } => {
            let mut numbers = vec![0.0; len];
            for (row, value) in rows.into_iter().zip(values) {
                numbers[row as usize] = value;
            }
            numbers
        }
        Values::Categories { codes, .. } => {
            codes.into_iter().map(|code| if code == MISSING { f64::NAN } else { f64::from(code) }).collect()
        }
    }
}

fn sparse(values: Values) -> Values {
    let (len, pairs): (usize, Vec<(u32, f64)>) = match values {
        Values::Sparse { len, rows, values } => (len, rows.into_iter().zip(values).collect()),
        other => {
            let numbers = dense(other);
            (numbers.len(), (0u32..).zip(numbers).collect())
        }
    };
    let (rows, values) = pairs.into_iter().filter(|(_, value)| *value != 0.0).unzip();
    Values::Sparse { len, rows, values }
}

/// The known numbers, ascending, each once; -0 and 0 are one.
pub(crate) fn distinct_numbers(numbers: &[f64]) -> Vec<f64> {
    // Adding zero makes -0 the same number as 0.
    let mut distinct: Vec<f64> = numbers.iter().filter(|x| !x.is_nan()).map(|x| x + 0.0).collect();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    distinct
}

/// Numbers as levels of a categorical feature, in numerical order, named as they are written.
pub(super) fn categories(numbers: &[f64]) -> Values {
    let distinct = distinct_numbers(numbers);
    let code = |x: &f64| match distinct.binary_search_by(|level| level.total_cmp(&(x + 0.0))) {
        _ if x.is_nan() => MISSING,
        place => place.expect("every number is one of the distinct ones") as u32,
    };
    Values::Categories {
        codes: numbers.iter().map(code).collect(),
        levels: distinct.iter().map(|x| x.to_string()).collect(),
    }
}

/// Splits a column name into the prefix that a one-hot group shares and the level.
fn prefix_and_level(name: &str) -> Option<(&str, &str)> {
    let at = name.rfind(['_', '=', ':', '.'])?;
    let (prefix, level) = (&name[..at], &name[at + 1..]);
    (!prefix.is_empty() && !level.is_empty()).then_some((prefix, level))
}

/// Replaces binary columns that share a prefix, exactly one of which is 1 on every node, by one categorical feature.
fn fuse_one_hot(features: Vec<Feature>) -> Vec<Feature> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, feature) in features.iter().enumerate() {
        if feature.kind == Kind::Binary
            && let Some((prefix, _)) = prefix_and_level(&feature.name)
        {
            groups.entry(prefix.to_owned()).or_default().push(index);
        }
    }
    groups.retain(|_, members| members.len() > 1);
    let complete = |codes: &[u32]| codes.iter().all(|code| *code != MISSING);
    fuse(features, groups, complete)
}

/// The columns that read as one-hot codes of `name`, with the level each stands for.
pub fn one_hot_columns<'a>(features: &'a [Feature], name: &str) -> Vec<(&'a Feature, &'a str)> {
    let level = |feature: &'a Feature| match prefix_and_level(&feature.name) {
        Some((prefix, level)) if prefix == name && feature.kind == Kind::Binary => Some((feature, level)),
        _ => None,
    };
    features.iter().filter_map(level).collect()
}

/// Replaces the columns of the given groups by one categorical feature each, where all of them are there; a node with
/// none of them is missing.
fn fuse_exactly(features: Vec<Feature>, wanted: &[KnownFeature]) -> Vec<Feature> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for KnownFeature { name, levels, .. } in wanted.iter().filter(|known| known.kind == Kind::Categorical) {
        let member = |feature: &Feature| match prefix_and_level(&feature.name) {
            Some((prefix, level)) => {
                feature.kind == Kind::Binary && prefix == name && levels.iter().any(|known| known == level)
            }
            None => false,
        };
        let members: Vec<usize> = (0..features.len()).filter(|index| member(&features[*index])).collect();
        if members.len() == levels.len() && !members.is_empty() {
            groups.insert(name.clone(), members);
        }
    }
    fuse(features, groups, |_| true)
}

/// Fuses groups of binary features (name and members) whose codes are accepted; a name that is taken stays as it is.
fn fuse(features: Vec<Feature>, groups: BTreeMap<String, Vec<usize>>, accept: impl Fn(&[u32]) -> bool) -> Vec<Feature> {
    let mut fused: BTreeMap<usize, Feature> = BTreeMap::new();
    let mut dropped = vec![false; features.len()];
    for (name, members) in groups {
        if features.iter().any(|feature| feature.name == name) {
            continue;
        }
        let Some(codes) = one_hot_codes(&features, &members).filter(|codes| accept(codes)) else { continue };
        let levels = members.iter().filter_map(|k| prefix_and_level(&features[*k].name)).map(|(_, l)| l.to_owned());
        let values = Values::Categories { codes, levels: levels.collect() };
        members.iter().for_each(|member| dropped[*member] = true);
        let fused_feature = Feature::new(name, Kind::Categorical, values);
        fused.insert(members[0], fused_feature);
    }
    let keep = features.into_iter().enumerate();
    keep.filter_map(|(index, feature)| fused.remove(&index).or((!dropped[index]).then_some(feature))).collect()
}

/// The level of every node ([`MISSING`] where no member is 1), unless two members are 1 on one node.
fn one_hot_codes(features: &[Feature], members: &[usize]) -> Option<Vec<u32>> {
    let mut codes = vec![MISSING; features[members[0]].values.len()];
    for (code, member) in (0u32..).zip(members) {
        let Values::Sparse { rows, values, .. } = &features[*member].values else { return None };
        for (row, value) in rows.iter().zip(values) {
            let slot = &mut codes[*row as usize];
            if *value != 1.0 || *slot != MISSING {
                return None;
            }
            *slot = code;
        }
    }
    Some(codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(name: &str, values: &[f64]) -> Column {
        Column::new(name, Values::Numbers(values.to_vec()))
    }

    fn kinds(columns: Vec<Column>) -> Vec<(String, Kind)> {
        Feature::from_columns(columns, None).unwrap().into_iter().map(|f| (f.name, f.kind)).collect()
    }

    #[test]
    fn kinds_are_detected() {
        let found = kinds(vec![
            numbers("flag", &[0.0, 1.0, f64::NAN, 0.0]),
            numbers("age", &[31.0, 42.0, 53.0, 20.0]),
            numbers("count", &[0.0, 0.0, 0.0, 0.0, 3.0]),
        ]);
        let expected = [("flag", Kind::Binary), ("age", Kind::Continuous), ("count", Kind::Sparse)];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    }

    #[test]
    fn a_one_hot_code_becomes_one_categorical_feature() {
        let columns =
            vec![numbers("edu_basic", &[1.0, 0.0]), numbers("x", &[5.0, 6.0]), numbers("edu_high", &[0.0, 1.0])];
        let features = Feature::from_columns(columns, None).unwrap();
        assert_eq!(features[0].name, "edu");
        let levels = vec!["basic".to_owned(), "high".to_owned()];
        assert_eq!(features[0].values, Values::Categories { codes: vec![0, 1], levels });
        assert_eq!(features[1].name, "x");
    }

    #[test]
    fn words_that_share_a_prefix_but_occur_together_stay_apart() {
        let found = kinds(vec![numbers("word_1", &[1.0, 0.0]), numbers("word_2", &[1.0, 1.0])]);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_binary_declaration_that_is_wrong_is_refused() {
        let error = Feature::from_column(numbers("x", &[2.0, 1.0]).with_kind(Kind::Binary)).unwrap_err();
        assert!(error.to_string().contains("\"x\" is declared binary but holds 2"), "{error}");
    }
}
