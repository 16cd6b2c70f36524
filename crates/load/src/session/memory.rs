//! What one user keeps: cookies, answers to challenges, validators, and its connections.

use super::auth::{Answers, Asker, Challenged};
use super::digest::Covered;
use super::jar::Jar;
use super::message::{Additions, Message};
use super::reply::Reply;
use super::validators::Seen;
use crate::exchange::{Place, Slot};
use crate::route::Route;
use crate::worker::Worker;
use plan::draw::hash;
use plan::{Address, Http1, Validators};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Connections that a user keeps open at most while it does not use them.
const MOST_IDLE: usize = 64;

/// The memory of one user.
pub(crate) struct Memory {
    plan: Rc<plan::Session>,
    jar: RefCell<Jar>,
    answers: RefCell<Answers>,
    seen: RefCell<Seen>,
    /// Connection slots that are not in use.
    slots: RefCell<Vec<Slot>>,
    tls: RefCell<Option<wire::tls::Client>>,
    /// The login was sent.
    pub logged_in: Cell<bool>,
}

/// Challenges to one request, so far.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    count: u32,
    host: bool,
    proxy: bool,
}

impl Rounds {
    /// Whether this one was answered already.
    fn was_answered(&mut self, asker: &Asker) -> &mut bool {
        if *asker == Asker::Proxy { &mut self.proxy } else { &mut self.host }
    }
}

impl Memory {
    /// Of the user of this number.
    pub fn new(plan: Rc<plan::Session>, seed: u64, user: u64) -> Memory {
        let answers = Answers::new(hash(hash(seed, 0xC0C), user));
        Memory {
            plan,
            jar: RefCell::default(),
            answers: RefCell::new(answers),
            seen: RefCell::default(),
            slots: RefCell::default(),
            tls: RefCell::default(),
            logged_in: Cell::new(false),
        }
    }

    /// A slot for a place: one whose connection leads there, or a new one.
    pub fn slot(self: &Rc<Memory>, worker: &Worker, user: u64, place: Place<'_>) -> Slot {
        let mut slots = self.slots.borrow_mut();
        let leads =
            |slot: &Slot| slot.connection.as_ref().is_some_and(|connection| connection.leads_to(place));
        let mut slot = match slots.iter().position(leads) {
            Some(index) => slots.swap_remove(index),
            None => Slot::new(user),
        };
        if slot.tls.is_none() && place.secure.is_some() {
            let mut tls = self.tls.borrow_mut();
            let own = || worker.job.tls.as_ref().map(wire::tls::Client::with_own_memory);
            *tls = tls.take().or_else(own);
            slot.tls.clone_from(&tls);
        }
        // Given back with the slot, or both would keep each other for ever.
        slot.memory = Some(self.clone());
        slot
    }

    /// A slot is not in use any more.
    pub fn put_back(&self, mut slot: Slot) {
        slot.memory = None;
        if slot.connection.is_none() {
            return;
        }
        let mut slots = self.slots.borrow_mut();
        if slots.len() == MOST_IDLE {
            slots.remove(0);
        }
        slots.push(slot);
    }

    /// Whether a resource seen before still holds, in a plan that goes by that; `now`: seconds since 1970.
    pub fn is_fresh(&self, url: &str, now: i64) -> bool {
        self.plan.validators == Validators::WhileFresh && self.seen.borrow().is_fresh(url, now)
    }

    /// What goes along with a request, and whether it asks on condition.
    pub fn additions(&self, message: &Message, route: &Route, http: &Http1, now: i64) -> (Additions, bool) {
        let mut more = Additions::default();
        let Message { method, address, .. } = message;
        let asker = Asker::Host(format!("{}:{}", address.host, address.port));
        let of = Covered { method, uri: route.line(address, http), body: message.payload() };
        if let Some(value) = self.answers.borrow_mut().value(&asker, &of) {
            more.add("Authorization", &value);
        }
        if route.tunnel.is_none()
            && let Some(value) = self.answers.borrow_mut().value(&Asker::Proxy, &of)
        {
            more.add("Proxy-Authorization", &value);
        }
        if self.plan.cookies {
            let given = message.given("Cookie").unwrap_or_default();
            let value = self.jar.borrow().value(&given, address, now);
            match value.is_empty() {
                true => more.instead_of.push("Cookie"),
                false => more.add("Cookie", &value),
            }
        }
        let conditions = match method.as_str() {
            "GET" => self.seen.borrow().lines(&address.text, self.plan.validators, now),
            _ => String::new(),
        };
        more.lines.extend_from_slice(conditions.as_bytes());
        (more, !conditions.is_empty())
    }

    /// Remembers what an answer said; `now`: seconds since 1970.
    pub(super) fn note(&self, message: &Message, reply: &mut Reply<'_>, now: i64) {
        if self.plan.cookies {
            let mut jar = self.jar.borrow_mut();
            reply.cookies.iter().for_each(|set| jar.set(set, &message.address, now));
        }
        if self.plan.validators != Validators::Never && message.method == "GET" && reply.status == 200 {
            let said = std::mem::take(&mut reply.validator);
            self.seen.borrow_mut().note(&message.address.text, said);
        }
    }

    /// Whether a challenge is answered next.
    pub(super) fn answers(&self, reply: &Reply<'_>, from: &Address, rounds: &mut Rounds) -> bool {
        match reply.status {
            401 => {
                let asker = Asker::Host(format!("{}:{}", from.host, from.port));
                self.challenge(&reply.challenges.0, &asker, rounds)
            }
            407 => self.answers_proxy(&reply.challenges.1, rounds),
            _ => false,
        }
    }

    /// Whether a challenge of the proxy is answered next.
    pub fn answers_proxy(&self, challenges: &[String], rounds: &mut Rounds) -> bool {
        self.challenge(challenges, &Asker::Proxy, rounds)
    }

    /// What was refused once for the same request is refused again, unless only its nonce was too old.
    fn challenge(&self, challenges: &[String], asker: &Asker, rounds: &mut Rounds) -> bool {
        let Some(auth) = self.plan.auth.as_ref().filter(|auth| rounds.count < auth.attempts) else {
            return false;
        };
        let answered = match self.answers.borrow_mut().challenge(challenges, asker, auth) {
            Challenged::Unanswered => false,
            Challenged::Answered => !*rounds.was_answered(asker),
            Challenged::Renewed => true,
        };
        rounds.count += 1;
        *rounds.was_answered(asker) = true;
        answered
    }

    /// The line of a request without a body that answers the proxy, where it has asked before.
    pub fn proxy_line(&self, method: &str, uri: &str) -> Option<String> {
        let of = Covered { method, uri, body: b"" };
        let value = self.answers.borrow_mut().value(&Asker::Proxy, &of)?;
        Some(format!("Proxy-Authorization: {value}\r\n"))
    }
}
