//! The slowest of the single requests that were kept (`--keep`), as a table.

use crate::show::{self, ShowTable};
use measure::exchanges::ExchangeKept;
use measure::{Head, KeptExchanges};

/// So many are shown.
const SHOWN: usize = 10;

/// A table of the slowest requests that were kept, the slowest first; of two that took equally long, the earlier one.
pub fn table<'a>(head: &Head, exchanges: impl Iterator<Item = &'a KeptExchanges>) -> String {
    let mut slowest: Vec<ExchangeKept<'_>> = Vec::new();
    let mut all = 0;
    for kept in exchanges.flat_map(KeptExchanges::iter) {
        all += 1;
        let at = slowest.partition_point(|other| is_before(other, &kept));
        slowest.insert(at, kept);
        slowest.truncate(SHOWN);
    }
    let mut table = ShowTable::new("rrrrlLLL");
    table.words(["service", "first byte", "connect", "began", "status", "outcome", "label", "request"]);
    for kept in &slowest {
        table.row(cells(head, kept));
    }
    let count = show::counted(all, "request");
    let lines = table.lines().join("\n");
    format!(
        "The slowest of {count}, by service time (from the send to the end):\n\n{}\n",
        crate::harmless(&lines)
    )
}

fn is_before(one: &ExchangeKept<'_>, other: &ExchangeKept<'_>) -> bool {
    one.service_us > other.service_us || one.service_us == other.service_us && one.began_us <= other.began_us
}

fn cells(head: &Head, kept: &ExchangeKept<'_>) -> [String; 8] {
    let known = |us: u64| if us > 0 { show::time(us) } else { String::new() };
    let phase = head.phases.get(kept.phase as usize);
    let label = phase.zip(kept.label).and_then(|(phase, label)| phase.labels.get(label));
    [
        show::time(kept.service_us),
        known(kept.first_byte_us),
        known(kept.connect_us),
        format!("{:.3} s", kept.began_us as f64 / 1e6),
        if kept.status > 0 { kept.status.to_string() } else { "-".to_owned() },
        kept.outcome.to_owned(),
        label.cloned().unwrap_or_default(),
        format!("{} {}", kept.method, kept.url).trim().to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::exchanges::Columns;

    /// Requests that took so many µs each, all to one URL.
    fn exchanges(phase: u32, service_us: &[u64]) -> KeptExchanges {
        let all = service_us.len();
        KeptExchanges {
            keep: "exchanges".to_owned(),
            phase,
            requests: vec!["GET /a".to_owned()],
            outcomes: vec!["ok".to_owned()],
            columns: Columns {
                began_us: (0..all as u64).map(|nth| nth * 1_000).collect(),
                number: (0..all as u64).collect(),
                user: vec![0; all],
                connection: vec![0; all],
                label: vec![-1; all],
                request: vec![0; all],
                outcome: vec![0; all],
                status: vec![200; all],
                connect_us: vec![0; all],
                first_byte_us: vec![7; all],
                service_us: service_us.to_vec(),
                head_bytes: vec![0; all],
                body_bytes: vec![0; all],
                trace_id: Vec::new(),
            },
        }
    }

    #[test]
    fn the_ten_slowest_come_first_and_equal_ones_in_their_order() {
        let first: Vec<u64> = (1..=9).collect();
        let kept = [exchanges(0, &first), exchanges(0, &[40, 5, 40, 12_000])];
        let text = table(&Head::default(), kept.iter());
        assert!(text.starts_with("The slowest of 13 requests"), "{text}");
        let rows: Vec<Vec<&str>> =
            text.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
        let times: Vec<String> = rows.iter().map(|row| row[..2].join(" ")).collect();
        assert_eq!(
            times,
            ["12.0 ms", "40 µs", "40 µs", "9 µs", "8 µs", "7 µs", "6 µs", "5 µs", "5 µs", "4 µs"],
            "{text}"
        );
        let began: Vec<&str> = rows.iter().map(|row| row[4]).collect();
        assert_eq!(began[..3], ["0.003", "0.000", "0.002"], "{text}");
        assert!(rows.iter().all(|row| row.ends_with(&["ok", "GET", "/a"])), "{text}");
    }
}
