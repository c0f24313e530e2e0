//! From scenes to a page: the figures' SVG inline, one style sheet and one script of ours, and nothing from the
//! network. A larger page takes the same three parts: [`STYLE`] once, [`figure`] for every figure, [`SCRIPT`] once.

use crate::scene::Scene;
use crate::svg::escaped;

/// The style sheet of all figures of a page: put it once into a `<style>`.
pub const STYLE: &str = include_str!("../assets/figure.css");

/// The script of all figures of a page (tooltips, legends): put it once into a `<script>` at the end of the body.
pub const SCRIPT: &str = include_str!("../assets/figure.js");

/// One figure as a part of a page; the id must be unique in that page.
pub fn figure(scene: &Scene, id: &str) -> String {
    format!("<figure class=\"gnan-figure {}\">\n{}</figure>\n", scene.palette.class(), scene.svg_for_page(id))
}

/// A page of its own that holds figures one below the other.
pub fn page(title: &str, scenes: &[Scene]) -> String {
    let figures: String =
        scenes.iter().enumerate().map(|(k, scene)| figure(scene, &format!("figure-{}", k + 1))).collect();
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body class=\"gnan-page\">\n{figures}\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

impl Scene {
    /// The scene as an interactive page of its own that works without a network.
    pub fn html(&self) -> String {
        page(&self.title, std::slice::from_ref(self))
    }
}
