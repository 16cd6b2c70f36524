//! Machines that never were, judged.

use super::*;

/// A machine that lacks nothing.
fn sound() -> Facts {
    Facts {
        kernel: "6.18.44".to_owned(),
        descriptors: Some(1_048_576),
        descriptors_ceiling: Some(1_048_576),
        port_range: Some((32_768, 60_999)),
        tw_reuse: Some(2),
        tw_buckets: Some(131_072),
        somaxconn: Some(4_096),
        syn_backlog: Some(2_048),
        tracked: Some(100),
        tracked_max: Some(262_144),
        cpus: Some(4),
        governors: vec!["performance".to_owned()],
        clock_source: Some("tsc".to_owned()),
        memory_available_bytes: Some(8 << 30),
        swap_used_bytes: Some(0),
        io_uring_disabled: Some(0),
        ..Facts::default()
    }
}

fn need() -> Need {
    Need { workers: 4, ..Need::of_numbers(1_000, 100.0, 10_000.0) }
}

fn about(topic: Topic, facts: &Facts, need: &Need) -> Finding {
    judge(facts, need).into_iter().find(|finding| finding.topic == topic).unwrap()
}

/// Asserts what is found of a topic: its level, and words of its sentence.
#[track_caller]
fn found(topic: Topic, facts: Facts, need: Need, level: Level, words: &[&str]) {
    let finding = about(topic, &facts, &need);
    assert_eq!(finding.level, level, "{finding:?}");
    assert!(level == Level::Ok || !finding.mend.is_empty(), "nothing mends it: {finding:?}");
    let sentence = finding.sentence();
    for word in words {
        assert!(sentence.contains(word), "{word:?} is missing in {sentence}");
    }
}

#[test]
fn a_sound_machine_has_nothing_to_mend() {
    let findings = judge(&sound(), &need());
    assert_eq!(findings.len(), 12);
    for finding in findings {
        assert_eq!((finding.level, finding.mend.len()), (Level::Ok, 0), "{finding:?}");
    }
}

#[test]
fn what_cannot_be_read_is_not_judged() {
    let findings = judge(&Facts::default(), &need());
    assert!(findings.iter().all(|finding| finding.level == Level::Ok), "{findings:?}");
}

#[test]
fn descriptors_block_what_is_sure_and_warn_of_what_may_be() {
    let few = |limit| Facts { descriptors: Some(limit), ..sound() };
    found(Topic::Descriptors, few(1_064), need(), Level::Ok, &["1,064 needed", "1,064 allowed"]);
    found(
        Topic::Descriptors,
        few(1_063),
        need(),
        Level::Blocks,
        &["1,000 connections", "the 1,063 allowed", "ulimit -n 4096", "itself 64"],
    );
    let both = Need { origin: true, ..need() };
    found(
        Topic::Descriptors,
        few(2_000),
        both,
        Level::Warning,
        &["2,064 file descriptors may", "2,000 are allowed"],
    );
    let may = Need { sure_connections: 0, ..need() };
    found(Topic::Descriptors, few(60), may, Level::Warning, &["ulimit -n 4096"]);
    let many = Need { sure_connections: 2_000_000, connections: 2_000_000, ..need() };
    found(Topic::Descriptors, sound(), many, Level::Blocks, &["sysctl -w fs.nr_open=4194304"]);
    let unlimited = Facts { descriptors: None, ..sound() };
    found(Topic::Descriptors, unlimited, need(), Level::Ok, &["no limit"]);
}

#[test]
fn ports_are_counted_for_each_pair_of_addresses() {
    let many = Need { connections: 60_000, sure_connections: 60_000, ..need() };
    let advice = &["60,000 connections", "28,232 local ports", "--source A-B with 3", "\"1024 65535\""];
    found(Topic::Ports, sound(), many.clone(), Level::Blocks, advice);
    let near = Need { loopback: true, ..many.clone() };
    found(Topic::Ports, sound(), near.clone(), Level::Blocks, &["--source 127.0.0.2-127.0.0.4"]);
    found(Topic::Ports, sound(), Need { sources: 3, ..near }, Level::Ok, &["84,696"]);
    found(Topic::Ports, sound(), Need { targets: Some(3), ..many.clone() }, Level::Ok, &[]);
    let urls = Need { targets: None, ..many.clone() };
    found(Topic::Ports, sound(), urls, Level::Warning, &["60,000 connections"]);
    let may = Need { sure_connections: 0, ..many.clone() };
    found(Topic::Ports, sound(), may, Level::Warning, &["60,000 connections"]);
    let endless = Need { sources: u64::MAX, targets: Some(3), ..many.clone() };
    found(Topic::Ports, sound(), endless, Level::Ok, &[]);
    let wide = Facts { port_range: Some((1_024, 65_535)), reserved_ports: 10_000, ..sound() };
    let finding = about(Topic::Ports, &wide, &many);
    assert!(finding.what.contains("54,512") && !finding.sentence().contains("sysctl"), "{finding:?}");
}

#[test]
fn ports_wait_a_minute_or_a_second_or_not_at_all() {
    let churn = |rate| Need { connections_per_s: Some(rate), ..need() };
    // (28,232 - 1,000) / 60 s
    found(Topic::TimeWait, sound(), churn(453.0), Level::Ok, &["454/s", "60 s"]);
    let advice =
        &["27,300 ports", "27,232 are free", "--close reset", "net.ipv4.tcp_tw_reuse=1", "keep-alive"];
    found(Topic::TimeWait, sound(), churn(455.0), Level::Warning, advice);
    let reuse = Facts { tw_reuse: Some(1), ..sound() };
    found(Topic::TimeWait, reuse.clone(), churn(20_000.0), Level::Ok, &["27.2k/s", "1 s"]);
    let slower = Facts { tw_reuse_delay_ms: Some(2_000), ..reuse };
    found(Topic::TimeWait, slower.clone(), churn(20_000.0), Level::Warning, &["40,000 ports", "2 s"]);
    let finding = about(Topic::TimeWait, &slower, &churn(20_000.0));
    assert!(!finding.sentence().contains("tcp_tw_reuse"), "it is on already: {finding:?}");
    let near = Need { loopback: true, ..churn(20_000.0) };
    found(Topic::TimeWait, sound(), near.clone(), Level::Ok, &["1 s"]);
    let never = Facts { tw_reuse: Some(0), ..sound() };
    found(Topic::TimeWait, never, near, Level::Warning, &["--source 127.0.0.2-", "tcp_tw_reuse=2"]);
    found(Topic::TimeWait, sound(), Need { resets: true, ..churn(1e6) }, Level::Ok, &["reset"]);
    let few_buckets = Facts { tw_buckets: Some(8_000), ..sound() };
    found(Topic::TimeWait, few_buckets, churn(1e6), Level::Ok, &[]);
    found(
        Topic::TimeWait,
        sound(),
        Need { connections_per_s: None, ..need() },
        Level::Ok,
        &["room for 454/s"],
    );
}

#[test]
fn queues_of_new_connections_matter_where_somebody_listens_here() {
    let burst = Need { burst: 5_000, ..need() };
    found(Topic::Backlog, sound(), burst.clone(), Level::Ok, &["nobody listens here"]);
    let near = Need { loopback: true, ..burst.clone() };
    let finding = about(Topic::Backlog, &sound(), &near);
    assert_eq!(finding.mend, ["sysctl -w net.core.somaxconn=8192"]);
    let far = Need { origin: true, burst: 3_000, ..burst };
    let finding = about(Topic::Backlog, &sound(), &far);
    assert_eq!(
        (finding.level, finding.mend),
        (Level::Warning, vec!["sysctl -w net.ipv4.tcp_max_syn_backlog=4096".into()])
    );
    found(Topic::Backlog, sound(), Need { burst: 3_000, ..near }, Level::Ok, &["3,000", "4,096"]);
}

#[test]
fn the_firewall_s_table_matters_where_it_is_used() {
    let churn = Need { connections_per_s: Some(5_000.0), ..need() };
    let advice = &["601,100", "262,144", "nf_conntrack_max=1048576"];
    found(Topic::Tracking, sound(), churn.clone(), Level::Warning, advice);
    let unused = Facts { tracked: Some(0), ..sound() };
    assert!(judge(&unused, &churn).iter().all(|finding| finding.topic != Topic::Tracking));
}

#[test]
fn workers_need_cores_of_their_own() {
    let two = Facts { cpus: Some(2), ..sound() };
    found(Topic::Workers, two.clone(), need(), Level::Warning, &["4 workers on 2 cores", "--threads 2"]);
    let limited = Facts { cpu_quota: Some(1.5), ..sound() };
    found(Topic::Workers, limited, need(), Level::Warning, &["1.50 cores", "--threads 1", "cpu.max"]);
    let fast = |workers| Need { requests_per_s: Some(200_000.0), workers, ..need() };
    found(Topic::Cores, sound(), fast(2), Level::Warning, &["200k/s", "2.0 cores", "--threads 4"]);
    found(Topic::Cores, sound(), fast(4), Level::Ok, &["200k/s", "2.0 cores", "4 workers"]);
    found(Topic::Workers, sound(), fast(4), Level::Ok, &["4 workers on 4 cores"]);
    found(Topic::Workers, sound(), Need { loopback: true, ..need() }, Level::Ok, &["shared with the target"]);
    let chosen = crate::doctor::budget(&two, &need()).unwrap();
    assert_eq!(chosen, Vec::<String>::new(), "who chooses so many workers knows");
    let slow = crate::doctor::budget(&sound(), &fast(2)).unwrap();
    assert!(slow.len() == 1 && slow[0].contains("2.0 cores"), "{slow:?}");
}

#[test]
fn memory_and_swap() {
    let many = Need::of_numbers(200_000, 1.0, 1.0);
    found(Topic::Memory, sound(), many.clone(), Level::Warning, &["13.2 GB", "8.59 GB"]);
    let group = Facts { memory_left_in_group_bytes: Some(50 << 20), ..sound() };
    found(Topic::Memory, group, Need::of_numbers(10, 1.0, 1.0), Level::Warning, &["52.4 MB"]);
    let swapped = Facts { swap_used_bytes: Some(1 << 30), ..sound() };
    found(Topic::Swap, swapped.clone(), need(), Level::Warning, &["1.07 GB", "swapoff -a && swapon -a"]);
    let tight = Facts { memory_available_bytes: Some(1 << 30), ..swapped };
    assert!(!about(Topic::Swap, &tight, &need()).sentence().contains("swapoff"));
}

#[test]
fn the_state_of_the_machine_is_judged_but_is_no_budget() {
    let odd = Facts {
        governors: vec!["performance".to_owned(), "powersave".to_owned()],
        clock_source: Some("hpet".to_owned()),
        clock_sources: vec!["hpet".to_owned(), "tsc".to_owned()],
        io_uring_disabled: Some(2),
        ..sound()
    };
    let mends = &["cpupower frequency-set -g performance"];
    found(Topic::Frequency, odd.clone(), need(), Level::Warning, mends);
    found(Topic::Clock, odd.clone(), need(), Level::Warning, &["hpet", "echo tsc > /sys/devices"]);
    found(Topic::IoUring, odd.clone(), need(), Level::Warning, &["sysctl -w kernel.io_uring_disabled=0"]);
    let old = Facts { kernel: "5.15.0-91-generic".to_owned(), ..odd.clone() };
    found(Topic::IoUring, old, need(), Level::Warning, &["5.15.0-91-generic", "Linux 6.0"]);
    let boxed = about(Topic::IoUring, &Facts { filtered: true, ..sound() }, &need());
    assert!(boxed.level == Level::Ok && boxed.what.contains("seccomp"), "{boxed:?}");
    let http3 = || Need { datagram_buffer: Some(2 << 20), ..need() };
    let narrow = Facts { receive_buffer_max: Some(212_992), ..sound() };
    let mends = &["2.10 MB", "213 kB", "sysctl -w net.core.rmem_max=2097152"];
    found(Topic::Datagrams, narrow.clone(), http3(), Level::Warning, mends);
    found(
        Topic::Datagrams,
        Facts { receive_buffer_max: Some(4 << 20), ..sound() },
        http3(),
        Level::Ok,
        &["2.10 MB"],
    );
    assert!(
        judge(&narrow, &need()).iter().all(|finding| finding.topic != Topic::Datagrams),
        "without HTTP/3"
    );
    let stuck = Facts { clock_sources: vec!["hpet".to_owned()], ..odd.clone() };
    found(Topic::Clock, stuck, need(), Level::Warning, &["another machine"]);
    assert_eq!(crate::doctor::budget(&odd, &need()).unwrap(), Vec::<String>::new());
}

#[test]
fn a_budget_that_is_short_refuses_and_one_that_may_be_warns() {
    let short = Facts { descriptors: Some(60), ..sound() };
    let refused = crate::doctor::budget(&short, &need()).unwrap_err().to_string();
    assert!(refused.contains("1,000 connections") && refused.contains("ulimit -n"), "{refused}");
    let may = Need { sure_connections: 0, ..need() };
    let warnings = crate::doctor::budget(&short, &may).unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("descriptors may be needed"), "{warnings:?}");
}

/// Settings that kernels of today no longer have, or that never did what people say of them.
#[test]
fn no_advice_of_old_is_given() {
    let poor =
        Facts { descriptors: Some(10), port_range: Some((40_000, 40_010)), somaxconn: Some(1), ..sound() };
    let poor =
        Facts { tw_reuse: Some(0), tw_buckets: None, syn_backlog: Some(1), tracked_max: Some(101), ..poor };
    let need = Need { origin: true, ..Need::of_numbers(100_000, 10_000.0, 1e6) };
    let all: String = judge(&poor, &need).iter().map(|finding| finding.sentence() + "\n").collect();
    for word in ["tcp_tw_recycle", "fin_timeout", "tcp_timestamps", "tw_buckets", "tcp_mem"] {
        assert!(!all.contains(word), "{word} in {all}");
    }
    assert!(all.lines().count() >= 10, "{all}");
}
