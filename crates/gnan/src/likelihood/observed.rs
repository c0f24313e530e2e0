//! What is known of a target: its value, or a number that it does not exceed or does not fall below.

/// What is known of the target of an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Observed {
    /// The value itself; of a class, its number.
    Exactly(f64),
    /// It is this number or less.
    AtMost(f64),
    /// It is this number or more.
    AtLeast(f64),
}

impl Observed {
    /// The value, or the number that it lies below or above.
    pub fn number(self) -> f64 {
        let (Observed::Exactly(number) | Observed::AtMost(number) | Observed::AtLeast(number)) = self;
        number
    }

    /// Whether the value is known.
    pub fn is_exact(self) -> bool {
        matches!(self, Observed::Exactly(_))
    }

    /// The same with another number.
    pub fn with_number(self, change: impl FnOnce(f64) -> f64) -> Observed {
        match self {
            Observed::Exactly(number) => Observed::Exactly(change(number)),
            Observed::AtMost(number) => Observed::AtMost(change(number)),
            Observed::AtLeast(number) => Observed::AtLeast(change(number)),
        }
    }
}

impl From<f64> for Observed {
    fn from(value: f64) -> Observed {
        Observed::Exactly(value)
    }
}
