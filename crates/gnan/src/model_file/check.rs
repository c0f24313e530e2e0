//! What a model file may not claim: every part of a definition checked before anything is made of it.

use std::collections::BTreeSet;

use crate::dataset::links::CLASSES;
use crate::dataset::pair::MOST_LEVELS;
use crate::dataset::{FeatureBins, FeaturePair, ItemStatistic, LinkSchema, Outcome};
use crate::files::{Kind, Task};
use crate::lens::{DistanceAxis, Lens, Pool, Reach};
use crate::model::{Definition, FeatureSchema, Learned, Record, RhoScale, TargetSchema, output_count};
use crate::shape::{Architecture, ShapeKind};
use crate::spec::{FEWEST_KNOTS, MOST_KNOTS};

/// Sizes beyond these are refused before anything is allocated.
const MOST_LAYERS: usize = 16;
const MOST_HIDDEN: usize = 4096;

/// What is wrong, as the end of "this is not a usable model file:".
type Checked = Result<(), String>;

impl Definition {
    /// Refuses definitions that contradict themselves.
    pub(super) fn check(&self) -> Checked {
        let Definition { spec, learned, record } = self;
        let Architecture { layers, hidden, .. } = self.architecture();
        if layers == 0 || layers > MOST_LAYERS || hidden == 0 || hidden > MOST_HIDDEN || hidden % 16 != 0 {
            return Err(format!("networks of {layers} layers of {hidden}"));
        }
        learned.check(self.source_outputs())?;
        record.check()?;
        if let Some(summary) = &record.summary {
            let fits = learned.features.len() + 1 == summary.terms.len()
                && summary.by_distance.len() == learned.receivers.len();
            if !fits || !summary.is_usable(self.shown_names().len()) {
                return Err("its summary of the fit is not usable".to_owned());
            }
        }
        let promises = spec.model.rho_monotone || learned.features.iter().any(|feature| feature.rules.promise());
        if promises && (learned.rho_spline.is_none() || spec.model.readout) {
            return Err("it promises what its distance functions cannot keep".to_owned());
        }
        if spec.model.readout && learned.task == Task::Node {
            return Err("it has a readout in a task about nodes".to_owned());
        }
        Ok(())
    }
}

impl Record {
    fn check(&self) -> Checked {
        if self.resolved.fit.smooth.is_some_and(|smooth| !(smooth.is_finite() && smooth >= 0.0)) {
            return Err("its strength of smoothing is no number from 0".to_owned());
        }
        Ok(())
    }
}

impl Learned {
    fn check(&self, source_outputs: usize) -> Checked {
        self.check_targets()?;
        if let Some(links) = &self.links {
            check_links(self, links)?;
        }
        self.check_distances()?;
        if let Some(average) = &self.average {
            let rows = average.features.iter().chain(&average.own).chain([&average.bias]);
            let fit = average.features.len() == self.features.len()
                && average.own.len() == self.features.len()
                && average.structure.len() == self.receivers.len()
                && rows.clone().all(|row| row.len() == source_outputs)
                && rows.chain([&average.structure]).flatten().all(|mean| mean.is_finite());
            if !fit {
                return Err("its average item is not usable".to_owned());
            }
        }
        let mut names = BTreeSet::new();
        for (position, feature) in self.features.iter().enumerate() {
            if !names.insert(&feature.name) {
                return Err(format!("feature \"{}\" occurs twice", feature.name));
            }
            self.check_feature(position, feature, source_outputs)?;
        }
        Ok(())
    }

    fn check_targets(&self) -> Checked {
        let class_counts: Vec<Option<usize>> =
            self.targets.iter().map(|target| target.classes.as_ref().map(Vec::len)).collect();
        let fits = match (self.outcome, class_counts.as_slice()) {
            (Outcome::Binary, [Some(2)]) | (Outcome::Regression, [None]) => true,
            (Outcome::Multiclass, [Some(count)]) => *count > 2,
            (Outcome::MultiLabel, several) => several.len() > 1 && several.iter().all(|count| *count == Some(2)),
            (Outcome::MultiRegression, several) => several.len() > 1 && several.iter().all(Option::is_none),
            _ => false,
        };
        if !fits {
            return Err("its targets do not fit what it predicts".to_owned());
        }
        if let Some(family) = &self.target_family
            && !(self.outcome.is_regression() && family.is_usable(self.targets.len()))
        {
            return Err("the family of its targets is not usable".to_owned());
        }
        let counts = [false, true].map(|two_logits| output_count(self.outcome, &self.targets, two_logits));
        if self.outputs == 0 || !counts.contains(&self.outputs) {
            return Err(format!("{} outputs do not fit its targets", self.outputs));
        }
        Ok(())
    }

    fn check_distances(&self) -> Checked {
        let RhoScale { shift, scale } = self.rho_scale;
        if !(shift.is_finite() && scale.is_finite() && scale.abs() > 1e-9) {
            return Err("it has no usable scale of rho".to_owned());
        }
        let scales = &self.shell_scale;
        if scales.len() == 1
            || (!scales.is_empty() && self.lenses.len() != 1)
            || scales.iter().any(|factor| !(*factor > 0.0 && *factor < 1e9))
        {
            return Err("its factors of shells are not usable".to_owned());
        }
        if let Some(basis) = &self.rho_spline {
            let ends = basis.range() == Some((0.0, 1.0)) && self.rho_scale == RhoScale::PLAIN;
            if !basis.is_usable() || basis.degree != 1 || basis.anchored || basis.flat || !ends {
                return Err("it has no usable knots of rho".to_owned());
            }
        }
        Lens::check(&self.lenses).map_err(|error| error.to_string())?;
        let total = self.slots.iter().try_fold(0usize, |sum, slots| sum.checked_add(*slots));
        let longest: Vec<usize> = self.slots.iter().map(|slots| slots.saturating_sub(2)).collect();
        if self.slots.len() != self.lenses.len()
            || self.slots.iter().any(|slots| *slots < 2)
            || total != Some(self.receivers.len())
            || self.items_at.len() != self.receivers.len()
            || DistanceAxis::new(&self.lenses, &longest).lengths() != self.slots
        {
            return Err("its distances do not fit the ways in which they are measured".to_owned());
        }
        if self.task == Task::Node && self.lenses.iter().any(|lens| lens.pool == Pool::Mean) {
            return Err("it pools nodes in a task about nodes".to_owned());
        }
        if self.receivers.iter().any(|count| !count.is_finite()) {
            return Err("it does not record which distances occurred in training".to_owned());
        }
        Ok(())
    }

    fn check_feature(&self, position: usize, feature: &FeatureSchema, source_outputs: usize) -> Checked {
        let broken = |what: &str| Err(format!("feature \"{}\" {what}", feature.name));
        let numeric = feature.kind != Kind::Categorical;
        match feature.scale {
            Some(scale) if numeric => {
                let finite = [scale.shift, scale.scale, scale.min, scale.max].iter().all(|x| x.is_finite());
                if !finite || scale.scale <= 0.0 {
                    return broken("has no usable scale");
                }
            }
            None if !numeric => {}
            _ => return broken("has a scale that does not fit its kind"),
        }
        let bins = &feature.bins;
        let ordered = bins.iter().all(|bin| bin.from.is_finite() && bin.to.is_finite() && bin.from <= bin.to);
        if !ordered || !bins.is_sorted_by(|a, b| a.from < b.from) || (!numeric && !bins.is_empty()) {
            return broken("has bins that do not fit");
        }
        let deciles = &feature.deciles;
        let finite = deciles.iter().all(|value| value.is_finite());
        if !finite || !deciles.is_sorted() || (!numeric && !deciles.is_empty()) || deciles.len() == 1 {
            return broken("has deciles that do not fit");
        }
        let effects = &feature.mean_effect;
        let expected = if feature.kind == Kind::Continuous { [0, source_outputs] } else { [0, 0] };
        if !expected.contains(&effects.len()) || effects.iter().any(|effect| !effect.is_finite()) {
            return broken("has a mean effect that does not fit");
        }
        if let Some(pair) = &feature.pair
            && let Err(what) = check_pair(pair, feature, &self.features[..position])
        {
            return broken(what);
        }
        if let Some(statistic) = &feature.statistic
            && (feature.kind != Kind::Continuous
                || feature.effect_knots.is_none()
                || feature.reach != Some(Reach::OWN)
                || statistic.distance > ItemStatistic::FARTHEST
                || self.links.is_some())
        {
            return broken("is a number that sums up items, and does not fit them");
        }
        if let Some(knots) = &feature.effect_knots
            && !(numeric && self.shape == ShapeKind::Spline && knots.are_usable(feature.kind))
        {
            return broken("has knots of effects that do not fit");
        }
        let spline = numeric && self.shape == ShapeKind::Spline && feature.effect_knots.is_none();
        if feature.spline.is_some() != spline || feature.spline.as_ref().is_some_and(|basis| !basis.is_usable()) {
            return broken("has knots that do not fit");
        }
        if feature.knots.is_some_and(|knots| !numeric || !(FEWEST_KNOTS..=MOST_KNOTS).contains(&knots)) {
            return broken("was trained on knots that cannot be");
        }
        if !feature.rules.are_sensible() || (feature.rules.promise() && !spline && feature.effect_knots.is_none()) {
            return broken("has rules that do not fit");
        }
        let levels: BTreeSet<_> = feature.levels.iter().map(|level| &level.name).collect();
        if levels.len() != feature.levels.len() || (numeric && !levels.is_empty()) {
            return broken("has levels that do not fit");
        }
        Ok(())
    }
}

/// Refuses a model of links whose features are not made of those of the ends of pairs.
fn check_links(learned: &Learned, links: &LinkSchema) -> Checked {
    let link = |target: &TargetSchema| target.classes.as_deref() == Some(&CLASSES.map(str::to_owned));
    if learned.task != Task::Node || learned.directed || !learned.targets.iter().all(link) {
        return Err("it predicts links and something else".to_owned());
    }
    links.division.check().map_err(|error| error.to_string())?;
    if links.ends.iter().filter_map(|end| end.weight).any(|weight| !weight.is_finite()) {
        return Err("the weight of a feature of the nodes is no number".to_owned());
    }
    let known: BTreeSet<(String, &str)> =
        links.pair_features().into_iter().map(|(name, kind)| (name, kind.name())).collect();
    let of_candidates: BTreeSet<String> =
        links.own.into_iter().flat_map(|own| own.names(&links.ends)).map(|(name, _)| name).collect();
    for feature in learned.features.iter().filter(|feature| feature.pair.is_none()) {
        if !known.contains(&(feature.name.clone(), feature.kind.name())) {
            return Err(format!("feature \"{}\" is not made of features of the nodes", feature.name));
        }
        if of_candidates.contains(&feature.name) != (feature.reach == Some(Reach::OWN)) {
            return Err(format!("feature \"{}\" counts at distances where it has no values", feature.name));
        }
    }
    Ok(())
}

/// Refuses pairs that cannot be made of the features before them.
fn check_pair(pair: &FeaturePair, feature: &FeatureSchema, before: &[FeatureSchema]) -> Result<(), &'static str> {
    let [first, second] = &pair.members;
    if feature.kind != Kind::Categorical || feature.description.is_some() || feature.missing.is_some() {
        return Err("is a pair, which is categorical, read from its members and never missing");
    }
    if first.feature == second.feature {
        return Err("is a pair of a feature with itself");
    }
    for member in &pair.members {
        let Some(schema) = before.iter().find(|other| other.name == member.feature && other.pair.is_none()) else {
            return Err("is a pair of features that do not stand before it");
        };
        let fits = match (&member.bins, schema.kind) {
            (FeatureBins::Edges(edges), Kind::Continuous | Kind::Sparse) => {
                edges.len() < MOST_LEVELS && edges.iter().all(|x| x.is_finite()) && edges.is_sorted_by(|a, b| a < b)
            }
            (FeatureBins::Flag, kind) => kind == Kind::Binary,
            (FeatureBins::Levels(levels), Kind::Categorical) => {
                let names: BTreeSet<_> = levels.iter().collect();
                levels.len() <= MOST_LEVELS && names.len() == levels.len()
            }
            _ => false,
        };
        if !fits {
            return Err("is a pair with bins that do not fit its members");
        }
    }
    Ok(())
}
