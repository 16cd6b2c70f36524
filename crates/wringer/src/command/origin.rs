//! `wringer origin`: only the origin.

use super::show::{self, Lines, Ran};
use super::{around, dry};
use crate::arguments::repeat;
use crate::problem::{Exit, Problem};
use cli::OriginArgs;
use session::{About, SessionOptions, Sinks};

/// Runs the command until interrupted, or for as long as it was told.
pub fn run(args: &OriginArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    let mut plan = args.plan(crate::arguments::seed_from_clock());
    if let Some(exit) = dry::instead(&args.output, &plan)? {
        return Ok(exit);
    }
    show::can_keep(&args.output)?;
    session::settle(&mut plan)?;
    let listen = plan.origin.as_ref().map(|origin| origin.listen.clone()).unwrap_or_default();
    let around = SessionOptions { ends_after: args.duration, ..SessionOptions::default() };
    let around = around::options(around)?;
    let ready = session::prepare(&plan, &around, false)?;
    show::warn(ready.warnings(), &plan);
    show::notice(&format!("the origin listens at {listen}; Ctrl-C ends it"));
    let seed_option = args.seed.is_none().then_some("--seed");
    let sinks =
        Sinks { live: show::live(&args.output), ..Sinks::default() }.and(show::exports(&args.output.export)?);
    let about = About { door: "origin", command: repeat(&plan, seed_option), sinks, ..About::default() };
    let server = show::serve(&args.output, &about)?;
    let finished = ready.about(about).run(None, &mut Lines::new(&args.output, &plan, true))?;
    Ok(show::report(finished, &Ran { plan: &plan, output: &args.output, server }))
}
