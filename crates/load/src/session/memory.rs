//! The memory of one user: cookies, answers to challenges, validators, and its connections.

use super::jar::Jar;
use super::message::{Additions, SessionMessage};
use super::reply::Reply;
use super::validators::ValidatorsSeen;
use crate::auth::{Asker, Authenticator, Covered, Rounds};
use crate::channel::{Destination, OwnedDestination};
use crate::code::Edit;
use crate::exchange::{Client, Worker};
use crate::request::FieldLine;
use plan::draw::hash;
use plan::{Address, Http, Validators};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Connections that a user keeps open at most while it does not use them.
const MOST_IDLE: usize = 64;

/// The memory of one user.
pub(crate) struct Memory {
    plan: Rc<plan::Session>,
    jar: RefCell<Jar>,
    authenticator: Rc<Authenticator>,
    seen: RefCell<ValidatorsSeen>,
    /// Clients that are not in use, each with a connection.
    idle: RefCell<Vec<Client>>,
    tls: RefCell<Option<Rc<wire::tls::TlsClient>>>,
    /// The login was sent.
    pub logged_in: Cell<bool>,
}

impl Memory {
    /// Of the user of this number.
    pub fn new(plan: Rc<plan::Session>, seed: u64, user: u64) -> Memory {
        let authenticator = Authenticator::new(plan.clone(), hash(hash(seed, 0xC0C), user));
        Memory {
            jar: RefCell::new(Jar::new(plan.cookie_rules)),
            plan,
            authenticator: Rc::new(authenticator),
            seen: RefCell::default(),
            idle: RefCell::default(),
            tls: RefCell::default(),
            logged_in: Cell::new(false),
        }
    }

    /// Forgets what a user does not keep from one iteration to the next.
    pub fn forget(&self, keep: plan::Keep) {
        if !keep.cookies {
            self.jar.borrow_mut().clear();
        }
        if !keep.cache {
            self.seen.take();
        }
        if !keep.auth {
            self.authenticator.forget();
        }
        if !keep.connections {
            self.idle.take();
            self.tls.take();
        }
    }

    /// A client for a destination: one whose connection leads there, or a new one.
    pub fn client(&self, worker: &Worker, user: u64, destination: Destination<'_>) -> Client {
        let mut idle = self.idle.borrow_mut();
        let mut client = match idle.iter().position(|client| client.slot.leads_to(destination)) {
            Some(index) => idle.swap_remove(index),
            None => Client::new(user),
        };
        if client.slot.tls.is_none() && destination.secure.is_some() {
            let mut tls = self.tls.borrow_mut();
            *tls = tls.take().or_else(|| worker.channels.own_tls());
            client.slot.tls.clone_from(&tls);
        }
        client.slot.authenticator = Some(self.authenticator.clone());
        client
    }

    /// A client is not in use any more.
    pub fn put_back(&self, client: Client) {
        if client.slot.is_empty() {
            return;
        }
        let mut idle = self.idle.borrow_mut();
        if idle.len() == MOST_IDLE {
            idle.remove(0);
        }
        idle.push(client);
    }

    /// True if a resource seen before still holds, in a plan that goes by that; `now`: seconds since 1970.
    pub fn is_fresh(&self, url: &str, now: i64) -> bool {
        self.plan.validators == Validators::WhileFresh && self.seen.borrow().is_fresh(url, now)
    }

    /// Fields that go along with a request; true if it asks on condition.
    pub fn additions(
        &self,
        message: &SessionMessage,
        destination: &OwnedDestination,
        http: &Http,
        now: i64,
    ) -> (Additions, bool) {
        let mut more = Additions::default();
        let SessionMessage { request, address, .. } = message;
        let method = &*request.method;
        let asker = Asker::Host(format!("{}:{}", address.host, address.port));
        // Only a login that covers bodies needs one that is sent in pieces.
        let body = match &request.long {
            Some(long) if self.authenticator.covers_bodies() => {
                // What cannot be read cannot be sent either, and it is that which is told.
                let read = long.whole();
                read.map_or_else(|_| Cow::Borrowed(&*request.body), Cow::Owned)
            }
            Some(_) | None => Cow::Borrowed(&*request.body),
        };
        let of = Covered { method, uri: destination.line(address, http), body: &body };
        if let Some(value) = self.authenticator.value(&asker, &of) {
            more.add("Authorization", &value);
        }
        if destination.tunnel.is_none()
            && let Some(value) = self.authenticator.value(&Asker::Proxy, &of)
        {
            more.add("Proxy-Authorization", &value);
        }
        if self.plan.cookies {
            let given = request.field("Cookie").map(FieldLine::value).unwrap_or_default();
            let value = self.jar.borrow().value(&given, address, now);
            match value.is_empty() {
                true => more.instead_of.push("Cookie"),
                false => more.add("Cookie", &value),
            }
        }
        let conditions = match method {
            "GET" => self.seen.borrow().conditions(&address.text, self.plan.validators, now),
            _ => Vec::new(),
        };
        let conditional = !conditions.is_empty();
        more.fields.extend(conditions);
        (more, conditional)
    }

    /// Changes the user's cookies as a program has asked for, before a request to an address.
    pub fn edit_cookies(&self, edit: &Edit, to: &Address, now: i64) {
        let mut jar = self.jar.borrow_mut();
        if edit.clears_cookies {
            jar.clear();
        }
        edit.cookies.iter().for_each(|set| jar.set(set, to, now));
    }

    /// Remembers what an answer said; `now`: seconds since 1970.
    pub(super) fn note(&self, message: &SessionMessage, reply: &mut Reply<'_>, now: i64) {
        if self.plan.cookies {
            let mut jar = self.jar.borrow_mut();
            reply.cookies.iter().for_each(|set| jar.set(set, &message.address, now));
        }
        if self.plan.validators != Validators::Never
            && &*message.request.method == "GET"
            && reply.summary.status == 200
        {
            let said = std::mem::take(&mut reply.validator);
            self.seen.borrow_mut().note(&message.address.text, said);
        }
    }

    /// True if a challenge is answered next.
    pub(super) fn answers(&self, reply: &Reply<'_>, from: &Address, rounds: &mut Rounds) -> bool {
        let (asker, challenges) = match reply.summary.status {
            401 => (Asker::Host(format!("{}:{}", from.host, from.port)), &reply.challenges.0),
            407 => (Asker::Proxy, &reply.challenges.1),
            _ => return false,
        };
        self.authenticator.challenge(challenges, &asker, rounds)
    }
}
