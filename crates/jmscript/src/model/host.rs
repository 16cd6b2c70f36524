//! The outside world as a script sees it. Everything that a script reads or changes goes through [`Host`], so the caller
//! decides about time, chance, files, and what each name stands for; nothing here opens, waits or draws by itself.

use crate::model::tree::Binding;
use crate::model::value::{Argument, CookieValue, Value};
use jiff::tz::TimeZone;
use std::rc::Rc;

/// How serious a line of the log is.
#[expect(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// A sample: the one that the script is about, or the one that a sampler's script makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostSample {
    /// `prev`.
    Previous,
    /// `SampleResult`.
    Own,
}

/// Known values of a sample, of the request that it belongs to, and of the place in the run.
///
/// The kind of value stands beside each name; times are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The answer's body: text.
    Body(HostSample),
    /// The answer's body: bytes.
    Bytes(HostSample),
    /// The status code: text.
    Code(HostSample),
    /// The status message: text.
    Message(HostSample),
    /// The answer's header lines: text.
    ResponseHeaders(HostSample),
    /// The request's header lines: text.
    RequestHeaders(HostSample),
    /// The request as it was sent: text.
    SamplerData(HostSample),
    /// The name in the results: text.
    SampleLabel(HostSample),
    /// The URL: text.
    SampleUrl(HostSample),
    /// Success: bool.
    Success(HostSample),
    /// Its duration: long.
    Elapsed(HostSample),
    /// Until the first byte of the answer: long.
    Latency(HostSample),
    /// Until the connection was there: long.
    Connect(HostSample),
    /// When it began, Unix time: long.
    StartTime(HostSample),
    /// When it ended, Unix time: long.
    EndTime(HostSample),
    /// Bytes of the answer with its head: long.
    ReceivedBytes(HostSample),
    /// Bytes of the body: long.
    BodyBytes(HostSample),
    /// Bytes of the request: long.
    SentBytes(HostSample),
    /// The media type with its parameters: text.
    ContentType(HostSample),
    /// `text` or `bin`: text.
    DataType(HostSample),
    /// The body's encoding: text.
    Encoding(HostSample),
    /// Errors, 0 or 1: int.
    ErrorCount(HostSample),
    /// Users of the group: int.
    GroupUsers(HostSample),
    /// Users of all groups: int.
    AllUsers(HostSample),
    /// The sample is dropped: bool, true only.
    Ignored(HostSample),
    /// The message of the first assertion that failed: text or null.
    AssertionMessage(HostSample),
    /// The assertion failed: bool.
    Failure,
    /// The assertion could not be made: bool.
    AssertionError,
    /// Why the assertion failed: text.
    FailureMessage,
    /// The name of the request's element: text.
    SamplerName,
    /// Path: text.
    SamplerPath,
    /// Method: text.
    SamplerMethod,
    /// Host: text.
    SamplerDomain,
    /// Port: int.
    SamplerPort,
    /// `http` or `https`: text.
    SamplerProtocol,
    /// All values joined are the request's body, without their names: bool.
    SamplerBodyIsRaw,
    /// The number of the user in the group, from 0: int.
    UserNumber,
    /// The user's name as JMeter writes it, `Group 1-1`: text.
    UserName,
    /// The group's name: text.
    GroupName,
    /// Users of the group that are there: int.
    UserCount,
    /// Users that the plan has for the group: int.
    UsersPlanned,
    /// Users that the plan has for the groups that have begun so far: int.
    AllUsersPlanned,
    /// Users that have begun so far: int.
    UsersBegun,
    /// Users that have ended so far: int.
    UsersEnded,
    /// Turns of the user so far, from 1: int.
    Iteration,
    /// The element's parameters: text.
    Parameters,
    /// The element's name: text.
    Label,
    /// The element's file: text.
    FileName,
    /// The plan's folder: text.
    Folder,
    /// `true` where the user goes to the next turn of its group after this element: bool.
    NextIteration,
    /// Where the user goes on after this element, by the name that JMeter's `TestLogicalAction` has for it: text.
    GoesOn,
}

/// Target that a script asks to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// This user.
    User,
    /// The run, after what is under way.
    Test,
    /// The run, at once.
    TestNow,
}

/// Presence of a name for a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Unknown: using it is an error.
    Absent,
    /// There, and `null`.
    Null,
    /// There.
    Here,
}

/// Why the outside world refuses; the text becomes the exception's message.
pub type Refused = Rc<str>;

/// The outside world. What has a body here refuses or does nothing, so that a host begins with what it has.
pub trait Host {
    /// Presence of a name for this element's script; by default all names are there.
    fn presence(&self, _binding: Binding) -> Presence {
        Presence::Here
    }

    /// A variable of the user.
    fn variable(&mut self, name: &str) -> Option<Value>;
    /// Gives a variable a value; `null` is one.
    fn set_variable(&mut self, name: &str, value: Value);
    /// Takes a variable away; the value that it had.
    fn remove_variable(&mut self, name: &str) -> Option<Value>;
    /// The names of all variables.
    fn variables(&self) -> Vec<Rc<str>>;

    /// A property, which all users share.
    fn property(&mut self, name: &str) -> Option<Value>;
    /// Gives a property a value.
    fn set_property(&mut self, name: &str, value: Value);
    /// Takes a property away; the value that it had.
    fn remove_property(&mut self, name: &str) -> Option<Value>;
    /// The names of all properties.
    fn properties(&self) -> Vec<Rc<str>>;

    /// A line for the log.
    fn log(&mut self, level: Level, line: &str);
    /// Text for the standard output.
    fn print(&mut self, text: &str);

    /// Reads a field; `null` where there is nothing.
    fn get(&mut self, _field: Field) -> Value {
        Value::Null
    }
    /// Changes a field.
    fn set(&mut self, field: Field, _value: Value) -> Result<(), Refused> {
        Err(Rc::from(format!("{field:?} cannot be set here")))
    }

    /// Adds a header field to the request.
    fn add_header(&mut self, _name: &str, _value: &str) -> Result<(), Refused> {
        Err(Rc::from("headers cannot be set here"))
    }
    /// Takes the header fields of a name away from the request.
    fn remove_header(&mut self, _name: &str) -> Result<(), Refused> {
        Err(Rc::from("headers cannot be set here"))
    }
    /// The user's cookies.
    fn cookies(&mut self) -> Vec<CookieValue> {
        Vec::new()
    }
    /// Replaces the user's cookies.
    fn set_cookies(&mut self, _cookies: Vec<CookieValue>) -> Result<(), Refused> {
        Err(Rc::from("cookies cannot be set here"))
    }
    /// The parameters that scripts have given the request.
    fn arguments(&mut self) -> Vec<Argument> {
        Vec::new()
    }
    /// Adds a parameter to the request.
    fn add_argument(&mut self, _argument: Argument) -> Result<(), Refused> {
        Err(Rc::from("arguments cannot be set here"))
    }
    /// Takes all parameters away from the request.
    fn clear_arguments(&mut self) -> Result<(), Refused> {
        Err(Rc::from("arguments cannot be set here"))
    }

    /// Asks for an end.
    fn stop(&mut self, _what: Stop) {}
    /// Milliseconds that the user is to wait after the script; the script itself goes on at once.
    fn pause(&mut self, _millis: u64) {}

    /// Milliseconds of Unix time.
    fn now(&mut self) -> i64;
    /// Nanoseconds of a clock that only goes forward.
    fn nanos(&mut self) -> i64;
    /// 64 bits of chance.
    fn random(&mut self) -> u64;
    /// The zone of dates where a script names none.
    fn time_zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    /// Reads a file below the plan's folder.
    fn read_file(&mut self, path: &str) -> Result<Rc<[u8]>, Refused> {
        Err(Rc::from(format!("{path} cannot be read here")))
    }
    /// Writes a file, or adds to it.
    fn write_file(&mut self, path: &str, _bytes: &[u8], _appends: bool) -> Result<(), Refused> {
        Err(Rc::from(format!("{path} cannot be written here")))
    }
    /// True if a file is there.
    fn has_file(&mut self, _path: &str) -> bool {
        false
    }
}
