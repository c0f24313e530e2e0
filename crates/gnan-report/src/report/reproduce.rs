//! How to obtain the same model and the same page again.

use gnan::model::Ended;
use maud::{Markup, html};

use super::Report;

pub(super) fn html(report: &Report<'_>) -> Markup {
    let record = &report.model.definition().record;
    let (model, data, options) = (quoted(report.model_name), quoted(report.data_name), &report.options);
    let mut commands = vec![report.train_command.clone()];
    let same_bytes = record.ended != Ended::Interrupted && record.tried.is_empty();
    if same_bytes {
        commands.push(format!("cmp {model} again.gnan"));
    }
    commands.push(format!("gnan inspect {model}"));
    commands.push(format!("gnan explain {model} {data} --all --verify"));
    if let Some(resamples) = report.bands.resamples() {
        commands.push(format!("gnan bootstrap {model} {data} --resamples {resamples}"));
    }
    commands.push(format!("gnan report {model} {data}{options} -o again.html"));
    let train = match (record.ended, record.tried.is_empty()) {
        (Ended::Interrupted, _) => {
            "Its training was interrupted: the first command trains to the end, which gives another model. "
        }
        (_, false) => {
            "Its options were found by a search: the first command trains with the options that were found. The same version, \
             data, options and seed give a model of the same curves. "
        }
        (_, true) => {
            "The same version, data, options and seed give the same model, byte for byte, on any number of threads: the first \
             command trains it again, the second compares the two. "
        }
    };
    html! {
        p {
            "The model was trained by gnan " (record.version) " on " (record.data) " with seed " (record.resolved.fit.seed)
            ". " (train) "The others show what the model is, verify that every explanation adds up, and write this page again."
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
