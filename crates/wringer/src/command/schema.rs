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
        SchemaOf::Compare => decide::schema::compare(),
        SchemaOf::Find => decide::schema::find(),
        SchemaOf::Size => decide::schema::size(),
        SchemaOf::Stress => decide::schema::stress(),
        SchemaOf::Probe => decide::schema::probe(),
        SchemaOf::Arena => decide::schema::arena(),
        SchemaOf::Capture => recording::schema::capture(),
        SchemaOf::Fit => recording::schema::fit(),
    });
    Exit::Ok
}
