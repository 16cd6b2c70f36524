//! `wringer record`: what a browser does becomes a plan.

use super::{har, show};
use crate::output;
use crate::problem::{Exit, Problem};
use ::har::Recording;
use cli::RecordArgs;
use plan::TextForm;
use proxies::recorder::{self, Options, RecorderError};
use std::path::{Path, PathBuf};

const PLAN: &str = "the plan";

/// Records until it is stopped, and writes the plan.
pub fn run(args: &RecordArgs) -> Result<Exit, Problem> {
    output::can_keep(PLAN, &args.output)?;
    let recorded = recorder::record(&Options {
        listen: args.listen,
        duration: args.duration,
        folder: args.ca_dir.clone().map_or_else(folder, Ok)?,
        upstream_ca: args.upstream_ca.clone(),
        tell: output::notice,
    });
    let exchanges = recorded.map_err(|error| match error {
        RecorderError::Usage(text) => Problem::Usage(text),
        RecorderError::Impossible(text) => Problem::Impossible(text),
    })?;
    if exchanges.is_empty() {
        return Err(Problem::impossible(
            "nothing was recorded: set the browser's proxy to the address above",
        ));
    }
    let count = exchanges.len();
    let mut recording = Recording { exchanges, left_out: Vec::new() };
    recording.exchanges.sort_by_key(|exchange| exchange.began_ms);
    let converted = recording.journey(&har::choice(&args.recording, args.seed));
    let form = TextForm::of_name(&args.output.to_string_lossy());
    let mut text = converted.plan.to_brief_text_as(form).map_err(Problem::Impossible)?;
    if form != TextForm::Json {
        text = har::comments("what wringer record has seen", &converted.notes) + &text;
    }
    output::keep_private(PLAN, &args.output, text.as_bytes())?;
    if !output::is_stdout(&args.output) {
        let requests =
            converted.plan.load.iter().flat_map(|load| &load.phases).map(|phase| phase.sends().len());
        let kept: usize = requests.sum();
        show::notice(&format!("{kept} of {count} requests are in {}", args.output.display()));
        converted.notes.iter().for_each(|note| show::notice(&format!("  {note}")));
    }
    Ok(Exit::Ok)
}

/// Where the certificate authority is kept.
fn folder() -> Result<PathBuf, Problem> {
    let runs = crate::runs::folder().map_err(|_| {
        Problem::impossible("neither XDG_STATE_HOME nor HOME is set: give a folder with --ca-dir")
    })?;
    Ok(runs.parent().unwrap_or(Path::new(".")).join("recorder"))
}
