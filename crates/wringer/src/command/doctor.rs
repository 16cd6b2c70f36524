//! `wringer doctor`: what limits this machine, judged by a plan or by numbers.

use super::show;
use crate::problem::{Exit, Problem};
use cli::{DoctorArgs, ReadArgs};
use plan::CloseBy;
use session;
use session::doctor::{self, Facts, Need};

/// Runs the command: 0 where nothing blocks, else 1.
pub fn run(args: &DoctorArgs) -> Result<Exit, Problem> {
    let need = need(args)?;
    doctor::raise_descriptors();
    let facts = Facts::read();
    let findings = doctor::judge(&facts, &need);
    match args.json {
        true => show::write(&doctor::json(&facts, &need, &findings)),
        false => show::page(&doctor::text(&need, &findings)),
    }
    let blocked = doctor::worst(&findings) == doctor::Level::Blocks;
    Ok(if blocked { Exit::Impossible } else { Exit::Ok })
}

fn need(args: &DoctorArgs) -> Result<Need, Problem> {
    if let Some(file) = &args.plan {
        let plan = super::plan::runnable(file, &ReadArgs::default())?.plan;
        return Ok(session::need(&plan, args.threads)?);
    }
    doctor::check_sources(&args.sources, &[])?;
    if args.connections == 0 || args.threads == Some(0) {
        let name = if args.connections == 0 { "--connections" } else { "--threads" };
        return Err(Problem::Usage(format!("{name} is 0: give 1 or more")));
    }
    let numbers = Need::of_numbers(u64::from(args.connections), args.connection_rate, args.rate);
    let sources: u64 = args.sources.iter().map(plan::SourceRange::count).sum();
    Ok(Need {
        workers: u64::from(session::threads(args.threads)),
        sources: sources.max(1),
        resets: args.close == CloseBy::Reset,
        loopback: args.loopback,
        ..numbers
    })
}
