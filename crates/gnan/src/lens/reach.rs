//! Reach: the distances at which a source counts.

use serde::{Deserialize, Serialize};

use crate::spec::DistanceSpec;

/// The distances at which a source counts: from one to another, and whether unreachable sources count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reach {
    /// The nearest distance that counts: 0 is the receiver itself.
    #[serde(default)]
    pub from: usize,
    /// The farthest distance that counts; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<usize>,
    /// Whether nodes without a path to the receiver count.
    pub unreachable: bool,
}

impl Reach {
    /// Every distance.
    pub const ALL: Reach = Reach { from: 0, to: None, unreachable: true };
    /// Own value only: no guilt by association.
    pub const OWN: Reach = Reach { from: 0, to: Some(0), unreachable: false };
    /// Others only: the own value does not count.
    pub const OTHERS: Reach = Reach { from: 1, to: None, unreachable: true };

    /// No distance at all.
    pub const NOTHING: Reach = Reach { from: 1, to: Some(0), unreachable: false };

    /// Nothing from beyond a distance.
    pub const fn up_to(distance: usize) -> Reach {
        Reach { from: 0, to: Some(distance), unreachable: false }
    }

    /// Whether a distance counts; `None` is "unreachable".
    pub fn includes(&self, distance: Option<usize>) -> bool {
        match distance {
            None => self.unreachable,
            Some(distance) => distance >= self.from && self.to.is_none_or(|to| distance <= to),
        }
    }

    /// The distances that both include.
    pub fn and(&self, other: Reach) -> Reach {
        let to = match (self.to, other.to) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Reach { from: self.from.max(other.from), to, unreachable: self.unreachable && other.unreachable }
    }

    /// Whether no distance counts at all.
    pub fn is_empty(&self) -> bool {
        !self.unreachable && self.to.is_some_and(|to| to < self.from)
    }

    /// In words: "own value only", "neighbours only", "up to distance 2".
    pub fn words(&self) -> String {
        let unreachable = if self.unreachable { "" } else { ", not from unreachable nodes" };
        match (self.from, self.to) {
            (0, Some(0)) if !self.unreachable => "own value only".to_owned(),
            (0, None) if self.unreachable => "all distances".to_owned(),
            (0, None) => "all distances but unreachable nodes".to_owned(),
            (1, None) => format!("neighbours only{unreachable}"),
            (0, Some(to)) => format!("up to distance {to}"),
            (1, Some(to)) => format!("neighbours only, up to distance {to}"),
            (from, Some(to)) => format!("distances {from} to {to}"),
            (from, None) => format!("distance {from} and beyond{unreachable}"),
        }
    }
}

impl DistanceSpec {
    /// The association rule of a feature: the distances from which it counts; `None`: there is no rule for it.
    pub fn reach_of(&self, feature: &str) -> Option<Reach> {
        let listed = |names: &[String], reach: Reach| names.iter().any(|name| name == feature).then_some(reach);
        let caps = self.hop_cap_of.iter().filter(|cap| cap.feature == feature).map(|cap| Reach::up_to(cap.cap));
        let rules = [listed(&self.own_only, Reach::OWN), listed(&self.neighbours_only, Reach::OTHERS)];
        rules.into_iter().flatten().chain(caps).reduce(|all, rule| all.and(rule))
    }

    /// The group of features that a feature shares a distance function with.
    pub fn group_of(&self, feature: &str) -> Option<&str> {
        let group = self.rho_group.iter().find(|group| group.features.iter().any(|member| member == feature));
        group.map(|group| group.name.as_str())
    }

    /// The features that association rules name.
    pub fn ruled_features(&self) -> impl Iterator<Item = &str> {
        let listed = self.own_only.iter().chain(&self.neighbours_only).map(String::as_str);
        listed.chain(self.hop_cap_of.iter().map(|cap| cap.feature.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_reaches_include_what_both_include() {
        let reaches = [Reach::ALL, Reach::OWN, Reach::OTHERS, Reach::up_to(2), Reach { to: Some(4), ..Reach::OTHERS }];
        for one in reaches {
            for two in reaches {
                for distance in (0..8).map(Some).chain([None]) {
                    assert_eq!(one.and(two).includes(distance), one.includes(distance) && two.includes(distance));
                }
            }
        }
        assert!(Reach::OWN.and(Reach::OTHERS).is_empty() && !Reach::OWN.is_empty());
        assert_eq!(Reach::OWN.words(), "own value only");
        assert_eq!(Reach::OTHERS.and(Reach::up_to(2)).words(), "neighbours only, up to distance 2");
    }
}
