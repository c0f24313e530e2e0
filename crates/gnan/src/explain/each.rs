//! Many explanations one after the other: computed on all threads, handed on in order, never all in memory.

use rayon::prelude::*;

use super::explainer::Explainer;
use super::explanation::Explanation;
use crate::error::{Error, Result};
use crate::predict::Outputs;

/// Sources in the graphs of the items that are explained at a time.
const SOURCES_AT_ONCE: usize = 1 << 14;

impl Explainer<'_> {
    /// Explains the items at `positions`, whose `outputs` are known, and hands what `make` makes of each to `take`, in
    /// their order; an error of `take` ends it.
    pub fn explain_each<T: Send, E: From<Error>>(
        &self,
        positions: &[usize],
        outputs: &Outputs,
        make: impl Fn(&Explanation) -> Result<T> + Sync,
        mut take: impl FnMut(T) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let rows: Vec<&[f32]> = outputs.values.chunks_exact(outputs.width.max(1)).collect();
        if rows.len() != positions.len() {
            let (found, wanted) = (rows.len(), positions.len());
            return Err(
                Error::usage(format!("there are outputs of {found} items, and {wanted} are to be explained")).into()
            );
        }
        let mut start = 0;
        while start < positions.len() {
            let end = start + self.chunk(&positions[start..]);
            let made = (start..end)
                .into_par_iter()
                .map(|index| make(&self.explain_predicted(positions[index], rows[index])?))
                .collect::<Result<Vec<T>>>()?;
            made.into_iter().try_for_each(&mut take)?;
            start = end;
        }
        Ok(())
    }

    /// How many of these items are explained at a time.
    fn chunk(&self, positions: &[usize]) -> usize {
        let data = self.data();
        let mut sources = 0;
        for (count, position) in positions.iter().enumerate() {
            sources += data.sources_of(data.graph_of_item(data.items()[*position])).len();
            if sources >= SOURCES_AT_ONCE {
                return count + 1;
            }
        }
        positions.len()
    }
}
