//! The summary of a penalised fit: degrees of freedom, tests and importances of all terms, over its training items.

use std::collections::BTreeSet;
use std::ops::Range;

use rayon::prelude::*;

use super::columns::Columns;
use super::estimate::PartEstimate;
use super::posterior::is_kept;
use super::shared::SharedColumns;
use crate::explain::{Canonical, EffectSums, scaled};
use crate::likelihood::{Block, PenalisedEstimate, WaldTest, wald_test};
use crate::model::{CoefficientSum, Covariance, FitSummary, Model, TermSummary, merged, rhos_of_units};
use crate::statistics::{BIAS_UNIT, Statistics};

/// Items whose contributions are looked at, and numbers that they are written down in; of more, evenly spaced ones.
const MOST_ITEMS: usize = 2000;
const MOST_NUMBERS: usize = 4_000_000;
/// Most coefficients of a term, all outputs counted, that are tested: the time grows with the third power.
const MOST_TESTED: usize = 1000;

/// What a term contributes to items: sums of coefficients that it is made of, and how much every item has of each.
struct TermItems {
    sums: Vec<CoefficientSum>,
    /// `[items][sums]`, less their means.
    items: Vec<Vec<f64>>,
}

impl TermItems {
    fn new(sums: Vec<CoefficientSum>, mut items: Vec<Vec<f64>>) -> TermItems {
        let count = items.len().max(1) as f64;
        for place in 0..sums.len() {
            let mean = items.iter().map(|item| item[place]).sum::<f64>() / count;
            items.iter_mut().for_each(|item| item[place] -= mean);
        }
        TermItems { sums, items }
    }

    /// `Z' Z`.
    fn products(&self) -> Vec<f64> {
        let order = self.sums.len();
        let mut products = vec![0.0; order * order];
        for item in &self.items {
            for (i, one) in item.iter().enumerate().filter(|(_, one)| **one != 0.0) {
                let row = &mut products[i * order..][..order];
                row.iter_mut().zip(item).for_each(|(sum, other)| *sum += one * other);
            }
        }
        products
    }

    /// The sum of coefficients that some weights of the sums make.
    fn combined(&self, weights: &[f64]) -> CoefficientSum {
        let terms = self.sums.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
        merged(terms.flat_map(|(sum, weight)| scaled(sum, *weight)).collect())
    }
}

/// What is needed for the summary of a fit.
pub(super) struct SummaryInput<'a> {
    /// The model, with its posterior.
    pub model: &'a Model,
    pub columns: &'a Columns,
    /// What the columns are products of, where values share distance functions.
    pub shared: Option<&'a SharedColumns>,
    pub found: &'a [PartEstimate],
    pub statistics: &'a Statistics,
    /// The rows of the training items.
    pub rows: &'a [usize],
}

impl SummaryInput<'_> {
    /// The summary; `None` for a model without a posterior.
    pub(super) fn summary(&self) -> Option<FitSummary> {
        let canonical = self.model.canonical();
        let sums = EffectSums::new(&canonical)?;
        // In the dual form terms are very many: where covariances are too large to be kept, their tests take longer than the fit.
        if self.found.iter().any(|part| part.dual.is_some()) && !is_kept(sums.posterior()) {
            return None;
        }
        let at_most = MOST_ITEMS.min(MOST_NUMBERS / self.columns.count).max(1);
        let step = self.rows.len().div_ceil(at_most).max(1);
        let rows: Vec<usize> = self.rows.iter().copied().step_by(step).collect();
        let features = &self.model.learned().features;
        // `[parts][terms]`, then those of a term.
        let freedoms: Vec<Vec<f64>> =
            (0..self.found.len()).map(|part| self.freedoms(part, &canonical)).collect::<Option<_>>()?;
        let coefficients = self.coefficients();
        let of_term = |term: usize| freedoms.iter().map(|terms| terms[term]).collect::<Vec<f64>>();
        let items = self.feature_items(&sums, &rows);
        let term =
            |(k, items): (usize, TermItems)| self.term(&features[k].name, &of_term(k), &coefficients, &sums, &items);
        let mut terms: Vec<TermSummary> = items.into_par_iter().enumerate().map(term).collect();
        let structure = self.structure_items(&canonical, &sums, &rows);
        terms.push(self.term("structure", &of_term(features.len()), &coefficients, &sums, &structure));
        let (by_distance, by_distance_sd) = self.by_distance(&canonical, &coefficients, &sums, &rows);
        let noise_sd: Vec<f64> = sums.posterior().noise().filter(|noise| *noise > 0.0).map(f64::sqrt).collect();
        let summary = FitSummary {
            edf: self.found.iter().filter_map(PartEstimate::freedom).sum(),
            marginal: self.found.iter().filter_map(PartEstimate::marginal).sum(),
            noise_sd,
            terms,
            by_distance,
            by_distance_sd,
        };
        summary.is_usable(self.model.definition().shown_names().len()).then_some(summary)
    }

    /// The coefficients of all outputs, `[outputs][coefficients]`, those of classes less their mean over the classes.
    fn coefficients(&self) -> Vec<Vec<f64>> {
        let mut all = Vec::new();
        for part in self.found {
            let outputs = part.outputs();
            let own =
                |c: usize| (0..self.columns.count).map(|column| part.coefficient(c, column)).collect::<Vec<f64>>();
            let mut own: Vec<Vec<f64>> = (0..outputs).map(own).collect();
            if outputs > 1 {
                for column in 0..self.columns.count {
                    let mean = own.iter().map(|row| row[column]).sum::<f64>() / outputs as f64;
                    own.iter_mut().for_each(|row| row[column] -= mean);
                }
            }
            all.extend(own);
        }
        all
    }

    /// What items have of the coefficients of every feature, centred as effects are.
    fn feature_items(&self, sums: &EffectSums, rows: &[usize]) -> Vec<TermItems> {
        let features = self.model.learned().features.len();
        let own: Vec<_> = (0..features).map(|k| self.columns.map.coefficients_of(Some(k))).collect();
        let rhos = rhos_of_units(self.model.definition(), &self.statistics.levels);
        let mut items: Vec<Vec<Vec<f64>>> =
            own.iter().map(|own| rows.iter().map(|_| vec![0.0; own.len()]).collect()).collect();
        for (place, row) in rows.iter().enumerate() {
            self.each_effect(*row, &rhos, sums, |k, _, sum, weight| {
                let item = &mut items[k][place];
                sum.iter().for_each(|(coefficient, share)| item[coefficient - own[k].start] += weight * share);
            });
        }
        let sums_of = |own: Range<usize>| own.map(|coefficient| vec![(coefficient, 1.0)]).collect();
        own.into_iter().zip(items).map(|(own, items)| TermItems::new(sums_of(own), items)).collect()
    }

    fn structure_items(&self, canonical: &Canonical, sums: &EffectSums, rows: &[usize]) -> TermItems {
        let slots: Vec<usize> = (0..canonical.slots()).filter(|slot| !sums.structure(*slot).is_empty()).collect();
        let item = |row: &usize| {
            let mut item = vec![0.0; canonical.slots()];
            let (cells, weights) = self.statistics.rows.row(*row);
            for (cell, weight) in cells.iter().zip(weights) {
                if self.statistics.cells.units[*cell as usize] == BIAS_UNIT {
                    item[usize::from(self.statistics.cells.slots[*cell as usize])] += f64::from(*weight);
                }
            }
            slots.iter().map(|slot| item[*slot]).collect()
        };
        let items = rows.iter().map(item).collect();
        TermItems::new(slots.iter().map(|slot| sums.structure(*slot).clone()).collect(), items)
    }

    /// Calls `visit(feature, slot, sum, weight)` for the effects that an item is made of: those of its cells, and less what
    /// centring takes out.
    fn each_effect(
        &self,
        row: usize,
        rhos: &[Option<usize>],
        sums: &EffectSums,
        mut visit: impl FnMut(usize, usize, &CoefficientSum, f64),
    ) {
        let Statistics { axis, levels, cells, rows, .. } = self.statistics;
        let (entries, weights) = rows.row(row);
        // Cells come unit by unit, and so feature by feature.
        let mut totals = vec![0.0; axis.slots()];
        let mut last = None;
        let centre =
            |k: Option<usize>, totals: &mut [f64], visit: &mut dyn FnMut(usize, usize, &CoefficientSum, f64)| {
                let Some(k) = k else { return };
                for (slot, total) in totals.iter_mut().enumerate().filter(|(_, total)| **total != 0.0) {
                    visit(k, slot, sums.centre(k, slot), -std::mem::take(total));
                }
            };
        for (cell, weight) in entries.iter().zip(weights) {
            let (unit, slot) = (cells.units[*cell as usize], usize::from(cells.slots[*cell as usize]));
            let (Some(k), Some(rho)) = (levels.feature_of(unit), rhos[unit as usize]) else { continue };
            if last != Some(k) {
                centre(last, &mut totals, &mut visit);
                last = Some(k);
            }
            visit(k, slot, sums.rho(rho, slot), f64::from(*weight));
            totals[slot] += f64::from(*weight);
        }
        centre(last, &mut totals, &mut visit);
    }

    fn term(
        &self,
        name: &str,
        freedoms: &[f64],
        coefficients: &[Vec<f64>],
        sums: &EffectSums,
        items: &TermItems,
    ) -> TermSummary {
        let value = |c: usize, sum: &CoefficientSum| sum.iter().map(|(at, share)| share * coefficients[c][*at]).sum();
        let shown: Vec<Vec<f64>> =
            (0..coefficients.len()).map(|c| items.sums.iter().map(|sum| value(c, sum)).collect()).collect();
        let (mut importance, mut gradients) = (Vec::new(), Vec::new());
        for own in &shown {
            let mut gradient = vec![0.0; own.len()];
            let mut size = 0.0;
            for item in &items.items {
                let contribution: f64 = item.iter().zip(own).map(|(item, own)| item * own).sum();
                size += contribution.abs();
                gradient.iter_mut().zip(item).for_each(|(sum, item)| *sum += contribution.signum() * item);
            }
            let count = items.items.len().max(1) as f64;
            gradient.iter_mut().for_each(|sum| *sum /= count);
            importance.push(size / count);
            gradients.push(items.combined(&gradient));
        }
        let gradients: Vec<&[(usize, f64)]> = gradients.iter().map(Vec::as_slice).collect();
        let sds = sums.posterior().sds(&gradients).unwrap_or_default();
        let importance_sd = (0..shown.len()).map(|c| sds.get(c).map_or(0.0, |sd| sd[c])).collect();
        let mut summary = TermSummary {
            name: name.to_owned(),
            edf: freedoms.iter().sum(),
            importance,
            importance_sd,
            ..TermSummary::default()
        };
        let largest = sums.posterior().parts.iter().map(|part| part.outputs).max().unwrap_or(1);
        if largest * items.sums.len() > MOST_TESTED {
            return summary;
        }
        let products = items.products();
        let (mut first, mut whole) = (0, None);
        for (place, part) in sums.posterior().parts.iter().enumerate() {
            let own = shown[first..first + part.outputs].concat();
            first += part.outputs;
            let covariance = sums.posterior().covariances(place, &items.sums).unwrap_or_default();
            let Some(test) = wald_test(&own, &covariance, &products, freedoms[place]) else { continue };
            whole = Some(whole.map_or(test, |before: WaldTest| before.and(test)));
        }
        if let Some(test) = whole {
            (summary.statistic, summary.rank, summary.p_value) =
                (Some(test.statistic), test.rank, Some(test.p_value()));
        }
        summary
    }

    /// Effective degrees of freedom of every term of a part, the structure last.
    ///
    /// `tr(F)` of its own coefficients with `F = V X' W X = I - V S`, and of what centring moves from features to the structure:
    /// `share_v F[(k, v, l), structure (l)]` for every value and distance. They add up to those of the whole model.
    ///
    /// Where values share distance functions, a feature has those of its values, and the structure those of the bias.
    fn freedoms(&self, part: usize, canonical: &Canonical) -> Option<Vec<f64>> {
        let Columns { map, .. } = self.columns;
        if let (Some(shared), Some(bilinear)) = (self.shared, &self.found[part].bilinear) {
            return Some(shared.freedoms(bilinear));
        }
        let features = &self.model.learned().features;
        let mut freedoms = vec![0.0; features.len() + 1];
        if let Some(estimate) = &self.found[part].primal {
            for (group, freedom) in map.groups.iter().zip(&estimate.freedoms) {
                freedoms[group.feature.unwrap_or(features.len())] += freedom;
            }
            let entry = self.primal_influence(&self.found[part], estimate);
            return Some(self.with_centring(canonical, freedoms, entry));
        }
        let Covariance::Dual(dual) = &self.model.posterior()?.parts[part].covariance else { return None };
        // A latent number counts for the term of its first coefficient; all of them belong to one.
        let mut of_latents: Vec<f64> = dual.freedoms();
        for group in &map.groups {
            for coefficient in group.coefficients() {
                let own = &mut of_latents[dual.rows().latents[coefficient] as usize];
                freedoms[group.feature.unwrap_or(features.len())] += std::mem::take(own);
            }
        }
        let structure = map.coefficients_of(None);
        let columns: Vec<Vec<f64>> = structure.clone().into_par_iter().map(|at| dual.influence_of(at)).collect();
        let entry = |row: usize, column: usize| {
            column.checked_sub(structure.start).and_then(|at| columns.get(at)).map_or(0.0, |column| column[row])
        };
        Some(self.with_centring(canonical, freedoms, entry))
    }

    /// An entry of `F` in a column of the structure, all outputs together, from the penalties of its curve.
    fn primal_influence<'a>(
        &'a self,
        part: &'a PartEstimate,
        estimate: &'a PenalisedEstimate,
    ) -> impl Fn(usize, usize) -> f64 + Sync + 'a {
        let Columns { count, blocks, map, .. } = self.columns;
        let structure: Vec<(&Block, Vec<f64>)> = (map.groups.iter().zip(blocks).zip(&estimate.lambdas))
            .filter(|((group, _), _)| group.feature.is_none())
            .map(|((_, block), lambdas)| (block, block.matrix(lambdas)))
            .collect();
        let of_output = move |row: usize, column: usize, output: usize| -> f64 {
            let own = structure.iter().find(|(block, _)| (block.first..block.first + block.size).contains(&column));
            let Some((block, penalty)) = own else { return 0.0 };
            let shift = output * count;
            let sum: f64 = (0..block.size)
                .map(|c| {
                    let weight = penalty[c * block.size + column - block.first];
                    match weight == 0.0 {
                        true => 0.0,
                        false => weight * estimate.root.inverse(shift + row, shift + block.first + c),
                    }
                })
                .sum();
            -sum * part.factors[row] / part.factors[column]
        };
        move |row, column| (0..part.outputs()).map(|output| of_output(row, column, output)).sum()
    }

    /// Moves from every feature to the structure what centring moves, given entries of `F` in the columns of the structure.
    fn with_centring(
        &self,
        canonical: &Canonical,
        mut freedoms: Vec<f64>,
        entry: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Vec<f64> {
        let (map, features) = (&self.columns.map, &self.model.learned().features);
        let axis = canonical.axis();
        let moved = |k: usize| -> f64 {
            // Several distances may share a coefficient.
            let mut known = BTreeSet::new();
            let mut sum = 0.0;
            for (level, share) in features[k].level_shares().into_iter().enumerate().filter(|(_, share)| *share != 0.0)
            {
                for slot in 0..axis.slots() {
                    let at = |rho: usize| map.coefficients(rho, axis.lens_of(slot), slot);
                    let Some((column, _)) = at(0).first().copied() else { continue };
                    for (row, part) in at(canonical.rho_of(k, level)) {
                        if known.insert((level, row)) {
                            sum += share * part * entry(row, column);
                        }
                    }
                }
            }
            sum
        };
        let moved: Vec<f64> = (0..features.len()).into_par_iter().map(moved).collect();
        for (k, moved) in moved.into_iter().enumerate() {
            freedoms[k] -= moved;
            freedoms[features.len()] += moved;
        }
        freedoms.iter_mut().for_each(|freedom| *freedom = freedom.max(0.0));
        freedoms
    }

    /// The mean size of what all features contribute from every distance, and its standard deviation.
    fn by_distance(
        &self,
        canonical: &Canonical,
        coefficients: &[Vec<f64>],
        sums: &EffectSums,
        rows: &[usize],
    ) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let (slots, outputs, count) = (canonical.slots(), coefficients.len(), self.columns.count);
        let rhos = rhos_of_units(self.model.definition(), &self.statistics.levels);
        let mut sizes = vec![vec![0.0; outputs]; slots];
        let mut gradients = vec![vec![0.0; count]; slots * outputs];
        let mut items: Vec<CoefficientSum> = vec![Vec::new(); slots];
        for row in rows {
            self.each_effect(*row, &rhos, sums, |_, slot, sum, weight| items[slot].extend(scaled(sum, weight)));
            for (slot, sum) in items.iter_mut().enumerate().filter(|(_, sum)| !sum.is_empty()) {
                for c in 0..outputs {
                    let value: f64 = sum.iter().map(|(at, share)| share * coefficients[c][*at]).sum();
                    sizes[slot][c] += value.abs() / rows.len() as f64;
                    let weight = value.signum() / rows.len() as f64;
                    let gradient = &mut gradients[slot * outputs + c];
                    sum.iter().for_each(|(at, share)| gradient[*at] += weight * share);
                }
                sum.clear();
            }
        }
        let sd = |place: usize| {
            let gradient = gradients[place].iter().copied().enumerate().filter(|(_, share)| *share != 0.0);
            let sum: CoefficientSum = gradient.collect();
            sums.posterior().sd(&sum).map_or(0.0, |sd| sd[place % outputs])
        };
        let flat: Vec<f64> = (0..slots * outputs).into_par_iter().map(sd).collect();
        (sizes, flat.chunks_exact(outputs.max(1)).map(<[f64]>::to_vec).collect())
    }
}
