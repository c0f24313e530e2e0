//! `gnan summary`: which terms of a penalised fit have a reliable effect, in the manner of mgcv's `summary()`.

use std::path::PathBuf;

use clap::Args;
use gnan::model::{Definition, FitSummary, TermSummary};
use gnan::numbers::{count, fixed, number};
use gnan_report::text::one_line;
use gnan_report::words;
use serde::Serialize;

use super::data::{FIRST_ROWS, NAME_WIDTH, rest};
use crate::args::heading::OUTPUT;
use crate::cli::examples;
use crate::exit::{Completion, Result};
use crate::screen::{print, print_json};
use crate::style::{dim, heading};
use crate::table::{Align, Table, shorten};

const EXAMPLES: &str = examples!(
    "gnan train solubility --fit penalised -o penalised.gnan && gnan summary penalised.gnan",
    "gnan summary penalised.gnan --all",
    "gnan summary penalised.gnan --json | jq '.terms[] | {name, p_value}'",
);

/// Arguments of `gnan summary`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SummaryArgs {
    /// The model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// List every feature, not the first 20
    #[arg(long, help_heading = OUTPUT)]
    all: bool,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    predicts: String,
    unit: String,
    train_items: usize,
    edf: f64,
    marginal: f64,
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    noise_sd: &'a [f64],
    terms: Vec<TermDocument<'a>>,
}

#[derive(Serialize)]
struct TermDocument<'a> {
    #[serde(flatten)]
    term: &'a TermSummary,
    sentence: String,
}

/// Runs `gnan summary`.
pub fn run(args: &SummaryArgs, json: bool) -> Result<Completion> {
    let model = crate::args::load_model(&args.model)?;
    let definition = model.definition();
    let Some(summary) = &definition.record.summary else {
        let error = gnan::Error::input(
            "the model was trained by gradient descent, which gives neither degrees of freedom nor p-values",
        );
        let remedy =
            "train it with --fit penalised for this table, or run gnan bootstrap for bands and verdicts on every curve";
        return Err(error.in_file(&args.model).with_remedy(remedy).into());
    };
    if json {
        let unit = definition.shown_unit();
        print_json(&Document {
            predicts: words::prediction(definition),
            train_items: definition.record.train_items,
            edf: summary.edf,
            marginal: summary.marginal,
            noise_sd: &summary.noise_sd,
            terms: summary.terms.iter().map(|term| TermDocument { term, sentence: term.sentence(&unit) }).collect(),
            unit,
        })?;
        return Ok(Completion::Done);
    }
    let mut facts = Table::facts();
    facts.fact("predicts", words::prediction(definition));
    facts.fact("trained on", format!("{}: {} items", definition.record.data, count(definition.record.train_items)));
    let shown = if args.all { usize::MAX } else { FIRST_ROWS };
    print(format!("{}\n\n{}\n{}", heading(args.model.display()), facts.render(), terms(definition, summary, shown)))?;
    Ok(Completion::Done)
}

/// The table of terms, the most important first, and what its columns mean.
pub fn terms(definition: &Definition, summary: &FitSummary, shown: usize) -> String {
    let columns = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left];
    let unit = definition.shown_unit();
    let mut table = Table::new(&columns).header(["term", "edf", "statistic", "p-value", "importance", ""]);
    let features = summary.terms.len() - 1;
    let mut order: Vec<usize> = (0..features).collect();
    order.sort_by(|a, b| summary.terms[*b].mean_importance().total_cmp(&summary.terms[*a].mean_importance()));
    for place in order.into_iter().take(shown).chain([features]) {
        let term = &summary.terms[place];
        table.row([
            shorten(&one_line(&term.name), NAME_WIDTH),
            fixed(term.edf, 1),
            term.statistic.map(|statistic| fixed(statistic, 1)).unwrap_or_default(),
            term.p_words().map(|p| p.trim_start_matches("p ").trim_start_matches("= ").to_owned()).unwrap_or_default(),
            number(term.mean_importance()),
            term.sentence(&unit),
        ]);
    }
    let noise = match summary.noise_sd.as_slice() {
        [] => String::new(),
        [only] => {
            format!("; a target lies around its prediction with a standard deviation of {} {unit}", number(*only))
        }
        several => format!("; standard deviations of targets around predictions: {}", {
            several.iter().map(|sd| number(*sd)).collect::<Vec<_>>().join(", ")
        }),
    };
    let whole = format!("{} effective degrees of freedom in all{noise}", fixed(summary.edf, 1));
    let legend = "edf: effective degrees of freedom, as many free coefficients would be as flexible; statistic and p-value: a test of \
                  whether the effects are 0 at every value and distance (Wald, Wood 2013); importance: mean size of contributions";
    format!("{}\n{}{}\n{whole}\n{}\n", heading("terms"), table.render(), rest(features, shown), dim(legend))
}
