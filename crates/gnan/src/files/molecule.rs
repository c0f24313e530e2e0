//! Molecules as graphs: atoms with what they are, bonds with their order.

use chematic_core::Element;

use crate::files::component::find;

/// An atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// Symbol of the element; `*` stands for any.
    pub element: &'static str,
    /// Formal charge.
    pub charge: i8,
    /// Attached hydrogens that are not atoms of their own in the molecule.
    pub hydrogens: u8,
    /// Whether it is part of an aromatic system.
    pub aromatic: bool,
    /// Whether it lies on a ring.
    pub ring: bool,
}

/// The order of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BondOrder {
    /// One shared pair of electrons.
    Single,
    /// Two.
    Double,
    /// Three.
    Triple,
    /// Four.
    Quadruple,
    /// Part of an aromatic system.
    Aromatic,
    /// Coordination of a metal and other bonds without an order.
    Other,
}

/// A bond between two atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bond {
    /// Its ends, as indices of atoms.
    pub atoms: [u32; 2],
    /// Its order.
    pub order: BondOrder,
}

/// A molecule (or several, not bonded to each other).
///
/// ```
/// use gnan::Molecule;
/// let ethanol = Molecule::parse("CCO").expect("a SMILES");
/// assert_eq!(ethanol.atoms.iter().map(|atom| atom.element).collect::<String>(), "CCO");
/// assert_eq!(ethanol.with_hydrogens().atoms.len(), 9);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Molecule {
    /// Atoms, in the order of the SMILES.
    pub atoms: Vec<Atom>,
    /// Bonds.
    pub bonds: Vec<Bond>,
    /// Whether charges, hydrogens and aromaticity are perceived, so that they do not depend on how the molecule is
    /// written. Otherwise they are as written.
    pub perceived: bool,
}

impl Molecule {
    /// A molecule of these atoms and bonds, taken as they are; only the rings are found.
    pub(crate) fn of_parts(atoms: Vec<Atom>, bonds: Vec<Bond>) -> Molecule {
        let mut molecule = Molecule { atoms, bonds, perceived: false };
        molecule.find_rings();
        molecule
    }

    /// The same molecule with every hydrogen an atom of its own, behind the others.
    pub fn with_hydrogens(mut self) -> Molecule {
        for row in 0..self.atoms.len() {
            for _ in 0..std::mem::take(&mut self.atoms[row].hydrogens) {
                let atoms = [row as u32, self.atoms.len() as u32];
                self.bonds.push(Bond { atoms, order: BondOrder::Single });
                let element = Element::H.symbol();
                self.atoms.push(Atom { element, charge: 0, hydrogens: 0, aromatic: false, ring: false });
            }
        }
        self
    }

    /// Number of bonds of each atom.
    pub fn degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.atoms.len()];
        for end in self.bonds.iter().flat_map(|bond| bond.atoms) {
            degrees[end as usize] += 1;
        }
        degrees
    }

    /// Marks the atoms that lie on a ring.
    ///
    /// A bond outside a spanning forest closes a ring with the tree paths from its ends up to where they meet. Bonds of
    /// the forest that were walked are contracted (`top` leads past them), so each is walked once.
    pub(super) fn find_rings(&mut self) {
        let (parent, depth, closing) = self.spanning_forest();
        let mut top: Vec<u32> = (0..).take(self.atoms.len()).collect();
        for [mut one, mut other] in closing {
            loop {
                [one, other] = [find(&mut top, one), find(&mut top, other)];
                if one == other {
                    break;
                }
                if depth[one as usize] < depth[other as usize] {
                    (one, other) = (other, one);
                }
                let above = parent[one as usize];
                self.atoms[one as usize].ring = true;
                self.atoms[above as usize].ring = true;
                top[one as usize] = above;
            }
        }
    }

    /// The parent and depth of each atom in a spanning forest, and the bonds that are not part of it.
    fn spanning_forest(&self) -> (Vec<u32>, Vec<u32>, Vec<[u32; 2]>) {
        const UNSEEN: u32 = u32::MAX;
        let mut neighbours = vec![Vec::new(); self.atoms.len()];
        for (bond, [one, other]) in self.bonds.iter().map(|bond| bond.atoms).enumerate() {
            neighbours[one as usize].push((other, bond));
            neighbours[other as usize].push((one, bond));
        }
        let mut parent = vec![UNSEEN; self.atoms.len()];
        let mut depth = vec![0; self.atoms.len()];
        let mut in_forest = vec![false; self.bonds.len()];
        for root in 0..self.atoms.len() {
            if parent[root] != UNSEEN {
                continue;
            }
            parent[root] = root as u32;
            let mut waiting = vec![root as u32];
            while let Some(atom) = waiting.pop() {
                for &(next, bond) in &neighbours[atom as usize] {
                    if parent[next as usize] == UNSEEN {
                        parent[next as usize] = atom;
                        depth[next as usize] = depth[atom as usize] + 1;
                        in_forest[bond] = true;
                        waiting.push(next);
                    }
                }
            }
        }
        let closing = self.bonds.iter().zip(in_forest).filter(|(_, inside)| !inside).map(|(bond, _)| bond.atoms);
        (parent, depth, closing.collect())
    }
}

/// The symbol of an element (or `*`) as it is usually written, if it is one.
pub(crate) fn element_symbol(name: &str) -> Option<&'static str> {
    if name == "*" { Some("*") } else { Element::from_symbol(name).map(Element::symbol) }
}

impl BondOrder {
    /// Every order.
    pub(crate) const ALL: [BondOrder; 6] = [
        BondOrder::Single,
        BondOrder::Double,
        BondOrder::Triple,
        BondOrder::Quadruple,
        BondOrder::Aromatic,
        BondOrder::Other,
    ];

    /// The word that files use for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            BondOrder::Single => "single",
            BondOrder::Double => "double",
            BondOrder::Triple => "triple",
            BondOrder::Quadruple => "quadruple",
            BondOrder::Aromatic => "aromatic",
            BondOrder::Other => "other",
        }
    }

    /// Reads the words and numbers that data sets use for an order.
    pub(crate) fn named(name: &str) -> Option<BondOrder> {
        match name.trim().to_ascii_lowercase().as_str() {
            "1" | "single" => Some(BondOrder::Single),
            "2" | "double" => Some(BondOrder::Double),
            "3" | "triple" => Some(BondOrder::Triple),
            "4" | "quadruple" => Some(BondOrder::Quadruple),
            "1.5" | "aromatic" => Some(BondOrder::Aromatic),
            "other" => Some(BondOrder::Other),
            _ => None,
        }
    }
}
