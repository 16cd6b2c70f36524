//! State shared by the connections of one worker: counters, serial numbers, dates, and lines of answers written once.

use crate::OriginShared;
use crate::busy::{Busy, BusyUnderWay};
use crate::date::DateText;
use crate::followed::Followed;
use crate::request::{Interest, Request};
use measure::{Event, LiveOriginCounts};
use net::Net;
use plan::Delay;
use plan::Site;
use plan::draw::{Draw, hash};
use plan::site::{Paths, Stamp, StampKind, VaryWay};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// Keeps the origin's random numbers apart from the clients', which come from the same seed.
const SALT_ORIGIN: u64 = 0x6F72_6967_696E;

pub(crate) struct Worker {
    pub(crate) net: Net,
    pub(crate) shared: Arc<OriginShared>,
    pub(crate) events: Option<SyncSender<Event>>,
    pub(crate) interest: Rc<Interest>,
    pub(crate) paths: Paths,
    /// The values of Vary's lines, in each way that there is.
    pub(crate) vary: [Vec<String>; VaryWay::ALL.len()],
    /// The plan's own field lines, which each answer about an object carries.
    pub(crate) field_lines: Vec<u8>,
    /// The plan's own fields, names in lower case as HTTP/2 wants them.
    pub(crate) fields: Vec<(String, Vec<u8>)>,
    /// Those of them that name the object.
    pub(crate) keyed: Vec<KeyedField>,
    /// The stamp's name in lower case.
    pub(crate) stamp_name: String,
    /// One of the plan's own fields is Set-Cookie.
    sets_cookie: bool,
    pub(crate) date: RefCell<DateText>,
    pub(crate) modified: RefCell<DateText>,
    pub(crate) expires: RefCell<DateText>,
    index: u32,
    answers: Cell<u64>,
    salted_seed: u64,
    busy: Rc<Busy>,
}

/// One answer's turn: its numbers and its moment.
pub(crate) struct Turn {
    pub(crate) count: u64,
    pub(crate) serial: u64,
    pub(crate) draw: Draw,
    /// The answer ends before its content does, whatever chance would have it do.
    pub(crate) cut: bool,
    /// The answer is 421, because the plan asks for it.
    pub(crate) misdirected: bool,
    /// When the answer is made, in microseconds since 1970.
    pub(crate) now_us: u64,
}

/// A field of the plan whose value holds the path of the object.
pub(crate) struct KeyedField {
    pub(crate) name: String,
    pub(crate) lower: String,
    value: String,
}

impl KeyedField {
    fn of(field: &plan::Field) -> KeyedField {
        let lower = field.name.to_ascii_lowercase();
        KeyedField { name: field.name.clone(), lower, value: field.value.text().into_owned() }
    }

    /// The value for an object.
    pub(crate) fn value(&self, path: &[u8]) -> Vec<u8> {
        self.value.replace(plan::Origin::PATH, &String::from_utf8_lossy(path)).into_bytes()
    }
}

impl Worker {
    /// Its number.
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    pub(crate) fn new(
        net: Net,
        shared: Arc<OriginShared>,
        index: u32,
        events: Option<SyncSender<Event>>,
    ) -> Rc<Worker> {
        let settings = &shared.settings;
        let interest = Interest::of(&settings.site, &settings.behaviour, events.is_some());
        let fields = &settings.behaviour.fields;
        let lower =
            |field: &plan::Field| (field.name.to_ascii_lowercase(), field.value.text().as_bytes().to_vec());
        let sets_cookie = fields.iter().any(|field| field.name.eq_ignore_ascii_case("Set-Cookie"));
        let is_native = settings.site.form == plan::site::SiteForm::Native;
        let (keyed, fields): (Vec<_>, Vec<_>) =
            fields.iter().partition(|field| is_native && field.value.text().contains(plan::Origin::PATH));
        let mut field_lines = Vec::new();
        for field in &fields {
            wire::http1::write::field(&mut field_lines, &field.name, field.value.text().as_bytes());
        }
        Rc::new(Worker {
            salted_seed: hash(SALT_ORIGIN, settings.seed),
            interest: Rc::new(interest),
            paths: Paths::new(&settings.site),
            vary: VaryWay::ALL.map(|way| way.lines(&settings.site)),
            field_lines,
            fields: fields.into_iter().map(lower).collect(),
            keyed: keyed.into_iter().map(KeyedField::of).collect(),
            stamp_name: plan::site::STAMP_FIELD.to_ascii_lowercase(),
            sets_cookie,
            date: RefCell::new(DateText::new()),
            modified: RefCell::new(DateText::new()),
            expires: RefCell::new(DateText::new()),
            answers: Cell::new(0),
            busy: Busy::new(),
            net,
            shared,
            index,
            events,
        })
    }

    #[inline]
    pub(crate) fn site(&self) -> &Site {
        &self.shared.settings.site
    }

    #[inline]
    pub(crate) fn behaviour(&self) -> &plan::Origin {
        &self.shared.settings.behaviour
    }

    /// Share of requests that get an error.
    #[inline]
    pub(crate) fn errors(&self) -> f64 {
        self.shared.faults.errors.read()
    }

    /// Share of answers that are cut short.
    #[inline]
    pub(crate) fn aborts(&self) -> f64 {
        self.shared.faults.aborts.read()
    }

    #[inline]
    pub(crate) fn counts(&self) -> &LiveOriginCounts {
        self.shared.accounts.of(self.index)
    }

    /// The next answer's turn. Serial numbers are unique over workers and never 0.
    #[inline]
    pub(crate) fn turn(&self) -> Turn {
        let count = self.answers.get() + 1;
        self.answers.set(count);
        let serial = count * u64::from(self.shared.workers()) + u64::from(self.index);
        Turn {
            count,
            serial,
            draw: Draw::new(self.salted_seed, serial),
            cut: false,
            misdirected: false,
            now_us: 0,
        }
    }

    /// The stamp of the answer that a turn makes.
    #[inline]
    pub(crate) fn stamp(&self, turn: &Turn, request: &Request, kind: StampKind) -> Stamp {
        let serial = turn.serial;
        let made_at_us = turn.now_us;
        let foreign = request.canaries.foreign(request.nonce);
        Stamp { serial, asked_by: request.nonce, made_at_us, kind, sets_cookie: self.sets_cookie, foreign }
    }

    /// Counts a request that carries a canary, and whether it is one that came before.
    #[inline]
    pub(crate) fn count_canary(&self, request: &Request) {
        if request.canaries.is_none() {
            return;
        }
        let counts = self.counts();
        counts.canaries.add(1);
        counts.canaries_foreign.add(u64::from(request.canaries.foreign(request.nonce).is_some()));
        counts.doubled.add(u64::from(self.shared.nonces.again(request.nonce)));
    }

    /// Returns the record that follows a request beyond its client, where it can be told by its nonce.
    #[inline]
    pub(crate) fn followed(&self, nonce: u64) -> Option<&Followed> {
        self.shared.followed.as_ref().filter(|_| nonce != 0)
    }

    /// How long the answer is to be held back.
    #[inline]
    pub(crate) fn delay(&self, turn: &mut Turn) -> Duration {
        match self.behaviour().delay {
            Delay::None => Duration::ZERO,
            delay => delay.draw(&mut turn.draw),
        }
    }

    /// Notes that an answer about the object with this key begins, where answers take time.
    pub(crate) fn begin(&self, key: impl FnOnce() -> Option<u64>) -> Option<BusyUnderWay> {
        let behaviour = self.behaviour();
        if behaviour.delay == Delay::None && behaviour.bytes_per_second.is_none() {
            return None;
        }
        let under_way = self.busy.begin(key()?)?;
        self.counts().concurrent.add(u64::from(under_way.concurrent));
        Some(under_way)
    }

    /// Remembers the heads of an exchange.
    #[inline]
    pub(crate) fn remember(&self, turn: &Turn, request: &Request, response: &[u8]) {
        if self.behaviour().remember > 0 {
            let history = &self.shared.histories[self.index as usize];
            history.remember(turn.count, turn.serial, &request.raw, response);
        }
    }
}
