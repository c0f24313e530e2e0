//! Functional groups: the parts of a molecule that chemists have names for. Every atom belongs to exactly one, so that what
//! atoms contribute can be summed by group.
//!
//! The rules are tried in their order, atom by atom; a group takes the atoms that make it and leaves those that it is
//! attached to. What no rule takes is an aromatic ring, the rest of a ring, or a chain.

mod carbonyls;
mod oxides;

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
            Self::nitrogen_oxide,
            Self::nitrogen_chain,
            Self::sulphur_oxide,
            Self::phosphorus,
            Self::halogen_oxide,
            Self::other_oxide,
            Self::boron,
            Self::peroxide,
            Self::carbon_alone,
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

    /// Neighbours of an element, whether or not a group has them, and whatever the bond.
    fn neighbours(&self, atom: usize, element: &str) -> Vec<usize> {
        self.around[atom].iter().map(|(other, _)| *other).filter(|other| self.is(*other, element)).collect()
    }

    /// Neighbours of an element that are free and not aromatic.
    fn plain_neighbours(&self, atom: usize, element: &str) -> Vec<usize> {
        let is_plain = |other: &usize| !self.taken[*other] && !self.aromatic(*other);
        self.neighbours(atom, element).into_iter().filter(is_plain).collect()
    }

    fn charge(&self, atom: usize) -> i8 {
        self.molecule.atoms[atom].charge
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

    /// Other double and triple bonds.
    fn multiple(&mut self, atom: usize) {
        if self.aromatic(atom) {
            // The oxygen of a ring that is aromatic as a whole, as in caffeine.
            let [oxygens, sulphurs] = ["O", "S"].map(|element| self.bonded(atom, element, BondOrder::Double));
            self.take("carbonyl oxygen on a ring", oxygens);
            return self.take("thiocarbonyl sulphur on a ring", sulphurs);
        }
        let nitrile = self.bonded(atom, "N", BondOrder::Triple);
        let alkyne = self.bonded(atom, "C", BondOrder::Triple);
        match self.molecule.atoms[atom].element {
            "C" if !nitrile.is_empty() => {
                let is_isocyanide = self.around[atom].len() == 1 && self.around[nitrile[0]].len() > 1;
                self.take(if is_isocyanide { "isocyanide" } else { "nitrile" }, [atom].into_iter().chain(nitrile));
            }
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
        if let [oxygen, ..] = self.bonded(atom, "O", BondOrder::Single)[..] {
            return self.take("hydroxylamine", [atom, oxygen]);
        }
        let on_ring = self.around[atom].iter().any(|(other, _)| self.aromatic(*other));
        let name = match (self.molecule.atoms[atom].charge > 0, self.hydrogens[atom], on_ring) {
            (true, ..) => "ammonium",
            _ if self.around[atom].is_empty() => "ammonia",
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
        let on_carbon =
            self.around[atom].iter().any(|(other, order)| self.is(*other, "C") && *order == BondOrder::Single);
        let name = match self.molecule.atoms[atom].element {
            "O" if neighbours == 0 => match self.hydrogens[atom] {
                0 => return,
                1 => "hydroxide",
                _ => "water",
            },
            "O" if neighbours > 1 => "ether",
            "O" if on_ring && on_carbon => "phenol hydroxyl",
            "O" if on_carbon => "hydroxyl (alcohol)",
            "O" if self.hydrogens[atom] > 0 || self.charge(atom) < 0 => {
                let on = self.molecule.atoms[self.around[atom][0].0].element;
                return self.take(&format!("hydroxyl on {on}"), [atom]);
            }
            "S" if neighbours == 0 => "sulphide",
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
            ("C=C", vec!["alkene"]),
            ("c1ccc2ccccc2c1", vec!["fused aromatic rings"]),
            ("[Na+].[Cl-]", vec!["Na atom", "chlorine"]),
            ("[H][H]", vec!["hydrogen", "hydrogen"]),
        ] {
            assert_eq!(names(smiles), expected, "{smiles}");
        }
    }

    /// Oxygen is an alcohol on carbon alone.
    #[test]
    fn oxides_are_no_alcohols() {
        for (smiles, expected) in [
            ("O", vec!["water"]),
            ("[OH-].[Na+]", vec!["hydroxide", "Na atom"]),
            ("O=C=O", vec!["carbon dioxide"]),
            ("[C-]#[O+]", vec!["carbon monoxide"]),
            ("S=C=S", vec!["carbon disulphide"]),
            ("O=C=S", vec!["carbonyl sulphide"]),
            ("C=C=O", vec!["ketene"]),
            ("C=O", vec!["aldehyde"]),
            ("O=O", vec!["oxygen"]),
            ("OO", vec!["hydrogen peroxide"]),
            ("[O-][O+]=O", vec!["chain of oxygens"]),
            ("COOC", vec!["alkyl carbons", "peroxide", "alkyl carbons"]),
            ("COO", vec!["alkyl carbons", "hydroperoxide"]),
            ("CC(=O)OO", vec!["alkyl carbons", "acyl group", "hydroperoxide"]),
            ("[O-][n+]1ccccc1", vec!["N-oxide", "aromatic ring with N"]),
            ("C[N+](C)(C)[O-]", vec!["alkyl carbons", "N-oxide", "alkyl carbons", "alkyl carbons"]),
            ("CC=[N+](C)[O-]", vec!["alkyl carbons", "nitrone", "alkyl carbons"]),
            ("C[N+]([O-])=NC", vec!["alkyl carbons", "azoxy group", "alkyl carbons"]),
            ("CC#[N+][O-]", vec!["alkyl carbons", "nitrile oxide"]),
            ("C[N+]#[C-]", vec!["alkyl carbons", "isocyanide"]),
            ("CC=NO", vec!["alkyl carbons", "oxime"]),
            ("CN=O", vec!["alkyl carbons", "nitroso group"]),
            ("CNO", vec!["alkyl carbons", "hydroxylamine"]),
            ("CC(=O)NO", vec!["alkyl carbons", "amide", "hydroxyl on N"]),
            ("CO[N+](=O)[O-]", vec!["alkyl carbons", "nitrate"]),
            ("[O-][N+](=O)[O-]", vec!["nitrate"]),
            ("CON=O", vec!["alkyl carbons", "nitrite"]),
            ("[O-]Cl(=O)(=O)=O", vec!["perchlorate"]),
            ("[O-][Cl+3]([O-])([O-])[O-]", vec!["perchlorate"]),
            ("OCl(=O)=O", vec!["chlorate"]),
            ("[O-]Br(=O)=O", vec!["bromate"]),
            ("[O-]Cl", vec!["hypochlorite"]),
            ("O=I(=O)c1ccccc1", vec!["iodine oxo group", "benzene ring"]),
            ("O=[Se](O)O", vec!["Se oxo group", "hydroxyl on Se", "hydroxyl on Se"]),
            ("N", vec!["ammonia"]),
        ] {
            assert_eq!(names(smiles), expected, "{smiles}");
        }
    }

    #[test]
    fn acids_of_sulphur_and_phosphorus_keep_their_oxygens() {
        for (smiles, expected) in [
            ("OS(=O)O", vec!["sulphurous acid or ester"]),
            ("[O-]S(=O)[O-]", vec!["sulphurous acid or ester"]),
            ("COS(=O)OC", vec!["alkyl carbons", "sulphurous acid or ester", "alkyl carbons"]),
            ("OS(=O)(=O)O", vec!["sulphate"]),
            ("[O-]S(=O)(=O)[O-]", vec!["sulphate"]),
            ("COS(=O)(=O)[O-]", vec!["alkyl carbons", "sulphate"]),
            ("CS(=O)(=O)O", vec!["alkyl carbons", "sulphonic acid or ester"]),
            ("CS(=O)O", vec!["alkyl carbons", "sulphinic acid or ester"]),
            ("CS(=O)[O-]", vec!["alkyl carbons", "sulphinic acid or ester"]),
            ("CS(C)=O", vec!["alkyl carbons", "sulphoxide", "alkyl carbons"]),
            ("CS(C)(=O)=O", vec!["alkyl carbons", "sulphone", "alkyl carbons"]),
            ("CS(=O)(=O)Cl", vec!["alkyl carbons", "sulphonyl halide"]),
            ("NS(=O)(=O)O", vec!["sulphamic acid or ester"]),
            ("NS(N)(=O)=O", vec!["sulphamide"]),
            ("O=S=O", vec!["sulphur dioxide"]),
            ("O=S(=O)=O", vec!["sulphur trioxide"]),
            ("CP(=O)(O)O", vec!["alkyl carbons", "phosphonic acid or ester"]),
            ("CP(C)(=O)O", vec!["alkyl carbons", "phosphinic acid or ester", "alkyl carbons"]),
            ("CP(C)(C)=O", vec!["alkyl carbons", "phosphine oxide", "alkyl carbons", "alkyl carbons"]),
            ("CP(C)C", vec!["alkyl carbons", "phosphine", "alkyl carbons", "alkyl carbons"]),
            ("OP(O)(O)=O", vec!["phosphate"]),
            ("COP(=O)(O)OP(=O)(O)O", vec!["alkyl carbons", "phosphate", "phosphate"]),
            ("COP(=S)(OC)OC", vec!["alkyl carbons", "thiophosphate", "alkyl carbons", "alkyl carbons"]),
            ("OP(O)O", vec!["phosphorous acid or ester"]),
        ] {
            assert_eq!(names(smiles), expected, "{smiles}");
        }
    }

    #[test]
    fn a_carbonyl_group_on_nitrogen_or_sulphur_is_no_ketone() {
        for (smiles, expected) in [
            ("CC(=O)NS(C)(=O)=O", vec!["alkyl carbons", "acyl group", "sulphonamide", "alkyl carbons"]),
            ("CC(=O)SC", vec!["alkyl carbons", "thioester", "alkyl carbons"]),
            ("CC(=O)n1cccc1", vec!["alkyl carbons", "acyl group", "aromatic ring with N"]),
            ("CC(=O)NC(N)=O", vec!["alkyl carbons", "acyl urea"]),
            ("CC(=O)NC(N)=S", vec!["alkyl carbons", "acyl thiourea"]),
            ("NC(=O)NC(N)=O", vec!["biuret"]),
            ("NC(=O)NC(=O)OC", vec!["allophanate", "alkyl carbons"]),
            ("NC(=O)OC", vec!["carbamate", "alkyl carbons"]),
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
