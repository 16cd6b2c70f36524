//! Steering a run while it goes on: the page and the terminal ask, the session answers. What was done is a record of the run.

use measure::stream::Command;
use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long somebody who asks waits for an answer; the session looks fifty times a second.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest text of a mark, in characters.
const LONGEST_MARK: usize = 200;
/// The highest rate that may be asked for: a mistyped one must not become more.
const HIGHEST_RATE: f64 = 1e8;

/// Both ends of the wire between a run and those who steer it.
#[derive(Debug, Clone, Default)]
pub struct Steering(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    asked: VecDeque<Asked>,
    over: bool,
}

/// Something that is asked of a run.
#[derive(Debug)]
pub struct Asked {
    /// By whom: `page` or `terminal`.
    pub by: &'static str,
    /// The command.
    pub command: Command,
    /// Says from when on it holds, in time since the start of the run, or why not.
    pub answer: Sender<Result<Duration, String>>,
}

impl Steering {
    /// Asks, and waits for what becomes of it: from when on it holds.
    ///
    /// # Errors
    /// Why not, in a sentence.
    pub fn ask(&self, by: &'static str, command: Command) -> Result<Duration, String> {
        check(&command)?;
        let (answer, told) = channel();
        {
            let mut queue = self.queue();
            if queue.over {
                return Err("the run is over".to_owned());
            }
            queue.asked.push_back(Asked { by, command, answer });
        }
        told.recv_timeout(PATIENCE)
            .unwrap_or_else(|_| Err("the run does not answer: it may just have ended".to_owned()))
    }

    /// Returns the next command asked for; the session's end.
    pub fn next(&self) -> Option<Asked> {
        self.queue().asked.pop_front()
    }

    /// The run is over: who asked and who will ask is told so.
    pub fn close(&self) {
        let mut queue = self.queue();
        queue.over = true;
        for asked in queue.asked.drain(..) {
            // Whoever asked may have gone.
            let _ = asked.answer.send(Err("the run is over".to_owned()));
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Each change of it is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(command: &Command) -> Result<(), String> {
    match command {
        Command::Rate { per_second, .. } if !(*per_second > 0.0 && *per_second <= HIGHEST_RATE) => {
            Err(format!(
                "{per_second} is no rate: give requests per second, more than none and no more than {HIGHEST_RATE}"
            ))
        }
        Command::Mark { text } if text.trim().is_empty() || text.chars().count() > LONGEST_MARK => {
            Err(format!("a mark has a text of at most {LONGEST_MARK} characters"))
        }
        Command::Label { name, value }
            if name.trim().is_empty() || name.len() + value.len() > LONGEST_MARK || name.contains('=') =>
        {
            Err(format!("a label has a name, and at most {LONGEST_MARK} characters"))
        }
        Command::Rate { .. } | Command::Stop | Command::Label { .. } | Command::Mark { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_answered_and_nonsense_never_reaches_the_run() {
        let steering = Steering::default();
        let rate = |per_second| Command::Rate { per_second, phase: 0, since: Duration::ZERO };
        for wrong in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e9] {
            assert!(steering.ask("page", rate(wrong)).unwrap_err().contains("is no rate"));
        }
        let mark = |text: &str| Command::Mark { text: text.to_owned() };
        assert!(
            steering.ask("page", mark(&"x".repeat(201))).is_err() && steering.ask("page", mark(" ")).is_err()
        );
        assert!(steering.next().is_none());
        let asking = steering.clone();
        std::thread::scope(|scope| {
            let told = scope.spawn(move || asking.ask("page", mark("deployed 4711")));
            let asked = loop {
                match steering.next() {
                    Some(asked) => break asked,
                    None => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            assert_eq!((asked.by, &asked.command), ("page", &mark("deployed 4711")));
            asked.answer.send(Ok(Duration::from_secs(3))).unwrap();
            assert_eq!(told.join().unwrap(), Ok(Duration::from_secs(3)));
        });
        steering.close();
        assert_eq!(steering.ask("page", Command::Stop), Err("the run is over".to_owned()));
    }
}
