//! The figures of the checks of a model: residuals, their quantiles, and calibration.

use gnan::ModelCheck;
use gnan::diagnostics::ResidualPoint;
use gnan::model::Definition;
use gnan::numbers::counted;

use crate::figure::point_plot::{GuideLine, PlotPoint, PointPlot};
use crate::figure::{Estimate, Interval};
use crate::model_figures::Figure;

/// Points of a figure.
const MOST_POINTS: usize = 1500;

/// The figures of some checks.
pub fn check_figures(check: &ModelCheck, definition: &Definition) -> Vec<Figure> {
    let is_quantity = definition.learned.outcome.is_regression();
    let several = definition.learned.targets.len() > 1;
    let unit = definition.shown_unit();
    let (across, up) = match (is_quantity, several) {
        (true, false) => (format!("predicted {unit}"), format!("residual ({unit})")),
        (true, true) => ("predicted".to_owned(), "residual (standard deviations)".to_owned()),
        (false, _) => ("predicted probability".to_owned(), "residual".to_owned()),
    };
    let residuals = &check.residuals;
    let points = |x: fn(&ResidualPoint) -> f64| {
        let point = |point: &ResidualPoint| PlotPoint { name: point.id.clone(), x: x(point), y: point.residual.into() };
        residuals.points.iter().map(point).collect::<Vec<_>>()
    };
    let kind = match is_quantity {
        true => "Every point is an item: what its actual value is above the predicted one.",
        false => {
            "Every point is an item. Its residual is drawn at random within what its class leaves open, so that residuals are \
             standard normal where probabilities are right."
        }
    };
    let by_prediction = PointPlot {
        title: "Residuals by prediction".to_owned(),
        across,
        up: up.clone(),
        points: points(|point| point.predicted),
        guide: GuideLine::Zero,
        most: MOST_POINTS,
        least_range: None,
    };
    let quantiles = PointPlot {
        title: "Quantiles of residuals against normal ones".to_owned(),
        across: "normal quantile".to_owned(),
        up,
        points: points(|point| point.normal),
        guide: GuideLine::Equal,
        most: MOST_POINTS,
        least_range: None,
    };
    let mut figures = vec![
        Figure::new("residuals", format!("{kind} They should lie around 0 alike at every prediction."), by_prediction),
        Figure::new(
            "residual-quantiles",
            "Residuals in order against what normal numbers of the same spread would be; on the dashed line they are normal.",
            quantiles,
        ),
    ];
    if let Some(calibration) = &check.calibration {
        let groups = calibration.groups.iter().map(|group| PlotPoint {
            name: counted(group.count, "prediction"),
            x: group.predicted,
            y: Estimate { value: group.observed, interval: Some(Interval { low: group.lower, high: group.upper }) },
        });
        let plot = PointPlot {
            title: "Calibration".to_owned(),
            across: "mean predicted probability".to_owned(),
            up: "observed share".to_owned(),
            points: groups.collect(),
            guide: GuideLine::Equal,
            most: MOST_POINTS,
            least_range: Some([0.0, 1.0]),
        };
        let caption = format!(
            "Predictions in groups of similar probability ({}), with 95 % intervals of the observed share; on the dashed line \
             probabilities are right.",
            calibration.of
        );
        figures.push(Figure::new("calibration", caption, plot));
    }
    figures
}
