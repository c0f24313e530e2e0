//! Coverage of bands: how often the planted truth lies inside bands that should hold it 95 times in 100.
//!
//! Bands come from a function, so that nothing here depends on how they are made. Only points that can be wrong are
//! counted: not the 0 of a binary feature, nor the distance where rho is 1 by definition.

use serde::Serialize;

use gnan::dataset::Dataset;
use gnan::error::{Error, Result};
use gnan::explain::FeatureValue;
use gnan::files::Kind;
use gnan::internals::random::Stream;
use gnan::spec::Spec;
use gnan::train::Fitted;

use super::cases::{Case, graph_regression, node_regression};
use super::recovery::{feature_value, has_effect, has_own_rhos, rho_places};
use super::{PlantedTrial, Progress, Selftest, Watch};

/// Shares of covered points that are accepted for bands of 95 %.
pub const ACCEPTED_COVERAGE: [f64; 2] = [0.90, 0.99];
/// Points with less than this share of the best supported point's support are not counted.
const LEAST_SUPPORT: f64 = 0.005;
/// Bands that miss the truth with a bias above this share of their half-width miss it because of the bias.
const LARGE_BIAS: f64 = 0.5;

/// A place in the canonical form of a model that has a band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BandPlace<'a> {
    /// Rho number `rho` of [`Canonical::rhos`](gnan::explain::Canonical::rhos) at a slot.
    Rho {
        /// Which rho.
        rho: usize,
        /// The slot.
        slot: usize,
        /// The output.
        output: usize,
    },
    /// The shape function of a feature at a value.
    Shape {
        /// Which feature.
        feature: usize,
        /// The value.
        value: FeatureValue<'a>,
        /// The output.
        output: usize,
    },
}

/// A simulated data set and the model trained on it.
#[derive(Clone, Copy, Debug)]
pub struct Simulated<'a> {
    /// How it was trained.
    pub spec: &'a Spec,
    /// The whole data set; `fitted` says which items were fitted on and which decided when to stop.
    pub data: &'a Dataset,
    /// The model and how training went.
    pub fitted: &'a Fitted,
}

/// Gives the 95 % band (low, high) at each of the places.
pub type Bands<'a> = dyn FnMut(&Simulated<'_>, &[BandPlace<'_>]) -> Result<Vec<[f64; 2]>> + 'a;

/// Whether bands hold the truth as often as they should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageVerdict {
    /// Between 90 % and 99 %.
    AsStated,
    /// Below 90 %, and the model is off by much of a half-width on average: bias.
    TooLowFromBias,
    /// Below 90 % without such a bias: the bands are too narrow.
    TooNarrow,
    /// Above 99 %: the bands are wider than they need to be.
    TooWide,
}

impl CoverageVerdict {
    /// The verdict as it is printed.
    pub fn words(self) -> &'static str {
        match self {
            CoverageVerdict::AsStated => "as stated",
            CoverageVerdict::TooLowFromBias => "TOO LOW: the curve is biased",
            CoverageVerdict::TooNarrow => "TOO LOW: the band is too narrow",
            CoverageVerdict::TooWide => "TOO HIGH: the band is too wide",
        }
    }

    /// The verdict on a share of covered points, of which those between `accepted` are as they should be.
    pub(super) fn of(coverage: f64, bias: f64, accepted: [f64; 2]) -> CoverageVerdict {
        match coverage {
            share if share > accepted[1] => CoverageVerdict::TooWide,
            share if share >= accepted[0] => CoverageVerdict::AsStated,
            _ if bias > LARGE_BIAS => CoverageVerdict::TooLowFromBias,
            _ => CoverageVerdict::TooNarrow,
        }
    }
}

/// The coverage of one curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoverageRow {
    /// The case; "all" for the last row.
    pub case: String,
    /// The curve; "all" for the last row.
    pub curve: String,
    /// Points counted, over all data sets.
    pub points: usize,
    /// Share of them where the truth lies inside the band.
    pub coverage: f64,
    /// Mean over the points of the curve of |mean error over the data sets| / mean half-width. Without bias it is about
    /// `0.41 / sqrt(data sets)`: 0.09 for 20.
    pub bias: f64,
    /// Mean half-width of the bands, in the units of the curve.
    pub half_width: f64,
    /// Whether that is as it should be.
    pub verdict: CoverageVerdict,
}

/// Coverage over simulated data sets, per curve and overall.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoverageReport {
    /// The seed of the first data set.
    pub seed: u64,
    /// Data sets simulated per case.
    pub data_sets: usize,
    /// A row per curve.
    pub rows: Vec<CoverageRow>,
    /// All points together.
    pub overall: CoverageRow,
}

/// What is known of one point after some data sets.
#[derive(Clone, Debug, Default)]
struct Tally {
    counted: usize,
    covered: usize,
    error: f64,
    half_width: f64,
}

impl Tally {
    fn add(&mut self, truth: f64, found: f64, [low, high]: [f64; 2]) {
        self.counted += 1;
        self.covered += usize::from(low <= truth && truth <= high);
        self.error += found - truth;
        self.half_width += 0.5 * (high - low);
    }

    /// |mean error| / mean half-width; 0 for bands without end.
    fn bias(&self) -> f64 {
        let bias = self.error.abs() / self.half_width;
        if bias.is_nan() { 0.0 } else { bias }
    }
}

/// A curve and its points, each with a name by which it is the same in every data set.
#[derive(Clone, Debug)]
struct Tallies {
    case: String,
    curve: String,
    points: Vec<((usize, usize), Tally)>,
}

impl Tallies {
    fn add(&mut self, point: (usize, usize), truth: f64, found: f64, band: [f64; 2]) {
        if !self.points.iter().any(|(name, _)| *name == point) {
            self.points.push((point, Tally::default()));
        }
        for (_, tally) in self.points.iter_mut().filter(|(name, _)| *name == point) {
            tally.add(truth, found, band);
        }
    }
}

fn row<'a>(case: &str, curve: &str, tallies: impl Iterator<Item = &'a Tally> + Clone) -> CoverageRow {
    let sum = |of: fn(&Tally) -> f64| tallies.clone().map(of).sum::<f64>();
    let counted = sum(|tally| tally.counted as f64).max(1.0);
    let coverage = sum(|tally| tally.covered as f64) / counted;
    let bias = sum(Tally::bias) / (tallies.clone().count().max(1)) as f64;
    CoverageRow {
        case: case.to_owned(),
        curve: curve.to_owned(),
        points: tallies.clone().map(|tally| tally.counted).sum(),
        coverage,
        bias,
        half_width: sum(|tally| tally.half_width) / counted,
        verdict: CoverageVerdict::of(coverage, bias, ACCEPTED_COVERAGE),
    }
}

/// A point whose band is checked: its curve, its name there, its place, its truth.
struct BandQuery<'a> {
    curve: String,
    point: (usize, usize),
    place: BandPlace<'a>,
    truth: f64,
    found: f64,
}

impl Selftest {
    /// Simulates `data_sets` data sets of each case of one output, has their bands made and counts how often they hold
    /// the truth.
    pub fn coverage(&self, data_sets: usize, bands: &mut Bands<'_>, watch: &mut Watch<'_>) -> Result<CoverageReport> {
        if data_sets == 0 {
            return Err(Error::usage("coverage needs at least one data set"));
        }
        let cases = [graph_regression(), node_regression()];
        let mut tallies: Vec<Tallies> = Vec::new();
        for (index, case) in cases.iter().enumerate() {
            for data_set in 0..data_sets {
                let number = index * data_sets + data_set + 1;
                let at = Progress { case: case.name, number, of: cases.len() * data_sets, epoch: 0, epochs: 0 };
                let seed = Stream::named(self.seed, "selftest coverage", data_set as u64).next_u64();
                let trial = PlantedTrial::new(case, Selftest { seed, ..*self }.spec(case), at, watch)?;
                trial.count(case, bands, &mut tallies)?;
            }
        }
        let rows =
            tallies.iter().map(|curve| row(&curve.case, &curve.curve, curve.points.iter().map(|point| &point.1)));
        let all = tallies.iter().flat_map(|curve| curve.points.iter().map(|point| &point.1));
        Ok(CoverageReport { seed: self.seed, data_sets, rows: rows.collect(), overall: row("all", "all", all) })
    }
}

impl PlantedTrial {
    fn count(&self, case: &Case, bands: &mut Bands<'_>, tallies: &mut Vec<Tallies>) -> Result<()> {
        let queries = self.queries(case);
        let places: Vec<BandPlace<'_>> = queries.iter().map(|query| query.place).collect();
        let simulated = Simulated { spec: &self.spec, data: &self.world.data, fitted: &self.fitted };
        let found = bands(&simulated, &places)?;
        if found.len() != places.len() {
            return Err(Error::usage(format!("{} bands for {} places", found.len(), places.len())));
        }
        for (query, band) in queries.iter().zip(found) {
            let known = tallies.iter().position(|curve| curve.case == case.name && curve.curve == query.curve);
            let index = known.unwrap_or_else(|| {
                tallies.push(Tallies { case: case.name.to_owned(), curve: query.curve.clone(), points: Vec::new() });
                tallies.len() - 1
            });
            tallies[index].add(query.point, query.truth, query.found, band);
        }
        Ok(())
    }

    /// Every point of every curve that has an effect and enough support.
    fn queries<'a>(&self, case: &'a Case) -> Vec<BandQuery<'a>> {
        let canonical = self.fitted.model.canonical();
        let rhos = canonical.rhos();
        let supported = |support: &[f64], at: usize| {
            support[at] > 0.0 && support[at] >= LEAST_SUPPORT * support.iter().copied().fold(0.0, f64::max)
        };
        let slots = self.truth.receivers.len();
        let mut queries = Vec::new();
        let mut rho_questions = |curve: String, (rho, planted): (usize, usize)| {
            for slot in (0..slots).filter(|slot| supported(&self.truth.receivers, *slot)) {
                let truth = self.truth.influence(planted, slot, canonical.rho_anchor(rho));
                // Where rho is 1 by definition no band can be wrong.
                if truth != 1.0 {
                    // "Unreachable" is one point, however many distances a data set has.
                    let point = (usize::from(slot + 1 == slots), if slot + 1 == slots { 0 } else { slot });
                    let (place, found) = (BandPlace::Rho { rho, slot, output: 0 }, rhos[rho].values[slot][0]);
                    queries.push(BandQuery { curve: curve.clone(), point, place, truth, found });
                }
            }
        };
        let own = |k: usize| has_effect(&case.planted.features[k]) && !has_own_rhos(case, k);
        if case.planted.shares_rho() {
            rho_questions("rho".to_owned(), (0, 0));
        } else {
            for k in (0..case.planted.features.len()).filter(|k| own(*k)) {
                let curve = format!("rho of {}", case.planted.features[k].name);
                rho_questions(curve, rho_places(case, &self.fitted.model, k));
            }
        }
        for (k, feature) in case.planted.features.iter().enumerate().filter(|(k, _)| own(*k)) {
            for v in (0..feature.values.len()).filter(|v| supported(&self.truth.nodes[k], *v)) {
                let value = feature_value(feature, v);
                let anchored = matches!(feature.kind, Kind::Binary | Kind::Sparse) && feature.values[v].number == 0.0;
                if let (false, Some(found)) = (anchored, canonical.shape(k, value)) {
                    let place = BandPlace::Shape { feature: k, value, output: 0 };
                    let truth = self.truth.products[k][v][canonical.anchor(k)][0];
                    queries.push(BandQuery {
                        curve: feature.name.clone(),
                        point: (0, v),
                        place,
                        truth,
                        found: found[0],
                    });
                }
            }
        }
        queries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(errors: impl Fn(&mut Stream) -> f64, half_width: f64) -> CoverageRow {
        let mut random = Stream::named(4, "coverage", 0);
        let mut tallies = Tallies { case: "case".to_owned(), curve: "curve".to_owned(), points: Vec::new() };
        for _ in 0..20 {
            for point in 0..50 {
                let found = 3.0 + errors(&mut random);
                tallies.add((0, point), 3.0, found, [found - half_width, found + half_width]);
            }
        }
        row("case", "curve", tallies.points.iter().map(|point| &point.1))
    }

    /// Normal errors of size 1 and the bands that belong to them, to half of it, to three times it, and a bias.
    #[test]
    fn coverage_tells_good_bands_from_narrow_wide_and_biased_ones() {
        let good = tally(Stream::normal, 1.96);
        assert_eq!((good.points, good.verdict), (1000, CoverageVerdict::AsStated));
        // 0.95 within five standard errors, sqrt(0.95 * 0.05 / 1000) each.
        assert!((good.coverage - 0.95).abs() < 0.035 && good.bias < 0.2, "{good:?}");
        assert_eq!(tally(Stream::normal, 1.0).verdict, CoverageVerdict::TooNarrow);
        assert_eq!(tally(Stream::normal, 6.0).verdict, CoverageVerdict::TooWide);
        let biased = tally(|random| 1.5 + random.normal(), 1.96);
        assert_eq!(biased.verdict, CoverageVerdict::TooLowFromBias);
        assert!((biased.bias - 1.5 / 1.96).abs() < 0.1, "{biased:?}");
    }

    /// The whole way once: bands without end hold everything, and a wrong number of bands is refused.
    #[test]
    fn bands_are_asked_for_every_curve() {
        let mut case = graph_regression();
        case.graphs = 40;
        let at = Progress { case: case.name, number: 1, of: 1, epoch: 0, epochs: 0 };
        let trial = PlantedTrial::new(&case, case.spec(2), at, &mut |_| {}).unwrap();
        let mut tallies = Vec::new();
        let mut endless =
            |_: &Simulated<'_>, places: &[BandPlace<'_>]| Ok(vec![[f64::NEG_INFINITY, f64::INFINITY]; places.len()]);
        trial.count(&case, &mut endless, &mut tallies).unwrap();
        let curves: Vec<&str> = tallies.iter().map(|curve| curve.curve.as_str()).collect();
        assert_eq!(curves, ["rho", "element", "charge", "aromatic"]);
        assert!(tallies.iter().flat_map(|curve| &curve.points).all(|(_, tally)| tally.covered == tally.counted));
        assert!(trial.count(&case, &mut |_, _| Ok(Vec::new()), &mut tallies).is_err());
    }
}
