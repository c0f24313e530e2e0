//! The table of a reproduction, in Markdown.

use super::{Reproduced, Variant};
use crate::catalogue::PaperTask;
use gnan::numbers::{counted, mean_and_std};

/// The table: one row per column of the paper's, our models beside the paper's and the baseline.
pub fn markdown(results: &[Reproduced]) -> String {
    let mut tasks: Vec<&str> = Vec::new();
    for result in results {
        if !tasks.contains(&result.task) {
            tasks.push(result.task);
        }
    }
    let mut text = String::from(
        "| task | metric | baseline | paper: GNAN | paper: best black box | ours, plain | ours, with descriptions |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for task in &tasks {
        let of = |variant| results.iter().find(|result| result.task == *task && result.variant == variant);
        let Some(any) = of(Variant::Plain).or(of(Variant::Described)) else { continue };
        let digits = any.digits();
        let ours = |variant| {
            of(variant).map_or_else(|| "-".to_owned(), |result| mean_and_std(result.ours.mean, result.ours.std, digits))
        };
        let unit = any.unit.map_or(String::new(), |unit| format!(", {unit}"));
        let (paper, best) = match &any.paper {
            None => ("-".to_owned(), "-".to_owned()),
            Some(paper) => (printed(paper.gnan().mean, paper.gnan().std), best_black_box(paper)),
        };
        text.push_str(&format!(
            "| {task} | {}{unit} | {:.digits$} | {paper} | {best} | {} | {} |\n",
            any.metric.label(),
            any.baseline,
            ours(Variant::Plain),
            ours(Variant::Described),
        ));
    }
    text.push_str("\nOptions that won on most splits, and how each figure came about:\n\n");
    for result in results {
        let variant = if result.variant == Variant::Plain { "plain" } else { "with descriptions" };
        let tests = counted(result.tests, "test");
        text.push_str(&format!(
            "- **{}, {variant}** ({tests}): {}. {}.\n",
            result.task,
            result.chosen,
            result.notes.join("; ")
        ));
    }
    text
}

/// The best of the paper's black boxes.
fn best_black_box(paper: &PaperTask) -> String {
    let sign = if paper.metric.smaller_is_better() { -1.0 } else { 1.0 };
    let black_boxes = &paper.rows[..paper.rows.len() - 1];
    let best = black_boxes.iter().max_by(|a, b| (sign * a.mean).total_cmp(&(sign * b.mean)));
    best.map_or_else(String::new, |row| format!("{} ({})", printed(row.mean, row.std), row.model))
}

/// As the paper prints it.
fn printed(mean: f64, std: f64) -> String {
    format!("{mean} ± {std}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::reproduce::PaperProtocol;
    use gnan::evaluate::{Evaluation, Spread};

    fn result(task: &str, variant: Variant, mean: f64) -> Reproduced {
        let protocol = PaperProtocol::find(task).unwrap();
        Reproduced {
            task: protocol.task,
            variant,
            metric: protocol.metric(),
            unit: protocol.unit,
            ours: Spread { mean, std: 0.25 },
            baseline: 1.0,
            tests: 1,
            tried: 0,
            chosen: "defaults".to_owned(),
            notes: vec![protocol.words.to_owned()],
            paper: protocol.paper().copied(),
            evaluation: Evaluation {
                metrics: BTreeMap::new(),
                folds: Vec::new(),
                tried: Vec::new(),
                notes: Vec::new(),
            },
        }
    }

    #[test]
    fn our_figures_stand_beside_the_papers() {
        let results = [
            result("cora", Variant::Plain, 80.44),
            result("alpha", Variant::Plain, 1.0),
            result("alpha", Variant::Described, 0.5),
            result("pubmed-60", Variant::Plain, 89.0),
        ];
        let text = markdown(&results);
        for line in [
            "| cora | accuracy | 1.0 | 81.1 ± 1.5 | 83.1 ± 0.9 (GATv2) | 80.4 ± 0.2 | - |",
            "| alpha | MAE, Bohr^3 | 1.000 | 4.28 ± 0.9 | 4.3 ± 0.5 (GTransformer) | 1.000 ± 0.250 | 0.500 ± 0.250 |",
            "| pubmed-60 | accuracy | 1.0 | - | - | 89.0 ± 0.2 | - |",
            "- **alpha, with descriptions** (1 test): defaults.",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
