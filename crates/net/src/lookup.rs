//! Name resolution: the system's resolver on a helper thread, because it blocks.
//!
//! The helper is started by the first lookup and ends with its worker; lookups of one worker are answered one after the
//! other. Name lookups happen at the start of a run, never per request.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Poll;
use std::thread;

use slab::Slab;

use crate::backend::Driver;
use crate::tasks::TaskId;
use crate::turn::Turn;

type Addresses = io::Result<Vec<SocketAddr>>;

/// Lookups waiting at once at most. More is a mistake of the caller, not load.
const LOOKUPS_MAX: usize = 4096;

#[derive(Default)]
pub(crate) struct Lookups(RefCell<LookupState>);

#[derive(Default)]
struct LookupState {
    helper: Option<Helper>,
    open: Slab<Lookup>,
}

struct Helper {
    questions: Sender<Question>,
    answers: Receiver<Answer>,
}

/// Owned by the future that asked; when that is gone too early, the answer removes it.
enum Lookup {
    Waiting(TaskId),
    Answered(Option<Addresses>),
    Abandoned,
}

struct Question {
    index: usize,
    host: String,
    port: u16,
}

struct Answer {
    index: usize,
    addresses: Addresses,
}

impl Lookups {
    /// The addresses of a host; an IP address is returned as it is.
    pub(crate) async fn addresses(&self, turn: &Turn, driver: &Driver, host: &str, port: u16) -> Addresses {
        if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let index = self.ask(turn, driver, host, port)?;
        let asked = LookupAsked { lookups: self, index };
        poll_fn(|_| self.poll_answer(turn, asked.index)).await
    }

    /// Takes in what the helper has answered and makes the askers ready.
    pub(crate) fn collect(&self, turn: &Turn) {
        let mut state = self.0.borrow_mut();
        let LookupState { helper, open } = &mut *state;
        let Some(helper) = helper else { return };
        while let Ok(Answer { index, addresses }) = helper.answers.try_recv() {
            match open[index] {
                Lookup::Waiting(task) => {
                    open[index] = Lookup::Answered(Some(addresses));
                    turn.make_ready(task);
                }
                Lookup::Abandoned | Lookup::Answered(_) => drop(open.remove(index)),
            }
        }
    }

    fn abandon(&self, index: usize) {
        let open = &mut self.0.borrow_mut().open;
        match open[index] {
            Lookup::Waiting(_) => open[index] = Lookup::Abandoned,
            Lookup::Answered(_) | Lookup::Abandoned => drop(open.remove(index)),
        }
    }

    fn ask(&self, turn: &Turn, driver: &Driver, host: &str, port: u16) -> io::Result<usize> {
        let mut state = self.0.borrow_mut();
        if state.open.len() >= LOOKUPS_MAX {
            return Err(io::Error::other("too many name lookups at once"));
        }
        if state.helper.is_none() {
            state.helper = Some(start_helper(driver)?);
        }
        let index = state.open.insert(Lookup::Waiting(turn.current()));
        let host = host.to_owned();
        let question = Question { index, host, port };
        let helper = state.helper.as_ref().expect("started above");
        // The helper ends only after this sender is gone.
        let _ = helper.questions.send(question);
        Ok(index)
    }

    fn poll_answer(&self, turn: &Turn, index: usize) -> Poll<Addresses> {
        match &mut self.0.borrow_mut().open[index] {
            Lookup::Waiting(task) => *task = turn.current(),
            Lookup::Answered(addresses) => {
                return addresses.take().map_or(Poll::Pending, Poll::Ready);
            }
            Lookup::Abandoned => {}
        }
        Poll::Pending
    }
}

fn start_helper(driver: &Driver) -> io::Result<Helper> {
    let waker = driver.waker()?;
    let (questions, asked) = channel::<Question>();
    let (answered, answers) = channel();
    let work = move || {
        for question in asked {
            let index = question.index;
            let addresses = resolve(&question.host, question.port);
            let answer = Answer { index, addresses };
            // Either fails only when the worker has ended and nobody wants the answer.
            if answered.send(answer).is_err() || waker.wake().is_err() {
                return;
            }
        }
    };
    let named = thread::Builder::new().name("lookup".to_owned());
    named.spawn(work)?;
    Ok(Helper { questions, answers })
}

fn resolve(host: &str, port: u16) -> Addresses {
    let addresses: Vec<_> = (host, port).to_socket_addrs()?.collect();
    match addresses.is_empty() {
        true => Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address")),
        false => Ok(addresses),
    }
}

/// Gives the lookup's place back, at once when it was answered, otherwise with its answer.
struct LookupAsked<'a> {
    lookups: &'a Lookups,
    index: usize,
}

impl Drop for LookupAsked<'_> {
    fn drop(&mut self) {
        self.lookups.abandon(self.index);
    }
}
