//! Helpers that the tests of several tools share: command lines as words, a file to send, and parts of a plan.

use ::plan::{Http, Phase, Plan, Protocol, Request, Step};
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// The words of a command line; `~` is a blank within a word.
pub(crate) fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(|word| word.replace('~', " ").into()).collect()
}

/// The one file that there is.
pub(crate) fn read_file(file: &Path) -> io::Result<Vec<u8>> {
    if file.as_os_str() == "body" { Ok(b"of a file".to_vec()) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// The only phase.
pub(crate) fn phase(plan: &Plan) -> &Phase {
    &plan.load.as_ref().expect("it sends").phases[0]
}

/// The first request.
pub(crate) fn request(plan: &Plan) -> Request {
    let Step::Requests(step) = &phase(plan).scenario.steps[0] else { panic!("{plan:?}") };
    step.requests.get(0).expect("at least one").whole()
}

/// The connections.
pub(crate) fn http(plan: &Plan) -> &Http {
    let Protocol::Http(http) = &plan.load.as_ref().expect("it sends").protocol else { panic!("{plan:?}") };
    http
}
