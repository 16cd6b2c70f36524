//! Groups of users → phases: when users come and go, how often they walk, and what a failure means.

use super::kinds::{self, Convert, ElementKind};
use super::scope::Scope;
use super::{Converter, control, keystore, listener};
use crate::element::Element;
use crate::role::Role;
use plan::{
    Body, Check, CheckContent, Group, Http, Io, Keep, Load, LoadLimits, OnFailure, Pace, Phase, Plan,
    Protocol, Scenario, Set, Site, Step, Stop, Tls,
};
use std::time::Duration;

pub(super) const IDLE: &[ElementKind] = &[
    ElementKind { class: "WorkBench", convert: Convert::Idle },
    ElementKind { class: "ProxyControl", convert: Convert::Idle },
    ElementKind { class: "MirrorServer", convert: Convert::Idle },
    ElementKind { class: "HttpMirrorControl", convert: Convert::Idle },
    ElementKind { class: "PropertyControl", convert: Convert::Idle },
];

/// The whole plan.
pub(super) fn plan(c: &mut Converter<'_>, root: &Element) -> Plan {
    let groups = |class: fn(&str) -> bool| {
        root.children.iter().filter(move |child| kinds::role(child) == Role::Group && class(&child.class))
    };
    for unknown in
        root.children.iter().filter(|child| matches!(kinds::role(child), Role::Sampler | Role::Controller))
    {
        if unknown.class != "TestFragmentController" {
            c.different(unknown, "it stands outside any thread group and is not run, as in JMeter");
        }
    }
    let set_up: Vec<_> = groups(|class| class == "SetupThreadGroup").collect();
    let tear_down: Vec<_> = groups(|class| class == "PostThreadGroup").collect();
    let main: Vec<_> = groups(|class| !matches!(class, "SetupThreadGroup" | "PostThreadGroup")).collect();
    let mut phases = Vec::new();
    phases.extend(phase(c, "setUp", &set_up, 1, root));
    match root.properties.flag("TestPlan.serialize_threadgroups", false) {
        true => phases.extend(
            main.iter()
                .zip(1..)
                .filter_map(|(group, nth)| phase(c, group.title(), &[group], nth, root))
                .collect::<Vec<_>>(),
        ),
        false => phases.extend(phase(c, "main", &main, 1, root)),
    }
    let last = phase(c, "tearDown", &tear_down, 1, root);
    let always = root.properties.flag("TestPlan.tearDown_on_shutdown", false);
    phases.extend(last.map(|phase| Phase { always, ..phase }));
    finish_variables(c, &mut phases);
    Plan {
        version: Plan::VERSION,
        seed: c.settings.seed,
        threads: None,
        io: Io::Auto,
        site: Site::default(),
        load: (!phases.is_empty()).then(|| load(c, phases)),
        origin: None,
    }
}

pub(super) fn load(c: &mut Converter<'_>, mut phases: Vec<Phase>) -> Load {
    let limits = time_limits(c);
    phases.iter_mut().for_each(|phase| leave_out_limit(phase, limits.request));
    // JMeter trusts any certificate.
    let tls = c.https.then(|| Tls { verify: false, keystore: keystore::keystore(c), ..Tls::default() });
    let connect_to = std::mem::take(&mut c.connect_to);
    let http = Http { tls, connect_to, authority: String::new(), ..Http::default() };
    let proxy = c.way.take().and_then(|way| way.proxy);
    Load {
        stop_if: listener::stop_if(c),
        target: proxy.as_ref().map(|proxy| proxy.address.clone()),
        protocol: Protocol::Http(match proxy {
            Some(proxy) => proxy.spoken_to(http, c.https),
            None => http,
        }),
        check: Check { content: CheckContent::Nothing, length: false, ..Check::default() },
        limits,
        phases,
        ..Load::default()
    }
}

/// Requests whose limit is that of all have none of their own.
fn leave_out_limit(phase: &mut Phase, limit: Duration) {
    let groups = phase.groups.iter_mut().map(|group| &mut group.scenario);
    for step in groups.chain([&mut phase.scenario]).flat_map(Scenario::sends_mut) {
        if let Step::Requests(step) = step {
            step.session.answer_within = step.session.answer_within.filter(|own| *own != limit);
        }
    }
}

/// JMeter waits without end where a sampler does not say how long.
fn time_limits(c: &Converter<'_>) -> LoadLimits {
    let longest = |of: fn(&(u64, u64)) -> u64| {
        let given: Vec<u64> = c.limits.iter().map(of).collect();
        let all_given = !given.is_empty() && given.iter().all(|ms| *ms > 0);
        given.into_iter().max().filter(|_| all_given).map(Duration::from_millis)
    };
    LoadLimits {
        connect: longest(|limits| limits.0).unwrap_or(Duration::from_secs(130)),
        request: longest(|limits| limits.1).unwrap_or(Duration::from_secs(3600)),
        grace: Duration::from_secs(600),
        ..LoadLimits::default()
    }
}

/// Groups that run at the same time. `first`: the number of the first of them, which its users' names hold.
fn phase(
    c: &mut Converter<'_>,
    name: &str,
    groups: &[&Element],
    first: u32,
    root: &Element,
) -> Option<Phase> {
    let groups = groups.iter().zip(first..);
    let groups: Vec<Group> = groups.filter_map(|(element, nth)| group(c, element, nth, root)).collect();
    let phase = Phase {
        name: name.to_owned(),
        measured: true,
        scenario: Scenario::default(),
        pace: Pace::default(),
        stop: Stop::default(),
        ..Phase::default()
    };
    match <[Group; 1]>::try_from(groups) {
        Ok([Group { name, scenario, pace, stop, .. }]) => {
            Some(Phase { name, scenario: alone(scenario), pace, stop, ..phase })
        }
        Err(groups) if groups.is_empty() => None,
        Err(groups) => Some(Phase { groups, ..phase }),
    }
}

/// A scenario that has a phase to itself: one request again and again is what the engine does of itself, and a failure changes
/// nothing. Anything else is walked as a journey, whose iterations are JMeter's.
fn alone(mut scenario: Scenario) -> Scenario {
    let plain = matches!(scenario.steps.as_slice(), [Step::Requests(step)] if step.after.is_empty());
    if plain && scenario.on_failure == OnFailure::Continue {
        scenario.on_failure = OnFailure::default();
    } else if !plain || scenario.on_failure != OnFailure::NextIteration {
        scenario.make_journey();
    }
    scenario
}

pub(super) fn group(c: &mut Converter<'_>, of: &Element, nth: u32, root: &Element) -> Option<Group> {
    let users = match kinds::convert(of) {
        Convert::Group(users) => users(c, of),
        _ => unreachable!("{} is no group of users", of.class),
    };
    let Some((pace, stop)) = users else {
        of.properties.pass();
        return None;
    };
    let scope = Scope::default().below(of, &root.children);
    let steps = control::body(c, of, &scope);
    if steps.is_empty() {
        c.different(of, "there is nothing in it to run, so it is left out");
        of.properties.pass();
        return None;
    }
    let on_failure = on_failure(c, of);
    let keep = keep(of, &scope);
    let title = c.evaluate_at_start(of, of.title());
    // The threads of a Concurrency Thread Group are named after who starts them.
    let starter = if of.class.ends_with(".ConcurrencyThreadGroup") { "-ThreadStarter" } else { "" };
    let user_name = format!("{title}{starter} {nth}-");
    let scenario = Scenario { steps, variables: Vec::new(), on_failure, keep, user_name };
    Some(Group { name: title, scenario, pace, stop, ..Group::default() })
}

/// Values that users begin with, once it is known which ones texts hold.
fn finish_variables(c: &mut Converter<'_>, phases: &mut [Phase]) {
    if c.runs_programs {
        c.variables.keep_all();
    }
    let variables: Vec<Set> = c
        .variables
        .used()
        .map(|(name, value)| Set::of(name, Body::from(plan::template::escape(value.as_bytes()))))
        .collect();
    for phase in phases {
        let own = phase.groups.is_empty().then_some(&mut phase.scenario);
        let groups = phase.groups.iter_mut().map(|group| &mut group.scenario);
        for scenario in own.into_iter().chain(groups) {
            scenario.variables = variables.clone();
        }
    }
}

fn on_failure(c: &mut Converter<'_>, of: &Element) -> OnFailure {
    match of.properties.text("ThreadGroup.on_sample_error") {
        "" | "continue" => OnFailure::Continue,
        "startnextloop" => OnFailure::NextIteration,
        "stopthread" => OnFailure::StopUser,
        "stoptest" => OnFailure::StopRun,
        "stoptestnow" => OnFailure::StopNow,
        other => {
            c.different(of, format!("'{other}' is no action after an error: users go on"));
            OnFailure::Continue
        }
    }
}

/// Reads which state users keep between iterations, and which managers clear.
pub(super) fn keep(of: &Element, scope: &Scope<'_>) -> Keep {
    let same = of.properties.flag("ThreadGroup.same_user_on_next_iteration", true);
    let cleared = |class: &'static str, each: &str| {
        scope.outermost(class).or_else(|| find(of, class)).is_some_and(|manager| {
            let by_group = class_prefix(class).is_some_and(|key| manager.properties.flag(key, false));
            if by_group { !same } else { manager.properties.flag(each, false) }
        })
    };
    Keep {
        cookies: !cleared("CookieManager", "CookieManager.clearEachIteration"),
        cache: !cleared("CacheManager", "clearEachIteration"),
        auth: !cleared("AuthManager", "AuthManager.clearEachIteration"),
        connections: same,
    }
}

/// The property by which a manager leaves clearing to its group.
fn class_prefix(class: &str) -> Option<&'static str> {
    match class {
        "CookieManager" => Some("CookieManager.controlledByThreadGroup"),
        "CacheManager" => Some("CacheManager.controlledByThread"),
        "AuthManager" => Some("AuthManager.controlledByThreadGroup"),
        _ => None,
    }
}

fn find<'e>(of: &'e Element, class: &str) -> Option<&'e Element> {
    of.children.iter().find_map(|child| if child.class == class { Some(child) } else { find(child, class) })
}
