//! `wringer explain`: what a name in a report means.

use super::show;
use crate::problem::{Exit, Problem};
use report::explain;

/// Prints what is known of each name; all names where none is given.
pub fn run(names: &[String]) -> Result<Exit, Problem> {
    if names.is_empty() {
        show::write(&explain::list());
        return Ok(Exit::Ok);
    }
    let explained = names.iter().map(|name| explain::explain(name).ok_or_else(|| unknown(name)));
    show::write(&explained.collect::<Result<Vec<_>, _>>()?.join("\n"));
    Ok(Exit::Ok)
}

fn unknown(name: &str) -> Problem {
    let near = explain::near(name);
    let meant = match near.is_empty() {
        true => String::new(),
        false => format!("; near it: {}", near.join(", ")),
    };
    Problem::Usage(format!("there is no name {name:?}{meant}; `wringer explain` lists all"))
}
