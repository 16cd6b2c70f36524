//! `wringer fit`: laws out of a recording, each with its error, as text, as options and as a plan.

mod told;

use super::replay::open;
use super::show;
use crate::output;
use crate::problem::{Exit, Problem};
use cli::{FitArgs, FitFigure};
use plan::{
    Delay, Http, Load, ObjectStep, Origin, Pace, Phase, Plan, Protocol, Scenario, Site, Step, Stop, TextForm,
};
use recording::fit::{Fit, FitError, fit};
use report::show::percent;

const PLAN: &str = "the plan";
const RESULT: &str = "the result";
/// Most requests under way in the plan.
const IN_FLIGHT: u32 = 10_000;

/// Runs the command.
pub fn run(args: &FitArgs) -> Result<Exit, Problem> {
    args.output.as_deref().map_or(Ok(()), |file| output::can_keep(PLAN, file))?;
    args.json.as_deref().map_or(Ok(()), |file| output::can_keep(RESULT, file))?;
    let to_stdout =
        [&args.json, &args.output].into_iter().flatten().filter(|file| output::is_stdout(file)).count();
    if to_stdout > 1 {
        return Err(Problem::Usage(
            "--output - and --json - would both write to standard output: give one of them a file".to_owned(),
        ));
    }
    let mut recording = open(&args.recording, args.salvage)?;
    let found = fit(&mut recording, args.seed).map_err(|error| match error {
        FitError::Read(_) | FitError::Few(_) | FitError::Short(_) => {
            Problem::Impossible(format!("{}: {error}", args.recording.display()))
        }
    })?;
    let told = told::Told {
        args,
        fit: &found,
        summary: recording.summary(),
        salvaged: recording.salvaged().filter(|salvage| !salvage.is_whole()),
    };
    if to_stdout == 0 {
        show::page(&told.text());
    }
    if let Some(file) = &args.json {
        output::keep(RESULT, file, told.json().as_bytes())?;
    }
    if let Some(file) = &args.output {
        let form = TextForm::of_name(&file.to_string_lossy());
        let text = plan(args, &found).to_brief_text_as(form).map_err(Problem::Impossible)?;
        output::keep(PLAN, file, text.as_bytes())?;
    }
    Ok(judged(args, &found))
}

fn error_of(fit: &Fit, of: FitFigure) -> f64 {
    match of {
        FitFigure::HitCurve => fit.curve.error(),
        FitFigure::Size => fit.sizes.error,
        FitFigure::Rate => fit.rate.error,
    }
}

fn judged(args: &FitArgs, fit: &Fit) -> Exit {
    let over = args.fail_if.iter().filter(|limit| error_of(fit, limit.of) > limit.most);
    let mut exit = Exit::Ok;
    for limit in over {
        let is = percent(error_of(fit, limit.of));
        let most = percent(limit.most);
        output::notice(&format!("wringer: the error of {} is {is}, more than {most}", limit.of.name()));
        exit = Exit::Wrong;
    }
    exit
}

/// A plan of the laws: clients for a proxy, and its origin.
fn plan(args: &FitArgs, fit: &Fit) -> Plan {
    let stages = fit.rate.stages.clone();
    let step = ObjectStep {
        popularity: fit.popularity.law.clone(),
        range: fit.shares.range,
        revalidate: fit.shares.revalidate,
        reload: fit.shares.reload,
        abort: fit.shares.abort,
        ..ObjectStep::default()
    };
    let phase = Phase {
        name: "measure".to_owned(),
        scenario: Scenario::of(vec![Step::Object(step)]),
        stop: Stop { after: Some(plan::Stage::sum(&stages)), ..Stop::default() },
        pace: Pace::Stages { stages, arrivals: fit.rate.arrivals, in_flight: IN_FLIGHT },
        ..Phase::default()
    };
    let http = Http { authority: args.origin.to_string(), ..Http::default() };
    let usual = Site::default();
    Plan {
        version: Plan::VERSION,
        seed: args.seed,
        threads: None,
        io: plan::Io::Auto,
        site: Site {
            size: fit.sizes.law,
            lifetime: fit.lifetimes.law.unwrap_or(usual.lifetime),
            private: fit.lifetimes.private,
            no_store: fit.lifetimes.no_store,
            ..usual
        },
        load: Some(Load {
            target: Some(args.target.clone()),
            protocol: Protocol::Http(http),
            phases: vec![phase],
            ..Load::default()
        }),
        origin: Some(Origin {
            listen: args.origin.to_string(),
            delay: fit.delays.map_or(Delay::None, |delays| delays.law()),
            ..Origin::default()
        }),
    }
}
