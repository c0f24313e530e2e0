//! From a scene to PNG: its SVG, drawn by `resvg` with the embedded font, so that a machine without fonts or a
//! display draws the same picture.

use std::fmt;
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use crate::scene::Scene;

/// No picture may have more pixels than this (a quarter of a gigabyte).
const MOST_PIXELS: f64 = 64e6;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    // What Noto Sans lacks (subscripts, arrows, other scripts) is taken from here.
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    Arc::new(fonts)
});

/// Why a scene could not become a PNG.
#[derive(Debug)]
#[non_exhaustive]
pub enum PngError {
    /// More pixels than a picture may have.
    TooLarge {
        /// Requested width in pixels.
        width: f64,
        /// Requested height in pixels.
        height: f64,
    },
    /// The drawing itself failed.
    Drawing(String),
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PngError::TooLarge { width, height } => {
                write!(f, "a picture of {width:.0} x {height:.0} pixels is too large: use a smaller scale, or SVG")
            }
            PngError::Drawing(cause) => write!(f, "the picture could not be drawn: {cause}"),
        }
    }
}

impl std::error::Error for PngError {}

impl Scene {
    /// The scene as a PNG, so many pixels per unit of the scene (2 is sharp on screen, 4 in print).
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, PngError> {
        let (width, height) = ((self.width * scale).ceil().max(1.0), (self.height * scale).ceil().max(1.0));
        let within = width * height <= MOST_PIXELS && width <= 65_535.0 && height <= 65_535.0;
        if !within || !scale.is_finite() || scale <= 0.0 {
            return Err(PngError::TooLarge { width, height });
        }
        let failed = |cause: &dyn fmt::Display| PngError::Drawing(cause.to_string());
        let options = Options { fontdb: FONTS.clone(), font_family: "Noto Sans".into(), ..Options::default() };
        let tree = Tree::from_str(&self.svg(), &options).map_err(|error| failed(&error))?;
        let mut picture =
            Pixmap::new(width as u32, height as u32).ok_or_else(|| failed(&"not enough memory for its pixels"))?;
        resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut picture.as_mut());
        picture.encode_png().map_err(|error| failed(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Element;
    use crate::text;

    #[test]
    fn a_picture_shows_its_words() {
        let mut scene = Scene::new(60.0, 20.0, "t");
        scene.push(Element::text([5.0, 15.0], "ρ(1) → −2"));
        let bytes = scene.png(2.0).unwrap();
        let picture = Pixmap::decode_png(&bytes).unwrap();
        assert_eq!((picture.width(), picture.height()), (120, 40));
        assert!(picture.pixels().iter().any(|pixel| pixel.red() < 100));
    }

    #[test]
    fn too_large_is_refused() {
        for (scene, scale) in [(Scene::new(1e5, 1e5, "t"), 1.0), (Scene::new(10.0, 10.0, "t"), f64::NAN)] {
            assert!(matches!(scene.png(scale), Err(PngError::TooLarge { .. })));
        }
    }

    #[test]
    fn measured_widths_are_those_of_the_embedded_font() {
        for sample in ["Hydrogen-bond donors (count)", "Lipophilicity 0.123"] {
            let mut scene = Scene::new(400.0, 20.0, "t");
            scene.push(Element::text([0.0, 15.0], sample));
            let options = Options { fontdb: FONTS.clone(), ..Options::default() };
            let tree = Tree::from_str(&scene.svg(), &options).unwrap();
            let drawn = tree.root().children().last().unwrap().bounding_box().width() as f64;
            assert!((drawn - text::width(sample, 12.0)).abs() < 3.0, "{sample}: {drawn}");
        }
    }
}
