//! Canaries must have stayed with the messages that they were put into: a field that is in another one has leaked.

use super::judge::JudgedHead;
use super::oracle::Finding;
use measure::Fault;
use plan::site::{Stamp, StampKind};

/// Looks at the canaries of an answer to the request with this nonce.
pub(super) fn judge(mine: u64, head: &JudgedHead) -> Option<Finding> {
    let stamp = head.stamp?;
    let text = of_request(mine, stamp).or_else(|| of_answer(stamp, head))?;
    Some((Fault::LeakedField, text))
}

/// A request's own, as the origin saw it. Whom it does not concern is not blamed: a cache may give the answer to many.
fn of_request(mine: u64, stamp: Stamp) -> Option<String> {
    let foreign = stamp.foreign?;
    match (stamp.asked_by == mine, foreign) {
        (true, 0) => Some("the canary of this request came to the origin damaged".to_owned()),
        (true, other) => Some(format!("a field of request {other:x} came to the origin with this one")),
        (false, other) if other == mine => {
            Some(format!("a field of this request came to the origin with request {:x}", stamp.asked_by))
        }
        (false, _) => None,
    }
}

fn of_answer(stamp: Stamp, head: &JudgedHead) -> Option<String> {
    // Fields that a 304 of the origin has renewed may be of two of its answers.
    let renewed = head.status == 304 || stamp.kind == StampKind::Unchanged;
    let mut foreign = head.canaries.into_iter().flatten().filter(|answer| *answer != stamp.serial);
    match foreign.next().filter(|_| !renewed)? {
        0 => Some("the canary of the answer is damaged".to_owned()),
        other => Some(format!("a field of answer {other:x} stands in answer {:x}", stamp.serial)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(asked_by: u64, foreign: Option<u64>, answer: Option<u64>, kind: StampKind) -> bool {
        let stamp = Stamp { serial: 9, asked_by, made_at_us: 5, kind, sets_cookie: false, foreign };
        let head =
            |canaries| JudgedHead { stamp: Some(stamp), canaries, status: 200, ..JudgedHead::default() };
        let alone = judge(1, &head([answer, None])).is_some();
        // Beside its own, whichever comes first.
        assert_eq!(judge(1, &head([Some(9), answer])).is_some(), alone);
        assert_eq!(judge(1, &head([answer, Some(9)])).is_some(), alone);
        alone
    }

    #[test]
    fn what_went_astray_is_told_by_those_whom_it_concerns() {
        let full = StampKind::Full;
        assert!(!told(1, None, Some(9), full) && !told(1, None, None, full));
        assert!(told(1, Some(2), Some(9), full), "another's came with mine");
        assert!(told(2, Some(1), Some(9), full), "mine came with another's");
        assert!(told(1, Some(0), Some(9), full), "mine came damaged");
        assert!(!told(2, Some(3), Some(9), full) && !told(2, Some(0), Some(9), full), "the affair of others");
        assert!(told(1, None, Some(8), full) && told(2, None, Some(0), full), "a field of another answer");
        assert!(!told(1, None, Some(8), StampKind::Unchanged), "renewed");
    }
}
