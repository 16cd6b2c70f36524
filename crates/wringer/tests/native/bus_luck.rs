//! Bad luck on a bus: a copy of an old order, a server that cuts off who is too slow, and a thousand agents at once. What is said there
//! is said by hand, in the plain words of NATS.

use crate::bus::{MISSING, Nats, Ours, there, until_well};
use crate::fleet::{Asked, agents};
use crate::support::{run, start};
use fleet::PROTOCOL;
use fleet::bus::{Message, Reply, Word, subject};
use fleet::frame::MAGIC;
use fleet::message::{Hello, Up};
use fleet::stream::Stream;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// A client of the bus.
struct Wire {
    from: BufReader<TcpStream>,
    to: TcpStream,
}

impl Wire {
    /// Connects, and hears a subject.
    fn hears(nats: &Nats, subject: &str) -> Wire {
        let to = TcpStream::connect(("127.0.0.1", nats.port)).expect("it listens");
        to.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        let mut wire = Wire { from: BufReader::new(to.try_clone().expect("a socket")), to };
        wire.write(&format!(
            "CONNECT {{\"verbose\":false,\"protocol\":1,\"echo\":false}}\r\nSUB {subject} 1\r\nPING\r\n"
        ));
        // Once this is answered, it is heard.
        while !wire.line().starts_with("PONG") {}
        wire
    }

    fn write(&mut self, text: &str) {
        self.to.write_all(text.as_bytes()).expect("the bus is there");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.from.read_line(&mut line).expect("the bus is there") > 0, "the bus has gone");
        line
    }

    fn say(&mut self, subject: &str, bytes: &[u8]) {
        let head = format!("PUB {subject} {}\r\n", bytes.len());
        self.to.write_all(&[head.as_bytes(), bytes, b"\r\n"].concat()).expect("the bus is there");
    }

    /// The next message: its subject, and its bytes.
    fn next(&mut self) -> (String, Vec<u8>) {
        loop {
            let line = self.line();
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["MSG", subject, _, length] => {
                    let length: usize = length.parse().expect("a length");
                    let mut bytes = vec![0; length + 2];
                    self.from.read_exact(&mut bytes).expect("the bus is there");
                    bytes.truncate(length);
                    return ((*subject).to_owned(), bytes);
                }
                ["PING"] => self.write("PONG\r\n"),
                _ => {}
            }
        }
    }

    /// The word by which a controller takes an agent, and the name of its run.
    fn opening(&mut self) -> (String, Vec<u8>) {
        loop {
            let (subject, bytes) = self.next();
            if let Some(Message::Word(Word::Open { .. })) = Message::<Word>::of_bytes(&bytes) {
                return (subject::run(&subject).expect("a run").to_owned(), bytes);
            }
        }
    }
}

#[test]
fn an_order_that_comes_again_after_its_run_is_refused_by_the_id_of_the_run() {
    let Some(nats) = Nats::plain() else { skip!("{MISSING}") };
    let server = Asked::begin();
    let bus = nats.url();
    let mut wire = Wire::hears(&nats, "wringer.*.down.c1");
    let _agent = Ours::agent(&format!("--bus {bus} --name c1"));
    run(&format!(
        "http http://{}/ --rate 20 -d 1s -q --ignore-exit --bus {bus} --expect 1 --threads 1",
        server.at
    ))
    .ended_with(0);
    let (run_id, word) = wire.opening();
    until_well(&format!("fleet check --bus {bus} --expect 1"));
    let mut ears = Wire::hears(&nats, &subject::up(&run_id, "c1"));
    // It may not know yet that its controller has all.
    let why = loop {
        wire.say(&subject::down(&run_id, "c1"), &word);
        let (_, bytes) = ears.next();
        match Message::<Reply>::of_bytes(&bytes) {
            Some(Message::Word(Reply::Gone { why, .. })) if why.contains("meanwhile") => {}
            Some(Message::Word(Reply::Gone { why, .. })) => break why,
            other => panic!("{other:?}"),
        }
        until_well(&format!("fleet check --bus {bus} --expect 1"));
    };
    assert!(why.contains(&format!("run {run_id} was carried here before")), "{why}");
    // It is there for the next one.
    run(&format!(
        "http http://{}/ --rate 20 -d 1s -q --ignore-exit --bus {bus} --expect 1 --threads 1",
        server.at
    ))
    .ended_with(0);
    assert_eq!(server.take().values().sum::<u64>(), 40);
}

/// Another controller with the id of a run that goes on, by chance or as a forgery: it is refused by the id, and the run goes on.
#[test]
fn a_second_controller_of_a_run_is_refused_and_the_first_one_goes_on() {
    let Some(nats) = Nats::plain() else { skip!("{MISSING}") };
    let server = Asked::begin();
    let bus = nats.url();
    let mut wire = Wire::hears(&nats, "wringer.*.down.c1");
    let _agent = Ours::agent(&format!("--bus {bus} --name c1"));
    let line = format!(
        "http http://{}/ --rate 50 -d 4s -q --bus {bus} --expect 1 --threads 1 --lease 100s --json {{}}/result.json",
        server.at
    );
    let mut ran = start(line.split_whitespace());
    let (run_id, word) = wire.opening();
    server.wait_for(20, &mut ran);
    let Some(Message::Word(Word::Open { instance, host, patience_ms, controller })) =
        Message::of_bytes(&word)
    else {
        panic!("no opening")
    };
    let second = controller ^ 1;
    let open = Word::Open { instance, host, patience_ms, controller: second };
    let mut ears = Wire::hears(&nats, &subject::up(&run_id, "c1"));
    wire.say(&subject::down(&run_id, "c1"), &Message::Word(open).to_bytes());
    let why = loop {
        let (_, bytes) = ears.next();
        if let Some(Message::Word(Reply::Gone { why, controller })) = Message::<Reply>::of_bytes(&bytes) {
            assert_eq!(controller, Some(second));
            break why;
        }
    };
    assert!(why.contains(&format!("run {run_id} is commanded by another controller, on ")), "{why}");
    let ran = ran.end().ended_with(0);
    let told = agents(&ran);
    assert!(told.iter().all(|agent| agent["lost"].is_null()), "{told:?}");
    assert_eq!((ran.report().count("measured/counts/ok"), server.take().values().sum()), (200, 200_u64));
}

/// The server of the bus drops who does not read. Who is dropped comes back, and says again what did not get there.
#[test]
fn an_agent_that_the_bus_cuts_off_as_a_slow_consumer_loses_nothing() {
    let nats = Nats::start(|port, place| {
        format!(
            "listen: \"127.0.0.1:{port}\"\nmax_payload: 300000\nmax_pending: 600000\nwrite_deadline: \"1s\"\nlog_file: \"{}/log\"\n",
            place.display()
        )
    });
    let Some(nats) = nats else { skip!("{MISSING}") };
    let server = Asked::begin();
    let bus = nats.url();
    let mut wire = Wire::hears(&nats, "wringer.*.down.c2");
    let agents_there = ["c1", "c2"].map(|name| Ours::agent(&format!("--bus {bus} --name {name}")));
    let line = format!(
        "http http://{}/ --rate 100 -d 8s -q --bus {bus} --expect 2 --threads 1 --lease 100s --ignore-exit --json {{}}/result.json",
        server.at
    );
    let mut ran = start(line.split_whitespace());
    let (run_id, _) = wire.opening();
    server.wait_for(100, &mut ran);
    let slow = Pid::from_child(&agents_there[1].0);
    kill_process(slow, Signal::STOP).expect("it runs");
    // No word of anybody's.
    let noise = vec![b'{'; 250_000];
    let log = nats.place.path().join("log");
    let mut flood = Wire::hears(&nats, "nobody");
    while !fs::read_to_string(&log).unwrap_or_default().contains("Slow Consumer") {
        assert!(ran.is_running(), "{}", ran.said());
        flood.say(&subject::down(&run_id, "c2"), &noise);
        thread::sleep(Duration::from_millis(2));
    }
    kill_process(slow, Signal::CONT).expect("it is there");
    let ran = ran.end().ended_with(0);
    let told = agents(&ran);
    assert!(told.iter().all(|agent| agent["lost"].is_null()), "{told:?}");
    let sum: u64 = told.iter().map(|agent| agent["requests"].as_u64().expect("a count")).sum();
    assert_eq!((sum, ran.report().count("measured/counts/requests")), (server.take().values().sum(), sum));
}

/// An agent says who it is.
fn hello() -> Up {
    Up::Hello(Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: "h".to_owned(),
        cores: 1,
        pid: 1,
        nonce: String::new(),
    })
}

/// Many agents on one connection: each offers itself as soon as it is called, and says who it is once it is taken.
fn play_agents(mut wire: Wire, count: u64) {
    let began = Instant::now();
    let mut streams: BTreeMap<String, Stream> = BTreeMap::new();
    let mut offered = false;
    loop {
        let (at, bytes) = wire.next();
        let run = subject::run(&at).expect("a run").to_owned();
        let name = subject::name(&at).unwrap_or_default().to_owned();
        match Message::<Word>::of_bytes(&bytes) {
            Some(Message::Word(Word::Call { .. })) => {
                let new = if offered { 0 } else { count };
                offered = true;
                for instance in 0..new {
                    let offer = Reply::Offer { instance, host: "h".to_owned(), busy: None };
                    wire.say(&subject::up(&run, &format!("c{instance}")), &Message::Word(offer).to_bytes());
                }
            }
            Some(Message::Word(Word::Open { controller, .. })) => {
                let taken = Message::Word(Reply::Taken { controller }).to_bytes();
                wire.say(&subject::up(&run, &name), &taken);
                streams.entry(name.clone()).or_insert_with(|| {
                    let mut stream = Stream::new(began.elapsed());
                    stream.write(&MAGIC);
                    stream.write(&hello().frame().to_bytes());
                    stream
                });
            }
            Some(Message::Segment(segment)) => {
                streams.entry(name.clone()).and_modify(|stream| {
                    stream.handle(began.elapsed(), segment);
                    while stream.read().is_some() {}
                });
            }
            None => {}
        }
        if let Some(stream) = streams.get_mut(&name) {
            while let Some(segment) = stream.poll(began.elapsed()) {
                wire.say(&subject::up(&run, &name), &Message::<Reply>::Segment(segment).to_bytes());
            }
        }
        let ended = streams.values().filter(|stream| stream.is_at_end()).count();
        if ended as u64 == count {
            return;
        }
    }
}

#[test]
fn a_thousand_agents_that_offer_themselves_at_once_are_all_taken() {
    let Some(nats) = Nats::plain() else { skip!("{MISSING}") };
    let wire = Wire::hears(&nats, "wringer.>");
    let playing = thread::spawn(move || play_agents(wire, 1_000));
    let found = run(&format!("fleet check --bus {} --expect 1000", nats.url())).ended_with(0);
    let names = there(&found);
    assert_eq!(names.len(), 1_000, "{}", found.stdout);
    assert!(names.contains(&"c0") && names.contains(&"c999"), "{}", found.stdout);
    playing.join().expect("each of them learns that nothing follows");
}
