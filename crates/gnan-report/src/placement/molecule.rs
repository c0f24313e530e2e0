//! Molecules as chemists draw them: rings as polygons, chains as zigzags, double bonds where a Kekulé structure has them.
//!
//! The skeleton is placed by `chematic-depict`; nothing of it shows outside this file. Hydrogens that are atoms of their
//! own are put into the widest gaps around their atom, so that they do not disturb the skeleton.

use chematic_core::{Atom, AtomIdx, BondOrder as DrawnOrder, Element, Molecule as Drawn, MoleculeBuilder, kekulize};
use chematic_depict::layout::{BOND_LEN, compute_layout};
use gnan::files::{BondOrder, Molecule};
use gnan::graph::Graph;

use super::{Point, bounds, closest, pack, stress, turned};

/// Length of a bond to a hydrogen that is drawn.
const HYDROGEN_BOND: f64 = 0.68;

/// A larger skeleton is drawn as any other graph: placing it takes more than linear time.
const MOST_ATOMS: usize = 250;

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
    let neighbours = neighbours(molecule);
    let hangs_on = |atom: usize| hydrogen_parent(molecule, &neighbours, atom);
    let skeleton: Vec<usize> = (0..molecule.atoms.len()).filter(|&atom| hangs_on(atom).is_none()).collect();
    let bonds = || molecule.bonds.iter().map(|bond| bond.atoms);
    let whole = Graph::new(
        molecule.atoms.len(),
        bonds().filter(|ends| ends.iter().all(|&end| (end as usize) < molecule.atoms.len())),
        false,
    );
    let (component_of, count) = whole.components();
    let mut members = vec![Vec::new(); count];
    for &atom in &skeleton {
        members[component_of[atom] as usize].push(atom);
    }
    let mut places = vec![[0.0; 2]; molecule.atoms.len()];
    for atoms in &members {
        for (&atom, place) in atoms.iter().zip(fragment(molecule, atoms, &whole)) {
            places[atom] = place;
        }
    }
    for &atom in &skeleton {
        place_hydrogens(&neighbours[atom], |other| hangs_on(other) == Some(atom), atom, &mut places);
    }
    let mut all = vec![Vec::new(); count];
    component_of.iter().enumerate().for_each(|(atom, &component)| all[component as usize].push(atom));
    let mut parts: Vec<Vec<Point>> = all.iter().map(|atoms| flat(atoms.iter().map(|&atom| places[atom]))).collect();
    pack::side_by_side(&mut parts);
    for (atoms, part) in all.iter().zip(&parts) {
        atoms.iter().zip(part).for_each(|(&atom, &place)| places[atom] = place);
    }
    Depiction { places, orders: kekule_orders(molecule) }
}

fn neighbours(molecule: &Molecule) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); molecule.atoms.len()];
    for [one, other] in molecule.bonds.iter().map(|bond| bond.atoms.map(|atom| atom as usize)) {
        if one != other && one < neighbours.len() && other < neighbours.len() {
            neighbours[one].push(other);
            neighbours[other].push(one);
        }
    }
    neighbours
}

/// The atom that a hydrogen hangs on, if it is one with a single bond to something else.
fn hydrogen_parent(molecule: &Molecule, neighbours: &[Vec<usize>], atom: usize) -> Option<usize> {
    match neighbours[atom].as_slice() {
        &[parent] if molecule.atoms[atom].element == "H" && molecule.atoms[parent].element != "H" => Some(parent),
        _ => None,
    }
}

/// Places for the atoms of one connected skeleton.
fn fragment(molecule: &Molecule, atoms: &[usize], whole: &Graph) -> Vec<Point> {
    let drawn = if atoms.len() <= MOST_ATOMS { build(molecule, atoms) } else { None };
    let places: Option<Vec<Point>> = drawn.map(|drawn| {
        let layout = compute_layout(&drawn);
        layout.coords.iter().map(|point| [point.x / BOND_LEN, point.y / BOND_LEN]).collect()
    });
    places.filter(|places| is_sound(places, atoms.len())).unwrap_or_else(|| {
        let skeleton = super::part::subgraph(whole, atoms);
        stress::stress(&skeleton)
    })
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
    for (row, (index, _)) in drawn.bonds().enumerate() {
        if let (Some(order), Some(found)) = (orders.get_mut(row), kekule.get(&index)) {
            *order = if *found == DrawnOrder::Double { BondOrder::Double } else { BondOrder::Single };
        }
    }
    orders
}

/// Puts the hydrogens of an atom into the widest gaps between its other bonds.
fn place_hydrogens(neighbours: &[usize], hangs_here: impl Fn(usize) -> bool, atom: usize, places: &mut [Point]) {
    let hydrogens: Vec<usize> = neighbours.iter().copied().filter(|&other| hangs_here(other)).collect();
    let here = places[atom];
    let mut angles: Vec<f64> = neighbours
        .iter()
        .filter(|&&other| !hangs_here(other))
        .map(|&other| (places[other][1] - here[1]).atan2(places[other][0] - here[0]))
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

/// The places turned by a multiple of 30 degrees so that the drawing is as low as it can be.
fn flat(places: impl Iterator<Item = Point>) -> Vec<Point> {
    let places: Vec<Point> = places.collect();
    let height = |places: &[Point]| {
        let [low, high] = bounds(places);
        high[1] - low[1]
    };
    let mut best = places.clone();
    for step in 1..6 {
        let other = turned(&places, step as f64 * std::f64::consts::FRAC_PI_6);
        if height(&other) < height(&best) - 0.05 {
            best = other;
        }
    }
    best
}
