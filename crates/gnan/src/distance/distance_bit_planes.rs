//! Distances as a search leaves them: one bit per receiver in *planes*, plane `p` holding bit `p` of every distance.
//!
//! A level of the search adds its bits to few planes, whatever the number of receivers, and its nodes are counted per
//! receiver by adding columns of bits. Distances are read out for a *block* of eight receivers at a time, one byte each
//! in a 64-bit word per source. Planes are ordered by the places of nodes in the reordered graph; what is written out is
//! ordered by nodes.

use super::reordered_graph::ReorderedGraph;

/// Receivers whose distances are kept together, one byte each in a word.
pub const RECEIVERS_PER_BLOCK: usize = 8;

/// Blocks of receivers whose bits a word of a plane holds.
const BLOCKS_PER_WORD: usize = 64 / RECEIVERS_PER_BLOCK;

/// Places whose distances are read out at a time.
const PLACES_AT_ONCE: usize = 512;

/// The distances of many receivers.
#[derive(Clone, Debug, Default)]
pub struct DistanceBitPlanes {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of receivers.
    pub receivers: usize,
    /// `[planes][words, nodes]`
    bits: Vec<Vec<u64>>,
    /// Number of planes that are in use; the others hold what an earlier search left.
    used: usize,
    /// `[words, nodes]`: which nodes have no path to which receivers.
    unreachable: Vec<u64>,
    /// Whether any node is unreachable from any receiver.
    pub any_unreachable: bool,
    /// `[distances, receivers]`: how many nodes are at each distance.
    counts: Vec<u32>,
    /// The longest finite distance.
    pub longest: u16,
}

impl DistanceBitPlanes {
    /// How many nodes are at a distance from a receiver.
    pub fn count(&self, receiver: usize, distance: u16) -> u32 {
        self.counts.get(usize::from(distance) * self.receivers + receiver).copied().unwrap_or(0)
    }

    pub(super) fn clear(&mut self, nodes: usize, receivers: usize) {
        (self.nodes, self.receivers, self.used, self.longest) = (nodes, receivers, 0, 0);
        self.counts.clear();
    }

    /// Adds the nodes of a level; a level may be added to again.
    #[inline(always)]
    pub(super) fn add_level<const WORDS: usize>(&mut self, level: u16, active: &[u32], arrived: &[[u64; WORDS]]) {
        if active.is_empty() {
            return;
        }
        self.longest = self.longest.max(level);
        let words = self.receivers.div_ceil(64);
        let needed = (u16::BITS - level.leading_zeros()) as usize;
        while self.used < needed {
            if self.bits.len() == self.used {
                self.bits.push(Vec::new());
            }
            self.bits[self.used].clear();
            self.bits[self.used].resize(words * self.nodes, 0);
            self.used += 1;
        }
        for (_, plane) in self.bits.iter_mut().enumerate().take(needed).filter(|(place, _)| level >> place & 1 == 1) {
            for place in active {
                let bits = &arrived[*place as usize];
                for word in 0..words {
                    plane[word * self.nodes + *place as usize] |= bits[word];
                }
            }
        }
        self.count_level(level, active, arrived);
    }

    /// Counts the bits of every receiver: a counter per receiver whose binary digits are rows of bits.
    #[inline(always)]
    fn count_level<const WORDS: usize>(&mut self, level: u16, active: &[u32], arrived: &[[u64; WORDS]]) {
        let mut digits = [[0u64; WORDS]; 32];
        let digits = &mut digits[..(usize::BITS - active.len().leading_zeros()) as usize];
        for node in active {
            let mut carry = arrived[*node as usize];
            for digit in &mut *digits {
                let next: [u64; WORDS] = std::array::from_fn(|word| digit[word] & carry[word]);
                *digit = std::array::from_fn(|word| digit[word] ^ carry[word]);
                carry = next;
                if carry == [0; WORDS] {
                    break;
                }
            }
        }
        let start = usize::from(level) * self.receivers;
        self.counts.resize(self.counts.len().max(start + self.receivers), 0);
        for (receiver, count) in self.counts[start..].iter_mut().enumerate().take(self.receivers) {
            let bit = |digit: &[u64; WORDS]| (digit[receiver / 64] >> (receiver % 64) & 1) as u32;
            *count += digits.iter().enumerate().map(|(place, digit)| bit(digit) << place).sum::<u32>();
        }
    }

    /// Marks the nodes that were never reached.
    pub(super) fn close<const WORDS: usize>(&mut self, seen: &[[u64; WORDS]], all: [u64; WORDS]) {
        let words = self.receivers.div_ceil(64);
        self.unreachable.clear();
        self.unreachable.resize(words * self.nodes, 0);
        self.any_unreachable = false;
        for (place, seen) in seen.iter().enumerate().filter(|(_, seen)| **seen != all) {
            self.any_unreachable = true;
            for word in 0..words {
                self.unreachable[word * self.nodes + place] = all[word] & !seen[word];
            }
        }
    }

    /// Writes the distances of a block of receivers from every node, one byte per receiver; `unreachable` stands for
    /// those that are.
    ///
    /// Distances above 255 lose their meaning: see [`longest`](Self::longest).
    pub fn write_bytes(&self, block: usize, graph: &ReorderedGraph, unreachable: u8, out: &mut [u64]) {
        let (first, shift) = (block / BLOCKS_PER_WORD * self.nodes, RECEIVERS_PER_BLOCK * (block % BLOCKS_PER_WORD));
        let mut words = [0; PLACES_AT_ONCE];
        for start in (0..self.nodes).step_by(PLACES_AT_ONCE) {
            let places = start..(start + PLACES_AT_ONCE).min(self.nodes);
            let words = &mut words[..places.len()];
            let range = first + places.start..first + places.end;
            words.fill(0);
            for (bit, plane) in self.bits[..self.used.min(8)].iter().enumerate() {
                for (word, bits) in words.iter_mut().zip(&plane[range.clone()]) {
                    *word |= SPREAD[(bits >> shift & 255) as usize] << bit;
                }
            }
            if self.any_unreachable {
                for (word, bits) in words.iter_mut().zip(&self.unreachable[range]) {
                    *word |= SPREAD[(bits >> shift & 255) as usize] * u64::from(unreachable);
                }
            }
            for (place, word) in places.zip(words) {
                out[graph.node(place as u32) as usize] = *word;
            }
        }
    }

    /// The same with two bytes per receiver.
    pub fn write_wide(
        &self,
        block: usize,
        graph: &ReorderedGraph,
        unreachable: u16,
        out: &mut [[u16; RECEIVERS_PER_BLOCK]],
    ) {
        let (first, shift) = (block / BLOCKS_PER_WORD * self.nodes, RECEIVERS_PER_BLOCK * (block % BLOCKS_PER_WORD));
        for place in 0..self.nodes {
            let mut lanes = [0; RECEIVERS_PER_BLOCK];
            for (bit, plane) in self.bits[..self.used].iter().enumerate() {
                let bits = plane[first + place] >> shift;
                lanes.iter_mut().enumerate().for_each(|(lane, out)| *out |= ((bits >> lane & 1) as u16) << bit);
            }
            let never = self.unreachable[first + place] >> shift;
            lanes
                .iter_mut()
                .enumerate()
                .filter(|(lane, _)| never >> lane & 1 == 1)
                .for_each(|(_, out)| *out = unreachable);
            out[graph.node(place as u32) as usize] = lanes;
        }
    }
}

/// For every byte a word whose byte `k` is bit `k` of it.
static SPREAD: [u64; 256] = spread();

const fn spread() -> [u64; 256] {
    let mut words = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            words[byte] |= ((byte as u64 >> bit) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    words
}
