//! Command lines and files that cannot be meant: a line for each mistake, and no connection.

use crate::mock::Mock;
use crate::{begin, common, ini, plain};

/// A file that is refused with lines that hold these words, and no more of them.
#[track_caller]
fn refused(text: &str, lines: &[&str]) {
    let ran = begin(text, "--test t.ini").end().ended_with(1);
    let told: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(told.len(), lines.len(), "{}", ran.stderr);
    for (line, words) in told.iter().zip(lines) {
        assert!(
            line.starts_with("wrktcp: t.ini: ") && line.contains(words),
            "{words:?} is missing in {line}"
        );
    }
    assert_eq!(ran.stdout, "");
}

#[test]
fn each_mistake_of_a_file_has_its_line() {
    let mock = Mock::new(|_| Ok(()));
    refused(
        "[common]\nhost = 127.0.0.1\nport = abc\nfoo = 1\n; no comment\n[request]\nreq_len_len = 99\n",
        &["line 3: port 'abc'", "line 4: ", "line 5: ", "line 7: req_len_len '99'", "req_body is missing"],
    );
    for (text, words) in [
        ("[common]\nport = 1\n[request]\nreq_body = x\n".to_owned(), "host is missing"),
        (String::new(), "host is missing"),
        (common(&mock, "nonsense", "req_body = x"), "line 4: 'nonsense' has no ="),
        (ini(&mock, "req_body = A$(NOPE)"), "line 6: "),
        (ini(&mock, "req_body = A$()B"), "line 6: "),
        (ini(&mock, "req_body = A$(NOPE"), "line 6: "),
        (ini(&mock, "req_body = $(P)\n[parameters]\nP = RANDOM, 1,2"), "line 8: there is no type 'RANDOM'"),
        (ini(&mock, "req_body = $(P)\n[parameters]\nP = COUNTER, 1, 9, 1, %s"), "line 8: "),
        (ini(&mock, "req_body = $(P)\n[parameters]\nP = FILE, nosuch.txt"), "line 8: P: the file nosuch.txt"),
        (ini(&mock, "req_body = x\n[response]\nrsp_headlen = 4"), "line 8: the length field of answers"),
        (ini(&mock, "req_body = x\n[response]\nrsp_code_type = xml"), "line 8: "),
        (
            ini(&mock, "req_body = x\n[response]\nrsp_code_success = 01234567890123456789012345678901234567"),
            "line 8: ",
        ),
        (ini(&mock, "req_body = x\n[strange]\na = b"), "line 7: there is no section [strange]"),
    ] {
        let ran = begin(&text, "--test -d1s t.ini").end();
        assert_eq!(ran.code(), 1, "{text}");
        assert!(ran.stderr.contains(words), "{words:?} is missing in {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(mock.connections(), 0);
}

#[test]
fn many_parameters_are_no_mistake() {
    let mock = Mock::new(|peer| {
        peer.message()?;
        peer.answer(b"000000OK")
    });
    let all: String = (1..=25).map(|nth| format!("P{nth} = CONNECTID\n")).collect();
    crate::test(&ini(&mock, &format!("req_body = $(P1)$(P25)\n[parameters]\n{all}")));
    assert_eq!(mock.first(), "000000101000110001");
}

#[test]
fn command_lines_that_cannot_be_meant_show_the_usage() {
    let mock = Mock::new(|_| Ok(()));
    for line in [
        "",
        "-d1s",
        "--nonsense t.ini",
        "-d1.5s t.ini",
        "-c0 t.ini",
        "-t2 -c1 t.ini",
        "-d0 t.ini",
        "-h",
        "--help",
    ] {
        let ran = begin(&plain(&mock), line).end().ended_with(1);
        assert!(ran.stdout.contains("Usage: wrktcp "), "{line}: {}", ran.stdout);
        assert!(ran.stderr.lines().count() <= 1, "{line}: {}", ran.stderr);
    }
    for line in ["t.txt", "nosuch.ini", "--html foo.html t.ini"] {
        let ran = begin(&plain(&mock), line).end().ended_with(1);
        assert!(
            ran.stderr.starts_with("wrktcp: ") && ran.stderr.lines().count() == 1,
            "{line}: {}",
            ran.stderr
        );
    }
    assert_eq!(mock.connections(), 0);
}

#[test]
fn results_that_cannot_be_kept_are_known_before_the_run() {
    let mock = Mock::new(|_| Ok(()));
    for option in ["--html=no/such/page.html", "--json no/such/result.json"] {
        let ran = begin(&plain(&mock), &format!("{option} t.ini")).end().ended_with(1);
        assert!(
            ran.stderr.starts_with("wrktcp: no/such/") && ran.stderr.lines().count() == 1,
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(mock.connections(), 0);
}

#[test]
fn a_name_that_does_not_resolve_is_one_line() {
    let mock = Mock::new(|_| Ok(()));
    let text = plain(&mock).replace("127.0.0.1", "no.such.host.invalid");
    let ran = begin(&text, "-d1s t.ini").end().ended_with(1);
    assert!(ran.stderr.contains("no.such.host.invalid") && ran.stderr.lines().count() == 1, "{}", ran.stderr);
}

#[test]
fn plan_check_names_every_mistake_of_an_ini_file() {
    let mock = Mock::new(|_| Ok(()));
    for (text, code, lines) in [
        (plain(&mock), 0, 0),
        ("[common]\nport = x\nfoo = 1\n".to_owned(), 2, 4),
        // What is wrong with all of it, not only with its items.
        (ini(&mock, "req_body = $(P)\n[parameters]\nP = FILE, nosuch.txt"), 2, 1),
    ] {
        let folder = crate::support::folder();
        std::fs::write(folder.path().join("t.ini"), text).unwrap();
        let ran = crate::support::start_in(folder, ["plan", "check", "t.ini"]).end();
        assert_eq!(ran.code(), code, "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), lines, "{}", ran.stderr);
    }
}
