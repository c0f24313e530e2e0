//! Blocks: the parameters of many functions in one piece of memory, those of one function after those of another.

use std::ops::Range;

use super::aligned::AlignedFloats;
use super::kernel::LANES;

/// A block of parameters per function.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    /// Where the block of every function begins, and where the last one ends.
    offsets: Vec<usize>,
    /// The blocks, and zeros up to whole vectors.
    pub floats: AlignedFloats,
}

impl Blocks {
    /// Blocks of zeros, of these lengths.
    pub fn zeros(lengths: impl Iterator<Item = usize>) -> Blocks {
        let mut offsets = vec![0];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let floats = AlignedFloats::zeros(offsets[offsets.len() - 1].next_multiple_of(LANES));
        Blocks { offsets, floats }
    }

    /// Number of functions.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where the block of a function lies among all parameters.
    pub fn range(&self, function: usize) -> Range<usize> {
        self.offsets[function]..self.offsets[function + 1]
    }

    /// The parameters of one function.
    pub fn block(&self, function: usize) -> &[f32] {
        &self.floats.as_slice()[self.range(function)]
    }

    /// The parameters of one function, to be changed.
    pub fn block_mut(&mut self, function: usize) -> &mut [f32] {
        let range = self.range(function);
        &mut self.floats.as_mut_slice()[range]
    }

    /// All parameters, function after function.
    pub fn all(&self) -> &[f32] {
        &self.floats.as_slice()[..self.offsets[self.len()]]
    }

    /// All parameters, to be changed.
    pub fn all_mut(&mut self) -> &mut [f32] {
        let len = self.offsets[self.len()];
        &mut self.floats.as_mut_slice()[..len]
    }
}
