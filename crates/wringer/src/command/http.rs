//! `wringer http`: a web server pressed by the clients alone.

use super::show::{self, Lines, Ran};
use crate::problem::{Exit, Problem};
use crate::session::{self, Surroundings};
use doors::native::HttpArgs;

/// Runs the command.
pub fn run(args: &HttpArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    let plan = args.plan(super::seed_from_clock());
    if args.output.show_plan {
        show::write(&plan.to_text());
        return Ok(Exit::Fine);
    }
    show::can_keep(&args.output)?;
    let around = Surroundings { watch_pids: args.watch.pids.clone(), ..Surroundings::default() };
    let ready = session::prepare(&plan, &around, false)?;
    show::warn(ready.warnings());
    let target = args.requests.proxy.clone().unwrap_or_else(|| args.urls.join(", "));
    show::notice(&format!("pressing {target}"));
    let finished = ready.run(&[], &mut Lines::new(&args.output, &plan, false))?;
    let seed_option = args.load.seed.is_none().then_some("--seed");
    show::report(&finished, &Ran { plan: &plan, target: Some(target), output: &args.output, seed_option })
}
