//! `wringer plan new`: plans to begin with, commented, or made of requests that somebody has already.

use super::{foreign, show};
use crate::problem::{Exit, Problem};
use cli::{NewArgs, PrintArgs, ReadArgs, Start};
use plan::TextForm;
use std::path::Path;

/// Prints a plan to begin with.
///
/// # Errors
/// There is no such plan and no such file, or nothing in it can be sent.
pub fn print(args: &NewArgs) -> Result<Exit, Problem> {
    let Some(start) = Start::named(&args.kind) else { return of_file(args) };
    foreign::only_here(Path::new(&args.kind), &args.foreign)?;
    if let Some((name, _)) = args.set.first() {
        return Err(Problem::Usage(format!(
            "--set {name} is for files; {} is a plan to be edited",
            args.kind
        )));
    }
    show::write(match start {
        Start::Http => include_str!("start/http.toml"),
        Start::Cache => include_str!("start/cache.toml"),
        Start::Tcp => include_str!("start/tcp.toml"),
        Start::Journey => include_str!("start/journey.toml"),
    });
    Ok(Exit::Ok)
}

fn of_file(args: &NewArgs) -> Result<Exit, Problem> {
    let file = Path::new(&args.kind);
    let Some(text) = foreign::text(file) else {
        let there = if file.is_file() { "is there, and is none of these" } else { "is not there" };
        return Err(Problem::Usage(format!(
            "there is no plan {}: give http, cache, tcp or journey, or an OpenAPI description, a collection of Postman's, vegeta's \
             targets or an .http file (such a file {there}); a recording (.har) is taken by wringer plan convert",
            args.kind
        )));
    };
    let read = ReadArgs { set: args.set.clone(), foreign: args.foreign.clone(), ..ReadArgs::default() };
    foreign::convert(&PrintArgs { file: file.to_owned(), to: TextForm::Toml, read }, &text)
}
