//! HTTP/3: its connections, and the task of each, which sends and receives datagrams.
//!
//! Start reading at [`Channels::open_http3`], then [`drive`].

use super::authority::Authority;
use super::speaker::Speaker;
use super::{Beginning, ChannelShared, ChannelState, Inner};
use crate::channel::connect::Ends;
use crate::channel::usage::Usage;
use crate::channel::{Channels, Destination, Slot};
use crate::failure;
use breach::{Code, Protocol, Scope, Side};
use measure::{Broken, Failure, FailureKind, Reason, Stage};
use net::{Came, Datagrams, Event, Outgoing, UdpOptions, UdpSocket};
use plan::{Http3, Transport};
use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};
use wire::http3::{Client, Limits, Lost, Received, Transmit, error};
use wire::tls::PeerCertificate;

/// Receives in a row before what they lead to is sent.
const BATCH: usize = 16;
/// `CONNECTION_REFUSED` (RFC 9000 section 20.1).
const REFUSED: u64 = 0x2;

impl Channels {
    /// Opens a connection and shakes hands; where a request may go along with that, its opening is over before.
    pub(in crate::channel) async fn open_http3(
        &self,
        slot: &mut Slot,
        destination: Destination<'_>,
        began: Instant,
    ) -> Result<Rc<ChannelShared>, Failure> {
        let mut ends = self.ends(destination);
        loop {
            let until = self.after(began, self.load.limits.connect);
            let deadline = ends.share_of(self.net.now(), until);
            match self.shake_hands(slot, destination, began, ends.now, deadline).await {
                Ok(shared) => return Ok(shared),
                Err(failure) if failure.stage != Stage::Connect => return Err(failure),
                Err(failure) => self.take_next(&mut ends, failure)?,
            }
        }
    }

    async fn shake_hands(
        &self,
        slot: &mut Slot,
        destination: Destination<'_>,
        began: Instant,
        Ends { to, source }: Ends,
        deadline: Instant,
    ) -> Result<Rc<ChannelShared>, Failure> {
        let plan = self.http.h3.clone().expect("who does not speak HTTP/3 opens no such connection");
        let buffer = self.http.socket_buffer.unwrap_or(plan::Http3::SOCKET_BUFFER) as usize;
        let options = UdpOptions { source, reuse_port: false, buffer: Some(buffer) };
        let socket = self.net.connect_udp(to, &options).map_err(|error| failure::of_connect(&error))?;
        let number = self.next_connection();
        let failed = |kind| Failure::new(kind, Stage::Tls);
        // The plan was checked, but answers may lead to where TLS is not spoken.
        let (Some(tls), Some(host)) = (&self.tls, destination.secure) else {
            return Err(failed(FailureKind::NotHttp3));
        };
        let tls = slot.tls.get_or_insert_with(|| Rc::new(tls.with_own_memory()));
        let seed = plan::draw::hash(self.net.unix_micros(), number << 16 | u64::from(self.part.index));
        let qlog = self.qlogs.borrow_mut().pop_front();
        let client = Client::new(tls, host, to, self.http3_limits(&plan), seed, began, qlog)
            .map_err(|_| failed(FailureKind::CertificateName))?;
        let authority = Authority::new(&destination, self.pool.apart(&self.http));
        let usage = Usage::of(&self.account, began);
        let beginning =
            Beginning { number, to, authority, begun: began, opened_in: None, window: None, usage };
        let shared = ChannelShared::new(self, beginning, Speaker::http3(client));
        let moving =
            plan.migrate_every.map(|every| Moving { every, next: Cell::new(began + every), options });
        let news = self.net.event();
        self.net.spawn(drive(shared.inner.clone(), socket, to, moving, news.clone()));
        loop {
            if let Some(failure) = shared.inner.ended.get() {
                return Err(failure);
            }
            if shared.inner.may_begin() {
                if let Some(usage) = &mut shared.inner.state.borrow_mut().letters.usage {
                    usage.opened(self.net.now());
                }
                shared.authority.show(shared.inner.peer());
                return Ok(shared);
            }
            if !self.net.wait_until(&news, deadline).await {
                return Err(Failure::new(FailureKind::Timeout, Stage::Connect));
            }
        }
    }

    fn http3_limits(&self, plan: &Http3) -> Limits {
        let limits = match plan.transport {
            Transport::Real => Limits::real(),
            Transport::Lab => Limits::lab(),
        };
        Limits {
            stream_window: plan.stream_window.unwrap_or(limits.stream_window),
            connection_window: plan.connection_window,
            field_section: self.load.limits.head_bytes,
            payload: plan.payload,
            ..limits
        }
    }
}

/// How a connection moves to other ports.
struct Moving {
    every: Duration,
    next: Cell<Instant>,
    options: UdpOptions,
}

impl Inner {
    /// True if requests may be sent: the handshake is complete, or they may go along with it.
    fn may_begin(&self) -> bool {
        match &self.state.borrow().speaker {
            Speaker::Http3(http3) => http3.client.is_connected() || http3.client.room() > 0,
            Speaker::Http2(_) => true,
        }
    }

    /// The server's certificate, as far as it is known.
    fn peer(&self) -> Option<PeerCertificate> {
        match &self.state.borrow().speaker {
            Speaker::Http3(http3) => http3.client.peer(),
            Speaker::Http2(_) => None,
        }
    }

    /// Does something with HTTP/3's state, and goes on with what follows.
    fn with_client(&self, act: impl FnOnce(&mut ChannelState, Instant)) {
        let state = &mut *self.state.borrow_mut();
        let now = self.net.now();
        let left = state.speaker.said_goaway();
        act(state, now);
        let open = !matches!(&state.speaker, Speaker::Http3(http3) if http3.client.lost().is_some());
        self.took(state, left, open);
    }

    fn received(&self, datagrams: Datagrams<'_>) {
        self.with_client(|state, now| {
            state.letters.reach(now);
            self.ran_out.set(0);
            self.account.received(datagrams.bytes.len(), now);
            let ChannelState { speaker: Speaker::Http3(http3), letters, .. } = state else { return };
            let Datagrams { from, bytes, segment, ecn } = datagrams;
            // What breaks the rules closes the connection, which is then lost.
            let _ = http3.client.read(now, Received { from, bytes, segment, ecn }, letters);
        });
    }

    fn tick(&self) {
        self.with_client(|state, now| {
            let ChannelState { speaker: Speaker::Http3(http3), letters, .. } = state else { return };
            let _ = http3.client.tick(now, letters);
        });
    }

    fn may_move(&self) -> bool {
        matches!(&self.state.borrow().speaker, Speaker::Http3(http3) if http3.client.may_move())
    }

    /// When the connection has something to do, if nothing comes before.
    fn deadline(&self) -> Option<Instant> {
        match &mut self.state.borrow_mut().speaker {
            Speaker::Http3(http3) => http3.client.deadline(),
            Speaker::Http2(_) => None,
        }
    }

    /// Sends all that may be sent now.
    async fn transmit(&self, socket: &UdpSocket) -> std::io::Result<()> {
        loop {
            let mut out = self.net.buffer();
            let transmit = {
                let state = &mut *self.state.borrow_mut();
                let ChannelState { speaker: Speaker::Http3(http3), contents, .. } = state else {
                    return Ok(());
                };
                if http3.client.has_content() {
                    http3.client.send(contents);
                    super::fail_unread(state);
                    self.note_blocked(state);
                }
                let Speaker::Http3(http3) = &mut state.speaker else { return Ok(()) };
                http3.client.transmit(self.net.now(), socket.most_segments(), &mut out)
            };
            let Some(transmit) = transmit else { return Ok(()) };
            let Transmit { segment, ecn, .. } = transmit;
            socket.send(Outgoing { to: None, bytes: &out, segment, ecn }).await?;
        }
    }

    /// Tells of a handshake that is complete.
    fn note_opened(&self, began: Instant, news: &Event) {
        let state = &mut *self.state.borrow_mut();
        let Speaker::Http3(http3) = &mut state.speaker else { return };
        let Some(opened) = http3.client.take_opened() else { return };
        let took = self.net.now() - began;
        self.account.quic_handshake(took, opened.resumed, opened.early);
        if self.carried.get() == 0 {
            self.opened.set(Some((began, took)));
        }
        self.call_waiting(state);
        news.set();
    }

    /// Why the connection is lost, if it is.
    fn lost(&self) -> Option<Failure> {
        let state = self.state.borrow();
        let Speaker::Http3(http3) = &state.speaker else { return None };
        let connected = http3.client.is_connected();
        let lost = http3.client.lost()?;
        let stage = if connected { Stage::Head } else { Stage::Connect };
        let close = |kind, by, protocol, code: u64| {
            failure::of_close(kind, stage, by, Code { protocol, number: code })
        };
        Some(match lost {
            Lost::Closed { code, .. } => close(FailureKind::ClosedEarly, Side::Peer, Protocol::Http3, *code),
            Lost::Aborted { code: REFUSED, .. } if !connected => {
                close(FailureKind::Refused, Side::Peer, Protocol::Quic, REFUSED)
            }
            Lost::Aborted { code, .. } => close(FailureKind::Reset, Side::Peer, Protocol::Quic, *code),
            Lost::Reset => Failure::new(FailureKind::Reset, stage),
            Lost::Alert(alert) => {
                Failure::new(FailureKind::TlsAlert, Stage::Tls).because(Reason::Alert(*alert))
            }
            Lost::Refused(alert) => {
                Failure::new(failure::kind_of_tls(http3.client.tls_failure(*alert)), Stage::Tls)
            }
            Lost::Broken { code, .. } => close(FailureKind::StreamError, Side::Here, Protocol::Quic, *code),
            Lost::Breach(breach) => {
                let protocol = Some(Protocol::Http3);
                Failure::of_breach(Broken { breach: *breach, ended: Scope::Connection, protocol }, stage)
            }
            Lost::Here => Failure::new(FailureKind::ClosedEarly, stage),
            Lost::Idle => Failure::new(FailureKind::Timeout, stage),
            Lost::Version => Failure::new(FailureKind::NotHttp3, stage),
        })
    }

    /// Counts a connection that was closed with an error, by its code and its text.
    fn note_close(&self) {
        let state = self.state.borrow();
        let Speaker::Http3(http3) = &state.speaker else { return };
        let (by, protocol, code, text) = match http3.client.lost() {
            Some(Lost::Closed { code, text }) => (Side::Peer, Protocol::Http3, *code, text.as_str()),
            Some(Lost::Aborted { code, text }) => (Side::Peer, Protocol::Quic, *code, text.as_str()),
            Some(Lost::Broken { code, text }) => (Side::Here, Protocol::Quic, *code, text.as_str()),
            Some(Lost::Breach(breach)) => {
                let code = error::code_of(*breach).0;
                (Side::Here, Protocol::Http3, code.into(), breach.name())
            }
            Some(
                Lost::Reset | Lost::Alert(_) | Lost::Refused(_) | Lost::Here | Lost::Idle | Lost::Version,
            )
            | None => return,
        };
        self.account.http3(|told| told.close(by, Code { protocol, number: code }, text, 1));
    }

    fn note_overflow(&self, socket: &UdpSocket) {
        let overflowed = socket.overflowed();
        if overflowed > 0 {
            self.account.http3(|told| told.quic.overflowed += overflowed);
        }
    }
}

/// The task of a connection: sends and receives until it is over. Raises `news` when its handshake is complete, or it is lost.
async fn drive(inner: Rc<Inner>, mut socket: UdpSocket, to: SocketAddr, moving: Option<Moving>, news: Event) {
    let began = inner.net.turn();
    let failure = loop {
        if let Err(error) = inner.transmit(&socket).await {
            break failure::of_io(&error, Stage::Send);
        }
        inner.note_opened(began, &news);
        if let Some(failure) = inner.lost() {
            break failure;
        }
        if inner.is_over() {
            inner.with_client(|state, now| {
                if let Speaker::Http3(http3) = &mut state.speaker {
                    http3.client.close(now, error::NO_ERROR);
                }
            });
            // The peer is told if it can be.
            let _ = inner.transmit(&socket).await;
            break Failure::new(FailureKind::ClosedEarly, Stage::Head);
        }
        let moves = moving.as_ref().map(|moving| moving.next.get());
        let until = inner.deadline().into_iter().chain(moves).min();
        match socket.recv_or_woken(&inner.wake, until, |datagrams| inner.received(datagrams)).await {
            Ok(Came::Datagrams(())) => {
                for _ in 1..BATCH {
                    // What fails now fails again.
                    let Poll::Ready(Ok(())) = socket.poll_recv(|datagrams| inner.received(datagrams)) else {
                        break;
                    };
                }
                if until.is_some_and(|until| inner.net.recently() >= until) {
                    inner.tick();
                }
            }
            Ok(Came::Signal) => {}
            Ok(Came::Time) => inner.tick(),
            Err(error) => {
                let stage = if inner.may_begin() { Stage::Head } else { Stage::Connect };
                break failure::of_io(&error, stage);
            }
        }
        if let Some(moving) = moving.as_ref().filter(|moving| inner.net.now() >= moving.next.get()) {
            moving.next.set(inner.net.now() + moving.every);
            // Without another port it stays where it is, and so it does until the handshake is confirmed.
            if inner.may_move()
                && let Ok(other) = inner.net.connect_udp(to, &moving.options)
            {
                inner.note_overflow(&socket);
                socket = other;
                inner.with_client(|state, _| {
                    if let Speaker::Http3(http3) = &mut state.speaker {
                        http3.client.moved();
                    }
                });
            }
        }
    };
    inner.note_overflow(&socket);
    inner.note_close();
    inner.end(failure);
    news.set();
}
