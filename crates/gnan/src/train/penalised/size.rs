//! How large a penalised fit would be, before anything large is made.

use serde::Serialize;

use super::dual_estimate::{dual_memory, dual_operations};
use crate::dataset::{Dataset, Outcome};
use crate::files::{Kind, Task};
use crate::lens::Reach;
use crate::likelihood::{Design, bilinear_bytes};
use crate::model::{FAR, FeatureSchema, Rho};
use crate::spec::{MOST_PAIRS_PER_FEATURE, Spec};
use crate::train::setup::learn_features;

/// Most coefficients that are fitted without being requested, all outputs that are fitted together counted: some minutes.
const MOST_UNASKED: usize = 4000;
/// The same of operations for the second derivatives of all items, where effects are products: each iteration of each candidate takes
/// them anew, 4e10 of them some 3 seconds on a shared core.
const MOST_OF_ITEMS: f64 = 1e10;
/// The memory of a cell, about.
const BYTES_PER_CELL: u64 = 24;

/// Most coefficients that are fitted in the primal form, all outputs that are fitted together counted: the time grows with their third
/// power.
pub(super) const MOST_COEFFICIENTS: usize = 8000;
/// From so many coefficients on, counted likewise, the dual form is taken where coefficients outnumber the items.
const MANY_COEFFICIENTS: usize = 2000;
/// The most that the third power of the number of items, times the outputs, may be in the dual form: some minutes.
const MOST_DUAL: f64 = 1.7e12;

/// Updates of the smoothness of a fit, about, and operations in a second: for estimates of time.
const USUAL_UPDATES: f64 = 25.0;
const OPERATIONS: f64 = 2e10;

/// What a penalised fit would take, about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PenalisedSize {
    /// Coefficients of an output.
    pub columns: usize,
    /// Outputs that are fitted together.
    pub outputs: usize,
    /// Whether items would be weighed in place of coefficients.
    pub dual: bool,
    /// Bytes.
    pub memory: u64,
    /// Seconds on one thread, of every candidate that is compared.
    pub seconds: f64,
    /// Whether it is small enough to be done without being requested.
    pub fits: bool,
}

/// Whether so many coefficients of each of some outputs are fitted in the dual form.
pub(super) fn is_dual(columns: usize, outputs: usize, items: usize) -> bool {
    let cheap = outputs as f64 * (items as f64).powi(3) <= MOST_DUAL;
    let all = columns * outputs;
    let sooner = all > MOST_COEFFICIENTS && dual_operations(items, outputs) < primal_operations(all);
    ((columns > items && all > MANY_COEFFICIENTS) || sooner) && cheap
}

/// Operations that the primal form takes, about: a factor and its inverse for every update.
fn primal_operations(coefficients: usize) -> f64 {
    USUAL_UPDATES * 4.0 / 3.0 * (coefficients as f64).powi(3)
}

impl Spec {
    /// How large a penalised fit of these items would be.
    pub(crate) fn penalised_size(&self, train: &Dataset) -> PenalisedSize {
        let penalised = self.clone().method(crate::spec::FitMethod::Penalised);
        let lenses = self.lenses().len();
        let slots = |reach_to: Option<usize>| match reach_to.or(self.distances.hop_cap) {
            Some(cap) => (cap + 1).min(FAR + 2),
            None => FAR + 2,
        };
        let features = learn_features(&penalised, penalised.resolved_shape(), train);
        // Own values count by one lens.
        let of_feature = |feature: &FeatureSchema| {
            // The 0 of a sparse feature has no effect.
            let curves = feature.curve_count() - usize::from(feature.kind == Kind::Sparse).min(feature.curve_count());
            match feature.reach {
                Some(Reach::OWN) => curves,
                reach => curves * slots(reach.and_then(|reach| reach.to)) * lenses,
            }
        };
        let cells_of_item = 1 + features.iter().map(of_feature).sum::<usize>() + slots(None) * lenses;
        let shared = self.penalised_rho() != Rho::PerFeature;
        // Values and distance functions that they share: of single features, of groups, and that of the structure.
        let functions = match self.penalised_rho() {
            Rho::Grouped => self.distances.rho_group.len() + 2,
            Rho::Shared | Rho::PerFeature => 1,
        };
        let values = features.iter().map(FeatureSchema::value_count).sum::<usize>();
        let columns = if shared { 2 + values + functions * slots(None) * lenses } else { cells_of_item };
        let outputs = match train.outcome() {
            Ok(Outcome::Multiclass) => train.targets()[0].classes.as_ref().map_or(1, Vec::len),
            _ => 1,
        };
        let dual = !shared && is_dual(columns, outputs, train.len());
        let cells = cells_of_item.min(train.node_count()) as u64 * train.len() as u64;
        let matrices = match dual {
            true => dual_memory(columns, train.len(), outputs),
            false if shared => bilinear_bytes(columns, outputs),
            false => Design::fit_bytes(columns, outputs),
        };
        let memory = matrices + BYTES_PER_CELL * cells;
        let near = train.task() == Task::Graph || train.receiver_source_pairs() <= MOST_PAIRS_PER_FEATURE;
        // Products have no second derivatives that are kept.
        let of_items = if shared { train.len() as f64 * ((columns * outputs) as f64).powi(2) } else { 0.0 };
        let small = dual || (columns * outputs <= MOST_UNASKED && of_items <= MOST_OF_ITEMS);
        let fits = near && small && train.run().memory.demand(memory, "a penalised fit").is_ok();
        let operations = match dual {
            true => dual_operations(train.len(), outputs),
            false => primal_operations(columns * outputs) + USUAL_UPDATES * of_items,
        };
        let seconds = operations / OPERATIONS;
        PenalisedSize { columns, outputs, dual, memory, seconds, fits }
    }
}
