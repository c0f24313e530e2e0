//! Colours by meaning. A figure names what a colour stands for; the colour itself is chosen when the scene is written: a
//! literal one in SVG and PNG (light), a CSS variable in HTML, so that light and dark both work. Signs are blue and orange
//! unless requested otherwise, classes a sequence that colour-blind readers can distinguish.

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Colour {
    /// Text and axes.
    Ink,
    /// Secondary text: units, ticks, notes.
    Muted,
    /// Thin lines behind the data.
    Grid,
    /// The paper behind everything.
    Surface,
    /// Pushes the output up.
    Positive,
    /// Pushes the output down.
    Negative,
    /// The i-th class or series; the sequence repeats after [`CLASS_COLOURS`].
    Class(usize),
    /// A value from -1 (negative) over 0 (neutral) to 1 (positive).
    Diverging(f64),
}

/// The two colours of signs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// Positive is blue, negative is orange: safe for colour-blind readers.
    #[default]
    BlueOrange,
    /// Positive is green, negative is red: the paper's colours.
    GreenRed,
}

/// How many class colours there are before they repeat.
pub const CLASS_COLOURS: usize = 8;

/// After Okabe and Ito, with the yellow darkened so that it shows on white.
const CLASSES: [&str; CLASS_COLOURS] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c7a00", "#6b6b6b"];

impl Palette {
    /// The class attribute under which the style sheet keeps this palette's variables.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Palette::BlueOrange => "blue-orange",
            Palette::GreenRed => "green-red",
        }
    }

    fn positive(self) -> [u8; 3] {
        match self {
            Palette::BlueOrange => [0x00, 0x72, 0xb2],
            Palette::GreenRed => [0x1a, 0x7f, 0x37],
        }
    }

    fn negative(self) -> [u8; 3] {
        match self {
            Palette::BlueOrange => [0xd5, 0x5e, 0x00],
            Palette::GreenRed => [0xc6, 0x28, 0x28],
        }
    }
}

const NEUTRAL: [u8; 3] = [0xf6, 0xf6, 0xf6];

impl Colour {
    /// The literal (light) colour, as `#rrggbb`.
    pub fn literal(self, palette: Palette) -> String {
        match self {
            Colour::Ink => "#1b1f24".into(),
            Colour::Muted => "#5d6570".into(),
            Colour::Grid => "#e3e6ea".into(),
            Colour::Surface => "#ffffff".into(),
            Colour::Positive => hex(palette.positive()),
            Colour::Negative => hex(palette.negative()),
            Colour::Class(class) => CLASSES[class % CLASS_COLOURS].into(),
            Colour::Diverging(value) => {
                let (end, share) = diverging(value);
                let end = if end == Colour::Positive { palette.positive() } else { palette.negative() };
                let blend = |k: usize| NEUTRAL[k] as f64 + (end[k] as f64 - NEUTRAL[k] as f64) * share;
                hex([blend(0).round() as u8, blend(1).round() as u8, blend(2).round() as u8])
            }
        }
    }

    /// The colour as an expression over the style sheet's variables.
    pub fn variable(self) -> String {
        match self {
            Colour::Ink => "var(--ink)".into(),
            Colour::Muted => "var(--muted)".into(),
            Colour::Grid => "var(--grid)".into(),
            Colour::Surface => "var(--surface)".into(),
            Colour::Positive => "var(--positive)".into(),
            Colour::Negative => "var(--negative)".into(),
            Colour::Class(class) => format!("var(--class-{})", class % CLASS_COLOURS),
            Colour::Diverging(value) => {
                let (end, share) = diverging(value);
                format!("color-mix(in srgb,{} {:.1}%,var(--neutral))", end.variable(), 100.0 * share)
            }
        }
    }
}

/// The end towards which a diverging value leans, and how far; not-a-number is neutral.
fn diverging(value: f64) -> (Colour, f64) {
    let value = if value.is_finite() { value.clamp(-1.0, 1.0) } else { 0.0 };
    (if value < 0.0 { Colour::Negative } else { Colour::Positive }, value.abs())
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_neutral_and_the_ends_are_the_signs() {
        for palette in [Palette::BlueOrange, Palette::GreenRed] {
            assert_eq!(Colour::Diverging(0.0).literal(palette), "#f6f6f6");
            assert_eq!(Colour::Diverging(f64::NAN).literal(palette), "#f6f6f6");
            assert_eq!(Colour::Diverging(7.0).literal(palette), Colour::Positive.literal(palette));
            assert_eq!(Colour::Diverging(-1.0).literal(palette), Colour::Negative.literal(palette));
        }
        assert_eq!(Colour::Class(9).variable(), "var(--class-1)");
    }
}
