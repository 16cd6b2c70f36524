//! Machines to buy for a load, from the knee of one of them.

use super::trials::Trials;
use decide::find::{Bought, Conclusion, Demand, FindFinding, OneMachine, Split, purchase};

/// Machines for the load that was asked about; `None`: none was.
pub fn bought(trials: &Trials<'_>, conclusion: &Conclusion) -> Option<Bought> {
    let sought = &trials.args.sought;
    let rate = sought.for_load?;
    let FindFinding::Knee(knee) = &conclusion.outcome.finding else {
        let refused = "how many machines it takes is not known without a figure that held".to_owned();
        return Some(Bought { rate, found: None, refused: Some(refused) });
    };
    let sent = &trials.sent;
    let each = |count: u64, of: u64| count as f64 / of.max(1) as f64;
    let demand = Demand {
        rate,
        answer_bytes: each(sent.bytes, sent.answers),
        connections_per_request: each(sent.connections, sent.requests),
        hit_ratio: 0.0,
        cached_bytes: 0.0,
        one_may_fail: sought.one_may_fail,
        surge: sought.surge,
        split: Split::AtRandom,
    };
    let machine = OneMachine {
        knee: knee.clone(),
        measured: 1,
        line_bits: sought.line.unwrap_or(f64::INFINITY),
        cache_bytes: f64::INFINITY,
        connections_per_s: None,
        origin_rate: None,
    };
    let found = purchase(&demand, &machine);
    let refused = found.as_ref().err().map(ToString::to_string);
    Some(Bought { rate, found: found.ok(), refused })
}
