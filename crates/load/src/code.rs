//! Program text within journeys: what the engine gives to whoever interprets it, and what it takes back. The engine knows no
//! language.
//!
//! An [`Interpreter`] lives on the thread of one worker and makes each program of the plan ready once. A run of one is given a
//! [`CodeContext`]: the user's values by name, the last sample, and the place in the run.

use plan::{Code, Flow};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Makes interpreters: one for each worker, on its thread.
pub trait Interpreters: Send + Sync {
    /// The interpreter of a worker.
    fn of_worker(&self, worker: u32) -> Rc<dyn Interpreter>;
}

/// Interprets the program texts of a plan, for the users of one worker.
pub trait Interpreter {
    /// Makes a program ready; the number by which it is run.
    fn prepare(&self, code: &Code) -> usize;

    /// Runs a program for a user.
    fn run(&self, program: usize, context: &mut CodeContext<'_>) -> Ran;
}

/// Values of a user by their names.
pub trait Variables {
    /// A value; `None` where there is none.
    fn get(&self, name: &str) -> Option<Vec<u8>>;
    /// Keeps a value, or forgets it.
    fn set(&mut self, name: &str, value: Option<&[u8]>);
    /// The names of all values.
    fn names(&self) -> Vec<String>;
}

/// The context of one run of a program.
pub struct CodeContext<'a> {
    /// The values of the user.
    pub variables: &'a mut dyn Variables,
    /// State of the user that is kept for its programs.
    pub user: &'a mut CodeUser,
    /// The sample that the program makes, where it is one itself.
    pub own: Option<&'a mut Sample>,
    /// Parameters that the program is called with.
    pub parameters: &'a str,
    /// Microseconds since 1970.
    pub unix_us: u64,
}

/// The end of a run of a program.
#[derive(Debug, Default)]
pub struct Ran {
    /// Its value as text; `None` where it has none.
    pub value: Option<Vec<u8>>,
    /// Why it ended early.
    pub failed: Option<Refusal>,
}

/// The reason for which a program ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// For people.
    pub text: String,
    /// The program itself has found that something does not hold; otherwise it is broken.
    pub is_assertion: bool,
}

/// State of a user that is kept for its programs.
pub struct CodeUser {
    /// The interpreter's own; all branches of a user share it.
    pub memory: Rc<RefCell<Option<Box<dyn Any>>>>,
    /// Where the user stands.
    pub place: CodePlace,
    /// The last sample; `None` before the first one.
    pub last: Option<Sample>,
    /// Where the user is to go on, as a program has asked for.
    pub flow: Option<Flow>,
    /// To wait before the user goes on, as a program has asked for.
    pub pause: Duration,
    /// Changes of the next request.
    pub edit: Edit,
    /// Lines for whoever watches the run; true: something is broken.
    pub lines: Vec<(bool, String)>,
    /// Why the next request has failed, however it is answered: code and message.
    pub broken: Option<(String, String)>,
    /// Values that records hold: the name of each, and its slot where the plan has it.
    pub(crate) told: Vec<(String, Option<usize>)>,
    pub(crate) interpreter: Option<Rc<dyn Interpreter>>,
}

impl Edit {
    /// True if nothing is changed.
    pub fn is_empty(&self) -> bool {
        *self == Edit::default()
    }
}

impl CodeUser {
    /// Of nobody: for a program that is run before users come.
    pub fn outside() -> CodeUser {
        CodeUser::new(None, CodePlace::default())
    }

    pub(crate) fn new(interpreter: Option<Rc<dyn Interpreter>>, place: CodePlace) -> CodeUser {
        CodeUser {
            memory: Rc::default(),
            place,
            last: None,
            flow: None,
            pause: Duration::ZERO,
            edit: Edit::default(),
            lines: Vec::new(),
            broken: None,
            told: Vec::new(),
            interpreter,
        }
    }

    /// That of a branch of the user, which has sent nothing yet.
    pub(crate) fn branched(&self, branch: u32) -> CodeUser {
        let place = CodePlace { branch, ..self.place.clone() };
        CodeUser {
            memory: self.memory.clone(),
            told: self.told.clone(),
            ..CodeUser::new(self.interpreter.clone(), place)
        }
    }

    /// A branch of the user has ended: its last sample is the user's, where it made one.
    pub(crate) fn join(&mut self, branch: CodeUser) {
        self.lines.extend(branch.lines);
        self.last = branch.last.or_else(|| self.last.take());
    }

    /// Runs a program behind an answer, or before a request.
    pub(crate) fn run(
        &mut self,
        program: usize,
        variables: &mut dyn Variables,
        own: Option<&mut Sample>,
        parameters: &str,
    ) -> Ran {
        let Some(interpreter) = self.interpreter.clone() else { return Ran::default() };
        let unix_us = self.place.unix_us;
        interpreter.run(program, &mut CodeContext { variables, user: self, own, parameters, unix_us })
    }
}

/// The place of a user in a run.
#[derive(Debug, Clone, Default)]
pub struct CodePlace {
    /// The number of the user in its group, from 0.
    pub user: u64,
    /// The branch that the user is in, from 1; 0: none.
    pub branch: u32,
    /// Name of the group's users, before their number.
    pub user_name: Rc<str>,
    /// The name of the group.
    pub group_name: Rc<str>,
    /// The number of the group in the phase, and of the phase.
    pub group: (usize, usize),
    /// Users of the group that are there.
    pub users: u64,
    /// Users of all groups that are there.
    pub all_users: u64,
    /// Users that the plan has for the group; of an open pace, those who may be there at once.
    pub users_planned: u64,
    /// The same of all groups of this phase and of those before it.
    pub all_users_planned: u64,
    /// Users that have begun so far, in whatever phase.
    pub users_begun: u64,
    /// The number of the iteration, from 1.
    pub iteration: u64,
    /// Microseconds since 1970.
    pub unix_us: u64,
    /// The seed of the run.
    pub seed: u64,
}

/// A request and its answer, as programs see them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// Its label.
    pub label: String,
    /// Its method.
    pub method: String,
    /// Its URL, absolute.
    pub url: String,
    /// The fields of the request, each on a line.
    pub request_head: String,
    /// The body of the request.
    pub request_body: Vec<u8>,
    /// Its status, as text.
    pub code: String,
    /// The words of the status.
    pub message: String,
    /// Status line and fields of the answer, each on a line.
    pub head: String,
    /// The body of the answer; `None` where none was set.
    pub body: Option<Vec<u8>>,
    /// It is good.
    pub success: bool,
    /// When it began: milliseconds since 1970.
    pub began_ms: u64,
    /// Its times.
    pub times: SampleTimes,
    /// Bytes of the request, and of the answer.
    pub bytes: (u64, u64),
    /// It is not to be told of.
    pub ignored: bool,
    /// Checks that did not hold: the name of each, and what it says.
    pub failed: Vec<(String, String)>,
    /// The assertion that runs: what it says, where it does not hold.
    pub assertion: Option<String>,
    /// The assertion that runs could not be made.
    pub assertion_error: bool,
    /// A program has set its code or its message.
    pub is_edited: bool,
}

/// Times of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleTimes {
    /// All of it.
    pub elapsed: Duration,
    /// To the first byte of the answer.
    pub latency: Duration,
    /// To connect.
    pub connect: Duration,
}

/// Changes of the next request, as a program has asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// Another method.
    pub method: Option<String>,
    /// Another scheme, `http` or `https`.
    pub scheme: Option<String>,
    /// Another host.
    pub host: Option<String>,
    /// Another port.
    pub port: Option<u16>,
    /// Another path; a query is added to that of the parameters.
    pub path: Option<String>,
    /// Fields by their names, to be added or, without a value, to be taken away; in order.
    pub fields: Vec<(String, Option<String>)>,
    /// Its parameters.
    pub parameters: Parameters,
    /// Another label.
    pub label: Option<String>,
    /// The user's cookies are thrown away.
    pub clears_cookies: bool,
    /// Cookies that are kept then, as a Set-Cookie field has them.
    pub cookies: Vec<String>,
}

/// Changes of a request's parameters: its query or, where its method has one, its body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Those of the plan are taken away first.
    pub replaces: bool,
    /// Those that are added, in order.
    pub added: Vec<Parameter>,
    /// All values joined are the body, without their names.
    pub raw: bool,
}

impl Parameters {
    /// True if nothing is changed.
    pub fn is_empty(&self) -> bool {
        *self == Parameters::default()
    }
}

/// A parameter of a request; without a name, a part of its body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Both are encoded (`application/x-www-form-urlencoded`); otherwise they are sent as they are.
    pub encodes: bool,
}
