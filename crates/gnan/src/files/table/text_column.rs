//! The cells of a column, still text.

/// The words for a missing value. `Na` is not among them: it is sodium.
pub const MISSING_WORDS: [&str; 11] = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "#N/A", "None", "?"];

/// The cells of one column, trimmed.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    /// The column's name.
    pub name: String,
    /// Whether the file declares these as words, even where they look like numbers.
    pub words: bool,
    /// The levels, where they are declared; every cell is one of them or missing.
    pub levels: Option<Vec<String>>,
    /// Whether they are levels, whatever they look like.
    pub categorical: bool,
    /// The unit, where the file declares it.
    pub unit: Option<&'static str>,
    text: String,
    ends: Vec<usize>,
}

impl TextColumn {
    /// A column without cells.
    pub fn new(name: impl Into<String>) -> TextColumn {
        TextColumn { name: name.into().trim().to_string(), ..TextColumn::default() }
    }

    /// Adds a cell.
    pub fn push(&mut self, cell: &str) {
        self.text.push_str(cell.trim());
        self.ends.push(self.text.len());
    }

    /// Adds empty cells until there are `rows`.
    pub fn fill(&mut self, rows: usize) {
        self.ends.resize(rows.max(self.ends.len()), self.text.len());
    }

    /// Makes room for so many cells.
    pub fn reserve(&mut self, rows: usize) {
        self.ends.reserve_exact(rows);
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The cell of a row.
    pub fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[row]]
    }

    /// The cell of each row.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

/// Whether a cell is one of the words for a missing value.
pub fn is_missing(cell: &str) -> bool {
    MISSING_WORDS.contains(&cell)
}
