//! Draws every figure in every case of the tests into a folder, as SVG, PNG and one page, to be looked at.
//!
//!     cargo run -p gnan-report --example gallery -- folder

#[path = "../tests/cases/mod.rs"]
mod cases;

use std::path::PathBuf;
use std::{env, fs};

use gnan_report::page;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(env::args().nth(1).ok_or("say into which folder")?);
    fs::create_dir_all(&folder)?;
    let mut scenes = Vec::new();
    for case in cases::all() {
        assert!(!case.words.iter().any(|word| word.is_empty()));
        fs::write(folder.join(format!("{}.svg", case.name)), case.scene.svg())?;
        fs::write(folder.join(format!("{}.png", case.name)), case.scene.png(1.0)?)?;
        fs::write(folder.join(format!("{}.html", case.name)), case.scene.html())?;
        scenes.push(case.scene);
    }
    fs::write(folder.join("all.html"), page::page("Gallery", &scenes))?;
    println!("{} figures in {}", scenes.len(), folder.display());
    Ok(())
}
