//! The bands of a model's figures: its bootstrap intervals, found by what they belong to. Without a bootstrap there are
//! none, and figures show the estimate alone.

use gnan::explain::Point;

use crate::figure::Interval;

/// Intervals, where there are any.
#[derive(Clone, Copy, Default)]
pub struct Bands<'a> {
    marker: std::marker::PhantomData<&'a ()>,
}

impl Bands<'_> {
    /// Of a rho at a slot.
    pub(crate) fn rho(&self, _r: usize, _slot: usize, _c: usize) -> Option<[f64; 2]> {
        None
    }
    pub(crate) fn shape(&self, _k: usize, _point: &Point, _c: usize) -> Option<[f64; 2]> {
        None
    }
    pub(crate) fn curve(&self, _k: usize, _c: usize) -> Vec<(f64, Interval)> {
        Vec::new()
    }
    pub(crate) fn product(&self, _k: usize, _point: &Point, _slot: usize, _c: usize) -> Option<[f64; 2]> {
        None
    }
    pub(crate) fn structure(&self, _slot: usize, _c: usize) -> Option<[f64; 2]> {
        None
    }
    pub(crate) fn feature_importance(&self, _k: usize) -> Option<[f64; 2]> {
        None
    }
    pub(crate) fn distance_importance(&self, _slot: usize) -> Option<[f64; 2]> {
        None
    }
    pub(crate) fn words(&self) -> &'static str {
        ""
    }
    pub(crate) fn cell_words(&self) -> &'static str {
        ""
    }

    /// What can be told of a feature's curve.
    pub(crate) fn verdict(&self, _k: usize) -> Option<String> {
        None
    }

    /// Whether there are intervals.
    pub fn are_there(&self) -> bool {
        false
    }
}
