//! Carbon with a double bond to oxygen or sulphur, by what else it is bonded to.

use super::GroupSearch;
use crate::files::molecule::BondOrder;

impl GroupSearch<'_> {
    /// Carbon that has no bonds but to oxygen and sulphur: carbon monoxide and dioxide, and those with sulphur.
    pub(super) fn carbon_alone(&mut self, atom: usize) {
        if !self.is(atom, "C") || self.hydrogens[atom] > 0 {
            return;
        }
        let [double_oxygen, double_sulphur] = ["O", "S"].map(|element| self.bonded(atom, element, BondOrder::Double));
        let triple = self.bonded(atom, "O", BondOrder::Triple);
        let name = match (self.around[atom].len(), double_oxygen.len(), double_sulphur.len(), triple.len()) {
            (1, 1, 0, 0) | (1, 0, 0, 1) => "carbon monoxide",
            (_, 0, 0, 1) => "carbonyl ligand",
            (1, 0, 1, 0) => "carbon monosulphide",
            (2, 2, 0, 0) => "carbon dioxide",
            (2, 1, 1, 0) => "carbonyl sulphide",
            (2, 0, 2, 0) => "carbon disulphide",
            _ => return,
        };
        self.take(name, [atom].into_iter().chain(double_oxygen).chain(double_sulphur).chain(triple));
    }

    /// Carbon of a urea whose nitrogens bear further carbonyl groups, as in barbiturates and hydantoins.
    pub(super) fn acyl_urea(&mut self, atom: usize) {
        let [oxygen, sulphur] = ["O", "S"].map(|element| self.bonded(atom, element, BondOrder::Double));
        let nitrogens = self.bonded(atom, "N", BondOrder::Single);
        let plain = [atom].iter().chain(&nitrogens).all(|atom| !self.aromatic(*atom));
        let [own] = [oxygen.as_slice(), &sulphur].concat()[..] else { return };
        if !self.is(atom, "C") || nitrogens.len() != 2 || !plain {
            return;
        }
        let (mut acyls, mut amines, mut esters) = (Vec::new(), Vec::new(), Vec::new());
        for nitrogen in &nitrogens {
            for carbon in self.bonded(*nitrogen, "C", BondOrder::Single) {
                let double = self.bonded(carbon, "O", BondOrder::Double);
                if carbon != atom && !double.is_empty() && !self.aromatic(carbon) {
                    acyls.extend([carbon].into_iter().chain(double));
                    let further = |other: &usize| !nitrogens.contains(other);
                    amines.extend(self.plain_neighbours(carbon, "N").into_iter().filter(further));
                    esters.extend(self.bonded(carbon, "O", BondOrder::Single));
                }
            }
        }
        if acyls.is_empty() {
            return;
        }
        let name = match (amines.is_empty(), esters.is_empty()) {
            _ if oxygen.is_empty() => "acyl thiourea",
            (false, _) => "biuret",
            (true, false) => "allophanate",
            (true, true) => "acyl urea",
        };
        self.take(name, [atom, own].into_iter().chain(nitrogens).chain(acyls).chain(amines).chain(esters));
    }

    /// Oxygen or nitrogen between two carbonyl groups: anhydrides and imides.
    pub(super) fn two_carbonyls(&mut self, atom: usize) {
        let element = self.molecule.atoms[atom].element;
        if !matches!(element, "O" | "N") || self.aromatic(atom) {
            return;
        }
        let mut atoms = vec![atom];
        for carbon in self.bonded(atom, "C", BondOrder::Single) {
            let double = self.bonded(carbon, "O", BondOrder::Double);
            let hetero: usize =
                ["O", "N"].map(|element| self.bonded(carbon, element, BondOrder::Single).len()).iter().sum();
            if !double.is_empty() && hetero == 1 && !self.aromatic(carbon) {
                atoms.extend([carbon].into_iter().chain(double));
            }
        }
        if atoms.len() == 5 {
            self.take(if element == "O" { "anhydride" } else { "imide" }, atoms);
        }
    }

    /// Carbon with a double bond to oxygen or sulphur.
    pub(super) fn carbonyl(&mut self, atom: usize) {
        if !self.is(atom, "C") || self.aromatic(atom) {
            return;
        }
        let [oxygen, sulphur] = ["O", "S"].map(|element| self.bonded(atom, element, BondOrder::Double));
        let Some(double) = oxygen.first().or(sulphur.first()).copied() else { return };
        if let [other, ..] = self.bonded(atom, "N", BondOrder::Double)[..] {
            let name = if oxygen.is_empty() { "isothiocyanate" } else { "isocyanate" };
            return self.take(name, [other, atom, double]);
        }
        if let [other, ..] = self.bonded(atom, "C", BondOrder::Double)[..] {
            return self.take("ketene", [other, atom, double]);
        }
        let single = |element| self.bonded(atom, element, BondOrder::Single);
        let plain = |element| single(element).into_iter().filter(|other| !self.aromatic(*other)).collect::<Vec<_>>();
        let (nitrogens, oxygens, sulphurs) = (plain("N"), plain("O"), plain("S"));
        let halogens: Vec<usize> = ["F", "Cl", "Br", "I"].into_iter().flat_map(single).collect();
        // A neighbour that another group has, or an aromatic one: this is no ketone and no aldehyde.
        let on_hetero = self.around[atom].iter().any(|(other, order)| {
            *order == BondOrder::Single && ["O", "N", "S"].iter().any(|element| self.is(*other, element))
        });
        let own = [atom, double];
        let thio = if oxygen.is_empty() { "thio" } else { "" };
        match (nitrogens.as_slice(), oxygens.as_slice()) {
            ([_, _, ..], _) => self.take(&format!("{thio}urea"), own.into_iter().chain(nitrogens)),
            ([nitrogen], [ester, ..]) => {
                self.take(&format!("{thio}carbamate"), own.into_iter().chain([*nitrogen, *ester]))
            }
            ([nitrogen], []) if !sulphurs.is_empty() => {
                let name = if thio.is_empty() { "thiocarbamate" } else { "dithiocarbamate" };
                self.take(name, own.into_iter().chain([*nitrogen]).chain(sulphurs));
            }
            ([nitrogen], []) => self.take(&format!("{thio}amide"), own.into_iter().chain([*nitrogen])),
            ([], [_, _, ..]) => self.take(&format!("{thio}carbonate"), own.into_iter().chain(oxygens)),
            ([], [ester]) if !sulphurs.is_empty() => {
                let name = if thio.is_empty() { "thiocarbonate" } else { "xanthate" };
                self.take(name, own.into_iter().chain([*ester]).chain(sulphurs));
            }
            ([], [acid]) => {
                let is_acid = self.hydrogens[*acid] > 0 || self.charge(*acid) < 0;
                let name = if is_acid { "carboxylic acid" } else { "ester" };
                self.take(&format!("{thio}{name}"), own.into_iter().chain([*acid]));
            }
            ([], []) if !halogens.is_empty() => self.take("acyl halide", own.into_iter().chain(halogens)),
            ([], []) if !sulphurs.is_empty() => {
                let name = if thio.is_empty() { "thioester" } else { "dithioester" };
                self.take(name, own.into_iter().chain(sulphurs));
            }
            ([], []) if !thio.is_empty() => self.take("thiocarbonyl", own),
            ([], []) if on_hetero => self.take("acyl group", own),
            ([], []) if self.hydrogens[atom] > 0 => self.take("aldehyde", own),
            ([], []) => self.take("ketone", own),
        }
    }
}
