//! The tests' web server over HTTP/3.

use super::http2::{Heads, head_of};
use super::{Asked, Seen};
use std::collections::HashMap;
use std::net::UdpSocket;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use wire::http3::{Arrival, Datagram, Key, Limits, Listener, Server, Transmit};
use wire::tls::{self, Identity, Resumption, ServerSettings};

/// Serves whoever sends datagrams to a socket, until the test ends. Each request is answered on a thread of its own, since
/// answers may wait for each other.
pub fn serve<A: Into<Vec<u8>>>(
    socket: &UdpSocket,
    seen: &Seen,
    answer: &Arc<impl Fn(&Asked) -> A + Send + Sync + 'static>,
) {
    let settings = ServerSettings {
        identity: Identity::throw_away(&["localhost".to_owned()]).expect("a certificate"),
        client_roots: None,
        versions: Vec::new(),
        suites: Vec::new(),
        alpn: vec!["h2".to_owned()],
        resumption: Resumption::Sessions,
    };
    let tls = tls::TlsServer::new(&settings).expect("good settings");
    let limits = Limits { streams: 100, ..Limits::real() };
    let mut listener = Listener::new(&tls, limits, 7).expect("good settings");
    let mut open: HashMap<Key, (Box<Server>, Heads)> = HashMap::new();
    let (answered, answers) = mpsc::channel::<(Key, u32, Vec<u8>)>();
    let mut datagram = [0; 2048];
    socket.set_read_timeout(Some(Duration::from_millis(1))).expect("a time");
    loop {
        let came = socket.recv_from(&mut datagram);
        let now = Instant::now();
        let mut out = Vec::new();
        if let Ok((length, from)) = came {
            match listener.read(now, Datagram { from, ecn: 0, bytes: &datagram[..length] }, &mut out) {
                Arrival::Nothing => {}
                Arrival::Answer(transmit) => send(socket, &transmit, &out),
                Arrival::New(key, server) => drop(open.insert(key, (server, Heads::default()))),
                Arrival::For(key, input) => {
                    if let Some((server, requests)) = open.get_mut(&key) {
                        let _ = server.take(now, input, requests);
                    }
                }
            }
        }
        for (key, id, said) in answers.try_iter() {
            if let Some((server, requests)) = open.get_mut(&key) {
                let (fields, content) = head_of(&said, id, requests);
                server.respond(id, &fields, content);
            }
        }
        open.retain(|key, (server, requests)| {
            // Whoever breaks the rules is told so in what is sent.
            let _ = server.tick(now, requests);
            for (id, asked) in std::mem::take(&mut requests.whole) {
                let key = *key;
                let seen = seen.clone();
                let answer = answer.clone();
                let answered = answered.clone();
                thread::spawn(move || {
                    let said = answer(&asked).into();
                    seen.lock().expect("no test panics with it").push(asked);
                    answered.send((key, id, said))
                });
            }
            loop {
                let more = server.send(requests);
                let mut out = Vec::new();
                while let Some(transmit) = server.transmit(now, 1, &mut out) {
                    send(socket, &transmit, &out);
                    out.clear();
                }
                if !more {
                    break;
                }
            }
            listener.settle(server);
            !server.is_drained()
        });
    }
}

fn send(socket: &UdpSocket, transmit: &Transmit, bytes: &[u8]) {
    // Whoever it was may be gone.
    let _ = socket.send_to(bytes, transmit.to);
}
