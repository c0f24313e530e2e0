//! The terms of a penalised fit: degrees of freedom, tests, and a sentence on each.

use gnan::model::{Definition, TermSummary};
use gnan::numbers::{count, fixed};
use maud::{Markup, html};

use super::html::{TableCell, table};
use crate::text::{number, one_line};

/// Most features that the table lists.
const MOST: usize = 20;

/// The table; nothing for a model that was not fitted by penalised likelihood.
pub(super) fn html(definition: &Definition) -> Markup {
    let Some(summary) = &definition.record.summary else { return Markup::default() };
    let unit = definition.shown_unit();
    let Some((structure, features)) = summary.terms.split_last() else { return Markup::default() };
    let mut features: Vec<&TermSummary> = features.iter().collect();
    features.sort_by(|a, b| b.mean_importance().total_cmp(&a.mean_importance()));
    let left_out = features.len().saturating_sub(MOST);
    let row = |term: &TermSummary| {
        vec![
            TableCell::Text(one_line(&term.name)),
            TableCell::Number(fixed(term.edf, 1)),
            TableCell::Number(term.statistic.map(|statistic| fixed(statistic, 1)).unwrap_or_default()),
            TableCell::Number(term.p_words().map(|p| p.trim_start_matches("p = ").to_owned()).unwrap_or_default()),
            TableCell::Number(number(term.mean_importance(), 3)),
            TableCell::Text(term.sentence(&unit)),
        ]
    };
    let rows: Vec<Vec<TableCell>> = features.into_iter().take(MOST).chain([structure]).map(row).collect();
    html! {
        p {
            "Which features have a reliable effect, over the training data. Effective degrees of freedom: as many free numbers would \
             be as flexible as the smooth effects of this feature. The test asks whether all effects of a feature, at every value \
             and distance, could be 0: a p-value below 0.05 says that chance alone would rarely show as much."
            @if left_out > 0 { " " (count(left_out)) " less important features are not listed; gnan summary --all lists them." }
        }
        (table(&["term", "degrees of freedom", "statistic", "p-value", "mean |contribution|", ""], &rows, &[]))
    }
}
