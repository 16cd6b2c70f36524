//! Waiting for what comes over a connection, in the time in which this program runs.

use fleet::Awake;
use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How often it looks whether it is running.
const TURN: Duration = Duration::from_millis(100);
/// Whoever comes back from a turn so much later stood still: a stop, a debugger, or a machine that paused.
const STOOD_STILL: Duration = Duration::from_millis(600);

/// A time limit, from now on. The target does not pay for time in which this program stood still.
pub struct AnswerWait {
    began: Instant,
    awake: Awake,
    limit: Duration,
}

impl AnswerWait {
    /// Begins now.
    pub fn new(limit: Duration) -> AnswerWait {
        let mut awake = Awake::where_still_for(STOOD_STILL);
        awake.look(Duration::ZERO);
        AnswerWait { began: Instant::now(), awake, limit }
    }

    /// Rest of the limit.
    pub fn left(&mut self) -> Duration {
        self.awake.look(self.began.elapsed());
        self.limit.saturating_sub(self.awake.time())
    }

    /// Reads what comes next.
    ///
    /// # Errors
    /// [`TimedOut`](ErrorKind::TimedOut) where nothing came in time, and those of the connection.
    pub fn read(&mut self, stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self.left();
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(left.min(TURN)))?;
            match stream.read(buffer) {
                // Interrupted: by a stop and its end.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                other => return other,
            }
        }
    }
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
        let limit = Duration::from_millis(250);
        let began = Instant::now();
        let error = AnswerWait::new(limit).read(&mut stream, &mut buffer).unwrap_err();
        assert!(error.kind() == ErrorKind::TimedOut && began.elapsed() >= limit, "{error}");
        peer.write_all(b"here").unwrap();
        assert_eq!(AnswerWait::new(Duration::from_secs(60)).read(&mut stream, &mut buffer).unwrap(), 4);
    }

    /// It stands still in the middle: what is left afterwards is what was left before.
    #[test]
    fn nobody_pays_for_a_standstill() {
        let mut wait = AnswerWait::new(Duration::from_secs(1));
        std::thread::sleep(Duration::from_millis(1_500));
        let left = wait.left();
        assert!(left > Duration::from_millis(500), "{left:?}");
    }
}
