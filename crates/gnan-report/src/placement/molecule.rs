//! Molecules as chemists draw them: rings as polygons, chains as zigzags, double bonds where a Kekulé structure has them.
//!
//! The skeleton is placed by `chematic-depict`; nothing of it shows outside this file. Hydrogens that are atoms of their
//! own are put into the widest gaps around their atom, so that they do not disturb the skeleton.

use chematic_core::{Atom, AtomIdx, BondOrder as DrawnOrder, Element, Molecule as Drawn, MoleculeBuilder, kekulize};
use chematic_depict::layout::{BOND_LEN, compute_layout};
use gnan::Graph;
use gnan::files::{BondOrder, Molecule};

use super::part::subgraph;
use super::{Point, apart, bounds, closest, pack, stress, turned};

/// Length of a bond to a hydrogen that is drawn.
const HYDROGEN_BOND: f64 = 0.68;

/// A larger skeleton is drawn as any other graph: placing it takes more than linear time.
const MOST_ATOMS: usize = 250;

/// A hydrogen that is drawn has at least this much room, where there is any.
const HYDROGEN_ROOM: f64 = 0.6;

/// Two atoms closer than this cover each other.
const LEAST_GAP: f64 = 0.35;

/// A molecule as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Depiction {
    /// The place of each atom.
    pub places: Vec<Point>,
    /// The order in which each bond is drawn: aromatic ones are single or double, where a Kekulé structure was found.
    pub orders: Vec<BondOrder>,
}

/// Draws a molecule; fragments stand side by side.
pub fn depict(molecule: &Molecule) -> Depiction {
    let count = molecule.atoms.len();
    let known = |ends: &[u32; 2]| ends.iter().all(|&end| (end as usize) < count);
    let graph = Graph::new(count, molecule.bonds.iter().map(|bond| bond.atoms).filter(known), false);
    let (component_of, components) = graph.components();
    let mut members = vec![Vec::new(); components];
    component_of.iter().enumerate().for_each(|(atom, &component)| members[component as usize].push(atom));
    let mut places = vec![[0.0; 2]; count];
    for atoms in &members {
        place_fragment(molecule, &graph, atoms, &mut places);
    }
    let mut parts: Vec<Vec<Point>> = members.iter().map(|atoms| flat(atoms, &graph, &places)).collect();
    pack::side_by_side(&mut parts);
    for (atoms, part) in members.iter().zip(&parts) {
        atoms.iter().zip(part).for_each(|(&atom, &place)| places[atom] = place);
    }
    Depiction { places, orders: kekule_orders(molecule) }
}

/// Places the atoms of one fragment: the skeleton, then the hydrogens around it.
fn place_fragment(molecule: &Molecule, graph: &Graph, atoms: &[usize], places: &mut [Point]) {
    let hangs_on = |atom: usize| hydrogen_parent(molecule, graph, atom);
    let skeleton: Vec<usize> = atoms.iter().copied().filter(|&atom| hangs_on(atom).is_none()).collect();
    for (&atom, place) in skeleton.iter().zip(skeleton_places(molecule, &skeleton, graph)) {
        places[atom] = place;
    }
    for &atom in &skeleton {
        place_hydrogens(graph.successors(atom), |other| hangs_on(other) == Some(atom), atom, places);
    }
    for &atom in atoms {
        if let Some(parent) = hangs_on(atom) {
            clear_hydrogen(atom, parent, atoms, places);
        }
    }
}

/// The atom that a hydrogen hangs on, if it is one with a single bond to something else.
fn hydrogen_parent(molecule: &Molecule, graph: &Graph, atom: usize) -> Option<usize> {
    let element = |atom: usize| molecule.atoms[atom].element;
    match graph.successors(atom) {
        &[parent] if element(atom) == "H" && element(parent as usize) != "H" => Some(parent as usize),
        _ => None,
    }
}

/// Places for the atoms of one connected skeleton.
fn skeleton_places(molecule: &Molecule, atoms: &[usize], graph: &Graph) -> Vec<Point> {
    let drawn = if atoms.len() <= MOST_ATOMS { build(molecule, atoms) } else { None };
    let places: Option<Vec<Point>> = drawn.map(|drawn| {
        let layout = compute_layout(&drawn);
        layout.coords.iter().map(|point| [point.x / BOND_LEN, point.y / BOND_LEN]).collect()
    });
    places.filter(|places| is_sound(places, atoms.len())).unwrap_or_else(|| stress::stress(&subgraph(graph, atoms)))
}

fn is_sound(places: &[Point], count: usize) -> bool {
    places.len() == count && places.iter().flatten().all(|x| x.is_finite()) && closest(places) >= LEAST_GAP
}

/// The molecule of some atoms as the drawing crate knows it.
fn build(molecule: &Molecule, atoms: &[usize]) -> Option<Drawn> {
    let mut builder = MoleculeBuilder::with_capacity(atoms.len(), molecule.bonds.len());
    for &row in atoms {
        let described = &molecule.atoms[row];
        let mut atom = match Element::from_symbol(described.element) {
            Some(element) => Atom::new(element),
            None => Atom::wildcard(),
        };
        atom.charge = described.charge;
        atom.aromatic = described.aromatic;
        atom.hydrogen_count = Some(described.hydrogens);
        builder.add_atom(atom);
    }
    let place = |atom: u32| atoms.binary_search(&(atom as usize)).ok().map(|place| AtomIdx(place as u32));
    for bond in &molecule.bonds {
        if let [Some(one), Some(other)] = bond.atoms.map(place) {
            builder.add_bond(one, other, drawn_order(bond.order)).ok()?;
        }
    }
    Some(builder.build())
}

fn drawn_order(order: BondOrder) -> DrawnOrder {
    match order {
        BondOrder::Single | BondOrder::Other => DrawnOrder::Single,
        BondOrder::Double => DrawnOrder::Double,
        BondOrder::Triple => DrawnOrder::Triple,
        BondOrder::Quadruple => DrawnOrder::Quadruple,
        BondOrder::Aromatic => DrawnOrder::Aromatic,
    }
}

/// The orders of the bonds, aromatic ones as single and double where that is possible.
fn kekule_orders(molecule: &Molecule) -> Vec<BondOrder> {
    let mut orders: Vec<BondOrder> = molecule.bonds.iter().map(|bond| bond.order).collect();
    if !orders.contains(&BondOrder::Aromatic) || molecule.atoms.len() > 4 * MOST_ATOMS {
        return orders;
    }
    let all: Vec<usize> = (0..molecule.atoms.len()).collect();
    let Some(drawn) = build(molecule, &all) else { return orders };
    let Ok(kekule) = kekulize(&drawn) else { return orders };
    if drawn.bond_count() != orders.len() {
        return orders;
    }
    for (row, (index, _)) in drawn.bonds().enumerate() {
        if let (Some(order), Some(found)) = (orders.get_mut(row), kekule.get(&index)) {
            *order = if *found == DrawnOrder::Double { BondOrder::Double } else { BondOrder::Single };
        }
    }
    orders
}

/// Puts the hydrogens of an atom into the widest gaps between its other bonds.
fn place_hydrogens(neighbours: &[u32], hangs_here: impl Fn(usize) -> bool, atom: usize, places: &mut [Point]) {
    let hydrogens: Vec<usize> =
        neighbours.iter().map(|&other| other as usize).filter(|&other| hangs_here(other)).collect();
    let here = places[atom];
    let mut angles: Vec<f64> = neighbours
        .iter()
        .map(|&other| other as usize)
        .filter(|&other| !hangs_here(other))
        .map(|other| (places[other][1] - here[1]).atan2(places[other][0] - here[0]))
        .collect();
    angles.sort_by(f64::total_cmp);
    let full = std::f64::consts::TAU;
    // Each gap: where it starts, how wide it is, how many hydrogens it takes.
    let mut gaps: Vec<(f64, f64, usize)> = angles
        .iter()
        .enumerate()
        .map(|(k, &angle)| (angle, angles.get(k + 1).copied().unwrap_or(angles[0] + full) - angle, 0))
        .collect();
    if gaps.is_empty() {
        // Alone, the first hydrogen stands to the right.
        let turn = full / hydrogens.len().max(1) as f64;
        gaps.push((-turn, full + turn, 0));
    }
    for _ in &hydrogens {
        let room = |gap: &(f64, f64, usize)| gap.1 / (gap.2 + 1) as f64;
        let widest =
            (0..gaps.len()).fold(0, |best, k| if room(&gaps[k]) > room(&gaps[best]) + 1e-9 { k } else { best });
        gaps[widest].2 += 1;
    }
    let slots = gaps.iter().flat_map(|&(start, width, count)| {
        (1..=count).map(move |slot| start + width * slot as f64 / (count + 1) as f64)
    });
    for (&hydrogen, angle) in hydrogens.iter().zip(slots) {
        let (sine, cosine) = angle.sin_cos();
        places[hydrogen] = [here[0] + HYDROGEN_BOND * cosine, here[1] + HYDROGEN_BOND * sine];
    }
}

/// Moves a hydrogen that stands on another atom around its own, to where there is most room.
fn clear_hydrogen(hydrogen: usize, parent: usize, fragment: &[usize], places: &mut [Point]) {
    let room = |at: Point, places: &[Point]| {
        let others = fragment.iter().filter(|&&other| other != hydrogen && other != parent);
        others.map(|&other| apart(at, places[other])).fold(f64::INFINITY, f64::min)
    };
    let mut best = (room(places[hydrogen], places), places[hydrogen]);
    if best.0 >= HYDROGEN_ROOM {
        return;
    }
    let [dx, dy] = [0, 1].map(|axis| places[hydrogen][axis] - places[parent][axis]);
    for step in 1..=12 {
        for (side, length) in [(-1.0, 1.0), (1.0, 1.0), (-1.0, 0.8), (1.0, 0.8)] {
            let (sine, cosine) = (side * 0.15 * step as f64).sin_cos();
            let [x, y] = [length * (cosine * dx - sine * dy), length * (sine * dx + cosine * dy)];
            let at = [places[parent][0] + x, places[parent][1] + y];
            let found = room(at, places);
            if found > best.0 + 0.02 {
                best = (found, at);
            }
        }
        if best.0 >= HYDROGEN_ROOM {
            break;
        }
    }
    places[hydrogen] = best.1;
}

/// The places turned so that most bonds lie at multiples of 30 degrees, and the drawing is as low as it can be.
fn flat(atoms: &[usize], graph: &Graph, places: &[Point]) -> Vec<Point> {
    let mut sum = [0.0; 2];
    for &atom in atoms {
        let inner = |other: &usize| graph.successors(*other).len() > 1;
        for other in graph.successors(atom).iter().map(|&other| other as usize).filter(inner) {
            let angle = (places[other][1] - places[atom][1]).atan2(places[other][0] - places[atom][0]);
            // Angles that differ by 30 degrees are the same direction twelvefold.
            sum = [sum[0] + (12.0 * angle).cos(), sum[1] + (12.0 * angle).sin()];
        }
    }
    let own: Vec<Point> = atoms.iter().map(|&atom| places[atom]).collect();
    let off = if sum[0].hypot(sum[1]) > 0.5 { sum[1].atan2(sum[0]) / 12.0 } else { 0.0 };
    let straight = turned(&own, -off);
    let height = |places: &[Point]| {
        let [low, high] = bounds(places);
        high[1] - low[1]
    };
    let mut best = straight.clone();
    for step in 1..6 {
        let other = turned(&straight, step as f64 * std::f64::consts::FRAC_PI_6);
        if height(&other) < height(&best) - 0.05 {
            best = other;
        }
    }
    best
}
