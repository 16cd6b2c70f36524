//! The terminal view of a run that goes on (`--tui`): a thread of its own draws at most four times a second and reads keys. The picture is
//! `report::screen`'s; drawing it takes a few dozen lines, so no library stands here.
//!
//! The alternate screen is left whatever happens: at the end, at a panic, and before a second signal ends the process.

use measure::stream::Command;
use measure::{RunEvent, TimeMetric};
use plan::{Plan, units};
use report::screen::{Look, METRICS, Pane, SMALLEST, Watched, frame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use session::Sink;
use session::steer::Steering;
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// At most so often the picture is drawn anew.
const BETWEEN: Duration = Duration::from_millis(250);
/// A rate that was asked for stands in a record by then.
const UNTIL_TOLD: Duration = Duration::from_secs(3);
/// The alternate screen, without a cursor; and back.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?25h\x1b[?1049l";

/// The terminal as it was, while the view has it.
static TAKEN: Mutex<Option<(File, Termios)>> = Mutex::new(None);
/// The view of this process; a process has one terminal.
static VIEW: Mutex<Option<Handle>> = Mutex::new(None);

/// Tells the view what happens.
#[derive(Debug, Clone)]
pub struct Handle {
    to: Sender<Update>,
}

#[derive(Debug)]
enum Update {
    Record(Arc<RunEvent>),
    Note(String),
    /// Leave the screen, and answer.
    Leave(Sender<()>),
}

/// Why there is no view, where there is none.
pub fn missing() -> Option<String> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let size = size();
    let (columns, lines) = SMALLEST;
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        Some("standard input and output are no terminal".to_owned())
    } else if matches!(&*variable("TERM"), "dumb" | "") || !variable("CI").is_empty() {
        Some("TERM or CI say that nobody looks".to_owned())
    } else if size.0 < columns || size.1 < lines {
        Some(format!(
            "the terminal has {} columns and {} lines, of at least {columns} and {lines}",
            size.0, size.1
        ))
    } else {
        None
    }
}

/// Makes the view of a run that is about to begin; it takes the terminal with the first record.
pub fn begin(steering: Steering, plan: &Plan) -> Handle {
    let (to, told) = channel();
    let planned = planned(plan);
    std::thread::spawn(move || TuiView::new(steering, planned).run(&told));
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        before(info);
    }));
    let handle = Handle { to };
    *VIEW.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle.clone());
    handle
}

/// The view of this process, where it has one.
pub fn active() -> Option<Handle> {
    VIEW.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Sink for Handle {
    fn put(&self, event: &Arc<RunEvent>) {
        // A view that is gone shows nothing.
        let _ = self.to.send(Update::Record(event.clone()));
    }
}

impl Handle {
    /// Something to be read.
    pub fn note(&self, text: &str) {
        let _ = self.to.send(Update::Note(text.trim_start_matches("note: ").to_owned()));
    }

    /// The view has the terminal.
    pub fn is_shown(&self) -> bool {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Gives the terminal back.
    pub fn leave(&self) {
        let (done, told) = channel();
        if self.to.send(Update::Leave(done)).is_ok() {
            let _ = told.recv_timeout(Duration::from_secs(2));
        }
        restore();
    }
}

/// Gives the terminal back as it was, whoever asks; afterwards nothing is drawn any more.
pub fn restore() {
    let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((mut terminal, before)) = taken {
        // Nobody is left to tell.
        let _ = terminal.write_all(LEAVE);
        let _ = tcsetattr(&terminal, OptionalActions::Drain, &before);
    }
}

/// How long the plan says that the run takes.
fn planned(plan: &Plan) -> Option<Duration> {
    let phases = &plan.load.as_ref()?.phases;
    phases.iter().map(|phase| phase.stop.after).sum()
}

fn size() -> (usize, usize) {
    tcgetwinsize(std::io::stdout()).map_or((0, 0), |size| (size.ws_col.into(), size.ws_row.into()))
}

/// Takes the terminal: keys come one by one and unseen; signals stay signals.
fn take() -> std::io::Result<File> {
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    let before = tcgetattr(&terminal)?;
    let mut raw = before.clone();
    raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    tcsetattr(&terminal, OptionalActions::Now, &raw)?;
    terminal.write_all(ENTER)?;
    let own = terminal.try_clone()?;
    *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = Some((own, before));
    Ok(terminal)
}

/// Question being asked of whoever sits there.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Asking {
    Stop,
    Rate(Vec<u8>),
    Mark(Vec<u8>),
}

struct TuiView {
    run: Watched,
    look: Look,
    asking: Option<Asking>,
    /// The rate that was last asked for here, and when: records tell it some time later.
    wanted: Option<(f64, Instant)>,
    /// Steps that were pressed before any rate was told, as one factor.
    early: f64,
    steering: Steering,
    drawn: Option<Instant>,
    stale: bool,
}

impl TuiView {
    fn new(steering: Steering, planned: Option<Duration>) -> TuiView {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(variable).into_iter().find(|value| !value.is_empty());
        let utf8 = locale.unwrap_or_default().to_ascii_lowercase();
        let look = Look {
            size: size(),
            pane: Pane::Outcomes,
            metric: TimeMetric::Service,
            colour: variable("NO_COLOR").is_empty(),
            ascii: !(utf8.contains("utf-8") || utf8.contains("utf8")),
            paused: false,
            prompt: None,
            help: false,
            planned,
        };
        TuiView {
            run: Watched::default(),
            look,
            asking: None,
            wanted: None,
            early: 1.0,
            steering,
            drawn: None,
            stale: false,
        }
    }

    fn run(&mut self, told: &Receiver<Update>) {
        let Ok(first) = told.recv() else { return };
        if let Update::Leave(done) = first {
            // Whoever asked may have gone.
            let _ = done.send(());
            return;
        }
        let mut terminal = match take() {
            Ok(terminal) => terminal,
            Err(error) => {
                // Plain lines from here on.
                *VIEW.lock().unwrap_or_else(PoisonError::into_inner) = None;
                // Nobody is left to tell where it cannot be written.
                let _ = writeln!(std::io::stderr(), "note: no terminal view: {error}");
                return;
            }
        };
        if self.hear(first) {
            return;
        }
        loop {
            while let Ok(next) = told.try_recv() {
                if self.hear(next) {
                    return;
                }
            }
            if TAKEN.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
                return;
            }
            self.draw(&mut terminal);
            self.keys(&mut terminal);
        }
    }

    /// Takes in what is told; true to leave.
    fn hear(&mut self, told: Update) -> bool {
        match told {
            Update::Record(event) => {
                self.run.take(&event);
                self.step_early();
            }
            Update::Note(text) => self.run.mark(text),
            Update::Leave(done) => {
                restore();
                // Whoever asked may have gone.
                let _ = done.send(());
                return true;
            }
        }
        self.stale |= !self.look.paused;
        false
    }

    fn draw(&mut self, terminal: &mut File) {
        let now = Instant::now();
        if !self.stale || self.drawn.is_some_and(|drawn| now - drawn < BETWEEN) {
            return;
        }
        (self.drawn, self.stale) = (Some(now), false);
        self.look.size = size();
        self.look.prompt = self.asking.as_ref().map(Asking::prompt);
        let mut text = String::from("\u{1b}[H");
        for (nth, line) in frame(&self.run, &self.look).iter().enumerate() {
            if nth > 0 {
                text += "\r\n";
            }
            text += line;
            text += "\u{1b}[K";
        }
        // A terminal that went away is told of by a signal.
        let _ = terminal.write_all(text.as_bytes());
    }

    /// Waits a moment for keys, and does what they say.
    fn keys(&mut self, terminal: &mut File) {
        let wait = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        let mut waits = [PollFd::new(&*terminal, PollFlags::IN)];
        if !poll(&mut waits, Some(&wait)).is_ok_and(|ready| ready > 0) {
            return;
        }
        let mut bytes = [0; 64];
        let Ok(length) = terminal.read(&mut bytes) else { return std::thread::sleep(BETWEEN) };
        if length == 0 {
            return std::thread::sleep(BETWEEN);
        }
        // A key that has no letter comes as several bytes: none of ours.
        if bytes[0] == 0x1b && length > 1 {
            return;
        }
        bytes[..length].iter().for_each(|key| self.key(*key));
        (self.stale, self.drawn) = (true, None);
    }

    fn key(&mut self, key: u8) {
        if let Some(asking) = self.asking.take() {
            return self.answer(asking, key);
        }
        match key {
            b'q' => self.asking = Some(Asking::Stop),
            b'Q' => self.stop(),
            b'p' => self.look.paused = !self.look.paused,
            b'+' => self.rate_by(1.1),
            b'-' => self.rate_by(1.0 / 1.1),
            b'r' => self.asking = Some(Asking::Rate(Vec::new())),
            b'm' => self.asking = Some(Asking::Mark(Vec::new())),
            b'\t' => self.look.pane = self.look.pane.next(),
            b'l' => {
                let place = METRICS.iter().position(|metric| *metric == self.look.metric).unwrap_or(0);
                self.look.metric = METRICS[(place + 1) % METRICS.len()];
            }
            b'?' => self.look.help = !self.look.help,
            _ => {}
        }
    }

    /// A key while something is asked.
    fn answer(&mut self, asking: Asking, key: u8) {
        match (asking, key) {
            (_, 0x1b) => {}
            (Asking::Stop, b'y' | b'q') => self.stop(),
            (Asking::Stop, _) => {}
            (Asking::Rate(text), b'\n' | b'\r') => match units::rate(&String::from_utf8_lossy(&text)) {
                Ok(per_second) => self.rate(per_second),
                Err(error) => self.run.mark(error.to_string()),
            },
            (Asking::Mark(text), b'\n' | b'\r') => {
                self.ask(Command::Mark { text: String::from_utf8_lossy(&text).into_owned() });
            }
            (Asking::Rate(text), key) => self.asking = Some(Asking::Rate(typed(text, key))),
            (Asking::Mark(text), key) => self.asking = Some(Asking::Mark(typed(text, key))),
        }
    }

    fn rate_by(&mut self, factor: f64) {
        match self.rate_in_force().or(self.run.asked()) {
            Some(asked) => self.rate((asked * factor * 10.0).round() / 10.0),
            None if !self.run.has_seconds() => self.early *= factor,
            None => self.run.mark("no rate was asked for that could be changed".to_owned()),
        }
    }

    /// Does what was pressed before the rate was told, which is with the first second.
    fn step_early(&mut self) {
        if self.early != 1.0 && self.run.has_seconds() {
            let factor = std::mem::replace(&mut self.early, 1.0);
            self.rate_by(factor);
        }
    }

    /// The rate that was asked for here a moment ago.
    fn rate_in_force(&self) -> Option<f64> {
        self.wanted.filter(|(_, at)| at.elapsed() < UNTIL_TOLD).map(|(rate, _)| rate)
    }

    fn rate(&mut self, per_second: f64) {
        if self.ask(Command::Rate { per_second, phase: 0, since: Duration::ZERO }) {
            self.wanted = Some((per_second, Instant::now()));
        }
    }

    fn stop(&mut self) {
        self.ask(Command::Stop);
    }

    /// False if it is not done, and why is told.
    fn ask(&mut self, command: Command) -> bool {
        let asked = self.steering.ask("terminal", command);
        asked.map_err(|why| self.run.mark(why)).is_ok()
    }
}

impl Asking {
    fn prompt(&self) -> String {
        match self {
            Asking::Stop => "stop the run? y: yes, any other key: no".to_owned(),
            Asking::Rate(text) => format!("requests per second: {}_", String::from_utf8_lossy(text)),
            Asking::Mark(text) => format!("mark: {}_", String::from_utf8_lossy(text)),
        }
    }
}

/// Text with a key more, or one character less.
fn typed(mut text: Vec<u8>, key: u8) -> Vec<u8> {
    match key {
        0x08 | 0x7f => {
            // A character of several bytes goes as a whole.
            while text.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
        }
        key if key >= b' ' && text.len() < 200 => text.push(key),
        _ => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::Second;

    fn view() -> TuiView {
        TuiView::new(Steering::default(), None)
    }

    /// Records come once a second; keys as fast as they are pressed.
    #[test]
    fn each_press_steps_from_the_one_before() {
        let steering = Steering::default();
        let session = steering.clone();
        let answers = move || {
            let mut left = 5;
            while left > 0 {
                let Some(asked) = session.next() else { continue };
                asked.answer.send(Ok(Duration::ZERO)).expect("it waits");
                left -= 1;
            }
        };
        let answering = std::thread::spawn(answers);
        let mut view = TuiView { steering, ..view() };
        view.rate(100.0);
        (0..3).for_each(|_| view.key(b'+'));
        assert_eq!(view.rate_in_force(), Some(133.1));
        view.key(b'-');
        assert_eq!(view.rate_in_force(), Some(121.0));
        answering.join().expect("each was asked for");
    }

    #[test]
    fn presses_before_the_first_second_wait_for_it() {
        let steering = Steering::default();
        let session = steering.clone();
        let answering = std::thread::spawn(move || {
            let asked = std::iter::repeat_with(|| session.next()).flatten().next().expect("it repeats");
            asked.answer.send(Ok(Duration::ZERO)).expect("it waits");
        });
        let mut view = TuiView { steering, ..view() };
        (0..2).for_each(|_| view.key(b'+'));
        assert_eq!(view.rate_in_force(), None);
        let second = Second { asked_per_s: Some(100.0), ..Second::default() };
        view.hear(Update::Record(Arc::new(RunEvent::Second(Box::new(second)))));
        assert_eq!(view.rate_in_force(), Some(121.0));
        answering.join().expect("it was asked for once");
    }

    #[test]
    fn a_stop_is_asked_for_once_and_a_text_is_typed() {
        let steering = Steering::default();
        steering.close();
        let mut view = TuiView { steering, ..view() };
        view.key(b'q');
        assert_eq!(view.asking, Some(Asking::Stop));
        view.key(b'x');
        assert_eq!(view.asking, None);
        for key in "rz2é\u{7f}0k\u{7f}".bytes() {
            view.key(key);
        }
        assert_eq!(view.asking, Some(Asking::Rate(b"z20".to_vec())));
        view.key(b'\n');
        assert_eq!(view.asking, None, "what is no rate is told, and asks nothing of the run");
        for key in b"\t\tl?p" {
            view.key(*key);
        }
        assert_eq!((view.look.pane, view.look.metric), (Pane::Statuses, TimeMetric::Response));
        assert!(view.look.help && view.look.paused);
        view.key(b'm');
        view.key(0x1b);
        assert_eq!(view.asking, None);
    }
}
