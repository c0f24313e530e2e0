//! Many explanations one after the other: worked out on all threads, handed on in order, never all in memory.

use gnan::explain::{Explainer, Explanation};
use gnan::files::Task;
use gnan::predict::Outputs;
use rayon::prelude::*;

use crate::exit::{Failure, Result};
use crate::interrupt;

/// Sources in the graphs of the items that are worked on at a time.
const SOURCES_AT_ONCE: usize = 1 << 14;

/// Explains the items at `positions`, whose `outputs` are known, and hands what `make` makes of each to `take`.
pub fn each<T: Send>(
    explainer: &Explainer<'_>,
    positions: &[usize],
    outputs: &Outputs,
    make: impl Fn(&Explanation) -> gnan::Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let rows: Vec<&[f32]> = outputs.values.chunks_exact(outputs.width).collect();
    let mut start = 0;
    while start < positions.len() {
        let end = start + chunk(explainer, &positions[start..]);
        let made = (start..end)
            .into_par_iter()
            .map(|index| make(&explainer.explain_predicted(positions[index], rows[index])?))
            .collect::<gnan::Result<Vec<T>>>()?;
        made.into_iter().try_for_each(&mut take)?;
        if interrupt::asked() {
            return Err(Failure::Interrupted("nothing was written".to_owned()));
        }
        start = end;
    }
    Ok(())
}

/// How many of these items to work on at a time.
fn chunk(explainer: &Explainer<'_>, positions: &[usize]) -> usize {
    let data = explainer.data();
    let mut sources = 0;
    for (count, position) in positions.iter().enumerate() {
        let item = data.items()[*position] as usize;
        let graph = if data.task() == Task::Graph { item } else { data.graph_of(item) };
        sources += data.sources_of(graph).len();
        if sources >= SOURCES_AT_ONCE {
            return count + 1;
        }
    }
    positions.len()
}
