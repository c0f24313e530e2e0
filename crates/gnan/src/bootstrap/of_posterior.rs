//! Intervals of a penalised fit, from the posterior of its coefficients: no model is trained again.
//!
//! Everything that is shown but importances and the influence by distance is linear in the coefficients, and so has an exact
//! standard deviation; those two have one by the delta method. Pointwise bands are 1.96 standard deviations wide to either side: 95 % of
//! them hold, taken one by one. Simultaneous bands hold, with 95 %, for all values and distances of a feature (or all distances of
//! the structure curve) at once: their width comes from draws of the posterior with a fixed seed, or where covariances are not
//! kept from Bonferroni's bound.

use rayon::prelude::*;

use crate::confidence::quantile;
use crate::error::{Error, Result};
use crate::explain::{Canonical, EffectSums, Point, Points};
use crate::likelihood::chi_squared_tail;
use crate::model::{CoefficientSum, FitSummary, Model, TermSummary};
use crate::remedy::{Remedy, Step};

use super::bands::Band;
use super::intervals::{BandKind, ImportanceBands, Intervals};
use super::verdict;

/// Share of cases in which a band does not hold.
const OUTSIDE: f64 = 0.05;
/// Draws of the posterior for simultaneous bands.
const DRAWS: u64 = 2000;

impl Intervals {
    /// The bands around the numbers of a model that was fitted by penalised likelihood, from its posterior.
    pub fn of_posterior(model: &Model, simultaneous: bool) -> Result<Intervals> {
        let canonical = model.canonical();
        let Some(sums) = EffectSums::new(&canonical) else {
            return Err(Error::input("the model does not know how sure it is of its effects")
                .with_remedy(Remedy::Run(Step::Bootstrap { restart: false })));
        };
        let points = Points::of_knots(model.definition());
        let (slots, features) = (canonical.slots(), points.features.len());
        let widths = match simultaneous {
            true => Widths::simultaneous(&canonical, &sums, &points),
            false => Widths::pointwise(features, model.definition().shown_names().len()),
        };
        let product = |k: usize| -> Vec<Vec<Vec<Band>>> {
            let cell = |point: &Point, slot: usize| {
                let sd = sums.effect_sd(&canonical, k, point.value(), slot);
                bands(&canonical.effect(k, point.value(), slot), &sd, &widths.features[k])
            };
            points.features[k].iter().map(|point| (0..slots).map(|slot| cell(point, slot)).collect()).collect()
        };
        let products: Vec<Vec<Vec<Vec<Band>>>> = (0..features).into_par_iter().map(product).collect();
        let shapes = products.iter().enumerate().map(|(k, points)| {
            let anchor = canonical.anchor(k);
            points.iter().map(|slots| slots[anchor].clone()).collect()
        });
        let structure = (0..slots).map(|slot| {
            let shown = model.definition().shown(&canonical.structure()[slot]);
            bands(&shown, &sums.structure_sd(&canonical, slot), &widths.structure)
        });
        let rhos = canonical.rhos();
        let rho = rhos.iter().enumerate().map(|(r, rho)| {
            let width = vec![normal_width(OUTSIDE); canonical.outputs()];
            (0..slots).map(|slot| bands(&rho.values[slot], &sums.rho_sd(&canonical, r, slot), &width)).collect()
        });
        let mut intervals = Intervals {
            kind: if simultaneous { BandKind::Simultaneous } else { BandKind::Pointwise },
            resamples: 0,
            rho: rho.collect(),
            shapes: shapes.collect(),
            structure: structure.collect(),
            importance: model.record().summary.as_ref().map(importance_bands).unwrap_or_default(),
            too_few: points.features.iter().map(|points| vec![false; points.len()]).collect(),
            points,
            products,
            rho_verdicts: Vec::new(),
            shape_verdicts: Vec::new(),
        };
        intervals.rho_verdicts = verdict::on_rhos(&canonical, &intervals);
        intervals.shape_verdicts = verdict::on_shapes(&canonical, &intervals);
        Ok(intervals)
    }
}

/// Estimates and so many standard deviations to either side.
fn bands(estimates: &[f64], sd: &[f64], widths: &[f64]) -> Vec<Band> {
    let band = |((estimate, sd), width): ((&f64, &f64), &f64)| Band {
        low: estimate - width * sd,
        high: estimate + width * sd,
    };
    estimates.iter().zip(sd).zip(widths).map(band).collect()
}

/// Bands of importances, pointwise; a mean size is never below 0.
fn importance_bands(summary: &FitSummary) -> ImportanceBands {
    let width = normal_width(OUTSIDE);
    let row = |values: &[f64], sd: &[f64]| -> Vec<Band> {
        let all = bands(values, sd, &vec![width; values.len()]);
        all.into_iter().map(|band| Band { low: band.low.max(0.0), ..band }).collect()
    };
    let term = |term: &TermSummary| row(&term.importance, &term.importance_sd);
    let (structure, features) = summary.terms.split_last().expect("the structure comes last");
    ImportanceBands {
        by_feature: features.iter().map(term).collect(),
        by_distance: summary
            .by_distance
            .iter()
            .zip(&summary.by_distance_sd)
            .map(|(values, sd)| row(values, sd))
            .collect(),
        structure: term(structure),
    }
}

/// How many standard deviations bands are wide to either side, per shown output.
struct Widths {
    features: Vec<Vec<f64>>,
    structure: Vec<f64>,
}

impl Widths {
    fn pointwise(features: usize, outputs: usize) -> Widths {
        let width = vec![normal_width(OUTSIDE); outputs];
        Widths { features: vec![width.clone(); features], structure: width }
    }

    fn simultaneous(canonical: &Canonical, sums: &EffectSums, points: &Points) -> Widths {
        let seen: Vec<usize> = (0..canonical.slots()).filter(|slot| canonical.seen(*slot)).collect();
        let feature = |(k, points): (usize, &Vec<Point>)| -> Vec<CoefficientSum> {
            let cells = points.iter().flat_map(|point| seen.iter().map(move |slot| (point, *slot)));
            cells.map(|(point, slot)| sums.effect(canonical, k, point.value(), slot)).collect()
        };
        let mut curves: Vec<Vec<CoefficientSum>> = points.features.iter().enumerate().map(feature).collect();
        curves.push(seen.iter().map(|slot| sums.structure(*slot).clone()).collect());
        let mut widths: Vec<Vec<f64>> = match sums.posterior().has_covariances() {
            true => drawn_widths(canonical, sums, &curves),
            false => {
                let outputs = canonical.definition().shown_names().len();
                let bound =
                    |curve: &Vec<CoefficientSum>| vec![normal_width(OUTSIDE / curve.len().max(1) as f64); outputs];
                curves.iter().map(bound).collect()
            }
        };
        let structure = widths.pop().unwrap_or_default();
        Widths { features: widths, structure }
    }
}

/// The 95 % quantile, over draws of the posterior, of the largest deviation within each curve, in standard deviations.
fn drawn_widths(canonical: &Canonical, sums: &EffectSums, curves: &[Vec<CoefficientSum>]) -> Vec<Vec<f64>> {
    let (posterior, definition) = (sums.posterior(), canonical.definition());
    let sds: Vec<Vec<Vec<f64>>> = curves
        .par_iter()
        .map(|curve| curve.iter().map(|sum| posterior.sd(sum).unwrap_or_default()).collect())
        .collect();
    let outputs = definition.shown_names().len();
    let largest = |number: u64| -> Vec<f64> {
        let drawn = posterior.draw(number).unwrap_or_default();
        let mut largest = vec![0.0f64; curves.len() * outputs];
        for (curve, (own, sds)) in curves.iter().zip(&sds).enumerate() {
            for (sum, sd) in own.iter().zip(sds) {
                let value = |row: &Vec<f64>| sum.iter().map(|(at, share)| share * row[*at]).sum::<f64>();
                let values: Vec<f64> = drawn.iter().map(value).collect();
                for (c, shown) in definition.shown(&values).into_iter().enumerate() {
                    if sd[c] > 0.0 {
                        let most = &mut largest[curve * outputs + c];
                        *most = most.max(shown.abs() / sd[c]);
                    }
                }
            }
        }
        largest
    };
    let draws: Vec<Vec<f64>> = (0..DRAWS).into_par_iter().map(largest).collect();
    let width = |place: usize| {
        let mut all: Vec<f64> = draws.iter().map(|draw| draw[place]).collect();
        all.sort_by(f64::total_cmp);
        // Never narrower than a pointwise band.
        quantile(&all, 1.0 - OUTSIDE).max(normal_width(OUTSIDE))
    };
    (0..curves.len()).map(|curve| (0..outputs).map(|c| width(curve * outputs + c)).collect()).collect()
}

/// How many standard deviations to either side of its mean leave out this share of a normal number.
pub(crate) fn normal_width(outside: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        // The square of a standard normal number is chi-squared with one degree of freedom.
        match chi_squared_tail(middle * middle, 1.0) > outside {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use crate::dataset::Dataset;
    use crate::spec::FitMethod;

    /// The usual critical values of the normal distribution.
    #[test]
    fn widths_are_those_of_the_tables() {
        assert!((normal_width(0.05) - 1.959_963_984_540_054).abs() < 1e-9);
        assert!((normal_width(0.01) - 2.575_829_303_548_901).abs() < 1e-9);
    }

    /// Effects of levels and knots keep their bands where covariances are not kept; between knots they are never narrower, and
    /// predictions have none.
    #[test]
    fn of_many_coefficients_effects_keep_their_bands() {
        let data = Dataset::open("solubility").unwrap();
        let data = data.subset(&(0..data.len()).step_by(8).collect::<Vec<_>>());
        let whole = Spec::default().method(FitMethod::Penalised).fit(&data).unwrap();
        let kept = whole.clone().without_covariances();
        let kept = Model::from_bytes(&kept.to_bytes().unwrap()).unwrap();
        assert!(whole.has_prediction_bands() && !kept.has_prediction_bands() && kept.has_posterior());
        assert!(kept.predict(&data).unwrap().items.iter().all(|item| item.bands.is_empty()));
        assert!(kept.explain(&data, 0).unwrap().sds.is_none());
        let [exact, found] = [&whole, &kept].map(|model| Intervals::of_posterior(model, false).unwrap());
        let (mut same, mut all) = (0, 0);
        for (exact, found) in exact.products.iter().flatten().zip(found.products.iter().flatten()) {
            for (exact, found) in exact.iter().flatten().zip(found.iter().flatten()) {
                let (exact, found) = (exact.high - exact.low, found.high - found.low);
                assert!(found >= exact * (1.0 - 1e-9) - 1e-12, "{found} {exact}");
                same += usize::from(found - exact < 1e-9);
                all += 1;
            }
        }
        assert!(same * 2 > all, "{same} of {all}");
        for (exact, found) in exact.structure.concat().iter().zip(found.structure.concat()) {
            assert!((exact.low - found.low).abs() < 1e-9 && (exact.high - found.high).abs() < 1e-9);
        }
        let wide = Intervals::of_posterior(&kept, true).unwrap();
        let cells = |intervals: &Intervals| intervals.products.concat().concat().concat();
        assert!(cells(&found).iter().zip(cells(&wide)).all(|(narrow, wide)| wide.high >= narrow.high));
    }
}
