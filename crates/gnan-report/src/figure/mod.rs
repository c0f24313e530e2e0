//! Figures: from plain data to a scene.

pub mod graph;
