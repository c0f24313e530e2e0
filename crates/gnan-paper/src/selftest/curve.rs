//! A recovered curve beside the planted one: points with their support, and how well they agree.

/// One point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CurvePoint {
    /// Where it is, in words.
    pub place: String,
    /// Its support in training: nodes, receivers, or their product for a heatmap cell.
    pub support: f64,
    /// The planted value.
    pub truth: f64,
    /// The recovered value.
    pub found: f64,
}

/// Points of one curve; those without support are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curve {
    points: Vec<CurvePoint>,
}

impl Curve {
    /// Adds a point, if it has any support.
    pub fn push(&mut self, place: impl FnOnce() -> String, support: f64, truth: f64, found: f64) {
        if support > 0.0 {
            self.points.push(CurvePoint { place: place(), support, truth, found });
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Support of all points together.
    pub fn support(&self) -> f64 {
        self.points.iter().map(|point| point.support).sum()
    }

    fn mean(&self, of: impl Fn(&CurvePoint) -> f64) -> f64 {
        self.points.iter().map(|point| point.support * of(point)).sum::<f64>() / self.support().max(f64::MIN_POSITIVE)
    }

    /// Root mean square of the planted values, weighted by support.
    pub fn truth_size(&self) -> f64 {
        self.mean(|point| point.truth * point.truth).sqrt()
    }

    /// Root mean square of the recovered values, weighted by support.
    pub fn found_size(&self) -> f64 {
        self.mean(|point| point.found * point.found).sqrt()
    }

    /// Correlation of planted and recovered values, weighted by support; `None` where either is constant.
    pub fn correlation(&self) -> Option<f64> {
        let (truth, found) = (self.mean(|point| point.truth), self.mean(|point| point.found));
        let together = self.mean(|point| (point.truth - truth) * (point.found - found));
        let truth = self.mean(|point| (point.truth - truth).powi(2));
        let found = self.mean(|point| (point.found - found).powi(2));
        let correlation = together / (truth.sqrt() * found.sqrt());
        correlation.is_finite().then_some(correlation.clamp(-1.0, 1.0))
    }

    /// Root mean square error relative to the size of the planted curve; `None` where that is 0.
    pub fn relative_error(&self) -> Option<f64> {
        let error = self.mean(|point| (point.found - point.truth).powi(2)).sqrt() / self.truth_size();
        error.is_finite().then_some(error)
    }

    /// The point where planted and recovered values differ most.
    pub fn worst(&self) -> Option<&CurvePoint> {
        let error = |point: &CurvePoint| (point.found - point.truth).abs();
        self.points.iter().max_by(|a, b| error(a).total_cmp(&error(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64, f64)]) -> Curve {
        let mut curve = Curve::default();
        points.iter().for_each(|(support, truth, found)| curve.push(|| truth.to_string(), *support, *truth, *found));
        curve
    }

    /// Support 2 is the same as the point twice, and support 0 is no point.
    #[test]
    fn support_weighs_points() {
        let weighed = curve(&[(2.0, 1.0, 1.5), (1.0, -1.0, 0.0), (1.0, 3.0, 2.0), (0.0, 9.0, -9.0)]);
        let repeated = curve(&[(1.0, 1.0, 1.5), (1.0, 1.0, 1.5), (1.0, -1.0, 0.0), (1.0, 3.0, 2.0)]);
        assert_eq!(weighed.correlation(), repeated.correlation());
        assert_eq!(weighed.relative_error(), repeated.relative_error());
        // By hand: squared errors 0.25 + 0.25 + 1 + 1 = 2.5, squared truth 1 + 1 + 1 + 9 = 12.
        assert!((weighed.relative_error().unwrap() - (2.5f64 / 12.0).sqrt()).abs() < 1e-12);
        assert_eq!(weighed.worst().map(|point| point.truth.abs()), Some(3.0));
    }

    #[test]
    fn a_constant_has_no_correlation_and_zero_no_relative_error() {
        let flat = curve(&[(1.0, 0.0, 0.1), (1.0, 0.0, 0.3)]);
        assert_eq!((flat.correlation(), flat.relative_error()), (None, None));
        assert_eq!(Curve::default().correlation(), None);
    }
}
