//! Models with a readout, for people and programs: its functions at their inputs, and what the inputs are made of.

use gnan::explain::{By, ReadoutExplanation, ReadoutVerification};
use gnan::numbers::{counted, number, with_sign};
use gnan::{Dataset, Error, Model};

use super::local::Ledgers;
use super::{ExplainArgs, Format, answer, write_text};
use crate::args::Sink;
use crate::exit::{Completion, Result};
use crate::progress::working;
use crate::style::{dim, heading};
use crate::table::{Align, Table, shorten};

/// Widest name of a part.
const NAME_WIDTH: usize = 40;
/// Where readout functions are shown, in spreads of their inputs.
const SHOWN_AT: [f64; 5] = [-2.0, -1.0, 0.0, 1.0, 2.0];

/// The readout functions of a model, a row each: what they add for little and for much.
pub fn functions(model: &Model, top: usize) -> String {
    let outputs = model.definition().shown_names();
    let mut columns = vec![Align::Left, Align::Left];
    columns.extend([Align::Right; SHOWN_AT.len()]);
    let mut header = vec!["readout of".to_owned(), "output".to_owned()];
    header.extend(SHOWN_AT.map(|at| format!("{at:+}")));
    let mut table = Table::new(&columns).header(header);
    for (name, curve) in model.readout_curves().into_iter().take(top.saturating_add(1)) {
        for (c, output) in outputs.iter().enumerate() {
            let mut row = vec![shorten(&name, NAME_WIDTH), shorten(output, NAME_WIDTH)];
            row.extend(SHOWN_AT.map(|at| with_sign(model.definition().shown(&curve.evaluate(at))[c], 2)));
            table.row(row);
        }
    }
    let words = "value of the readout function at these inputs, in spreads over the training graphs; 0 on average";
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
        return answer(args, &ReadoutVerification::of(&found), format);
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

fn ledger(model: &Model, why: &ReadoutExplanation, top: usize) -> String {
    let mut columns = vec![Align::Left, Align::Right];
    columns.extend(vec![Align::Right; why.outputs.len()]);
    let mut header = vec!["part".to_owned(), "input".to_owned()];
    header.extend(why.outputs.iter().map(|output| shorten(output, NAME_WIDTH)));
    let mut table = Table::new(&columns).header(header);
    let (largest, rest) = why.largest(top);
    let row = |name: String, input: String, values: &[f64]| {
        [name, input].into_iter().chain(values.iter().map(|value| with_sign(*value, 2))).collect::<Vec<_>>()
    };
    for term in largest {
        table.row(row(shorten(&term.part, NAME_WIDTH), number(term.input), &term.values));
    }
    if let Some((others, sums)) = rest {
        table.row(row(format!("{others} more"), String::new(), &sums));
    }
    table.row(row("base".to_owned(), String::new(), &why.base));
    table.row(row("prediction".to_owned(), String::new(), &why.prediction));
    let first = format!(
        "{}  {}\n{}",
        heading(shorten(&why.id, NAME_WIDTH)),
        dim("first stage: the readout functions at their inputs"),
        table.render()
    );
    let Some(before) = model.before_readout() else { return first };
    let ledgers = Ledgers {
        definition: before.definition(),
        outputs: None,
        by: vec![By::FeatureAndDistance, By::NodeAndFeature],
        top,
    };
    let words =
        dim("second stage: the inputs, by feature and distance and by source; in spreads, not in the units above");
    format!("{first}\n{words}\n{}", ledgers.text(&why.inputs, &[], &[]))
}
