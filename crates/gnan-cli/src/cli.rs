//! The arguments of the command: what `gnan --help` shows.

use clap::builder::BoolishValueParser;
use clap::{ArgAction, CommandFactory, Parser, Subcommand};

use crate::args::GeneralArgs;
use crate::commands::{
    bootstrap, check, completions, data, demo, evaluate, explain, export, inspect, plan, plot, predict, report,
    reproduce, selftest, summary, train,
};
use crate::style;

/// What stands before the name of an option in the environment.
const ENVIRONMENT: &str = "GNAN_";

const AFTER_HELP: &str = "\
Every option can also be set in the environment (GNAN_LEARNING_RATE=0.01) or
in a file (--config options.toml). Flags win over the environment, the
environment over the file.

Exit codes: 0 done, 1 a check answered no, 2 wrong usage, 3 bad input.

Start here: gnan demo";

/// Graph neural additive networks: graph models that people can read
#[derive(Parser, Debug)]
#[command(name = "gnan", version, styles = style::HELP, after_help = AFTER_HELP, max_term_width = 120)]
#[command(disable_help_subcommand = true, subcommand_required = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub general: GeneralArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// What the command can do, in the order people need it.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// See it work: train on built-in molecules, show what was learned, explain one prediction
    Demo(demo::DemoArgs),
    /// What is in a data set, and the data sets of the paper
    Data(data::DataCommandArgs),
    /// What training would take: memory and time of every way of running, and which one would be chosen
    Plan(plan::PlanArgs),
    /// Fit a model and write it to a file
    Train(train::TrainArgs),
    /// Cross-validation, given splits, repeated seeds, search for good options, the paper's protocols
    Evaluate(evaluate::EvaluateArgs),
    /// Predict graphs or nodes with a model
    Predict(predict::PredictArgs),
    /// The whole model in tables, or single predictions as ledgers that add up
    Explain(explain::ExplainArgs),
    /// Figures of the model, or of single predictions, as SVG, PNG and interactive HTML
    Plot(plot::PlotArgs),
    /// One self-contained page: the model, how good it is, examples taken apart
    Report(report::ReportArgs),
    /// Train again on resamples: 95 % bands for every curve, kept beside the model
    Bootstrap(bootstrap::BootstrapArgs),
    /// Write the whole model as tables, exact enough to compute predictions by hand
    Export(export::ExportArgs),
    /// What is in a model file
    Inspect(inspect::InspectArgs),
    /// Which features of a penalised fit have a reliable effect: degrees of freedom and p-values
    Summary(summary::SummaryArgs),
    /// Whether what a model assumes holds: residuals, calibration, knots of curves, features that cannot be told apart
    Check(check::CheckArgs),
    /// The paper's table by its protocols, over every data set found
    Reproduce(reproduce::ReproduceArgs),
    /// Plant truths, train on what they make, and see how well they are recovered
    Selftest(selftest::SelftestArgs),
    /// Write a completion script for a shell
    Completions(completions::CompletionsArgs),
}

/// The whole command, every option of which can also be set in the environment.
pub fn command() -> clap::Command {
    with_environment(Cli::command())
}

fn with_environment(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let Some(long) = arg.get_long() else { return arg };
        let variable = format!("{ENVIRONMENT}{}", long.to_uppercase().replace('-', "_"));
        let arg = match arg.get_action() {
            // A variable may say yes or 1 as well as true.
            ArgAction::SetTrue => arg.value_parser(BoolishValueParser::new()),
            _ => arg,
        };
        arg.env(variable).hide_env(true)
    });
    command.mut_subcommands(with_environment)
}

/// The examples section of a command's help.
macro_rules! examples {
    ($($line:literal),+ $(,)?) => {
        concat!("\x1b[1m\x1b[4mExamples:\x1b[0m", $("\n  ", $line),+)
    };
}
pub(crate) use examples;
