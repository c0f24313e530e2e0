//! Models with a readout, for people and programs: what its functions make of what is heard, and what that is made of.

use gnan::explain::{By, ReadoutExplanation};
use gnan::{Dataset, Error, Model};
use serde::Serialize;

use super::local::Ledgers;
use super::{ExplainArgs, Format, answer, write_text};
use crate::args::Sink;
use crate::exit::{Completion, Result};
use crate::progress::working;
use crate::style::{contribution, counted, dim, heading, number};
use crate::table::{Align, Table, shorten};

/// Widest name of a part.
const NAME_WIDTH: usize = 40;
/// Where readout functions are shown, in spreads of what is heard.
const SHOWN_AT: [f64; 5] = [-2.0, -1.0, 0.0, 1.0, 2.0];

/// The readout functions of a model, a row each: what they add for little and for much.
pub fn functions(model: &Model, top: usize) -> String {
    let outputs = model.description().shown_names();
    let mut columns = vec![Align::Left, Align::Left];
    columns.extend([Align::Right; SHOWN_AT.len()]);
    let mut header = vec!["readout of".to_owned(), "output".to_owned()];
    header.extend(SHOWN_AT.map(|at| format!("{at:+}")));
    let mut table = Table::new(&columns).header(header);
    for (name, curve) in model.readout_curves().into_iter().take(top.saturating_add(1)) {
        for (c, output) in outputs.iter().enumerate() {
            let mut row = vec![shorten(&name, NAME_WIDTH), shorten(output, NAME_WIDTH)];
            row.extend(SHOWN_AT.map(|at| contribution(model.description().shown(&curve.evaluate(at))[c])));
            table.row(row);
        }
    }
    let words = "what is added when so much is heard, in spreads over the training graphs; 0 on average";
    format!("\n{}  {}\n{}", heading("readout"), dim(words), table.render())
}

/// Explains predictions in two stages.
pub fn predictions(
    args: &ExplainArgs,
    model: &Model,
    data: &Dataset,
    positions: &[usize],
    format: Format,
) -> Result<Completion> {
    if format == Format::Csv {
        let error = Error::usage("the two stages of a readout do not fit one table");
        return Err(error.with_remedy("take --json, or words").into());
    }
    let found = working("explaining", || model.explain_readout(data, positions))?;
    if args.verify {
        let wrong = found.iter().filter(|why| !why.adds_up()).count();
        let checked = found.len();
        return answer(args, &Verified { adds_up: wrong == 0, checked, wrong }, format);
    }
    if format == Format::Text && !args.all {
        let text: Vec<String> = found.iter().map(|why| ledger(model, why, args.top)).collect();
        write_text(args, &text.join("\n"), &counted(found.len(), "explanation"))?;
        return Ok(Completion::Done);
    }
    let mut sink = Sink::open(&args.output)?;
    for why in &found {
        let mut line = serde_json::to_vec(why)
            .map_err(|error| Error::input(format!("the result cannot be written as JSON: {error}")))?;
        line.push(b'\n');
        sink.write(&line)?;
    }
    sink.close(&args.output, &counted(found.len(), "explanation"))?;
    Ok(Completion::Done)
}

/// Whether all sums of both stages are right.
#[derive(Serialize)]
struct Verified {
    adds_up: bool,
    checked: usize,
    wrong: usize,
}

impl super::Answered for Verified {
    fn sentence(&self) -> String {
        match self.wrong {
            0 => format!("{}: both stages add up", counted(self.checked, "explanation")),
            wrong => format!("{wrong} of {} do not add up", counted(self.checked, "explanation")),
        }
    }

    fn adds_up(&self) -> bool {
        self.adds_up
    }
}

fn ledger(model: &Model, why: &ReadoutExplanation, top: usize) -> String {
    let mut columns = vec![Align::Left, Align::Right];
    columns.extend(vec![Align::Right; why.outputs.len()]);
    let mut header = vec!["part".to_owned(), "heard".to_owned()];
    header.extend(why.outputs.iter().map(|output| shorten(output, NAME_WIDTH)));
    let mut table = Table::new(&columns).header(header);
    let mut terms: Vec<_> = why.terms.iter().collect();
    terms.sort_by(|a, b| size(&b.values).total_cmp(&size(&a.values)));
    let row = |name: String, heard: String, values: &[f64]| {
        [name, heard].into_iter().chain(values.iter().map(|value| contribution(*value))).collect::<Vec<_>>()
    };
    for term in terms.iter().take(top) {
        table.row(row(shorten(&term.part, NAME_WIDTH), number(term.input), &term.values));
    }
    if terms.len() > top {
        let mut rest = vec![0.0; why.outputs.len()];
        for term in &terms[top..] {
            rest.iter_mut().zip(&term.values).for_each(|(sum, value)| *sum += value);
        }
        table.row(row(format!("{} more", terms.len() - top), String::new(), &rest));
    }
    table.row(row("base".to_owned(), String::new(), &why.base));
    table.row(row("prediction".to_owned(), String::new(), &why.prediction));
    let first = format!(
        "{}  {}\n{}",
        heading(shorten(&why.id, NAME_WIDTH)),
        dim("first stage: what the readout functions make of what is heard"),
        table.render()
    );
    let Some(before) = model.before_readout() else { return first };
    let ledgers = Ledgers {
        description: before.description(),
        outputs: None,
        by: vec![By::FeatureAndDistance, By::NodeAndFeature],
        top,
    };
    let words =
        dim("second stage: what is heard, by feature and distance and by source; in spreads, not in the units above");
    format!("{first}\n{words}\n{}", ledgers.text(&why.inputs, &[]))
}

fn size(values: &[f64]) -> f64 {
    values.iter().map(|value| value.abs()).sum()
}
