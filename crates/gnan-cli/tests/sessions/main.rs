//! The command as people use it: every test is a session at a shell, in a folder of its own.

mod bands;
mod browser;
mod catalogue;
mod checks;
mod config;
mod constraints;
mod contract;
mod convert;
mod demo;
mod dense;
mod desk;
#[cfg(unix)]
mod examples;
mod explain;
mod families;
#[cfg(target_os = "linux")]
mod interrupt;
mod figures;
mod pairs;
mod distances;
mod large;
mod links;
mod memory;
mod options;
mod predict;
mod search;
mod untidy;
mod walk;
