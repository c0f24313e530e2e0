//! The choice of what a specification leaves open, by training items alone.
//!
//! Alternatives are compared by the marginal likelihood, one after the other: how nodes are pooled, means or sums over shells, the hop
//! cap, smooth or linear curves, then descriptions of nodes and curves over numbers that sum up items. One that is fitted with more
//! strengths must raise its logarithm by more than one for each. Of many strengths that is too strict with few items: one is enough
//! where items that were not fitted on are predicted better, by approximate leave-one-out, by more than chance in one of twenty cases.
//! Tables over two such numbers are picked among hundreds, by every other item; the others must be predicted better by more than three
//! standard errors.

use std::sync::Arc;

use super::estimate::{CandidateFit, IterationMonitor, SPREAD_POWERS};
use super::second_level::{PAIRS, SCREENED};
use super::selection::GAIN_OF_STRENGTH;
use crate::dataset::Dataset;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Kind, Task};
use crate::model::FeatureSchema;
use crate::remedy::Remedy;
use crate::spec::{Aspect, CurveChoice, LEAST_SUPPORT, LevelChoice, NodeDescription, PoolChoice, Spec};
use crate::statistics::Statistics;

/// A rise of the logarithm of the marginal likelihood that is enough where items that were not fitted on are predicted better, too.
const LEAST_RISE: f64 = 1.0;
/// By how many standard errors these must then be predicted better: more than chance in one of twenty cases. And by how many where the
/// marginal likelihood says little.
const STANDARD_ERRORS: f64 = 1.645;
const MANY_STANDARD_ERRORS: f64 = 3.0;
/// Most coefficients of a candidate that is only tried.
const MOST_TRIED: usize = 3500;
/// Hop caps that are tried where nodes are predicted, and where graphs are; besides none.
const NODE_CAPS: [usize; 3] = [0, 1, 2];
const GRAPH_CAPS: [usize; 1] = [0];
/// The hop cap in the dual form: words of nodes farther away are those of nearly everyone.
const DUAL_CAP: usize = 4;
/// Graphs that must have a value of a description for a level of its own; the next where these are too many.
const SUPPORTS: [u64; 4] = [LEAST_SUPPORT, 20, 80, 320];
/// The options that may be chosen.
const CHOSEN: [&str; 7] = ["pool", "normalise", "hop-cap", "curves", "describe", "level", "feature-pairs"];

/// What was compared and what is best so far.
pub(super) struct ComparedFits {
    pub best: CandidateFit,
    /// What was compared, in the order in which it was tried, and the loss of items that were not fitted on; nothing where there is
    /// no choice.
    pub tried: Vec<(String, f64)>,
}

/// Fits a candidate to items, with the best of some powers of the spread, like another, with at most so many coefficients.
type CandidateFitter<'a> =
    dyn FnMut(&Spec, &Dataset, &[f64], Option<&CandidateFit>, Option<usize>) -> Result<Option<CandidateFit>> + 'a;

/// Watches the iterations of a candidate of some name.
pub(super) type ChoiceMonitor<'a> = dyn FnMut(&str, &crate::likelihood::Iteration) -> std::ops::ControlFlow<()> + 'a;

impl Spec {
    /// Fits what is requested, and what might be better where that is left open.
    pub(super) fn compared(&self, train: &Dataset, monitor: &mut ChoiceMonitor<'_>) -> Result<ComparedFits> {
        let mut interrupted = false;
        let mut known: Option<Arc<Statistics>> = None;
        let mut fit =
            |spec: &Spec, train: &Dataset, powers: &[f64], like: Option<&CandidateFit>, most: Option<usize>| {
                // What there is when training is broken off is kept.
                if interrupted && known.is_some() {
                    return Ok(None);
                }
                let name = words(spec);
                let mut watch = |iteration: &crate::likelihood::Iteration| {
                    let flow = monitor(&name, iteration);
                    interrupted |= flow.is_break();
                    flow
                };
                let watch: &mut IterationMonitor<'_> = &mut watch;
                let fitted =
                    CandidateFit::new(spec.clone(), train.clone(), powers, most, like, known.as_deref(), watch);
                // What is only tried is left out where there is no memory for it, or it has no estimate.
                let fitted = match fitted {
                    Err(error) if most.is_some() && is_no_answer(&error) => None,
                    fitted => fitted?,
                };
                if interrupted && known.is_some() {
                    return Ok(None);
                }
                if let Some(fitted) = &fitted {
                    known = Some(Arc::clone(&fitted.setup.statistics));
                }
                Ok(fitted)
            };
        let first = self.plain(train);
        let best = fit(&first, train, &SPREAD_POWERS, None, None)?.expect("what is requested has no limit");
        // What takes time is found only where something may be compared.
        let open = self.fit.choose || self.wants_second_level();
        let tried = open.then(|| (words(&first), best.mean_left_out()));
        let mut choice = ComparedFits { tried: tried.into_iter().collect(), best };
        if choice.best.dual && self.model.feature_pairs > 0 {
            let message = "there are no tables over two numbers where there are so many coefficients that items are weighed instead";
            return Err(Error::usage(message).with_remedy(Remedy::LeaveOut(&["feature-pairs"])));
        }
        if choice.best.dual || !self.fit.choose {
            self.try_second_level(&mut choice, &mut fit)?;
            return Ok(choice);
        }
        for spec in self.plain_alternatives(train) {
            if let Some(found) = fit(&spec, train, &[choice.best.power], None, Some(MOST_TRIED))? {
                choice.compare(found, is_likelier);
            }
        }
        if let Some(spec) = self.linear_alternative(&choice.best) {
            let power = [choice.best.power];
            if let Some(found) = fit(&spec, train, &power, Some(&choice.best), Some(MOST_TRIED))? {
                choice.compare(found, is_likelier);
            }
        }
        for list in self.description_alternatives(train) {
            self.try_descriptions(list, train, &mut choice, &mut fit)?;
        }
        self.try_second_level(&mut choice, &mut fit)?;
        Ok(choice)
    }

    /// Fits descriptions of nodes on top of the best; where there are too many of them, only those that more graphs have.
    fn try_descriptions(
        &self,
        list: Vec<NodeDescription>,
        train: &Dataset,
        choice: &mut ComparedFits,
        fit: &mut CandidateFitter<'_>,
    ) -> Result<()> {
        let widest = list.iter().map(|own| own.aspect).max();
        for least in SUPPORTS {
            let mut list = list.clone();
            list.iter_mut().filter(|own| Some(own.aspect) == widest).for_each(|own| own.least_support = least);
            let Ok(described) = train.described(&list) else { return Ok(()) };
            let mut spec = choice.best.spec.clone();
            let names = list.iter().map(NodeDescription::feature_name);
            spec.distances.own_only = self.distances.own_only.iter().cloned().chain(names).collect();
            spec.data.describe = described.spec().describe.clone();
            let power = [choice.best.power];
            if let Some(found) = fit(&spec, &described, &power, Some(&choice.best), Some(MOST_TRIED))? {
                choice.compare(found, is_likelier);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether a second level is requested.
    fn wants_second_level(&self) -> bool {
        self.fit.level == LevelChoice::Two || self.model.feature_pairs > 0
    }

    /// Fits the second level on top of the best, first curves, then tables over two numbers.
    fn try_second_level(&self, choice: &mut ComparedFits, fit: &mut CandidateFitter<'_>) -> Result<()> {
        let requested = self.wants_second_level();
        let shared = choice.best.shared.is_some();
        if self.fit.level == LevelChoice::One || shared || (!requested && !self.fit.choose) {
            return Ok(());
        }
        let best = &choice.best;
        // Items that are weighed have no limit of coefficients.
        let most = if requested || best.dual { None } else { Some(MOST_TRIED) };
        // A value of a whole graph counts once: by the mean over its nodes.
        let mut spec = best.spec.clone();
        spec.fit.level = LevelChoice::Two;
        let graphs = best.train.task() == Task::Graph;
        if graphs && spec.distances.pool == PoolChoice::Sum {
            if self.distances.pool == PoolChoice::Sum {
                return if requested { refuse_second("sums up nodes, and never takes their mean") } else { Ok(()) };
            }
            spec.distances.pool = PoolChoice::Both;
        }
        let summed_up = match spec.summed_up(&best.train) {
            Err(error) if !requested && error.kind() == ErrorKind::Limit => None,
            found => found?,
        };
        let Some(train) = summed_up else {
            return if requested {
                refuse_second("has no numbers that sum up items, or too many nodes")
            } else {
                Ok(())
            };
        };
        let like = (spec.distances.pool == best.spec.distances.pool).then_some(best);
        let Some(curves) = fit(&spec, &train, &[best.power], like, most)? else { return Ok(()) };
        let given = self.model.feature_pairs;
        let most_pairs = match given {
            0 if self.fit.choose && !curves.dual => PAIRS,
            given => given,
        };
        let pairs = if most_pairs > 0 { spec.best_pairs(&curves, most_pairs)? } else { Vec::new() };
        spec.model.feature_pairs = pairs.len();
        let tables = match pairs.is_empty() {
            true => None,
            false => fit(&spec, &curves.train.paired(&pairs)?, &[curves.power], Some(&curves), most)?,
        };
        // Two numbers may matter together of which neither matters alone.
        choice.compare(curves, |best, found| requested || are_curves_worth_having(best, found));
        if let Some(tables) = tables {
            choice.compare(tables, |best, found| given > 0 || are_tables_worth_having(best, found));
        }
        Ok(())
    }

    /// The specification with the usual value of what may be chosen.
    fn plain(&self, train: &Dataset) -> Spec {
        let mut spec = self.clone();
        spec.data = train.spec().clone();
        if self.fit.choose || self.wants_second_level() {
            (spec.fit.level, spec.model.feature_pairs) = (LevelChoice::One, 0);
        }
        if !self.fit.choose {
            // What sums up a graph is averaged over its nodes.
            let averaged = self.wants_second_level() && train.task() == Task::Graph;
            if averaged && spec.distances.pool == PoolChoice::Auto {
                spec.distances.pool = PoolChoice::Both;
            }
            return spec;
        }
        if spec.distances.pool == PoolChoice::Auto {
            spec.distances.pool = PoolChoice::Sum;
        }
        spec.statistics.normalise.get_or_insert(true);
        let distances = &mut spec.distances;
        let open = distances.hop_cap.is_none() && distances.far_from.is_none() && distances.edge_weight.is_none();
        if open && self.penalised_size(train).dual {
            distances.hop_cap = Some(DUAL_CAP);
        }
        spec
    }

    /// Other values of pooling, normalisation and the hop cap, one after the other.
    fn plain_alternatives(&self, train: &Dataset) -> Vec<Spec> {
        let plain = self.plain(train);
        let mut found = Vec::new();
        let graphs = train.task() == Task::Graph;
        if graphs && self.distances.pool == PoolChoice::Auto {
            found.extend([PoolChoice::Mean, PoolChoice::Both].map(|pool| plain.clone().pool(pool)));
        }
        if graphs && self.statistics.normalise.is_none() {
            found.push(plain.clone().normalise(false));
        }
        let distances = &self.distances;
        if distances.hop_cap.is_none() && distances.far_from.is_none() && distances.edge_weight.is_none() {
            let caps: &[usize] = if graphs { &GRAPH_CAPS } else { &NODE_CAPS };
            // A second level of nodes sums up others.
            let least = usize::from(!graphs && self.wants_second_level());
            found.extend(caps.iter().filter(|cap| **cap >= least).map(|cap| plain.clone().hop_cap(*cap)));
        }
        found
    }

    /// The best so far with curves that are linear between knots, where it has smooth ones: a step in a number makes them swing.
    fn linear_alternative(&self, best: &CandidateFit) -> Option<Spec> {
        let features = &best.setup.definition.learned.features;
        let is_smooth = |feature: &FeatureSchema| feature.effect_knots.iter().any(|knots| knots.spline.is_some());
        let open = self.fit.curves == CurveChoice::Auto && features.iter().any(is_smooth);
        open.then(|| best.spec.clone().curves(CurveChoice::Linear))
    }

    /// Descriptions of nodes that may be worth having.
    fn description_alternatives(&self, train: &Dataset) -> Vec<Vec<NodeDescription>> {
        if !train.spec().describe.is_empty() || train.task() == Task::Node {
            return Vec::new();
        }
        let environment = |radius: usize| NodeDescription::new(Aspect::Environment { radius });
        let degree = NodeDescription::new(Aspect::Degree);
        match train.features().iter().any(|feature| feature.kind == Kind::Categorical) {
            true => {
                let ring = NodeDescription { with_label: true, ..NodeDescription::new(Aspect::Ring) };
                vec![vec![environment(1), ring.clone()], vec![environment(1), environment(2), ring]]
            }
            false => vec![vec![degree.clone()], vec![degree, NodeDescription::new(Aspect::Triangles)]],
        }
    }
}

impl ComparedFits {
    fn compare(&mut self, found: CandidateFit, is_better: impl Fn(&CandidateFit, &CandidateFit) -> bool) {
        self.tried.push((words(&found.spec), found.mean_left_out()));
        if is_better(&self.best, &found) {
            self.best = found;
        }
    }

    /// What was chosen, in words.
    pub(super) fn chosen(&self) -> String {
        words(&self.best.spec)
    }
}

/// Refuses a second level of a model that cannot have one.
fn refuse_second<T>(because: &str) -> Result<T> {
    Err(Error::usage(format!("there is no second level of a model that {because}"))
        .with_remedy(Remedy::LeaveOut(&["level"])))
}

/// Whether a candidate is more probable; one with more strengths by more than these add by chance.
fn is_likelier(best: &CandidateFit, found: &CandidateFit) -> bool {
    is_worth_strengths(best, found, found.strengths_fitted().saturating_sub(best.strengths_fitted()))
}

/// Whether a candidate is more probable by more than so many strengths add by chance, as [`selection`](super::selection) counts, or by a
/// little where it predicts items that it was not fitted on better.
fn is_worth_strengths(best: &CandidateFit, found: &CandidateFit, more: usize) -> bool {
    let rise = rise(best, found);
    let is_better = || rise > LEAST_RISE && is_better_for(best, found, STANDARD_ERRORS, |_| true);
    (rise > GAIN_OF_STRENGTH * more as f64 || is_better()) && is_sound_beside(best, found)
}

/// Whether curves over numbers that sum up items are worth having; where items are weighed, the marginal likelihood is not certain
/// enough. Only their own strengths count: that nodes are averaged besides is what such numbers need.
fn are_curves_worth_having(best: &CandidateFit, found: &CandidateFit) -> bool {
    match best.dual {
        true => is_clearly_better(best, found),
        false => is_worth_strengths(best, found, found.strengths_of_curves()),
    }
}

/// Whether tables are: picked among hundreds, they must be clearly better for the items by which they were not picked.
fn are_tables_worth_having(best: &CandidateFit, found: &CandidateFit) -> bool {
    let is_sound = rise(best, found) > LEAST_RISE && (found.converged || !best.converged);
    is_sound && is_better_for(best, found, MANY_STANDARD_ERRORS, |item| !SCREENED(item))
}

/// How much higher the logarithm of the marginal likelihood is.
fn rise(best: &CandidateFit, found: &CandidateFit) -> f64 {
    found.marginal - best.marginal
}

/// Whether a candidate has converged and does not predict items that were not fitted on clearly worse: where classes are nearly certain,
/// Laplace's approximation of the marginal likelihood is not.
fn is_sound_beside(best: &CandidateFit, found: &CandidateFit) -> bool {
    (found.converged || !best.converged) && !is_clearly_better(found, best)
}

/// Whether an error says that there is no memory for a fit, or no estimate.
fn is_no_answer(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit | ErrorKind::Training)
}

/// Whether a candidate predicts items that were not fitted on better by more than chance.
fn is_clearly_better(best: &CandidateFit, found: &CandidateFit) -> bool {
    is_better_for(best, found, MANY_STANDARD_ERRORS, |_| true)
}

/// The same, judged by some items.
fn is_better_for(best: &CandidateFit, found: &CandidateFit, errors: f64, judges: impl Fn(usize) -> bool) -> bool {
    let losses = best.left_out().iter().zip(found.left_out()).enumerate().filter(|(item, _)| judges(*item));
    let gains: Vec<f64> = losses.map(|(_, (before, after))| before - after).collect();
    let count = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / count;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    mean > errors * (variance / count).sqrt()
}

/// What a specification has that is not the usual value of what may be chosen.
fn words(spec: &Spec) -> String {
    let mut usual = Spec::default().pool(PoolChoice::Sum).normalise(true);
    usual.fit.level = LevelChoice::One;
    let mut spec = spec.clone();
    if spec.fit.level == LevelChoice::Auto {
        spec.fit.level = LevelChoice::One;
    }
    let open = Spec::default();
    let named = CHOSEN.iter().filter(|name| ![usual.get(name), open.get(name)].contains(&spec.get(name)));
    let words: Vec<String> = named.map(|name| format!("{name} {}", spec.get(name).join(","))).collect();
    if words.is_empty() { "plain".to_owned() } else { words.join(", ") }
}
