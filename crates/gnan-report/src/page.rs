//! From scenes to a page: the figures' SVG inline, one style sheet and one script, and nothing from the network. Markup is
//! written by `maud`, which escapes every text, so that names from data and models stay text.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::scene::Scene;
use crate::text::visible;

/// The style sheet of all figures of a page.
const STYLE: &str = include_str!("../assets/figure.css");
/// The script of all figures of a page: tooltips and legends.
const SCRIPT: &str = include_str!("../assets/figure.js");
/// A page may use what it contains, and load nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// One figure as a part of a page, with its caption; the id must be unique in that page.
pub fn figure(scene: &Scene, id: &str, caption: Option<&str>) -> Markup {
    html! {
        figure class={ "gnan-figure " (scene.palette.class()) } {
            (PreEscaped(scene.svg_for_page(id)))
            @if let Some(caption) = caption { figcaption { (caption) } }
        }
    }
}

/// One figure laid out for wide and for narrow screens, with what stands below it; ids begin with `id`.
pub(crate) fn responsive_figure(wide: &Scene, narrow: &Scene, id: &str, below: &Markup) -> Markup {
    html! {
        figure class={ "gnan-figure " (wide.palette.class()) } {
            div.wide { (PreEscaped(wide.svg_for_page(id))) }
            div.narrow { (PreEscaped(narrow.svg_for_page(&format!("{id}-narrow")))) }
            (below)
        }
    }
}

/// A page of its own that holds figures one below the other.
pub fn page(title: &str, scenes: &[Scene]) -> String {
    let figures = html! {
        @for (k, scene) in scenes.iter().enumerate() { (figure(scene, &format!("figure-{}", k + 1), None)) }
    };
    document(title, "", "gnan-page", &figures)
}

/// A whole HTML document around a body; `style` is added to the style sheet of the figures.
pub(crate) fn document(title: &str, style: &str, class: &str, body: &Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body class=(class) {
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    // Whatever name they came in with, characters that change the direction of writing or cannot be seen are shown.
    document.into_string().chars().map(visible).collect()
}

impl Scene {
    /// The scene as an interactive page of its own that works without a network.
    pub fn html(&self) -> String {
        page(&self.title, std::slice::from_ref(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_text_wherever_they_stand() {
        let hostile = "</title><script>alert(\"x\")</script>&\u{202e}\u{0}";
        let mut scene = Scene::new(100.0, 50.0, hostile);
        scene.description = hostile.to_owned();
        let body = html! { p { (hostile) } (figure(&scene, hostile, Some(hostile))) };
        let page = document(hostile, "", hostile, &body);
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert_eq!(page.matches("&lt;script&gt;").count(), 6, "title, class, paragraph, caption, label twice: {page}");
        assert!(!page.contains('\u{202e}') && !page.contains('\u{0}'));
        assert!(page.contains("id=\"titlescriptalertxscript\""), "an id has letters, digits and dashes alone: {page}");
    }
}
