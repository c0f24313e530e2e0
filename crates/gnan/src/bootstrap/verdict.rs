//! Verdicts: what follows from the bands, in plain words.

use crate::explain::{Canonical, Point};
use crate::files::{Kind, Task};
use crate::model::Rho;

use super::bands::Band;
use super::intervals::Intervals;

/// Most names in a list; the rest are counted.
const MOST_NAMES: usize = 12;

/// A verdict on every rho and output.
pub(super) fn on_rhos(canonical: &Canonical, intervals: &Intervals) -> Vec<Vec<String>> {
    let seen: Vec<bool> = (0..canonical.slots()).map(|slot| canonical.seen(slot)).collect();
    let axis = canonical.axis();
    let output = |rho: &[Vec<Band>], c: usize| {
        let zero: Vec<bool> = rho.iter().map(|bands| bands[c].holds_zero()).collect();
        let by_lens = (0..axis.lenses()).map(|lens| (axis.lens_name(lens), axis.range(lens)));
        let verdicts: Vec<String> = by_lens
            .map(|(name, slots)| match on_rho(&zero[slots.clone()], &seen[slots]) {
                verdict if name.is_empty() => verdict,
                verdict => format!("{name}: {verdict}"),
            })
            .collect();
        verdicts.join("; ")
    };
    let mut verdicts: Vec<Vec<String>> =
        intervals.rho.iter().map(|rho| (0..canonical.outputs()).map(|c| output(rho, c)).collect()).collect();
    // Where every level has a rho of its own, the effects of the level decide; they are centred, rho is not.
    let items = if canonical.definition().learned.task == Task::Graph { "graphs" } else { "nodes" };
    for (k, points) in intervals.points.features.iter().enumerate().filter(|(k, _)| canonical.has_level_rhos(*k)) {
        // The numbers between which effects are interpolated have no names of their own.
        if matches!(points.first(), Some(Point::Number(_)))
            && canonical.definition().learned.features[k].kind != Kind::Binary
        {
            let known = canonical.definition().learned.features[k].known_values();
            (0..known).for_each(|knot| verdicts[canonical.rho_of(k, knot)].fill(String::new()));
        }
        for (p, point) in points.iter().enumerate() {
            if matches!(point, Point::Number(_)) && verdicts[canonical.rho_at(k, point)].iter().all(String::is_empty) {
                continue;
            }
            let words = |c: usize| match intervals.too_few[k][p] {
                true => Effect::Unknown.words(items),
                false => output(&intervals.products[k][p], c),
            };
            let shown = intervals.products[k][p].first().map_or(0, Vec::len);
            verdicts[canonical.rho_at(k, point)] = (0..shown).map(words).collect();
        }
    }
    // Where outputs are shown as differences of several, all effects that a rho weighs decide.
    if !canonical.definition().shows_own_outputs() {
        let shown = canonical.definition().shown_names().len();
        for (r, verdicts) in verdicts.iter_mut().enumerate() {
            let weighed: Vec<&Vec<Vec<Band>>> = weighed(canonical, intervals, r).map(|(_, _, slots)| slots).collect();
            let level = intervals.points.features.iter().enumerate().any(|(k, points)| {
                canonical.has_level_rhos(k) && points.iter().any(|point| canonical.rho_at(k, point) == r)
            });
            if level || weighed.is_empty() {
                continue;
            }
            // The band that is farthest from 0.
            let clearest = |slot: usize, c: usize| {
                let bands = weighed.iter().map(|slots| slots[slot][c]);
                bands.into_iter().find(|band| !band.holds_zero()).unwrap_or_default()
            };
            let slots: Vec<Vec<Band>> =
                (0..canonical.slots()).map(|slot| (0..shown).map(|c| clearest(slot, c)).collect()).collect();
            *verdicts = (0..shown).map(|c| output(&slots, c)).collect();
        }
    }
    if canonical.definition().learned.rho != Rho::Shared {
        for r in (1..verdicts.len()).filter(|r| says_nothing(canonical, intervals, *r)) {
            if verdicts[r].iter().all(String::is_empty) {
                continue;
            }
            verdicts[r].fill("nothing to weigh: what it weighs has no reliable effect".to_owned());
        }
    }
    verdicts
}

/// Whether nothing that a rho weighs has a reliable effect at any distance: then the rho, which is
/// scaled to 1 somewhere in any case, means nothing.
fn says_nothing(canonical: &Canonical, intervals: &Intervals, r: usize) -> bool {
    weighed(canonical, intervals, r).all(|(_, _, slots)| {
        let seen = slots.iter().enumerate().filter(|(slot, _)| canonical.seen(*slot));
        seen.flat_map(|(_, bands)| bands).all(Band::holds_zero)
    })
}

/// The values of features that a rho weighs, with the bands of their effects, `[slots][shown outputs]`.
fn weighed<'a>(
    canonical: &'a Canonical,
    intervals: &'a Intervals,
    r: usize,
) -> impl Iterator<Item = (usize, &'a Point, &'a Vec<Vec<Band>>)> {
    let features = intervals.points.features.iter().zip(&intervals.products).enumerate();
    features
        .flat_map(|(k, (points, products))| points.iter().zip(products).map(move |(point, bands)| (k, point, bands)))
        .filter(move |(k, point, _)| canonical.rho_at(*k, point) == r)
}

/// The verdict on one rho from whether its band holds 0 at every slot ("unreachable" last), for the slots seen in
/// training.
fn on_rho(zero: &[bool], seen: &[bool]) -> String {
    let Some(unreachable) = zero.len().checked_sub(1) else { return String::new() };
    let slots = || (0..zero.len()).filter(|slot| seen[*slot]);
    let nothing: Vec<usize> = slots().filter(|slot| zero[*slot]).collect();
    if nothing.len() == slots().count() {
        return "no reliable effect at any distance".to_owned();
    }
    if nothing.is_empty() {
        return "differs from zero at every distance".to_owned();
    }
    let farthest = slots().filter(|slot| !zero[*slot]).max().expect("not every slot may be zero");
    if farthest != unreachable && nothing.iter().all(|slot| *slot > farthest) {
        let only_unreachable = nothing == [unreachable];
        let which = match only_unreachable {
            true => "unreachable nodes".to_owned(),
            false => format!("distances beyond {farthest}"),
        };
        return format!("{which}: no reliable effect");
    }
    let finite: Vec<usize> = nothing.iter().copied().filter(|slot| *slot != unreachable).collect();
    let mut names: Vec<String> = runs(&finite)
        .into_iter()
        .map(|(from, to)| if from == to { format!("distance {from}") } else { format!("distances {from} to {to}") })
        .collect();
    names.extend(nothing.contains(&unreachable).then(|| "unreachable nodes".to_owned()));
    format!("{}: no reliable effect", list(&names))
}

/// A verdict on every shape function and shown output, from its effects at the anchor.
pub(super) fn on_shapes(canonical: &Canonical, intervals: &Intervals) -> Vec<Vec<String>> {
    let definition = canonical.definition();
    let shown = definition.shown_names().len();
    let items = if definition.learned.task == Task::Graph { "graphs" } else { "nodes" };
    (intervals.shapes.iter().enumerate())
        .map(|(k, bands)| {
            let anchor = canonical.anchor(k);
            let verdict = |c: usize| {
                let effects = bands.iter().zip(&intervals.too_few[k]).map(|(bands, too_few)| match bands[c] {
                    _ if *too_few => Effect::Unknown,
                    band if band.holds_zero() => Effect::None,
                    band if band.low > 0.0 => Effect::Raises,
                    _ => Effect::Lowers,
                });
                let effects: Vec<Effect> = effects.collect();
                let names = &intervals.points.features[k];
                let verdict = match definition.learned.features[k].kind {
                    Kind::Continuous | Kind::Sparse => on_curve(names, &effects),
                    Kind::Binary | Kind::Categorical => on_levels(names, &effects, items),
                };
                match canonical.axis().distance(anchor) {
                    Some(0) => verdict,
                    _ => format!("{}: {verdict}", canonical.axis().name(anchor)),
                }
            };
            (0..shown).map(verdict).collect()
        })
        .collect()
}

/// What a value does to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Raises,
    Lowers,
    None,
    Unknown,
}

impl Effect {
    fn words(self, items: &str) -> String {
        match self {
            Effect::Raises => "raises".to_owned(),
            Effect::Lowers => "lowers".to_owned(),
            Effect::None => "no reliable effect".to_owned(),
            Effect::Unknown => format!("too few {items} to tell"),
        }
    }
}

/// "O, N: raises; Li: too few graphs to tell"
fn on_levels(points: &[Point], effects: &[Effect], items: &str) -> String {
    if effects.iter().all(|effect| *effect == Effect::None) {
        return "flat: no value differs from zero".to_owned();
    }
    let parts = [Effect::Raises, Effect::Lowers, Effect::None, Effect::Unknown].into_iter().filter_map(|kind| {
        let having = points.iter().zip(effects).filter(|(_, effect)| **effect == kind);
        let names: Vec<String> = having.map(|(point, _)| point.name()).collect();
        (!names.is_empty()).then(|| format!("{}: {}", list(&names), kind.words(items)))
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// "1.5 to 7: raises; else no reliable effect"
fn on_curve(points: &[Point], effects: &[Effect]) -> String {
    if effects.iter().all(|effect| *effect == Effect::None) {
        return "flat: no value differs from zero".to_owned();
    }
    let mut parts = Vec::new();
    for kind in [Effect::Raises, Effect::Lowers, Effect::Unknown] {
        let number = |p: &usize| matches!(points[*p], Point::Number(_));
        let (having, others): (Vec<usize>, Vec<usize>) =
            (0..effects.len()).filter(|p| effects[*p] == kind).partition(number);
        let name = |(from, to): (usize, usize)| match from == to {
            true => points[from].name(),
            false => format!("{} to {}", points[from].name(), points[to].name()),
        };
        let mut names: Vec<String> = runs(&having).into_iter().map(name).collect();
        names.extend(others.into_iter().map(|point| points[point].name()));
        if !names.is_empty() {
            parts.push(format!("{}: {}", list(&names), kind.words("values")));
        }
    }
    if effects.contains(&Effect::None) {
        parts.push("else no reliable effect".to_owned());
    }
    parts.join("; ")
}

/// First and last of every run of neighbours in ascending numbers.
fn runs(numbers: &[usize]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    runs
}

/// Names with commas, the last of many counted only.
fn list(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rho_in_words() {
        let words = |zero: &[u8], seen: &[u8]| {
            let flags = |bits: &[u8]| bits.iter().map(|bit| *bit == 1).collect::<Vec<_>>();
            on_rho(&flags(zero), &flags(seen))
        };
        assert_eq!(words(&[0, 0, 1, 1, 1], &[1; 5]), "distances beyond 1: no reliable effect");
        assert_eq!(words(&[0, 0, 0, 0, 1], &[1; 5]), "unreachable nodes: no reliable effect");
        assert_eq!(words(&[0, 0, 0, 0, 1], &[1, 1, 1, 1, 0]), "differs from zero at every distance");
        assert_eq!(words(&[1; 3], &[1; 3]), "no reliable effect at any distance");
        assert_eq!(
            words(&[1, 0, 1, 1, 0, 1], &[1; 6]),
            "distance 0, distances 2 to 3, unreachable nodes: no reliable effect"
        );
    }

    #[test]
    fn shapes_in_words() {
        let level = |name: &str| Point::Level(name.to_owned());
        let levels = [level("O"), level("C"), level("Li"), level("N")];
        let effects = [Effect::Raises, Effect::None, Effect::Unknown, Effect::Raises];
        assert_eq!(
            on_levels(&levels, &effects, "graphs"),
            "O, N: raises; C: no reliable effect; Li: too few graphs to tell"
        );
        assert_eq!(on_levels(&levels[..1], &[Effect::None], "graphs"), "flat: no value differs from zero");
        let numbers: Vec<Point> = [0.5, 1.0, 2.0, 4.0].map(Point::Number).to_vec();
        let effects = [Effect::Lowers, Effect::None, Effect::Raises, Effect::Raises];
        assert_eq!(on_curve(&numbers, &effects), "2 to 4: raises; 0.5: lowers; else no reliable effect");
        let with_missing = [Point::Number(1.0), Point::Number(2.0), Point::Missing];
        assert_eq!(on_curve(&with_missing, &[Effect::Raises; 3]), "1 to 2, missing: raises");
    }
}
