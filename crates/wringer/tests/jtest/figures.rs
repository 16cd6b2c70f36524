//! The figures of the table: intervals, averages, times, and the line of what is left at the end.

use crate::support::{HEAD, Ran, Running, alone, alone_at, free_port};

/// Runs of several command lines at a time, because each takes seconds.
fn together(lines: &[&str]) -> Vec<Ran> {
    let running: Vec<Running> =
        lines.iter().map(|line| Running::start(&alone_at(free_port(), line))).collect();
    running.into_iter().map(|running| running.end().ended()).collect()
}

#[test]
fn a_line_for_each_interval_and_one_for_the_rest() {
    let common = "-c 1 --threads 2 -L 100 -w 20 -E";
    let switches = ["-t 2", "-t 3 -i 2", "-t 2 -i 0", "-t 2 -i 10", "-A 70 -k 1000 -j 0"];
    let lines = switches.map(|switches| format!("{common} {switches}"));
    let ran = together(&lines.each_ref().map(String::as_str));
    let times = |ran: &Ran| {
        assert!(ran.out.starts_with(HEAD), "{}", ran.out);
        // What was under way at the end may have a line of its own.
        ran.lines().iter().filter(|line| line.ops > 1.0).map(|line| line.time_s).collect::<Vec<_>>()
    };
    let expected: [&[f64]; 4] = [&[1.0, 2.0], &[2.0, 3.0], &[2.0], &[2.0]];
    for (ran, expected) in ran.iter().zip(expected) {
        // A busy machine ends a run a little late.
        let whole: Vec<f64> = times(ran).iter().map(|time_s| time_s.round()).collect();
        assert_eq!(whole, expected, "{}", ran.out);
    }
    let rest = times(&ran[4]);
    assert!(rest.len() == 2 && rest[0] == 1.0 && (1.4..2.0).contains(&rest[1]), "{}", ran[4].out);
    assert_eq!(ran[4].ops(), 70);
}

#[test]
fn times_are_milliseconds_and_the_columns_have_the_width_of_the_old_tool() {
    let ran = alone("-c 1 -A 8 -L 600 -w 40 -k 100 -j 0 -E").ended();
    let line = ran.last();
    assert!((40..80).contains(&line.first_byte_ms), "{}", ran.out);
    assert!((line.first_byte_ms..90).contains(&line.latency_ms), "{}", ran.out);
    assert!((0.3..0.9).contains(&line.time_s), "{}", ran.out);
    let text = ran.out.lines().nth(1).expect("a line");
    assert_eq!(text.len(), HEAD.len(), "{text}");
    for (column, end) in [(" con", 4), (" con  new", 9), (" con  new     ops", 17)] {
        assert_eq!((&HEAD[..end], text.as_bytes()[end]), (column, b' '));
    }
    assert!(
        ran.out.contains("\nTotal Client Request Bytes:\t\t")
            && ran.out.contains("\nTotal Server Response Header Bytes:\t")
    );
}

/// The old averages start at zero: with `-a 5` the lines show 20 %, 36 % and 49 % of the truth.
#[test]
fn old_averages_on_demand() {
    let ran = together(&["-e 100 -t 3 -L 100 --old-averages", "-e 100 -t 2 -L 100 --old-averages -a 1"]);
    let shown = |ran: &Ran| ran.lines().iter().map(|line| line.ops).collect::<Vec<_>>();
    assert_eq!((shown(&ran[0]), shown(&ran[1])), (vec![20.0, 36.0, 48.8], vec![100.0, 100.0]));
}
