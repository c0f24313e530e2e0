//! Bounds: cells such as `<4.0` or `>100`, whose value is not known but lies below or above a number.

/// On which side of a number a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At or below it.
    Below,
    /// At or above it.
    Above,
}

/// What is known of the missing value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The row.
    pub row: u32,
    /// Where the value lies.
    pub side: Side,
    /// The number that it lies below or above.
    pub value: f64,
}

impl Bound {
    /// How it is written in a table.
    pub fn cell(&self) -> String {
        let side = if self.side == Side::Below { '<' } else { '>' };
        format!("{side}{}", self.value)
    }
}

/// Reads `<4.0`, `<= 4`, `≤4`, `>100` and the like.
pub fn read(cell: &str) -> Option<(Side, f64)> {
    let (side, rest) = match cell.chars().next()? {
        '<' => (Side::Below, cell[1..].strip_prefix('=').unwrap_or(&cell[1..])),
        '>' => (Side::Above, cell[1..].strip_prefix('=').unwrap_or(&cell[1..])),
        sign @ ('≤' | '≥') => (if sign == '≤' { Side::Below } else { Side::Above }, &cell[sign.len_utf8()..]),
        _ => return None,
    };
    let value: f64 = rest.trim().parse().ok()?;
    value.is_finite().then_some((side, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_as_people_write_them() {
        for cell in ["<4.0", "< 4", "<=4", "≤ 4.0"] {
            assert_eq!(read(cell), Some((Side::Below, 4.0)), "{cell}");
        }
        for cell in [">1e2", ">= 100", "≥100"] {
            assert_eq!(read(cell), Some((Side::Above, 100.0)), "{cell}");
        }
        for cell in ["", "<", "4", "<<4", "<inf", "<nan", "<-", "<4 mM", "=4", "ä"] {
            assert_eq!(read(cell), None, "{cell}");
        }
    }
}
