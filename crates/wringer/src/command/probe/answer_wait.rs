//! Waiting for what comes over a connection, in the time in which this program runs.

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest that it waits at once.
const TURN: Duration = Duration::from_millis(100);
/// A turn that took so long was no wait: the program was stopped, or its machine paused.
const STOOD_STILL: Duration = Duration::from_millis(600);

/// Time limit of an answer. The target does not pay for time in which this program stood still, nor for what it does between two reads.
pub struct AnswerWait {
    left: Duration,
}

impl AnswerWait {
    /// Nothing of it is used up yet.
    pub fn new(limit: Duration) -> AnswerWait {
        AnswerWait { left: limit }
    }

    /// Reads what comes next, within what is left and at most for so long.
    ///
    /// # Errors
    /// [`TimedOut`](ErrorKind::TimedOut) where nothing came in time, and those of the connection.
    pub fn read(
        &mut self,
        stream: &mut TcpStream,
        buffer: &mut [u8],
        at_most: Duration,
    ) -> io::Result<usize> {
        let later = self.left.saturating_sub(at_most);
        while self.left > later {
            stream.set_read_timeout(Some((self.left - later).min(TURN)))?;
            let began = Instant::now();
            let read = stream.read(buffer);
            self.left = self.left.saturating_sub(charged(began.elapsed()));
            match read {
                // Interrupted: by a stop and its end.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                other => return other,
            }
        }
        Err(ErrorKind::TimedOut.into())
    }
}

/// Time that a turn uses up of the limit.
fn charged(took: Duration) -> Duration {
    if took < STOOD_STILL { took } else { Duration::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;

    #[test]
    fn it_waits_so_long_and_no_longer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut peer = listener.accept().unwrap().0;
        let mut buffer = [0; 8];
        let millis = Duration::from_millis;
        // The bound of one read, and that of all.
        let mut wait = AnswerWait::new(millis(400));
        for (at_most, least) in
            [(millis(250), millis(250)), (millis(250), millis(100)), (millis(250), millis(0))]
        {
            let began = Instant::now();
            let error = wait.read(&mut stream, &mut buffer, at_most).unwrap_err();
            assert!(error.kind() == ErrorKind::TimedOut && began.elapsed() >= least, "{error}");
        }
        assert!(wait.left.is_zero());
        peer.write_all(b"here").unwrap();
        let minute = Duration::from_secs(60);
        assert_eq!(AnswerWait::new(minute).read(&mut stream, &mut buffer, minute).unwrap(), 4);
    }

    #[test]
    fn nobody_pays_for_a_standstill() {
        let millis = Duration::from_millis;
        assert_eq!([120, 3_500].map(|took| charged(millis(took))), [millis(120), Duration::ZERO]);
    }
}
