//! Nitrogen, sulphur, phosphorus, halogens and other elements with oxygen, and oxygen with oxygen.

use super::GroupSearch;
use crate::files::molecule::BondOrder;

impl GroupSearch<'_> {
    /// Free oxygens that are joined by a double bond, or by a single one and charged.
    fn oxides(&self, atom: usize) -> Vec<usize> {
        let charged = |other: &usize| self.charge(*other) < 0;
        let mut found = self.bonded(atom, "O", BondOrder::Double);
        found.extend(self.bonded(atom, "O", BondOrder::Single).into_iter().filter(charged));
        found
    }

    fn halogens(&self, atom: usize) -> Vec<usize> {
        ["F", "Cl", "Br", "I"].into_iter().flat_map(|element| self.neighbours(atom, element)).collect()
    }

    /// Nitrogen with oxygens: nitro groups, nitrates and what is called an oxide.
    pub(super) fn nitrogen_oxide(&mut self, atom: usize) {
        let oxides = self.oxides(atom);
        if !self.is(atom, "N") || oxides.is_empty() {
            return;
        }
        let (oxygens, bonds) = (self.neighbours(atom, "O"), self.around[atom].len());
        let own = [atom].into_iter();
        match (oxygens.len(), bonds) {
            (3.., _) => return self.take("nitrate", own.chain(oxygens)),
            (2, 2) => return self.take("nitrite", own.chain(oxygens)),
            (2, _) if oxides.len() == 2 => return self.take("nitro group", own.chain(oxygens)),
            _ => {}
        }
        if self.aromatic(atom) {
            // The nitrogen stays in its ring.
            return self.take("N-oxide", oxides);
        }
        let [carbons, nitrogens] = ["C", "N"].map(|element| self.bonded(atom, element, BondOrder::Double));
        let nitrile = self.bonded(atom, "C", BondOrder::Triple);
        match (carbons.as_slice(), nitrogens.as_slice(), nitrile.as_slice()) {
            ([], [], [carbon]) => self.take("nitrile oxide", own.chain([*carbon]).chain(oxides)),
            ([carbon], [], []) if bonds > 2 => self.take("nitrone", own.chain([*carbon]).chain(oxides)),
            ([], [nitrogen], []) => self.take("azoxy group", own.chain([*nitrogen]).chain(oxides)),
            // Nitroso groups, and oximes without their proton, have a bond less.
            ([], [], []) if bonds + self.hydrogens[atom] > 3 => self.take("N-oxide", own.chain(oxides)),
            _ => {}
        }
    }

    /// Sulphur with oxides, by how many bonds it has and how many of them are to oxygen.
    pub(super) fn sulphur_oxide(&mut self, atom: usize) {
        if !self.is(atom, "S") || self.oxides(atom).is_empty() || self.aromatic(atom) {
            return;
        }
        let (oxygens, halogens) = (self.neighbours(atom, "O"), self.halogens(atom));
        let (nitrogens, sulphurs) = (self.plain_neighbours(atom, "N"), self.neighbours(atom, "S"));
        let has_carbon = !self.neighbours(atom, "C").is_empty();
        let imine = self.bonded(atom, "N", BondOrder::Double);
        let is_double = |(_, order): &&(usize, BondOrder)| *order == BondOrder::Double;
        let all_double = self.around[atom].iter().filter(is_double).count() == self.around[atom].len();
        let bonds = self.around[atom].len() + self.hydrogens[atom];
        let mut own = vec![atom];
        own.extend(&oxygens);
        let name = match (bonds, oxygens.len()) {
            (3, 3) if all_double => "sulphur trioxide",
            (2, 2) => "sulphur dioxide",
            (1, 1) => "sulphur monoxide",
            (_, 4..) => "sulphate",
            (4.., 3) if has_carbon => "sulphonic acid or ester",
            (4.., 2 | 3) if !halogens.is_empty() => {
                own.extend(halogens);
                "sulphonyl halide"
            }
            (4.., 3) if !nitrogens.is_empty() => {
                own.extend(nitrogens);
                "sulphamic acid or ester"
            }
            (4.., 3) if !sulphurs.is_empty() => {
                own.extend(sulphurs);
                "thiosulphate"
            }
            (_, 3) => "sulphurous acid or ester",
            (4.., 2) if nitrogens.len() > 1 => {
                own.extend(nitrogens);
                "sulphamide"
            }
            (4.., 2) if !nitrogens.is_empty() => {
                own.extend(nitrogens);
                "sulphonamide"
            }
            (4.., 2) => "sulphone",
            (_, 2) => "sulphinic acid or ester",
            (4.., _) if !imine.is_empty() => {
                own.extend(imine);
                "sulphoximine"
            }
            (_, _) if !nitrogens.is_empty() => {
                own.extend(nitrogens);
                "sulphinamide"
            }
            _ if !halogens.is_empty() => {
                own.extend(halogens);
                "sulphinyl halide"
            }
            _ => "sulphoxide",
        };
        self.take(name, own);
    }

    /// Phosphorus with all its oxygens and sulphurs: a phosphate has four of them and no carbon.
    pub(super) fn phosphorus(&mut self, atom: usize) {
        if !self.is(atom, "P") || self.aromatic(atom) {
            return;
        }
        let [oxygens, sulphurs, carbons] = ["O", "S", "C"].map(|element| self.neighbours(atom, element));
        let nitrogens = self.plain_neighbours(atom, "N");
        let mut own = vec![atom];
        own.extend(oxygens.iter().chain(&sulphurs));
        let name = match (oxygens.len() + sulphurs.len(), carbons.len(), nitrogens.len()) {
            (4.., ..) => "phosphate",
            (3, 1.., _) => "phosphonic acid or ester",
            (2 | 3, 0, 1..) => {
                own.extend(nitrogens);
                "phosphoramidate"
            }
            (3, 0, 0) => "phosphorous acid or ester",
            (2, 1.., _) => "phosphinic acid or ester",
            (1, 1.., 0) => "phosphine oxide",
            (0, 1.., 0) if self.charge(atom) > 0 => "phosphonium",
            (0, 1.., 0) => "phosphine",
            _ => "phosphorus group",
        };
        let name = match (sulphurs.is_empty(), name) {
            (true, _) | (_, "phosphorus group") => name.to_owned(),
            (false, "phosphine oxide") => "phosphine sulphide".to_owned(),
            (false, acid) => format!("thio{acid}"),
        };
        self.take(&name, own);
    }

    /// Halogens with oxygens: hypochlorite to perchlorate, and the like.
    pub(super) fn halogen_oxide(&mut self, atom: usize) {
        let (element, stem) = match self.molecule.atoms[atom].element {
            "Cl" => ("chlorine", "chlor"),
            "Br" => ("bromine", "brom"),
            "I" => ("iodine", "iod"),
            _ => return,
        };
        let oxygens = self.neighbours(atom, "O");
        let alone = self.around[atom].len() == oxygens.len();
        let name = match oxygens.len() {
            0 => return,
            1 if alone => format!("hypo{stem}ite"),
            2 if alone => format!("{stem}ite"),
            3 if alone => format!("{stem}ate"),
            _ if alone => format!("per{stem}ate"),
            _ => format!("{element} oxo group"),
        };
        self.take(&name, [atom].into_iter().chain(oxygens));
    }

    /// Other elements with oxides, such as selenium and metals.
    pub(super) fn other_oxide(&mut self, atom: usize) {
        let oxides = self.oxides(atom);
        let element = self.molecule.atoms[atom].element;
        if !oxides.is_empty() && !matches!(element, "C" | "N" | "O" | "S" | "P" | "B") && !self.aromatic(atom) {
            self.take(&format!("{element} oxo group"), [atom].into_iter().chain(oxides));
        }
    }

    /// Oxygen with oxygen.
    pub(super) fn peroxide(&mut self, atom: usize) {
        if !self.is(atom, "O") || self.aromatic(atom) {
            return;
        }
        let mut found = vec![atom];
        let mut next = 0;
        while let Some(&oxygen) = found.get(next) {
            next += 1;
            let new: Vec<usize> =
                self.plain_neighbours(oxygen, "O").into_iter().filter(|it| !found.contains(it)).collect();
            found.extend(new);
        }
        let ends = found.iter().filter(|oxygen| self.around[**oxygen].len() == 1).count();
        let name = match (found.len(), ends) {
            (1, _) => return,
            (2, _) if !self.bonded(atom, "O", BondOrder::Double).is_empty() => "oxygen",
            (2, 0) => "peroxide",
            (2, 1) => "hydroperoxide",
            (2, _) => "hydrogen peroxide",
            _ => "chain of oxygens",
        };
        self.take(name, found);
    }
}
