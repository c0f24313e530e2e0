//! Seeded random numbers. One seed feeds any number of named streams, so that adding a use of randomness in one
//! place never changes the numbers drawn in another, and no stream depends on the number of threads.

/// A stream of random numbers (SplitMix64: Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The stream called `name` of `seed`, in its `index`-th instance.
    pub fn named(seed: u64, name: &str, index: u64) -> Self {
        // FNV-1a of the name, then two rounds of mixing so that neighbouring seeds and indices are unrelated.
        let name = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut stream = Stream { state: seed ^ name.rotate_left(17) };
        let first = stream.next_u64();
        let mut stream = Stream { state: first ^ index.wrapping_mul(0xd134_2543_de82_ef95) };
        stream.next_u64();
        stream
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number uniform in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A standard normal number (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A whole number uniform in `0..bound`; `bound` must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Puts `items` into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_names_and_indices_differ_and_repeat() {
        let draw = |seed, name, index| Stream::named(seed, name, index).next_u64();
        assert_eq!(draw(1, "a", 0), draw(1, "a", 0));
        let mut all = vec![draw(1, "a", 0), draw(1, "a", 1), draw(1, "b", 0), draw(2, "a", 0)];
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut stream = Stream::named(7, "normal", 0);
        let draws: Vec<f64> = (0..20_000).map(|_| stream.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
        // Five standard errors: 5/sqrt(20000) and 5*sqrt(2/20000).
        assert!(mean.abs() < 0.036 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
