//! The model: its definition, and the parameters that training found.

pub(crate) mod bank_specs;
mod bins;
mod certificate;
mod coefficient_sums;
mod coefficients;
mod definition;
mod effect_curve;
pub(crate) mod engine;
mod fit_summary;
mod item_split;
pub(crate) mod levels;
mod novelty;
pub(crate) mod parameters;
mod posterior;
mod products;
mod record;
pub(crate) mod schema;
mod target_family;
mod training_nodes;

use std::borrow::Cow;
use std::sync::Arc;

pub use bins::Bin;
pub(crate) use bins::Distribution;
pub use certificate::Certificate;
pub(crate) use coefficient_sums::{CoefficientSums, merged, rhos_of_units};
pub(crate) use coefficients::{CoefficientMap, CoefficientSum, CurveGroup, CurveTies, FAR};
pub use definition::{AverageItem, Definition, Learned};
pub(crate) use definition::{channel_plan, model_reach};
pub(crate) use engine::{Engine, EngineModel, ItemRows, OptimiserState, StepSettings};
pub use fit_summary::{FitSummary, SIGNIFICANT, TermSummary};
pub use item_split::{ItemSplit, RememberedSplit};
pub use novelty::Novelty;
pub use parameters::Rho;
pub(crate) use parameters::{FeatureLayout, Layout, Parameters, RhoScale, shell_factor};
pub(crate) use posterior::{Covariance, MOST_KEPT_BYTES, Posterior, PosteriorPart};
pub(crate) use products::ProductMap;
pub use record::{Ended, PairRank, Record, SelectionStep};
pub(crate) use schema::output_count;
pub use schema::{EffectKnots, FeatureSchema, Level, Scale, TargetSchema};
pub use target_family::TargetFamily;
pub use training_nodes::{LITTLE_SUPPORT, Support, TrainingNodes};

use crate::checksum::Checksum;
use crate::dataset::{Dataset, Feature, ItemStatistic, Outcome};
use crate::error::Result;
use crate::shape::Bank;
use crate::spec::Spec;
use crate::statistics::{Statistics, item_statistics};

/// What the output of a model before its readout is called.
pub const BEFORE_READOUT: &str = "before the readout";

/// A trained model.
///
/// ```
/// use gnan::{Dataset, Model, Spec};
/// let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// let model: Model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// let again = Model::from_bytes(&model.to_bytes()?)?;
/// assert_eq!(again.predict(&test)?.items, model.predict(&test)?.items);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    definition: Definition,
    parameters: Parameters,
    /// The posterior of the coefficients, where it was fitted by penalised likelihood.
    posterior: Option<Arc<Posterior>>,
    /// The checksum of the file of an earlier version that it was read from.
    earlier: Option<Checksum>,
}

impl Model {
    /// A model from its parts, which must fit each other.
    #[doc(hidden)]
    pub fn from_parts(definition: Definition, parameters: Parameters) -> Model {
        Model { definition, parameters, posterior: None, earlier: None }
    }

    /// The same model with the posterior of its coefficients.
    pub(crate) fn with_posterior(self, posterior: Option<Posterior>) -> Model {
        Model { posterior: posterior.map(Arc::new), ..self }
    }

    /// Whether it knows how sure it is of its effects, because it was fitted by penalised likelihood.
    pub fn has_posterior(&self) -> bool {
        self.posterior.is_some()
    }

    /// The posterior of its coefficients, where it was fitted by penalised likelihood.
    pub(crate) fn posterior(&self) -> Option<&Arc<Posterior>> {
        self.posterior.as_ref()
    }

    /// The same model, read from a file of an earlier version with this checksum, by which other files know it.
    pub(crate) fn of_earlier_version(self, checksum: Checksum) -> Model {
        Model { earlier: Some(checksum), ..self }
    }

    /// The checksum of the file of an earlier version that it was read from.
    pub(crate) fn earlier_checksum(&self) -> Option<Checksum> {
        self.earlier
    }

    /// The same model with changes to the record of how it came about.
    pub fn with_record(mut self, change: impl FnOnce(&mut Record)) -> Model {
        change(&mut self.definition.record);
        self
    }

    /// The part of a model with a readout that comes before it: its only output is the sum over a graph of the effects of
    /// every feature and of the structure. Nothing is centred, so that the contribution of a feature is the argument of its
    /// readout function. `None` for a model without.
    pub fn before_readout(&self) -> Option<Model> {
        if !self.definition.spec.model.readout {
            return None;
        }
        let mut definition = self.definition.clone();
        definition.spec.model.readout = false;
        definition.learned.uncentred = true;
        definition.learned.outcome = Outcome::Regression;
        definition.learned.target_family = None;
        definition.learned.outputs = 1;
        definition.learned.targets = vec![TargetSchema { name: BEFORE_READOUT.to_owned(), ..TargetSchema::default() }];
        let mut parameters = self.parameters.clone();
        parameters.output_bias = vec![0.0];
        parameters.readouts = Bank::zeros(&definition.bank_specs().readouts);
        Some(Model::from_parts(definition, parameters))
    }

    /// Everything about the model but its parameters.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// What was requested.
    pub fn spec(&self) -> &Spec {
        &self.definition.spec
    }

    /// What the data decided.
    pub fn learned(&self) -> &Learned {
        &self.definition.learned
    }

    /// What happened in training.
    pub fn record(&self) -> &Record {
        &self.definition.record
    }

    /// The numbers that training found.
    #[doc(hidden)]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.definition.learned.outputs
    }

    /// The features of `data` that the model uses, in its own order and kinds.
    pub fn features_of<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, [Feature]>> {
        let known = |(feature, found): (&FeatureSchema, &Feature)| {
            feature.is_read() && feature.name == found.name && feature.kind == found.kind
        };
        let own = &self.definition.learned.features;
        if own.len() == data.features().len() && own.iter().zip(data.features()).all(known) {
            return Ok(Cow::Borrowed(data.features()));
        }
        let mut statistics = self.statistics_of(data)?.into_iter();
        let mut found = Vec::with_capacity(own.len());
        for feature in own {
            found.push(match (&feature.pair, &feature.statistic) {
                (Some(pair), _) => pair.feature(&found)?,
                (None, Some(_)) => statistics.next().expect("every statistic is computed"),
                (None, None) => feature.find(data)?,
            });
        }
        Ok(Cow::Owned(found))
    }

    /// The features that sum up items, all of them together: they share a search for distances.
    fn statistics_of(&self, data: &Dataset) -> Result<Vec<Feature>> {
        let learned = &self.definition.learned;
        let wanted: Vec<ItemStatistic> =
            learned.features.iter().filter_map(|feature| feature.statistic.clone()).collect();
        let known = |statistic: &ItemStatistic| {
            data.features().iter().find(|feature| feature.statistic.as_ref() == Some(statistic)).cloned()
        };
        match wanted.iter().map(known).collect::<Option<Vec<Feature>>>() {
            Some(found) => Ok(found),
            None => item_statistics(data, &learned.lenses[0], &wanted),
        }
    }

    /// The statistics of `data` that the model needs.
    #[doc(hidden)]
    pub fn statistics(&self, data: &Dataset, features: &[Feature]) -> Result<Statistics> {
        let levels = self.levels(data, features)?;
        Statistics::with_levels(data, features, levels, self.definition.statistics_request(), &[])
    }

    /// An engine that computes this model on `statistics`, tables evaluated.
    #[doc(hidden)]
    pub fn engine(&self, statistics: Arc<Statistics>) -> Engine {
        let mut engine = Engine::new(self.definition.engine_model(), statistics, 1.0);
        engine.tables(&self.parameters, false);
        engine
    }
}
