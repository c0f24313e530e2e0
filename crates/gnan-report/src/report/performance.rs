//! How well the model predicts, in words: metrics beside their confidence intervals and the baseline.

use gnan::baseline;
use gnan::dataset::Outcome;
use gnan::evaluate::{JudgedPart, Judgement};
use gnan::metric::Metric;
use gnan::numbers;
use maud::{Markup, html};

use super::html::{TableCell, table};
use crate::figure::scatter::{Scatter, ScatterPoint};
use crate::model_figures::Figure;
use crate::text;
use crate::words;

/// Points of a scatter plot.
const MOST_POINTS: usize = 1500;
/// Metrics that the first sentence has.
const IN_SENTENCE: usize = 2;
/// A confusion matrix of more classes is not shown.
const MOST_CLASSES: usize = 12;

/// Which items the model is judged on, in words.
pub(super) fn part_words(judged: &Judgement) -> String {
    let items = numbers::count(judged.data.len());
    match judged.part {
        JudgedPart::Test => match judged.origin {
            Some(origin) => format!("{items} test items ({origin})"),
            None => format!("{items} test items"),
        },
        JudgedPart::New => format!("{items} items other than those of training"),
        JudgedPart::Validation => format!("{items} validation items"),
        JudgedPart::Training => format!("the {items} training items"),
        JudgedPart::Unknown => format!("{items} items"),
    }
}

/// What that means for the reliability of the metrics.
pub(super) fn part_remark(judged: &Judgement) -> &'static str {
    match judged.part {
        JudgedPart::Test => "They were not used in training.",
        JudgedPart::New if judged.used_in_training > 0 => {
            "The items that training used, and those with the same structure or id, are left out."
        }
        JudgedPart::New => "None of them has the structure or the id of an item that training used.",
        JudgedPart::Validation => "They decided when training stopped, so the metrics are slightly optimistic.",
        JudgedPart::Training => "The metrics are optimistic: no items were held out.",
        JudgedPart::Unknown if judged.targets.is_empty() => "Their targets are not known.",
        JudgedPart::Unknown => "Some of them may have been used in training, so the metrics may be optimistic.",
    }
}

/// The chief metrics in a sentence, beside those of a constant prediction.
pub(super) fn sentence(judged: &Judgement) -> Markup {
    if judged.metrics.is_empty() {
        return html!();
    }
    let rare = judged.rare_class();
    let metrics = judged.shown().into_iter().take(IN_SENTENCE).map(|(name, value)| {
        let interval = judged
            .confidence
            .get(&name)
            .map(|[low, high]| format!("95 % interval {} to {}", metric(name, *low), metric(name, *high)));
        let constant = judged.baseline.get(name).map(|value| format!("a constant prediction: {}", metric(name, value)));
        let remarks: Vec<String> = interval.into_iter().chain(constant).collect();
        let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join("; ")) };
        format!("its {}{} is {}{remarks}", name.long_name(), name.class_words(rare.as_deref()), metric(name, value))
    });
    let metrics: Vec<String> = metrics.collect();
    html! {
        p { "On " (part_words(judged)) ", " (metrics.join(", ")) ". " (part_remark(judged)) }
        @if let Some(reason) = words::only_class(judged.only_class()) { p { (reason) } }
        @if judged.beats_baseline() == Some(false) {
            p { strong { "This is not clearly better than a constant prediction: read the curves as hypotheses at most." } }
        }
    }
}

/// The section.
pub(super) fn html(judged: &Judgement) -> Markup {
    if judged.metrics.is_empty() {
        return match &judged.problem {
            None => html! { p { "These data have no known targets: no metrics can be computed on them." } },
            Some(problem) => html! { p { "No metrics can be computed on these data: " (problem) "." } },
        };
    }
    let rare = judged.rare_class();
    let rows = judged.shown().into_iter().map(|(name, value)| {
        let interval = judged
            .confidence
            .get(&name)
            .map(|[low, high]| format!("{} to {}", metric(name, *low), metric(name, *high)));
        vec![
            TableCell::Text(name.long_name().to_owned() + &name.class_words(rare.as_deref())),
            TableCell::Number(metric(name, value)),
            TableCell::Number(interval.unwrap_or_default()),
            TableCell::Number(judged.baseline.get(name).map(|value| metric(name, value)).unwrap_or_default()),
        ]
    });
    let rows: Vec<Vec<TableCell>> = rows.collect();
    let reference = format!("baseline (always the {})", baseline::words(judged.outcome));
    html! {
        p { "Metrics on " (part_words(judged)) ". " (part_remark(judged)) }
        @if let Some(reason) = words::only_class(judged.only_class()) { p { (reason) } }
        (table(&["metric", "this model", "95 % confidence interval", &reference], &rows, &[]))
        (confusion(judged))
    }
}

/// Predicted against actual values, for a regression with one target.
pub(super) fn scatter(judged: &Judgement, unit: &str) -> Option<Figure> {
    if judged.outcome != Outcome::Regression || judged.targets.is_empty() {
        return None;
    }
    let item = |position: usize| {
        let name = judged.data.item_id(judged.data.items()[position]);
        Some(ScatterPoint { name, actual: judged.target(position)?, predicted: f64::from(judged.row(position)[0]) })
    };
    let scatter = Scatter {
        title: "Predicted against actual values".to_owned(),
        unit: unit.to_owned(),
        items: (0..judged.data.len()).filter_map(item).collect(),
        most: MOST_POINTS,
    };
    let caption = "Every point is one of these items; on the dashed line, predicted and actual values are equal.";
    Some(Figure::new("predicted-against-actual", caption, scatter))
}

/// The confusion matrix; nothing for other outcomes and for very many classes.
fn confusion(judged: &Judgement) -> Markup {
    let classes = judged.targets.first().and_then(|target| target.classes.as_ref());
    let (Some(counts), Some(classes)) = (judged.confusion(), classes) else { return Markup::default() };
    if classes.len() > MOST_CLASSES {
        return Markup::default();
    }
    let mut header = vec!["actual class".to_owned()];
    header.extend(classes.iter().map(|class| format!("predicted {class}")));
    let rows = classes.iter().zip(counts).map(|(class, counts)| {
        let numbers = counts.into_iter().map(|count| TableCell::Number(numbers::count(count)));
        [TableCell::Text(class.clone())].into_iter().chain(numbers).collect()
    });
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    table(&header, &rows.collect::<Vec<_>>(), &[])
}

/// A metric with a minus sign.
fn metric(name: Metric, value: f64) -> String {
    text::with_minus(&name.words(value))
}
