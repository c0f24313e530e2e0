//! Association rules: whether a feature contributes from where it must not.

use crate::explain::Canonical;
use crate::lens::{DistanceAxis, Reach};
use crate::model::{Certificate, Model};
use crate::numbers::number;

/// So many distances beyond the longest of training are looked at, too.
const FARTHER: usize = 3;

impl Model {
    /// One certificate per feature with an association rule, and one for the distances that the model as a whole leaves out. Features
    /// that node pairs alone have are values of nothing else, and those that sum up an item are no values of nodes.
    pub(super) fn certify_associations(&self) -> Vec<Certificate> {
        let definition = self.definition();
        let links = definition.learned.links.is_some();
        let of_items = |k: usize| {
            let feature = &definition.learned.features[k];
            feature.is_of_item() || links && feature.reach == Some(Reach::OWN)
        };
        let ruled = |k: &usize| definition.learned.features[*k].reach.is_some() && !of_items(*k);
        let features: Vec<usize> = (0..definition.learned.features.len()).filter(ruled).collect();
        if features.is_empty() && definition.reach() == Reach::ALL {
            return Vec::new();
        }
        let trained = definition.axis().longest();
        let longest: Vec<usize> = trained.iter().map(|longest| longest + FARTHER).collect();
        let canonical = self.canonical().with_axis(&DistanceAxis::new(&definition.learned.lenses, &longest));
        let mut found = Vec::new();
        if definition.reach() != Reach::ALL {
            let all = (0..definition.learned.features.len()).filter(|k| !of_items(*k));
            found.push(certificate(&canonical, "every feature", all, definition.reach()));
        }
        for k in features {
            let feature = &definition.learned.features[k];
            let reach = feature.reach.unwrap_or(Reach::ALL).and(definition.reach());
            found.push(certificate(&canonical, &feature.name, [k].into_iter(), reach));
        }
        found
    }
}

/// The contributions of some features from distances that are not within their reach.
fn certificate(
    canonical: &Canonical,
    subject: &str,
    features: impl Iterator<Item = usize>,
    reach: Reach,
) -> Certificate {
    let (axis, rhos) = (canonical.axis(), canonical.rhos_over_largest());
    let holds_excluded =
        |slot: &usize| !reach.includes(axis.distance(*slot)) || reach.to.is_some() && axis.may_be_farther(*slot);
    let excluded: Vec<usize> = (0..axis.slots()).filter(holds_excluded).collect();
    let mut largest = 0.0f64;
    for k in features {
        for rho in &rhos[canonical.rhos_of(k)] {
            for value in excluded.iter().flat_map(|slot| &rho[*slot]) {
                largest = if value.is_nan() { f64::INFINITY } else { largest.max(value.abs()) };
            }
        }
    }
    Certificate {
        subject: subject.to_owned(),
        promise: promise(reach, canonical.definition().learned.links.is_some()),
        evidence: format!(
            "rho is {} at every such distance ({} were looked at)",
            if largest == 0.0 { "exactly 0".to_owned() } else { format!("up to {}", number(largest)) },
            excluded.len()
        ),
        holds: largest == 0.0,
    }
}

/// What a reach promises: "of another node never counts".
fn promise(reach: Reach, links: bool) -> String {
    let mut excluded = Vec::new();
    match (reach.from, reach.to) {
        (0, Some(0)) if !reach.unreachable => return "of another node never counts".to_owned(),
        (0, _) => {}
        (1, _) if links => excluded.push("of the pair's own edge".to_owned()),
        (1, _) => excluded.push("of the node itself".to_owned()),
        (from, _) => excluded.push(format!("of a node nearer than {from} edges")),
    }
    excluded.extend(reach.to.map(|to| format!("of a node farther than {to} edges")));
    if !reach.unreachable && reach.to.is_none() {
        excluded.push("of an unreachable node".to_owned());
    }
    format!("{} never counts", excluded.join(" or "))
}
