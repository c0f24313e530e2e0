//! Intervals: a 95 % band around every number that is shown, from the same number of every replicate.
//!
//! Effects, the structure curve and importances are compared as they are, in the outputs as they are shown. Only the
//! influence by distance is a ratio: for it replicates are aligned to the point estimate (the factor of every rho that
//! minimises the squared difference weighted by receiver counts).

use rayon::prelude::*;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::explain::{Canonical, Curves, Points};
use crate::model::Model;
use crate::remedy::{Remedy, Step};

use super::bands::Band;
use super::replicates::{ReplicateLayout, ReplicatePart, Replicates};
use super::verdict;

/// A level that more than this share of the resamples lacks has too few graphs behind it for a verdict.
const MOST_ABSENT: f64 = 0.05;

/// Where bands come from, and what they hold for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BandKind {
    /// From replicates of a bootstrap, number by number.
    #[default]
    Bootstrap,
    /// From the posterior of a penalised fit, number by number.
    Pointwise,
    /// From the posterior of a penalised fit, for all values and distances of a feature at once.
    Simultaneous,
}

/// 95 % bands around the numbers of a model, and what follows from them in words.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use std::ops::ControlFlow;
/// use gnan::{Bootstrap, Intervals};
/// let bootstrap = Bootstrap { resamples: 4, ..Bootstrap::default() };
/// let replicates = bootstrap.run(&model, &train, None, &|_| ControlFlow::Continue(()))?;
/// let intervals = Intervals::new(&model, &replicates)?;
/// println!("{}", intervals.rho_verdicts[0][0]);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Intervals {
    /// Where they come from.
    pub kind: BandKind,
    /// Number of replicates behind them; 0 where they come from a posterior.
    pub resamples: usize,
    /// Where every shape function was looked at.
    pub points: Points,
    /// The influence by distance, `[rhos][slots][outputs]`.
    pub rho: Vec<Vec<Vec<Band>>>,
    /// Effects at the anchor of every feature, `[features][points][shown outputs]`.
    pub shapes: Vec<Vec<Vec<Band>>>,
    /// Effects, `[features][points][slots][shown outputs]`.
    pub products: Vec<Vec<Vec<Vec<Band>>>>,
    /// The structure curve, `[slots][shown outputs]`.
    pub structure: Vec<Vec<Band>>,
    /// Importances.
    pub importance: ImportanceBands,
    /// `[features][points]`: levels that so many resamples lack that there is no verdict on them.
    pub too_few: Vec<Vec<bool>>,
    /// A verdict on every rho, `[rhos][outputs]`.
    pub rho_verdicts: Vec<Vec<String>>,
    /// A verdict on every shape function, `[features][shown outputs]`.
    pub shape_verdicts: Vec<Vec<String>>,
}

/// Bands around importances, for the outputs as they are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportanceBands {
    /// `[features][shown outputs]`
    pub by_feature: Vec<Vec<Band>>,
    /// `[slots][shown outputs]`
    pub by_distance: Vec<Vec<Band>>,
    /// Of the structure term.
    pub structure: Vec<Band>,
}

impl Intervals {
    /// The bands around the numbers of `model` from its replicates.
    pub fn new(model: &Model, replicates: &Replicates) -> Result<Intervals> {
        if replicates.len() < 2 {
            return Err(Error::input("there are not enough replicates for an interval")
                .with_remedy(Remedy::Run(Step::Bootstrap { restart: false })));
        }
        let canonical = model.canonical();
        let points = &replicates.header().points;
        let (shape, shown) = (&replicates.shape, replicates.shape.shown);
        let present = Presence::new(replicates);
        let aligned = aligned(&canonical, replicates);
        let outputs = shape.outputs;
        let rho = (0..shape.rhos).map(|r| {
            let at = |slot: usize, c: usize| Band::of(&mut all(&aligned, |curves| curves.rho[r][slot][c]));
            (0..shape.slots).map(|slot| (0..outputs).map(|c| at(slot, c)).collect()).collect()
        });
        let products = product_bands(&canonical, points, shape, &aligned, &present);
        let shapes = products.iter().enumerate().map(|(k, points)| {
            let anchor = canonical.anchor(k);
            points.iter().map(|slots| slots[anchor].clone()).collect()
        });
        let shapes = shapes.collect();
        let structure = (0..shape.slots).map(|slot| {
            let shown: Vec<Vec<f64>> =
                aligned.iter().map(|curves| model.definition().shown(&curves.structure[slot])).collect();
            bands(&shown)
        });
        let rows = |part: ReplicatePart| -> Vec<Vec<Band>> {
            let flat = bands(&replicates.part(part));
            flat.chunks_exact(shown.max(1)).map(<[Band]>::to_vec).collect()
        };
        let mut intervals = Intervals {
            kind: BandKind::Bootstrap,
            resamples: replicates.len(),
            points: points.clone(),
            rho: rho.collect(),
            shapes,
            products,
            structure: structure.collect(),
            importance: ImportanceBands {
                by_feature: rows(ReplicatePart::FeatureImportance),
                by_distance: rows(ReplicatePart::DistanceImportance),
                structure: rows(ReplicatePart::StructureImportance).concat(),
            },
            too_few: present.too_few(),
            rho_verdicts: Vec::new(),
            shape_verdicts: Vec::new(),
        };
        intervals.rho_verdicts = verdict::on_rhos(&canonical, &intervals);
        intervals.shape_verdicts = verdict::on_shapes(&canonical, &intervals);
        Ok(intervals)
    }
}

/// The curves of every replicate, aligned to the point estimate.
fn aligned(canonical: &Canonical, replicates: &Replicates) -> Vec<Curves> {
    let points = &replicates.header().points;
    let mut point = canonical.curves(points);
    point.rho = canonical.rhos().into_iter().map(|rho| rho.values).collect();
    let receivers = &canonical.definition().learned.receivers;
    let rho_of: Vec<Vec<usize>> = (points.features.iter().enumerate())
        .map(|(k, points)| points.iter().map(|point| canonical.rho_at(k, point)).collect())
        .collect();
    let mut curves: Vec<Curves> = replicates.curves().collect();
    curves.par_iter_mut().for_each(|curves| curves.align(&point, receivers, &rho_of));
    curves
}

/// `rho(l) * f_k(value)` of every replicate, in bands. Where every level has a rho of its own, the mean over levels is
/// taken out per distance.
fn product_bands(
    canonical: &Canonical,
    points: &Points,
    shape: &ReplicateLayout,
    aligned: &[Curves],
    present: &Presence,
) -> Vec<Vec<Vec<Vec<Band>>>> {
    let definition = canonical.definition();
    let feature = |k: usize| -> Vec<Vec<Vec<Band>>> {
        let rho_of: Vec<usize> = points.features[k].iter().map(|point| canonical.rho_at(k, point)).collect();
        let shares =
            if canonical.has_level_rhos(k) { definition.learned.features[k].level_shares() } else { Vec::new() };
        // `[points][slots]`, a row of shown outputs for every replicate.
        let mut cells = vec![vec![Vec::with_capacity(aligned.len()); shape.slots]; shape.points[k]];
        for curves in aligned {
            for slot in 0..shape.slots {
                let product = |p: usize| -> Vec<f64> {
                    curves.shapes[k][p].iter().zip(&curves.rho[rho_of[p]][slot]).map(|(f, rho)| f * rho).collect()
                };
                let products: Vec<Vec<f64>> = (0..shape.points[k]).map(product).collect();
                let mean =
                    |c: usize| shares.iter().zip(&products).map(|(share, values)| share * values[c]).sum::<f64>();
                let means: Vec<f64> = (0..shape.outputs).map(mean).collect();
                for (p, values) in products.iter().enumerate() {
                    let centred: Vec<f64> = values.iter().zip(&means).map(|(value, mean)| value - mean).collect();
                    cells[p][slot].push(definition.shown(&centred));
                }
            }
        }
        let cells = cells.into_iter().enumerate();
        cells.map(|(p, slots)| slots.iter().map(|rows| bands(&present.keep(k, p, rows))).collect()).collect()
    };
    (0..shape.points.len()).into_par_iter().map(feature).collect()
}

/// Which resamples hold which points.
struct Presence {
    /// `[features][points][replicates]`
    held: Vec<Vec<Vec<bool>>>,
}

impl Presence {
    fn new(replicates: &Replicates) -> Presence {
        let rows = replicates.part(ReplicatePart::Present);
        let mut next = 0..;
        let mut point = |at: usize| rows.iter().map(|row| row[at] != 0.0).collect::<Vec<bool>>();
        let features = replicates.shape.points.iter();
        Presence { held: features.map(|count| next.by_ref().take(*count).map(&mut point).collect()).collect() }
    }

    /// The numbers of the replicates whose resample holds a point; all of them, if none does.
    fn keep<T: Clone>(&self, k: usize, p: usize, all: &[T]) -> Vec<T> {
        let held = &self.held[k][p];
        let none = !held.contains(&true);
        all.iter().zip(held).filter(|(_, held)| none || **held).map(|(value, _)| value.clone()).collect()
    }

    fn too_few(&self) -> Vec<Vec<bool>> {
        let absent = |held: &Vec<bool>| held.iter().filter(|held| !**held).count() as f64 / held.len().max(1) as f64;
        self.held.iter().map(|points| points.iter().map(|held| absent(held) > MOST_ABSENT).collect()).collect()
    }
}

fn all(aligned: &[Curves], number: impl Fn(&Curves) -> f64) -> Vec<f64> {
    aligned.iter().map(number).collect()
}

/// A band for every column of some rows.
fn bands<R: AsRef<[f64]>>(rows: &[R]) -> Vec<Band> {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let column = |c: usize| Band::of(&mut rows.iter().map(|row| row.as_ref()[c]).collect::<Vec<_>>());
    (0..columns).map(column).collect()
}
