//! The figures as a table for people and as JSON for programs, with the machine they belong to.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::Options;
use super::measure::{Spread, verdict};
use super::sample::{Figures, Sample};
use super::{doors, engine, http2, journeys, messages, seeing};
use crate::{Result, shell};

/// Bound of the origin beside nginx with a file.
const BOUND_ORIGIN: f64 = 0.8;
/// Ours that does what the other tools do: answers of one size out of the proxy's memory.
const LIKE_PEERS: &str = "cache hits ats";

/// The machine and the programs that the figures belong to.
pub struct Machine {
    lines: Vec<(&'static str, String)>,
}

/// How each program says its version; some say it on standard error, some with an exit code.
const VERSIONS: [(&str, &str); 11] = [
    ("traffic_server", "-V"),
    ("nginx", "-v"),
    ("varnishd", "-V"),
    ("haproxy", "-v"),
    ("ab", "-V"),
    ("wrk", "-v"),
    ("h2load", "--version"),
    ("nghttpd", "--version"),
    ("hey", ""),
    ("siege", "-V"),
    ("redis-server", "--version"),
];

impl Machine {
    pub fn look(wringer: &Path) -> Self {
        let mut lines = vec![
            ("date", one_line(Command::new("date").arg("--iso-8601=seconds"))),
            (
                "commit",
                one_line(
                    Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(crate::root()),
                ),
            ),
            ("wringer", one_line(Command::new(wringer).arg("--version"))),
            ("binary", wringer.display().to_string()),
            ("kernel", one_line(Command::new("uname").args(["-s", "-r", "-m"]))),
            ("cpu", cpu_model()),
            (
                "cores",
                std::thread::available_parallelism().map_or_else(|_| "?".into(), |cores| cores.to_string()),
            ),
            ("load", load_average()),
        ];
        // hey does not tell its version.
        let known = VERSIONS
            .iter()
            .filter(|(program, argument)| !argument.is_empty() && shell::find(program).is_some());
        lines.extend(known.map(|(program, argument)| (*program, version(program, argument))));
        Self { lines }
    }

    pub fn print(&self) {
        for (name, value) in &self.lines {
            println!("{name:15} {value}");
        }
    }

    fn json(&self) -> Value {
        self.lines.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
    }
}

fn version(program: &str, argument: &str) -> String {
    let Some(path) = shell::find(program) else { return "not installed".into() };
    // siege writes its settings to the home folder, even for this.
    let Ok(home) = tempfile::tempdir() else { return "?".into() };
    one_line(Command::new(path).arg(argument).env("HOME", home.path()))
}

/// The first line that it writes, wherever it writes it.
fn one_line(command: &mut Command) -> String {
    let Ok(output) = command.stdin(std::process::Stdio::null()).output() else { return "?".into() };
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text)
        .lines()
        .map(str::trim)
        .find(|line| is_telling(line))
        .unwrap_or("?")
        .to_owned()
}

/// siege begins with what it did to the home folder.
fn is_telling(line: &str) -> bool {
    !line.is_empty() && !line.starts_with("New configuration") && !line.starts_with("Run siege -C")
}

fn cpu_model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        text.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(": "));
    model.map_or("?", |(_, model)| model).to_owned()
}

/// Other work on the machine makes every figure higher, so it belongs beside them.
fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<_> = text.split_whitespace().take(3).collect();
    let is_busy = averages.first().and_then(|load| load.parse::<f64>().ok()).is_some_and(|load| load > 0.5);
    averages.join(" ") + if is_busy { " (the machine is busy: figures are too high)" } else { "" }
}

/// Cases, ratios and verdicts.
pub fn print(rounds: &[Vec<Sample>]) {
    let (cpu, others): (Vec<&str>, Vec<&str>) =
        cases(rounds).into_iter().partition(|case| is_about_cpu(rounds, case));
    println!(
        "\n{:35}{:>8} {:>8} {:>8}  {:>8} {:>9}  {:>6}",
        "µs of CPU per request", "min", "median", "max", "/s", "p99 µs", "bound"
    );
    cpu.into_iter().for_each(|case| print_case(rounds, case, true));
    if !others.is_empty() {
        println!("\n{:35}{:>8} {:>8} {:>8}  {:>6}", "other figures", "min", "median", "max", "bound");
        others.into_iter().for_each(|case| print_case(rounds, case, false));
    }
    println!("\n{:50}{:>8} {:>8} {:>8}  {:>6}", "ratio, within a round", "min", "median", "max", "bound");
    for ratio in ratios(rounds) {
        let row = spread_text(ratio.spread);
        println!("{:50}{row}{}", ratio.name, verdict_text(ratio.spread, ratio.bound));
    }
}

fn print_case(rounds: &[Vec<Sample>], case: &str, is_about_cpu: bool) {
    let Some(spread) = spread(rounds, case) else {
        println!("{case:35} failed in every round");
        return;
    };
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0}"));
    let speed = || {
        let rate = shown(median(rounds, case, Figures::requests_per_s));
        let p99 = shown(median(rounds, case, |figures| figures.p99_us));
        format!("  {rate:>8} {p99:>9}")
    };
    let speed = if is_about_cpu { speed() } else { String::new() };
    println!("{case:35}{}{speed}{}", spread_text(spread), verdict_text(spread, bound(rounds, case)));
}

fn spread_text(spread: Spread) -> String {
    format!("{:8.2} {:8.2} {:8.2}", spread.min, spread.median, spread.max)
}

fn verdict_text(spread: Spread, bound: Option<f64>) -> String {
    bound.map_or_else(String::new, |bound| format!("  {bound:6.2}  {}", verdict(spread, bound)))
}

/// How many runs gave no figure.
pub fn failures(rounds: &[Vec<Sample>]) -> usize {
    rounds.iter().flatten().filter(|sample| sample.value.is_err()).count()
}

/// Writes all samples and what was made of them.
pub fn save(file: &Path, machine: &Machine, options: &Options, rounds: &[Vec<Sample>]) -> Result<()> {
    let (cpu, others): (Vec<&str>, Vec<&str>) =
        cases(rounds).into_iter().partition(|case| is_about_cpu(rounds, case));
    let rows = |cases: Vec<&str>| cases.into_iter().map(|case| case_json(rounds, case)).collect::<Vec<_>>();
    let ratios: Vec<Value> = ratios(rounds).iter().map(Ratio::json).collect();
    let whole = json!({
        "schema": "wringer-bench",
        "schema_version": 1,
        "machine": machine.json(),
        "rounds": options.rounds,
        "seconds": options.time.as_secs(),
        "cpu_us_per_request": rows(cpu),
        "others": rows(others),
        "ratios": ratios,
    });
    let text = format!("{whole:#}\n");
    fs::write(file, text).map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

fn case_json(rounds: &[Vec<Sample>], case: &str) -> Value {
    let samples: Vec<Value> =
        rounds.iter().map(|round| find(round, case).map_or(Value::Null, sample_json)).collect();
    let mut row = spread_json(case, spread(rounds, case), bound(rounds, case));
    row["rounds"] = samples.into();
    row
}

fn sample_json(sample: &Sample) -> Value {
    match (&sample.value, &sample.figures) {
        (Ok(_), Some(figures)) => json!({
            "cpu_us_per_request": figures.cpu_us_per_request(),
            "cpu_s": figures.cpu.total.as_secs_f64(),
            "user_us_per_request": figures.user_us_per_request(),
            "requests": figures.requests,
            "failed": figures.failed,
            "hit_ratio": figures.hit_ratio,
            "requests_per_s": figures.requests_per_s(),
            "p99_us": figures.p99_us,
        }),
        (Ok(value), None) => json!({ "value": value }),
        (Err(problem), _) => json!({ "problem": problem }),
    }
}

fn spread_json(name: &str, spread: Option<Spread>, bound: Option<f64>) -> Value {
    let mut row = json!({ "name": name, "bound": bound });
    if let Some(spread) = spread {
        row["min"] = spread.min.into();
        row["median"] = spread.median.into();
        row["max"] = spread.max.into();
        row["verdict"] = bound.map(|bound| verdict(spread, bound)).into();
    }
    row
}

/// One figure by another of the same round, over the rounds.
struct Ratio {
    name: String,
    spread: Spread,
    bound: Option<f64>,
}

impl Ratio {
    fn json(&self) -> Value {
        spread_json(&self.name, Some(self.spread), self.bound)
    }
}

fn ratios(rounds: &[Vec<Sample>]) -> Vec<Ratio> {
    let peers = cases(rounds).into_iter().filter(|case| case.starts_with("peer "));
    let mut pairs: Vec<(String, String, Option<f64>)> =
        peers.map(|peer| (LIKE_PEERS.to_owned(), peer.to_owned(), None)).collect();
    pairs.push(("server origin".to_owned(), "server nginx".to_owned(), Some(BOUND_ORIGIN)));
    let wanted = engine::ratios()
        .into_iter()
        .chain(http2::ratios())
        .chain(doors::ratios())
        .chain(messages::ratios())
        .chain(journeys::ratios())
        .chain(seeing::ratios());
    pairs.extend(wanted.map(|wanted| (wanted.upper, wanted.lower, wanted.bound)));
    let ratio = |(upper, lower, bound): (String, String, Option<f64>)| {
        let values = rounds.iter().filter_map(|round| Some(cost(round, &upper)? / cost(round, &lower)?));
        let spread = Spread::of(values)?;
        Some(Ratio { name: format!("{upper} / {lower}"), spread, bound })
    };
    pairs.into_iter().filter_map(ratio).collect()
}

/// The names of all cases, sorted, so that each run shows them in the same order.
fn cases(rounds: &[Vec<Sample>]) -> Vec<&str> {
    let mut names: Vec<&str> = rounds.iter().flatten().map(|sample| sample.case.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn find<'a>(round: &'a [Sample], case: &str) -> Option<&'a Sample> {
    round.iter().find(|sample| sample.case == case)
}

fn cost(round: &[Sample], case: &str) -> Option<f64> {
    find(round, case)?.value.as_ref().ok().copied()
}

fn spread(rounds: &[Vec<Sample>], case: &str) -> Option<Spread> {
    Spread::of(rounds.iter().filter_map(|round| cost(round, case)))
}

/// The median of one of the figures over the rounds.
fn median(rounds: &[Vec<Sample>], case: &str, figure: impl Fn(&Figures) -> Option<f64>) -> Option<f64> {
    let values = rounds.iter().filter_map(|round| figure(find(round, case)?.figures.as_ref()?));
    Some(Spread::of(values)?.median)
}

/// True if a case has ever told a CPU time; one that failed always is taken for such a case.
fn is_about_cpu(rounds: &[Vec<Sample>], case: &str) -> bool {
    let mut samples = rounds.iter().filter_map(|round| find(round, case));
    samples.all(|sample| sample.value.is_err() || sample.figures.is_some())
}

fn bound(rounds: &[Vec<Sample>], case: &str) -> Option<f64> {
    rounds.iter().find_map(|round| find(round, case)).and_then(|sample| sample.bound)
}

#[cfg(test)]
mod tests {
    use super::super::measure::Cpu;
    use super::*;
    use std::time::Duration;

    fn sample(case: &str, microseconds: u64) -> Sample {
        let cpu = Cpu { total: Duration::from_micros(microseconds * 100), user: None };
        Sample::new(case, Some(5.0), Ok(Figures { cpu, requests: 100, ..Figures::default() }))
    }

    #[test]
    fn ratios_are_formed_within_a_round() {
        let rounds = [
            vec![sample("cache hits ats", 5), sample("peer wrk", 10)],
            vec![sample("peer wrk", 40), sample("cache hits ats", 10)],
            vec![sample("cache hits ats", 9)],
        ];
        let ratios = ratios(&rounds);
        assert_eq!(ratios.len(), 1);
        assert_eq!(ratios[0].spread, Spread { min: 0.25, median: 0.375, max: 0.5 });
    }

    #[test]
    fn what_failed_is_kept_apart() {
        let failed = Sample::new("peer ab", Some(5.0), Err("gone".into()));
        let rounds = [vec![failed], vec![sample("peer ab", 3)]];
        assert_eq!(failures(&rounds), 1);
        let row = case_json(&rounds, "peer ab");
        assert_eq!(row["median"], 3.0);
        assert_eq!(row["verdict"], "met");
        assert_eq!(row["rounds"][0]["problem"], "gone");
    }
}
