//! Whether what the model assumes holds: residuals, calibration, knots and concurvity.

use gnan::ModelCheck;
use gnan::diagnostics::{BasisCheck, CalibrationCheck, ConcurvityCheck, ResidualCheck};
use gnan::model::Definition;
use gnan::numbers::{count, fixed, metric, percent, significant};
use maud::{Markup, html};

use super::figures::Figures;
use super::html::{TableCell, facts, list, table};
use crate::check_figures::check_figures;
use crate::text::{number, one_line};

/// Most rows of a table.
const MOST: usize = 20;

/// The section; where nothing could be checked, the reason.
pub(super) fn html(check: &gnan::Result<ModelCheck>, definition: &Definition, figures: &mut Figures) -> Markup {
    let check = match check {
        Ok(check) => check,
        Err(error) => return html! { p { "Nothing could be checked: " (error) "." } },
    };
    html! {
        h3 { "Residuals" }
        (residuals(&check.residuals))
        @for figure in check_figures(check, definition) { (figures.html(figure)) }
        @if let Some(check) = &check.calibration { h3 { "Calibration" } (calibration(check)) }
        @if let Some(check) = &check.basis { h3 { "Knots of curves" } (basis(check)) }
        @if let Some(check) = &check.concurvity { h3 { "Concurvity" } (concurvity(check)) }
        @if !check.left_out.is_empty() { (list(&check.left_out)) }
    }
}

fn residuals(check: &ResidualCheck) -> Markup {
    html! {
        p { (check.sentence) }
        (facts(&[
            ("residuals", format!("{} ({})", count(check.count), check.kind)),
            ("mean, standard deviation", format!("{}, {}", number(check.mean, 3), number(check.sd, 3))),
            ("skewness, excess kurtosis", format!("{}, {}", fixed(check.skewness, 2), fixed(check.excess_kurtosis, 2))),
            ("correlation with normal quantiles", format!("{} (p = {})", metric(check.straightness), significant(check.normal_p_value, 2))),
            ("k-index by prediction", format!("{} (p = {})", fixed(check.index_by_prediction, 2), significant(check.index_p_value, 2))),
        ]))
    }
}

fn calibration(check: &CalibrationCheck) -> Markup {
    let slope = match (check.slope, check.slope_interval) {
        (Some(slope), Some([low, high])) => format!("{} ({} to {})", fixed(slope, 2), fixed(low, 2), fixed(high, 2)),
        _ => "cannot be estimated".to_owned(),
    };
    let row = |group: &gnan::diagnostics::CalibrationGroup| {
        vec![
            TableCell::Number(count(group.count)),
            TableCell::Number(metric(group.predicted)),
            TableCell::Number(metric(group.observed)),
            TableCell::Number(format!("{} to {}", metric(group.lower), metric(group.upper))),
        ]
    };
    let rows: Vec<Vec<TableCell>> = check.groups.iter().map(row).collect();
    html! {
        p { (check.sentence) }
        (facts(&[
            ("expected calibration error", metric(check.error)),
            ("slope of log-odds", slope),
            ("test of all groups", format!("p = {}", significant(check.p_value, 2))),
        ]))
        (table(&["predictions", "mean predicted", "observed share", "95 % interval"], &rows, &[]))
    }
}

fn basis(check: &BasisCheck) -> Markup {
    let row = |row: &gnan::diagnostics::BasisRow| {
        vec![
            TableCell::Text(one_line(&row.name)),
            TableCell::Number(row.coefficients.map(count).unwrap_or_default()),
            TableCell::Number(row.edf.map(|edf| fixed(edf, 1)).unwrap_or_default()),
            TableCell::Number(fixed(row.k_index, 2)),
            TableCell::Number(significant(row.p_value, 2)),
        ]
    };
    let rows: Vec<Vec<TableCell>> = check.rows.iter().take(MOST).map(row).collect();
    html! {
        p { (check.sentence) }
        p {
            "The k-index is near 1 where residuals of items that follow one another along a feature are not alike; the p-value is that \
             of permutations. Coefficients are those of the whole term, at all values and distances."
        }
        (table(&["along", "coefficients", "degrees of freedom", "k-index", "p-value"], &rows, &[]))
    }
}

fn concurvity(check: &ConcurvityCheck) -> Markup {
    let row = |row: &gnan::diagnostics::ConcurvityRow| {
        vec![
            TableCell::Text(one_line(&row.name)),
            TableCell::Number(percent(row.by_all, 0)),
            TableCell::Text(one_line(&row.nearest)),
            TableCell::Number(percent(row.by_nearest, 0)),
        ]
    };
    let rows: Vec<Vec<TableCell>> = check.rows.iter().take(MOST).map(row).collect();
    html! {
        p { (check.sentence) }
        p { "Over " (count(check.items)) " items: how much of what a term contributes the other terms contribute together." }
        (table(&["term", "explained by all others", "nearest", "explained by it alone"], &rows, &[]))
    }
}
