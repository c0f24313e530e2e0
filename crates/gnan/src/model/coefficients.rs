//! Coefficients: which coefficient of a penalised fit is which effect.
//!
//! ```text
//! y_i = b0 + sum_l beta(l) R_i(l) + sum over features, levels (or knots) u and distances l of theta_u(l) Q_i[u, l]
//! ```
//!
//! The intercept comes first, then the structure curve of every lens, then for every feature and lens the curves over distance of
//! its levels or knots, and of its missing values. Far distances share a coefficient: shells are still those of exact distances.
//! Where effects are smooth over a number, its B-splines have curves in place of its knots, and `theta_u` is a sum of them.
//! All of it follows from the definition of a model, and is nowhere stored.

use std::ops::Range;

use super::definition::Definition;
use super::parameters::Rho;
use super::schema::FeatureSchema;
use crate::files::{Kind, Task};
use crate::lens::{DistanceAxis, Pool, Reach};

/// Finite distances from this one on share a coefficient.
pub(crate) const FAR: usize = 11;

/// A sum of coefficients of one output: which of them, and how much each counts.
pub type CoefficientSum = Vec<(usize, f64)>;

/// The coefficients of a curve over the distances of a lens.
#[derive(Clone, Debug, Default)]
pub(super) struct CurvePlaces {
    /// For every slot its place in the curve, where it has one.
    pub place_of_slot: Vec<Option<usize>>,
    /// The argument of rho and the place of every finite distance that has one, by argument.
    known: Vec<(f64, usize)>,
    /// The place of unreachable nodes.
    unreachable: Option<usize>,
    /// Number of places.
    pub size: usize,
    /// Number of finite distances among them; "unreachable" comes last.
    pub linked: usize,
}

impl CurvePlaces {
    /// The places of the slots of a lens that occur and are within reach.
    pub fn new(axis: &DistanceAxis, lens: usize, reach: Reach, receivers: &[f64]) -> CurvePlaces {
        let mut places = CurvePlaces { place_of_slot: vec![None; axis.slots()], ..CurvePlaces::default() };
        let mut far = None;
        for slot in axis.range(lens).filter(|slot| receivers[*slot] > 0.0 && reach.includes(axis.distance(*slot))) {
            let shared = axis.distance(slot).is_some_and(|distance| distance >= FAR);
            let place = match far.filter(|_| shared) {
                Some(place) => place,
                None => {
                    places.size += 1;
                    places.linked += usize::from(axis.distance(slot).is_some());
                    places.size - 1
                }
            };
            if shared {
                far = Some(place);
            }
            places.place_of_slot[slot] = Some(place);
            match axis.distance(slot) {
                Some(_) => places.known.push((axis.argument(slot), place)),
                None => places.unreachable = Some(place),
            }
        }
        places.known.sort_by(|a, b| a.0.total_cmp(&b.0));
        places
    }

    /// How much every place counts at an argument of rho: linear between distances that have a place, constant beyond the longest;
    /// unreachable nodes (0) have their own place, or none.
    pub fn at(&self, argument: f64) -> [(usize, f64); 2] {
        const NOTHING: (usize, f64) = (0, 0.0);
        let one = |place: usize| [(place, 1.0), NOTHING];
        if argument == 0.0 {
            return self.unreachable.map_or([NOTHING; 2], one);
        }
        let after = self.known.partition_point(|(known, _)| *known < argument);
        match (after.checked_sub(1).map(|before| self.known[before]), self.known.get(after).copied()) {
            (Some((from, low)), Some((to, high))) => {
                let share = (argument - from) / (to - from);
                [(low, 1.0 - share), (high, share)]
            }
            (None, Some((_, place))) | (Some((_, place)), None) => one(place),
            (None, None) => [NOTHING; 2],
        }
    }
}

/// What ties curves over distance to one another, besides what ties the distances of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveTies {
    /// Nothing.
    None,
    /// They are those of ascending numbers, and so alike where these are.
    Ascending,
    /// They are those of the cells of a pair, at one distance.
    Cells,
}

/// Curves over distance that are alike: those of the values of a feature, of its missing values, or of the structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurveGroup {
    /// The feature; `None`: the structure.
    pub feature: Option<usize>,
    /// The lens.
    pub lens: usize,
    /// The first coefficient.
    pub first: usize,
    /// Number of curves, one after the other.
    pub curves: usize,
    /// Number of coefficients of a curve.
    pub size: usize,
    /// How many of them are those of finite distances, which come first.
    pub linked: usize,
    /// What ties its curves to one another.
    pub ties: CurveTies,
}

impl CurveGroup {
    /// Its coefficients.
    pub fn coefficients(&self) -> Range<usize> {
        self.first..self.first + self.curves * self.size
    }
}

/// A rho by one lens.
#[derive(Clone, Debug)]
struct RhoCurves {
    /// The first coefficient of every curve that it is a sum of, and how much each counts; none: it has no effect by construction.
    curves: Vec<(usize, f64)>,
    /// The places of its distances.
    places: usize,
}

impl RhoCurves {
    /// A rho that is a curve of its own.
    fn one(first: usize, places: usize) -> RhoCurves {
        RhoCurves { curves: vec![(first, 1.0)], places }
    }
}

/// Which coefficient is which effect.
#[derive(Clone, Debug)]
pub struct CoefficientMap {
    /// Number of coefficients of one output, the intercept included.
    pub count: usize,
    /// The curves, in the order of the coefficients.
    pub groups: Vec<CurveGroup>,
    places: Vec<CurvePlaces>,
    /// By rho and lens; that of the structure first, then those of the values of every feature, as the layout of a model counts its
    /// rhos.
    rhos: Vec<Vec<RhoCurves>>,
}

impl CoefficientMap {
    /// The coefficients of a model of this definition. Every feature must have an effect of its own for every value.
    pub fn new(definition: &Definition) -> CoefficientMap {
        let (axis, receivers) = (definition.axis(), &definition.learned.receivers);
        let mut known: Vec<(usize, Reach)> = Vec::new();
        let mut places = Vec::new();
        let mut places_of = |lens: usize, reach: Reach| {
            known.iter().position(|other| *other == (lens, reach)).unwrap_or_else(|| {
                known.push((lens, reach));
                places.push(CurvePlaces::new(&axis, lens, reach, receivers));
                places.len() - 1
            })
        };
        let features = &definition.learned.features;
        // A node is at distance 0 of itself by every lens: one of them is enough for its own values. A value of a whole graph counts
        // once, however many nodes there are.
        let once = definition.learned.lenses.iter().position(|lens| lens.pool == Pool::Mean);
        let once = once.filter(|_| definition.learned.task == Task::Graph).unwrap_or(0);
        let reach = |feature: &FeatureSchema, lens: usize| {
            let own = if feature.is_of_item() { once } else { 0 };
            // Where features share a distance function, it is that of every lens.
            let by_one = definition.learned.rho == Rho::PerFeature && feature.reach == Some(Reach::OWN);
            match by_one && lens != own {
                true => Reach::NOTHING,
                false => feature.reach_within(definition.reach()),
            }
        };
        let lenses = axis.lenses();
        let of_structure: Vec<usize> = (0..lenses).map(|lens| places_of(lens, definition.reach())).collect();
        let of_features: Vec<Vec<usize>> = features
            .iter()
            .map(|feature| (0..lenses).map(|lens| places_of(lens, reach(feature, lens))).collect())
            .collect();
        let mut map = CoefficientMap { count: 1, groups: Vec::new(), places, rhos: Vec::new() };
        let structure = of_structure
            .iter()
            .enumerate()
            .map(|(lens, places)| RhoCurves::one(map.add(None, lens, *places, 1, CurveTies::None), *places));
        let by_lens = structure.collect();
        map.rhos.push(by_lens);
        for (k, (feature, by_lens)) in features.iter().zip(&of_features).enumerate() {
            map.add_feature(k, feature, by_lens);
        }
        map
    }

    /// Adds curves; the first coefficient of the first of them.
    fn add(&mut self, feature: Option<usize>, lens: usize, places: usize, curves: usize, ties: CurveTies) -> usize {
        let CurvePlaces { size, linked, .. } = self.places[places];
        let first = self.count;
        if size * curves > 0 {
            self.groups.push(CurveGroup { feature, lens, first, curves, size, linked, ties });
        }
        self.count += size * curves;
        first
    }

    fn add_feature(&mut self, k: usize, feature: &FeatureSchema, by_lens: &[usize]) {
        let known = feature.known_values();
        // The 0 of a sparse feature has no effect.
        let zero = match (&feature.effect_knots, feature.kind) {
            (Some(knots), Kind::Sparse) => knots.at.iter().position(|knot| *knot == 0.0),
            _ => None,
        };
        let curves = feature.known_curves() - usize::from(zero.is_some());
        let ties = match (&feature.pair, feature.kind) {
            (Some(_), _) => CurveTies::Cells,
            (None, Kind::Continuous) if curves > 2 => CurveTies::Ascending,
            _ => CurveTies::None,
        };
        let mut rhos = vec![Vec::new(); feature.value_count()];
        for (lens, places) in by_lens.iter().enumerate() {
            let size = self.places[*places].size;
            let first = self.add(Some(k), lens, *places, curves, ties);
            for (value, rho) in rhos.iter_mut().enumerate().take(known) {
                let others = feature.curves_of(value).into_iter().filter(|(curve, _)| Some(*curve) != zero);
                let before = |curve: usize| curve - usize::from(zero.is_some_and(|zero| zero < curve));
                let curves = others.map(|(curve, share)| (first + before(curve) * size, share)).collect();
                rho.push(RhoCurves { curves, places: *places });
            }
            if feature.missing.is_some() {
                let first = self.add(Some(k), lens, *places, 1, CurveTies::None);
                rhos[known].push(RhoCurves::one(first, *places));
            }
        }
        self.rhos.extend(rhos);
    }

    /// A rho in a slot of training by a lens, as a sum of coefficients; empty where it has none.
    pub fn coefficients(&self, rho: usize, lens: usize, slot: usize) -> CoefficientSum {
        let RhoCurves { curves, places } = &self.rhos[rho][lens];
        let Some(place) = self.places[*places].place_of_slot[slot] else { return Vec::new() };
        curves.iter().map(|(first, share)| (first + place, *share)).collect()
    }

    /// The coefficients of the curve that a rho is by a lens, distance after distance; `None`: it has no effect by construction, or is
    /// a sum of several curves.
    pub fn curve(&self, rho: usize, lens: usize) -> Option<Range<usize>> {
        let RhoCurves { curves, places } = &self.rhos[rho][lens];
        match curves[..] {
            [(first, _)] => Some(first..first + self.places[*places].size),
            _ => None,
        }
    }

    /// Number of curves over distance: that of the structure, then one for every value of every feature.
    pub fn curves(&self) -> usize {
        self.rhos.len()
    }

    /// The coefficients of the [curve](Self::curve) that a rho is, each with a slot of training that it stands for.
    pub(super) fn curve_slots(&self, rho: usize, lens: usize) -> Vec<(usize, usize)> {
        let Some(own) = self.curve(rho, lens) else { return Vec::new() };
        let places = &self.places[self.rhos[rho][lens].places].place_of_slot;
        let slot = |place: usize| places.iter().position(|own| *own == Some(place));
        own.enumerate().filter_map(|(place, coefficient)| Some((coefficient, slot(place)?))).collect()
    }

    /// A rho at an argument by a lens, as a sum of coefficients.
    pub fn rho_at(&self, rho: usize, lens: usize, argument: f64) -> CoefficientSum {
        let RhoCurves { curves, places } = &self.rhos[rho][lens];
        let places = self.places[*places].at(argument).into_iter().filter(|(_, share)| *share != 0.0);
        places.flat_map(|(place, by)| curves.iter().map(move |(first, share)| (first + place, by * share))).collect()
    }

    /// The coefficients of a feature, or of the structure: they follow one another.
    pub fn coefficients_of(&self, feature: Option<usize>) -> Range<usize> {
        let mut own = self.groups.iter().filter(|group| group.feature == feature).map(CurveGroup::coefficients);
        match own.next() {
            None => 0..0,
            Some(first) => first.start..own.next_back().map_or(first.end, |last| last.end),
        }
    }
}
