//! Figures of graph neural additive networks.
//!
//! ```text
//! model, data -> album, portrait, drawing -> figure -> scene -> svg -> png
//!                                                           \-> page (interactive HTML) -> report
//! ```
//!
//! A figure takes a plain struct of numbers and names and lays it out as a [`Scene`]: lines, rectangles, words, with
//! colours that say what they mean. One scene becomes a light SVG, a PNG (with an embedded font, on any machine) and an
//! interactive page that needs no network. The same data give the same bytes; names are only ever text; what is not
//! finite is not drawn.
//!
//! ```
//! use gnan_report::figure::importance::{Block, Importance, Item};
//!
//! let rows = vec![Item { name: "N".into(), importance: 0.8.into() }, Item { name: "Cl".into(), importance: 0.3.into() }];
//! let figure = Importance {
//!     title: "What matters".into(),
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
pub mod precision;
pub mod scene;
mod axis;
mod layout;
pub mod placement;
pub mod figure;
pub mod bands;
pub mod album;
pub mod portrait;
pub mod svg;
pub mod png;
pub mod page;
pub mod drawing;
pub mod words;
pub mod report;

pub use colour::{Colour, Palette};
pub use png::PngError;
pub use scene::{Anchor, Element, Fill, Scene, Shape, Stroke};
