//! Products: the coefficients of a penalised fit whose values share distance functions.
//!
//! Every effect is a free value times a distance function in a slot, `theta_u(l) = a_u r(l)`, and so is the structure with a shared
//! function, whose value is the bias. The parameters of an output are its intercept, then the bias and the values of all features, then
//! the points of every distance function by every lens. All of it follows from the definition of a model, and is nowhere stored.

use super::Model;
use super::coefficients::{CoefficientMap, CoefficientSum, CurvePlaces};
use super::definition::Definition;
use super::parameters::{Parameters, Rho};
use crate::files::Kind;
use crate::lens::Reach;

/// The points of a distance function by a lens.
#[derive(Clone, Debug)]
pub struct SharedCurve {
    /// The distance function, counted within a lens, and the lens.
    pub function: usize,
    pub lens: usize,
    /// The parameters of its points, finite distances first.
    pub points: Vec<usize>,
    /// How many of them are those of finite distances.
    pub linked: usize,
    places: CurvePlaces,
    /// The parameter of every place that counts.
    of_place: Vec<Option<usize>>,
    /// A slot of training that every point stands for.
    slots: Vec<usize>,
}

impl SharedCurve {
    /// The distance function at an argument, as a sum of points.
    pub fn at(&self, argument: f64) -> CoefficientSum {
        let places = self.places.at(argument).into_iter().filter(|(_, share)| *share != 0.0);
        places.filter_map(|(place, share)| Some((self.of_place[place]?, share))).collect()
    }
}

/// The parameters of the values of a feature.
#[derive(Clone, Copy, Debug)]
pub struct FeatureValues {
    /// The first of them.
    pub first: usize,
    /// Number of known values; that of missing ones follows, where there is one.
    pub known: usize,
    pub missing: bool,
    /// Whether the known values are those of ascending numbers.
    pub ascending: bool,
}

/// Which coefficient is the product of which parameters.
#[derive(Clone, Debug)]
pub struct ProductMap {
    /// Number of parameters of an output.
    pub count: usize,
    /// The value and the point of every coefficient but the intercept.
    pub products: Vec<(usize, usize)>,
    /// The parameter of the bias, then that of every free value of the layout; `None`: it has no effect.
    pub values: Vec<Option<usize>>,
    pub features: Vec<FeatureValues>,
    pub curves: Vec<SharedCurve>,
}

impl ProductMap {
    /// The parameter of the bias.
    pub const BIAS: usize = 1;

    /// The parameters of a model of this definition; `None` where every value has a distance function of its own.
    pub fn new(definition: &Definition, map: &CoefficientMap) -> Option<ProductMap> {
        if definition.learned.rho == Rho::PerFeature {
            return None;
        }
        let (axis, layout) = (definition.axis(), definition.layout());
        let mut values = vec![Some(Self::BIAS)];
        let mut functions = vec![layout.rhos[0].function];
        let mut features = Vec::new();
        let mut count = Self::BIAS + 1;
        for (schema, place) in definition.learned.features.iter().zip(&layout.features) {
            let zero = match (&schema.effect_knots, schema.kind) {
                (Some(knots), Kind::Sparse) => knots.at.iter().position(|knot| *knot == 0.0),
                _ => None,
            };
            let first = count;
            for value in 0..schema.value_count() {
                values.push((zero != Some(value)).then_some(count));
                functions.push(layout.rhos[place.first_rho].function);
                count += usize::from(zero != Some(value));
            }
            let known = schema.known_values() - usize::from(zero.is_some());
            let ascending = matches!(schema.kind, Kind::Continuous | Kind::Sparse);
            features.push(FeatureValues { first, known, missing: schema.missing.is_some(), ascending });
        }
        let mut curves: Vec<SharedCurve> = (0..layout.functions)
            .flat_map(|function| (0..layout.lenses).map(move |lens| (function, lens)))
            .map(|(function, lens)| {
                let places = CurvePlaces::new(&axis, lens, Reach::ALL, &definition.learned.receivers);
                let of_place = vec![None; places.size];
                SharedCurve { function, lens, points: Vec::new(), linked: 0, places, of_place, slots: Vec::new() }
            })
            .collect();
        // Value, distance function, lens and slot of every coefficient; only points that something is multiplied by are parameters.
        let mut found = vec![None; map.count.saturating_sub(1)];
        for (curve, (value, function)) in values.iter().zip(&functions).enumerate() {
            let Some(value) = value else { continue };
            for lens in 0..layout.lenses {
                let shared = &mut curves[function * layout.lenses + lens];
                for (coefficient, slot) in map.curve_slots(curve, lens) {
                    let place = shared.places.place_of_slot[slot]?;
                    shared.of_place[place] = Some(0);
                    found[coefficient.checked_sub(1)?] = Some((*value, function * layout.lenses + lens, place));
                }
            }
        }
        for curve in &mut curves {
            for place in (0..curve.places.size).filter(|place| curve.of_place[*place].is_some()).collect::<Vec<usize>>()
            {
                curve.of_place[place] = Some(count);
                curve.points.push(count);
                curve.slots.extend(curve.places.place_of_slot.iter().position(|own| *own == Some(place)));
                curve.linked += usize::from(place < curve.places.linked);
                count += 1;
            }
        }
        curves.retain(|curve| !curve.points.is_empty());
        let all = |function: usize, lens: usize| {
            curves.iter().find(move |curve| (curve.function, curve.lens) == (function, lens))
        };
        let product = |found: &Option<(usize, usize, usize)>| {
            let (value, curve, place) = (*found)?;
            Some((value, all(curve / layout.lenses, curve % layout.lenses)?.of_place[place]?))
        };
        let products = found.iter().map(product).collect::<Option<Vec<_>>>()?;
        Some(ProductMap { count, products, values, features, curves })
    }

    /// Sets of points that are known up to one factor: those of a distance function by all lenses, but for that of a bias which is 1.
    pub fn scaled_curves(&self, rho: Rho) -> Vec<Vec<usize>> {
        let functions = self.curves.iter().map(|curve| curve.function + 1).max().unwrap_or(0);
        let of_function = |function: usize| {
            let own = self.curves.iter().filter(move |curve| curve.function == function);
            own.flat_map(|curve| curve.points.iter().copied()).collect::<Vec<usize>>()
        };
        (rho.of_bias_alone()..functions).map(of_function).filter(|points| !points.is_empty()).collect()
    }

    /// The parameters of an output of a model.
    fn parameters_of(&self, definition: &Definition, parameters: &Parameters, output: usize) -> Vec<f64> {
        let (outputs, axis, layout) = (definition.learned.outputs, definition.axis(), definition.layout());
        let mut found = vec![0.0; self.count];
        found[0] = f64::from(parameters.output_bias[output]);
        found[Self::BIAS] = f64::from(parameters.bias[output]);
        for (value, place) in self.values[1..].iter().enumerate() {
            if let Some(place) = place {
                found[*place] = f64::from(parameters.values[value * outputs + output]);
            }
        }
        for curve in &self.curves {
            let function = curve.lens * layout.functions + curve.function;
            for (point, slot) in curve.points.iter().zip(&curve.slots) {
                let argument = definition.learned.rho_scale.apply(axis.argument(*slot));
                found[*point] = parameters.rhos.evaluate(function, argument)[output];
            }
        }
        found
    }

    /// How the coefficients of some outputs of a model change with their parameters.
    pub fn slopes(
        &self,
        definition: &Definition,
        parameters: &Parameters,
        outputs: std::ops::Range<usize>,
    ) -> ProductSlopes {
        let output = |output: usize| {
            let own = self.parameters_of(definition, parameters, output);
            let slopes = self.products.iter().map(|(value, point)| [(*value, own[*point]), (*point, own[*value])]);
            slopes.collect::<Vec<_>>()
        };
        ProductSlopes { parameters: self.count, slopes: outputs.map(output).collect() }
    }
}

/// How coefficients that are products change with what they are products of.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductSlopes {
    /// Number of parameters of an output.
    pub parameters: usize,
    /// `[outputs][coefficients but the intercept]`: two parameters, and the slope by each.
    slopes: Vec<Vec<[(usize, f64); 2]>>,
}

impl ProductSlopes {
    /// The slopes of a sum of coefficients of an output by the parameters.
    pub fn of_sum(&self, output: usize, sum: &[(usize, f64)]) -> CoefficientSum {
        let mut found = vec![0.0; self.parameters];
        for (coefficient, share) in sum {
            match coefficient.checked_sub(1) {
                None => found[0] += share,
                Some(place) => {
                    let slopes = self.slopes[output][place].iter();
                    slopes.for_each(|(parameter, slope)| found[*parameter] += share * slope);
                }
            }
        }
        found.into_iter().enumerate().filter(|(_, share)| *share != 0.0).collect()
    }

    /// The changes of the coefficients of an output with those of its parameters.
    pub fn changes(&self, output: usize, parameters: &[f64]) -> Vec<f64> {
        let change = |slopes: &[(usize, f64); 2]| slopes.iter().map(|(place, slope)| slope * parameters[*place]).sum();
        std::iter::once(parameters[0]).chain(self.slopes[output].iter().map(change)).collect()
    }
}

impl Model {
    /// How the coefficients of the model change with its values and distance functions, for every part of its outputs; `None` where
    /// every value has a distance function of its own.
    pub(crate) fn product_slopes(
        definition: &Definition,
        parameters: &Parameters,
        outputs: &[usize],
    ) -> Option<Vec<ProductSlopes>> {
        let map = ProductMap::new(definition, &CoefficientMap::new(definition))?;
        let mut first = 0;
        let part = |outputs: &usize| {
            let own = first..first + outputs;
            first = own.end;
            map.slopes(definition, parameters, own)
        };
        Some(outputs.iter().map(part).collect())
    }
}
