//! Sides of a comparison that wringer starts itself: a proxy each, in front of wringer's own origin, and the objects that both are asked for.

use super::cache::CacheArgs;
use super::options::{AskArgs, BehaviourArgs, HeadArgs, PopularityArgs, TracingArgs};
use super::pressed::Target;
use super::rig::{RigArgs, RigPlaceArgs};
use super::site::SiteArgs;
use super::values::assignment;
use super::{Cli, ClientArgs, Command};
use clap::{Args, Parser};
use std::path::PathBuf;

/// Groups of options that say what is sent to URLs and by whom, and nothing to a proxy that wringer starts.
pub(super) const OF_URLS: [&str; 10] = [
    "RequestArgs",
    "TracingArgs",
    "BodyArgs",
    "DataArgs",
    "AwsArgs",
    "ExpectArgs",
    "SessionArgs",
    "ReachArgs",
    "TlsArgs",
    "where",
];

/// Sides that wringer starts.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Sides that wringer starts")]
pub struct SideArgs {
    /// A proxy as a side, started anew for each pair in front of wringer's own origin: ats, nginx, varnish, vinyl,
    /// squid, haproxy, httpd, envoy, souin, h2o or caddy. Given twice, for A and for B, or once where two builds or settings of it are compared. What it is asked for stands behind --
    #[arg(long, value_name = "NAME", conflicts_with_all = OF_URLS, conflicts_with_all = ["sides", "start"])]
    pub rig: Vec<String>,
    /// The same of a proxy that a command of the shell starts, with {listen}, {origin}, {memory} and {dir} as in wringer cache; beside one --rig it is B
    #[arg(long, value_name = "COMMAND", conflicts_with_all = OF_URLS, conflicts_with_all = ["sides", "start"])]
    pub rig_command: Vec<String>,
    /// Folder of a build of the rig: given twice, for A and for B; given once, it is that of B, and A is what is installed
    #[arg(long, value_name = "DIR", requires = "rig")]
    pub from: Vec<PathBuf>,
    /// Setting of the rigs in their own words; A:KEY=VALUE is that of A alone, B:KEY=VALUE that of B. For --rig-command what stands in place of {KEY}
    #[arg(long, value_name = "[SIDE:]KEY=VALUE", value_parser = side_setting)]
    pub rig_set: Vec<SideSetting>,
    /// Size and place of both.
    #[command(flatten)]
    pub place: RigPlaceArgs,
    /// Objects that rigs are asked for: options of wringer cache on requests, popularity, objects and the origin, such as -- --size 10KB --zipf 0.9
    #[arg(last = true, value_name = "WORK")]
    pub work: Vec<String>,
}

/// A setting, of one side or of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideSetting {
    /// 0: of A, 1: of B; `None`: of both.
    pub side: Option<usize>,
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: String,
}

fn side_setting(text: &str) -> Result<SideSetting, String> {
    let (side, rest) = match text.split_once(':') {
        Some(("A", rest)) => (Some(0), rest),
        Some(("B", rest)) => (Some(1), rest),
        Some(_) | None => (None, text),
    };
    let (key, value) = assignment(rest)?;
    Ok(SideSetting { side, key, value })
}

/// A side that wringer starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedSide {
    /// A rig or a command.
    pub target: Target,
    /// The folder of its build; `None`: what is installed.
    pub from: Option<PathBuf>,
    /// Settings that are to be otherwise.
    pub settings: Vec<(String, String)>,
}

/// Options that speak of what wringer starts say nothing of URLs.
fn nothing_is_started(
    what: &str,
    setting: Option<&str>,
    place: &RigPlaceArgs,
    work: &[String],
) -> Result<(), String> {
    let settings = setting.map(|key| format!("--rig-set {key}"));
    let memory = place.cache_memory.map(|_| "--cache-memory".to_owned());
    let origin = place.origin.map(|_| "--origin".to_owned());
    let work = work.first().map(|word| format!("-- {word}"));
    match settings.or(memory).or(origin).or(work) {
        Some(option) => Err(format!(
            "{option}: it is about {what} that wringer starts: give --rig NAME or --rig-command COMMAND"
        )),
        None => Ok(()),
    }
}

/// A command line of `wringer cache` whose clients behave as these.
fn pressed_by(clients: &ClientArgs, mut cache: CacheArgs) -> Result<CacheArgs, String> {
    cache.load = clients.load.clone();
    cache.version = clients.version.clone();
    cache.check()?;
    Ok(cache)
}

impl StartedSide {
    /// In words, with what tells it from others of its kind.
    pub fn name(&self) -> String {
        let of = match &self.target {
            Target::Rig { name, .. } => name.clone(),
            Target::Command(command) => format!("`{command}`"),
            Target::Proxy(address) => address.clone(),
            Target::Demonstration => "the demonstration cache".to_owned(),
        };
        let from = self.from.iter().map(|from| format!("from {}", from.display()));
        let settings = self.settings.iter().map(|(key, value)| format!("{key}={value}"));
        let all: Vec<String> = from.chain(settings).collect();
        if all.is_empty() { of } else { format!("{of} ({})", all.join(", ")) }
    }
}

/// Options of `wringer cache` that say what is asked for, and how the origin answers.
#[derive(Debug, Parser)]
#[command(name = "--", no_binary_name = true, disable_help_flag = true)]
struct Work {
    #[command(flatten)]
    _head: HeadArgs,
    #[command(flatten)]
    _ask: AskArgs,
    #[command(flatten)]
    _tracing: TracingArgs,
    #[command(flatten)]
    _popularity: PopularityArgs,
    #[command(flatten)]
    _site: SiteArgs,
    #[command(flatten)]
    _behaviour: BehaviourArgs,
}

impl SideArgs {
    /// Both sides, where wringer starts them; `None`: they run already.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn sides(&self) -> Result<Option<[StartedSide; 2]>, String> {
        let rig = |name: &String| Target::Rig { name: name.clone(), workers: self.place.rig_workers };
        let rigs = self.rig.iter().map(rig);
        let targets: Vec<Target> =
            rigs.chain(self.rig_command.iter().map(|command| Target::Command(command.clone()))).collect();
        let targets = match targets.as_slice() {
            [] => {
                let setting = self.rig_set.first().map(|setting| setting.key.as_str());
                return nothing_is_started("sides", setting, &self.place, &self.work).map(|()| None);
            }
            [one] if !self.from.is_empty() || self.rig_set.iter().any(|setting| setting.side.is_some()) => {
                [one.clone(), one.clone()]
            }
            [_] => {
                return Err("there is only one side: give --rig or --rig-command twice, or what differs, --from for a \
                            build or --rig-set B:KEY=VALUE for a setting"
                    .to_owned());
            }
            [a, b] => [a.clone(), b.clone()],
            more => return Err(format!("a comparison has two sides, and these are {}", more.len())),
        };
        let from = self.builds(&targets)?;
        let settings = [0, 1].map(|side| self.settings_of(side));
        let [a, b] = targets;
        let [from_a, from_b] = from;
        let [of_a, of_b] = settings;
        let sides = [
            StartedSide { target: a, from: from_a, settings: of_a },
            StartedSide { target: b, from: from_b, settings: of_b },
        ];
        for side in &sides {
            side.cache_args(&self.work, &self.place)?.check()?;
        }
        Ok(Some(sides))
    }

    /// The build of each side.
    fn builds(&self, targets: &[Target; 2]) -> Result<[Option<PathBuf>; 2], String> {
        let is_one_kind = || targets[0] == targets[1];
        match self.from.as_slice() {
            [] => Ok([None, None]),
            _ if targets.iter().any(|target| !matches!(target, Target::Rig { .. })) => {
                Err("--from: a command starts what it says: write the folder into the command of --rig-command"
                    .to_owned())
            }
            [b] if is_one_kind() => Ok([None, Some(b.clone())]),
            [_] => Err("--from: given once it is B's build, with A the installed one of the same kind: give it twice, for A and for B"
                .to_owned()),
            [a, b] => Ok([Some(a.clone()), Some(b.clone())]),
            more => Err(format!("--from: a comparison has two sides, and these are {} folders", more.len())),
        }
    }

    fn settings_of(&self, side: usize) -> Vec<(String, String)> {
        let own = self.rig_set.iter().filter(|setting| setting.side.is_none_or(|of| of == side));
        own.map(|setting| (setting.key.clone(), setting.value.clone())).collect()
    }

    /// A side as `wringer cache` would press it.
    ///
    /// # Errors
    /// Options that do not fit together, or one behind `--` that is none of these.
    pub(super) fn cache(&self, side: &StartedSide, clients: &ClientArgs) -> Result<CacheArgs, String> {
        pressed_by(clients, side.cache_args(&self.work, &self.place)?)
    }
}

impl StartedSide {
    fn cache_args(&self, work: &[String], place: &RigPlaceArgs) -> Result<CacheArgs, String> {
        let refused = |error: clap::Error| {
            format!(
                "behind -- stand options of wringer cache on requests, popularity, objects and the origin:\n{}",
                error.render().to_string().trim_end()
            )
        };
        Work::try_parse_from(work).map_err(refused)?;
        let words = ["wringer", "cache", "--fill"].into_iter().map(str::to_owned);
        let cli = Cli::read(words.chain(work.iter().cloned())).map_err(refused)?;
        let Command::Cache(cache) = cli.command else { unreachable!("the command is cache") };
        let mut cache = *cache;
        let started = &mut cache.started;
        match &self.target {
            Target::Rig { name, .. } => started.rig = Some(name.clone()),
            Target::Command(command) => started.rig_command = Some(command.clone()),
            Target::Proxy(_) | Target::Demonstration => {}
        }
        started.from.clone_from(&self.from);
        started.rig_set.clone_from(&self.settings);
        started.place = place.clone();
        Ok(cache)
    }
}

/// A proxy that wringer starts, where one is looked at.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Proxy that wringer starts")]
#[command(mut_arg("rig", |arg| arg.conflicts_with_all(OF_URLS).conflicts_with("urls")))]
#[command(mut_arg("rig_command", |arg| arg.conflicts_with_all(OF_URLS).conflicts_with("urls")))]
pub struct ProxyArgs {
    /// The proxy, started once for all trials.
    #[command(flatten)]
    pub started: RigArgs,
    /// Objects that the rig is asked for: options of wringer cache on requests, popularity, objects and the origin, such as -- --size 10KB --zipf 0.9
    #[arg(last = true, value_name = "WORK")]
    pub work: Vec<String>,
}

impl ProxyArgs {
    /// The proxy as people read it; `None`: none is started.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn started(&self) -> Result<Option<StartedSide>, String> {
        let RigArgs { from, rig_set, place, .. } = &self.started;
        match self.started.target(None) {
            Target::Demonstration => {
                let setting = rig_set.first().map(|(key, _)| key.as_str());
                nothing_is_started("a proxy", setting, place, &self.work).map(|()| None)
            }
            target => Ok(Some(StartedSide { target, from: from.clone(), settings: rig_set.clone() })),
        }
    }

    /// The proxy as `wringer cache` would press it.
    ///
    /// # Errors
    /// Options that do not fit together, or one behind `--` that is none of these.
    pub(super) fn cache(&self, side: &StartedSide, clients: &ClientArgs) -> Result<CacheArgs, String> {
        pressed_by(clients, side.cache_args(&self.work, &self.started.place)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(line: &str) -> Result<Option<[StartedSide; 2]>, String> {
        let words = ["wringer", "compare"].into_iter().chain(line.split_whitespace());
        match Cli::read(words).map_err(|error| error.to_string())?.command {
            Command::Compare(args) => args.started.sides(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn two_kinds_two_builds_and_two_settings() {
        for (line, a, b) in [
            ("--rig ats --rig varnish", "ats", "varnish"),
            ("--rig ats --from /old --from /new", "ats (from /old)", "ats (from /new)"),
            ("--rig ats --from /new", "ats", "ats (from /new)"),
            ("--rig ats --rig ats --from /new", "ats", "ats (from /new)"),
            ("--rig nginx --rig-set B:access_log=off", "nginx", "nginx (access_log=off)"),
            (
                "--rig nginx --rig-set A:x=1 --rig-set B:x=2 --rig-set y=a:b",
                "nginx (x=1, y=a:b)",
                "nginx (x=2, y=a:b)",
            ),
            ("--rig nginx --rig-command {listen}{origin}", "nginx", "`{listen}{origin}`"),
            ("--rig ats --rig varnish --seed 5 -- --size 1KB --zipf 0.9", "ats", "varnish"),
        ] {
            let [found_a, found_b] =
                sides(line).unwrap_or_else(|said| panic!("{line}: {said}")).expect("sides");
            assert_eq!((found_a.name().as_str(), found_b.name().as_str()), (a, b), "{line}");
        }
        assert_eq!(sides("http://h:1/ http://h:2/"), Ok(None));
    }

    #[test]
    fn what_is_no_pair_of_sides_is_refused() {
        for (line, said) in [
            ("--rig ats", "only one side"),
            ("--rig ats --rig-set x=1", "only one side"),
            ("--rig a --rig b --rig c", "these are 3"),
            ("--rig ats --rig nginx --from /x", "give it twice"),
            ("--rig ats --rig-command {listen}{origin} --from /a --from /b", "into the command"),
            ("--rig ats --from a --from b --from c", "3 folders"),
            ("--rig-command {listen} --rig-command {listen}{origin}", "{origin}"),
            ("--rig ats --rig nginx http://h/ http://g/", "cannot be used with"),
            ("--rig ats --rig nginx -H a:b", "cannot be used with"),
            ("--rig ats --rig nginx --traceparent 1", "cannot be used with"),
            ("--rig ats --rig nginx --cookies", "cannot be used with"),
            ("--rig ats --rig nginx -- --rate 5", "behind --"),
            ("--rig ats --rig nginx -- --size x", "behind --"),
            ("--rig ats --rig nginx -- h:1", "behind --"),
            ("http://h:1/ http://h:2/ --cache-memory 64MB", "sides that wringer starts"),
            ("http://h:1/ http://h:2/ -- --zipf 1", "sides that wringer starts"),
            ("http://h:1/ http://h:2/ --rig-set B:x=1", "sides that wringer starts"),
        ] {
            let found = sides(line).map(|_| ());
            assert!(found.as_ref().is_err_and(|text| text.contains(said)), "{line}: {found:?}");
        }
    }
}
