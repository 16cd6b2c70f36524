//! Origin and clients as two processes, as on two machines: their accounts and their evidence are joined through the
//! proxy between them.

use crate::faulty_proxy::{FaultKind, start as faulty_proxy};
use crate::fleet::Asked;
use crate::support::{Ran, Report, Running, free_address, program, run, wringer};
use rustix::process::Signal;
use std::net::SocketAddr;

/// A fault that needs variants to show leaves an honest cache where there are none.
const HONEST: FaultKind = FaultKind::MixVariants;

/// `wringer origin` on an address of its own.
fn origin(options: &str) -> (SocketAddr, Running) {
    let address = free_address();
    let mut origin = wringer(&format!("origin --listen {address} -t 2 -q --json {{}}/result.json {options}"));
    origin.wait_for("listens at");
    (address, origin)
}

/// `wringer cache --clients-only` on a proxy.
fn clients(proxy: SocketAddr, options: &str) -> Ran {
    run(&format!(
        "cache {proxy} --clients-only -c 4 -q --json {{}}/result.json --evidence-file {{}}/evidence.txt --seed 7 {options}"
    ))
}

/// Asserts that the clients were told of the origin what it says itself, and that both agree on what was fetched.
fn assert_joined(clients: &Report, origin: &Report) {
    for counter in ["requests", "full", "partial", "unchanged", "body_bytes"] {
        let counter = format!("origin/{counter}");
        assert_eq!(clients.count(&counter), origin.count(&counter), "{counter}");
    }
    let made = clients.sum("misses") + clients.sum("revalidated");
    let given =
        clients.count("origin/full") + clients.count("origin/partial") + clients.count("origin/unchanged");
    assert!(made.abs_diff(given) <= 2, "{made} fetches seen by the clients, {given} by the origin");
}

#[test]
fn accounts_are_joined_through_the_proxy() {
    let (address, origin) = origin("--size 3000");
    let proxy = faulty_proxy(address, HONEST);
    // Sets of their own, or the second would find in the cache what the first has asked for.
    for (form, set) in [("reverse", "a"), ("forward", "b")] {
        let options =
            format!("--phase x,requests=500,set={set} --hit-ratio 1 --hot 200 --size 3000 --form {form}");
        let report = clients(proxy.address, &options).ended_with(0).report();
        assert_eq!((report.sum("ok"), report.notes()), (500, String::new()), "{form}");
        assert!(report.count("origin/full") > 0 && report.number("measured/cache/offload") > 0.0);
        let fetched = report.sum("misses");
        assert!(report.count("origin/full").abs_diff(fetched) <= 2, "only this run's fetches are counted");
    }
    origin.signal(Signal::INT);
    let report = origin.end().ended_with(0).report();
    assert!(report.count("origin/full") > 100 && report.list("phases").is_empty());
    assert_eq!(report.list("workers").len(), 2, "the CPU of each worker, once");
}

#[test]
fn an_origin_that_is_gone_before_the_end_has_its_figures_marked() {
    let (address, origin) = origin("--size 3000");
    let proxy = faulty_proxy(address, HONEST);
    let mut clients = wringer(&format!(
        "cache {} --clients-only -c 4 --json {{}}/result.json --evidence-file {{}}/evidence.txt --seed 7 --hot 20 -d 4s \
         --size 3000",
        proxy.address
    ));
    // The first line comes after a second.
    clients.wait_for("phase");
    origin.signal(Signal::KILL);
    let ran = clients.end();
    let report = ran.report();
    assert!(report.notes().contains("its accounts end"), "{}", report.notes());
    let until = report.number("measured/origin_until_s");
    assert!(until > 0.0 && until < report.number("run/duration_s"), "{until}");
    assert!(report.at("measured/cache/offload").is_null());
    assert!(ran.stdout.contains("the origin did not answer after that"), "{}", ran.stdout);
}

/// Through a proxy that is not the tests' own.
#[test]
fn accounts_are_joined_through_a_real_proxy() {
    if program("nginx").is_none() {
        skip!("nginx is not installed");
    }
    let (address, origin) = origin("--size 3000 --variants 2");
    let listen = free_address();
    let mut rig = wringer(&format!("rig nginx --listen {listen} --origin {address} --memory 64MiB"));
    rig.wait_for("listens on");
    let report =
        clients(listen, "-n 800 --hot 50 --size 3000 --variants 2 --range 0.2 --fill").ended_with(0).report();
    for running in [&rig, &origin] {
        running.signal(Signal::INT);
    }
    rig.end().ended_with(0);
    assert_joined(&report, &origin.end().ended_with(0).report());
    assert_eq!(report.notes_but("had no Age"), "", "nginx sends none with what it keeps");
    assert!(report.number("measured/cache/hit_ratio") > 0.7);
}

#[test]
fn sites_that_differ_are_noted() {
    let (address, origin) = origin("--lifetime 1h");
    let proxy = faulty_proxy(address, HONEST);
    let ran = clients(proxy.address, "-n 100 --lifetime 2h");
    let notes = ran.report().notes();
    assert!(notes.contains("other objects") && notes.contains("same options"), "{notes}");
    assert!(ran.stdout.contains("other objects"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("note: the origin serves other objects"),
        "said at the start: {}",
        ran.stderr
    );
    origin.signal(Signal::INT);
    origin.end();
}

#[test]
fn evidence_is_joined_through_the_proxy() {
    for (fault, kind, options) in [
        ("wrong_variant", FaultKind::MixVariants, "--variants 3 --size 3000"),
        ("leaked_nonce", FaultKind::Leak, "--private 1 --size 3000"),
    ] {
        let (address, origin) = origin(options);
        let proxy = faulty_proxy(address, kind);
        let ran = clients(proxy.address, &format!("-n 300 --hot 20 --hit-ratio 1 {options}")).ended_with(3);
        let report = ran.report();
        assert_eq!(report.faults().keys().collect::<Vec<_>>(), [fault], "{}", report.notes());
        let kept = report.list("evidence");
        assert!(!kept.is_empty());
        for piece in &kept {
            assert!(piece.text("origin_request").starts_with("GET /w/"), "{}", piece.text("origin_request"));
            assert!(
                piece.text("origin_response").starts_with("HTTP/1.1 200"),
                "{}",
                piece.text("origin_response")
            );
        }
        let file = ran.file("evidence.txt");
        assert_eq!(file.matches("answer, origin to proxy\nHTTP/1.1 200").count(), kept.len(), "{file}");
        origin.signal(Signal::INT);
        origin.end().ended_with(0);
    }
}

/// Figures counted until then are reported.
#[test]
fn an_origin_that_goes_away_is_counted() {
    let (address, origin) = origin("--size 1KB");
    let proxy = faulty_proxy(address, HONEST);
    let line =
        format!("cache {} --clients-only -c 4 -d 3s --size 1KB --json {{}}/result.json", proxy.address);
    let mut clients = wringer(&line);
    clients.wait_for("\n     1 ");
    origin.signal(Signal::KILL);
    assert_eq!(origin.end().code(), 128 + 9);
    let report = clients.end().ended_with(3).report();
    assert!(report.sum("ok") > 0 && report.count("origin/full") > 0);
    assert_eq!(report.failures().keys().collect::<Vec<_>>(), ["bad_status"], "{:?}", report.failures());
}

/// An origin that is another program altogether, or that goes away.
#[test]
fn an_origin_that_cannot_be_asked_is_noted() {
    let proxy = faulty_proxy(free_address(), HONEST);
    let ran = clients(proxy.address, "-n 50");
    let report = ran.report();
    assert!(report.notes().contains("could not be joined"), "{}", report.notes());
    assert!(report.at("origin").is_null());
    assert_eq!(report.failures().get("bad_status"), Some(&50), "{:?}", report.failures());
}

/// Several proxies with an origin each, pressed in turns and by a worker of an agent each.
#[test]
fn accounts_of_several_origins_behind_several_proxies_are_added_up() {
    let sides: Vec<_> = (0..3)
        .map(|_| {
            let (address, origin) = origin("--size 3000");
            (address, origin, faulty_proxy(address, HONEST))
        })
        .collect();
    let list = |at: &dyn Fn(usize) -> SocketAddr| {
        (0..3).map(|side| at(side).to_string()).collect::<Vec<_>>().join(",")
    };
    let targets = list(&|side| sides[side].2.address);
    let origins = list(&|side| sides[side].0);
    let host = sides[0].0;
    let mut fetched = 0;
    for (set, more) in [
        ("a", "-t 1".to_owned()),
        ("b", "-t 3 --spread own".to_owned()),
        ("c", format!("--agents local:3 --spread own --origins {origins}")),
    ] {
        let line = format!(
            "cache --targets {targets} --clients-only --host {host} -c 6 -q --json {{}}/result.json --seed 7 --size 3000 \
             --phase x,requests=900,set={set} --hit-ratio 1 --hot 40 --ignore-exit {more}"
        );
        let report = run(&line).ended_with(0).report();
        assert_eq!(report.sum("ok"), 900, "{more}");
        assert!(report.notes().contains("the sum of 3 origins"), "{}", report.notes());
        let misses = report.sum("misses");
        assert!(
            report.count("origin/full").abs_diff(misses) <= 2,
            "{more}: {misses} fetches seen by the clients"
        );
        // Each of three caches that know nothing of each other has fetched most of it; one would have fetched 40.
        assert!(misses > 60, "{more}: {misses}");
        assert!(report.at("phases/0/cache/predicted_hit_ratio").is_null(), "{more}");
        fetched += report.count("origin/full");
    }
    let mut told = 0;
    for (_, origin, _) in sides {
        origin.signal(Signal::INT);
        let full = origin.end().ended_with(0).report().count("origin/full");
        assert!(full > 0, "nobody asked one of them");
        told += full;
    }
    assert_eq!(fetched, told);
}

#[test]
fn each_object_belongs_to_one_of_several_proxies_where_it_is_hashed() {
    let (address, origin) = origin("--size 3000");
    let proxies: Vec<_> = (0..3).map(|_| faulty_proxy(address, HONEST)).collect();
    let targets = proxies.iter().map(|proxy| proxy.address.to_string()).collect::<Vec<_>>().join(",");
    // A user keeps a connection to each of them. Three caches of which each has a third fetch as much as one that has all.
    for (set, spread, connections, fetched) in
        [("a", "hash", 3, 40..=40), ("b", "turn --keep-alive 1", 900, 60..=120)]
    {
        let line = format!(
            "cache --targets {targets} --clients-only --host {address} -c 1 -t 1 -q --json {{}}/result.json --seed 7 --size 3000 \
             --phase x,requests=900,set={set} --hit-ratio 1 --hot 40 --ignore-exit --spread {spread}"
        );
        let report = run(&line).ended_with(0).report();
        assert_eq!(report.sum("ok"), 900, "{spread}");
        assert_eq!(report.count("measured/counts/connections"), connections, "{spread}");
        assert!(fetched.contains(&report.sum("misses")), "{spread}: {}", report.sum("misses"));
    }
    origin.signal(Signal::INT);
    origin.end().ended_with(0);
}

#[test]
fn urls_go_to_several_servers_in_place_of_their_host() {
    let servers = [Asked::begin(), Asked::begin()];
    let targets = format!("{},{}", servers[0].at, servers[1].at);
    let urls = (0..12).map(|nth| format!("http://shop.example/{nth}")).collect::<Vec<_>>().join(" ");
    let ask = |spread: &str| {
        run(&format!("http {urls} --targets {targets} -n 120 -c 4 -q {spread}")).ended_with(0);
        let [one, other] = [servers[0].take(), servers[1].take()];
        assert_eq!(one.values().chain(other.values()).sum::<u64>(), 120, "{spread}");
        (one, other)
    };
    let (one, other) = ask("--spread hash");
    assert!(!one.is_empty() && one.keys().all(|path| !other.contains_key(path)), "{one:?} {other:?}");
    assert_eq!(one.len() + other.len(), 12);
    assert_eq!(ask("--spread hash --agents local:2"), (one, other), "agents hash alike");
    let (one, other) = ask("");
    assert!(one.keys().any(|path| other.contains_key(path)), "{one:?} {other:?}");
    for (words, said) in [
        (format!("https://shop.example/ --targets {targets}"), "TLS is spoken to hosts by the names"),
        (format!("http://shop.example/ --targets {targets} --follow"), "--follow"),
        (
            format!("http://shop.example/{{{{int:1..9}}}} --targets {targets} --spread hash"),
            "a URL with a placeholder",
        ),
        (format!("http://shop.example/ --targets {targets} --proxy h:1"), "cannot be used with"),
    ] {
        run(&format!("http {words} -n 5 -q")).refused_with(2, &[said]);
    }
}

#[test]
fn what_several_targets_cannot_be_is_refused() {
    let one = faulty_proxy(free_address(), HONEST).address;
    let other = faulty_proxy(free_address(), HONEST).address;
    for (words, said) in [
        (format!("{one},{one}"), "is given twice"),
        (format!("{one},{other} --spread own -t 1"), "needs a worker of its own"),
        (format!("{one},{other} --spread object"), "possible values: turn, own, hash"),
        (format!("{one},{other} --spread hash --http 2c"), "shared by users"),
        (format!("{one},{other} --spread hash --connection-rate 5 --keep-alive 2"), "for several targets"),
        (format!("{one},{other} --purge 1"), "purges would reach one of several targets"),
        (format!("{one},nowhere"), "names no port"),
        (format!("{one} --rig nginx"), "cannot be used with"),
    ] {
        run(&format!("cache --targets {words} --clients-only -n 5 -q")).refused_with(2, &[said]);
    }
}
