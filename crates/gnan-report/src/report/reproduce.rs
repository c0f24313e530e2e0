//! How to come by the same model and the same page again.

use super::Report;
use super::html::{paragraph, text};

pub(super) fn html(report: &Report<'_>) -> String {
    let record = &report.model.definition().record;
    let options = &report.options;
    let mut commands = vec![
        format!("gnan inspect {}", quoted(report.model_name)),
        format!("gnan explain {} {} --all --verify", quoted(report.model_name), quoted(report.data_name)),
    ];
    if report.bands.are_there() {
        let resamples = report.bands.resamples().unwrap_or_default();
        commands.push(format!(
            "gnan bootstrap {} {} --resamples {resamples}",
            quoted(report.model_name),
            quoted(report.data_name)
        ));
    }
    commands.push(format!(
        "gnan report {} {}{options} -o report.html",
        quoted(report.model_name),
        quoted(report.data_name)
    ));
    let mut html = paragraph(&format!(
        "The model was trained by gnan {} on {} with seed {}. The same version, data, options and seed give the same model, \
         byte for byte, on any number of threads; these commands show what it is, check every explanation, and write \
         this page again:",
        record.version, record.data, record.resolved.fit.seed
    ));
    html += &format!("<pre>{}</pre>\n", text(&commands.join("\n")));
    html + &paragraph("This page is one file. It loads nothing, sends nothing and works without a network.")
}

/// A word of a command line.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
