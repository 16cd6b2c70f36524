//! `wringer cache`: what its options mean.

use super::agent_place::{AgentArg, AgentPlace};
use super::farm::FarmArgs;
use super::fleet::FleetArgs;
use super::options::{
    AskArgs, BehaviourArgs, HeadArgs, KeepArgs, LoadArgs, OutputArgs, PopularityArgs, TracingArgs, WatchArgs,
};
use super::pace::{PaceArgs, closed};
use super::phase::PhaseArg;
use super::pressed::Target;
use super::purge::PurgeArgs;
use super::rig::RigArgs;
use super::site::SiteArgs;
use super::tls::TlsArgs;
use super::values::host_and_port;
use super::version::VersionArgs;
use clap::Args;
use plan::HttpProtocol;
use plan::site::Site;
use plan::units::rest_of;
use plan::{
    Check, Endpoint, Http, Http1, Law, Load, Masked, ObjectStep, Pace, Phase, Plan, Popularity, Protocol,
    Reading, Scenario, Step, Stop, Tls,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The options of `wringer cache`.
#[derive(Debug, Clone, Args)]
pub struct CacheArgs {
    /// The proxy, HOST:PORT, or https://HOST:PORT for TLS; without it and without --rig, the built-in demonstration cache
    #[arg(value_name = "PROXY", value_parser = proxy, conflicts_with_all = ["rig", "rig_command"])]
    pub proxy: Option<Endpoint>,
    /// Proxy that wringer starts instead.
    #[command(flatten)]
    pub started: RigArgs,
    /// Several of both.
    #[command(flatten)]
    pub farm: FarmArgs,
    /// Only the clients; a `wringer origin` with the same options for objects runs behind the proxy
    #[arg(long, conflicts_with_all = ["rig", "rig_command"])]
    pub clients_only: bool,
    /// Fill the cache with the hot set first, each object once
    #[arg(long)]
    pub fill: bool,
    /// Working-set shift: fill with set A, measure on A, then move to set B
    #[arg(long, conflicts_with = "fill")]
    pub shift: bool,
    /// A phase: NAME[:DURATION][,key=value...]; several follow each other
    #[arg(long = "phase", value_name = "PHASE", conflicts_with_all = ["fill", "shift"])]
    pub phases: Vec<PhaseArg>,
    /// When requests are sent.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// How clients behave.
    #[command(flatten)]
    pub load: LoadArgs,
    /// Sizes of heads.
    #[command(flatten)]
    pub head: HeadArgs,
    /// How objects are asked for, and how their answers are checked.
    #[command(flatten)]
    pub ask: AskArgs,
    /// Traces that they take part in.
    #[command(flatten)]
    pub tracing: TracingArgs,
    /// Which HTTP is spoken to the proxy.
    #[command(flatten)]
    pub version: VersionArgs,
    /// How they speak TLS to the proxy.
    #[command(flatten)]
    pub tls: TlsArgs,
    /// Which objects are asked for.
    #[command(flatten)]
    pub popularity: PopularityArgs,
    /// Purges among the requests.
    #[command(flatten)]
    pub purge: PurgeArgs,
    /// Objects that exist.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How the origin behaves.
    #[command(flatten)]
    pub behaviour: BehaviourArgs,
    /// Processes watched beside wringer.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Other machines that carry the load.
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Output that is printed and kept.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Storage of the run: whether it is kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// An address of a proxy, without a name and a password.
pub(super) fn proxy(text: &str) -> Result<Endpoint, String> {
    let endpoint = host_and_port(text)?;
    match endpoint.credentials {
        None => Ok(endpoint),
        Some(_) => Err(format!(
            "'{}' has a name and password: give them with -H 'Proxy-Authorization: Basic env:VARIABLE'",
            Masked::address(text)
        )),
    }
}

impl CacheArgs {
    /// Returns the target of the load.
    pub fn target(&self) -> Target {
        let proxy = self.proxy.as_ref().map(|proxy| proxy.with_port(0));
        self.started.target(proxy.or_else(|| self.farm.first().map(str::to_owned)))
    }

    fn speaks_tls(&self) -> bool {
        let by_rig = self.started.is_given() && self.version.wants_tls();
        by_rig || self.proxy.as_ref().is_some_and(|proxy| proxy.secure)
    }

    /// TLS to what is pressed. The certificate of a rig is made when it is started, and nobody vouches for it.
    fn tls(&self) -> Tls {
        let tls = self.version.tls(self.tls.tls());
        Tls { verify: tls.verify && self.started.rig.is_none(), ..tls }
    }

    /// TLS options fit what is pressed.
    fn check_tls(&self) -> Result<(), String> {
        if let Some(option) = self.tls.given().filter(|_| !self.speaks_tls()) {
            return Err(format!(
                "{option} is about TLS, which is not spoken: give the proxy as https://HOST:PORT, or a rig with --http 2"
            ));
        }
        match self.target().is_ours() && self.behaviour.tls.tls().is_some() {
            true => Err("rigs and the demonstration cache speak no TLS to the origin: give a PROXY of your own, or leave \
                         out the origin's TLS options"
                .to_owned()),
            false => Ok(()),
        }
    }

    /// HTTP/2 fits what is pressed.
    fn check_version(&self) -> Result<(), String> {
        self.version.check(self.speaks_tls())?;
        match self.target() {
            Target::Demonstration if self.version.spoken() != [HttpProtocol::One] => {
                Err("--http: the demonstration cache speaks HTTP/1.1: give a PROXY of your own that speaks HTTP/2 or 3, or a \
                     --rig that does"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Bytes that a rig or the demonstration cache is to hold.
    pub fn memory(&self) -> u64 {
        self.started.memory()
    }

    /// Agents that are the origins.
    pub fn origin_agents(&self) -> impl Iterator<Item = &AgentArg> {
        self.farm.origin_agents().chain(self.fleet.origins())
    }

    /// Agents that are the origins stand behind proxies of somebody else's, each at an address of its own.
    fn check_origin_agents(&self) -> Result<(), String> {
        let all: Vec<&AgentArg> = self.origin_agents().collect();
        let Some(first) = all.first().and_then(|agent| agent.origin) else { return Ok(()) };
        if self.target().is_ours() {
            return Err("--origin-agents, and agents with role = \"origin\": give the proxies before them with PROXY or --targets, as a rig and \
                        the demonstration cache have their origin in this process"
                .to_owned());
        }
        if self.clients_only {
            return Err("--clients-only says that the origin is nobody of this run's, and agents with role = \"origin\" would be it: leave out \
                        one of them"
                .to_owned());
        }
        let on_bus = all.iter().find_map(|agent| match &agent.at {
            AgentPlace::Bus(name) => Some(name),
            AgentPlace::Local | AgentPlace::Ssh(_) | AgentPlace::Command(_) => None,
        });
        if let Some(name) = on_bus.filter(|_| self.fleet.bus.bus.is_empty()) {
            return Err(format!(
                "--origin-agents bus:{name} is on a bus, and none is named: give --bus URL, and --expect N where agents of it carry the load, too"
            ));
        }
        let named_twice =
            |(nth, one): &(usize, &&AgentArg)| all[..*nth].iter().any(|other| other.at == one.at);
        let mut twice = all.iter().enumerate().filter(named_twice);
        if let Some(AgentPlace::Bus(name)) =
            twice.find(|(_, one)| matches!(one.at, AgentPlace::Bus(_))).map(|(_, one)| &one.at)
        {
            return Err(format!(
                "--origin-agents: bus:{name} stands there twice, and an agent is one origin: leave out one of them"
            ));
        }
        let same = |one: &AgentArg, other: &AgentArg| one.at == other.at && one.origin == other.origin;
        let is_twice = |(nth, one): &(usize, &&AgentArg)| all[..*nth].iter().any(|other| same(one, other));
        if let Some((_, twice)) = all.iter().enumerate().find(is_twice) {
            let at = twice.origin.unwrap_or(first);
            return Err(format!(
                "two origins of one machine would listen at {at}: give each an address of its own"
            ));
        }
        if first.ip().is_unspecified() && self.ask.host.is_none() && self.started.place.origin.is_none() {
            return Err(format!(
                "{first} is where the first origin listens but no name for URLs: say with --host what the proxies know it as, such as \
                 --host www.example.com"
            ));
        }
        Ok(())
    }

    /// Where the origin is to listen; port 0 is any free port, where wringer starts the proxy itself.
    pub fn origin_address(&self) -> SocketAddr {
        let of_agents = self.origin_agents().find_map(|agent| agent.origin);
        if let Some(first) = of_agents.filter(|_| self.started.place.origin.is_none()) {
            return first;
        }
        self.started.origin_address(&self.target())
    }

    /// Refuses combinations of options that cannot be meant; each of them alone was read already.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        self.check_tls()?;
        self.check_version()?;
        self.started.check()?;
        self.check_origin_agents()?;
        self.site.check()?;
        self.pace.check(self.phases.iter().any(|phase| phase.rate.is_some()))?;
        if self.phases.is_empty() {
            self.load.check_grace(&self.pace)?;
        }
        match self.started.place.origin {
            Some(origin)
                if origin.ip().is_unspecified() && !self.target().is_ours() && self.ask.host.is_none() =>
            {
                Err(format!(
                    "--origin {origin} is where the origin listens but no name for URLs: say with --host what the proxy \
                     knows it as, such as --host 192.0.2.10:{}",
                    origin.port()
                ))
            }
            _ => Ok(()),
        }
    }

    /// The plan. `target`: where the proxy listens (or will), `origin`: where the origin does; `seed`: taken where none
    /// was given.
    pub fn plan(&self, target: &str, origin: SocketAddr, seed: u64) -> Plan {
        let site = self.site.site();
        let http = Http {
            authority: self.ask.host.clone().unwrap_or_else(|| reachable(origin).to_string()),
            requests_per_connection: self.pace.requests_per_connection(self.load.keep_alive),
            close: self.load.close,
            resend: self.load.resend.unwrap_or_default(),
            fields: self.ask.headers.clone(),
            traceparent: self.tracing.traceparent,
            post_bytes: None,
            tls: self.speaks_tls().then(|| self.tls()),
            h2: self.version.http2(),
            h3: self.version.http3(),
            h1: Http1 { form: self.ask.form, ..Http1::default() },
            ..Http::default()
        };
        let load = Load {
            target: Some(target.to_owned()),
            more_targets: self.farm.others().to_vec(),
            spread: self.farm.spread(),
            sources: self.load.sources.clone(),
            protocol: Protocol::Http(http),
            check: Check {
                content: self.ask.check,
                evidence: self.ask.evidence,
                canaries: self.ask.canaries,
                ..Check::default()
            },
            limits: self.head.applied(self.load.limits()),
            phases: self.all_phases(&site),
            ..Load::default()
        };
        Plan {
            version: Plan::VERSION,
            seed: self.load.seed.unwrap_or(seed),
            threads: self.load.threads,
            io: self.load.io,
            site,
            load: Some(load),
            origin: (!self.clients_only).then(|| self.behaviour.origin(origin)),
        }
    }

    fn all_phases(&self, site: &Site) -> Vec<Phase> {
        let named = |text: &str| PhaseArg { name: text.to_owned(), ..PhaseArg::default() };
        let typed = match (self.shift, self.fill, self.phases.is_empty()) {
            (true, ..) => vec![
                PhaseArg { set: Some(0), ..named("fill") },
                PhaseArg { set: Some(0), ..named("set A") },
                PhaseArg { set: Some(1), ..named("set B") },
            ],
            (_, true, _) => vec![named("fill"), named("measure")],
            (.., false) => self.phases.clone(),
            _ => vec![named("measure")],
        };
        typed.iter().map(|phase| self.phase(phase, site)).collect()
    }

    fn phase(&self, typed: &PhaseArg, site: &Site) -> Phase {
        let fills = typed.in_order.unwrap_or(typed.name == "fill");
        let popularity = self.phase_popularity(typed, site, fills);
        let variants = u64::from(site.variant_count());
        let pace = self.phase_pace(typed, fills);
        let stop = match (typed.duration, typed.requests) {
            (None, None) if fills => Stop { requests: Some(popularity.hot * variants), ..Stop::default() },
            (None, None) => self.pace.stop(&pace),
            (after, requests) => Stop { after, requests, ..Stop::default() },
        };
        Phase {
            name: typed.name.clone(),
            http: self.version.turns(),
            preconnect: self.pace.preconnect.filter(|_| !fills),
            measured: typed.measured.unwrap_or(!fills),
            scenario: Scenario::of(vec![Step::Object(self.step(popularity, typed, fills))]),
            pace,
            stop,
            origin_errors: typed.origin_errors,
            origin_aborts: typed.origin_aborts,
            ..Phase::default()
        }
    }

    /// A fill asks plainly, unless it says otherwise itself: shares of reloads, ranges and aborts would leave holes in the cache.
    fn step(&self, popularity: Popularity, typed: &PhaseArg, fills: bool) -> ObjectStep {
        let mix = &self.popularity;
        let share = |own: Option<f64>, of_all: f64| own.unwrap_or(if fills { 0.0 } else { of_all });
        let shares = ObjectStep {
            popularity,
            reload: share(typed.reload, mix.reload),
            revalidate: share(typed.revalidate, mix.revalidate),
            range: share(typed.range, mix.range),
            two_ranges: share(typed.two_ranges, mix.two_ranges),
            abort: share(typed.abort, mix.abort),
            head: share(typed.head, mix.head),
            ..ObjectStep::default()
        };
        if fills {
            return shares;
        }
        let slow = if mix.client_speed.is_some() { mix.slow } else { 0.0 };
        ObjectStep {
            purge: self.purge.purge(),
            reading: Reading { bytes_per_second: mix.client_speed, slow, ..Reading::default() },
            ..shares
        }
    }

    fn phase_popularity(&self, typed: &PhaseArg, site: &Site, fills: bool) -> Popularity {
        let mix = &self.popularity;
        let law = match typed.zipf.or(mix.zipf) {
            _ if fills => Law::InOrder,
            Some(alpha) => Law::Zipf { alpha },
            None => Law::Uniform,
        };
        let one_timers =
            typed.hit_ratio.map(rest_of).or(mix.one_timers).unwrap_or_else(|| rest_of(mix.hit_ratio));
        Popularity {
            hot: typed.hot.unwrap_or_else(|| self.hot(site)),
            law,
            one_timers: if fills { 0.0 } else { one_timers },
            drift_per_hour: mix.drift,
            set: typed.set.unwrap_or(0),
        }
    }

    /// Objects in the hot set: as typed, or as many as the memory asked for holds at the mean size.
    fn hot(&self, site: &Site) -> u64 {
        match self.popularity.memory {
            Some(bytes) => hot_set_of(bytes, site),
            None => self.popularity.hot.unwrap_or(1000),
        }
    }

    /// A fill under a rate would take as long as the rate says, so it always uses users, who do not think.
    fn phase_pace(&self, typed: &PhaseArg, fills: bool) -> Pace {
        let users = typed.users.unwrap_or(self.pace.users());
        match typed.rate {
            Some(per_second) if typed.users.is_none() => self.pace.at_rate(per_second),
            _ if fills => closed(users, typed.think),
            _ if typed.users.is_some() || typed.think.is_some() => {
                closed(users, typed.think.or(self.pace.think))
            }
            _ => self.pace.pace(),
        }
    }
}

/// An address to connect to: an origin that listens on all addresses of this machine is reached on its loopback.
pub fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// The number of objects whose sizes sum to about `bytes`, variants counted.
fn hot_set_of(bytes: u64, site: &Site) -> u64 {
    let mut objects = 1u64;
    // The mean of a set depends a little on how many it has, so the estimate is made twice.
    for _ in 0..3 {
        let mean = site.size.mean(objects) * f64::from(site.variant_count());
        objects = ((bytes as f64 / mean.max(1.0)) as u64).clamp(1, 1 << 32);
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::DEFAULT_DURATION;
    use crate::{Cli, Command};

    fn args(line: &str) -> CacheArgs {
        let words = std::iter::once("wringer").chain(std::iter::once("cache")).chain(line.split_whitespace());
        match Cli::read(words).unwrap().command {
            Command::Cache(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    fn plan(line: &str) -> Plan {
        let plan = args(line).plan("localhost:8080", SocketAddr::from(([127, 0, 0, 1], 9080)), 7);
        assert_eq!(plan.check(), Vec::<String>::new(), "{line}");
        plan
    }

    fn step(plan: &Plan, phase: usize) -> ObjectStep {
        match &plan.load.as_ref().unwrap().phases[phase].scenario.steps[0] {
            Step::Object(step) => step.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_options_give_a_useful_plan() {
        let plan = plan("");
        let phases = &plan.load.as_ref().unwrap().phases;
        assert_eq!(
            (phases.len(), &phases[0].pace, phases[0].stop.after),
            (1, &Pace::Users(50), Some(DEFAULT_DURATION))
        );
        assert!((step(&plan, 0).popularity.one_timers - 0.2).abs() < 1e-9);
        assert_eq!(args("").target(), Target::Demonstration);
    }

    #[test]
    fn the_target_is_a_proxy_a_rig_or_the_demonstration() {
        assert_eq!(args("http://h:1/").target(), Target::Proxy("h:1".to_owned()));
        assert_eq!(args("--rig ats").target(), Target::Rig { name: "ats".to_owned(), workers: 1 });
        assert!(Cli::read(["wringer", "cache", "h:1", "--rig", "ats"]).is_err());
        let command = "{listen}:{origin}";
        assert_eq!(args(&format!("--rig-command {command}")).target(), Target::Command(command.to_owned()));
        assert!(Cli::read(["wringer", "cache", "--rig", "ats", "--rig-command", command]).is_err());
        assert!(Cli::read(["wringer", "cache", "--from", "/opt"]).is_err());
    }

    #[test]
    fn a_command_says_where_its_proxy_listens_and_what_it_is_in_front_of() {
        for (line, wanted) in [
            ("--rig-command {listen}{origin}", None),
            ("--rig-command {listen_port} --origin 127.0.0.1:81", None),
            ("--rig-command {listen}{origin}{level} --rig-set level=7", None),
            ("--rig haproxy --rig-set max-secondary-entries=5", None),
            ("--rig-command {origin}", Some("{listen}")),
            ("--rig-command {listen}", Some("{origin}")),
            ("--rig-command {listen}{origin} --rig-set level=7", Some("{level}")),
            ("h:1 --rig-set level=7", Some("nothing is started")),
        ] {
            let said = args(line).check().err();
            assert_eq!(said.is_some(), wanted.is_some(), "{line}: {said:?}");
            assert!(wanted.is_none_or(|part| said.is_some_and(|said| said.contains(part))), "{line}");
        }
        assert!(Cli::read(["wringer", "cache", "h"]).is_err());
    }

    #[test]
    fn options_of_an_open_pace_need_one() {
        let said = args("--in-flight 5").check().unwrap_err();
        assert!(said.contains("--in-flight") && said.contains("--rate"), "{said}");
        args("--in-flight 5 --rate 5").check().unwrap();
        args("--in-flight 5 --phase x,rate=5").check().unwrap();
    }

    #[test]
    fn a_phase_keeps_its_own_pace_and_a_fill_is_quick() {
        let line = "--stages 1s:5,1s:9 -c 7 --phase fill --phase a:1s,think=1s --phase b:1s,rate=3 --phase c";
        let plan = plan(line);
        let [fill, a, b, c] = plan.load.as_ref().unwrap().phases.as_slice() else { panic!() };
        let think = plan::Delay::parse("1s").unwrap();
        assert_eq!((&fill.pace, &a.pace), (&Pace::Users(7), &Pace::Thinking { users: 7, think }));
        assert!(matches!(b.pace, Pace::Rate { per_second, .. } if per_second == 3.0));
        assert_eq!(c.stop.after, Some(std::time::Duration::from_secs(2)), "{:?}", c.pace);
        assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan);
    }

    #[test]
    fn connections_at_a_rate_carry_one_request_unless_told_otherwise() {
        for (line, carried) in [("--connection-rate 5", 1), ("--connection-rate 5 --keep-alive 3", 3)] {
            let plan = plan(line);
            let http = plan.load.as_ref().unwrap().protocol.http().unwrap();
            assert_eq!(http.requests_per_connection, Some(carried));
        }
    }

    /// Nobody can ask for http://0.0.0.0/.
    #[test]
    fn an_origin_on_all_addresses_needs_a_name() {
        let said = args("h:1 --origin 0.0.0.0:9080").check().unwrap_err();
        assert!(said.contains("--host 192.0.2.10:9080"), "{said}");
        args("h:1 --origin 0.0.0.0:9080 --host me").check().unwrap();
        let rig = args("--rig ats --origin 0.0.0.0:9080");
        rig.check().unwrap();
        let plan = rig.plan("127.0.0.1:1", rig.origin_address(), 7);
        let http = plan.load.as_ref().unwrap().protocol.http().unwrap();
        assert_eq!(http.authority, "127.0.0.1:9080");
        assert_eq!(plan.origin.unwrap().listen, "0.0.0.0:9080");
    }

    #[test]
    fn shares_in_the_plan_are_as_people_write_them() {
        for (line, text) in [("", "one_timers = 0.2\n"), ("--hit-ratio 57%", "one_timers = 0.43\n")] {
            assert!(plan(line).to_text().contains(text), "{line}");
        }
        assert!(plan("--range 57%").to_text().contains("range = 0.57\n"));
    }

    /// The option itself says what it wants, rather than that there is no option -1.
    #[test]
    fn negative_numbers_are_refused_by_their_option() {
        for (line, said) in [("--zipf -1", "Zipf exponent"), ("-c -5", "whole number"), ("-d -1", "duration")]
        {
            let words = ["wringer", "cache"].into_iter().chain(line.split_whitespace());
            let error = Cli::read(words).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("unexpected"), "{line}: {error}");
        }
    }

    #[test]
    fn memory_chooses_the_hot_set() {
        let plan = plan("--memory 100MB --size 10KB");
        assert_eq!(step(&plan, 0).popularity.hot, 10_000);
        let plan = super::super::cache::tests::plan("--memory 3GiB");
        let hot = step(&plan, 0).popularity.hot;
        let bytes = hot as f64 * plan.site.size.mean(hot);
        assert!((bytes / (3.0 * 1024f64.powi(3)) - 1.0).abs() < 0.01, "{bytes}");
    }

    #[test]
    fn a_fill_asks_for_each_hot_object_once_and_is_not_measured() {
        let plan = plan("--fill --hot 500 --reload 0.5 --rate 100 -d 3s");
        let phases = &plan.load.as_ref().unwrap().phases;
        assert_eq!(
            (phases[0].measured, phases[0].stop.requests, &phases[0].pace),
            (false, Some(500), &Pace::Users(50))
        );
        assert_eq!((step(&plan, 0).popularity.law, step(&plan, 0).reload), (Law::InOrder, 0.0));
        assert!(matches!(phases[1].pace, Pace::Rate { per_second, .. } if per_second == 100.0));
        assert_eq!((phases[1].measured, step(&plan, 1).reload), (true, 0.5));
    }

    #[test]
    fn a_shift_moves_from_set_a_to_set_b() {
        let plan = plan("--shift -d 5s");
        let sets: Vec<u8> = (0..3).map(|phase| step(&plan, phase).popularity.set).collect();
        assert_eq!(sets, [0, 0, 1]);
    }

    #[test]
    fn a_storm_and_the_calm_after_it_are_phases_of_one_run() {
        let plan = plan(
            "--abort 0.1 --range 0.2 --phase fill --phase storm:1s,abort=0.5,reload=0.3 --phase calm:1s,abort=0,range=0",
        );
        let shares = |phase| {
            let ObjectStep { abort, range, reload, .. } = step(&plan, phase);
            (abort, range, reload)
        };
        assert_eq!([0, 1, 2].map(shares), [(0.0, 0.0, 0.0), (0.5, 0.2, 0.3), (0.0, 0.0, 0.0)]);
    }

    #[test]
    fn phases_take_what_they_do_not_say_from_the_other_options() {
        let plan =
            plan("--phase warm:2s,measured=no --phase hard:3s,users=200,hit-ratio=0.5 -c 10 --zipf 0.9");
        let phases = &plan.load.as_ref().unwrap().phases;
        assert_eq!((&phases[0].pace, &phases[1].pace), (&Pace::Users(10), &Pace::Users(200)));
        assert_eq!((phases[0].measured, phases[1].measured), (false, true));
        assert_eq!(step(&plan, 1).popularity.law, Law::Zipf { alpha: 0.9 });
        assert!((step(&plan, 1).popularity.one_timers - 0.5).abs() < 1e-9);
    }

    #[test]
    fn every_option_reaches_the_plan() {
        let line = "p:1 --form forward --host x:9 --keep-alive 5 --close reset --source 127.0.0.2-127.0.0.9,::1 -H A:b --range 0.1 --abort 0.2 --head 0.25 --purge 2/s --purge-by BAN --purge-header X-Key:{path} \
                    --revalidate 0.3 --client-speed 10KB --slow 0.5 --size 1KB..2KB --lifetime 10s..20s \
                    --change-every 5s --variants 3 --vary-on cookie --private 0.1 --no-store 0.1 --origin-delay 5ms \
                    --origin-speed 1MB --origin-errors 1% --origin-aborts 2% --origin-keep-alive 4 --origin-chunked 0.5 --origin-ignores-ranges 0.75 \
                    --drift 6 --one-timers 0.4 --check prefix --timeout 3s -n 100 -t 2 --seed 5";
        let plan = plan(line);
        let text = plan.to_text();
        assert_eq!(Plan::from_text(&text).unwrap(), plan);
        for word in [
            "forward",
            "\"127.0.0.2-127.0.0.9\"",
            "\"::1\"",
            "\"x:9\"",
            "reset",
            "drift_per_hour = 6",
            "cookie",
            "0.02",
            "\"5ms\"",
            "1000000",
            "prefix",
            "head = 0.25",
            "ignores_ranges = 0.75",
            "BAN",
            "{path}",
        ] {
            assert!(text.contains(word), "{word} in {text}");
        }
    }
}
