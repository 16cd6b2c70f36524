//! The load that was sent: phases, their paces, connections, TLS handshakes, and special requests.

use super::{Report, Section, hit_ratio, short};
use crate::show::{self, ShowTable};
use measure::shares::{ratio, received_bytes};
use measure::{Bound, Counts, PhaseResult};
use plan::{Arrivals, Pace};

/// The column of the table of phases that is left out first where it is too wide.
const RECEIVED: usize = 4;

impl Report<'_> {
    pub(super) fn load(&self) -> Option<Section> {
        if self.result.phases.is_empty() {
            return None;
        }
        let mut table = ShowTable::new("Lrrrrrrr");
        table.words(["phase", "for", "requests", "rate", "received", "hits", "p50", "p99"]);
        self.result.phases.iter().for_each(|phase| table.row(phase_row(phase)));
        let mut section = Section::new("Load");
        section.show_within(table.without_unknown(), &[RECEIVED]);
        section.say(&self.paces());
        if self.result.phases.len() > 1 {
            section.say(&self.which_phases_count());
        }
        section.say(&self.connections());
        section.say(&handshakes(self.counts()));
        section.say(&kinds_of_request(self.counts()));
        Some(section)
    }

    /// The pace of each phase, said once where it is the same for all.
    fn paces(&self) -> String {
        let planned = self.context.plan.load.as_ref().map(|load| load.phases.as_slice()).unwrap_or_default();
        let ran = &planned[..planned.len().min(self.result.phases.len())];
        // Groups are told as phases of their own.
        let ran: Vec<_> = ran.iter().flat_map(plan::Phase::parts).collect();
        if ran.windows(2).all(|pair| pair[0].pace == pair[1].pace) {
            return ran.first().map(|phase| format!("Pace: {}.", pace_text(&phase.pace))).unwrap_or_default();
        }
        let each = ran.iter().map(|phase| format!("{}: {}", short(&phase.name), pace_text(&phase.pace)));
        format!("Pace of {}.", each.collect::<Vec<_>>().join("; "))
    }

    fn which_phases_count(&self) -> String {
        let named = |measured| {
            let phases = self.result.phases.iter().filter(|phase| phase.measured == measured);
            phases.map(|phase| short(&phase.name)).collect::<Vec<_>>().join(", ")
        };
        match (named(true), named(false)) {
            (_, others) if others.is_empty() => {
                "The figures below are those of all phases together.".to_owned()
            }
            (counted, others) if counted.is_empty() => {
                format!("No phase counts as the result: not {others}.")
            }
            (counted, others) => format!("The figures below are those of {counted}; not counted: {others}."),
        }
    }

    fn connections(&self) -> String {
        let counts = self.counts();
        if counts.connections + counts.reused == 0 {
            return "No connection was opened.".to_owned();
        }
        let mut text = show::counted(counts.connections, "connection") + " opened";
        if counts.preconnected > 0 {
            text += &format!(", {} of them before the load began", show::count(counts.preconnected));
        }
        if let Some(reused) = ratio(counts.reused, counts.requests + counts.resent) {
            text += &format!("; {} of requests went over one already in use", show::percent(reused));
        }
        if counts.resent > 0 {
            let why = if counts.goaways > 0 { "lost or left in order (GOAWAY)" } else { "lost" };
            text += &format!(", {} sent again because that was {why}", show::count(counts.resent));
        }
        if counts.idle_timeouts > 0 {
            text += &format!(
                "; the server ended {} with 408 while nothing was under way",
                show::counted(counts.idle_timeouts, "connection")
            );
        }
        text + "."
    }
}

fn phase_row(phase: &PhaseResult) -> [String; 8] {
    let counts = phase.counts();
    let response = phase.response();
    [
        short(&phase.name),
        show::duration(phase.took),
        show::count(counts.requests),
        show::rate(phase.per_second(counts.requests)),
        show::bytes_rate(phase.per_second(received_bytes(counts))),
        show::or_dash(hit_ratio(phase).map(show::percent)),
        bound_or_dash(response.quantile(0.5)),
        bound_or_dash(response.quantile(0.99)),
    ]
}

fn bound_or_dash(bound: Bound) -> String {
    show::or_dash((bound.value > 0.0).then(|| show::bound(bound)))
}

fn pace_text(pace: &Pace) -> String {
    let users = |users: u32| show::counted(u64::from(users), "user");
    let open = |what: String, arrivals: Arrivals, in_flight: u32| {
        format!(
            "open, {what}, {}, at most {} under way",
            law_text(arrivals),
            show::count(u64::from(in_flight))
        )
    };
    match pace {
        Pace::Users(count) => format!("closed, {}", users(*count)),
        Pace::Ramps(_) => format!("closed, at most {} that come and go", users(pace.at_once())),
        Pace::Thinking { users: count, think } => {
            format!("closed, {}, think time {think}", users(*count))
        }
        Pace::Timetable { users: count, per_second } => {
            format!("closed, {}, {per_second} requests/s by timetable", users(*count))
        }
        Pace::Moments { users: count, at, .. } => {
            format!("closed, {}, {} by timetable", users(*count), show::counted(at.len() as u64, "moment"))
        }
        Pace::Walks { users: count, walks } => format!(
            "closed, {} as recorded, {} with their pauses",
            users(*count),
            show::counted(walks.turns(), "request")
        ),
        Pace::Rate { per_second, arrivals, in_flight } => {
            open(format!("{per_second} requests/s"), *arrivals, *in_flight)
        }
        Pace::Stages { stages, arrivals, in_flight } => {
            let stages: Vec<_> = stages.iter().map(ToString::to_string).collect();
            open(format!("stages {}", stages.join(",")), *arrivals, *in_flight)
        }
        Pace::Recorded { at_us, in_flight } => format!(
            "open, {} as recorded over {}, at most {} under way",
            show::counted(at_us.count(), "request"),
            show::duration(at_us.last()),
            show::count(u64::from(*in_flight))
        ),
        Pace::Connections { per_second, arrivals, in_flight } => {
            open(format!("{per_second} connections/s"), *arrivals, *in_flight)
        }
    }
}

fn law_text(arrivals: Arrivals) -> String {
    match arrivals {
        Arrivals::Even => "evenly spaced".to_owned(),
        Arrivals::Poisson => "Poisson arrivals".to_owned(),
        Arrivals::EachSecond => "all at the beginning of each second".to_owned(),
        Arrivals::Bursts(size) => format!("in bursts of {size}"),
        Arrivals::Jitter(percent) => format!("each up to {percent} % off"),
    }
}

fn handshakes(counts: &Counts) -> String {
    let [full, resumed] = [counts.handshakes_full, counts.handshakes_resumed];
    let [taken, refused] = [counts.early_accepted, counts.early_rejected];
    if full + resumed == 0 {
        return String::new();
    }
    let early = match taken + refused {
        0 => String::new(),
        _ => format!(
            " Early data of {} taken, of {} refused.",
            show::counted(taken, "request"),
            show::count(refused)
        ),
    };
    format!("TLS handshakes: {} full, {} resumed.{early}", show::count(full), show::count(resumed))
}

fn kinds_of_request(counts: &Counts) -> String {
    let kinds = [
        (counts.conditional, "with a validator"),
        (counts.unchanged, "answered 304"),
        (counts.reloads, "with no-cache"),
        (counts.ranges, "for a range"),
        (counts.heads, "for the head alone"),
        (counts.ranges_ignored, "for a range answered with the whole object"),
        (counts.redirects, "redirected"),
        (counts.resources, "for resources of pages"),
        (counts.dropped_urls, "URLs dropped because too many waited"),
    ];
    let said: Vec<_> = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{} {kind}", show::count(count)))
        .collect();
    let mut text =
        if said.is_empty() { String::new() } else { format!("Of the requests: {}.", said.join(", ")) };
    if counts.purges > 0 {
        let purges = show::counted(counts.purges, "purge");
        let space = if text.is_empty() { "" } else { " " };
        text += &format!("{space}{purges}, {} acknowledged.", show::count(counts.purges_acknowledged));
    }
    if counts.challenges > 0 {
        let rounds = show::counted(counts.challenges, "challenge");
        text += &format!("{}{rounds} answered, beside the requests.", if text.is_empty() { "" } else { " " });
    }
    text
}
