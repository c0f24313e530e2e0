//! What the numbers in a TU data set stand for, as far as its readme says so.
//!
//! Readmes differ, so the parser is tolerant: a line that mentions node, edge or class labels opens a section, and
//! lines such as `0  C` or `0: C` inside it are entries. Anything else is prose and closes the section.

use std::collections::BTreeMap;

use chematic_core::Element;

/// Names of the numbers of one column of labels.
pub type Names = BTreeMap<i64, String>;

/// The names found in a readme.
#[derive(Debug, Default)]
pub struct LabelMap {
    /// For each column of node labels.
    pub nodes: Vec<Names>,
    /// For the labels of edges (the first column, where there are several).
    pub edges: Names,
    /// For the labels of graphs.
    pub graphs: Names,
}

#[derive(Clone, Copy)]
enum Section {
    Prose,
    Nodes,
    Edges,
    Graphs,
}

impl LabelMap {
    /// Reads what is there; a readme without a map gives an empty one.
    pub fn parse(readme: &str) -> LabelMap {
        let mut map = LabelMap::default();
        let mut section = Section::Prose;
        let mut component = 0;
        for line in readme.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some((number, name)) = entry(line) {
                match section {
                    Section::Nodes => {
                        if map.nodes.len() <= component {
                            map.nodes.resize_with(component + 1, Names::new);
                        }
                        map.nodes[component].insert(number, name.to_string());
                    }
                    Section::Graphs => {
                        map.graphs.insert(number, name.to_string());
                    }
                    Section::Edges if component == 0 => {
                        map.edges.insert(number, name.to_string());
                    }
                    Section::Prose | Section::Edges => {}
                }
            } else if let Some(number) = component_heading(line) {
                component = number;
            } else {
                section = heading(line, section);
                component = 0;
            }
        }
        map
    }

    /// This map, completed by another where it says nothing.
    pub fn or(self, other: LabelMap) -> LabelMap {
        LabelMap {
            nodes: if self.nodes.is_empty() { other.nodes } else { self.nodes },
            edges: if self.edges.is_empty() { other.edges } else { self.edges },
            graphs: if self.graphs.is_empty() { other.graphs } else { self.graphs },
        }
    }
}

/// Whether every name is the symbol of a chemical element.
pub fn names_elements(names: &Names) -> bool {
    !names.is_empty() && names.values().all(|name| Element::from_symbol(name).is_some())
}

/// `0  C`, `0: C`, `0 = C`, `0, C`.
fn entry(line: &str) -> Option<(i64, &str)> {
    let end = line.find(|letter: char| letter != '-' && !letter.is_ascii_digit())?;
    let name = line[end..].trim_start_matches([' ', '\t', ':', '=', ',']).trim_start_matches("->").trim();
    if name.is_empty() || name.len() == line.len() - end { None } else { Some((line[..end].parse().ok()?, name)) }
}

/// `Component 1:`; readmes of several label columns number them so.
fn component_heading(line: &str) -> Option<usize> {
    const MOST_COMPONENTS: usize = 1000;
    let number = line.to_ascii_lowercase().strip_prefix("component")?.trim_matches([' ', ':']).parse().ok()?;
    (number < MOST_COMPONENTS).then_some(number)
}

fn heading(line: &str, current: Section) -> Section {
    let line = line.to_ascii_lowercase();
    let mentions = |words: [&str; 2]| words.iter().any(|word| line.contains(word));
    if mentions(["node label", "vertex label"]) {
        Section::Nodes
    } else if mentions(["edge label", "bond label"]) {
        Section::Edges
    } else if mentions(["class label", "graph label"]) {
        Section::Graphs
    } else if line.ends_with(':') {
        current
    } else {
        Section::Prose
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_tell_nodes_from_edges_and_classes() {
        let map = LabelMap::parse(
            "Node labels:\t[chem]\n\nComponent 0:\n\t0\tC\n\t1\tCl\n\nComponent 1:\n 0: ring\n\n\
             Edge labels:\n  0  triple\n\nClass labels were converted using this map:\n\n\t0\tmutagen\n\t-1 = none\n\
             === Previous use ===\n2005 somebody\n",
        );
        assert_eq!(map.nodes.len(), 2);
        assert_eq!(map.nodes[0], Names::from([(0, "C".to_string()), (1, "Cl".to_string())]));
        assert_eq!(map.nodes[1], Names::from([(0, "ring".to_string())]));
        assert_eq!(map.edges, Names::from([(0, "triple".to_string())]));
        assert_eq!(map.graphs, Names::from([(0, "mutagen".to_string()), (-1, "none".to_string())]));
        assert!(names_elements(&map.nodes[0]) && !names_elements(&map.nodes[1]));
    }
}
