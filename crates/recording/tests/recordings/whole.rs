//! Logs as they come: dates that no calendar has, two times in one line, paths with two slashes, noise, files that are empty or cut.

use super::support::{Memory, import, open, requests};
use recording::entry::Edge;
use recording::file::Note;
use recording::format::Format;
use recording::format::detect::{DetectError, detect};
use recording::import::{Import, Options};
use recording::left_out::Reason;
use recording::moment::Zone;
use recording::private::Keep;
use recording::read::lines::Go;
use recording::replay::{Choice, choose};
use std::io::{Cursor, Read};

const GOOD: &str = "192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2326 \"-\" \"x\"\n";
const NOON_US: i64 = 971_211_336_000_000;

fn lossy() -> Options {
    Options { tolerate: 1.0, ..Options::default() }
}

/// Losses among these lines.
fn lost(format: &str, lines: &str) -> u64 {
    import(lossy(), &[("a.log", format, lines.as_bytes())]).expect("one is good").header.left_out.losses()
}

#[test]
fn dates_that_do_not_exist_are_lost_in_every_format() {
    let json = "{\"t\":\"2023-02-28T10:00:00Z\",\"p\":\"/a\"}\n";
    let w3c = "2023-02-28 10:00:00 /a 200\n";
    let own = "[28-02-2023 10:00:00] \"GET /a HTTP/1.1\" 200\n";
    let haproxy = "192.0.2.1:1 [28/Feb/2023:20:55:36.655] f b/s 0/0/0/1/1 200 2750 - - ---- 1/1/1/1/0 0/0 \"GET / HTTP/1.1\"\n";
    let common = GOOD.replace("10/Oct/2000", "28/Feb/2023");
    for (format, line, good, bad) in [
        ("combined", common.as_str(), "28/Feb/2023", ["29/Feb/2023", "31/Apr/2023", "30/Feb/2024"]),
        ("haproxy", haproxy, "28/Feb/2023", ["29/Feb/2023", "31/Apr/2023", "30/Feb/2024"]),
        ("json:time=t,path=p", json, "2023-02-28", ["2023-02-29", "2023-04-31", "2024-02-30"]),
        ("%{[%d-%m-%Y %H:%M:%S]}t \"%r\" %s", own, "28-02-2023", ["29-02-2023", "31-04-2023", "30-02-2024"]),
    ] {
        for day in bad {
            assert_eq!(lost(format, &[line, &line.replace(good, day)].concat()), 1, "{format}: {day}");
        }
        let leap = line.replace(good, &good.replace("28", "29").replace("2023", "2024"));
        assert_eq!(lost(format, &[line, &leap].concat()), 0, "{format}: a leap day");
    }
    let fields = "#Fields: date time cs-uri-stem sc-status\n";
    assert_eq!(lost("w3c", &[fields, w3c, &w3c.replace("02-28", "02-29")].concat()), 1);
}

/// The first request's moment and duration.
fn first_of(format: &str, line: &str) -> (i64, u32) {
    let finished = import(Options::default(), &[("a.log", format, line.as_bytes())]).expect(format);
    let first = requests(&mut open(&finished.to))[0];
    (finished.header.begins_us, first.duration_us)
}

#[test]
fn the_finer_of_two_durations_counts_whatever_their_order() {
    for (format, line) in [
        ("%h %t \"%r\" %>s %D %T", "4321 0"),
        ("%h %t \"%r\" %>s %T %D", "0 4321"),
        ("%h %t \"%r\" %>s %{us}T %{ms}T", "4321 4"),
        ("%h %t \"%r\" %>s %{ms}T %T", "4 0"),
    ] {
        let line = format!("192.0.2.1 [10/Oct/2000:20:55:36 +0000] \"GET /a HTTP/1.1\" 200 {line}\n");
        let expected = if format.contains("%D") || format.contains("us") { 4_321 } else { 4_000 };
        assert_eq!(first_of(format, &line).1, expected, "{format}");
    }
    for keys in ["duration=s,duration_us=u", "duration_us=u,duration=s"] {
        for line in
            [r#"{"t":971211336.5,"p":"/a","s":0,"u":4321}"#, r#"{"u":4321,"t":971211336.5,"p":"/a","s":0}"#]
        {
            assert_eq!(first_of(&format!("json:time=t,path=p,{keys}"), line).1, 4_321, "{keys}");
        }
    }
    let written = r#"{"t":971211336.5,"p":"/a","w":"4.321ms","s":0}"#;
    assert_eq!(first_of("json:time=t,path=p,duration=w,duration_ms=s", written).1, 4_321);
    let untold = r#"{"t":971211336.5,"p":"/a","s":2,"u":-1}"#;
    assert_eq!(first_of("json:time=t,path=p,duration=s,duration_us=u", untold).1, 2_000_000);
}

#[test]
fn the_finer_of_two_times_counts_whatever_their_order() {
    let finest_us = NOON_US + 123_000;
    for (format, line) in [
        ("$msec [$time_local] \"$request\" $status", "971211336.123 [10/Oct/2000:20:55:36 +0000]"),
        ("[$time_local] $msec \"$request\" $status", "[10/Oct/2000:20:55:36 +0000] 971211336.123"),
        ("$msec $time_iso8601 \"$request\" $status", "971211336.123 2000-10-10T20:55:36+00:00"),
        ("%{msec}t %t \"%r\" %s", "971211336123 [10/Oct/2000:20:55:36 +0000]"),
        ("%t %{msec_frac}t \"%r\" %s", "[10/Oct/2000:20:55:36 +0000] 123"),
        ("%{msec}t %{msec_frac}t \"%r\" %s", "971211336123 123"),
    ] {
        let line = format!("{line} \"GET /a HTTP/1.1\" 200\n");
        assert_eq!(first_of(format, &line).0, finest_us, "{format}");
    }
    for format in ["%{end:usec}t %{begin:sec}t \"%r\"", "%{begin:sec}t %{end:usec}t \"%r\""] {
        let edge = Format::parse(format, Zone::Untold).expect("a format").edge();
        assert_eq!(edge, Edge::End, "{format}: that of the finer");
    }
    assert_eq!(first_of("csv:time_ms=1,time=2,id=3", "1500,1,7\n").0, 1_500_000);
    assert_eq!(first_of("csv:time=1,time_ms=2,id=3", "1,1500,7\n").0, 1_500_000);
}

#[test]
fn a_path_that_begins_with_slashes_is_no_host() {
    let keep = Keep { path: true, query: true, ..Keep::default() };
    let host = "json:time=t,host=h,request=r";
    for path in ["//wp-login.php", "///a/b", "////", "//a.example/b?c=//d", "/a//b"] {
        let line = GOOD.replace("/a HTTP", &format!("{path} HTTP"));
        let named = format!("{{\"t\":971211336,\"h\":\"o.example\",\"r\":\"GET {path} HTTP/1.1\"}}");
        for (format, line, authority) in [("combined", &line, "origin.example"), (host, &named, "o.example")]
        {
            let options = Options { keep, ..Options::default() };
            let finished = import(options, &[("a.log", format, line.as_bytes())]).expect(path);
            let choice = Choice { authority: "origin.example".to_owned(), ..Choice::default() };
            let chosen = choose(&mut open(&finished.to), &choice).expect(path);
            let listed = chosen.requests.iter().next().expect("one");
            assert_eq!(listed.url, format!("http://{authority}{path}"), "{format}");
        }
    }
}

fn detected(log: &str) -> Result<String, DetectError> {
    let lines: Vec<&[u8]> = log.lines().map(str::as_bytes).collect();
    detect(&lines, &Zone::Untold).map(|found| found.format.name().to_owned())
}

#[test]
fn noise_does_not_deny_the_format_that_most_lines_have() {
    let noise = |count: usize| "garbage of another program\n".repeat(count);
    for count in [1, 40, 100, 150] {
        let log = [GOOD.repeat(150), noise(count), GOOD.to_owned()].concat();
        assert_eq!(detected(&log), Ok("combined".to_owned()), "{count}");
        assert_eq!(detected(&[noise(count), GOOD.repeat(151)].concat()), Ok("combined".to_owned()));
    }
    let vhost = format!("h.example:80 {GOOD}").repeat(60);
    assert_eq!(detected(&[vhost, noise(40)].concat()), Ok("vhost_combined".to_owned()));
    let why = detected(&[GOOD.repeat(10), noise(30)].concat()).unwrap_err().to_string();
    assert!(
        why.starts_with(
            "no known format fits half of its lines: combined fits some, but not this one, 'garbage"
        ),
        "{why}"
    );
    let why = detected(&noise(3)).unwrap_err().to_string();
    assert!(why.starts_with("no known format fits its first line, 'garbage"), "{why}");
}

#[test]
fn logs_that_are_two_in_one_are_asked_about() {
    let common = GOOD.replace(" \"-\" \"x\"", "");
    let Err(DetectError::Several { names, why }) = detected(&[GOOD, &common].concat().repeat(50)) else {
        panic!("each fits half")
    };
    assert!(names.contains(&"combined") && names.contains(&"common"), "{names:?}");
    assert_eq!(why, "each fits other lines of it");
    assert_eq!(detected(&[GOOD.repeat(80), common.repeat(20)].concat()), Ok("combined".to_owned()));
}

#[test]
fn json_of_anybody_is_not_taken_for_a_servers() {
    for line in [
        r#"{"ts":971211336.25,"uri":"/a"}"#,
        r#"{"ts":971211336.25,"uri":"/a","method":"GET","status_code":200}"#,
        r#"{"start_time":"2000-10-10T20:55:36Z","path":"/a"}"#,
    ] {
        assert!(matches!(detected(line), Err(DetectError::None { .. })), "{line}: {:?}", detected(line));
    }
    let zeek = r#"{"ts":971211336.25,"uid":"C1","id.orig_h":"192.0.2.1","method":"GET","uri":"/a","status_code":200}"#;
    assert_eq!(detected(zeek), Ok("zeek-json".to_owned()));
    let nested = r#"{"ts":971211336.25,"id":{"orig_h":"192.0.2.1"},"method":"GET","uri":"/a"}"#;
    assert_eq!(detected(nested), Ok("zeek-json".to_owned()));
}

#[test]
fn an_empty_log_among_others_ends_nothing() {
    let logs: [(&str, &str, &[u8]); 4] = [
        ("e", "combined", b""),
        ("a", "combined", GOOD.as_bytes()),
        ("n", "combined", b"\n\n"),
        ("f", "combined", b""),
    ];
    assert_eq!(import(Options::default(), &logs).expect("one has a request").summary.requests, 1);
    let error = import(Options::default(), &[logs[0], logs[3]]).unwrap_err();
    assert_eq!(error.to_string(), "nothing to replay: 0 lines, for the input is empty");
}

/// Notes about sizes: the inputs that tell none, and whether some are guessed from others.
fn sizes(logs: &[(&str, &str, &[u8])]) -> (Vec<String>, bool) {
    let finished = import(Options::default(), logs).expect("requests");
    let notes = finished.header.notes.iter().chain(&finished.summary.notes);
    let mut none = Vec::new();
    let mut guessed = false;
    for note in notes {
        match note {
            Note::Assumed { input, what } if what.contains("tells no sizes") => none.push(input.clone()),
            Note::SizesGuessed { .. } => guessed = true,
            _ => {}
        }
    }
    (none, guessed)
}

#[test]
fn a_log_without_sizes_is_told_from_one_that_saw_parts_alone() {
    let iis =
        b"#Fields: date time cs-uri-stem sc-status\n2000-10-10 20:55:36 /a 200\n2000-10-10 20:55:37 /b 200\n";
    let json = b"{\"t\":971211336,\"p\":\"/a\"}\n";
    let parts = GOOD.replace("200 2326", "206 100");
    assert_eq!(sizes(&[("i", "w3c", iis)]), (vec!["i".to_owned()], false));
    assert_eq!(sizes(&[("j", "json:time=t,path=p", json)]), (vec!["j".to_owned()], false));
    assert_eq!(sizes(&[("p", "combined", parts.as_bytes())]), (Vec::new(), true));
    assert_eq!(sizes(&[("a", "combined", GOOD.as_bytes())]), (Vec::new(), false));
    let both: [(&str, &str, &[u8]); 2] = [("a", "combined", GOOD.as_bytes()), ("i", "w3c", iis)];
    assert_eq!(sizes(&both), (vec!["i".to_owned()], false));
}

/// The share of two logs that is told.
fn shared(one: &str, other: &str) -> f64 {
    let logs: [(&str, &str, &[u8]); 2] =
        [("a", "combined", one.as_bytes()), ("b", "combined", other.as_bytes())];
    let finished = import(Options::default(), &logs).expect("requests");
    let told = finished.header.notes.iter().find_map(|note| match note {
        Note::Overlap { shared, .. } => Some(*shared),
        _ => None,
    });
    told.expect("a note")
}

#[test]
fn small_logs_are_compared_as_wholes() {
    let line = |n: usize| {
        GOOD.replace("13:55:36", &format!("13:{:02}:{:02}", n / 60, n % 60)).replace("/a", &format!("/a{n}"))
    };
    let lines: Vec<String> = (0..300).map(line).collect();
    assert_eq!(shared(&lines[..200].concat(), &lines[100..].concat()), 0.5);
    let even: String = lines.iter().step_by(2).cloned().collect();
    let odd: String = lines.iter().skip(1).step_by(2).cloned().collect();
    assert_eq!(shared(&even, &odd), 0.0);
    assert_eq!(shared(&lines.concat(), &even), 1.0);
    // Equal lines count as often as they stand in both.
    let twice: String = lines.iter().map(|line| line.repeat(2)).collect();
    assert_eq!(shared(&twice, &lines.concat()), 1.0);
}

/// Hands out its bytes, and then fails.
struct Breaking<'a>(Cursor<&'a [u8]>);

impl Read for Breaking<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(std::io::Error::other("it breaks off")),
            count => Ok(count),
        }
    }
}

#[test]
fn the_last_line_of_a_stream_that_broke_off_is_lost() {
    // What is left of the last line is a line of the format, too.
    let common = GOOD.replace(" \"-\" \"x\"", "");
    let whole = [common.as_str(), common.trim_end().strip_suffix("26").expect("2326")].concat();
    for (keep_broken, bytes, expected) in [(true, whole.as_str(), [1, 1]), (true, common.as_str(), [1, 0])] {
        let mut kept = Import::new(Options { keep_broken, ..lossy() }, Memory::default());
        let mut format = Format::parse("common", Zone::Untold).expect("a format");
        let mut stream = Breaking(Cursor::new(bytes.as_bytes()));
        kept.log("a.gz", &mut format, &mut stream, &mut |_| Go::On).expect("it is kept");
        let finished = kept.finish(Vec::new()).expect("a request");
        let found = [finished.summary.requests, finished.header.left_out.of(Reason::Cut)];
        assert_eq!(found, expected, "{bytes}");
    }
    let complete = import(lossy(), &[("a", "common", whole.as_bytes())]).expect("two requests");
    assert_eq!(complete.summary.requests, 2, "nothing broke off");
}
