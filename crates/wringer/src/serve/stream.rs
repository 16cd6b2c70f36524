//! A run that goes on, as server-sent events (WHATWG HTML, section 9.2): its records for programs, and for the page how the run
//! that it shows has changed. Each event has a number or a place, so a reader that lost the connection says where it stopped.

use super::answer::Watching;
use hyper::body::{Body, Bytes, Frame};
use report::page::GatherPlace;
use session::live::{Change, Live, Next};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// After so long without a record something is sent, so that a connection that is gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a page has to ask for the whole run once its records have ended.
const LAST_LOOK: Duration = Duration::from_secs(1);
/// Changes come no closer together: records that come in between are told as one.
const BREATH: Duration = Duration::from_millis(200);
/// Pieces that may wait for a viewer that reads slowly; the run does not wait for it.
const WAITING: usize = 4;

/// A body that grows.
pub struct Growing(mpsc::Receiver<Bytes>);

impl Body for Growing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The records from this number on, until the run is over or nobody reads any more.
pub fn records(live: Live, next: u64, watching: Watching) -> Growing {
    begin(watching, |to| tell(live, next, to))
}

/// How the run changes from this place on, until it is over or nobody reads any more.
pub fn changes(live: Live, since: GatherPlace, watching: Watching) -> Growing {
    begin(watching, |to| tell_changes(live, since, to))
}

/// A body that this fills. `watching` goes a moment after it, so that a page can fetch the end of the run.
fn begin<T: Future<Output = ()> + Send + 'static>(
    watching: Watching,
    fill: impl FnOnce(mpsc::Sender<Bytes>) -> T,
) -> Growing {
    let (to, body) = mpsc::channel(WAITING);
    let filled = fill(to);
    tokio::spawn(async move {
        filled.await;
        tokio::time::sleep(LAST_LOOK).await;
        drop(watching);
    });
    Growing(body)
}

/// Waits until the run has changed; false where it never will, or nobody reads any more.
async fn has_more(changes: &mut watch::Receiver<u64>, to: &mpsc::Sender<Bytes>) -> bool {
    loop {
        tokio::select! {
            changed = changes.changed() => return changed.is_ok(),
            () = tokio::time::sleep(HEARTBEAT) => if to.send(Bytes::from_static(b":\n\n")).await.is_err() { return false },
            () = to.closed() => return false,
        }
    }
}

async fn tell_changes(live: Live, mut since: GatherPlace, to: mpsc::Sender<Bytes>) {
    let mut records = live.changes();
    loop {
        // Before looking: what comes after it is seen by the next turn.
        records.mark_unchanged();
        let run = live.clone();
        let told = tokio::task::spawn_blocking(move || event_of(run.change(since)));
        let Ok((text, next)) = told.await else { return };
        let sent = to.send(text.into()).await;
        let Some(next) = next.filter(|_| sent.is_ok()) else { return };
        since = next;
        tokio::time::sleep(BREATH).await;
        if !has_more(&mut records, &to).await {
            return;
        }
    }
}

/// The event, and where the next one begins; nothing after the last one.
fn event_of(change: Change) -> (String, Option<GatherPlace>) {
    let model =
        serde_json::to_string(&change.model).expect("a run is written as JSON: its maps have text for keys");
    let text = format!("id: {}\ndata: {}\n\n", change.next, report::harmless_json(model));
    (text, (!change.is_last).then_some(change.next))
}

async fn tell(live: Live, mut next: u64, to: mpsc::Sender<Bytes>) {
    let mut changes = live.changes();
    loop {
        // Before looking: what comes after it is seen by the next turn.
        changes.mark_unchanged();
        match live.since(next) {
            Next::Records(records) if records.is_empty() => {}
            Next::Records(records) => {
                next = records.last().map_or(next, |(number, _)| number + 1);
                let text: String =
                    records.iter().map(|(number, line)| format!("id: {number}\ndata: {line}\n\n")).collect();
                if to.send(text.into()).await.is_err() {
                    return;
                }
                // They may have been the last ones.
                continue;
            }
            Next::Missed => {
                if to.send(Bytes::from_static(b"event: again\ndata: \n\n")).await.is_err() {
                    return;
                }
            }
            Next::Over => return,
        }
        if !has_more(&mut changes, &to).await {
            return;
        }
    }
}
