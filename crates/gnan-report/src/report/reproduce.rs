//! How to obtain the same model and the same page again.

use maud::{Markup, html};

use super::Report;

pub(super) fn html(report: &Report<'_>) -> Markup {
    let record = &report.model.definition().record;
    let (model, data, options) = (quoted(report.model_name), quoted(report.data_name), &report.options);
    let mut commands = vec![format!("gnan inspect {model}"), format!("gnan explain {model} {data} --all --verify")];
    if let Some(resamples) = report.bands.resamples() {
        commands.push(format!("gnan bootstrap {model} {data} --resamples {resamples}"));
    }
    commands.push(format!("gnan report {model} {data}{options} -o report.html"));
    html! {
        p {
            "The model was trained by gnan " (record.version) " on " (record.data) " with seed " (record.resolved.fit.seed)
            ". The same version, data, options and seed give the same model, byte for byte, on any number of threads. "
            "These commands show what the model is, verify that every explanation adds up, and write this page again:"
        }
        pre { (commands.join("\n")) }
        p { "This page is a single file: it loads nothing, sends nothing and works without a network." }
    }
}

/// An argument of a shell command, in quotes where it needs them.
pub fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}
