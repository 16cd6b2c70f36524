//! Groups of users → phases: when users come and go, how often they walk, and what a failure means.

use super::Converter;
use super::scope::Scope;
use crate::element::{Element, Value};
use crate::role::Role;
use plan::{
    Body, Check, CheckContent, Group, Http1, Io, Keep, Limits, Load, OnFailure, Pace, Phase, Plan, Protocol,
    Scenario, Set, Site, Step, Stop, Tls, Trace, UserRow,
};
use std::time::Duration;

impl<'a> Converter<'a> {
    /// The whole plan.
    pub(super) fn plan(&mut self, root: &Element) -> Plan {
        let groups = |class: fn(&str) -> bool| {
            root.children.iter().filter(move |child| Role::of(child) == Role::Group && class(&child.class))
        };
        for unknown in
            root.children.iter().filter(|child| matches!(Role::of(child), Role::Sampler | Role::Controller))
        {
            if unknown.class != "TestFragmentController" {
                self.different(unknown, "it stands outside any thread group and is not run, as in JMeter");
            }
        }
        let set_up: Vec<_> = groups(|class| class == "SetupThreadGroup").collect();
        let tear_down: Vec<_> = groups(|class| class == "PostThreadGroup").collect();
        let main: Vec<_> = groups(|class| !matches!(class, "SetupThreadGroup" | "PostThreadGroup")).collect();
        let mut phases = Vec::new();
        phases.extend(self.phase("setUp", &set_up, 1, root));
        match root.properties.flag("TestPlan.serialize_threadgroups", false) {
            true => phases.extend(
                main.iter()
                    .zip(1..)
                    .filter_map(|(group, nth)| self.phase(group.title(), &[group], nth, root))
                    .collect::<Vec<_>>(),
            ),
            false => phases.extend(self.phase("main", &main, 1, root)),
        }
        let last = self.phase("tearDown", &tear_down, 1, root);
        let always = root.properties.flag("TestPlan.tearDown_on_shutdown", false);
        phases.extend(last.map(|phase| Phase { always, ..phase }));
        self.finish_variables(&mut phases);
        Plan {
            version: Plan::VERSION,
            seed: self.settings.seed,
            threads: None,
            io: Io::Auto,
            site: Site::default(),
            load: (!phases.is_empty()).then(|| self.load(phases)),
            origin: None,
        }
    }

    fn load(&mut self, phases: Vec<Phase>) -> Load {
        // JMeter trusts any certificate.
        let tls = self.https.then(|| Tls { verify: false, keystore: self.keystore(), ..Tls::default() });
        let connect_to = std::mem::take(&mut self.connect_to);
        Load {
            fail_if: Vec::new(),
            stop_if: self.stop_if(),
            target: None,
            sources: Vec::new(),
            protocol: Protocol::Http1(Http1 {
                tls,
                connect_to,
                authority: String::new(),
                ..Http1::default()
            }),
            check: Check { content: CheckContent::Nothing, length: false, ..Check::default() },
            limits: self.time_limits(),
            phases,
            trace: Trace::default(),
        }
    }

    /// JMeter waits without end where a sampler does not say how long.
    fn time_limits(&self) -> Limits {
        let longest = |of: fn(&(u64, u64)) -> u64| {
            let given: Vec<u64> = self.limits.iter().map(of).collect();
            let all_given = !given.is_empty() && given.iter().all(|ms| *ms > 0);
            given.into_iter().max().filter(|_| all_given).map(Duration::from_millis)
        };
        Limits {
            connect: longest(|limits| limits.0).unwrap_or(Duration::from_secs(130)),
            request: longest(|limits| limits.1).unwrap_or(Duration::from_secs(3600)),
            grace: Duration::from_secs(600),
            ..Limits::default()
        }
    }

    /// Groups that run at the same time. `first`: the number of the first of them, which its users' names hold.
    fn phase(&mut self, name: &str, groups: &[&Element], first: u32, root: &Element) -> Option<Phase> {
        let groups = groups.iter().zip(first..);
        let groups: Vec<Group> = groups.filter_map(|(group, nth)| self.group(group, nth, root)).collect();
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
                Some(Phase { name, scenario, pace, stop, ..phase })
            }
            Err(groups) if groups.is_empty() => None,
            Err(groups) => Some(Phase { groups, ..phase }),
        }
    }

    fn group(&mut self, of: &Element, nth: u32, root: &Element) -> Option<Group> {
        let (pace, stop) = self.users(of)?;
        let scope = Scope::default().below(of, &root.children);
        let steps = self.body(of, &scope);
        if steps.is_empty() {
            self.different(of, "there is nothing in it to run, so it is left out");
            return None;
        }
        let (on_failure, keep) = (self.on_failure(of), self.keep(of, &scope));
        // One request again and again is what the engine does of itself: a failure changes nothing.
        let plain = matches!(steps.as_slice(), [Step::Requests(step)] if step.after.is_empty());
        let on_failure =
            if plain && on_failure == OnFailure::Continue { OnFailure::default() } else { on_failure };
        let title = self.evaluate_at_start(of, of.title());
        let user_name = format!("{title} {nth}-");
        let scenario = Scenario { steps, variables: Vec::new(), on_failure, keep, user_name };
        Some(Group { name: title, scenario, pace, stop, ..Group::default() })
    }

    /// Values that users begin with, once it is known which ones texts hold.
    fn finish_variables(&mut self, phases: &mut [Phase]) {
        if self.runs_programs {
            self.variables.keep_all();
        }
        let variables: Vec<Set> = self
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

    fn on_failure(&mut self, of: &Element) -> OnFailure {
        match of.properties.text("ThreadGroup.on_sample_error") {
            "" | "continue" => OnFailure::Continue,
            "startnextloop" => OnFailure::NextIteration,
            "stopthread" => OnFailure::StopUser,
            "stoptest" => OnFailure::StopRun,
            "stoptestnow" => OnFailure::StopNow,
            other => {
                self.different(of, format!("'{other}' is no action after an error: users go on"));
                OnFailure::Continue
            }
        }
    }

    /// Reads which state users keep between iterations, and which managers clear.
    fn keep(&mut self, of: &Element, scope: &Scope<'_>) -> Keep {
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

    /// How many users there are, when they come and go, and how often they walk.
    fn users(&mut self, of: &Element) -> Option<(Pace, Stop)> {
        match of.class.as_str() {
            "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => self.plain_users(of),
            "kg.apc.jmeter.threads.UltimateThreadGroup" => self.ultimate_users(of),
            "kg.apc.jmeter.threads.SteppingThreadGroup" => self.stepping_users(of),
            "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup" => self.concurrent_users(of),
            "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup" => self.arriving_users(of),
            "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup" => {
                self.arriving_by_table(of)
            }
            "OpenModelThreadGroup" => self.arriving_by_schedule(of),
            _ => {
                self.missing(of, "a thread group of this kind cannot run: use a Thread Group");
                None
            }
        }
    }

    fn plain_users(&mut self, of: &Element) -> Option<(Pace, Stop)> {
        let users = self.whole(of, "ThreadGroup.num_threads", 1)?;
        let ramp = self.seconds(of, "ThreadGroup.ramp_time")?;
        let scheduled = of.properties.flag("ThreadGroup.scheduler", false);
        let delay = if scheduled { self.seconds(of, "ThreadGroup.delay")? } else { Duration::ZERO };
        let lasts = if scheduled { self.seconds(of, "ThreadGroup.duration")? } else { Duration::ZERO };
        if scheduled && lasts.is_zero() && of.properties.filled("ThreadGroup.duration").is_some() {
            self.different(of, "its duration is 0, for which JMeter stops the test with an error: it runs without an end of time");
        }
        let after = (!lasts.is_zero()).then_some(delay + lasts);
        let loops = self.loops(of, after.is_some())?;
        if users == 0 || loops == Some(0) {
            self.different(of, "it has no users or no loops, so it sends nothing, as in JMeter");
            return None;
        }
        if users > MOST_USERS {
            self.missing(of, format!("it has {users} users: give {MOST_USERS} at most"));
            return None;
        }
        let row = UserRow { users, delay, ramp, ..UserRow::default() };
        let plain = delay.is_zero() && ramp.is_zero();
        let pace = if plain { Pace::Users(users) } else { Pace::Ramps(vec![row]) };
        Some((pace, Stop { after, turns_per_user: loops, ..Stop::default() }))
    }

    /// Iterations of each user; `None` inside: without end.
    fn loops(&mut self, of: &Element, ends_by_time: bool) -> Option<Option<u64>> {
        let Some(Value::Object(control)) = of.properties.value("ThreadGroup.main_controller") else {
            return Some(Some(1));
        };
        let written = control.properties.text("LoopController.loops").trim().to_owned();
        let text = self.evaluate_at_start(of, &written);
        let loops = text.trim().parse::<i64>().unwrap_or(if text.is_empty() { 1 } else { 0 });
        if loops < 0 {
            self.endless_unless(of, ends_by_time);
            return Some(None);
        }
        if control.properties.flag("LoopController.continue_forever", true)
            && control.class == "LoopController"
            && !ends_by_time
        {
            self.different(
                of,
                format!("JMeter would begin its {loops} loops anew without end, since continue_forever is not false: it ends after them"),
            );
        }
        Some(Some(loops.unsigned_abs()))
    }

    /// Notes a group that only a step in it could end.
    fn endless_unless(&mut self, of: &Element, ends: bool) {
        if !ends && !ends_itself(of) {
            self.endless.push(of.path.clone());
        }
    }

    /// Rows of users, delay, ramp, hold and ramp down.
    fn ultimate_users(&mut self, of: &Element) -> Option<(Pace, Stop)> {
        let mut rows = Vec::new();
        for row in of.properties.list("ultimatethreadgroupdata") {
            let numbers: Vec<u64> =
                row.as_list().iter().map(|cell| self.number_at_start(of, cell.as_text())).collect();
            let at = |nth: usize| numbers.get(nth).copied().unwrap_or(0);
            let seconds = |nth| Duration::from_secs(at(nth));
            rows.push(UserRow {
                users: u32::try_from(at(0)).unwrap_or(u32::MAX),
                delay: seconds(1),
                ramp: seconds(2),
                hold: Some(seconds(3)),
                ramp_down: seconds(4),
                turns: None,
            });
        }
        rows.retain(|row| row.users > 0);
        if rows.is_empty() {
            self.different(of, "its table has no users, so it sends nothing, as in JMeter");
            return None;
        }
        Some((Pace::Ramps(rows), Stop::default()))
    }

    /// Users that come step by step and go step by step.
    fn stepping_users(&mut self, of: &Element) -> Option<(Pace, Stop)> {
        let mut number = |name: &str| self.number_at_start(of, of.properties.text(name));
        let users = number("ThreadGroup.num_threads");
        let delay = number("Threads initial delay");
        let (count, period) = (number("Start users count"), number("Start users period"));
        let (burst, ramp) = (number("Start users count burst"), number("rampUp"));
        let flight = number("flighttime");
        let (stop_count, stop_period) = (number("Stop users count"), number("Stop users period"));
        if users == 0 || users > 1_000_000 {
            self.different(of, "it has no users, so it sends nothing, as in JMeter");
            return None;
        }
        let steps = Steps { users, delay, count, period, burst, ramp, flight, stop_count, stop_period };
        Some((Pace::Ramps(steps.rows()), Stop::default()))
    }

    /// As many users as the target says, in steps or evenly, held for a time.
    fn concurrent_users(&mut self, of: &Element) -> Option<(Pace, Stop)> {
        let unit = if of.properties.text("Unit").trim() == "M" { 60 } else { 1 };
        let target = of.properties.text("TargetLevel").to_owned();
        let users = match target
            .trim()
            .strip_prefix("${__tstFeedback(")
            .and_then(|rest| rest.strip_suffix(")}"))
        {
            Some(arguments) => {
                let most = arguments.split(',').nth(2).unwrap_or_default().trim().to_owned();
                self.different(of, format!("its users follow the timer's rate in JMeter; here all {most} are there from the start and wait for their turn"));
                self.number_at_start(of, &most)
            }
            None => self.number_at_start(of, &target),
        };
        let mut number = |name: &str| self.number_at_start(of, of.properties.text(name));
        let (ramp, steps, hold) = (number("RampUp") * unit, number("Steps"), number("Hold") * unit);
        let iterations = Some(number("Iterations")).filter(|times| *times > 0);
        let users = u32::try_from(users).unwrap_or(u32::MAX);
        if users == 0 {
            self.different(of, "its target is no users, so it sends nothing, as in JMeter");
            return None;
        }
        let after = Duration::from_secs(ramp + hold);
        let rows = stairs(users, Duration::from_secs(ramp), u32::try_from(steps).unwrap_or(0));
        let stop = Stop { after: Some(after), turns_per_user: iterations, ..Stop::default() };
        Some((Pace::Ramps(rows), stop))
    }

    /// A number as it is at the start; what is none is 0, as in JMeter.
    pub(super) fn number_at_start(&mut self, of: &Element, written: &str) -> u64 {
        let text = self.evaluate_at_start(of, written);
        match text.trim() {
            "" => 0,
            text => text.parse::<f64>().map(|number| number.clamp(0.0, 1e9) as u64).unwrap_or_else(|_| {
                self.different(of, format!("'{text}' is no number: taken as 0, as in JMeter"));
                0
            }),
        }
    }

    fn whole(&mut self, of: &Element, name: &str, otherwise: u32) -> Option<u32> {
        match of.properties.filled(name).map(str::to_owned) {
            Some(written) => u32::try_from(self.number_at_start(of, &written)).ok(),
            None => Some(otherwise),
        }
    }

    fn seconds(&mut self, of: &Element, name: &str) -> Option<Duration> {
        let written = of.properties.text(name).to_owned();
        Some(Duration::from_secs(self.number_at_start(of, &written)))
    }

    /// The steps of a controller's children, with what begins each of its iterations.
    pub(super) fn body(&mut self, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
        let mut steps = self.at_iteration(of, scope);
        for child in super::walked(of) {
            steps.extend(match Role::of(child) {
                Role::Sampler => self.sampler(child, scope),
                _ => self.controller(child, scope),
            });
        }
        steps
    }
}

/// Users that come and go step by step, in seconds.
struct Steps {
    users: u64,
    delay: u64,
    count: u64,
    period: u64,
    burst: u64,
    ramp: u64,
    flight: u64,
    stop_count: u64,
    stop_period: u64,
}

impl Steps {
    /// One row for each user: each has a moment of its own to come and to go.
    fn rows(&self) -> Vec<UserRow> {
        let last = self.begins(self.users - 1);
        let row = |nth: u64| {
            let (begins, gone) = (self.begins(nth), self.users - 1 - nth);
            let ends = last + Duration::from_secs(self.flight) + self.leaves(gone);
            UserRow {
                users: 1,
                delay: begins,
                ramp: Duration::ZERO,
                hold: Some(ends.saturating_sub(begins)),
                ramp_down: Duration::ZERO,
                turns: None,
            }
        };
        (0..self.users).map(row).collect()
    }

    /// When the user with number `nth` comes: the first burst at once, then `count` more each period, evenly over the ramp.
    fn begins(&self, nth: u64) -> Duration {
        let first = if self.burst > 0 { self.burst } else { self.count.max(1) };
        let delay = Duration::from_secs(self.delay);
        let (step, place, size) = match nth.checked_sub(first) {
            None => (0, nth, first),
            Some(later) => (1 + later / self.count.max(1), later % self.count.max(1), self.count.max(1)),
        };
        let within = Duration::from_secs(self.ramp).mul_f64(place as f64 / size as f64);
        delay + Duration::from_secs(step * (self.period + self.ramp)) + within
    }

    /// When the user that goes as number `nth` goes, after the flight time.
    fn leaves(&self, nth: u64) -> Duration {
        Duration::from_secs(nth / self.stop_count.max(1) * self.stop_period)
    }
}

/// Users that come evenly, or in so many steps of equal size.
fn stairs(users: u32, ramp: Duration, steps: u32) -> Vec<UserRow> {
    if steps == 0 || ramp.is_zero() {
        return vec![UserRow { users, ramp, ..UserRow::default() }];
    }
    let at = |step: u32| u64::from(users) * u64::from(step) / u64::from(steps);
    let row = |step: u32| UserRow {
        users: (at(step + 1) - at(step)) as u32,
        delay: ramp * step / steps,
        ..UserRow::default()
    };
    (0..steps).map(row).filter(|row| row.users > 0).collect()
}

/// Users of a group, at most.
const MOST_USERS: u32 = 4_000_000;

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

/// True if something in it may end its users: the end of a file, a script, a flow control.
fn ends_itself(of: &Element) -> bool {
    let ends = match of.class.as_str() {
        "CSVDataSet" => of.properties.flag("stopThread", false) && !of.properties.flag("recycle", true),
        "TestAction" => !matches!(of.properties.text("ActionProcessor.action").trim(), "1" | "4" | "5"),
        "kg.apc.jmeter.timers.VariableThroughputTimer" => true,
        "ResultAction" => true,
        _ => matches!(
            of.properties.text("ThreadGroup.on_sample_error"),
            "stopthread" | "stoptest" | "stoptestnow"
        ),
    };
    ends || of.children.iter().any(ends_itself)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_come_and_go_in_steps() {
        let steps = Steps {
            users: 5,
            delay: 1,
            count: 2,
            period: 10,
            burst: 1,
            ramp: 0,
            flight: 60,
            stop_count: 2,
            stop_period: 5,
        };
        let begins: Vec<u64> = (0..5).map(|nth| steps.begins(nth).as_secs()).collect();
        assert_eq!(begins, [1, 11, 11, 21, 21]);
        let ends: Vec<u64> = steps.rows().iter().map(|row| row.ends(0).unwrap().as_secs()).collect();
        assert_eq!(ends, [91, 86, 86, 81, 81]);
        let rows = stairs(10, Duration::from_secs(9), 3);
        let shown: Vec<(u32, u64)> = rows.iter().map(|row| (row.users, row.delay.as_secs())).collect();
        assert_eq!(shown, [(3, 0), (3, 3), (4, 6)]);
    }
}
