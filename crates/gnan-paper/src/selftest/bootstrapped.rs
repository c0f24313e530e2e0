//! The bands of the bootstrap, for a selftest: a bootstrap of every simulated model.

use std::ops::ControlFlow;

use gnan::bootstrap::{Bootstrap, Intervals};
use gnan::error::{Error, Result};

use super::{BandPlace, CoverageReport, Selftest, Simulated, Watch};

impl Selftest {
    /// How often the bands of a bootstrap of `resamples` hold the truth; see [`coverage`](Self::coverage).
    pub fn bootstrap_coverage(
        &self,
        data_sets: usize,
        resamples: usize,
        watch: &mut Watch<'_>,
    ) -> Result<CoverageReport> {
        self.coverage(data_sets, &mut |simulated, places| bands(simulated, places, resamples, self.seed), watch)
    }
}

fn bands(simulated: &Simulated<'_>, places: &[BandPlace<'_>], resamples: usize, seed: u64) -> Result<Vec<[f64; 2]>> {
    let fitted = simulated.fitted;
    let items = fitted.train.union(&fitted.valid);
    let bootstrap = Bootstrap { resamples, seed, restart: false };
    let replicates = bootstrap.run(&fitted.model, &items, None, &|_| ControlFlow::Continue(()))?;
    let intervals = Intervals::new(&fitted.model, &replicates)?;
    let band = |place: &BandPlace<'_>| {
        let found = match *place {
            BandPlace::Rho { rho, slot, output } => {
                intervals.rho.get(rho).and_then(|slots| slots.get(slot)?.get(output)).copied()
            }
            BandPlace::Shape { feature, value, output } => intervals.shape_at(feature, value, output),
        };
        let found = found.ok_or_else(|| Error::training(format!("there is no band at {place:?}")))?;
        Ok([found.low, found.high])
    };
    places.iter().map(band).collect()
}
