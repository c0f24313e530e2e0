//! Hearing: what a training decides about distance, checked against the data before any work starts.

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::files::Task;
use crate::lens::{Lens, Pool, Reach, View};
use crate::model::{FeatureSchema, Rho, channel_plan, model_reach};
use crate::statistics::{Sample, StatisticsOptions};

use super::Training;

impl Training {
    /// The distances from which a model of such data hears anything.
    pub fn reach(&self, data: &Dataset) -> Reach {
        model_reach(self.hop_cap, self.silent_unreachable, data.links().is_some())
    }

    /// The group of a feature by name, and its association rule.
    fn heard(&self, feature: &str) -> (Option<&str>, Option<Reach>) {
        let group = self.rho_groups.iter().find(|(_, members)| members.iter().any(|member| member == feature));
        let mut rules = self.associations.iter().filter(|(name, _)| name == feature).map(|(_, reach)| *reach);
        let first = rules.next();
        (group.map(|(name, _)| name.as_str()), first.map(|first| rules.fold(first, |all, rule| all.and(rule))))
    }

    /// Writes groups and association rules into what is known of the features.
    pub(crate) fn associate(&self, features: &mut [FeatureSchema]) {
        for feature in features {
            let (group, reach) = self.heard(&feature.name);
            (feature.rho_group, feature.reach) = (group.map(str::to_owned), reach);
        }
    }

    /// Which statistics a model with such a rho needs.
    pub(crate) fn statistics_options<'a>(
        &self,
        rho: Rho,
        features: impl Iterator<Item = &'a str>,
    ) -> StatisticsOptions {
        StatisticsOptions {
            normalise: self.normalise,
            lenses: self.lenses.clone(),
            channels: channel_plan(rho, features.map(|name| self.heard(name))),
            sample: self.shell_sample.map(|size| Sample { size, seed: self.seed, draw: 0 }),
            cache: self.cache.clone(),
        }
    }

    /// Says which features of the data are trained on knots, where any are.
    pub fn knots_note(&self, data: &Dataset) -> Option<String> {
        let counts: Vec<usize> = self.knots.counts(data);
        let (features, least) = (counts.len(), counts.first()?);
        let what = if features == 1 { "feature has" } else { "features have" };
        Some(format!(
            "{features} {what} so many distinct values that training asks for {least} of them, at quantiles, with lines \
             between them: an approximation (--bins off: all of them); predictions will be exact"
        ))
    }

    /// Refuses what makes no sense with these data.
    pub(crate) fn check_hearing(&self, data: &Dataset) -> Result<()> {
        if data.task() == Task::Node && self.lenses.iter().any(|lens| lens.pool == Pool::Mean) {
            return Err(Error::usage("a node has nothing to pool: pooling is for graphs").remedy("leave --pool out"));
        }
        if data.task() == Task::Node && self.readout {
            return Err(Error::usage("a readout reads a whole graph: it is for tasks about graphs")
                .remedy("leave --readout out"));
        }
        if data.task() == Task::Graph && self.shell_sample.is_some() {
            return Err(Error::usage("the statistics of graphs are small: there is nothing to sample")
                .remedy("leave --shell-sample out; it is for tasks about nodes"));
        }
        if self.reach(data).is_empty() {
            return Err(Error::usage("a pair does not hear itself, and nothing else is near enough")
                .remedy("raise --hop-cap to 1 or more"));
        }
        let known = |name: &str| data.features().iter().any(|feature| feature.name == name);
        let named =
            (self.associations.iter().map(|(name, _)| name)).chain(self.rho_groups.iter().flat_map(|(_, names)| names));
        for name in named {
            if !known(name) {
                let names: Vec<&str> = data.features().iter().map(|feature| feature.name.as_str()).take(12).collect();
                return Err(Error::usage(format!("there is no feature \"{name}\" to make a rule for"))
                    .remedy(format!("the features are: {}", names.join(", "))));
            }
        }
        for feature in data.features() {
            let (_, rule) = self.heard(&feature.name);
            if rule.is_some_and(|rule| rule.and(self.reach(data)).is_empty()) {
                return Err(Error::usage(format!(
                    "the rules for \"{}\" leave no distance to hear it from",
                    feature.name
                ))
                .remedy("leave one of them out, or leave out the feature"));
            }
            let groups = self.rho_groups.iter().filter(|(_, members)| members.contains(&feature.name)).count();
            if groups > 1 {
                return Err(Error::usage(format!("the feature \"{}\" is in {groups} groups", feature.name))
                    .remedy("a feature has one distance function"));
            }
        }
        // A lens that cannot be made for one graph cannot be made for any.
        match data.graphs().first() {
            Some(graph) => self.lenses.iter().try_for_each(|lens: &Lens| View::new(data, *graph, lens).map(|_| ())),
            None => Ok(()),
        }
    }
}
