//! `wringer explain`: what a name in a report means.

use super::show;
use crate::layout::language;
use crate::problem::{Exit, Problem};
use report::explain;

/// Prints what is known of each name; all names where none is given. A name that is not known is told, and keeps none from being
/// explained.
pub fn run(names: &[String]) -> Result<Exit, Problem> {
    if names.is_empty() {
        show::write(&explain::list(language()));
        return Ok(Exit::Ok);
    }
    let known: Vec<String> = names.iter().filter_map(|name| explain::explain_in(name, language())).collect();
    show::write(&known.join("\n"));
    let unknown = names.iter().filter(|name| explain::explain(name).is_none()).map(|name| unknown(name));
    let unknown: Vec<String> = unknown.collect();
    if unknown.is_empty() { Ok(Exit::Ok) } else { Err(Problem::Usage(unknown.join("\n"))) }
}

fn unknown(name: &str) -> String {
    let near = explain::near(name);
    let meant = match near.is_empty() {
        true => String::new(),
        false => format!("; near it: {}", near.join(", ")),
    };
    format!("there is no name {name:?}{meant}; `wringer explain` lists all")
}
