//! The table of the most and the least important features.

use gnan::explain::{LITTLE_SUPPORT, Overview};
use gnan::numbers::{count, percent};
use maud::{Markup, html};

use super::html::{TableCell, table};
use crate::bands::Bands;
use crate::model_figures::ModelFigures;
use crate::text::{number, one_line};

/// How many of the most and of the least important features the table lists.
const EXTREMES: usize = 10;

/// The section.
pub(super) fn html(figures: &ModelFigures<'_>, overview: &Overview, bands: Bands<'_>) -> Markup {
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
            TableCell::Number(count(feature.support.nodes as usize)),
            TableCell::Number(count(feature.support.graphs as usize)),
            TableCell::Text(bands.verdict(k, overview).unwrap_or_default()),
        ]
    };
    let features = figures.order().len();
    let mut places: Vec<usize> = (0..features).collect();
    let left_out = features.saturating_sub(2 * EXTREMES);
    if left_out > 0 {
        places.drain(EXTREMES..features - EXTREMES);
    }
    let rows: Vec<Vec<TableCell>> = places.into_iter().map(row).collect();
    let verdict = if bands.are_known() { "verdict" } else { "" };
    let header = ["", "feature", "kind", "mean |contribution|", "share", "nodes", "graphs", verdict];
    html! {
        p {
            "Mean absolute contribution (" (overview.unit) ") over " (count(importance.items)) " predictions, with the "
            "number of training nodes and graphs that have a known value (binary and sparse features: other than 0)."
            @if left_out > 0 { " The " (count(left_out)) " features in between are not listed." }
        }
        (table(&header, &rows, &[]))
        @if !bands.are_known() {
            p {
                "No intervals were computed: gnan bootstrap shows which of these features have a reliable effect. Effects "
                "that rest on fewer than " (LITTLE_SUPPORT) " graphs or nodes are unreliable in any case."
            }
        }
    }
}
