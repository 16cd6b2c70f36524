//! The origin's work on requests that clients had broken off.

use super::{Report, Section};
use crate::show;
use measure::AfterReset;

impl Report<'_> {
    pub(super) fn add_after_reset(&self, section: &mut Section) {
        let aborted = self.counts().aborted;
        match &self.phase.after_reset {
            Some(seen) if seen.broken_off > 0 => section.say(&sentence(seen)),
            None if aborted > 0 => section.say(
                "Work after reset: not known. Only an origin of the native form in the same run can tell \
                 whether the target gave up its own requests.",
            ),
            _ => {}
        }
    }
}

fn sentence(seen: &AfterReset) -> String {
    let delay = seen.delay_us().map(|(median, longest)| {
        format!(" (p50 {} after the client, {} at most)", show::time(median), show::time(longest))
    });
    let vain = match seen.whole_after {
        0 => String::new(),
        _ => format!(" ({} in vain)", show::bytes(seen.whole_after_bytes)),
    };
    let more = [
        (seen.whole_before, "had been answered whole before"),
        (seen.under_way, "were still being answered at the end"),
        (seen.not_seen, "are not known: the origin saw none of them, or too long before"),
    ];
    let more: String = more
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("; {} {what}", show::count(*count)))
        .collect();
    format!(
        "Work after reset: of {} that clients broke off, the origin saw {} end early{} and answered {} whole \
         after that{vain}{more}.",
        show::counted(seen.broken_off, "request"),
        show::count(seen.ended_early),
        delay.unwrap_or_default(),
        show::count(seen.whole_after),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_the_origin_saw_is_said_count_by_count() {
        let mut seen = AfterReset {
            broken_off: 9,
            whole_after: 2,
            whole_after_bytes: 2_000_000,
            ..AfterReset::default()
        };
        seen.end_early(Duration::from_micros(500));
        seen.end_early(Duration::from_micros(900));
        (seen.whole_before, seen.not_seen) = (4, 1);
        assert_eq!(
            sentence(&seen),
            "Work after reset: of 9 requests that clients broke off, the origin saw 2 end early (p50 500 µs \
             after the client, 900 µs at most) and answered 2 whole after that (2.00 MB in vain); 4 had been \
             answered whole before; 1 are not known: the origin saw none of them, or too long before."
        );
    }
}
