//! A run that was kept as JMeter would have written it: the results file of its single requests, and `statistics.json`.

use super::Sample;
use super::jtl::Layout;
use super::statistics::Statistics;
use super::words::{code_of, has_status, message_of};
use measure::exchanges::ExchangeKept;
use measure::{Head, KeptExchanges};
use plan::Plan;
use report::show::reason_phrase as reason;

/// The results file of single requests.
pub fn results<'a>(
    layout: &Layout,
    head: &Head,
    plan: &Plan,
    exchanges: impl Iterator<Item = &'a KeptExchanges>,
) -> String {
    let mut text = layout.begin();
    for kept in exchanges.flat_map(KeptExchanges::iter) {
        layout.write(&sample(head, plan, &kept), &mut text);
    }
    text + layout.end()
}

/// A request as JMeter's sample.
fn sample(head: &Head, plan: &Plan, kept: &ExchangeKept<'_>) -> Sample {
    let place = kept.phase as usize;
    let phase = head.phases.get(place);
    let label = phase.zip(kept.label).and_then(|(phase, label)| phase.labels.get(label));
    let planned = plan.load.as_ref().and_then(|load| load.phases.get(place));
    let users = planned.map_or(0, users);
    let record = kept.record();
    let message = match has_status(&record) {
        true => reason(kept.status).into(),
        false => message_of(&record).into(),
    };
    let check_failed = kept.outcome.starts_with("check_failed");
    Sample {
        began_ms: (head.started_unix_s * 1e3) as u64 + kept.began_us / 1000,
        elapsed_ms: (kept.connect_us + kept.service_us) / 1000,
        label: label.map_or(kept.url, String::as_str).into(),
        code: code_of(&record),
        message,
        thread: format!("{} 1-{}", phase.map_or("", |phase| &phase.name), kept.user + 1).into(),
        success: kept.outcome == "ok",
        failed: check_failed
            .then(|| ("Assertion".to_owned(), "Test failed".to_owned()))
            .into_iter()
            .collect(),
        bytes: kept.head_bytes + kept.body_bytes,
        group_threads: users,
        all_threads: users,
        url: Some(kept.url.into()),
        latency_ms: (kept.connect_us + kept.first_byte_us) / 1000,
        connect_ms: kept.connect_us / 1000,
        ..Sample::default()
    }
}

/// Users of a phase, its groups together.
fn users(phase: &plan::Phase) -> u32 {
    let groups = phase.groups.iter().map(|group| group.pace.at_once()).sum::<u32>();
    if phase.groups.is_empty() { phase.pace.at_once() } else { groups }
}

/// `statistics.json` of single requests.
pub fn statistics<'a>(
    head: &Head,
    plan: &Plan,
    exchanges: impl Iterator<Item = &'a KeptExchanges>,
) -> String {
    let mut statistics = Statistics::default();
    exchanges.flat_map(KeptExchanges::iter).for_each(|kept| statistics.add(&sample(head, plan, &kept)));
    statistics.text()
}
