//! `wringer schema`: the JSON Schemas of what is read and written.

use super::show;
use crate::problem::Exit;
use cli::SchemaOf;
use plan::Plan;

/// Prints one.
pub fn print(of: SchemaOf) -> Exit {
    show::write(match of {
        SchemaOf::Plan => Plan::schema(),
        SchemaOf::Report => report::schema::run(),
        SchemaOf::Events => report::schema::event(),
    });
    Exit::Ok
}
