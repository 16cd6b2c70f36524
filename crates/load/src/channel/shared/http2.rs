//! HTTP/2: its connections, and the task of each, which sends and receives over TCP or TLS.
//!
//! Start reading at [`drive`].

use super::authority::Authority;
use super::speaker::{Http2, Speaker};
use super::{Beginning, ChannelShared, ChannelState, Inner};
use crate::channel::{Channels, Connection, Destination, PEER_CLOSES};
use crate::failure;
use breach::{Protocol, Scope, Side};
use measure::{Broken, Failure, FailureKind, Stage};
use net::Close;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use transport::TransportStream;
use wire::http2::{Code, Http2Limits, Http2Settings};

impl Channels {
    /// Begins to speak HTTP/2 over a connection that is open.
    pub(in crate::channel) fn begin(
        &self,
        mut connection: Connection,
        destination: Destination<'_>,
    ) -> Rc<ChannelShared> {
        let plan = self.http.h2.clone().expect("without HTTP/3, what users share is HTTP/2");
        // What slow clients have of an answer at once is the window that all streams begin with.
        let trickle = self.trickle.map(|bytes| bytes.min(plan.stream_window));
        let settings = Http2Settings {
            header_table_size: plan.decoder_table,
            initial_window_size: trickle.unwrap_or(plan.stream_window),
            max_header_list_size: Some(self.load.limits.head_bytes),
            ..Http2Settings::default()
        };
        let limits = Http2Limits {
            settings,
            connection_window: plan.connection_window,
            encoder_table_size: plan.encoder_table,
            ..Http2Limits::default()
        };
        let authority = Authority::new(&destination, self.pool.apart(&self.http));
        authority.show(connection.stream.take_peer());
        let beginning = Beginning {
            number: connection.number,
            to: connection.to,
            authority,
            begun: connection.begun.unwrap_or_else(|| self.net.now()),
            opened_in: Some(connection.round_trip),
            window: trickle.map(|_| plan.stream_window),
            usage: connection.usage.take(),
        };
        let shared = ChannelShared::new(self, beginning, Speaker::http2(limits));
        self.net.spawn(drive(shared.inner.clone(), connection.stream));
        shared
    }
}

impl ChannelState {
    /// Its HTTP/2; `None`: another protocol is spoken.
    fn http2(&mut self) -> Option<&mut Http2> {
        match &mut self.speaker {
            Speaker::Http2(http2) => Some(http2),
            Speaker::Http3(_) => None,
        }
    }
}

impl Inner {
    /// Returns the bytes to send.
    fn output(&self) -> Option<net::Buffer> {
        let state = &mut *self.state.borrow_mut();
        let ChannelState { speaker: Speaker::Http2(http2), contents, .. } = state else { return None };
        if http2.client.has_content() {
            http2.client.send(contents, &mut http2.out);
            super::fail_unread(state);
            self.note_blocked(state);
        }
        let http2 = state.http2().filter(|http2| !http2.out.is_empty())?;
        let mut out = self.net.buffer();
        out.extend_from_slice(&http2.out);
        http2.out.clear();
        Some(out)
    }

    fn read(&self, bytes: &[u8]) -> Result<(), Failure> {
        let state = &mut *self.state.borrow_mut();
        state.letters.reach(self.net.recently());
        self.ran_out.set(0);
        self.account.received(bytes.len(), state.letters.now);
        let ChannelState { speaker: Speaker::Http2(http2), letters, .. } = state else { return Ok(()) };
        let left = http2.client.goaway().is_some();
        let read = http2.client.read(bytes, letters, &mut http2.out);
        let settled = http2.client.is_settled();
        self.took(state, left, read.is_ok());
        read.map_err(|error| {
            let broken =
                Broken { breach: error.breach, ended: Scope::Connection, protocol: Some(Protocol::Http2) };
            let failure = Failure::of_breach(broken, Stage::Head);
            let kind = if settled { failure.kind } else { FailureKind::NotHttp2 };
            Failure { kind, ..failure }
        })
    }

    /// The same failure, with the code of GOAWAY where the server has said one before the connection ended.
    fn with_goaway(&self, failure: Failure) -> Failure {
        match &self.state.borrow().speaker {
            Speaker::Http2(http2) if failure.broken().is_none() => {
                let goaway = http2.client.goaway().filter(|goaway| goaway.code != Code::NO_ERROR);
                goaway.map_or(failure, |goaway| {
                    let code = breach::Code { protocol: Protocol::Http2, number: goaway.code.0.into() };
                    failure::of_close(failure.kind, failure.stage, Side::Peer, code)
                })
            }
            Speaker::Http2(_) | Speaker::Http3(_) => failure,
        }
    }

    /// Sends, however long the peer takes nothing. `None`: it took nothing while nobody was there any more.
    async fn send(&self, stream: &mut TransportStream, out: net::Buffer) -> Option<std::io::Result<()>> {
        let mut sending = pin!(stream.send(out));
        let mut woken = pin!(self.wake.wait());
        let mut patience = None;
        poll_fn(|context| {
            if let Poll::Ready(sent) = sending.as_mut().poll(context) {
                return Poll::Ready(Some(sent));
            }
            while woken.as_mut().poll(context).is_ready() {
                // What there is to send comes next.
                woken.set(self.wake.wait());
            }
            if !self.is_over() {
                return Poll::Pending;
            }
            let patience = patience.get_or_insert_with(|| Box::pin(self.net.sleep(PEER_CLOSES)));
            patience.as_mut().poll(context).map(|()| None)
        })
        .await
    }
}

/// The task of a connection: sends and receives until it is over.
async fn drive(inner: Rc<Inner>, mut stream: TransportStream) {
    let mut close = Close::Graceful;
    let failure = loop {
        if let Some(out) = inner.output() {
            match inner.send(&mut stream, out).await {
                None => {
                    close = Close::Reset;
                    break None;
                }
                Some(Ok(())) => continue,
                Some(Err(error)) => break Some(failure::of_io(&error, Stage::Send)),
            }
        }
        if let Some(handshake) = stream.take_handshake() {
            inner.account.handshake(&handshake);
        }
        if inner.is_over() {
            break None;
        }
        match stream.recv_or_woken(&inner.wake).await {
            Ok(None) => {}
            Ok(Some(bytes)) if bytes.is_empty() => {
                break Some(Failure::new(FailureKind::ClosedEarly, Stage::Head));
            }
            Ok(Some(bytes)) => {
                if let Err(failure) = inner.read(&bytes) {
                    if let Some(out) = inner.output() {
                        // The peer may be gone; then there is nobody to be told.
                        let _ = stream.send(out).await;
                    }
                    break Some(failure);
                }
            }
            Err(error) => break Some(failure::of_io(&error, Stage::Head)),
        }
    };
    let over = Failure::new(FailureKind::ClosedEarly, Stage::Head);
    inner.end(inner.with_goaway(failure.unwrap_or(over)));
    stream.close(close).await;
}
