//! Molecules from SMILES. The chematic crates do the chemistry (grammar, valences, aromaticity as RDKit perceives it);
//! nothing of them shows outside this file.

use chematic_core::{AtomIdx, BondOrder as ParsedOrder, implicit_hcount};
use chematic_smiles::{parse, rdkit_sanitized_model};

use crate::files::molecule::{Atom, Bond, BondOrder, Molecule};

/// Perceiving rings and aromaticity takes more than linear time, so larger molecules are taken as written.
const MOST_ATOMS_PERCEIVED: usize = 2_000;

impl Molecule {
    /// Reads a SMILES. The error is a sentence without a place.
    pub fn parse(smiles: &str) -> Result<Molecule, String> {
        let parsed = parse(smiles).map_err(|error| error.to_string())?;
        let small = parsed.atom_count() <= MOST_ATOMS_PERCEIVED;
        let perceived = if small { rdkit_sanitized_model(&parsed).ok() } else { None };
        let mut place = vec![None; parsed.atom_count()];
        let mut molecule = Molecule { perceived: perceived.is_some(), ..Molecule::default() };
        for (index, atom) in parsed.atoms() {
            let AtomIdx(row) = index;
            let as_written = (atom.aromatic, atom.charge, implicit_hcount(&parsed, index));
            let described = match &perceived {
                Some(model) => model.atoms.get(row as usize).copied().flatten(),
                None => Some(as_written),
            };
            // Perception counts plain hydrogens with the atom they hang on.
            let Some((aromatic, charge, hydrogens)) = described else { continue };
            place[row as usize] = Some(molecule.atoms.len() as u32);
            let element = if atom.wildcard { "*" } else { atom.element.symbol() };
            molecule.atoms.push(Atom { element, charge, hydrogens, aromatic, ring: false });
        }
        for (row, (_, bond)) in parsed.bonds().enumerate() {
            let [Some(one), Some(other)] = [bond.atom1, bond.atom2].map(|AtomIdx(row)| place[row as usize]) else {
                continue;
            };
            let order = perceived.as_ref().and_then(|model| *model.bonds.get(row)?).unwrap_or(bond.order);
            molecule.bonds.push(Bond { atoms: [one, other], order: order.into() });
        }
        molecule.find_rings();
        Ok(molecule)
    }
}

impl From<ParsedOrder> for BondOrder {
    fn from(order: ParsedOrder) -> BondOrder {
        match order {
            ParsedOrder::Single | ParsedOrder::Up | ParsedOrder::Down => BondOrder::Single,
            ParsedOrder::Double => BondOrder::Double,
            ParsedOrder::Triple => BondOrder::Triple,
            ParsedOrder::Quadruple => BondOrder::Quadruple,
            ParsedOrder::Aromatic => BondOrder::Aromatic,
            _ => BondOrder::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(smiles: &str) -> Vec<(&'static str, u8, bool, bool)> {
        let molecule = Molecule::parse(smiles).unwrap();
        molecule.atoms.iter().map(|atom| (atom.element, atom.hydrogens, atom.aromatic, atom.ring)).collect()
    }

    #[test]
    fn both_ways_to_write_benzene_are_the_same_molecule() {
        assert_eq!(Molecule::parse("C1=CC=CC=C1"), Molecule::parse("c1ccccc1"));
        assert_eq!(described("c1ccccc1"), [("C", 1, true, true); 6]);
    }

    #[test]
    fn written_hydrogens_are_counted_not_kept() {
        assert_eq!(described("[H]C([H])([H])[H]"), [("C", 4, false, false)]);
        assert_eq!(described("[NH4+]"), [("N", 4, false, false)]);
    }

    #[test]
    fn only_atoms_on_a_cycle_are_in_a_ring() {
        let ring = |smiles| Molecule::parse(smiles).unwrap().atoms.iter().map(|atom| atom.ring).collect::<Vec<_>>();
        assert_eq!(ring("CC1CC1C"), [false, true, true, true, false]);
        // Two rings joined by a bond: the bond is no ring, its ends are in rings.
        assert_eq!(ring("C1CC1CC1CC1"), [true, true, true, false, true, true, true]);
        // Fused rings share a bond.
        assert_eq!(ring("C1CC2CC2C1"), [true; 6]);
    }
}
