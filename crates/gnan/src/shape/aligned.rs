//! Memory that vector instructions read without crossing cache lines.

use bytemuck::{Pod, Zeroable};

use super::kernel::LANES;

/// Floats aligned to cache lines.
#[derive(Clone, Debug, Default)]
pub struct AlignedFloats(Vec<CacheLine>);

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([f32; LANES]);

impl AlignedFloats {
    /// `len` zeros; `len` must be a multiple of 16.
    pub fn zeros(len: usize) -> Self {
        debug_assert!(len.is_multiple_of(LANES));
        AlignedFloats(vec![CacheLine([0.0; LANES]); len / LANES])
    }

    /// The floats.
    pub fn as_slice(&self) -> &[f32] {
        bytemuck::cast_slice(&self.0)
    }

    /// The floats, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
