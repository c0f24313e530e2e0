//! The paper's protocols: which one belongs to some data, and its result beside the paper's rows.

use std::path::{Path, PathBuf};

use gnan::{Error, Result};
use gnan_paper::catalogue::{self, Entry};
use gnan_paper::reproduce::{Reproduced, Variant};

use crate::style::{BOLD, DIM};
use crate::table::{Align, Table};

/// A data set of the paper on disk.
pub struct Located {
    /// What it is.
    pub entry: &'static Entry,
    /// Where it is.
    pub place: PathBuf,
    /// The folder of data sets that it lies in.
    pub folder: PathBuf,
}

/// Finds out which data set of the paper is meant: by its name, or by the path that it has.
pub fn locate(data: &str) -> Result<Located> {
    let path = Path::new(data);
    let last = |place: &str| place.rsplit('/').next().map(str::to_owned);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_place = |entry: &&Entry| entry.places.iter().any(|place| last(place) == name);
    let lies_there = catalogue::entries().find(is_place).filter(|_| path.components().count() > 1 || path.exists());
    let Some(entry) = lies_there else {
        let names: Vec<&str> = catalogue::entries().map(|entry| entry.name).collect();
        let entry = catalogue::find(data).map_err(|_| {
            Error::usage(format!("\"{data}\" is not a data set of the paper"))
                .with_remedy(format!("its protocols are for {}", names.join(", ")))
        })?;
        let folder = catalogue::folder()?;
        let place = entry.found_in(&folder)?;
        return Ok(Located { entry, place, folder });
    };
    let holds = |folder: &&Path| entry.places.iter().any(|place| folder.join(place) == path);
    let folder = match path.ancestors().skip(1).find(holds) {
        Some(folder) => folder.to_path_buf(),
        None => catalogue::folder()?,
    };
    Ok(Located { entry, place: path.to_path_buf(), folder })
}

/// The paper's rows with ours below them.
pub fn beside_the_paper(result: &Reproduced) -> Table {
    let digits = result.digits();
    let number = |value: f64| format!("{value:.digits$}");
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    let unit = result.unit.unwrap_or(if result.metric.is_share() { "%" } else { "" });
    let heading = format!("{} {unit}", result.metric.label());
    table = table.header(["".to_owned(), heading.trim().to_owned(), "± std".to_owned()]);
    if let Some(paper) = &result.paper {
        for row in &paper.rows {
            table.row([format!("paper: {}", row.model), row.mean.to_string(), row.std.to_string()]);
        }
        table.rule(3);
    }
    let name = match result.variant {
        Variant::Plain => "this model",
        Variant::Described => "this model, nodes described",
    };
    table.styled_row(BOLD, [name.to_owned(), number(result.ours.mean), number(result.ours.std)]);
    let baseline = if result.metric.is_share() { "the largest class" } else { "the mean" };
    table.styled_row(DIM, [baseline.to_owned(), number(result.baseline), String::new()]);
    table
}
