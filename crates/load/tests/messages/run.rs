//! Runs messages against the peer on one worker and returns what was counted.

use crate::peer::{Act, serve};
use load::{Control, Job, drive};
use measure::{Counts, Event, Fault, Snapshot, Tally};
use net::{Io, Limits, ListenOptions, Listener, Net};
use plan::answer::{Check, IsoForm, Must, Selector};
use plan::data::Number;
use plan::message::{Framing, LengthHead, Message, MessageStep};
use plan::{Load, MessageConnections, Pace, Part, Phase, Protocol, Scenario, Site, Step, Stop};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{channel, sync_channel};
use std::time::Duration;

/// Result of the run.
pub struct Ran {
    pub tally: Tally,
    pub events: Vec<Event>,
    /// Requests that the peer has seen.
    pub seen: u64,
}

impl Ran {
    pub fn counts(&self) -> Counts {
        self.tally.counts
    }

    pub fn codes(&self) -> Vec<(String, bool, u64)> {
        let list = self.tally.codes.list();
        list.iter().map(|code| (String::from_utf8_lossy(code.text).into(), code.good, code.count)).collect()
    }

    pub fn faults(&self) -> Vec<(Fault, u64)> {
        self.tally.faults().collect()
    }
}

/// The run to make: step, pace and stop.
pub struct Case {
    pub step: MessageStep,
    pub pace: Pace,
    pub stop: Stop,
    pub connections: MessageConnections,
    /// Where nobody listens.
    pub refused: bool,
    /// Time that an answer may take.
    pub request_limit: Duration,
    pub check: plan::Check,
}

pub fn spot(text: &str) -> Selector {
    Selector::parse(text, IsoForm::default()).unwrap()
}

/// Messages with their number, of which `00` is the good code.
pub fn step() -> MessageStep {
    MessageStep {
        framing: Framing::Length(LengthHead::only(Number::Ascii(4))),
        messages: vec![Message::of("{{request}}.")],
        code: Some(Check::of(spot("fixed 1 2"), Must::BeOneOf(vec!["00".into()]))),
        longest_answer: 5_000,
        ..MessageStep::default()
    }
}

impl Case {
    /// So many requests of four users.
    pub fn new(step: MessageStep, requests: u64) -> Case {
        Case {
            step,
            pace: Pace::Users(4),
            stop: Stop { requests: Some(requests), ..Stop::default() },
            connections: MessageConnections::default(),
            refused: false,
            request_limit: Duration::from_millis(300),
            check: plan::Check::default(),
        }
    }

    fn load(&self) -> Load {
        let scenario = Scenario::of(vec![Step::Messages(self.step.clone())]);
        let phase = Phase {
            name: "measure".to_owned(),
            measured: true,
            scenario,
            pace: self.pace.clone(),
            stop: self.stop,
            ..Phase::default()
        };
        Load {
            target: Some("peer:1".to_owned()),
            protocol: Protocol::Messages(self.connections.clone()),
            check: self.check,
            limits: plan::LoadLimits {
                request: self.request_limit,
                grace: Duration::from_millis(100),
                ..plan::LoadLimits::default()
            },
            phases: vec![phase],
            ..Load::default()
        }
    }

    /// Runs it against the peer with a script.
    pub fn run(self, script: impl Fn(u64) -> Act + 'static) -> Ran {
        self.run_against(|net, listener, seen| serve(net, listener, Rc::new(script), seen))
    }

    /// Runs it to its end on this thread, against a peer that counts what it has seen.
    pub fn run_against<Peer, Serves>(self, peer: Peer) -> Ran
    where
        Peer: FnOnce(Net, Listener, Rc<Cell<u64>>) -> Serves,
        Serves: Future<Output = ()> + 'static,
    {
        let load = self.load();
        let violations =
            load.phases.iter().flat_map(|phase| plan::check::check_step(phase, &self.step, &load));
        assert_eq!(violations.collect::<Vec<_>>(), Vec::<String>::new());
        let (snapshots_in, snapshots) = sync_channel::<Snapshot>(1_000);
        let (events_in, events) = sync_channel(1_000);
        let (_spare_in, spare) = channel();
        let control = Arc::new(Control::new(1, 1));
        let seen = Rc::new(Cell::new(0));
        let seen_by_peer = seen.clone();
        let main = |net: Net| async move {
            let listener = net.listen("127.0.0.1:0".parse().unwrap(), &ListenOptions::default()).unwrap();
            let target = vec![listener.local_addr().unwrap()];
            if !self.refused {
                net.spawn(peer(net.clone(), listener, seen_by_peer));
            }
            let job = Job {
                load: Arc::new(load),
                site: Arc::new(Site::default()),
                seed: 7,
                run_id: 1,
                part: Part::WHOLE,
                control,
                target,
                tls: None,
                hosts: Arc::default(),
                inputs: Arc::default(),
                snapshots: snapshots_in,
                spare,
                events: events_in,
                interval: Duration::from_secs(10),
                interpreters: None,
                broken_off: None,
                phase_began: None,
                qlogs: Vec::new(),
            };
            drive(net, job).await;
        };
        net::run(Io::Auto, Limits::default(), main).unwrap();
        let mut tally = Tally::new();
        snapshots.into_iter().for_each(|snapshot| tally.merge(&snapshot.tally));
        let counts = tally.counts;
        let ended = counts.ok + counts.check_failed + counts.failed;
        assert_eq!(counts.requests, ended + counts.unfinished, "each request ends once: {counts:?}");
        Ran { tally, events: events.into_iter().collect(), seen: seen.get() }
    }
}
