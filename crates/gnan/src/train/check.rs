//! What a specification may not request: refused before any work starts, with what to do about it.

use crate::dataset::{Dataset, FEWEST_VALUES, Outcome, Target};
use crate::error::{Error, Result};
use crate::files::{Kind, Task};
use crate::lens::{Lens, Pool, Reach, View};
use crate::model::{Rho, model_reach};
use crate::numbers::counted;
use crate::remedy::Remedy;
use crate::shape::ShapeKind;
use crate::spec::{
    BinChoice, FamilyChoice, FeatureRules, FitMethod, LevelChoice, LogitChoice, Loss, OPTIONS, RhoChoice, Selection,
    Spec, TaskChoice,
};

/// Why options of gradient descent change nothing about a penalised fit.
const NO_STEPS: &str = "a penalised fit takes no steps along gradients";

/// Refuses what was requested.
pub(super) fn refuse<T>(what: impl Into<String>, remedy: impl Into<Remedy>) -> Result<T> {
    Err(Error::usage(what).with_remedy(remedy))
}

impl Spec {
    /// Refuses values that make no sense, alone or together.
    pub fn check(&self) -> Result<()> {
        OPTIONS.iter().try_for_each(|option| option.check(self))?;
        self.check_constraints()?;
        let splines_only = [self.resolved_shape(), self.resolved_rho_shape()] == [ShapeKind::Spline; 2];
        if self.fit.dropout > 0.0 && splines_only {
            return refuse("dropout without networks", "leave it out: splines have no units to drop");
        }
        if self.model.readout && (self.promises() || self.model.rho_monotone) {
            return refuse(
                "a promise about predictions beside a readout, which stands between a feature and the prediction",
                Remedy::LeaveOut(&["readout"]),
            );
        }
        if !self.distances.rho_group.is_empty() && self.model.rho.is_some() {
            return refuse(
                "groups of features beside another choice of distance functions",
                Remedy::LeaveOut(&["rho"]),
            );
        }
        Lens::check(&self.lenses())?;
        self.check_hop_caps()?;
        self.check_penalised()?;
        self.check_family()?;
        self.check_links()
    }

    /// Refuses what a penalised fit does not have.
    fn check_penalised(&self) -> Result<()> {
        if !self.is_penalised() {
            return Ok(());
        }
        let (model, usual) = (&self.model, Spec::default());
        if let Some(Selection::Strength(_)) = model.select {
            let path = Remedy::Set("select", Selection::Path.to_string()).to("let the marginal likelihood decide");
            let gradient = Remedy::Set("fit", FitMethod::Gradient.to_string()).to("switch features off by a strength");
            return match self.fit.family {
                FamilyChoice::Auto => refuse("a penalised fit has no strength of selection", [path, gradient]),
                _ => refuse("a penalised fit has no strength of selection", path),
            };
        }
        let shared = self.penalised_rho() != Rho::PerFeature;
        let absent = [
            ("rho", model.rho == Some(RhoChoice::Auto), "a choice between shared and own distance functions"),
            ("select", shared && model.select.is_some(), "a selection of features that share distance functions"),
            (
                "level",
                shared && self.fit.level == LevelChoice::Two,
                "a second level where features share distance functions",
            ),
            (
                "feature-pairs",
                shared && model.feature_pairs > 0,
                "feature pairs where features share distance functions",
            ),
            ("constrain", shared && self.promises(), "rules for features that share distance functions"),
            ("logits", !matches!(model.logits, None | Some(LogitChoice::One)), "a second logit"),
            (
                "constrain",
                model.constrain.iter().any(|rules| rules.rules.smooth.is_some()),
                "strengths of smoothness for features",
            ),
            ("rho-monotone", model.rho_monotone, "rules for distance functions"),
            ("readout", model.readout, "readout functions"),
            ("feature-pair", !model.feature_pair.is_empty(), "feature pairs by name"),
            (
                "feature-pairs",
                model.feature_pairs > 0 && self.fit.level == LevelChoice::One,
                "feature pairs of the first level",
            ),
            ("scale-shells", model.scale_shells, "scaled shells"),
            ("shape", model.shape == Some(ShapeKind::Network), "networks"),
            ("rho-shape", model.rho_shape == Some(ShapeKind::Network), "networks"),
            ("shell-sample", self.statistics.shell_sample.is_some(), "samples of shells"),
            (
                "loss",
                self.fit.loss.is_some() && self.fit.loss != Some(Loss::Squared),
                "another loss than its likelihood",
            ),
            ("batch", self.fit.batch != usual.fit.batch, "mini-batches"),
        ];
        match absent.into_iter().find(|(_, chosen, _)| *chosen) {
            None => Ok(()),
            Some((_, _, what)) => {
                let message =
                    format!("a penalised fit has no {}", what.trim_start_matches("a ").trim_start_matches("another "));
                match self.fit.family {
                    FamilyChoice::Auto => refuse(message, Remedy::Set("fit", FitMethod::Gradient.to_string())),
                    // Nothing else has families of targets.
                    family => refuse(
                        format!("{message}, and only such a fit has {}", family.words()),
                        Remedy::LeaveOut(&["family"]),
                    ),
                }
            }
        }
    }

    /// Refuses a family of targets where gradient descent was requested.
    fn check_family(&self) -> Result<()> {
        if self.fit.family == FamilyChoice::Auto || self.fit.method != FitMethod::Gradient {
            return Ok(());
        }
        refuse(
            "gradient descent has no families of targets",
            [
                Remedy::Set("fit", FitMethod::Penalised.to_string()),
                Remedy::LeaveOut(&["family"]).to("train by gradient descent"),
            ],
        )
    }

    /// Refuses a family of targets that these are not of.
    fn check_family_for(&self, train: &Dataset, outcome: Outcome) -> Result<()> {
        let family = self.fit.family;
        if family == FamilyChoice::Auto {
            return Ok(());
        }
        if !outcome.is_regression() {
            let name = train.targets().first().map_or("", |target| target.name.as_str());
            return refuse(
                format!("target \"{name}\" has classes: {} are predicted for numbers", family.words()),
                [
                    Remedy::Set("task", TaskChoice::Regression.to_string())
                        .to("have few distinct whole numbers read as numbers"),
                    Remedy::LeaveOut(&["family"]).to("predict classes"),
                ],
            );
        }
        for target in train.targets() {
            let mut known = train.items().iter().map(|item| (*item, target.values[*item as usize]));
            let fits = |value: f64| match family {
                FamilyChoice::Gamma => value > 0.0,
                _ => value >= 0.0 && value.fract() == 0.0,
            };
            let wrong = known.find(|(_, value)| !value.is_nan() && !fits(*value));
            let Some((item, value)) = wrong.filter(|_| family.is_log()) else { continue };
            let needed = if family.is_of_counts() { "whole numbers from 0 on" } else { "numbers above 0" };
            let other = match family {
                FamilyChoice::Gamma if value == 0.0 => FamilyChoice::Gaussian,
                _ if value > 0.0 => FamilyChoice::Gamma,
                _ => FamilyChoice::Gaussian,
            };
            return Err(Error::input(format!(
                "target \"{}\" of \"{}\" is {value}: {} are {needed}",
                target.name,
                train.item_id(item),
                family.words()
            ))
            .with_remedy([
                Remedy::from("correct such values"),
                Remedy::Set("family", other.to_string()).to("allow them"),
            ]));
        }
        Ok(())
    }

    /// Options that were chosen and change nothing beside the others, each with the reason.
    pub fn without_effect(&self) -> Vec<(&'static str, &'static str)> {
        let shapes = [self.resolved_shape(), self.resolved_rho_shape()];
        let networks = self.model.readout || shapes.contains(&ShapeKind::Network);
        let unused = [
            ("smooth", !shapes.contains(&ShapeKind::Spline), "it is for splines, and there are none"),
            ("layers", !networks, "it is for networks, and there are none"),
            ("hidden", !networks, "it is for networks, and there are none"),
            ("level", self.fit.method == FitMethod::Gradient, "it is for penalised fits"),
            ("curves", self.fit.method == FitMethod::Gradient, "it is for penalised fits"),
            (
                "curves",
                self.is_penalised() && self.penalised_rho() != Rho::PerFeature,
                "values that share distance functions are those of knots",
            ),
            ("learning-rate", self.is_penalised(), NO_STEPS),
            ("weight-decay", self.is_penalised(), NO_STEPS),
            ("smooth", self.is_penalised(), "the marginal likelihood chooses it"),
            ("epochs", self.is_penalised(), NO_STEPS),
            ("patience", self.is_penalised(), NO_STEPS),
            ("bins", self.is_penalised(), "effects have knots of their own"),
            ("loss", self.fit.family.is_log(), "the likelihood of the family of targets is what is fitted"),
            ("resample", self.statistics.shell_sample.is_none(), "no shells are sampled"),
            ("pieces-above", self.statistics.bins != BinChoice::Off, "bins are not off"),
        ];
        let usual = Spec::default();
        let chosen = |name: &str| self.get(name) != usual.get(name);
        unused
            .into_iter()
            .filter(|(name, unused, _)| *unused && chosen(name))
            .map(|(name, _, why)| (name, why))
            .collect()
    }

    /// Refuses hop caps where a shell may hold nodes that are nearer and nodes that are farther than so many edges.
    fn check_hop_caps(&self) -> Result<()> {
        let distances = &self.distances;
        let of_all = distances.hop_cap.map(|cap| (cap, &["hop-cap"][..]));
        let of_features = distances.hop_cap_of.iter().map(|rule| (rule.cap, &["hop-cap-of"][..]));
        let caps = || of_all.into_iter().chain(of_features.clone()).filter(|(cap, _)| *cap > 0);
        if let (Some(weight), Some((_, option))) = (&distances.edge_weight, caps().next()) {
            return refuse(
                format!("a hop cap counts edges, and distances here are sums of {}", weight.weight),
                Remedy::LeaveOut(option).to("let the last bin end where nodes shall no longer count"),
            );
        }
        let far = distances.far_from.map(usize::from);
        if let Some((cap, option)) = caps().find(|(cap, _)| far.is_some_and(|far| *cap >= far)) {
            return refuse(
                format!("a hop cap of {cap} would cut through the one shell of all far nodes"),
                [
                    Remedy::LeaveOut(option),
                    Remedy::Raise("far-from", Some((cap + 1).to_string())).to("have that shell begin behind the cap"),
                ],
            );
        }
        Ok(())
    }

    /// Refuses options of links without links, and the other way round.
    fn check_links(&self) -> Result<()> {
        let data = &self.data;
        match data.task == Some(TaskChoice::Link) {
            true if !data.target.is_empty() || data.weight.is_some() => {
                refuse("links are predicted, and no column", Remedy::LeaveOut(&["target", "weight"]))
            }
            false if data.negatives.is_some() || data.most_node_pairs.is_some() || !data.pair_features => refuse(
                "negatives, features and the number of node pairs are for the prediction of links",
                Remedy::Set("task", "link".to_owned()),
            ),
            _ => Ok(()),
        }
    }

    /// Refuses constraints that contradict other options, whatever the data.
    fn check_constraints(&self) -> Result<()> {
        let constrain = &self.model.constrain;
        let networks = |option: &'static [&'static str], because: &str| {
            let remedy = Remedy::LeaveOut(option).to("use splines where they are needed");
            refuse(format!("{because} cannot be promised by networks"), remedy)
        };
        if !constrain.is_empty() && self.model.shape == Some(ShapeKind::Network) {
            return networks(&["shape"], "a rule for a feature");
        }
        if (self.model.rho_monotone || self.promises()) && self.model.rho_shape == Some(ShapeKind::Network) {
            return networks(&["rho-shape"], "a rule that the distance functions keep to");
        }
        if let Some(broken) = constrain.iter().find(|rules| !rules.rules.are_sensible()) {
            return refuse(
                format!("the rules of {} have numbers that make no sense", broken.feature),
                "a bound must be above 0, and a strength 0 or more",
            );
        }
        for (position, rules) in constrain.iter().enumerate() {
            if constrain[..position].iter().any(|other| other.feature == rules.feature) {
                return refuse(
                    format!("the rules of {} are given twice", rules.feature),
                    "give all of them at once: \"logp: up, bounded 0.5\"",
                );
            }
        }
        if self.promises() && matches!(self.model.logits, Some(LogitChoice::Two | LogitChoice::Auto)) {
            return refuse(
                "with two logits only their difference counts, of which nothing can be promised",
                Remedy::LeaveOut(&["logits"]).to("use one logit"),
            );
        }
        Ok(())
    }

    /// Refuses what makes no sense, by itself or with these labelled items.
    pub(crate) fn check_for(&self, train: &Dataset) -> Result<()> {
        self.check()?;
        if train.is_empty() {
            return Err(Error::input("there are no labelled items to train on"));
        }
        if train.items().iter().all(|item| train.weight(*item) == 0.0) {
            return Err(Error::input("all training items have weight 0"));
        }
        let outcome = train.outcome()?;
        self.check_targets(train, outcome)?;
        self.check_family_for(train, outcome)?;
        self.check_distances(train)?;
        self.check_constraints_for(train, outcome)
    }

    fn check_targets(&self, train: &Dataset, outcome: Outcome) -> Result<()> {
        let known = |target: &Target| target.values.iter().filter(|value| !value.is_nan()).count();
        let few = |target: &Target| target.classes.is_none() && known(target) < FEWEST_VALUES;
        // One of several targets may be missing everywhere.
        if let [target, ..] = train.targets()
            && train.targets().iter().all(few)
        {
            let known = counted(known(target), "known value");
            return Err(Error::input(format!("target \"{}\" has {known}", target.name))
                .with_remedy(format!("a quantity needs at least {FEWEST_VALUES}")));
        }
        if self.fit.balance && !matches!(outcome, Outcome::Binary | Outcome::Multiclass) {
            return refuse("balancing classes needs one target with classes", Remedy::LeaveOut(&["balance"]));
        }
        if self.model.logits.is_some() && outcome != Outcome::Binary {
            return refuse(
                "the number of logits is a choice for a target of two classes only",
                Remedy::LeaveOut(&["logits"]),
            );
        }
        let plain = train.task() == Task::Node && self.statistics.normalises() && self.fit.batch.is_none();
        if self.model.scale_shells && !(plain && Lens::is_plain(&self.lenses())) {
            return refuse(
                "shells are scaled where nodes are predicted by plain distances, normalised, in one batch",
                Remedy::LeaveOut(&["scale-shells"]),
            );
        }
        if self.model.scale_shells && self.model.output_bias == Some(false) {
            return refuse("scaled shells need an output bias", "leave it to the data");
        }
        Ok(())
    }

    /// Refuses distance options that make no sense with these data.
    fn check_distances(&self, data: &Dataset) -> Result<()> {
        let lenses = self.lenses();
        if data.task() == Task::Node && lenses.iter().any(|lens| lens.pool == Pool::Mean) {
            return refuse("there is nothing to pool for a node: pooling is for graphs", Remedy::LeaveOut(&["pool"]));
        }
        if data.task() == Task::Node && self.model.readout {
            return refuse(
                "a readout takes a whole graph: it is for tasks about graphs",
                Remedy::LeaveOut(&["readout"]),
            );
        }
        if data.task() == Task::Graph && self.statistics.shell_sample.is_some() {
            return refuse(
                "the statistics of graphs are small: there is nothing to sample",
                Remedy::LeaveOut(&["shell-sample"]),
            );
        }
        let reach = model_reach(self, data.links().is_some());
        if reach.is_empty() && !data.features().iter().any(|feature| feature.own_only) {
            return refuse(
                "a node pair is not a source for itself, and no other is near enough",
                Remedy::Raise("hop-cap", Some("1".to_owned())),
            );
        }
        let groups = &self.distances.rho_group;
        for (place, group) in groups.iter().enumerate() {
            if groups[..place].iter().any(|other| other.name == group.name) {
                return refuse(format!("two groups are named \"{}\"", group.name), "give each group a name of its own");
            }
            let mut members = group.features.iter().enumerate();
            if let Some((_, twice)) = members.find(|(at, member)| group.features[..*at].contains(member)) {
                return refuse(
                    format!("the feature \"{twice}\" is in the group \"{}\" twice", group.name),
                    "name every feature of a group once",
                );
            }
        }
        let grouped = groups.iter().flat_map(|group| &group.features).map(String::as_str);
        for name in self.distances.ruled_features().chain(grouped) {
            if !data.features().iter().any(|feature| feature.name == name) {
                return Err(Error::usage(format!("there is no feature \"{name}\" to make a rule for"))
                    .with_remedy(format!("the features are: {}", data.first_names())));
            }
        }
        for feature in data.features() {
            let reach = if feature.own_only { Reach::OWN } else { reach };
            if self.distances.reach_of(&feature.name).is_some_and(|rule| rule.and(reach).is_empty()) {
                return refuse(
                    format!("the rules for \"{}\" leave no distance from which it counts", feature.name),
                    "leave one of them out, or leave out the feature",
                );
            }
            let groups = groups.iter().filter(|group| group.features.contains(&feature.name)).count();
            if groups > 1 {
                return refuse(
                    format!("the feature \"{}\" is in {groups} groups", feature.name),
                    "a feature has one distance function",
                );
            }
        }
        // A lens that cannot be made for one graph cannot be made for any.
        match data.graphs().first() {
            Some(graph) => lenses.iter().try_for_each(|lens| View::new(data, *graph, lens).map(|_| ())),
            None => Ok(()),
        }
    }

    /// Refuses constraints that cannot hold for these data.
    fn check_constraints_for(&self, data: &Dataset, outcome: Outcome) -> Result<()> {
        for FeatureRules { feature, rules } in &self.model.constrain {
            let Some(found) = data.features().iter().find(|found| found.name == *feature) else {
                return Err(Error::usage(format!("there is no feature \"{feature}\" to keep a rule"))
                    .with_remedy(format!("there are: {}", data.first_names())));
            };
            if found.kind == Kind::Categorical {
                return refuse(
                    format!("\"{feature}\" is categorical: its levels have no order and no curve"),
                    "rules are for features with numbers; leave it out",
                );
            }
            if rules.promise() && outcome == Outcome::Multiclass {
                return refuse(
                    "with several classes only differences between them count, of which nothing can be promised",
                    "predict two classes at a time, or a quantity; smooth X can be required",
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_without_effect_are_known_and_others_are_not_named() {
        let names = |spec: &Spec| spec.without_effect().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert!(names(&Spec::default()).is_empty());
        let unused = Spec::default().smooth(0.5).resample(7).pieces_above(9);
        assert_eq!(names(&unused), ["smooth", "resample", "pieces-above"]);
        let used = unused.rho_shape(ShapeKind::Spline).shell_sample(4).bins(BinChoice::Off).hidden(32);
        assert!(names(&used).is_empty());
        let splines = Spec::default().shape(ShapeKind::Spline).rho_shape(ShapeKind::Spline).hidden(32).layers(2);
        assert_eq!(names(&splines), ["layers", "hidden"]);
        assert!(names(&splines.readout(true)).is_empty());
    }
}
