//! The report: one page about one model, self-contained, for somebody who was not there when it was trained.
//!
//! ```text
//! judged (how well) -+
//! album (the model) -+-> sections -> one HTML page
//! choice -> portraits +
//! ```

mod cautions;
mod choice;
mod examples;
mod html;
mod judged;
mod reproduce;

use gnan::explain::{Explainer, LITTLE_SUPPORT, Overview};
use gnan::files::Task;
use gnan::{Dataset, Model, Result};

use crate::Palette;
use crate::album::{Album, Figure};
use crate::bands::Bands;
use crate::page::{SCRIPT, STYLE, figure};
use crate::text::{count, number, one_line};
use crate::words;

use html::{Cell, facts, list, paragraph, section, table, text};
pub use reproduce::quoted;

use judged::{Judged, metric};

/// Style of the page around the figures.
const PAGE_STYLE: &str = include_str!("../../assets/report.css");
/// Width of the figures in pixels.
const WIDTH: f64 = 860.0;
/// Features that the table of the strongest and weakest lists, of each.
const EXTREMES: usize = 10;

/// What a report is about.
pub struct Report<'a> {
    /// The model.
    pub model: &'a Model,
    /// Data to show it on: best all that it was trained on, with the parts that it was not.
    pub data: &'a Dataset,
    /// Intervals, where a bootstrap was made.
    pub bands: Bands<'a>,
    /// The random test part that training set aside, where it did.
    pub test_share: Option<f64>,
    /// Positions in the data of items that the reader wants to see explained, before those chosen by rule.
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
    /// The page.
    pub fn html(&self) -> Result<String> {
        let judged = Judged::new(self.model, self.data, self.test_share)?;
        let explainer = Explainer::new(self.model, &judged.data)?;
        // Densities and low support are those of all the data, importances those of the items that are judged.
        let mut overview = explainer.overview_over(self.data)?;
        overview.importance = Some(explainer.importance()?);
        let album = Album::new(explainer.canonical(), &overview, self.bands, WIDTH);
        let mut figures = Figures { palette: self.palette, count: 0 };
        let mut performance = judged.html();
        performance.extend(judged.scatter(&overview.unit, WIDTH).map(|found| figures.html(found)));
        let sections = [
            ("model", "What the model is", self.model_html()),
            ("performance", "How well it does", performance),
            ("figures", "The whole model in figures", self.album_html(&album, &overview, &mut figures)),
            ("features", "The strongest and the weakest features", features_html(&album, &overview, self.bands)),
            ("examples", "Predictions, taken apart", examples::html(self, &judged, &explainer, &mut figures)?),
            ("care", "What to be careful about", list(&cautions::cautions(self.model, self.data, &judged, &overview))),
            ("reproduce", "How to reproduce this page", reproduce::html(self)),
        ];
        let contents: String =
            (sections.iter()).map(|(id, heading, _)| format!("<a href=\"#{id}\">{}</a>\n", text(heading))).collect();
        let body: String = sections.iter().map(|(id, heading, inner)| section(id, heading, inner)).collect();
        let title = format!("gnan report: {}", one_line(&self.model.definition().record.data));
        Ok(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'unsafe-inline'; img-src data:\">\n\
             <title>{title}</title>\n<style>\n{STYLE}\n{PAGE_STYLE}</style>\n</head>\n<body class=\"{}\">\n\
             <header>\n<h1>{title}</h1>\n{}</header>\n<nav>\n{contents}</nav>\n<main>\n{body}</main>\n\
             <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            self.palette.class(),
            paragraph(&self.lead(&judged, &overview, &album)),
            title = text(&title),
        ))
    }

    /// What matters most, in a paragraph.
    fn lead(&self, judged: &Judged, overview: &Overview, album: &Album<'_>) -> String {
        let definition = self.model.definition();
        let mut lead = format!("This model predicts {}.", words::prediction(definition));
        if let Some((name, value)) = judged.metrics.chief() {
            let remark = judged.part_remark();
            lead += &format!(" Its {} is {} on {}. {remark}", name.long_name(), metric(value), judged.part_words());
        }
        let names: Vec<String> = album.order().iter().take(3).map(|k| one_line(&overview.features[*k].name)).collect();
        if !names.is_empty() {
            let more = overview.features.len() > names.len();
            lead += &format!(" What counts most{}: {}.", if more { ", of its features" } else { "" }, names.join(", "));
        }
        lead + " Every prediction is a sum of the curves below: nothing is hidden, and each example adds up."
    }

    fn model_html(&self) -> String {
        let definition = self.model.definition();
        let record = &definition.record;
        let (a_node, a_graph) = ("node", if definition.learned.task == Task::Graph { "graph" } else { "node" });
        let mut html = facts(&[
            ("predicts", words::prediction(definition)),
            ("model", words::architecture(definition)),
            ("edges", if definition.learned.directed { "directed".to_owned() } else { "undirected".to_owned() }),
            (
                "trained on",
                format!(
                    "{}: {} {a_graph}s to fit, {} to know when to stop, {} nodes",
                    record.data,
                    count(record.train_items as u64),
                    count(record.valid_items as u64),
                    count(record.nodes as u64)
                ),
            ),
            ("training", words::settings(definition)),
            ("ended", words::ending(definition)),
            ("written by", format!("gnan {}", record.version)),
        ]);
        let certificates = self.model.check_certificates();
        if !certificates.is_empty() {
            html += &paragraph(
                "What this model promises, checked on its exact curves when this page was written (gnan inspect checks \
                 again):",
            );
            html += &list(&certificates.iter().map(|found| one_line(&found.sentence())).collect::<Vec<_>>());
        }
        html += &paragraph(&format!(
            "How to read it. Every {a_node} says something about itself: the sum of its shape functions f, one per \
             feature. What it says is heard by the others, weighed by rho, a function of the distance alone, and averaged \
             over all {a_node}s at that distance. {} Because the model is only sums and products of these curves, the \
             figures show all of it.",
            match definition.learned.task {
                Task::Graph => "The prediction for a graph is the sum of what all its nodes hear, plus a base.",
                Task::Node => "The prediction for a node is what it hears, plus a base.",
            }
        ));
        html
    }

    fn album_html(&self, album: &Album<'_>, overview: &Overview, figures: &mut Figures) -> String {
        let mut html = paragraph(
            "Point at anything for its exact numbers and for how much data stands behind it; click an entry of a legend \
             to hide it. Blue raises the output, orange lowers it.",
        );
        if self.palette == Palette::GreenRed {
            html = html.replace("Blue raises the output, orange lowers it", "Green raises the output, red lowers it");
        }
        for found in album.figures() {
            let is_rho = found.name == "rho";
            html += &figures.html(found);
            if is_rho {
                html += &verdicts(&self.bands.rho_verdicts(overview));
            }
        }
        html
    }
}

/// The first verdicts, and the others when asked for.
fn verdicts(sentences: &[String]) -> String {
    const FIRST: usize = 6;
    if sentences.len() <= FIRST {
        return if sentences.is_empty() { String::new() } else { list(sentences) };
    }
    let heading = format!("Verdicts on all {} curves", sentences.len());
    html::details(&heading, &list(sentences))
}

/// Numbers the figures of a page.
struct Figures {
    palette: Palette,
    count: usize,
}

impl Figures {
    /// A figure with its number and caption.
    fn html(&mut self, found: Figure) -> String {
        self.count += 1;
        let scene = found.scene.with_palette(self.palette);
        let figure = figure(&scene, &format!("figure-{}", self.count));
        let caption = format!("<figcaption>Figure {}. {}</figcaption></figure>", self.count, text(&found.caption));
        figure.replacen("</figure>", &caption, 1)
    }
}

/// The features that move predictions most and least.
fn features_html(album: &Album<'_>, overview: &Overview, bands: Bands<'_>) -> String {
    let Some(importance) = &overview.importance else { return String::new() };
    let mean = |k: usize| importance.by_feature[k].iter().sum::<f64>() / importance.structure.len().max(1) as f64;
    let total: f64 = album.order().iter().map(|k| mean(*k)).sum();
    let row = |place: usize| {
        let k = album.order()[place];
        let feature = &overview.features[k];
        let share = if total > 0.0 { 100.0 * mean(k) / total } else { 0.0 };
        vec![
            Cell::Number((place + 1).to_string()),
            Cell::Words(one_line(&feature.name)),
            Cell::Words(feature.kind.name().to_owned()),
            Cell::Number(number(mean(k), 3)),
            Cell::Number(format!("{share:.1} %")),
            Cell::Number(count(feature.support.nodes)),
            Cell::Number(count(feature.support.graphs)),
            Cell::Words(bands.verdict(k, overview).unwrap_or_default()),
        ]
    };
    let features = album.order().len();
    let mut places: Vec<usize> = (0..features).collect();
    let left_out = features.saturating_sub(2 * EXTREMES);
    if left_out > 0 {
        places.drain(EXTREMES..features - EXTREMES);
    }
    let mut header = vec!["", "feature", "kind", "mean |contribution|", "share", "nodes", "graphs"];
    header.push(if bands.are_there() { "verdict" } else { "" });
    let mut html = paragraph(&format!(
        "Mean absolute contribution ({}) over {} predictions, and the training nodes and graphs behind it.{}",
        overview.unit,
        count(importance.items as u64),
        if left_out > 0 {
            format!(" The {} features between are left out here.", count(left_out as u64))
        } else {
            String::new()
        }
    ));
    html += &table(&header, places.into_iter().map(row).collect());
    if !bands.are_there() {
        html += &paragraph(&format!(
            "No intervals were computed: run gnan bootstrap to see which of these curves can be told from nothing. Less than \
             {LITTLE_SUPPORT} graphs or nodes behind a curve is little in any case."
        ));
    }
    html
}
