//! Search spaces: values to try for each option, and which of their combinations are tried.

use std::time::Duration;

use super::choice::Criterion;
use crate::error::{Error, Result};
use crate::random::Stream;
use crate::spec::{OPTIONS, Spec, SpecOption};

/// More combinations than this are a slip of the keyboard.
const MOST_CANDIDATES: usize = 100_000;

/// The values of one option.
#[derive(Clone, Debug, PartialEq)]
struct SearchAxis {
    option: &'static str,
    values: AxisValues,
}

#[derive(Clone, Debug, PartialEq)]
enum AxisValues {
    /// These and no others.
    Listed(Vec<String>),
    /// Anything between two positive numbers, evenly over their logarithms.
    Range(f64, f64),
}

/// For every option the values to try.
///
/// ```
/// use gnan::Space;
/// let space = Space::default().with("hidden=16,32")?.with("rho=shared,per-feature")?;
/// assert_eq!(space.options(), ["hidden", "rho"]);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    axes: Vec<SearchAxis>,
}

impl Space {
    /// Adds an option with values as they are written on the command line: `hidden=32,64` or, for a random search,
    /// `weight-decay=1e-5..3e-2`.
    pub fn with(mut self, axis: &str) -> Result<Space> {
        let Some((option, values)) = axis.split_once('=') else {
            return Err(Error::usage(format!("\"{axis}\" does not list values to try"))
                .with_remedy("write for example hidden=32,64"));
        };
        let option = tried_option(option.trim())?;
        if self.axes.iter().any(|axis| axis.option == option.name) {
            return Err(
                Error::usage(format!("the values of {} are given twice", option.name)).with_remedy("give them once")
            );
        }
        let values = match values.split_once("..") {
            Some((from, to)) => range(option, from.trim(), to.trim())?,
            None => AxisValues::Listed(values.split(',').map(|value| value.trim().to_owned()).collect()),
        };
        if let AxisValues::Listed(values) = &values {
            for (position, value) in values.iter().enumerate() {
                option.set_from_text(&mut Spec::default(), value)?;
                if values[..position].contains(value) {
                    return Err(
                        Error::usage(format!("{} lists {value} twice", option.name)).with_remedy("list it once")
                    );
                }
            }
        }
        self.axes.push(SearchAxis { option: option.name, values });
        Ok(self)
    }

    /// The grid of the paper: 32 combinations.
    pub fn paper() -> Space {
        let axes = ["layers=3,5", "hidden=64,32", "weight-decay=0,0.0005", "learning-rate=0.01,0.001", "dropout=0,0.6"];
        axes.iter().try_fold(Space::default(), |space, axis| space.with(axis)).expect("options of the table")
    }

    /// Whether there is nothing to choose.
    pub fn is_empty(&self) -> bool {
        self.axes.is_empty()
    }

    /// Names of the options with values to try.
    pub fn options(&self) -> Vec<&'static str> {
        self.axes.iter().map(|axis| axis.option).collect()
    }

    /// Every combination, the last option varying fastest.
    fn grid(&self, base: &Spec) -> Result<Vec<Spec>> {
        let mut candidates = vec![base.clone()];
        for axis in &self.axes {
            let AxisValues::Listed(values) = &axis.values else {
                return Err(Error::usage(format!("a range of {} cannot be searched by grid", axis.option))
                    .with_remedy("list its values, or search at random"));
            };
            if candidates.len().saturating_mul(values.len()) > MOST_CANDIDATES {
                return Err(Error::usage(format!("there are more than {MOST_CANDIDATES} combinations"))
                    .with_remedy("list fewer values, or search at random"));
            }
            let mut wider = Vec::with_capacity(candidates.len() * values.len());
            for candidate in &candidates {
                for value in values {
                    let mut candidate = candidate.clone();
                    set(&mut candidate, axis.option, value)?;
                    wider.push(candidate);
                }
            }
            candidates = wider;
        }
        Ok(candidates)
    }

    /// One combination at random.
    fn draw(&self, base: &Spec, stream: &mut Stream) -> Result<Spec> {
        let mut candidate = base.clone();
        for axis in &self.axes {
            let value = match &axis.values {
                AxisValues::Listed(values) => values[stream.below(values.len())].clone(),
                AxisValues::Range(from, to) => {
                    let share = stream.uniform();
                    format!("{:.2e}", (from.ln() * (1.0 - share) + to.ln() * share).exp())
                }
            };
            set(&mut candidate, axis.option, &value)?;
        }
        Ok(candidate)
    }
}

/// The option of that name, which must be one that can be tried.
fn tried_option(name: &str) -> Result<&'static SpecOption> {
    let option = Spec::option(name)?;
    if option.tried {
        return Ok(option);
    }
    let names: Vec<&str> = OPTIONS.iter().filter(|option| option.tried).map(|option| option.name).collect();
    Err(Error::usage(format!("several values of {name} cannot be tried"))
        .with_remedy(format!("choose from {}", names.join(", "))))
}

/// Sets an option and refuses combinations that make no sense.
fn set(candidate: &mut Spec, option: &'static str, value: &str) -> Result<()> {
    Spec::option(option)?.set_from_text(candidate, value)?;
    candidate.check()
}

fn range(option: &SpecOption, from: &str, to: &str) -> Result<AxisValues> {
    let refuse = || {
        Error::usage(format!("{from}..{to} is not a range for {}", option.name)).with_remedy(
            "a range is two numbers above 0, the smaller first, for an option that takes any number between them",
        )
    };
    let ends: [f64; 2] = [from.parse().map_err(|_| refuse())?, to.parse().map_err(|_| refuse())?];
    // An option of whole numbers refuses what lies between.
    let between = format!("{:.2e}", (0.5 * (ends[0].ln() + ends[1].ln())).exp());
    for value in [from, to, &between] {
        option.set_from_text(&mut Spec::default(), value).map_err(|_| refuse())?;
    }
    if ends[0] > 0.0 && ends[0] < ends[1] && ends[1].is_finite() {
        return Ok(AxisValues::Range(ends[0], ends[1]));
    }
    Err(refuse())
}

/// The options named, in words: "hidden 32, dropout 0.6".
pub(super) fn words(candidate: &Spec, options: &[&'static str]) -> String {
    let named = OPTIONS.iter().filter(|option| options.contains(&option.name));
    let mut words: Vec<(usize, String)> = named
        .map(|option| {
            let position = options.iter().position(|name| *name == option.name).unwrap_or(usize::MAX);
            (position, format!("{} {}", option.name, option.words(candidate)))
        })
        .collect();
    words.sort();
    let words: Vec<String> = words.into_iter().map(|(_, words)| words).collect();
    if words.is_empty() { "default".to_owned() } else { words.join(", ") }
}

/// Which combinations of a space are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// All of them.
    Grid,
    /// So many, drawn at random; the same for every split.
    Random(usize),
}

/// What to try, and how to compare.
///
/// ```
/// use gnan::evaluate::Strategy;
/// use gnan::{Search, Space, Spec};
/// let space = Space::default().with("hidden=16,32")?;
/// let search = Search::new(&Spec::default(), &space, Strategy::Grid, 1)?;
/// assert_eq!(search.candidates.len(), 2);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    /// The candidates, in the order in which they are tried.
    pub candidates: Vec<Spec>,
    /// Names of the options in which they differ.
    pub options: Vec<&'static str>,
    /// What decides between them; `None`: the usual criterion, or that of the protocol.
    pub criterion: Option<Criterion>,
    /// No further candidate is begun after this time; at least one is always tried.
    pub budget: Option<Duration>,
}

impl Search {
    /// A search with nothing to choose.
    pub fn of(candidate: Spec) -> Search {
        Search { candidates: vec![candidate], options: Vec::new(), criterion: None, budget: None }
    }

    /// A search through a space around `base`.
    pub fn new(base: &Spec, space: &Space, strategy: Strategy, seed: u64) -> Result<Search> {
        let candidates = match strategy {
            Strategy::Grid => space.grid(base)?,
            Strategy::Random(count) => {
                let mut stream = Stream::named(seed, "search", 0);
                let mut drawn: Vec<Spec> = Vec::new();
                // Small spaces repeat themselves: after enough attempts there is nothing new to find.
                for _ in 0..count.saturating_mul(20) {
                    if drawn.len() == count {
                        break;
                    }
                    let candidate = space.draw(base, &mut stream)?;
                    if !drawn.contains(&candidate) {
                        drawn.push(candidate);
                    }
                }
                drawn
            }
        };
        if candidates.is_empty() {
            return Err(Error::usage("there is nothing to try").with_remedy("ask for at least one trial"));
        }
        Ok(Search { candidates, options: space.options(), ..Search::of(base.clone()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(axes: &[&str]) -> Space {
        axes.iter().try_fold(Space::default(), |space, axis| space.with(axis)).unwrap()
    }

    #[test]
    fn the_paper_has_thirty_two_combinations() {
        let search = Search::new(&Spec::default(), &Space::paper(), Strategy::Grid, 0).unwrap();
        assert_eq!(search.candidates.len(), 32);
        let first = &search.candidates[0];
        assert_eq!(words(first, &search.options), "layers 3, hidden 64, weight-decay 0, learning-rate 0.01, dropout 0");
    }

    #[test]
    fn random_candidates_differ_and_depend_on_the_seed_alone() {
        let space = space(&["hidden=32,64", "weight-decay=1e-5..3e-2"]);
        let draw = |seed| Search::new(&Spec::default(), &space, Strategy::Random(12), seed).unwrap().candidates;
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert_eq!(draw(1).len(), 12);
        for candidate in draw(1) {
            let decay = candidate.fit.weight_decay.unwrap();
            assert!((0.99e-5..=3.01e-2).contains(&decay), "{decay}");
        }
        let few =
            Search::new(&Spec::default(), &Space::default().with("hidden=32,64").unwrap(), Strategy::Random(9), 0);
        assert_eq!(few.unwrap().candidates.len(), 2);
    }

    #[test]
    fn spaces_that_make_no_sense_are_refused() {
        for axis in ["hidden", "hidden=33", "hidden=32,32", "layers=1..3", "dropout=0.5..0.1", "colour=red", "hidden="]
        {
            assert!(Space::default().with(axis).is_err(), "{axis}");
        }
        let twice = space(&["hidden=32"]).with("hidden=64").unwrap_err();
        assert!(twice.to_string().contains("twice"), "{twice}");
        let range = Search::new(&Spec::default(), &space(&["dropout=0.1..0.5"]), Strategy::Grid, 0).unwrap_err();
        assert!(range.to_string().contains("grid"), "{range}");
    }
}
