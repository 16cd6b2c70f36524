//! The binary: wires everything together, prints, exits, handles signals, starts rigs. The only place that knows
//! everybody. Start reading at [`main`]; a command is a file in `command/`, and a run is `session/`.

mod command;
mod layout;
mod log;
mod runs;
mod serve;
mod settings;

use cli::{Cli, CliSettings, Command, FleetCommand, Lang, PlanCommand, Read};
use console::{Exit, Problem, arguments, limits, output, problem, signals, tui};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use tools::Tool;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    Lang::of_line(&args, |name| std::env::var_os(name)).choose();
    let args = match command::guided::line(args) {
        Ok(args) => args,
        Err(exit) => return output::conclude(exit).into(),
    };
    limits::set(limits::Limits { refuse: settings::refuse, confined: settings::confined });
    let result = match door(&args) {
        Some((door, rest)) => log::begin(None).and_then(|()| (door.run)(rest)),
        None => match asked_for_help(&args) {
            Some(door) => Ok(door.help()),
            None => native(&args),
        },
    };
    let exit = result.unwrap_or_else(|problem| {
        output::notice(&format!("wringer: {problem}"));
        problem.exit()
    });
    output::conclude(exit).into()
}

/// The door that a command line opens: by the name it was called with, or by its first word.
fn door(args: &[OsString]) -> Option<(&'static Tool, &[OsString])> {
    let named = |word: &OsString| tools::named(Path::new(word).file_name()?.to_str()?);
    let by_name = args.first().and_then(named).map(|door| (door, &args[1..]));
    by_name.or_else(|| args.get(1).and_then(named).map(|door| (door, &args[2..])))
}

/// `wringer help jtest`: the door describes itself.
fn asked_for_help(args: &[OsString]) -> Option<&'static Tool> {
    args.get(1).filter(|word| *word == "help")?;
    tools::named(args.get(2)?.to_str()?)
}

fn native(args: &[OsString]) -> Result<Exit, Problem> {
    let read = |settings: &CliSettings| {
        command::manual::with_around(Lang::chosen(), |around| Cli::read_with(args, around, settings))
    };
    // Help needs no defaults, and is not kept from anybody by a mistake in them.
    let read = match read(&CliSettings::default()) {
        Ok(_) => read(&settings::held()?.settings),
        Err(said) => Err(said),
    };
    match read {
        Ok(read) => run(read),
        Err(said) => {
            let printed = said.print();
            if said.use_stderr() {
                return Ok(Exit::Usage);
            }
            output::remember(printed);
            Ok(Exit::Ok)
        }
    }
}

fn run(read: Read) -> Result<Exit, Problem> {
    arguments::made(read.words);
    log::begin(read.cli.log.as_deref())?;
    read.left_out.iter().for_each(|what| output::notice(&format!("note: --curl: left out: {what}")));
    if !matches!(read.cli.command, Command::Config { .. }) {
        let unknown = &settings::held()?.settings.unknown;
        unknown
            .iter()
            .for_each(|name| output::notice(&format!("warning: no option of wringer is called {name}")));
    }
    match read.cli.command {
        Command::Cache(args) => command::cache::run(&args),
        Command::Http(args) => command::http::run(&args),
        Command::Compare(args) => command::compare::run(&args),
        Command::Find(args) => command::find::run(&args),
        Command::Size(args) => command::size::run(&args),
        Command::Stress(args) => command::stress::run(&args),
        Command::Probe(args) => command::probe::run(&args),
        Command::Arena(args) => command::arena::run(&args),
        Command::Tcp(args) => command::tcp::run(&args),
        Command::Origin(args) => command::origin::run(&args),
        Command::Run(args) => command::plan::run(&args),
        Command::Plan(PlanCommand::Show(args)) => command::plan::show(&args),
        Command::Plan(PlanCommand::Check { file, read, against }) => {
            command::plan::check(&file, &read, &against)
        }
        Command::Plan(PlanCommand::Convert(args)) => command::plan::convert(&args),
        Command::Plan(PlanCommand::New(args)) => command::start::print(&args),
        Command::Plan(PlanCommand::Schema) => Ok(command::plan::schema()),
        Command::Record(args) => command::record::run(&args),
        Command::Capture(args) => command::capture::run(&args),
        Command::Replay(args) => command::replay::run(&args),
        Command::Fit(args) => command::fit::run(&args),
        Command::Config { command } => command::config::run(command.as_deref()),
        Command::Fleet(FleetCommand::Run(args)) => command::fleet::run(&args),
        Command::Fleet(FleetCommand::Check { plan, fleet }) => command::fleet::check(plan.as_deref(), &fleet),
        Command::Fleet(FleetCommand::Collect { run, into, fleet }) => {
            command::fleet::collect(run.as_deref(), &into, &fleet)
        }
        Command::Fleet(FleetCommand::Print(what)) => Ok(command::fleet::print(&what)),
        Command::Agent(args) => command::fleet::agent(&args),
        Command::Doctor(args) => command::doctor::run(&args),
        Command::Runs(args) => command::runs::run(&args),
        Command::Report(args) => command::report::run(&args),
        Command::Serve(args) => command::serve::run(&args),
        Command::Rig(args) => command::rig::run(&args),
        Command::Explain { names } => command::explain::run(&names),
        Command::Schema { of } => Ok(command::schema::print(of)),
        Command::Mcp => command::mcp::run(),
        Command::Links { dir } => command::links::make(&dir),
        Command::Completions { shell } => Ok(command::manual::completions(shell)),
        Command::ManPages { dir } => command::manual::pages(&dir),
        Command::RigGuard { folder } => {
            proxies::rig::guard::run(&folder);
            Ok(Exit::Ok)
        }
        Command::DemoCache { listen, origin, memory } => command::demo_cache(listen, origin, memory),
    }
}
