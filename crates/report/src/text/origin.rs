//! The run as the origin saw it.

use super::{Report, Section};
use crate::good;
use crate::show::{self, ShowTable};
use measure::OriginCounts;

impl Report<'_> {
    pub(super) fn origin(&self) -> Option<Section> {
        let origin = self.phase.origin.as_ref()?;
        let mut table = ShowTable::new("lrl");
        let rate = show::rate(self.phase.per_second(origin.requests));
        let connections = show::counted(origin.connections, "new connection");
        table.row(["requests".to_owned(), show::count(origin.requests), format!("{rate}, {connections}")]);
        let bytes_rate = show::bytes_rate(self.phase.per_second(origin.body_bytes));
        table.row(["bodies".to_owned(), show::bytes(origin.body_bytes), bytes_rate]);
        let of_messages = self.context.plan.origin.as_ref().is_some_and(|origin| origin.messages.is_some());
        let lines: &[_] = if of_messages { &message_lines(origin) } else { &object_lines(origin) };
        let connection_lines = connection_lines(origin);
        for (name, value, meaning) in lines.iter().chain(&connection_lines).filter(|(_, value, _)| *value > 0)
        {
            table.row([(*name).to_owned(), show::count(*value), (*meaning).to_owned()]);
        }
        // Where its accounts end before the run does, answers and bodies are not of the same time.
        let offload = good::offload(self.phase).filter(|_| self.phase.origin_until.is_none());
        if let Some(offload) = offload {
            let bytes = show::or_dash(good::byte_offload(self.phase).map(show::percent));
            let meaning = format!("of answers needed no origin body, {bytes} of bytes");
            table.row(["offload".to_owned(), show::percent(offload), meaning]);
        }
        let mut section = Section::of("Origin", table);
        if let Some(until) = self.phase.origin_until {
            section.say(&format!(
                "These end {:.1} s into the run: the origin did not answer after that.",
                until.as_secs_f64()
            ));
        }
        Some(section)
    }
}

/// Name, count and meaning.
type Line = (&'static str, u64, &'static str);

fn object_lines(origin: &OriginCounts) -> [Line; 11] {
    [
        ("full", origin.full, "answers with a whole object"),
        ("range", origin.partial, "answers 206"),
        ("not modified", origin.unchanged, "answers 304: revalidations"),
        ("conditional", origin.conditional, "requests with a validator"),
        ("bypassed", origin.unstorable, "answers that no shared cache may store"),
        ("concurrent", origin.concurrent, "requests while the same object was being answered"),
        ("gone", origin.gone, "answers 404, 410 and 301 because the plan says so"),
        ("accepted", origin.accepted, "answers to POST, PUT, PATCH and DELETE"),
        ("errors", origin.errors, "given because the plan says so"),
        ("cut", origin.cut, "bodies cut short because the plan says so"),
        ("refused", origin.refused, "answers 400, 404, 405 and 416"),
    ]
}

fn message_lines(origin: &OriginCounts) -> [Line; 6] {
    [
        ("success", origin.full, "answers with the code of success"),
        ("failure", origin.errors, "answers with the code of failure, as planned"),
        ("dropped", origin.cut, "connections closed instead of an answer, as planned"),
        ("silent", origin.silent, "never answered, as planned"),
        ("wrong length", origin.wrong_lengths, "answers without their last byte, as planned"),
        ("pushed", origin.pushes, "messages nobody asked for, as planned"),
    ]
}

fn connection_lines(origin: &OriginCounts) -> [Line; 9] {
    [
        ("malformed", origin.malformed, "requests not to be understood"),
        ("broken", origin.broken, "connections that broke during an answer"),
        ("handshakes", origin.handshakes, "of TLS, full or resumed"),
        ("resumed", origin.handshakes_resumed, "of them"),
        ("early data", origin.early_accepted, "taken of so many of them"),
        ("no handshake", origin.handshakes_failed, "connections that ended within the TLS handshake"),
        ("marked CE", origin.ecn_marked, "datagrams that came through congestion (ECN)"),
        ("ECN off", origin.ecn_failed, "connections whose path or client does not carry it"),
        ("not accepted", origin.accept_failures, "times, mostly for want of descriptors"),
    ]
}
