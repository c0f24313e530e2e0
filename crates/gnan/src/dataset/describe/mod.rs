//! Descriptions: named categorical features computed from the graph around each node.
//!
//! A description is an ordinary feature once it is computed: it has levels, a shape function and support, and stands in
//! every ledger. What makes it special is that a model remembers how to compute it, and that values which are rare in
//! training share one level (see [`NodeDescription::least_support`]).

mod environment;
mod neighbourhood;
mod ring;

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{Dataset, Feature};
use crate::error::{Error, Result};
use crate::files::{Kind, Values};
use crate::remedy::Remedy;
use crate::spec::{Aspect, NodeDescription, RARE};
use neighbourhood::Neighbourhood;

/// Counts up to this have a level each; beyond, a level is a range that doubles.
const EXACT_COUNT: usize = 8;

impl Dataset {
    /// The same data with the descriptions as further features, after the others.
    pub fn described(&self, descriptions: &[NodeDescription]) -> Result<Dataset> {
        if descriptions.is_empty() {
            return Ok(self.clone());
        }
        let mut described = descriptions.iter().map(|description| self.describe(description)).collect::<Result<_>>()?;
        let mut content = (*self.content).clone();
        content.features.append(&mut described);
        content.spec.describe.extend_from_slice(descriptions);
        let mut names: Vec<&str> = content.features.iter().map(|feature| feature.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::usage(format!("there would be two features called \"{}\"", twice[0]))
                .with_remedy("leave that description out, or rename the column of the data"));
        }
        Ok(self.with_content(content))
    }

    /// The feature that a description is, over all nodes of the content.
    pub fn describe(&self, description: &NodeDescription) -> Result<Feature> {
        if self.links().is_some() {
            // Pairs are described by their ends, when they are made.
            let found = self.features().iter().find(|feature| feature.description.as_ref() == Some(description));
            return found.cloned().ok_or_else(|| {
                Error::usage(format!("the ends of these pairs are not described by \"{description}\""))
                    .with_remedy(Remedy::Set("describe", description.to_string()))
            });
        }
        let label = if description.needs_label() { Some(self.label(description)?) } else { None };
        let label = label.as_ref();
        let words: Vec<Vec<String>> = (0..self.graph_count())
            .into_par_iter()
            .map(|graph| {
                let around = Neighbourhood::new(self, graph, label);
                let nodes = 0..around.len();
                match description.aspect {
                    Aspect::Degree => nodes.map(|node| counted(around.degree(node))).collect(),
                    Aspect::Ring => ring::words(&around),
                    Aspect::Triangles => nodes.map(|node| counted(around.triangles(node))).collect(),
                    Aspect::Environment { radius } => {
                        nodes.map(|node| environment::word(&around, node, radius)).collect()
                    }
                }
            })
            .collect();
        let mut words: Vec<String> = words.into_iter().flatten().collect();
        if description.with_label
            && let Some(label) = label
        {
            for (node, word) in words.iter_mut().enumerate() {
                *word = format!("{}: {word}", level_name(label, node));
            }
        }
        // A lone node labelled "rare" is not what is too rare.
        words.iter_mut().filter(|word| *word == RARE).for_each(|word| word.push_str(" (label)"));
        let described = NodeDescription { label: label.map(|label| label.name.clone()), ..description.clone() };
        let feature = Feature::new(description.feature_name(), Kind::Categorical, categories(words));
        Ok(Feature { description: Some(described), ..feature })
    }

    /// The feature that says what each node is. A model names it: which one is chosen depends on the data.
    fn label(&self, description: &NodeDescription) -> Result<Feature> {
        let mut given = self.features().iter().filter(|feature| feature.description.is_none());
        if let Some(name) = &description.label {
            return match given.find(|feature| feature.name == *name) {
                Some(label) => label.with_kind(Kind::Categorical),
                None => {
                    Err(Error::input(format!("the data have no feature \"{name}\", by which the model labels nodes"))
                        .with_remedy("add the column"))
                }
            };
        }
        self.elements().or_else(|| given.find(|feature| feature.kind == Kind::Categorical)).cloned().ok_or_else(|| {
            Error::usage(format!("\"{description}\" needs nodes with a label, and there is none"))
                .with_remedy("a label is a categorical feature of the nodes; degree, ring and triangles need none")
        })
    }
}

/// Words as categories, levels in the order of the alphabet, so that they do not depend on the order of the graphs.
fn categories(words: Vec<String>) -> Values {
    let mut places: BTreeMap<String, u32> = BTreeMap::new();
    for word in &words {
        if !places.contains_key(word) {
            places.insert(word.clone(), 0);
        }
    }
    for (place, (_, slot)) in (0..).zip(&mut places) {
        *slot = place;
    }
    let codes = words.iter().map(|word| places[word]).collect();
    Values::Categories { codes, levels: places.into_keys().collect() }
}

/// The label of a node.
fn level_name(label: &Feature, node: usize) -> &str {
    label.values.level(node).unwrap_or("?")
}

/// A count as a level: itself, or the range it falls into.
fn counted(count: usize) -> String {
    if count <= EXACT_COUNT {
        return count.to_string();
    }
    let mut most = 2 * EXACT_COUNT;
    while count > most {
        most *= 2;
    }
    format!("{} to {most}", most / 2 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_fall_into_ranges_that_double() {
        assert_eq!([0, 8, 9, 16, 17, 1000].map(counted), ["0", "8", "9 to 16", "9 to 16", "17 to 32", "513 to 1024"]);
    }
}
