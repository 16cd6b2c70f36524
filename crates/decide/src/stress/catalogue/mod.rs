//! All scenarios, a row each: those that clients make ([`clients`]), those that the origin makes ([`origin`]), those about
//! what a cache holds ([`sets`]), and those that are done to the target itself ([`target`]).

mod clients;
mod halves;
mod malformed;
mod origin;
mod sets;
mod target;

use super::scenario::Scenario;

/// All of them, in the order in which they are run.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    clients::ALL.iter().chain(origin::ALL).chain(sets::ALL).chain(target::ALL)
}

/// The scenario of this name.
pub fn named(name: &str) -> Option<&'static Scenario> {
    all().find(|scenario| scenario.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::Ground;
    use crate::stress::scenario::{Between, Press};
    use plan::site::Size;
    use plan::{Law, Plan, Popularity, Protocol, Step, Stop};
    use std::collections::BTreeSet;
    use std::time::Duration;

    fn ground(is_secure: bool) -> Ground {
        Ground {
            capacity: 20_000.0,
            connections: 4_000.0,
            press_s: 30.0,
            descriptors: 20_000,
            is_secure,
            is_owned: true,
            cache_bytes: Some(64 << 20),
            knows_processes: true,
            reloads: true,
            has_disk: true,
        }
    }

    /// The plan of a pressure, as it would be run.
    fn plan(scenario: &Scenario, ground: &Ground) -> Plan {
        let press = (scenario.press)(ground);
        let mut phase = press.phase;
        phase.stop = Stop { after: Some(Duration::from_secs(30)), ..Stop::default() };
        let load = plan::Load {
            target: Some("127.0.0.1:8080".to_owned()),
            protocol: press.protocol,
            limits: press.limits,
            phases: vec![phase],
            ..plan::Load::default()
        };
        Plan {
            version: Plan::VERSION,
            seed: 7,
            threads: None,
            io: plan::Io::Auto,
            site: press.site,
            load: Some(load),
            origin: None,
        }
    }

    #[test]
    fn names_differ_and_each_can_be_run_somewhere() {
        let names: BTreeSet<&str> = all().map(|scenario| scenario.name).collect();
        assert!(names.len() == all().count() && names.len() >= 12, "{names:?}");
        for scenario in all() {
            let suits = [false, true].map(ground).iter().any(|ground| (scenario.lacks)(ground).is_none());
            assert!(suits, "{}", scenario.name);
            assert!(!scenario.causes.is_empty() && named(scenario.name).is_some());
        }
    }

    #[test]
    fn each_pressure_is_a_plan_that_keeps_its_rules() {
        for scenario in all() {
            let plan = plan(scenario, &ground(false));
            assert_eq!(plan.check(), Vec::<String>::new(), "{}", scenario.name);
            let small = Ground { capacity: 1.0, connections: 1.0, ..ground(false) };
            assert_eq!(self::plan(scenario, &small).check(), Vec::<String>::new(), "{}", scenario.name);
        }
    }

    /// Laws by which a pressure asks for objects.
    fn popularity(press: &Press) -> Popularity {
        let step = press.phase.sends().first().copied();
        let Some(Step::Object(step)) = step else { panic!("it asks for no objects: {step:?}") };
        step.popularity.clone()
    }

    /// A pressure that does less than is told of it would be passed by whoever should fail.
    #[test]
    fn pressures_are_those_that_are_told() {
        let ground = ground(true);
        let press = |name| (named(name).expect("it is there").press)(&ground);
        let lying = press("lying-origin");
        assert_eq!((lying.between, popularity(&lying).one_timers), (Some(Between::Lying), 0.5));
        let dripping = press("dripping-origin");
        assert_eq!((dripping.between, popularity(&dripping).one_timers), (Some(Between::Dripping), 1.0));
        let writers = press("slow-writers");
        assert_eq!((writers.before, writers.between), (Some(Between::Dripping), None));
        let http = writers.protocol.http().expect("they speak HTTP");
        assert!(http.fields.iter().any(|field| field.name == "X-Filler"), "{:?}", http.fields);
        let moving = press("moving-set");
        assert_eq!((moving.site.size, popularity(&moving).drift_per_hour), (Size::Fixed(10_000), 360.0));
        let beyond = press("beyond-memory");
        let Size::Fixed(bytes) = beyond.site.size else { panic!("{:?}", beyond.site.size) };
        let memory = ground.cache_bytes.expect("it is known") as f64;
        assert!(((beyond.objects * bytes) as f64 / memory - 4.0).abs() < 0.01, "{}", beyond.objects);
        assert_eq!(popularity(&beyond).law, Law::Zipf { alpha: 0.8 });
    }

    #[test]
    fn what_nobody_may_send_to_others_is_not_sent() {
        let ground = Ground { is_owned: false, ..ground(false) };
        let messages =
            |scenario: &&Scenario| matches!((scenario.press)(&ground).protocol, Protocol::Messages(_));
        let raw: Vec<&Scenario> = all().filter(messages).collect();
        assert!(!raw.is_empty() && raw.iter().all(|scenario| (scenario.lacks)(&ground).is_some()));
    }
}
