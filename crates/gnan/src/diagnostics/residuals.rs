//! Residuals: whether what is left over is alike at all predictions, and normal.

use serde::Serialize;

use super::basis::{KIndex, k_index};
use super::normal::normal_quantile;
use super::{KnownItems, correlation, deviation, mean};
use crate::evaluate::Judgement;
use crate::numbers::{fixed, number, significant};
use crate::random::Stream;

/// Points of the figures and of documents, evenly chosen in the order of predictions.
const MOST_POINTS: usize = 2000;
/// Samples of normal numbers that quantiles are compared with.
const SAMPLES: u64 = 200;
/// Below this p-value a deviation is more than chance ...
const CLEAR: f64 = 0.01;
/// ... and it matters where quantiles correlate with normal ones less than this,
const LEAST_STRAIGHT: f64 = 0.98;
/// where the spread of residuals correlates with predictions more than this,
const MOST_SPREAD_TREND: f64 = 0.2;
/// or where residuals of neighbouring predictions are alike: their differences have less than this share of the variance.
const LEAST_INDEX: f64 = 0.95;
/// A residual so many standard deviations from the mean is far off.
const FAR_OFF: f64 = 4.0;

/// An item in the figures of residuals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResidualPoint {
    /// Its id.
    pub id: String,
    /// What is predicted: a value, or the probability of the shown class.
    pub predicted: f64,
    /// What is left over.
    pub residual: f64,
    /// The quantile of a normal number, as spread as the residuals are, that has its rank.
    pub normal: f64,
}

/// What is left over of the targets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResidualCheck {
    /// What residuals are, in words.
    pub kind: &'static str,
    /// Number of residuals: of items, and of targets where there are several.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// Whether they lean to one side: 0 for normal numbers, 2 for exponential ones.
    pub skewness: f64,
    /// How heavy their tails are: 0 for normal numbers.
    pub excess_kurtosis: f64,
    /// Residuals more than four standard deviations from their mean.
    pub far_off: usize,
    /// The correlation of their quantiles with normal ones.
    pub straightness: f64,
    /// The share of samples of normal numbers, as many as residuals, that are less straight.
    pub normal_p_value: f64,
    /// The correlation of the size of residuals with predictions.
    pub spread_trend: f64,
    /// The k-index along predictions: near 1 where residuals of neighbouring predictions are not alike.
    pub index_by_prediction: f64,
    /// Its p-value, by permutations.
    pub index_p_value: f64,
    /// Some of the items, by prediction.
    pub points: Vec<ResidualPoint>,
    /// Whether all of that is fine.
    pub fine: bool,
    /// What it means and what to do.
    pub sentence: String,
}

impl ResidualCheck {
    pub(super) fn new(known: &KnownItems, judged: &Judgement) -> ResidualCheck {
        let found = known.residuals();
        // Several quantities have units of their own: each is divided by its spread.
        let targets = found.first().map_or(0, Vec::len);
        let mut scales = vec![1.0; targets];
        if known.is_quantity && targets > 1 {
            for (place, scale) in scales.iter_mut().enumerate() {
                let own: Vec<f64> = found.iter().filter_map(|row| Some(row[place]?[1])).collect();
                let sd = deviation(&own);
                *scale = if sd > 0.0 { sd } else { 1.0 };
            }
        }
        let mut all: Vec<(u32, f64, f64)> = Vec::new();
        for (row, residuals) in known.rows.iter().zip(&found) {
            let own = residuals.iter().zip(&scales).filter_map(|(found, scale)| found.map(|found| (found, scale)));
            all.extend(own.map(|([predicted, residual], scale)| (row.item, predicted, residual / scale)));
        }
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        let residuals: Vec<f64> = all.iter().map(|(_, _, residual)| *residual).collect();
        let predicted: Vec<f64> = all.iter().map(|(_, predicted, _)| *predicted).collect();
        let (centre, sd) = (mean(&residuals), deviation(&residuals));
        let moment = |power: i32| match sd > 0.0 {
            true => mean(&residuals.iter().map(|r| ((r - centre) / sd).powi(power)).collect::<Vec<_>>()),
            false => 0.0,
        };
        let normal = normal_scores(residuals.len());
        let mut ranks: Vec<usize> = (0..residuals.len()).collect();
        ranks.sort_by(|a, b| residuals[*a].total_cmp(&residuals[*b]));
        let mut normal_of = vec![0.0; residuals.len()];
        ranks.iter().zip(&normal).for_each(|(at, quantile)| normal_of[*at] = centre + sd * quantile);
        let straightness = correlation(&ranks.iter().map(|at| residuals[*at]).collect::<Vec<_>>(), &normal);
        let sizes: Vec<f64> = residuals.iter().map(|residual| (residual - centre).abs()).collect();
        let rows: Vec<Vec<f64>> = residuals.iter().map(|residual| vec![*residual]).collect();
        let KIndex { index, p_value } =
            k_index(&predicted, &rows, "predictions").unwrap_or(KIndex { index: 1.0, p_value: 1.0 });
        let every = all.len().div_ceil(MOST_POINTS).max(1);
        let point = |(at, (item, predicted, residual)): (usize, &(u32, f64, f64))| ResidualPoint {
            id: judged.data.item_id(*item),
            predicted: *predicted,
            residual: *residual,
            normal: normal_of[at],
        };
        let mut check = ResidualCheck {
            kind: match (known.is_quantity, targets) {
                (true, 1) => "actual less predicted",
                (true, _) => "actual less predicted, in standard deviations of each target",
                (false, _) => "randomised quantile residuals",
            },
            count: residuals.len(),
            mean: centre,
            sd,
            skewness: moment(3),
            excess_kurtosis: if sd > 0.0 { moment(4) - 3.0 } else { 0.0 },
            far_off: residuals.iter().filter(|residual| (*residual - centre).abs() > FAR_OFF * sd).count(),
            straightness,
            normal_p_value: less_straight(straightness, &normal),
            spread_trend: correlation(&sizes, &predicted),
            index_by_prediction: index,
            index_p_value: p_value,
            points: all.iter().enumerate().step_by(every).map(point).collect(),
            fine: true,
            sentence: String::new(),
        };
        (check.fine, check.sentence) = check.verdict(known.is_quantity);
        check
    }

    fn verdict(&self, is_quantity: bool) -> (bool, String) {
        if self.sd == 0.0 {
            return (true, "Nothing is left over: every prediction is exact, or off by the same amount.".to_owned());
        }
        let noise = 1.0 / (self.count as f64).sqrt();
        let mut found = Vec::new();
        if self.index_p_value < CLEAR && self.index_by_prediction < LEAST_INDEX {
            let index = fixed(self.index_by_prediction, 2);
            found.push(format!(
                "residuals of neighbouring predictions are alike (k-index {index}): something that matters is missing; describe \
                 nodes, add features or give curves more freedom"
            ));
        }
        if is_quantity && self.spread_trend.abs() > MOST_SPREAD_TREND.max(3.0 * noise) {
            let side = if self.spread_trend > 0.0 { "high" } else { "low" };
            found.push(format!(
                "{side} predictions are less certain than others (correlation {}), which prediction intervals do not know: try the \
                 logarithm of the target",
                fixed(self.spread_trend, 2)
            ));
        }
        if self.normal_p_value < CLEAR && self.straightness < LEAST_STRAIGHT {
            let why = match self.excess_kurtosis > 1.0 {
                true => "some items are farther off than normal noise would be",
                false => "their distribution is not normal",
            };
            found.push(format!(
                "{why} (correlation of quantiles {}, skewness {}): look at the largest residuals, and read intervals as too narrow \
                 in the tails",
                significant(self.straightness, 3),
                fixed(self.skewness, 1)
            ));
        }
        if !is_quantity && (self.sd - 1.0).abs() > 0.1 + 3.0 * noise {
            found.push(format!("their standard deviation is {} and should be 1: see calibration", number(self.sd)));
        }
        match found.is_empty() {
            true => (true, "Fine: residuals are spread alike at all predictions, and about normal.".to_owned()),
            false => (false, format!("Not fine: {}.", found.join("; "))),
        }
    }
}

/// The quantiles of a standard normal number that so many of them have, about.
fn normal_scores(count: usize) -> Vec<f64> {
    (0..count).map(|rank| normal_quantile((rank as f64 + 0.625) / (count as f64 + 0.25))).collect()
}

/// The share of samples of normal numbers whose quantiles are less straight.
fn less_straight(straightness: f64, normal: &[f64]) -> f64 {
    let every = normal.len().div_ceil(MOST_POINTS).max(1);
    let normal: Vec<f64> = normal.iter().copied().step_by(every).collect();
    let is_less = |number: u64| {
        let mut random = Stream::named(0, "quantiles", number);
        let mut sample: Vec<f64> = (0..normal.len()).map(|_| random.normal()).collect();
        sample.sort_by(f64::total_cmp);
        correlation(&sample, &normal) < straightness
    };
    let less = (0..SAMPLES).filter(|number| is_less(*number)).count();
    (less as f64 + 1.0) / (SAMPLES as f64 + 1.0)
}
