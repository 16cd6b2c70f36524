//! Which I/O the workers use: what the plan asks for, as far as this machine allows it.

use crate::problem::Problem;
use measure::notes;
use net::Io;

use std::io;

/// The backend of a run, and a note where it is not the one that would have been faster.
///
/// # Errors
/// The I/O that was asked for by name is not possible here.
pub fn choose(asked: plan::Io) -> Result<(Io, Option<String>), Problem> {
    match asked {
        plan::Io::Epoll => Ok((Io::Epoll, None)),
        plan::Io::Uring | plan::Io::Auto => decide(asked, net::probe(Io::Uring)),
    }
}

/// io_uring is the faster one, if only by some per cent: see docs/src/io.md.
fn decide(asked: plan::Io, possible: io::Result<()>) -> Result<(Io, Option<String>), Problem> {
    match possible {
        Ok(()) => Ok((Io::Uring, None)),
        Err(why) if asked == plan::Io::Auto => Ok((Io::Epoll, Some(notes::EPOLL_USED.with(&[&why])))),
        Err(why) => Err(Problem::impossible(format!("{why}; use --io epoll"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forbidden_is_replaced_with_a_note_unless_it_was_asked_for_by_name() {
        let forbidden = || Err(io::Error::other("io_uring is forbidden here"));
        assert_eq!(decide(plan::Io::Auto, Ok(())).unwrap(), (Io::Uring, None));
        let (io, note) = decide(plan::Io::Auto, forbidden()).unwrap();
        assert_eq!((io, note.as_deref()), (Io::Epoll, Some("io_uring is forbidden here, so epoll was used")));
        let refused = decide(plan::Io::Uring, forbidden()).unwrap_err().to_string();
        assert_eq!(refused, "io_uring is forbidden here; use --io epoll");
    }
}
