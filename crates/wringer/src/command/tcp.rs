//! `wringer tcp`: a service pressed with TCP messages.

use super::show::{self, Lines, Ran};
use super::{around, dry, fleet};
use crate::problem::{Exit, Problem};
use cli::TcpArgs;
use session::SessionOptions;

/// Runs the command.
pub fn run(args: &TcpArgs) -> Result<Exit, Problem> {
    let plan = args.plan(crate::arguments::seed_from_clock()).map_err(Problem::Usage)?;
    let plan = args.output.held_to(args.keep.applied(plan));
    if let Some(exit) = dry::instead(&args.output, &plan)? {
        return Ok(exit);
    }
    show::can_keep(&args.output)?;
    let around = SessionOptions {
        fleet: fleet::asked(&args.fleet)?,
        ready: args.load.wait.ready,
        ..around::watching(&args.watch)
    };
    let around = around::options(around)?;
    let ready = session::prepare(&plan, &around, false)?;
    show::warn(ready.warnings(), &plan);
    let probe = "one connection more, without a message, has asked whether anybody listens";
    show::notice(&format!("pressing {} ({probe})", args.target));
    let seed_option = args.load.seed.is_none().then_some("--seed");
    let about = show::about(
        "tcp",
        &plan,
        Some(args.target.clone()),
        &show::ShowAsked { output: &args.output, keep: &args.keep, seed_option },
    )?;
    let server = show::serve(&args.output, &about)?;
    let finished = ready.about(about).run(None, &mut Lines::new(&args.output, &plan, false))?;
    Ok(show::report(finished, &Ran { plan: &plan, output: &args.output, server }))
}
