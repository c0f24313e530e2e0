//! The report: one self-contained page about one model, for a reader who did not train it.
//!
//! ```text
//! judgement -> performance --------------+
//! model figures -------------------------+-> sections -> one HTML page
//! chosen examples -> their figures ------+
//! ```

mod cautions;
mod examples;
mod features;
mod html;
mod performance;
mod reproduce;

use gnan::evaluate::Judgement;
use gnan::explain::{Explainer, Overview};
use gnan::files::Task;
use gnan::numbers::count;
use gnan::{Dataset, Model, Result};
use maud::{Markup, html};

use crate::Palette;
use crate::bands::Bands;
use crate::model_figures::{Figure, ModelFigures};
use crate::page;
use crate::text::one_line;
use crate::words;

pub use reproduce::quoted;

use html::{details, facts, list};
use performance::{metric, part_remark, part_words};

/// Style of the page around the figures.
const PAGE_STYLE: &str = include_str!("../../assets/report.css");
/// Width of the figures in pixels.
const WIDTH: f64 = 860.0;

/// What a report is about.
pub struct Report<'a> {
    /// The model.
    pub model: &'a Model,
    /// Data to show it on: best all that it was trained on, with the parts that it was not.
    pub data: &'a Dataset,
    /// 95 % intervals, where a bootstrap was made.
    pub bands: Bands<'a>,
    /// The share of items that training set aside at random as test items, where it did.
    pub test_share: Option<f64>,
    /// Positions in the data of the items whose explanation was requested; they come before those chosen by rule.
    pub wanted: Vec<usize>,
    /// The colours of signs.
    pub palette: Palette,
    /// The model file as the command line names it.
    pub model_name: &'a str,
    /// The data as the command line names them.
    pub data_name: &'a str,
    /// Further options of the command line that wrote this page, as they were typed.
    pub options: String,
}

impl Report<'_> {
    /// The page as HTML.
    pub fn html(&self) -> Result<String> {
        let judged = Judgement::new(self.model, self.data, self.test_share)?;
        let explainer = Explainer::new(self.model, &judged.data)?;
        // Densities and support are those of all the data, importances those of the items that the model is judged on.
        let mut overview = explainer.overview_over(self.data)?;
        overview.importance = Some(explainer.importance()?);
        let model_figures = ModelFigures::new(explainer.canonical(), &overview, self.bands, WIDTH);
        let mut figures = Figures { palette: self.palette, count: 0 };
        let performance = html! {
            (performance::html(&judged))
            @if let Some(scatter) = performance::scatter(&judged, &overview.unit, WIDTH) { (figures.html(scatter)) }
        };
        let sections = [
            ("model", "What the model is", self.model_html()),
            ("performance", "How well it predicts", performance),
            ("figures", "The whole model in figures", self.model_figures_html(&model_figures, &overview, &mut figures)),
            (
                "features",
                "The most and the least important features",
                features::html(&model_figures, &overview, self.bands),
            ),
            ("examples", "Example predictions, term by term", examples::html(self, &judged, &explainer, &mut figures)?),
            ("care", "What to be careful about", list(&cautions::cautions(self.model, self.data, &judged, &overview))),
            ("reproduce", "How to reproduce this page", reproduce::html(self)),
        ];
        let title = format!("gnan report: {}", one_line(&self.model.definition().record.data));
        let body = html! {
            header { h1 { (title) } p { (self.lead(&judged, &overview, &model_figures)) } }
            nav { @for (id, heading, _) in &sections { a href={ "#" (id) } { (heading) } } }
            main { @for (id, heading, inner) in &sections { section id=(id) { h2 { (heading) } (inner) } } }
        };
        Ok(page::document(&title, PAGE_STYLE, self.palette.class(), &body))
    }

    /// The summary at the top of the page.
    fn lead(&self, judged: &Judgement, overview: &Overview, model_figures: &ModelFigures<'_>) -> String {
        let definition = self.model.definition();
        let mut lead = format!("This model predicts {}.", words::prediction(definition));
        if let Some((name, value)) = judged.metrics.chief() {
            let (part, remark) = (part_words(judged), part_remark(judged));
            lead += &format!(" Its {} is {} on {part}. {remark}", name.long_name(), metric(value));
        }
        let names: Vec<String> =
            model_figures.order().iter().take(3).map(|k| one_line(&overview.features[*k].name)).collect();
        if !names.is_empty() {
            let more = overview.features.len() > names.len();
            lead += &format!(
                " {}: {}.",
                if more { "Its most important features" } else { "Its features" },
                names.join(", ")
            );
        }
        lead + " Every prediction is an exact sum of terms read off the curves below; the examples show these sums."
    }

    fn model_html(&self) -> Markup {
        let definition = self.model.definition();
        let record = &definition.record;
        let items = words::items(definition);
        let source = if definition.learned.links.is_some() { "edge" } else { "node" };
        let combined = if definition.spec.statistics.normalise { "averaged" } else { "added up" };
        let trained_on = format!(
            "{}: {} training {items}, {} validation {items}, {} source {source}s",
            record.data,
            count(record.train_items),
            count(record.valid_items),
            count(record.nodes)
        );
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
        html! {
            (facts)
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
                "Point at a mark for its exact numbers and the number of nodes it rests on; click an entry of a legend to "
                "hide or show its curve. " (colours)
            }
            @for figure in model_figures.all() {
                (figures.html(figure))
            }
            (verdicts(&self.bands.rho_verdicts(overview, self.model.learned().rho)))
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

/// Numbers the figures of a page.
struct Figures {
    palette: Palette,
    count: usize,
}

impl Figures {
    /// A figure with its number and caption.
    fn html(&mut self, figure: Figure) -> Markup {
        self.count += 1;
        let scene = figure.scene.with_palette(self.palette);
        let caption = format!("Figure {}. {}", self.count, figure.caption);
        page::figure(&scene, &format!("figure-{}", self.count), Some(&caption))
    }
}
