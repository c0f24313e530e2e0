//! Units of the columns of tables that are known by their header.

/// Columns of QM9, as MoleculeNet has them (Wu et al., 2018), with their units.
const QM9: [(&str, &str); 21] = [
    ("mol_id", ""),
    ("smiles", ""),
    ("A", "GHz"),
    ("B", "GHz"),
    ("C", "GHz"),
    ("mu", "Debye"),
    ("alpha", "Bohr^3"),
    ("homo", "Hartree"),
    ("lumo", "Hartree"),
    ("gap", "Hartree"),
    ("r2", "Bohr^2"),
    ("zpve", "Hartree"),
    ("u0", "Hartree"),
    ("u298", "Hartree"),
    ("h298", "Hartree"),
    ("g298", "Hartree"),
    ("cv", "cal/(mol K)"),
    ("u0_atom", "kcal/mol"),
    ("u298_atom", "kcal/mol"),
    ("h298_atom", "kcal/mol"),
    ("g298_atom", "kcal/mol"),
];

/// The units of a table's columns, if its header is known.
pub fn units<'a>(header: impl Iterator<Item = &'a str>) -> &'static [(&'static str, &'static str)] {
    if header.eq(QM9.iter().map(|(name, _)| *name)) { &QM9[2..] } else { &[] }
}
