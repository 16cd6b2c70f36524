//! The entries of HTTP/3 and QPACK, each held to its bytes.

use super::super::Limits;
use super::network::{Faults, Reply, World, server_limits};
use crate::tls;
use breach::{Breach, Entry, Scope, Situation};
use std::time::Duration;

const SECONDS: Duration = Duration::from_secs(5);

/// A client and a server, with limits that short examples exceed.
fn world() -> World {
    let small = |limits: Limits| Limits { field_section: 256, broken_streams: 4, ..limits };
    let mut world = World::with(
        4,
        Faults::default(),
        small(Limits::real()),
        small(server_limits()),
        tls::Resumption::Sessions,
    );
    world.answering = Box::new(|_, _, _| Reply::Nothing);
    world
}

/// The server writes on a one-way stream of its own.
fn one_way(bytes: &[u8], ends: bool, first: bool) -> World {
    let mut world = world();
    world.says_settings = !first;
    match first {
        true => assert!(world.until(SECONDS, |world| world.client.is_connected())),
        false => world.connect(),
    }
    let (_, server) = world.server.as_mut().expect("a server");
    let stream = server.quic.open(false).expect("room for a stream");
    server.quic.write(stream, bytes);
    if ends {
        server.quic.finish(stream);
    }
    world.until(SECONDS, |world| !world.told.broke.is_empty());
    world
}

/// The server writes on a stream that is open.
fn writes(mut world: World, stream: u64, bytes: &[u8]) -> World {
    let mut rest = bytes;
    while !rest.is_empty() && world.told.broke.is_empty() {
        let (_, server) = world.server.as_mut().expect("a server");
        let part = rest.len().min(4096);
        server.quic.write(stream, &rest[..part]);
        rest = &rest[part..];
        world.until(Duration::from_millis(50), |world| !world.told.broke.is_empty());
    }
    world.until(SECONDS, |world| !world.told.broke.is_empty());
    world
}

fn answered(bytes: Vec<u8>) -> World {
    let mut world = world();
    world.answering = Box::new(move |server, stream, _| {
        let id = u64::from(stream) * 4;
        server.quic.write(id, &bytes);
        server.quic.finish(id);
        Reply::Nothing
    });
    world.connect();
    world.ask(0, "GET", None);
    world.until(SECONDS, |world| !world.told.broke.is_empty());
    world
}

/// The client writes on streams of its own, and ends those that go both ways.
fn asked(bytes: &[u8], both_ways: bool, times: usize) -> World {
    let mut world = world();
    world.connect();
    for _ in 0..times {
        let quic = &mut world.client.quic.quic;
        let stream = quic.open(both_ways).expect("room for a stream");
        quic.write(stream, bytes);
        if both_ways {
            quic.finish(stream);
        }
    }
    world.until(SECONDS, |world| world.server_error.is_some() || world.asked.broke.len() >= times);
    world
}

/// Names that the end in question has told, each with what it ended.
fn told(entry: &Entry) -> Vec<(Breach, Scope)> {
    /// The control stream of a server is the first that it opens.
    const CONTROL: u64 = 3;
    let bytes = entry.example.bytes();
    let of_client = |world: World| world.told.broke;
    let of_server = |world: World| world.asked.broke;
    match entry.example.situation {
        Situation::Answer3 => of_client(answered(bytes)),
        Situation::Control3 => {
            let mut world = world();
            world.connect();
            of_client(writes(world, CONTROL, &bytes))
        }
        Situation::FirstControl3 => of_client(one_way(&bytes, false, true)),
        Situation::OneWay3 => of_client(one_way(&bytes, false, false)),
        Situation::EndedOneWay3 => of_client(one_way(&bytes, true, false)),
        Situation::ServerStream3 => {
            let mut world = world();
            world.connect();
            let (_, server) = world.server.as_mut().expect("a server");
            let stream = server.quic.open(true);
            match stream {
                Some(stream) => of_client(writes(world, stream, &bytes)),
                None => Vec::new(),
            }
        }
        Situation::Request3 => of_server(asked(&bytes, true, 1)),
        Situation::EachRequest3 => {
            let piece = entry.example.pieces[0];
            let mut told = of_server(asked(piece.bytes, true, piece.times));
            told.retain(|(_, scope)| *scope == Scope::Connection);
            told
        }
        Situation::ClientOneWay3 => of_server(asked(&bytes, false, 1)),
        Situation::Answer1
        | Situation::Closed1
        | Situation::Request1
        | Situation::Begins2
        | Situation::Answer2
        | Situation::Greets2
        | Situation::Request2 => Vec::new(),
    }
}

#[test]
fn the_bytes_of_each_entry_are_called_by_its_name() {
    let mut tried = 0;
    for breach in Breach::all().filter(|breach| matches!(breach, Breach::Http3(_) | Breach::Qpack(_))) {
        let entry = breach.entry();
        let told = told(entry);
        let Some((found, scope)) = told.first() else {
            panic!("{}: nothing is wrong with its example", entry.name)
        };
        assert_eq!(found.name(), entry.name);
        assert!(entry.ends.includes(*scope), "{} ended the {}", entry.name, scope.name());
        tried += 1;
    }
    assert!(tried > 30, "{tried}");
}
