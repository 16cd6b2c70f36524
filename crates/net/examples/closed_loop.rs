//! Cost of the runtime: a closed loop that counts bytes and parses nothing, to compare with a bare epoll loop.
//!
//! `closed_loop PORT CONNECTIONS SECONDS ANSWER_BYTES [uring|epoll] [fresh]`; `fresh` opens a connection per request and
//! resets it.

use std::cell::Cell;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::{Duration, Instant};

use net::{ConnectOptions, Io, Limits, Net, Stream, thread_cpu};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const DEADLINE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy)]
struct Target {
    at: SocketAddr,
    connections: usize,
    seconds: u64,
    answer_bytes: usize,
    fresh: bool,
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| -> u64 {
        arguments
            .get(index)
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(|| panic!("PORT CONNECTIONS SECONDS ANSWER_BYTES [uring|epoll] [fresh]"))
    };
    let target = Target {
        at: (Ipv4Addr::LOCALHOST, number(0) as u16).into(),
        connections: number(1) as usize,
        seconds: number(2),
        answer_bytes: number(3) as usize,
        fresh: arguments.iter().any(|word| word == "fresh"),
    };
    let io = match arguments.get(4).map(String::as_str) {
        Some("uring") => Io::Uring,
        Some("epoll") => Io::Epoll,
        _ => Io::Auto,
    };
    net::run(io, Limits::default(), |net| press(net, target))
}

async fn press(net: Net, target: Target) {
    let answers = Rc::new(Cell::new(0u64));
    for _ in 0..target.connections {
        net.spawn(user(net.clone(), target, answers.clone()));
    }
    let started = Instant::now();
    net.sleep(Duration::from_secs(target.seconds)).await;
    let count = answers.get();
    let cpu_us = thread_cpu().as_micros();
    println!(
        "{}: {count} reqs {:.0} rps  cpu us/req {:.3}  {:?}",
        net.backend(),
        count as f64 / started.elapsed().as_secs_f64(),
        cpu_us as f64 / count as f64,
        net.usage(),
    );
}

async fn user(net: Net, target: Target, answers: Rc<Cell<u64>>) {
    let ended: io::Result<()> = async {
        if !target.fresh {
            let mut stream = net.connect(target.at, &ConnectOptions::default()).await?;
            loop {
                exchange(&net, &mut stream, target).await?;
                answers.set(answers.get() + 1);
            }
        }
        let options = ConnectOptions { abortive_close: true, ..ConnectOptions::default() };
        loop {
            let mut stream = net.connect(target.at, &options).await?;
            exchange(&net, &mut stream, target).await?;
            answers.set(answers.get() + 1);
        }
    }
    .await;
    eprintln!("a user stopped: {ended:?}");
}

async fn exchange(net: &Net, stream: &mut Stream, target: Target) -> io::Result<()> {
    let mut request = net.buffer();
    request.write_all(REQUEST)?;
    stream.set_deadline(Some(net.turn() + DEADLINE));
    stream.send(request).await?;
    let mut received = 0;
    while received < target.answer_bytes {
        let bytes = stream.recv().await?;
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        received += bytes.len();
    }
    Ok(())
}
