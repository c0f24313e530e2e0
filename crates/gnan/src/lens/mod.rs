//! Lenses: the ways in which a model measures how far a source is from a receiver.
//!
//! A plain model has one lens: the number of edges on the shortest path. Further lenses follow edges along or against
//! their direction, follow edges of some types only, or take the sum of a weight along the path, cut into bins; all
//! distances from some on may be one; and in a graph task the outputs of the receivers may be summed up or averaged. Every
//! lens has distance functions of its own. The distances of all lenses, one after the other, are the *slots* of a
//! [`DistanceAxis`]; those from which a feature counts are its [`Reach`].

mod distance_axis;
mod reach;
mod search_result;
mod view;

use serde::{Deserialize, Serialize};

pub use distance_axis::DistanceAxis;
pub use reach::Reach;
pub use search_result::SearchResult;
pub use view::{Longest, View, ViewSearch};

use crate::error::{Error, Result};
use crate::spec::{DistanceSpec, EdgeDirection, PoolChoice, WeightBins};

/// How the outputs of all receivers of a graph become one.
///
/// ```
/// use gnan::{Lens, Pool, Spec};
/// let mut spec = Spec::default();
/// spec.set("pool", &["mean".to_owned()])?;
/// assert_eq!(Lens::of(&spec.distances)[0].pool, Pool::Mean);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// Their sum.
    #[default]
    Sum,
    /// Their mean.
    Mean,
}

impl Pool {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Pool::Sum => "sum",
            Pool::Mean => "mean",
        }
    }
}

impl WeightBins {
    /// The bin of a distance, counted from 1; `None` beyond the last.
    fn bin(&self, distance: f64) -> Option<usize> {
        let bin = self.ends.partition_point(|end| *end < distance);
        (bin < self.ends.len()).then_some(bin + 1)
    }

    /// Where a bin, counted from 1, begins and ends.
    fn bounds(&self, bin: usize) -> [f64; 2] {
        [if bin < 2 { 0.0 } else { self.ends[bin - 2] }, self.ends[bin - 1]]
    }
}

/// A way of measuring distance.
///
/// ```
/// use gnan::{Lens, Spec};
/// let lenses = Lens::of(&Spec::default().distances);
/// assert!(Lens::is_plain(&lenses));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lens {
    /// Which way edges are followed.
    #[serde(default)]
    pub direction: EdgeDirection,
    /// The types of the edges that are followed; empty: all edges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// The sum of a weight in place of the number of edges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<WeightBins>,
    /// All distances from here on are one shell, and one distance to rho.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far: Option<u16>,
    /// How receivers are pooled in a graph task.
    #[serde(default)]
    pub pool: Pool,
}

/// Most lenses that a model may have.
const MOST_LENSES: usize = 16;
/// Most bins of a weighted distance.
const MOST_BINS: usize = 200;
/// The farthest that "far" may begin.
const MOST_FAR: u16 = 1000;

impl Lens {
    /// One plain lens.
    pub fn plain() -> Vec<Lens> {
        vec![Lens::default()]
    }

    /// The lenses that a specification requests: every combination of its directions, sets of edge types and poolings.
    pub fn of(spec: &DistanceSpec) -> Vec<Lens> {
        let or_default = |count: usize| count.max(1);
        let pools: &[Pool] = match spec.pool {
            PoolChoice::Auto | PoolChoice::Sum => &[Pool::Sum],
            PoolChoice::Mean => &[Pool::Mean],
            PoolChoice::Both => &[Pool::Sum, Pool::Mean],
        };
        let mut lenses = Vec::new();
        for direction in 0..or_default(spec.direction.len()) {
            for types in 0..or_default(spec.edge_types.len()) {
                lenses.extend(pools.iter().map(|pool| Lens {
                    direction: spec.direction.get(direction).copied().unwrap_or_default(),
                    types: spec.edge_types.get(types).map(|types| types.0.clone()).unwrap_or_default(),
                    bins: spec.edge_weight.clone(),
                    far: spec.far_from,
                    pool: *pool,
                }));
            }
        }
        lenses
    }

    /// Whether these are one plain lens.
    pub fn is_plain(lenses: &[Lens]) -> bool {
        matches!(lenses, [lens] if *lens == Lens::default())
    }

    /// Names that distinguish lenses; empty for one alone.
    pub fn names(lenses: &[Lens]) -> Vec<String> {
        let differ = |of: &dyn Fn(&Lens) -> String| lenses.iter().any(|lens| of(lens) != of(&lenses[0]));
        let direction = |lens: &Lens| lens.direction.name().to_owned();
        let types = |lens: &Lens| if lens.types.is_empty() { "all".to_owned() } else { lens.types.join("+") };
        let bins = |lens: &Lens| lens.bins.as_ref().map_or("hops".to_owned(), |bins| bins.weight.clone());
        let pool = |lens: &Lens| lens.pool.name().to_owned();
        let aspects: [&dyn Fn(&Lens) -> String; 4] = [&direction, &types, &bins, &pool];
        let telling: Vec<_> = aspects.into_iter().filter(|aspect| differ(*aspect)).collect();
        lenses.iter().map(|lens| telling.iter().map(|aspect| aspect(lens)).collect::<Vec<_>>().join(" ")).collect()
    }

    /// Refuses lenses that make no sense.
    pub fn check(lenses: &[Lens]) -> Result<()> {
        if lenses.is_empty() || lenses.len() > MOST_LENSES {
            return Err(Error::usage(format!("a model of {} lenses", lenses.len()))
                .with_remedy(format!("a model measures distance in 1 to {MOST_LENSES} ways")));
        }
        for (place, lens) in lenses.iter().enumerate() {
            if lenses[..place].contains(lens) {
                return Err(
                    Error::usage("distance is measured in the same way twice").with_remedy("leave one of them out")
                );
            }
            if let Some(far) = lens.far.filter(|far| lens.bins.is_some() || !(1..=MOST_FAR).contains(far)) {
                return Err(Error::usage(format!("distances from {far} on cannot be one shell")).with_remedy(format!(
                    "give a number of edges from 1 to {MOST_FAR}, and no weights: their last bin does the same"
                )));
            }
            if let Some(bins) = &lens.bins {
                let ascending = bins.ends.windows(2).all(|pair| pair[0] < pair[1]);
                let usable = bins.ends.iter().all(|end| end.is_finite() && *end > 0.0);
                if bins.ends.is_empty() || bins.ends.len() > MOST_BINS || !ascending || !usable {
                    return Err(Error::usage(format!("the bins of \"{}\" cannot be used", bins.weight)).with_remedy(
                        format!("give where they end, ascending and above 0, at most {MOST_BINS}: for example 1,7,30"),
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenses_are_named_by_what_tells_them_apart() {
        let mean = Lens { pool: Pool::Mean, ..Lens::default() };
        assert_eq!(Lens::names(&[Lens::default()]), [""]);
        assert_eq!(Lens::names(&[Lens::default(), mean.clone()]), ["sum", "mean"]);
        let against = Lens { direction: EdgeDirection::Against, ..Lens::default() };
        assert_eq!(Lens::names(&[Lens::default(), against]), ["along", "against"]);
        assert!(Lens::check(&[mean.clone(), mean]).is_err() && Lens::check(&[]).is_err());
    }

    #[test]
    fn bins_hold_what_lies_up_to_their_end() {
        let bins = WeightBins { weight: "days".to_owned(), ends: vec![1.0, 7.0] };
        assert_eq!([0.0, 1.0, 1.5, 7.0, 7.1].map(|x| bins.bin(x)), [Some(1), Some(1), Some(2), Some(2), None]);
        assert_eq!([bins.bounds(1), bins.bounds(2)], [[0.0, 1.0], [1.0, 7.0]]);
        assert!(Lens::check(&[Lens { bins: Some(bins), ..Lens::default() }]).is_ok());
        let broken = WeightBins { weight: "days".to_owned(), ends: vec![2.0, 1.0] };
        assert!(Lens::check(&[Lens { bins: Some(broken), ..Lens::default() }]).is_err());
    }
}
