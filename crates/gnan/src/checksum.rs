//! Checksums: whether two things are the same. They guard against mix-ups, not against forgery.

/// A checksum of bytes (FNV-1a, 64 bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Checksum(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// The checksum of some bytes.
    pub fn of(bytes: &[u8]) -> Checksum {
        Checksum::default().and(bytes)
    }

    /// The checksum of what came before and these bytes.
    pub fn and(self, bytes: &[u8]) -> Checksum {
        Checksum(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// The checksum as a number.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The checksum of what came before and these codes.
    pub fn and_codes(self, codes: &[u32]) -> Checksum {
        codes.iter().fold(self, |sum, code| sum.and(&code.to_le_bytes()))
    }

    /// The checksum of what came before and these numbers.
    pub fn and_numbers(self, numbers: &[f64]) -> Checksum {
        numbers.iter().fold(self, |sum, number| sum.and(&number.to_le_bytes()))
    }

    /// The checksum of what came before and these numbers.
    pub fn and_floats(self, numbers: &[f32]) -> Checksum {
        numbers.iter().fold(self, |sum, number| sum.and(&number.to_le_bytes()))
    }
}

impl std::fmt::Display for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
