//! Figures of graph neural additive networks.
//!
//! ```text
//! model, data -> model figures, prediction figures, drawing -> figure -> scene -> svg -> png
//!                                                                             \-> page (interactive HTML) -> report
//! ```
//!
//! A figure takes a plain struct of numbers and names and lays it out as a [`Scene`]: lines, rectangles and words, with
//! colours by meaning. One scene becomes a light SVG, a PNG (with an embedded font, on any machine) and an
//! interactive page that needs no network. The same data give the same bytes; names are only ever text; what is not
//! finite is not drawn.
//!
//! ```
//! use gnan_report::figure::FigureContent;
//! use gnan_report::figure::importance::{Block, Importance, ImportanceRow};
//!
//! let row = |name: &str, importance: f64| ImportanceRow { name: name.into(), importance: importance.into() };
//! let rows = vec![row("N", 0.8), row("Cl", 0.3)];
//! let figure = Importance {
//!     title: "Importance".into(),
//!     unit: "mean |contribution| (log-odds)".into(),
//!     blocks: vec![Block { name: "by feature".into(), rows }],
//!     most: 20,
//! };
//! let scene = figure.scene(760.0);
//! let (svg, html, png) = (scene.svg(), scene.html(), scene.png(2.0)?);
//! assert!(svg.contains(">Cl</text>") && html.contains("<svg") && png.starts_with(b"\x89PNG"));
//! # Ok::<(), gnan_report::PngError>(())
//! ```

pub mod colour;
pub mod text;
pub mod scene;
mod axis;
mod layout;
pub mod placement;
pub mod figure;
pub mod bands;
pub mod model_figures;
pub mod prediction_figures;
pub mod check_figures;
pub mod svg;
pub mod png;
pub mod page;
pub mod drawing;
pub mod words;
pub mod report;

pub use colour::{Colour, Palette};
pub use png::PngError;
pub use scene::{Anchor, Element, Fill, Scene, Shape, Stroke};
