//! The agent's end of its channel to the controller: a thread that reads, and one that writes.

use fleet::frame::{Frame, LONGEST, MAGIC, Reader};
use fleet::message::{Down, Up};
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Something came from the controller.
pub(crate) enum Came {
    Said(Down),
    Closed(String),
}

/// A thread that writes frames, behind the magic.
pub(crate) fn writer(mut output: impl Write + Send + 'static) -> Sender<Frame> {
    let (to, frames): (Sender<Frame>, Receiver<Frame>) = channel();
    std::thread::spawn(move || {
        // Where nobody reads, whoever reads from there tells that the channel is closed.
        let _ = output.write_all(&MAGIC);
        for frame in frames {
            if output.write_all(&frame.to_bytes()).and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    });
    to
}

pub(crate) fn say(to: &Sender<Frame>, said: &Up) {
    let frame = said.frame();
    debug_assert!(frame.body.len() < LONGEST, "a frame of {} bytes", frame.body.len());
    // As above.
    let _ = to.send(frame);
}

pub(crate) fn reader(mut input: impl Read + Send + 'static) -> Receiver<Came> {
    let (to, came) = channel();
    std::thread::spawn(move || {
        let why = listen(&mut input, &to);
        // Whoever wanted to know may have ended.
        let _ = to.send(Came::Closed(why));
    });
    came
}

fn listen(input: &mut impl Read, to: &Sender<Came>) -> String {
    let mut reader = Reader::new();
    let mut bytes = vec![0; 64 << 10];
    loop {
        match input.read(&mut bytes) {
            Ok(0) => return "the controller has closed the channel".to_owned(),
            Ok(count) => reader.push(&bytes[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return error.to_string(),
        }
        loop {
            let down = match reader.next_frame() {
                Ok(Some(frame)) => Down::of(&frame).map_err(|bad| bad.to_string()),
                Ok(None) => break,
                Err(bad) => Err(bad.to_string()),
            };
            match down.map(|down| to.send(Came::Said(down))) {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return "the run is over".to_owned(),
                Err(why) => return why,
            }
        }
    }
}
