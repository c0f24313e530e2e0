//! A chooser: several parts of a page of which one is seen at a time. Without a script, and on paper, all of them are.

use maud::{Markup, html};

/// A part that can be chosen: its name and its content.
pub(super) struct Choice {
    pub name: String,
    pub content: Markup,
}

/// The parts under a list of their names; a single one needs none.
pub(super) fn chooser(id: &str, label: &str, choices: &[Choice]) -> Markup {
    html! {
        div.chooser {
            @if choices.len() > 1 {
                p.choose {
                    label for=(id) { (label) " " }
                    select id=(id) {
                        @for (place, choice) in choices.iter().enumerate() { option value=(place) { (choice.name) } }
                    }
                }
            }
            @for (place, choice) in choices.iter().enumerate() {
                div.choice data-choice=(place) { (choice.content) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_has_an_entry_and_names_stay_text() {
        let choice = |name: &str| Choice { name: name.to_owned(), content: html! { p { (name) } } };
        let page = chooser("c", "Feature", &[choice("<b>"), choice("two")]).into_string();
        assert_eq!((page.matches("<option").count(), page.matches("data-choice").count()), (2, 2));
        assert!(!page.contains("<b>"), "{page}");
        assert!(!chooser("c", "Feature", &[choice("one")]).into_string().contains("<select"));
    }
}
