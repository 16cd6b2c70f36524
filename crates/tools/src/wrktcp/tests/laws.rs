//! Whatever a file holds, it is read or refused.

use super::super::plan_of;
use proptest::prelude::*;
use std::io;

/// Pieces that files are made of, whole and broken.
const PIECES: [&str; 44] = [
    "[common]",
    "[request]",
    "[response]",
    "[parameters]",
    "[",
    "]",
    "\n",
    "\n",
    "\r\n",
    "\\\n",
    "=",
    " = ",
    "host = h",
    "port = 1",
    "http_line = POST /$(A) HTTP/1.1",
    "req_head = A: $(length)",
    "req_head = {$(A)",
    "req_body = \\$(A)$()",
    "req_body = {{x",
    "req_len_len = 64",
    "req_len_len = 1",
    "req_len_format = hex",
    "req_len_format = bcd",
    "weight = 0",
    "rsp_headlen = 2",
    "rsp_len_beg = 65536",
    "rsp_len_len = 18",
    "rsp_len_format = binary",
    "rsp_code_type = tag",
    "rsp_code_type = regex",
    "rsp_code_type = 8583",
    "rsp_code_location_tag = ( )",
    "rsp_code_success = 00",
    "A = COUNTER, -9, 9223372036854775807, 3, %-9ld",
    "A = DATETIME, %",
    "A = FILE, f",
    "A = CONNECTID, %%%x",
    "#",
    "\0",
    "\u{e9}",
    "$(",
    ")",
    "%",
    "tls = yes",
];

fn check(file: &[u8]) -> Result<(), TestCaseError> {
    let read_file = |_: &std::path::Path| -> io::Result<Vec<u8>> { Ok(b"line".to_vec()) };
    match plan_of(file, &read_file) {
        Ok(plan) => prop_assert_eq!(plan.check(), Vec::<String>::new()),
        Err(mistakes) => {
            let lines = file.split(|byte| *byte == b'\n').count();
            prop_assert!(!mistakes.is_empty());
            for mistake in &mistakes {
                prop_assert!(mistake.line <= lines, "{}", mistake);
                prop_assert!(!mistake.what.is_empty() && !mistake.what.contains('\n'), "{:?}", mistake);
            }
            let order = |line: usize| if line == 0 { usize::MAX } else { line };
            prop_assert!(mistakes.windows(2).all(|two| order(two[0].line) <= order(two[1].line)));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(file in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&file)?;
    }

    #[test]
    fn any_pieces_are_read_or_refused(picked in proptest::collection::vec((0..PIECES.len(), any::<bool>()), 0..40)) {
        let file: String = picked.iter().map(|(nth, ends)| format!("{}{}", PIECES[*nth], if *ends { "\n" } else { "" })).collect();
        check(file.as_bytes())?;
        let usable = format!("[common]\nhost = h\nport = 1\n[request]\nreq_body = x\n{file}");
        check(usable.as_bytes())?;
    }
}
