//! `wringer replay`: a recording's requests again, each at its moment.

mod as_origin;
mod follow;

pub use as_origin::{AsOriginArgs, OriginDelay, RenewArg, Sides};
pub use follow::FollowArgs;

use super::http::ClientArgs;
use super::options::{KeepArgs, OutputArgs, TracingArgs, WatchArgs};
use super::values::{at_least_one, count32, field, method, some_share, some_time, url};
use clap::{Args, ValueEnum};
use plan::units;
use plan::{
    Address, AskedList, Field, Http, Http1, Load, Masked, Metric, Moments, ObjectStep, Pace, Phase, Plan,
    Protocol, RequestForm, RequestList, RequestOrder, RequestStep, Scenario, Site, Step, Stop, Threshold,
    Tls, Walks,
};
use std::path::PathBuf;
use std::time::Duration;

/// Most requests under way when nothing is said.
const IN_FLIGHT: u32 = 10_000;

/// A replay that sends less than that of what is due is none, where nobody says otherwise.
const MOST_LOST: &str = "overflow<=1%";

/// Part of the requests of a live copy that may be dropped before they are due, where nobody says otherwise.
pub const MOST_DROPPED: f64 = 0.01;

/// The options of `wringer replay`.
#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// The recording, as wringer capture makes it; with --follow a log that grows, or - for standard input
    #[arg(value_name = "FILE.rec")]
    pub recording: PathBuf,
    /// Where all of its requests go, http://HOST:PORT or https://HOST:PORT; hosts of the log stand in their Host fields, and nobody looks
    /// them up. With --as-origin a proxy in front of the origin
    #[arg(value_name = "URL", value_parser = url)]
    pub url: Option<String>,
    /// Requests that are sent.
    #[command(flatten)]
    pub chosen: ChosenArgs,
    /// An origin that is built from the recording.
    #[command(flatten)]
    pub as_origin: AsOriginArgs,
    /// A log that is followed while it grows.
    #[command(flatten)]
    pub follow: FollowArgs,
    /// Requests may reach a real origin: by URL itself, or because the proxy there passes them on
    #[arg(long, help_heading = "Replay")]
    pub real_origin: bool,
    /// Most requests under way; what is due beyond is counted as overflow, and the next ones keep their moments [default: 10k]
    #[arg(long, value_name = "N", value_parser = count32, help_heading = "Replay")]
    pub in_flight: Option<u32>,
    /// Read what is whole of a damaged recording
    #[arg(long, help_heading = "Replay")]
    pub salvage: bool,
    /// Field added to each request
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE", value_parser = field, help_heading = "Requests")]
    pub headers: Vec<Field>,
    /// Traces that they take part in.
    #[command(flatten)]
    pub tracing: TracingArgs,
    /// Clients that send them.
    #[command(flatten)]
    pub clients: ClientArgs,
    /// Processes watched beside wringer.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Output that is printed and kept.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Storage of the run: whether it is kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// Which requests of a recording are sent, and when.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Replay")]
pub struct ChosenArgs {
    /// Time runs so many times as fast: gaps shrink, and lifetimes do not
    #[arg(long, value_name = "K", default_value = "1", value_parser = factor)]
    pub speed: f64,
    /// So many times the users: copies of them, each moved by an amount of its own; 2.5 copies half of them once more
    #[arg(long, value_name = "K", default_value = "1", value_parser = factor)]
    pub multiply: f64,
    /// Copies come later by up to so much
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = units::duration)]
    pub shift: Duration,
    /// Share of the users whose requests are sent
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = some_share)]
    pub sample_users: f64,
    /// Share of the objects that are asked for
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = some_share)]
    pub sample_objects: f64,
    /// Begin with this moment of the recording, from its first request on
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = units::duration)]
    pub from: Duration,
    /// End with this moment of the recording
    #[arg(long, value_name = "DURATION", value_parser = some_time)]
    pub to: Option<Duration>,
    /// Send what is due within so long
    #[arg(long, short = 'd', value_name = "DURATION", value_parser = some_time)]
    pub duration: Option<Duration>,
    /// Send so many requests at most
    #[arg(long, short = 'n', value_name = "N", value_parser = at_least_one)]
    pub requests: Option<u64>,
    /// When requests are due: due, at their recorded moments, answered or not; think, a recorded pause after the user's last answer
    #[arg(long, value_name = "HOW", default_value = "due")]
    pub gaps: GapsArg,
    /// Send all of it so often, one time after the other
    #[arg(long = "loop", value_name = "N", default_value = "1", value_parser = at_least_one)]
    pub passes: u64,
    /// Send what is due within so long first, without measuring it
    #[arg(long, value_name = "SPAN", value_parser = some_time)]
    pub warm: Option<Duration>,
    /// Methods that are sent; others than GET and HEAD change things, and need --unsafe
    #[arg(long, value_name = "LIST", default_value = "GET,HEAD", value_delimiter = ',', value_parser = method)]
    pub methods: Vec<String>,
    /// Send methods that may change things at the other end
    #[arg(long = "unsafe")]
    pub changing: bool,
    /// Send only requests whose host and path match this regular expression
    #[arg(long, value_name = "RE")]
    pub only: Option<String>,
    /// Send no requests whose host and path match this regular expression
    #[arg(long, value_name = "RE")]
    pub except: Option<String>,
}

/// When requests are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum GapsArg {
    /// At their recorded moments.
    #[default]
    Due,
    /// A recorded pause after the user's last answer.
    Think,
}

/// Requests and their moments.
#[derive(Debug, Clone, Default)]
pub struct Replayed {
    /// Requests that are sent before, to warm up; they may be none.
    pub warm: Timed,
    /// Requests that are measured.
    pub measured: Timed,
    /// Its users and their pauses, where these say when requests are due.
    pub walks: Option<Walks>,
}

/// A list with its moments.
#[derive(Debug, Clone, Default)]
pub struct Timed {
    /// The requests, in the order in which they are due.
    pub sent: ReplaySent,
    /// When they are due.
    pub moments: Moments,
}

/// Requests that are sent.
#[derive(Debug, Clone)]
pub enum ReplaySent {
    /// Requests for URLs.
    Requests(RequestList),
    /// Requests for objects of an origin that is built from the recording.
    Objects(AskedList),
    /// Requests for URLs of a live copy, none of which is known yet.
    Live(Box<RequestStep>),
}

impl Default for ReplaySent {
    fn default() -> ReplaySent {
        ReplaySent::Requests(RequestList::default())
    }
}

impl Timed {
    /// How many there are.
    fn count(&self) -> u64 {
        match &self.sent {
            ReplaySent::Requests(requests) => requests.len() as u64,
            ReplaySent::Objects(asked) => asked.count(),
            ReplaySent::Live(_) => 0,
        }
    }

    /// A phase that sends it.
    fn phase(self, in_flight: u32) -> Phase {
        let count = self.count();
        let step = match self.sent {
            ReplaySent::Requests(requests) => {
                Step::Requests(RequestStep { requests, order: RequestOrder::Loop, ..RequestStep::default() })
            }
            ReplaySent::Objects(asked) => Step::Object(ObjectStep { asked, ..ObjectStep::default() }),
            ReplaySent::Live(step) => Step::Requests(*step),
        };
        Phase {
            name: "measure".to_owned(),
            scenario: Scenario::of(vec![step]),
            pace: Pace::Recorded { at_us: self.moments, in_flight },
            stop: Stop { requests: Some(count), ..Stop::default() },
            ..Phase::default()
        }
    }
}

/// A phase whose users walk their parts of a list.
fn walked(timed: Timed, walks: Walks) -> Phase {
    let mut phase = timed.phase(IN_FLIGHT);
    for step in phase.scenario.sends_mut() {
        if let Step::Requests(step) = step {
            step.order = RequestOrder::PerUser;
        }
    }
    phase.pace = Pace::Walks { users: u32::try_from(walks.users()).unwrap_or(u32::MAX), walks };
    phase.stop = Stop::default();
    phase
}

/// A factor by which something grows or shrinks.
fn factor(text: &str) -> Result<f64, String> {
    let read = text.trim().parse::<f64>().ok().filter(|factor| (1e-3..=1e4).contains(factor));
    read.ok_or_else(|| format!("'{text}' is no factor from 0.001 to 10000, such as 2 or 0.5"))
}

impl ReplayArgs {
    /// Checks that the options fit together.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        let chosen = &self.chosen;
        self.check_follow()?;
        if let Some(method) = chosen.methods.iter().find(|method| !matches!(method.as_str(), "GET" | "HEAD"))
            && !chosen.changing
        {
            return Err(format!(
                "--methods has {method}, which may change things at the other end: give --unsafe too if it may"
            ));
        }
        if chosen.to.is_some_and(|to| to <= chosen.from) {
            return Err("--to does not come after --from: nothing would be sent".to_owned());
        }
        if chosen.gaps == GapsArg::Think {
            if self.in_flight.is_some() {
                return Err("--in-flight has no place beside --gaps think, where each user has one request under way: leave it out"
                    .to_owned());
            }
            if chosen.warm.is_some() {
                return Err("--warm would cut users in two, whose pauses count from their last answer: leave it out, or --gaps think"
                    .to_owned());
            }
        }
        let names_host = |field: &&Field| field.name.eq_ignore_ascii_case("host");
        if let Some(field) = self.headers.iter().find(names_host).filter(|_| self.as_origin.as_origin) {
            return Err(format!(
                "-H 'Host: {}': a request has one Host field, and with --as-origin it is the origin's: leave it out",
                field.value.shown()
            ));
        }
        let address = self.address()?;
        if let Some(address) = address.as_ref().filter(|address| !matches!(address.path.as_str(), "" | "/")) {
            return Err(format!(
                "{} has a path: the paths are those of the recording, so give http://HOST:PORT alone",
                address.text
            ));
        }
        let secure = self.speaks_tls(address.as_ref());
        if let Some(option) = self.clients.tls.given().filter(|_| !secure) {
            return Err(format!("{option} is about TLS, which is not spoken: give an https:// URL"));
        }
        self.clients.version.check(secure)?;
        if self.clients.load.grace.is_some() {
            return Err("--grace is for runs that end by time: here answers are waited for until --timeout; leave it out"
                .to_owned());
        }
        if self.as_origin.as_origin {
            return self.check_as_origin();
        }
        match &self.url {
            None => Err("nobody is named to send the requests to: give URL, or --as-origin for an origin that is built from the recording"
                .to_owned()),
            Some(_) if self.real_origin => Ok(()),
            Some(url) => Err(format!(
                "what answers at {}, or the proxy there passes requests on to, may be production, and these are copies of its live \
                 traffic: give --real-origin if it may have them, or --as-origin for an origin that is built from the recording",
                Masked::address(url)
            )),
        }
    }

    /// Where all requests go.
    ///
    /// # Errors
    /// It is no such address.
    pub fn address(&self) -> Result<Option<Address>, String> {
        let read = |url: &String| {
            let refused = || format!("{} is no http:// or https:// URL", Masked::address(url));
            Address::parse(url).ok_or_else(refused)
        };
        self.url.as_ref().map(read).transpose()
    }

    /// The plan; `seed` is taken where none was given. `sides`: those of the proxy, where the origin is built from the recording.
    ///
    /// # Errors
    /// As of [`ReplayArgs::address`].
    pub fn plan(&self, seed: u64, replayed: Replayed, sides: Option<&Sides>) -> Result<Plan, String> {
        let address = self.address()?;
        let clients = &self.clients;
        let turns = || clients.version.turns();
        let in_flight = self.most_under_way(IN_FLIGHT);
        let measured = match replayed.walks {
            None => replayed.measured.phase(in_flight),
            Some(walks) => walked(replayed.measured, walks),
        };
        let measured = Phase { http: turns(), ..measured };
        let measured = if self.follow.follow { self.live(measured) } else { measured };
        let warm = Some(replayed.warm).filter(|warm| warm.count() > 0).map(|warm| Phase {
            name: "warm-up".to_owned(),
            measured: false,
            http: turns(),
            ..warm.phase(in_flight)
        });
        let usual = Http::default();
        let http = Http {
            requests_per_connection: Some(clients.load.keep_alive).filter(|requests| *requests > 0),
            close: clients.load.close,
            resend: clients.load.resend.unwrap_or_default(),
            fields: self.headers.clone(),
            traceparent: self.tracing.traceparent,
            authority: sides
                .map_or(usual.authority, |sides| crate::cache::reachable(sides.origin).to_string()),
            tls: self.speaks_tls(address.as_ref()).then(|| self.tls()),
            h2: clients.version.http2(),
            h3: clients.version.http3(),
            h1: Http1 { form: RequestForm::Reverse, ..Http1::default() },
            ..Http::default()
        };
        let to = address.map(|address| format!("{}:{}", address.authority_host(), address.port));
        let load = Load {
            target: sides.map(|sides| sides.proxy.clone()).or(to),
            protocol: Protocol::Http(http),
            sources: clients.load.sources.clone(),
            limits: clients.load.limits(),
            phases: warm.into_iter().chain([measured]).collect(),
            ..Load::default()
        };
        Ok(Plan {
            version: Plan::VERSION,
            seed: clients.load.seed.unwrap_or(seed),
            threads: clients.load.threads,
            io: clients.load.io,
            site: sides.map_or_else(Site::default, |sides| self.as_origin.site(sides)),
            load: Some(load),
            origin: sides.map(Sides::origin),
        })
    }

    /// The plan with the conditions that its run is held to: those that were typed, and where none of them says how much of what is due
    /// may be left unsent, that nearly all of it is sent.
    #[must_use]
    pub fn held_to(&self, plan: Plan) -> Plan {
        let mut plan = self.output.held_to(self.keep.applied(plan));
        // Nothing is due where users wait for their answers.
        let is_due = self.chosen.gaps == GapsArg::Due && !self.says_what_may_be_lost();
        if let Some(load) = plan.load.as_mut().filter(|_| is_due) {
            load.require.extend(Threshold::parse(MOST_LOST));
        }
        plan
    }

    /// True if a condition says how much of what is due may be left unsent.
    pub fn says_what_may_be_lost(&self) -> bool {
        let OutputArgs { fail_if, require, .. } = &self.output;
        fail_if.iter().chain(require).any(|condition| matches!(condition.metric, Metric::Overflow(_)))
    }

    /// TLS to what is pressed. The certificate of a rig is made when it is started, and nobody vouches for it.
    fn tls(&self) -> Tls {
        let tls = self.clients.version.tls(self.clients.tls.tls());
        Tls { verify: tls.verify && self.as_origin.started.rig.is_none(), ..tls }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        replay: ReplayArgs,
    }

    fn typed(line: &str) -> ReplayArgs {
        let words = std::iter::once("x").chain(line.split_whitespace());
        Typed::try_parse_from(words)
            .map(|typed| typed.replay)
            .unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn what_is_sent_goes_to_the_url_whatever_the_log_names() {
        let args = typed("a.rec localhost:8080 --real-origin --in-flight 7 -H X:y");
        args.check().unwrap();
        let requests: RequestList = [plan::Request::get("http://shop.example/a")].into_iter().collect();
        let measured = Timed { sent: ReplaySent::Requests(requests), moments: Moments::new(vec![5]) };
        let replayed = Replayed { measured, ..Replayed::default() };
        let plan = args.held_to(args.plan(3, replayed, None).unwrap());
        let load = plan.load.as_ref().unwrap();
        assert_eq!((load.target.as_deref(), load.phases.len(), plan.seed), (Some("localhost:8080"), 1, 3));
        assert_eq!(load.phases[0].stop.requests, Some(1));
        assert!(matches!(&load.phases[0].pace, Pace::Recorded { in_flight: 7, at_us } if at_us.count() == 1));
        assert_eq!(plan.check(), Vec::<String>::new());
        let read = Plan::from_text(&plan.to_text()).unwrap();
        assert_eq!(read, plan);
    }

    #[test]
    fn nearly_all_that_is_due_must_be_sent_unless_somebody_says_otherwise() {
        let conditions = |words: &str| {
            let args = typed(&format!("a.rec localhost:8080 --real-origin {words}"));
            let plan = args.held_to(args.plan(3, Replayed::default(), None).unwrap());
            let load = plan.load.unwrap();
            let all = load.fail_if.iter().chain(&load.require).map(ToString::to_string);
            all.collect::<Vec<String>>().join(" ")
        };
        assert_eq!(conditions(""), "overflow<=1%");
        assert_eq!(conditions("--require p99<1s"), "p99<1s overflow<=1%");
        assert_eq!(conditions("--require overflow<50%"), "overflow<50%");
        assert_eq!(conditions("--fail-if overflow>10"), "overflow>10");
        assert_eq!(conditions("--gaps think"), "");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (line, said) in [
            ("a.rec http://h/", "--real-origin"),
            ("a.rec", "give URL, or --as-origin"),
            ("a.rec --as-origin --gaps think", "--gaps think"),
            ("a.rec --as-origin --methods GET,POST --unsafe", "answers GET and HEAD alone"),
            ("a.rec --as-origin --scale-lifetimes", "follows --speed"),
            ("a.rec --as-origin --http 2c", "the demonstration cache"),
            ("a.rec --as-origin --rig-set a=b", "nothing is started"),
            ("a.rec --as-origin --rig-command x", "{listen}"),
            ("a.rec http://h/x --real-origin", "has a path"),
            ("a.rec h --real-origin --methods GET,POST", "give --unsafe"),
            ("a.rec h --real-origin --from 2s --to 1s", "--to does not come after"),
            ("a.rec h --real-origin --gaps think --in-flight 9", "--in-flight has no place"),
            ("a.rec h --real-origin --gaps think --warm 1s", "--warm would cut"),
            ("a.rec h --real-origin -k", "about TLS"),
            ("a.rec h --real-origin --http 2", "https://"),
            ("a.rec h --real-origin --grace 1s", "--timeout"),
        ] {
            let error = typed(line).check().unwrap_err();
            assert!(error.contains(said), "{line}: {error}");
        }
        for line in ["--speed 0", "--speed nan", "--multiply -1", "--sample-users 0", "--shift x"] {
            let words = ["x", "a.rec", "h"].into_iter().chain(line.split(' '));
            assert!(Typed::try_parse_from(words).is_err(), "{line}");
        }
    }
}
