//! Feature by feature: which matter most, and the figures of each of the most important ones.

use gnan::explain::Overview;
use gnan::model::LITTLE_SUPPORT;
use gnan::numbers::{count, percent};
use maud::{Markup, html};

use super::chooser::{Choice, chooser};
use super::effects;
use super::figures::Figures;
use super::html::{TableCell, table};
use crate::bands::Bands;
use crate::model_figures::ModelFigures;
use crate::text::{number, one_line};

/// How many of the most and of the least important features the table lists.
const EXTREMES: usize = 10;
/// Features that have figures of their own.
const DRAWN: usize = 10;

/// The section.
pub(super) fn html(figures: &ModelFigures<'_>, overview: &Overview, bands: Bands<'_>, drawn: &mut Figures) -> Markup {
    let choice = |k: &usize| Choice {
        name: one_line(&overview.features[*k].name),
        content: html! {
            @if let Some(sentence) = effects::sentence(*k, overview, bands) { p { (sentence) } }
            @for figure in figures.of_feature(*k) { (drawn.html(figure)) }
        },
    };
    let choices: Vec<Choice> = figures.order().iter().take(DRAWN).map(choice).collect();
    html! {
        (importances(figures, overview, bands))
        @if !choices.is_empty() {
            p {
                "The effect of one feature, by value and by distance."
                @if overview.features.len() > DRAWN {
                    " The " (DRAWN) " most important ones can be chosen; gnan plot --feature draws any other."
                }
            }
            (chooser("choose-feature", "Feature:", &choices))
        }
    }
}

/// The table of the most and the least important features.
fn importances(figures: &ModelFigures<'_>, overview: &Overview, bands: Bands<'_>) -> Markup {
    let Some(importance) = &overview.importance else { return Markup::default() };
    let row = |place: usize| {
        let k = figures.order()[place];
        let feature = &overview.features[k];
        vec![
            TableCell::Number((place + 1).to_string()),
            TableCell::Text(one_line(&feature.name)),
            TableCell::Text(feature.kind.name().to_owned()),
            TableCell::Number(number(importance.of_feature(k), 3)),
            TableCell::Number(percent(importance.share_of_feature(k), 1)),
            TableCell::Number(count(feature.support.items as usize)),
            TableCell::Number(count(feature.support.nodes as usize)),
            TableCell::Text(bands.verdict(k, overview).unwrap_or_default()),
        ]
    };
    let features = figures.order().len();
    let mut places: Vec<usize> = (0..features).collect();
    let left_out = features.saturating_sub(2 * EXTREMES);
    if left_out > 0 {
        places.drain(EXTREMES..features - EXTREMES);
    }
    let mut rows: Vec<Vec<TableCell>> = places.into_iter().map(row).collect();
    let empty = || TableCell::Text(String::new());
    rows.push(vec![
        empty(),
        TableCell::Text("structure term".to_owned()),
        TableCell::Text("graph shape".to_owned()),
        TableCell::Number(number(importance.of_structure(), 3)),
        TableCell::Number(percent(importance.share_of_structure(), 1)),
        empty(),
        empty(),
        empty(),
    ]);
    let verdict = if bands.are_known() { "verdict" } else { "" };
    let header = ["", "feature", "kind", "mean |contribution|", "share", "items", "nodes", verdict];
    html! {
        p {
            "Mean absolute contribution (" (overview.unit) ") over " (count(importance.items)) " predictions, with the "
            "number of training items and nodes that have a known value (binary and sparse features: other than 0)."
            @if left_out > 0 { " The " (count(left_out)) " features in between are not listed." }
        }
        (table(&header, &rows, &[]))
        @if !bands.are_known() {
            p {
                "No intervals were computed: gnan bootstrap shows which of these features have a reliable effect. Effects "
                "supported by fewer than " (LITTLE_SUPPORT) " items are unreliable in any case."
            }
        }
    }
}
