//! Curves: a canonical form as numbers at fixed points, which is how replicates of a model are compared.

use serde::{Deserialize, Serialize};

use crate::dataset::{Dataset, Feature};
use crate::error::Result;
use crate::files::{Kind, Values};
use crate::model::{Definition, FeatureSchema, Model};

use super::canonical::{Canonical, CanonicalLevel, FeatureValue};

/// A numeric feature with more distinct values than this is looked at at as many quantiles.
const MOST_NUMBERS: usize = 64;

/// A value of a feature at which its shape function is looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Point {
    /// A number of a numeric feature.
    Number(f64),
    /// A level of a categorical feature, by name.
    Level(String),
    /// A missing value.
    Missing,
}

/// Where every shape function of a model is looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// For every feature, in the model's order. The reference of a binary feature, whose value is 0, is left out.
    pub features: Vec<Vec<Point>>,
}

/// The numbers of a model at some [`Points`]: factors whose products are its effect table, rho divided by its largest value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// `[rhos][slots][outputs]`
    pub rho: Vec<Vec<Vec<f64>>>,
    /// `[features][points][outputs]`
    pub shapes: Vec<Vec<Vec<f64>>>,
    /// The structure curve, `[slots][outputs]`.
    pub structure: Vec<Vec<f64>>,
    /// `b0`, per output.
    pub base: Vec<f64>,
}

impl Point {
    /// The value, as the canonical form takes it.
    pub fn value(&self) -> FeatureValue<'_> {
        match self {
            Point::Number(x) => FeatureValue::Number(*x),
            Point::Level(name) => FeatureValue::Level(name),
            Point::Missing => FeatureValue::Missing,
        }
    }

    /// The value in words.
    pub fn name(&self) -> String {
        match self {
            Point::Number(x) => x.to_string(),
            Point::Level(name) => name.clone(),
            Point::Missing => "missing".to_owned(),
        }
    }
}

impl CanonicalLevel {
    /// The value that this level of a feature of such a kind stands for.
    pub fn point(&self, kind: Kind) -> Point {
        match kind {
            _ if self.missing => Point::Missing,
            Kind::Categorical => Point::Level(self.name.clone()),
            _ => Point::Number(1.0),
        }
    }
}

impl Points {
    /// The levels of categorical features, the 1 of binary ones, and for continuous and sparse ones the distinct values
    /// of the nodes of `data`, or quantiles of them.
    pub fn of(model: &Model, data: &Dataset) -> Result<Points> {
        let features = model.features_of(data)?;
        let schemas = &model.definition().learned.features;
        Ok(Points {
            features: schemas.iter().zip(features.iter()).map(|(schema, found)| points_of(schema, found)).collect(),
        })
    }
}

impl Points {
    /// The same of a penalised model, without data: the knots of numbers, what lies halfway between them, and the deciles.
    pub(crate) fn of_knots(definition: &Definition) -> Points {
        let points = |schema: &FeatureSchema| -> Vec<Point> {
            let mut numbers: Vec<f64> = schema.effect_knots.iter().flat_map(|knots| knots.at.clone()).collect();
            if schema.kind != Kind::Binary {
                let between: Vec<f64> = numbers.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
                numbers.extend(between.iter().chain(&schema.deciles));
            }
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            let levels = schema.levels.iter().map(|level| Point::Level(level.name.clone()));
            let missing = schema.missing.map(|_| Point::Missing);
            levels.chain(numbers.into_iter().map(Point::Number)).chain(missing).collect()
        };
        Points { features: definition.learned.features.iter().map(points).collect() }
    }
}

fn points_of(schema: &FeatureSchema, found: &Feature) -> Vec<Point> {
    let mut points: Vec<Point> = match (schema.kind, &found.values) {
        (Kind::Binary, _) => vec![Point::Number(1.0)],
        (_, Values::Numbers(values)) => quantiles(values, None),
        (_, Values::Sparse { values, .. }) => quantiles(values, Some(0.0)),
        (_, Values::Categories { .. }) => schema.levels.iter().map(|level| Point::Level(level.name.clone())).collect(),
    };
    points.extend(schema.missing.map(|_| Point::Missing));
    points
}

fn quantiles(values: &[f64], also: Option<f64>) -> Vec<Point> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let mut distinct = sorted.clone();
    distinct.dedup();
    if distinct.len() > MOST_NUMBERS {
        let last = (sorted.len() - 1) as f64;
        let at = |step: usize| sorted[(last * step as f64 / (MOST_NUMBERS - 1) as f64).round() as usize];
        distinct = (0..MOST_NUMBERS).map(at).collect();
    }
    distinct.extend(also);
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    distinct.into_iter().map(Point::Number).collect()
}

impl Canonical {
    /// The canonical numbers at `points`.
    pub fn curves(&self, points: &Points) -> Curves {
        // A value that training had not seen contributes 0.
        let nothing = vec![0.0; self.outputs()];
        let shape =
            |k: usize, point: &Point| self.shape_times_largest(k, point.value()).unwrap_or_else(|| nothing.clone());
        Curves {
            rho: self.rhos_over_largest(),
            shapes: (points.features.iter().enumerate())
                .map(|(k, points)| points.iter().map(|point| shape(k, point)).collect())
                .collect(),
            structure: self.structure().to_vec(),
            base: self.output_bias().to_vec(),
        }
    }

    /// Which rho weighs the shape function of a feature at a point.
    pub fn rho_at(&self, k: usize, point: &Point) -> usize {
        let feature = &self.definition().learned.features[k];
        let level = match point {
            Point::Level(name) => feature.levels.iter().position(|level| level.name == *name).unwrap_or(0),
            Point::Missing => feature.known_values(),
            Point::Number(_) => 0,
        };
        self.rho_of(k, level)
    }
}

impl Curves {
    /// Scales every rho, and the shape functions it weighs, so that rho lies as near to that of `point` as it can: the factor `a`
    /// minimises the squared difference weighted by `receivers`. `rho_of` is, for every feature and point, the
    /// rho that weighs it.
    pub fn align(&mut self, point: &Curves, receivers: &[f64], rho_of: &[Vec<usize>]) {
        let outputs = self.base.len();
        for r in 0..self.rho.len() {
            for c in 0..outputs {
                let (mut both, mut own) = (0.0, 0.0);
                for ((weight, mine), theirs) in receivers.iter().zip(&self.rho[r]).zip(&point.rho[r]) {
                    both += weight * mine[c] * theirs[c];
                    own += weight * mine[c] * mine[c];
                }
                // A rho that has nothing in common with the other has no better scale than its own.
                let a = both / own;
                if !(a.is_finite() && a != 0.0) {
                    continue;
                }
                self.rho[r].iter_mut().for_each(|values| values[c] *= a);
                for (shape, rhos) in self.shapes.iter_mut().zip(rho_of) {
                    let own = shape.iter_mut().zip(rhos).filter(|(_, rho)| **rho == r);
                    own.for_each(|(values, _)| values[c] /= a);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignment_undoes_scale_and_sign() {
        let point = Curves {
            rho: vec![vec![vec![1.0], vec![0.5], vec![-0.2]]],
            shapes: vec![vec![vec![2.0], vec![-1.0]]],
            structure: vec![vec![0.0]; 3],
            base: vec![0.0],
        };
        let mut other = point.clone();
        other.rho[0].iter_mut().for_each(|values| values[0] *= -4.0);
        other.shapes[0].iter_mut().for_each(|values| values[0] /= -4.0);
        other.align(&point, &[10.0, 8.0, 1.0], &[vec![0, 0]]);
        assert_eq!(other, point);
    }

    #[test]
    fn many_numbers_become_quantiles() {
        let values: Vec<f64> = (0..1000).map(f64::from).chain([f64::NAN]).collect();
        let points = quantiles(&values, None);
        assert_eq!((points.len(), &points[0], &points[63]), (64, &Point::Number(0.0), &Point::Number(999.0)));
        assert_eq!(quantiles(&[3.0, 3.0, -1.0], Some(0.0)).len(), 3);
    }
}
