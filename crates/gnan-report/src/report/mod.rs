//! The report: one self-contained page about one model, for a reader who did not train it.
//!
//! It begins with what such a reader wants to know: what is predicted, how well, which effects are strongest, and one
//! prediction taken apart. Then comes everything else.
//!
//! ```text
//! judgement -> performance ----------------------+
//! model figures -> glance, effects, features ----+-> sections -> one HTML page
//! chosen examples -> their figures --------------+
//! ```

mod cautions;
mod checks;
mod chooser;
mod effects;
mod examples;
mod features;
mod figures;
mod html;
mod performance;
mod reproduce;
mod terms;

use gnan::evaluate::Judgement;
use gnan::explain::{Explainer, Overview};
use gnan::files::Task;
use gnan::model::{Definition, TargetFamily};
use gnan::numbers::count;
use gnan::spec::Aspect;
use gnan::{Dataset, Model, ModelCheck, Result};
use maud::{Markup, html};

use crate::Palette;
use crate::bands::Bands;
use crate::model_figures::ModelFigures;
use crate::page;
use crate::text::one_line;
use crate::words;

pub use reproduce::quoted;

use figures::Figures;
use html::{details, facts, list};

/// Style of the page around the figures.
const PAGE_STYLE: &str = include_str!("../../assets/report.css");
/// Effects that the page begins with.
const STRONGEST: usize = 3;

/// What a report is about.
pub struct Report<'a> {
    /// The model.
    pub model: &'a Model,
    /// Data to show it on: best all that it was trained on, with the parts that it was not.
    pub data: &'a Dataset,
    /// 95 % intervals, where there are any: of a penalised fit, or of a bootstrap.
    pub bands: Bands<'a>,
    /// The share of items that training set aside at random as test items, for a model that does not remember them.
    pub test_share: Option<f64>,
    /// Positions in the data of the items whose explanation was requested; they come before those chosen by rule.
    pub wanted: Vec<usize>,
    /// The colours of signs.
    pub palette: Palette,
    /// The model file as the command line names it.
    pub model_name: &'a str,
    /// The data as the command line names them.
    pub data_name: &'a str,
    /// The command that trains the same model again into `again.gnan`.
    pub train_command: String,
    /// Further options of the command line that wrote this page, as they were typed.
    pub options: String,
}

impl Report<'_> {
    /// The page as HTML.
    pub fn html(&self) -> Result<String> {
        let judged = Judgement::new(self.model, self.data, self.test_share)?;
        let explainer = Explainer::new(self.model, &judged.data)?;
        // Importances are those of the items that the model is judged on.
        let mut overview = explainer.overview_over(self.data)?;
        overview.importance = Some(explainer.importance()?);
        let model_figures = ModelFigures::new(explainer.canonical(), &overview, self.bands);
        let mut figures = Figures::new(self.palette);
        let examples = examples::Examples::choose(self, &judged, &explainer)?;
        let definition = self.model.definition();
        let strongest = effects::Strongest::new(definition, model_figures.order(), &overview, self.bands, STRONGEST);
        let glance = html! {
            (performance::sentence(&judged))
            @if let Some(words) = words::shown_class(definition, judged.rare_class().as_deref()) { p { (words) } }
            @if definition.learned.target_family.is_some() { p { (TargetFamily::SENTENCE) } }
            p { (strongest.lead) }
            (list(&strongest.sentences))
            @if let Some(example) = examples.first() {
                p { "For example, " (example.lead(self)) }
                (example.figures(self, &mut figures))
            }
        };
        let performance = html! {
            (performance::html(&judged))
            @if let Some(scatter) = performance::scatter(&judged, &definition.value_unit()) { (figures.html(scatter)) }
        };
        let check = ModelCheck::of(self.model, self.data, &judged);
        let canonical = explainer.canonical();
        let cautions = cautions::cautions(self.model, self.data, &judged, &overview, canonical);
        let sections = [
            ("glance", "In short", glance),
            ("performance", "How well it predicts", performance),
            ("figures", "The whole model in figures", self.model_figures_html(&model_figures, &overview, &mut figures)),
            ("features", "Feature by feature", self.features_html(&model_figures, &overview, &mut figures)),
            ("examples", "Predictions, term by term", examples.html(self, &mut figures)),
            ("checks", "Checks", checks::html(&check, definition, &mut figures)),
            ("care", "What to be careful about", list(&cautions)),
            ("model", "What the model is", self.model_html()),
            ("reproduce", "How to reproduce this page", reproduce::html(self)),
        ];
        let title = format!("gnan report: {}", one_line(&definition.record.data));
        let body = html! {
            header {
                h1 { (title) }
                p {
                    "This model predicts " (words::prediction(definition)) ". Every prediction is an exact sum of terms that are \
                     read off the curves below."
                }
            }
            nav { @for (id, heading, _) in &sections { a href={ "#" (id) } { (heading) } } }
            main { @for (id, heading, inner) in &sections { section id=(id) { h2 { (heading) } (inner) } } }
        };
        Ok(page::document(&title, PAGE_STYLE, self.palette.class(), &body))
    }

    fn features_html(&self, drawn: &ModelFigures<'_>, overview: &Overview, figures: &mut Figures) -> Markup {
        html! {
            (terms::html(self.model.definition()))
            (features::html(drawn, overview, self.bands, figures))
        }
    }

    fn model_html(&self) -> Markup {
        let definition = self.model.definition();
        let record = &definition.record;
        let items = words::items(definition);
        let source = if definition.learned.links.is_some() { "edge" } else { "node" };
        let combined = if definition.spec.statistics.normalises() { "averaged" } else { "added up" };
        let mut trained_on = format!(
            "{}: {} training {items}, {} validation {items}, {} source {source}s",
            record.data,
            count(record.train_items),
            count(record.valid_items),
            count(record.nodes)
        );
        if record.skipped_rows > 0 {
            trained_on += &format!("; {} rows of the file could not be read", count(record.skipped_rows));
        }
        let facts = facts(&[
            ("predicts", words::prediction(definition)),
            ("model", words::architecture(definition)),
            ("edges", if definition.learned.directed { "directed".to_owned() } else { "undirected".to_owned() }),
            ("trained on", trained_on),
            ("training", words::settings(definition)),
            ("ended", words::ending(definition)),
            ("written by", format!("gnan {}", record.version)),
        ]);
        let certificates: Vec<String> =
            self.model.check_certificates().iter().map(|found| one_line(&found.sentence())).collect();
        let selection = words::selection(definition);
        html! {
            (facts)
            @if !selection.is_empty() {
                p { "Features were selected:" }
                (list(&selection))
            }
            @if !certificates.is_empty() {
                p {
                    "Constraints of this model, verified on its exact curves when this page was written "
                    "(gnan inspect verifies them again):"
                }
                (list(&certificates))
            }
            p {
                "How to read the figures. Every value of a feature of a source " (source) " has an effect at every distance: what "
                "it adds to the output of a receiver, compared with an average " (source) ". The effects of all sources at one "
                "distance are " (combined) "; the sum over features and distances is the receiver's output. "
                @match definition.learned.task {
                    Task::Graph => "The prediction for a graph pools the outputs of all its nodes and adds a base.",
                    Task::Node => "The prediction for a receiver is its output plus a base.",
                }
                " The model consists of nothing else, so the figures show all of it. Single predictions start from the average "
                "prediction of the training items, and show by how much every part differs from its own average over them."
            }
        }
    }

    fn model_figures_html(
        &self,
        model_figures: &ModelFigures<'_>,
        overview: &Overview,
        figures: &mut Figures,
    ) -> Markup {
        let colours = match self.palette {
            Palette::BlueOrange => "Blue raises the output, orange lowers it.",
            Palette::GreenRed => "Green raises the output, red lowers it.",
        };
        html! {
            p {
                "Point at a mark for its exact numbers and their support, or open the table below a figure; click an entry \
                 of a legend to hide or show its curve. " (colours)
            }
            (environment_key(self.model.definition()))
            @for figure in model_figures.of_whole() {
                (figures.html(figure))
            }
            (verdicts(&self.bands.rho_verdicts(overview, self.model.learned().rho)))
        }
    }
}

/// How environments of nodes are written, where the model has such a feature.
fn environment_key(definition: &Definition) -> Markup {
    let is_environment = |aspect: Aspect| matches!(aspect, Aspect::Environment { .. });
    let mut described = definition.learned.features.iter().filter_map(|feature| feature.description.as_ref());
    if !described.any(|description| is_environment(description.aspect)) {
        return Markup::default();
    }
    html! {
        p.key {
            "Environments are written as a node and, in brackets, its neighbours: " code { "C(:C,:N)" } " is a C next to a C and an \
             N. The sign before a neighbour is the bond to it: none for a single bond, " code { "=" } " double, " code { "#" }
            " triple, " code { ":" } " aromatic; other kinds of edges are written out. " code { "rare" }
            " stands for all environments of too few training items."
        }
    }
}

/// The verdicts on curves; many of them are closed until the reader opens them.
fn verdicts(sentences: &[String]) -> Markup {
    const MOST_OPEN: usize = 6;
    match sentences.len() {
        0 => Markup::default(),
        1..=MOST_OPEN => list(sentences),
        curves => details(&format!("Verdicts on all {curves} curves over distance"), &list(sentences)),
    }
}
