//! An agent that is the origin of somebody's run: it serves until the controller has had enough, goes away, or says nothing any more,
//! and tells its accounts all the while.

use crate::channel::{Came, say};
use crate::doctor;
use crate::options::SessionOptions;
use crate::problem::Problem;
use crate::scripts::Scripts;
use crate::targets::Targets;
use crate::workers::{With, Workers};
use crate::{backend, filled, inputs, listen, refuse_violations, usage};
use fleet::Awake;
use fleet::frame::Frame;
use fleet::message::{Down, Order, Served, Stop, Up};
use fleet::owner::{Owner, Pressed};
use plan::{Inputs, Origin, Plan};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How often the accounts are told.
const EVERY: Duration = Duration::from_millis(200);
/// How often it is looked at what the controller does not tell.
const LOOK_UP: Duration = Duration::from_millis(20);

/// An origin that is served for somebody.
pub(crate) struct Serving {
    workers: Workers,
    warnings: Vec<String>,
    lease: Duration,
}

impl Serving {
    /// Listens there as the origin of the plan.
    ///
    /// # Errors
    /// The plan has no origin; a rule of an owner; an address that is taken, or not of this machine.
    pub fn prepare(
        plan: Plan,
        inputs: Inputs,
        order: &Order,
        listen: &str,
        owners: &[Owner],
    ) -> Result<Serving, Problem> {
        let Some(origin) = plan.origin else {
            return Err(Problem::Usage("the plan that was sent has no origin to be served".to_owned()));
        };
        let origin = Origin { listen: listen.to_owned(), further_ports: 0, ..origin };
        let mut plan = Plan { load: None, origin: Some(origin), ..plan };
        refuse_violations(&plan)?;
        inputs::refuse_missing(&plan, &inputs)?;
        let own = Pressed { name: listen.to_owned(), addresses: vec![listen::bindable(listen)?] };
        let refuses = |owner: &Owner| owner.refuses(&plan, order.share, std::slice::from_ref(&own));
        if let Some(why) = owners.iter().find_map(refuses) {
            return Err(Problem::impossible(format!("it is to listen where it may not: {why}")));
        }
        listen::settle(&mut plan)?;
        usage::check_threads(u16::try_from(order.share.count).ok())?;
        doctor::raise_descriptors();
        let (io, note) = backend::choose(&plan, order.share.count, 1.0)?;
        let inputs = Arc::new(inputs);
        let with = With {
            io,
            share: order.share,
            run_id: Some(order.run_id),
            tls: None,
            inputs: inputs.clone(),
            heads: false,
            interpreters: None,
            resume: None,
            only_to: None,
        };
        let around = SessionOptions::default();
        let plan = filled(&plan, &inputs)?;
        let workers = Workers::start(&plan, &with, &Targets::default(), &around, &mut Scripts::default())?;
        let warnings = note.into_iter().collect();
        Ok(Serving { workers, warnings, lease: Duration::from_micros(order.lease_us) })
    }

    /// Sentences on what may fall short here.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Serves to the end, which is at once where nobody listens any more.
    pub fn run(mut self, came: &Receiver<Came>, to: &Sender<Frame>) {
        self.workers.go();
        let began = Instant::now();
        let mut awake = Awake::default();
        // In the time in which it was awake: who stood still heard nobody.
        let mut heard = Duration::ZERO;
        let mut told: Option<Instant> = None;
        let has_ended = loop {
            match came.recv_timeout(LOOK_UP) {
                Ok(Came::Said(Down::Beat(beat))) => {
                    awake.look(began.elapsed());
                    heard = awake.time();
                    if beat.stop != Stop::No {
                        break true;
                    }
                }
                Ok(
                    Came::Said(Down::Plan(_) | Down::Data(_) | Down::Collect(_) | Down::Forget(_))
                    | Came::Closed(_),
                )
                | Err(RecvTimeoutError::Disconnected) => break false,
                Err(RecvTimeoutError::Timeout) => {}
            }
            // One that is not whole would be taken for a slow one.
            awake.look(began.elapsed());
            if awake.time().saturating_sub(heard) >= self.lease || !self.workers.panics().is_empty() {
                break false;
            }
            if told.is_none_or(|at| at.elapsed() >= EVERY) {
                told = Some(Instant::now());
                self.tell(false, to);
            }
        };
        self.workers.stop();
        if has_ended {
            self.tell(true, to);
            // It is read before the channel closes.
            while let Ok(Came::Said(_)) = came.recv_timeout(self.lease) {}
        }
    }

    fn tell(&self, last: bool, to: &Sender<Frame>) {
        let counts = self.workers.origin_counts().expect("the plan has an origin");
        say(to, &Up::Served(Box::new(Served { counts, last })));
    }
}
