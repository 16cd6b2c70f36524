//! A server of the test's own: correct answers for native objects, and a script of misbehaviour.

use net::{Close, Listener, Net, Stream};
use plan::Site;
use plan::site::{Paths, write_prefix};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use wire::http1::{Http1Limits, RequestHead, RequestReader, RequestSink, Target, Version, write};

/// Action of the server on its nth request, counted over all connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Answers as it should.
    Answer,
    /// Answers as it should and closes without having said so.
    AnswerThenClose,
    /// Closes without an answer.
    Close,
    /// Resets without an answer.
    Reset,
    /// Answers, and one byte of the body is another.
    OtherByte,
    /// Announces the body and closes in the middle of it.
    CutBody,
    /// Sends what is not HTTP.
    Garbage,
    /// Answers, and sends more than belongs to the answer.
    SayTooMuch,
    /// Answers with status 500.
    Fail,
    /// Redirects to another object.
    Redirect(&'static str),
    /// Answers after this long.
    Stall(Duration),
    /// Never answers.
    Silence,
}

/// The behaviour of a server: what it does with request number n.
pub type Script = Rc<dyn Fn(u64) -> Act>;

/// Serves until the run ends; `seen` counts requests.
pub async fn serve(net: Net, mut listener: Listener, site: Site, script: Script, seen: Rc<Cell<u64>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let net_of_task = net.clone();
        let site = site.clone();
        let script = script.clone();
        let seen = seen.clone();
        net.spawn(async move {
            connection(net_of_task, stream, site, script, seen).await;
        });
    }
}

#[derive(Default)]
struct Path(Vec<u8>);

impl RequestSink for Path {
    fn head(&mut self, head: &RequestHead<'_>, _raw: &[u8]) {
        self.0.clear();
        if let Target::Origin(path) | Target::Absolute { path, .. } = head.target {
            self.0.extend_from_slice(path);
        }
    }
}

/// Ends when the peer closes, or when the script says so.
async fn connection(
    net: Net,
    mut stream: Stream,
    site: Site,
    script: Script,
    seen: Rc<Cell<u64>>,
) -> Option<()> {
    let mut reader = RequestReader::new(Http1Limits::default());
    let mut path = Path::default();
    let paths = Paths::new(&site);
    loop {
        reader.begin();
        while !{
            let received = stream.recv().await.ok().filter(|bytes| !bytes.is_empty())?;
            reader.read(&received, &mut path).ok()?.done
        } {}
        let number = seen.get();
        seen.set(number + 1);
        let act = script(number);
        match act {
            Act::Close => return None,
            Act::Reset => return reset(stream),
            Act::Silence => net.sleep(Duration::from_secs(3600)).await,
            Act::Stall(time) => net.sleep(time).await,
            _ => {}
        }
        let mut out = net.buffer();
        answer(&mut out, &site, paths.read(&path.0).ok(), act)?;
        stream.send(out).await.ok()?;
        if matches!(act, Act::AnswerThenClose | Act::CutBody | Act::Garbage) {
            return None;
        }
    }
}

fn reset(stream: Stream) -> Option<()> {
    stream.close(Close::Reset);
    None
}

/// `asked`: the object and its size.
fn answer(out: &mut Vec<u8>, site: &Site, asked: Option<(u64, u64)>, act: Act) -> Option<()> {
    if act == Act::Garbage {
        out.extend_from_slice(b"SSH-2.0-OpenSSH\r\n");
        return Some(());
    }
    if let Act::Redirect(to) = act {
        write::status_line(out, Version::Http11, 301, "x");
        write::field(out, "Location", to);
        write::field_number(out, "Content-Length", 0);
        write::end_of_head(out);
        return Some(());
    }
    let (object, size) = asked?;
    let status = if act == Act::Fail { 500 } else { 200 };
    write::status_line(out, Version::Http11, status, "x");
    write::field_number(out, "Content-Length", size);
    write::end_of_head(out);
    let begin = out.len();
    write_prefix(out, object, 0, 0, size);
    out.truncate(begin + size as usize);
    let from = (out.len() - begin) as u64;
    site.content(object, 0, 0).pieces(from, size).for_each(|piece| out.extend_from_slice(piece));
    match act {
        Act::CutBody => out.truncate(begin + size as usize / 2),
        Act::OtherByte => *out.last_mut()? ^= 1,
        Act::SayTooMuch => out.extend_from_slice(b"and then some"),
        _ => {}
    }
    Some(())
}
