//! The catalogue: the eleven data sets of the paper, where the public has them, and what the paper says of each.
//!
//! An [`Entry`] knows the files of a set with their addresses and checksums, the licence and whom to cite, where in a folder
//! the set may lie, the protocol in words, and the seven rows of the paper's table ([`paper`]). Nothing here touches the
//! network: what is to be downloaded is listed here, and [`folder`] is where to.

mod archive;
mod folder;
mod graph_sets;
mod node_files;
mod node_sets;
pub mod paper;

use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use gnan::error::{Error, Result};
use gnan::files::Task;
use gnan::remedy::{Remedy, Step};

pub use archive::unpack;
pub use folder::{FOLDER_VARIABLE, cache_folder, folder};
pub use paper::{PaperRow, PaperTask};

/// A data set of the paper.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Entry {
    /// What to type.
    pub name: &'static str,
    /// What the field calls it.
    pub title: &'static str,
    /// Other names that mean this set.
    pub aliases: &'static [&'static str],
    /// Whether graphs or nodes are predicted.
    pub task: Task,
    /// What it is, in one line.
    pub description: &'static str,
    /// Who publishes it.
    pub origin: &'static str,
    /// The licence its publishers state.
    pub licence: &'static str,
    /// Whom to cite.
    pub citation: &'static str,
    /// How large it is.
    pub statistics: PublishedCounts,
    /// Its files.
    pub files: &'static [RemoteFile],
    /// What to open once all files are there, relative to the folder.
    pub open: &'static str,
    /// Where it may lie in a folder, best first: paths, or the beginning that `ind.*` files share.
    pub places: &'static [&'static str],
    /// Where a file with the paper's splits may lie, for sets whose own files hold none.
    pub split_places: &'static [&'static str],
    /// How the paper evaluates on it, in one line.
    pub protocol: &'static str,
    /// What the paper reports, one table per target.
    pub paper: &'static [PaperTask],
}

/// How large a data set is, counted in its files.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PublishedCounts {
    /// Number of graphs.
    pub graphs: usize,
    /// Number of nodes over all graphs.
    pub nodes: usize,
    /// Number of node features, one for each category of a categorical one.
    pub features: usize,
    /// Number of classes; 0 where the targets are quantities.
    pub classes: usize,
}

/// A file that can be fetched.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RemoteFile {
    /// Where it belongs, relative to the folder, with slashes.
    pub path: &'static str,
    /// Where the public has it.
    pub url: &'static str,
    /// Its size, exact if the checksum is known and a guess otherwise.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal digits, where it is known.
    pub sha256: Option<&'static str>,
    /// For a zip archive that is unpacked: the files wanted from it, relative to the folder that it lies in.
    pub members: &'static [&'static str],
}

const ENTRIES: &[&Entry] = &[
    &node_sets::CORA,
    &node_sets::CITESEER,
    &node_sets::PUBMED,
    &node_sets::ARXIV,
    &node_sets::CORNELL,
    &node_sets::TOLOKERS,
    &graph_sets::QM9,
    &graph_sets::PROTEINS,
    &graph_sets::MUTAGENICITY,
    &graph_sets::PTC,
    &graph_sets::NCI1,
];

/// How alike two names must be for one to be suggested for the other.
const ALIKE: f64 = 0.6;

/// Every data set of the paper.
pub fn entries() -> impl ExactSizeIterator<Item = &'static Entry> {
    ENTRIES.iter().copied()
}

/// The data set of that name, in any case; the error suggests a name that is nearly so.
pub fn find(name: &str) -> Result<&'static Entry> {
    let name = name.trim();
    let known = entries().find(|entry| entry.names().any(|known| known.eq_ignore_ascii_case(name)));
    known.ok_or_else(|| {
        let names: Vec<&str> = entries().map(|entry| entry.name).collect();
        let error = |more: &str| Error::usage(format!("\"{name}\" is not in the catalogue{more}"));
        match near(name) {
            Some(entry) => error(&format!(": did you mean {}?", entry.name))
                .with_remedy(Remedy::Run(Step::ListDataSets).to("see all names")),
            None => error("").with_remedy(format!("it holds {}", names.join(", "))),
        }
    })
}

/// The entry with a name most like this one, if any is like it.
fn near(name: &str) -> Option<&'static Entry> {
    let name = name.to_lowercase();
    let likeness = |entry: &Entry| {
        entry
            .names()
            .map(|known| strsim::normalized_damerau_levenshtein(&known.to_lowercase(), &name))
            .fold(0.0, f64::max)
    };
    let best = entries().map(|entry| (likeness(entry), entry)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness >= ALIKE).map(|(_, entry)| entry)
}

impl Entry {
    /// Every name that means this set.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name, self.title].into_iter().chain(self.aliases.iter().copied())
    }

    /// Where the set is in `folder`, ready to be opened, if it is there.
    pub fn place_in(&self, folder: &Path) -> Option<PathBuf> {
        first_in(folder, self.places)
    }

    /// The same; that it is not there is an error which says how to get it.
    pub fn found_in(&self, folder: &Path) -> Result<PathBuf> {
        self.place_in(folder).ok_or_else(|| {
            Error::input(format!("{} is not in {} yet", self.title, folder.display()))
                .with_remedy(Remedy::Run(Step::Fetch(self.name.to_owned())))
        })
    }

    /// Where the file with the paper's splits is in `folder`, if the set has one and it is there.
    pub fn split_file_in(&self, folder: &Path) -> Option<PathBuf> {
        first_in(folder, self.split_places)
    }

    /// The files that `folder` lacks, if the set lies there as fetching leaves it.
    pub fn missing_in(&self, folder: &Path) -> Vec<&'static RemoteFile> {
        if self.place_in(folder).is_some_and(|place| place != folder.join(self.open)) {
            return Vec::new();
        }
        self.files.iter().filter(|file| !file.is_in(folder)).collect()
    }

    /// What all files take, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

fn first_in(folder: &Path, places: &[&str]) -> Option<PathBuf> {
    let exists = |path: &PathBuf| path.exists() || path.file_name().is_some_and(|name| has_matrix(path, name));
    places.iter().map(|place| folder.join(place)).find(exists)
}

/// Whether `path` is the beginning of the names of Planetoid's files: `ind.cora` of `ind.cora.x` and its siblings.
fn has_matrix(path: &Path, name: &std::ffi::OsStr) -> bool {
    let mut name = name.to_os_string();
    name.push(".x");
    path.with_file_name(name).is_file()
}

impl RemoteFile {
    /// Where the file belongs in `folder`; a path that would lead out of it is refused.
    pub fn place_in(&self, folder: &Path) -> Result<PathBuf> {
        inside(folder, self.path)
    }

    /// Whether the file, or everything that is wanted from it, is in `folder`.
    pub fn is_in(&self, folder: &Path) -> bool {
        let places = match self.members {
            [] => self.place_in(folder).map(|place| vec![place]),
            _ => self.member_places_in(folder),
        };
        places.is_ok_and(|places| places.iter().all(|place| place.exists()))
    }

    /// Where the files wanted from this archive belong in `folder`; none for a file that is not unpacked.
    pub fn member_places_in(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let beside = Path::new(self.path).parent().unwrap_or(Path::new(""));
        let beside =
            beside.to_str().filter(|beside| !beside.is_empty()).map_or(String::new(), |name| format!("{name}/"));
        self.members.iter().map(|member| inside(folder, &format!("{beside}{member}"))).collect()
    }
}

/// `folder` and below it `path`, which must be plain names with slashes between.
fn inside(folder: &Path, path: &str) -> Result<PathBuf> {
    let plain = |part: &str| {
        let mut parts = Path::new(part).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == part)
            && !part.contains(['\\', ':'])
            && !part.contains(char::is_control)
    };
    if path.split('/').all(plain) {
        Ok(path.split('/').fold(folder.to_path_buf(), |folder, part| folder.join(part)))
    } else {
        Err(Error::input(format!("\"{path}\" is not a plain path below the folder of data sets")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_complete_and_consistent() {
        assert_eq!(entries().len(), 11);
        let mut names: Vec<String> = entries().flat_map(Entry::names).map(str::to_lowercase).collect();
        for entry in entries() {
            assert_eq!(find(&entry.title.to_uppercase()).unwrap().name, entry.name);
            assert!(entry.places.contains(&entry.open), "{}", entry.name);
            assert!(!entry.files.is_empty() && !entry.paper.is_empty());
            let splits = entry.files.iter().filter(|file| entry.split_places.contains(&file.path));
            assert_eq!(splits.count(), entry.split_places.len().min(1), "{}", entry.name);
            let mut seen = Vec::new();
            for file in entry.files {
                assert!(file.url.starts_with("https://"), "{}", file.url);
                assert!(file.place_in(Path::new("x")).unwrap().starts_with("x"));
                assert!(file.member_places_in(Path::new("x")).unwrap().iter().all(|place| place.starts_with("x")));
                assert!(file.bytes > 0);
                let is_sha = |sum: &str| sum.len() == 64 && sum.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
                assert!(file.sha256.is_none_or(is_sha), "{}", file.path);
                assert!(!seen.contains(&file.path));
                seen.push(file.path);
            }
        }
        names.sort();
        // A title may repeat the name in another case, but no name means two sets.
        for name in &names {
            let meant = entries().filter(|entry| entry.names().any(|known| known.eq_ignore_ascii_case(name)));
            assert_eq!(meant.count(), 1, "{name}");
        }
    }

    #[test]
    fn near_names_are_suggested_and_hostile_ones_harmless() {
        assert_eq!(find(" PTC_mr").unwrap().title, "PTC");
        assert_eq!(find("ogb-arxiv").unwrap().name, "ogbn-arxiv");
        assert!(find("mutagenicty").unwrap_err().to_string().contains("did you mean mutagenicity?"));
        assert!(find("pubmde").unwrap_err().to_string().contains("did you mean pubmed?"));
        let long = "x".repeat(100_000);
        for name in ["", "../../etc/passwd", "\u{1b}[31m", "<b>", "a\nb", &long] {
            assert!(find(name).unwrap_err().to_string().contains("it holds cora, "), "{name}");
        }
    }

    #[test]
    fn paths_stay_below_the_folder() {
        let good = inside(Path::new("data"), "tu/PTC_MR.zip").unwrap();
        assert_eq!(good, Path::new("data").join("tu").join("PTC_MR.zip"));
        for path in ["", "/etc/passwd", "../x", "a/../x", "a//b", "./a", "a/.", "C:x", "a\\b", "a\nb", "a/"] {
            assert!(inside(Path::new("data"), path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn sets_are_found_where_they_may_lie() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        let [cora, proteins] = ["cora", "proteins"].map(|name| find(name).unwrap());
        assert_eq!(cora.place_in(folder.path()), None);
        write("planetoid/cora.npz");
        assert_eq!(cora.place_in(folder.path()), Some(folder.path().join("planetoid/cora.npz")));
        write("planetoid/ind.cora.x");
        assert_eq!(cora.place_in(folder.path()), Some(folder.path().join("planetoid/ind.cora")));
        write("PROTEINS/PROTEINS_A.txt");
        assert_eq!(proteins.place_in(folder.path()), Some(folder.path().join("PROTEINS")));
        assert_eq!(proteins.split_file_in(folder.path()), None);
        write("splits/PROTEINS_full_splits.json");
        assert!(proteins.split_file_in(folder.path()).is_some());
        let missing = |entry: &Entry| entry.missing_in(folder.path()).iter().map(|file| file.path).collect::<Vec<_>>();
        assert_eq!((missing(cora).len(), missing(proteins).len()), (7, 0));
        let arxiv = find("arxiv").unwrap();
        write("ogb/arxiv/raw/edge.csv.gz");
        assert_eq!(missing(arxiv), ["ogb/arxiv.zip"]);
        arxiv.files[0].members.iter().for_each(|member| write(&format!("ogb/{member}")));
        assert!(missing(arxiv).is_empty());
    }
}
