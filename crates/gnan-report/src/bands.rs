//! The 95 % intervals of a model's figures, found by what they belong to. A penalised fit has them at once, another model by a
//! bootstrap; without one there are none, and figures show the estimate alone.

use gnan::Intervals;
use gnan::bootstrap::{Band, BandKind};
use gnan::explain::{Overview, Point};
use gnan::model::Rho;

use crate::figure::Interval;
use crate::text::one_line;

/// Intervals, where there are any.
#[derive(Clone, Copy, Default)]
pub struct Bands<'a> {
    intervals: Option<&'a Intervals>,
}

impl<'a> Bands<'a> {
    /// The bands of these intervals.
    pub fn new(intervals: Option<&'a Intervals>) -> Bands<'a> {
        Bands { intervals }
    }

    /// Number of replicates behind the bands; `None` without a bootstrap.
    pub fn resamples(&self) -> Option<usize> {
        self.intervals.map(|intervals| intervals.resamples).filter(|resamples| *resamples > 0)
    }

    /// Where the bands come from; `None` without intervals.
    pub fn kind(&self) -> Option<BandKind> {
        self.intervals.map(|intervals| intervals.kind)
    }

    /// Where the bands come from, in words.
    fn origin(&self) -> Option<String> {
        Some(match self.kind()? {
            BandKind::Bootstrap => format!("from {} bootstrap replicates", self.resamples().unwrap_or(0)),
            BandKind::Pointwise => "from the penalised fit, each for one number by itself".to_owned(),
            BandKind::Simultaneous => {
                "from the penalised fit, for all values and distances of a feature at once".to_owned()
            }
        })
    }

    /// Whether there are intervals.
    pub fn are_known(&self) -> bool {
        self.intervals.is_some()
    }

    pub(crate) fn rho(&self, r: usize, slot: usize, c: usize) -> Option<[f64; 2]> {
        ends(self.intervals?.rho.get(r)?.get(slot)?.get(c))
    }

    fn place(&self, k: usize, point: &Point) -> Option<usize> {
        self.intervals?.points.features.get(k)?.iter().position(|found| found == point)
    }

    pub(crate) fn shape(&self, k: usize, point: &Point, c: usize) -> Option<[f64; 2]> {
        ends(self.intervals?.shapes.get(k)?.get(self.place(k, point)?)?.get(c))
    }

    /// The band of a curve, value by value.
    pub(crate) fn curve(&self, k: usize, c: usize) -> Vec<(f64, Interval)> {
        let found = self.intervals.and_then(|found| found.points.features.get(k).zip(found.shapes.get(k)));
        let Some((points, bands)) = found else { return Vec::new() };
        let at = |(point, bands): (&Point, &Vec<Band>)| match point {
            Point::Number(x) => bands.get(c).map(|band| (*x, Interval { low: band.low, high: band.high })),
            _ => None,
        };
        points.iter().zip(bands).filter_map(at).collect()
    }

    /// The band of a heatmap cell.
    pub(crate) fn product(&self, k: usize, point: &Point, slot: usize, c: usize) -> Option<[f64; 2]> {
        ends(self.intervals?.effect_at(k, point.value(), slot, c).as_ref())
    }

    pub(crate) fn structure(&self, slot: usize, c: usize) -> Option<[f64; 2]> {
        ends(self.intervals?.structure.get(slot)?.get(c))
    }

    pub(crate) fn feature_importance(&self, k: usize) -> Option<[f64; 2]> {
        only(self.intervals?.importance.by_feature.get(k)?)
    }

    pub(crate) fn distance_importance(&self, slot: usize) -> Option<[f64; 2]> {
        only(self.intervals?.importance.by_distance.get(slot)?)
    }

    pub(crate) fn structure_importance(&self) -> Option<[f64; 2]> {
        only(&self.intervals?.importance.structure)
    }

    /// The sentence of a caption about bands.
    pub(crate) fn words(&self) -> String {
        let words = |origin| format!(" Bands and whiskers: 95 % intervals {origin}.");
        self.origin().map(words).unwrap_or_default()
    }

    /// The sentence of a caption about the cells of a heatmap.
    pub(crate) fn cell_words(&self) -> String {
        let words = |origin| format!(" Marked corner: the 95 % interval ({origin}) contains 0.");
        self.origin().map(words).unwrap_or_default()
    }

    /// The verdict on the effect of a feature.
    pub(crate) fn verdict(&self, k: usize, overview: &Overview) -> Option<String> {
        named(self.intervals?.shape_verdicts.get(k)?, &overview.shown_outputs)
    }

    /// The verdict on every influence curve, with its name; that of the bias alone is part of the structure term.
    pub(crate) fn rho_verdicts(&self, overview: &Overview, rho: Rho) -> Vec<String> {
        let Some(intervals) = self.intervals else { return Vec::new() };
        let rhos = overview.rho.iter().zip(&intervals.rho_verdicts).skip(rho.of_bias_alone());
        let words = rhos.filter_map(|(rho, verdicts)| {
            let outputs =
                if verdicts.len() == overview.outputs.len() { &overview.outputs } else { &overview.shown_outputs };
            if verdicts.iter().all(String::is_empty) {
                return None;
            }
            let what = if rho.anchor.is_some() { "Influence of" } else { "Effect of" };
            Some(format!("{what} {} by distance: {}.", one_line(&rho.name), named(verdicts, outputs)?))
        });
        words.collect()
    }
}

/// Verdicts by output, one for all where they are the same.
fn named(verdicts: &[String], outputs: &[String]) -> Option<String> {
    let first = verdicts.first()?;
    if verdicts.iter().all(|verdict| verdict == first) {
        return Some(first.clone());
    }
    let each = outputs.iter().zip(verdicts).map(|(output, verdict)| format!("{}: {verdict}", one_line(output)));
    Some(each.collect::<Vec<_>>().join("; "))
}

fn ends(band: Option<&Band>) -> Option<[f64; 2]> {
    band.map(|band| [band.low, band.high])
}

/// The band of a number that is an average over outputs: known for one output alone.
fn only(bands: &[Band]) -> Option<[f64; 2]> {
    match bands {
        [only] => ends(Some(only)),
        _ => None,
    }
}
