//! Functional groups: the parts of a molecule that chemists have names for. Every atom belongs to exactly one, so that what
//! atoms contribute can be summed by group.
//!
//! The rules are tried in their order, atom by atom; a group takes the atoms that make it and leaves those that it is
//! attached to. What no rule takes is an aromatic ring, the rest of a ring, or a chain.

use super::molecule::{BondOrder, Molecule};

/// A functional group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionalGroup {
    /// What chemists call it.
    pub name: String,
    /// Its atoms, ascending.
    pub atoms: Vec<usize>,
}

impl Molecule {
    /// The functional groups, by their first atoms; none where the orders of bonds are not known.
    pub fn functional_groups(&self) -> Vec<FunctionalGroup> {
        if self.bonds.iter().any(|bond| bond.order == BondOrder::Other) {
            return Vec::new();
        }
        let mut search = GroupSearch::new(self);
        search.find();
        search.groups.sort_by_key(|group| group.atoms[0]);
        search.groups
    }
}

struct GroupSearch<'a> {
    molecule: &'a Molecule,
    /// For every atom its neighbours and the order of the bond, hydrogens left out.
    around: Vec<Vec<(usize, BondOrder)>>,
    /// Hydrogens of every atom, as atoms of their own or not.
    hydrogens: Vec<usize>,
    taken: Vec<bool>,
    groups: Vec<FunctionalGroup>,
}

impl<'a> GroupSearch<'a> {
    fn new(molecule: &'a Molecule) -> GroupSearch<'a> {
        let count = molecule.atoms.len();
        let mut around = vec![Vec::new(); count];
        let mut hydrogens: Vec<usize> = molecule.atoms.iter().map(|atom| usize::from(atom.hydrogens)).collect();
        for bond in &molecule.bonds {
            let [one, other] = bond.atoms.map(|atom| atom as usize);
            for (from, to) in [(one, other), (other, one)] {
                if molecule.atoms[to].element == "H" {
                    hydrogens[from] += 1;
                } else if molecule.atoms[from].element != "H" {
                    around[from].push((to, bond.order));
                }
            }
        }
        GroupSearch { molecule, around, hydrogens, taken: vec![false; count], groups: Vec::new() }
    }

    fn find(&mut self) {
        for rule in [
            Self::nitro,
            Self::nitrogen_chain,
            Self::sulphonyl,
            Self::phosphorus,
            Self::boron,
            Self::acyl_urea,
            Self::two_carbonyls,
            Self::carbonyl,
            Self::multiple,
            Self::nitrogens,
            Self::single,
        ] {
            for atom in 0..self.taken.len() {
                if !self.taken[atom] {
                    rule(self, atom);
                }
            }
        }
        self.rings_and_chains();
        self.give_hydrogens();
    }

    fn is(&self, atom: usize, element: &str) -> bool {
        self.molecule.atoms[atom].element == element
    }

    fn aromatic(&self, atom: usize) -> bool {
        self.molecule.atoms[atom].aromatic || self.around[atom].iter().any(|(_, order)| *order == BondOrder::Aromatic)
    }

    /// Free neighbours of an element by a bond of this order.
    fn bonded(&self, atom: usize, element: &str, order: BondOrder) -> Vec<usize> {
        let wanted =
            |(other, found): &&(usize, BondOrder)| *found == order && self.is(*other, element) && !self.taken[*other];
        self.around[atom].iter().filter(wanted).map(|(other, _)| *other).collect()
    }

    /// Oxygens that are joined by a double bond, or by a single one and charged.
    fn oxides(&self, atom: usize) -> Vec<usize> {
        let charged = |other: &usize| self.molecule.atoms[*other].charge < 0;
        let mut found = self.bonded(atom, "O", BondOrder::Double);
        found.extend(self.bonded(atom, "O", BondOrder::Single).into_iter().filter(charged));
        found
    }

    fn take(&mut self, name: &str, atoms: impl IntoIterator<Item = usize>) {
        let mut atoms: Vec<usize> = atoms.into_iter().filter(|atom| !self.taken[*atom]).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms.iter().for_each(|atom| self.taken[*atom] = true);
        if !atoms.is_empty() {
            self.groups.push(FunctionalGroup { name: name.to_owned(), atoms });
        }
    }

    fn nitro(&mut self, atom: usize) {
        let oxides = self.oxides(atom);
        if self.is(atom, "N") && oxides.len() >= 2 {
            self.take("nitro group", [atom].into_iter().chain(oxides));
        }
    }

    /// Nitrogens in a row of multiple bonds: azides, diazo and diazonium groups.
    fn nitrogen_chain(&mut self, atom: usize) {
        if !self.is(atom, "N") || self.around[atom].len() != 2 || self.aromatic(atom) {
            return;
        }
        let [double, triple] = [BondOrder::Double, BondOrder::Triple].map(|order| self.bonded(atom, "N", order));
        let single = self.bonded(atom, "N", BondOrder::Single);
        let all: Vec<usize> = double.iter().chain(&triple).chain(&single).copied().collect();
        match (double.len(), triple.len(), all.len()) {
            (2, 0, _) | (0, 1, 2) => self.take("azide", [atom].into_iter().chain(all)),
            (0, 1, 1) => self.take("diazonium group", [atom].into_iter().chain(all)),
            (1, 0, 1) if !self.bonded(atom, "C", BondOrder::Double).is_empty() => {
                self.take("diazo group", [atom].into_iter().chain(all));
            }
            _ => {}
        }
    }

    fn boron(&mut self, atom: usize) {
        let oxygens = self.bonded(atom, "O", BondOrder::Single);
        if self.is(atom, "B") && !oxygens.is_empty() && !self.aromatic(atom) {
            let is_acid = oxygens.iter().all(|oxygen| self.hydrogens[*oxygen] > 0);
            let name = if is_acid { "boronic acid" } else { "boronic ester" };
            self.take(name, [atom].into_iter().chain(oxygens));
        }
    }

    /// Carbon of a urea whose nitrogens bear further carbonyl groups, as in barbiturates and hydantoins.
    fn acyl_urea(&mut self, atom: usize) {
        let own = self.bonded(atom, "O", BondOrder::Double);
        let nitrogens = self.bonded(atom, "N", BondOrder::Single);
        let plain = [atom].iter().chain(&nitrogens).all(|atom| !self.aromatic(*atom));
        if !self.is(atom, "C") || own.is_empty() || nitrogens.len() != 2 || !plain {
            return;
        }
        let mut acyls = Vec::new();
        for carbon in nitrogens.iter().flat_map(|nitrogen| self.bonded(*nitrogen, "C", BondOrder::Single)) {
            let double = self.bonded(carbon, "O", BondOrder::Double);
            if carbon != atom && !double.is_empty() && !self.aromatic(carbon) {
                acyls.extend([carbon].into_iter().chain(double));
            }
        }
        if !acyls.is_empty() {
            self.take("acyl urea", [atom].into_iter().chain(own).chain(nitrogens).chain(acyls));
        }
    }

    /// Oxygen or nitrogen between two carbonyl groups: anhydrides and imides.
    fn two_carbonyls(&mut self, atom: usize) {
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

    fn sulphonyl(&mut self, atom: usize) {
        let oxides = self.oxides(atom);
        if !self.is(atom, "S") || oxides.is_empty() || self.aromatic(atom) {
            return;
        }
        let hydroxyls: Vec<usize> = self.bonded(atom, "O", BondOrder::Single);
        let nitrogen = self.bonded(atom, "N", BondOrder::Single).into_iter().find(|other| !self.aromatic(*other));
        let own = [atom].into_iter().chain(oxides.iter().copied());
        match (oxides.len(), nitrogen, hydroxyls.first().copied()) {
            (1, ..) => self.take("sulphoxide", own),
            (_, Some(nitrogen), _) => self.take("sulphonamide", own.chain([nitrogen])),
            (_, None, Some(oxygen)) => self.take("sulphonic acid or ester", own.chain([oxygen])),
            _ => self.take("sulphone", own),
        }
    }

    fn phosphorus(&mut self, atom: usize) {
        if self.is(atom, "P") && !self.aromatic(atom) {
            let oxygens: Vec<usize> =
                self.oxides(atom).into_iter().chain(self.bonded(atom, "O", BondOrder::Single)).collect();
            let name = if oxygens.len() >= 3 { "phosphate" } else { "phosphorus group" };
            self.take(name, [atom].into_iter().chain(oxygens));
        }
    }

    /// Carbon with a double bond to oxygen or sulphur.
    fn carbonyl(&mut self, atom: usize) {
        if !self.is(atom, "C") || self.aromatic(atom) {
            return;
        }
        let [oxygen, sulphur] = ["O", "S"].map(|element| self.bonded(atom, element, BondOrder::Double));
        let Some(double) = oxygen.first().or(sulphur.first()).copied() else { return };
        if let [other, ..] = self.bonded(atom, "N", BondOrder::Double)[..] {
            let name = if oxygen.is_empty() { "isothiocyanate" } else { "isocyanate" };
            return self.take(name, [other, atom, double]);
        }
        let single = |element| self.bonded(atom, element, BondOrder::Single);
        let nitrogens: Vec<usize> = single("N").into_iter().filter(|other| !self.aromatic(*other)).collect();
        let oxygens: Vec<usize> = single("O").into_iter().filter(|other| !self.aromatic(*other)).collect();
        let halogens: Vec<usize> = ["F", "Cl", "Br", "I"].into_iter().flat_map(single).collect();
        let own = [atom, double];
        let thio = if oxygen.is_empty() { "thio" } else { "" };
        match (nitrogens.as_slice(), oxygens.as_slice()) {
            ([_, _, ..], _) => self.take(&format!("{thio}urea"), own.into_iter().chain(nitrogens)),
            ([nitrogen], [ester, ..]) => {
                self.take(&format!("{thio}carbamate"), own.into_iter().chain([*nitrogen, *ester]))
            }
            ([nitrogen], []) => self.take(&format!("{thio}amide"), own.into_iter().chain([*nitrogen])),
            ([], [_, _, ..]) => self.take(&format!("{thio}carbonate"), own.into_iter().chain(oxygens)),
            ([], [acid]) => {
                let is_acid = self.hydrogens[*acid] > 0 || self.molecule.atoms[*acid].charge < 0;
                let name = if is_acid { "carboxylic acid" } else { "ester" };
                self.take(&format!("{thio}{name}"), own.into_iter().chain([*acid]));
            }
            ([], []) if !halogens.is_empty() => self.take("acyl halide", own.into_iter().chain(halogens)),
            ([], []) if !thio.is_empty() => self.take("thiocarbonyl", own),
            ([], []) if self.hydrogens[atom] > 0 => self.take("aldehyde", own),
            ([], []) => self.take("ketone", own),
        }
    }

    /// Other double and triple bonds.
    fn multiple(&mut self, atom: usize) {
        if self.aromatic(atom) {
            // The oxygen of a ring that is aromatic as a whole, as in caffeine.
            let oxygens = self.bonded(atom, "O", BondOrder::Double);
            return self.take("carbonyl oxygen on a ring", oxygens);
        }
        let nitrile = self.bonded(atom, "N", BondOrder::Triple);
        let alkyne = self.bonded(atom, "C", BondOrder::Triple);
        match self.molecule.atoms[atom].element {
            "C" if !nitrile.is_empty() => self.take("nitrile", [atom].into_iter().chain(nitrile)),
            "C" if !alkyne.is_empty() => self.take("alkyne", [atom].into_iter().chain(alkyne)),
            "C" => {
                let imine = self.bonded(atom, "N", BondOrder::Double);
                let alkene = self.bonded(atom, "C", BondOrder::Double);
                if let [nitrogen, ..] = imine[..] {
                    let oxygen = self.bonded(nitrogen, "O", BondOrder::Single);
                    let name = if oxygen.is_empty() { "imine" } else { "oxime" };
                    self.take(name, [atom, nitrogen].into_iter().chain(oxygen));
                } else if let [carbon, ..] = alkene[..]
                    && !self.aromatic(carbon)
                    && !self.molecule.atoms[atom].ring
                {
                    self.take("alkene", [atom, carbon]);
                }
            }
            "N" => {
                let oxide = self.bonded(atom, "O", BondOrder::Double);
                let azo = self.bonded(atom, "N", BondOrder::Double);
                if !oxide.is_empty() {
                    self.take("nitroso group", [atom].into_iter().chain(oxide));
                } else if !azo.is_empty() {
                    self.take("azo group", [atom].into_iter().chain(azo));
                }
            }
            _ => {}
        }
    }

    fn nitrogens(&mut self, atom: usize) {
        if !self.is(atom, "N") || self.aromatic(atom) {
            return;
        }
        let other = self.bonded(atom, "N", BondOrder::Single).into_iter().find(|other| !self.aromatic(*other));
        if let Some(other) = other {
            return self.take("hydrazine", [atom, other]);
        }
        let on_ring = self.around[atom].iter().any(|(other, _)| self.aromatic(*other));
        let name = match (self.molecule.atoms[atom].charge > 0, self.hydrogens[atom], on_ring) {
            (true, ..) => "ammonium",
            (_, 2.., true) => "aromatic primary amine",
            (_, 2.., false) => "primary amine",
            (_, 1, _) => "secondary amine",
            _ => "tertiary amine",
        };
        self.take(name, [atom]);
    }

    /// Oxygen, sulphur and halogens by single bonds.
    fn single(&mut self, atom: usize) {
        if self.aromatic(atom) {
            return;
        }
        let neighbours = self.around[atom].len();
        let on_ring = self.around[atom].iter().any(|(other, _)| self.aromatic(*other));
        let name = match self.molecule.atoms[atom].element {
            "O" if self.hydrogens[atom] > 0 || neighbours < 2 => {
                if on_ring {
                    "phenol hydroxyl"
                } else {
                    "hydroxyl (alcohol)"
                }
            }
            "O" => "ether",
            "S" if self.hydrogens[atom] > 0 || neighbours < 2 => "thiol",
            "S" => "thioether",
            "F" => "fluorine",
            "Cl" => "chlorine",
            "Br" => "bromine",
            "I" => "iodine",
            _ => return,
        };
        self.take(name, [atom]);
    }

    /// What is left: aromatic systems, saturated rings, chains; other elements by their names.
    fn rings_and_chains(&mut self) {
        let mut seen = self.taken.clone();
        for first in 0..self.taken.len() {
            if seen[first] || self.is(first, "H") {
                continue;
            }
            let sort = self.sort_of(first);
            let mut found = vec![first];
            seen[first] = true;
            let mut next = 0;
            while let Some(&atom) = found.get(next) {
                next += 1;
                for (other, _) in &self.around[atom] {
                    if !seen[*other] && self.sort_of(*other) == sort {
                        seen[*other] = true;
                        found.push(*other);
                    }
                }
            }
            let name = match sort {
                Sort::Aromatic => self.name_of_aromatic(&found),
                Sort::Ring => "saturated ring carbons".to_owned(),
                Sort::Chain => "alkyl carbons".to_owned(),
                Sort::Other => format!("{} atom", self.molecule.atoms[first].element),
            };
            self.take(&name, found);
        }
    }

    fn sort_of(&self, atom: usize) -> Sort {
        match () {
            () if self.aromatic(atom) => Sort::Aromatic,
            () if !self.is(atom, "C") => Sort::Other,
            () if self.molecule.atoms[atom].ring => Sort::Ring,
            () => Sort::Chain,
        }
    }

    fn name_of_aromatic(&self, atoms: &[usize]) -> String {
        let mut others: Vec<&str> =
            atoms.iter().map(|atom| self.molecule.atoms[*atom].element).filter(|element| *element != "C").collect();
        others.sort_unstable();
        others.dedup();
        let with = if others.is_empty() { String::new() } else { format!(" with {}", others.join(" and ")) };
        match (atoms.len(), others.is_empty()) {
            (6, true) => "benzene ring".to_owned(),
            (0..=6, _) => format!("aromatic ring{with}"),
            _ => format!("fused aromatic rings{with}"),
        }
    }

    /// Hydrogens that are atoms belong to the group of the atom that they are bonded to.
    fn give_hydrogens(&mut self) {
        for bond in &self.molecule.bonds {
            let [one, other] = bond.atoms.map(|atom| atom as usize);
            for (hydrogen, heavy) in [(one, other), (other, one)] {
                if !self.is(hydrogen, "H") || self.taken[hydrogen] {
                    continue;
                }
                if let Some(group) = self.groups.iter_mut().find(|group| group.atoms.contains(&heavy)) {
                    group.atoms.push(hydrogen);
                    group.atoms.sort_unstable();
                    self.taken[hydrogen] = true;
                }
            }
        }
        let alone: Vec<usize> = (0..self.taken.len()).filter(|atom| !self.taken[*atom]).collect();
        alone.into_iter().for_each(|atom| self.take("hydrogen", [atom]));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Aromatic,
    Ring,
    Chain,
    Other,
}

#[cfg(all(test, feature = "smiles"))]
mod tests {
    use super::*;

    fn names(smiles: &str) -> Vec<String> {
        let molecule = Molecule::parse(smiles).unwrap();
        let groups = molecule.functional_groups();
        let mut atoms: Vec<usize> = groups.iter().flat_map(|group| group.atoms.clone()).collect();
        atoms.sort_unstable();
        assert_eq!(atoms, (0..molecule.atoms.len()).collect::<Vec<_>>(), "every atom is in one group: {smiles}");
        groups.into_iter().map(|group| group.name).collect()
    }

    /// The names are those of any textbook of organic chemistry.
    #[test]
    fn groups_have_the_names_that_chemists_use() {
        for (smiles, expected) in [
            ("CCO", vec!["alkyl carbons", "hydroxyl (alcohol)"]),
            ("Oc1ccccc1", vec!["phenol hydroxyl", "benzene ring"]),
            ("CC(=O)O", vec!["alkyl carbons", "carboxylic acid"]),
            ("CC(=O)OCC", vec!["alkyl carbons", "ester", "alkyl carbons"]),
            ("CC(=O)NC", vec!["alkyl carbons", "amide", "alkyl carbons"]),
            ("O=[N+]([O-])c1ccccc1", vec!["nitro group", "benzene ring"]),
            ("CC#N", vec!["alkyl carbons", "nitrile"]),
            ("CN=[N+]=[N-]", vec!["alkyl carbons", "azide"]),
            ("C=[N+]=[N-]", vec!["alkyl carbons", "diazo group"]),
            ("c1ccccc1[N+]#N", vec!["benzene ring", "diazonium group"]),
            ("CC(=O)OC(C)=O", vec!["alkyl carbons", "anhydride", "alkyl carbons"]),
            ("O=C1CCC(=O)N1", vec!["imide", "saturated ring carbons"]),
            ("O=C1NC(=O)NC(=O)C1", vec!["acyl urea", "saturated ring carbons"]),
            ("O=C1CNC(=O)N1", vec!["acyl urea", "saturated ring carbons"]),
            ("OB(O)c1ccccc1", vec!["boronic acid", "benzene ring"]),
            ("CC=O", vec!["alkyl carbons", "aldehyde"]),
            ("CC(C)=O", vec!["alkyl carbons", "ketone", "alkyl carbons"]),
            ("NS(=O)(=O)c1ccccc1", vec!["sulphonamide", "benzene ring"]),
            ("NC(N)=O", vec!["urea"]),
            ("Clc1ccncc1", vec!["chlorine", "aromatic ring with N"]),
            ("C1CCCCC1", vec!["saturated ring carbons"]),
            ("COC", vec!["alkyl carbons", "ether", "alkyl carbons"]),
            ("CN", vec!["alkyl carbons", "primary amine"]),
            ("Nc1ccccc1", vec!["aromatic primary amine", "benzene ring"]),
            ("CP(=O)(O)O", vec!["alkyl carbons", "phosphate"]),
            ("C=C", vec!["alkene"]),
            ("c1ccc2ccccc2c1", vec!["fused aromatic rings"]),
            ("[Na+].[Cl-]", vec!["Na atom", "chlorine"]),
            ("[H][H]", vec!["hydrogen", "hydrogen"]),
        ] {
            assert_eq!(names(smiles), expected, "{smiles}");
        }
    }

    #[test]
    fn hydrogens_of_their_own_belong_to_their_group() {
        let methanol = Molecule::parse("CO").unwrap().with_hydrogens();
        let groups = methanol.functional_groups();
        assert_eq!(groups.iter().map(|group| group.atoms.len()).collect::<Vec<_>>(), [4, 2]);
    }

    #[test]
    fn without_orders_of_bonds_nothing_is_claimed() {
        let mut molecule = Molecule::parse("CCO").unwrap();
        molecule.bonds[0].order = BondOrder::Other;
        assert!(molecule.functional_groups().is_empty());
    }
}
