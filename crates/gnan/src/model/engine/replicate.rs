//! A replicate: one of several models that share statistics, features and architecture, and so one pass over the data.
//!
//! The outputs of all replicates lie side by side in *lanes*: lane `c * replicates + r` is output `c` of replicate `r`.
//! Everything between the networks and the outputs treats lanes alike; a plain model is the case of one replicate.

use crate::shape::EvalPoints;

/// The lanes of one replicate.
#[derive(Clone, Copy)]
pub(super) struct ReplicateLanes {
    pub outputs: usize,
    replicate: usize,
    replicates: usize,
}

impl ReplicateLanes {
    /// Its lanes, by output.
    pub(super) fn range(&self) -> impl Iterator<Item = usize> + use<> {
        (self.replicate..self.outputs * self.replicates).step_by(self.replicates)
    }

    /// Its numbers in a row of lanes, by output.
    pub(super) fn from<'a>(&self, row: &'a [f32]) -> impl Iterator<Item = &'a f32> + use<'a> {
        row[self.replicate..].iter().step_by(self.replicates)
    }

    /// Its numbers in a row of lanes, by output, to be changed.
    pub(super) fn of<'a>(&self, row: &'a mut [f32]) -> impl Iterator<Item = &'a mut f32> + use<'a> {
        row[self.replicate..].iter_mut().step_by(self.replicates)
    }
}

/// Where the networks of a replicate are evaluated, and the gradients of its parameters.
pub(super) struct Replicate {
    pub lanes: ReplicateLanes,
    pub shape_points: EvalPoints,
    pub rho_points: EvalPoints,
    pub shape_gradient: Vec<f32>,
    pub rho_gradient: Vec<f32>,
    pub value_gradient: Vec<f32>,
    pub bias_gradient: Vec<f32>,
}

impl Replicate {
    /// `replicates` replicates whose networks are evaluated at these points, with `values` free values each.
    pub(super) fn several(
        replicates: usize,
        shape_points: &EvalPoints,
        rho_points: &EvalPoints,
        values: usize,
        outputs: usize,
    ) -> Vec<Replicate> {
        let replicate = |replicate| Replicate {
            lanes: ReplicateLanes { outputs, replicate, replicates },
            shape_gradient: vec![0.0; shape_points.len() * outputs],
            rho_gradient: vec![0.0; rho_points.len() * outputs],
            value_gradient: vec![0.0; values * outputs],
            bias_gradient: vec![0.0; outputs],
            shape_points: shape_points.clone(),
            rho_points: rho_points.clone(),
        };
        (0..replicates).map(replicate).collect()
    }
}
