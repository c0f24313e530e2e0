//! Penalised fits in which values share distance functions: effects are products, and both factors are estimated.
//!
//! A number has values at its knots, which are about on a line and near 0; the levels of a category are near 0. All features of a
//! single value (binary ones, and numbers of which there are hundreds) are about as near 0 as each other. A distance function is about
//! a line over finite distances, and about as large as at the distance where it is 1; it need not continue for unreachable nodes.

use super::columns::{Columns, strengths_of};
use super::estimate::{IterationMonitor, PartEstimate, PowerFit, bring_to_one_spread};
use super::targets::TargetPart;
use crate::dataset::Outcome;
use crate::likelihood::{BilinearEstimate, BilinearProblem, Block, Design, Product, fit_bilinear};
use crate::model::{Covariance, Definition, Parameters, PosteriorPart, ProductMap, Rho};
use crate::shape::Bank;
use crate::train::setup::Setup;

/// Features of a single value share one strength, those of two, and values that are missing another each.
const SINGLE: usize = 0;
const DOUBLE: usize = 1;
const MISSING: usize = 2;
/// The least spread of what items have of the bias: less is rounding.
const LEAST_SPREAD: f64 = 1e-3;

/// What the columns of a design are products of.
pub(super) struct SharedColumns {
    pub map: ProductMap,
    products: Vec<Product>,
    /// The penalties of parameters.
    blocks: Vec<Block>,
    /// The feature that a block belongs to.
    owners: Vec<BlockOwner>,
    curves: Vec<Vec<usize>>,
    ones: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum BlockOwner {
    Bias,
    Feature(usize),
    Curve,
}

/// The estimate of parameters.
pub(super) struct BilinearPart {
    estimate: BilinearEstimate,
    /// What every parameter of an output is multiplied by, the scale of targets aside.
    factors: Vec<f64>,
    /// Which parameters have the unit of the outputs.
    scaled: Vec<bool>,
}

impl SharedColumns {
    /// What the columns of a model of this definition are products of; `None` where every value has a distance function of its own.
    pub(super) fn new(definition: &Definition, columns: &Columns) -> Option<SharedColumns> {
        let map = ProductMap::new(definition, &columns.map)?;
        let rho = definition.learned.rho;
        let ones = if rho == Rho::Shared { Vec::new() } else { vec![ProductMap::BIAS] };
        let mut blocks = Vec::new();
        if ones.is_empty() {
            blocks.push((Block::ridge(ProductMap::BIAS, 1, 1), BlockOwner::Bias));
        }
        for (k, values) in map.features.iter().enumerate() {
            let own = match values.known {
                0 => None,
                1 => Some(Block::ridge(values.first, 1, 1).tied(SINGLE)),
                2 if values.ascending => Some(Block::ridge(values.first, 1, 2).tied(DOUBLE)),
                known if values.ascending => Some(Block::knots(values.first, known)),
                known => Some(Block::ridge(values.first, 1, known)),
            };
            blocks.extend(own.map(|block| (block, BlockOwner::Feature(k))));
            if values.missing {
                let block = Block::ridge(values.first + values.known, 1, 1).tied(MISSING);
                blocks.push((block, BlockOwner::Feature(k)));
            }
        }
        for curve in &map.curves {
            let (first, size) = (curve.points[0], curve.points.len());
            if curve.function < rho.of_bias_alone() {
                blocks.push((Block::curves(first, 1, size, curve.linked), BlockOwner::Curve));
                continue;
            }
            blocks.push((Block::straight(first, size, curve.linked), BlockOwner::Curve));
        }
        let (blocks, owners) = blocks.into_iter().unzip();
        let products = map.products.iter().map(|(value, point)| Product { value: *value, point: *point }).collect();
        Some(SharedColumns { products, blocks, owners, curves: map.scaled_curves(rho), ones, map })
    }

    /// What every value is multiplied by, so that blocks have the same spread.
    fn value_factors(&self, design: &Design, power: f64) -> Vec<f64> {
        let mut squares = vec![(0.0, 0.0); self.map.count];
        for (product, (_, variance)) in self.products.iter().zip(&design.moments()[1..]) {
            let (sum, count) = squares[product.value];
            squares[product.value] = (sum + variance, count + 1.0);
        }
        let spreads: Vec<f64> = squares.iter().map(|(sum, count): &(f64, f64)| (sum / count.max(1.0)).sqrt()).collect();
        let mut factors = vec![1.0; self.map.count];
        let parameters = |block: &Block| block.first..block.first + block.repeats * block.size;
        let of_values = || self.blocks.iter().zip(&self.owners);
        for (place, (block, owner)) in of_values().enumerate() {
            match owner {
                BlockOwner::Curve => {}
                BlockOwner::Bias => factors[block.first] = 1.0 / spreads[block.first].max(LEAST_SPREAD),
                BlockOwner::Feature(_) => {
                    let alike = |other: &Block| block.tie.is_some() && other.tie == block.tie;
                    if self.blocks[..place].iter().any(alike) {
                        continue;
                    }
                    let others = self.blocks[place + 1..].iter().filter(|other| alike(other));
                    let own: Vec<usize> = parameters(block).chain(others.flat_map(parameters)).collect();
                    bring_to_one_spread(&own, &spreads, |_| 0.0, power, &mut factors);
                }
            }
        }
        factors
    }

    /// Fits the parameters of every part.
    pub(super) fn fit_all(
        &self,
        design: &Design,
        parts: &[TargetPart],
        power: f64,
        monitor: &mut IterationMonitor<'_>,
    ) -> Option<PowerFit> {
        let factors = self.value_factors(design, power);
        let mut scaled = design.clone();
        let of_products = self.products.iter().map(|product| factors[product.value]);
        scaled.scale_columns(&std::iter::once(1.0).chain(of_products).collect::<Vec<f64>>());
        let mut all =
            PowerFit { found: Vec::new(), marginal: 0.0, left_out: vec![0.0; design.rows()], converged: true };
        for part in parts {
            let problem = BilinearProblem {
                design: &scaled,
                products: &self.products,
                parameters: self.map.count,
                curves: &self.curves,
                ones: &self.ones,
                blocks: &self.blocks,
                family: part.family,
                targets: &part.targets,
                weights: &part.weights,
                offset: part.offset(),
            };
            let estimate = fit_bilinear(problem, None, monitor)?;
            all.marginal += estimate.marginal;
            all.converged &= estimate.converged;
            all.left_out.iter_mut().zip(&estimate.left_out).for_each(|(sum, own)| *sum += own);
            let own = BilinearPart { scaled: self.in_unit_of_outputs(), factors: factors.clone(), estimate };
            all.found.push(PartEstimate {
                coefficients: self.coefficients(&own),
                factors: vec![1.0; design.columns()],
                shift: part.shift,
                scale: part.scale,
                variance: own.estimate.variance,
                primal: None,
                bilinear: Some(own),
                dual: None,
            });
        }
        Some(all)
    }

    /// Which parameters have the unit of the outputs: the intercept, values, and the points of a curve whose value is 1.
    fn in_unit_of_outputs(&self) -> Vec<bool> {
        let mut found = vec![true; self.map.count];
        self.curves.iter().flatten().for_each(|point| found[*point] = false);
        self.ones.iter().for_each(|value| found[*value] = false);
        found
    }

    /// The products, output after output, on the scale of the fit.
    fn coefficients(&self, part: &BilinearPart) -> Vec<f64> {
        let outputs = part.estimate.parameters.chunks_exact(self.map.count);
        let output = |own: &[f64]| {
            let product = |product: &Product| own[product.value] * part.factors[product.value] * own[product.point];
            std::iter::once(own[0]).chain(self.products.iter().map(product)).collect::<Vec<f64>>()
        };
        outputs.flat_map(output).collect()
    }

    /// Number of strengths of the penalties, those that blocks share once.
    pub(super) fn strengths(&self) -> usize {
        strengths_of(&self.blocks)
    }

    /// Effective degrees of freedom of every feature, and last of the structure.
    pub(super) fn freedoms(&self, part: &BilinearPart) -> Vec<f64> {
        let mut found = vec![0.0; self.map.features.len() + 1];
        for (owner, freedom) in self.owners.iter().zip(&part.estimate.freedoms) {
            match owner {
                BlockOwner::Feature(k) => found[*k] += freedom.max(0.0),
                // The structure is the bias times the distance function that all share.
                BlockOwner::Bias | BlockOwner::Curve => found[self.map.features.len()] += freedom.max(0.0),
            }
        }
        found
    }
}

impl BilinearPart {
    /// A parameter of an output in the units of the model, given the scale of targets.
    fn parameter(&self, output: usize, place: usize, scale: f64) -> f64 {
        let value = self.estimate.parameters[output * self.factors.len() + place] * self.factors[place];
        if self.scaled[place] { value * scale } else { value }
    }

    /// The posterior of the parameters; those that are known vary by nothing.
    pub(super) fn posterior(&self, scale: f64, quantity: bool) -> PosteriorPart {
        let (order, count) = (self.estimate.root.order(), self.factors.len());
        let mut root = Vec::with_capacity(Covariance::root_length(order));
        for column in 0..order {
            let unit = if self.scaled[column % count] { scale } else { 1.0 };
            let factor = if self.estimate.known[column] { 0.0 } else { self.factors[column % count] * unit };
            root.extend_from_slice(&self.estimate.root.times([(column, factor)])[column..]);
        }
        let noise = if quantity { self.estimate.variance * scale * scale } else { 0.0 };
        PosteriorPart { outputs: order / count, covariance: Covariance::Root(root.into()), products: None, noise }
    }
}

impl PartEstimate {
    /// Effective degrees of freedom.
    pub(super) fn freedom(&self) -> Option<f64> {
        let bilinear = self.bilinear.as_ref().map(|own| own.estimate.freedom);
        bilinear.or(self.primal.as_ref().map(|own| own.freedom)).or(self.dual.as_ref().map(|own| own.freedom))
    }

    /// The logarithm of the marginal likelihood.
    pub(super) fn marginal(&self) -> Option<f64> {
        let bilinear = self.bilinear.as_ref().map(|own| own.estimate.marginal);
        bilinear.or(self.primal.as_ref().map(|own| own.marginal)).or(self.dual.as_ref().map(|own| own.marginal))
    }
}

impl Setup {
    /// The parameters of a model whose values share distance functions.
    pub(super) fn shared_parameters(&self, columns: &SharedColumns, found: &[PartEstimate]) -> Parameters {
        let (outputs, layout) = (self.definition.learned.outputs, &self.layout);
        let specs = self.definition.bank_specs();
        let mut parameters = Parameters {
            shapes: Bank::zeros(&specs.shapes),
            rhos: Bank::zeros(&specs.rhos),
            values: vec![0.0; layout.values * outputs],
            bias: vec![1.0; outputs],
            output_bias: vec![0.0; outputs],
            readouts: Bank::zeros(&specs.readouts),
        };
        let together = self.definition.learned.outcome == Outcome::Multiclass;
        let knots = self.definition.learned.rho_spline.as_ref().map(|basis| basis.knots.clone()).unwrap_or_default();
        for c in 0..outputs {
            let (part, output) = if together { (&found[0], c) } else { (&found[c], 0) };
            let Some(bilinear) = &part.bilinear else { continue };
            let own = |place: usize| bilinear.parameter(output, place, part.scale);
            parameters.output_bias[c] = (own(0) + part.shift) as f32;
            parameters.bias[c] = own(ProductMap::BIAS) as f32;
            for (value, place) in columns.map.values[1..].iter().enumerate() {
                if let Some(place) = place {
                    parameters.values[value * outputs + c] = own(*place) as f32;
                }
            }
            for curve in &columns.map.curves {
                let function = curve.lens * layout.functions + curve.function;
                for (knot, argument) in knots.iter().enumerate() {
                    let value: f64 = curve.at(*argument).iter().map(|(point, share)| share * own(*point)).sum();
                    parameters.rhos.block_mut(function)[knot * outputs + c] = value as f32;
                }
            }
        }
        parameters
    }
}
