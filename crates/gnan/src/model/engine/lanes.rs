//! Lanes: the source values of the shell form, channels times outputs, in blocks of a width that the kernels know.
//!
//! Lane `channel * outputs + c` is output `c` of a channel. Memory holds block after block; within a block there is
//! one group of `width` lanes per row (a source, or a receiver and slot). The last block's spare lanes stay 0.

use std::ops::Range;

/// Widest block that the kernels know.
const WIDEST: usize = 16;

/// The lanes of a model.
pub(super) struct Lanes {
    outputs: usize,
    rho_of_channel: Vec<usize>,
    /// Lanes per block.
    pub width: usize,
    /// Number of blocks.
    pub blocks: usize,
}

impl Lanes {
    pub(super) fn new(rho_of_channel: Vec<usize>, outputs: usize) -> Lanes {
        let total = rho_of_channel.len() * outputs;
        let width = total.next_power_of_two().clamp(1, WIDEST);
        Lanes { outputs, rho_of_channel, width, blocks: total.div_ceil(width) }
    }

    /// Number of channels.
    pub(super) fn channels(&self) -> usize {
        self.rho_of_channel.len()
    }

    /// Floats that `rows` rows take.
    pub(super) fn len(&self, rows: usize) -> usize {
        self.blocks * self.width * rows
    }

    /// Where a block lies in memory for `rows` rows.
    pub(super) fn block(&self, block: usize, rows: usize) -> Range<usize> {
        block * rows * self.width..(block + 1) * rows * self.width
    }

    /// Calls `visit(lane within the block, rho, output)` for every lane of a block.
    pub(super) fn each(&self, block: usize, mut visit: impl FnMut(usize, usize, usize)) {
        let total = self.rho_of_channel.len() * self.outputs;
        let start = block * self.width;
        for lane in start..(start + self.width).min(total) {
            visit(lane - start, self.rho_of_channel[lane / self.outputs], lane % self.outputs);
        }
    }
}
