//! The final report for people: what came of it first, then load, latency, cache, origin, outcomes, the generator.
//!
//! Start at [`report`]: it names the sections in their order. A section that has nothing to say is left out.

use crate::latency;
use crate::show::{self, Table};
use measure::run::{answered, ratio, received_bytes};
use measure::{Clock, Counts, Failure, FailureKind, Fault, OriginCounts, PhaseResult, Row, RunResult, Stage};
use plan::{Arrivals, CheckContent, Pace, Plan, Step};

/// What the reports need to know of a run beside its result.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// The plan that was run.
    pub plan: &'a Plan,
    /// The command that repeats the run, seed included.
    pub command: &'a str,
    /// Version of the program.
    pub version: &'a str,
    /// What was pressed, such as `nginx 1.22.1 on 127.0.0.1:8080`.
    pub target: Option<&'a str>,
    /// CPU seconds that the target's process used while measuring, where known.
    pub target_cpu: Option<f64>,
    /// The file that holds the faulty answers.
    pub evidence_file: Option<&'a str>,
    /// When the run began, in seconds since 1970.
    pub started_unix_s: f64,
    /// Workers.
    pub threads: u32,
}

/// The figures that count: the measured phases as one, or the origin's own where only it ran.
pub(crate) fn measured(result: &RunResult, plan: &Plan) -> PhaseResult {
    if plan.load.is_some() {
        return result.measured();
    }
    let mut served = PhaseResult::new("origin", true);
    (served.took, served.origin) = (result.took, result.origin);
    served
}

/// The report, at most [`show::WIDTH`] columns wide but for names and the command.
pub fn report(result: &RunResult, context: &Context<'_>) -> String {
    let measured = measured(result, context.plan);
    let report = Report { result, context, phase: &measured };
    let sections = [
        Some(report.headline()),
        report.load(),
        report.latency(),
        report.timeline(),
        report.cache(),
        report.origin(),
        report.outcomes(),
        report.oracle(),
        Some(report.generator()),
        Some(report.repeat()),
    ];
    sections.into_iter().flatten().map(Section::into_text).collect::<Vec<_>>().join("\n")
}

/// A title and the lines beneath it.
struct Section {
    title: String,
    lines: Vec<String>,
}

impl Section {
    fn new(title: &str, lines: Vec<String>) -> Section {
        Section { title: title.to_owned(), lines }
    }

    fn into_text(self) -> String {
        let lines = self
            .lines
            .iter()
            .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") });
        format!("{}\n{}", self.title, lines.collect::<String>())
    }

    /// Adds a sentence or two, wrapped.
    fn say(&mut self, text: &str) {
        self.lines.extend(show::wrap(text, show::WIDTH - 2));
    }
}

struct Report<'a> {
    result: &'a RunResult,
    context: &'a Context<'a>,
    /// The figures that count.
    phase: &'a PhaseResult,
}

impl Report<'_> {
    fn counts(&self) -> &Counts {
        self.phase.counts()
    }

    fn has_load(&self) -> bool {
        self.context.plan.load.is_some()
    }

    // What came of it.

    fn headline(&self) -> Section {
        let mut table = Table::new("ll");
        if self.has_load() {
            self.headline_load(&mut table);
        } else {
            self.headline_origin(&mut table);
        }
        let mut lines = vec![String::new()];
        lines.extend(table.lines());
        Section::new(&self.title(), lines)
    }

    fn title(&self) -> String {
        let plan = self.context.plan;
        let did = match (&plan.load, &plan.origin) {
            (None, Some(origin)) => format!("served as the origin on {}", origin.listen),
            (load, _) => {
                let address = load.as_ref().and_then(|load| load.target.as_deref());
                format!("pressed {}", self.context.target.or(address).unwrap_or("the hosts of its URLs"))
            }
        };
        let interrupted = if self.result.interrupted { ", interrupted" } else { "" };
        format!("wringer {} {did} for {}{interrupted}", self.context.version, show::duration(self.phase.took))
    }

    fn headline_load(&self, table: &mut Table) {
        let (phase, counts) = (self.phase, self.counts());
        table.row([
            format!("{} requests/s", show::scaled(phase.per_second(counts.requests))),
            format!(
                "{}, {} received",
                show::counted(counts.requests, "request"),
                show::bytes_rate(phase.per_second(received_bytes(counts)))
            ),
        ]);
        if let Some(hits) = hit_ratio(phase) {
            table.row([format!("{} hits", show::percent(hits)), self.predicted()]);
        }
        if counts.fine > 0 {
            let at = |quantile| show::time(phase.percentile_us(Clock::Response, quantile));
            let longest = show::time(phase.tally.clock(Clock::Response).max());
            table.row([
                format!("{} p99", at(0.99)),
                format!("response time; p50 {}, longest {longest}", at(0.5)),
            ]);
        }
        table.row([format!("{} failed", show::count(counts.failed)), self.trouble()]);
        table.row(self.verdict());
    }

    fn predicted(&self) -> String {
        let several = self.result.phases.iter().filter(|phase| phase.measured).count() > 1;
        match self.phase.predicted_hit_ratio {
            Some(ratio) => format!("predicted {}", show::percent(ratio)),
            None if several => "over all measured phases; each stands under Load".to_owned(),
            None => String::new(),
        }
    }

    /// Measured beside predicted for each phase, where the phases together have no prediction.
    fn predicted_by_phase(&self) -> String {
        let phases = self.result.phases.iter().filter(|phase| phase.measured);
        let pairs: Vec<_> = phases
            .filter_map(|phase| {
                let (measured, predicted) = (hit_ratio(phase)?, phase.predicted_hit_ratio?);
                let [measured, predicted] = [measured, predicted].map(show::percent);
                Some(format!("{} {measured} (predicted {predicted})", short(&phase.name)))
            })
            .collect();
        if pairs.is_empty() || self.phase.predicted_hit_ratio.is_some() {
            return String::new();
        }
        format!("By phase: {}.", pairs.join(", "))
    }

    /// What stands beside the number of failed requests.
    fn trouble(&self) -> String {
        let counts = self.counts();
        let mut parts = Vec::new();
        if counts.failed > 0 {
            parts.extend(
                ratio(counts.failed, counts.requests).map(|share| show::percent(share) + " of requests"),
            );
        }
        parts.push(show::counted(counts.faulty, "faulty answer"));
        if counts.overflow > 0 {
            parts.push(format!("{} due but not sent", show::count(counts.overflow)));
        }
        parts.join(", ")
    }

    fn headline_origin(&self, table: &mut Table) {
        let Some(origin) = &self.phase.origin else { return };
        table.row([
            format!("{} requests/s", show::scaled(self.phase.per_second(origin.requests))),
            format!(
                "{} over {}",
                show::counted(origin.requests, "request"),
                show::counted(origin.connections, "connection")
            ),
        ]);
        table.row([
            show::bytes_rate(self.phase.per_second(origin.body_bytes)),
            format!("{} of bodies sent", show::bytes(origin.body_bytes)),
        ]);
    }

    fn verdict(&self) -> [String; 2] {
        let check = &self.result.self_check;
        let (word, meaning) = match check.verdict().valid {
            true => ("valid", "nothing says that the generator was the limit"),
            false if check.requests == 0 => ("no result", "no request was sent"),
            false => ("bound by the generator", "the target may be able to do more; see Generator below"),
        };
        [word.to_owned(), meaning.to_owned()]
    }

    // What was sent.

    fn load(&self) -> Option<Section> {
        if self.result.phases.is_empty() {
            return None;
        }
        let mut table = Table::new("lrrrrrrr");
        table.row(["phase", "for", "requests", "rate", "received", "hits", "p50", "p99"]);
        self.result.phases.iter().for_each(|phase| table.row(phase_row(phase)));
        let mut section = Section::new("Load", table.lines());
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
        if ran.windows(2).all(|pair| pair[0].pace == pair[1].pace) {
            return ran.first().map(|phase| format!("Pace: {}.", pace_text(phase.pace))).unwrap_or_default();
        }
        let each = ran.iter().map(|phase| format!("{}: {}", short(&phase.name), pace_text(phase.pace)));
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
        if let Some(reused) = ratio(counts.reused, counts.requests) {
            text += &format!("; {} of requests went over one already in use", show::percent(reused));
        }
        if counts.resent > 0 {
            text +=
                &format!(", {} again because the peer had closed it meanwhile", show::count(counts.resent));
        }
        text + "."
    }

    // How long it took.

    fn latency(&self) -> Option<Section> {
        let table = latency::table(self.phase)?;
        let mut section = Section::new("Latency", table.lines());
        if self.counts().fine > 0 {
            section.say(&self.latency_legend());
        }
        Some(section)
    }

    fn latency_legend(&self) -> String {
        let differ = self.why_they_differ();
        let shared = self.counts().revalidated + self.counts().collapsed;
        let misses = if shared > 0 { " Misses: here with revalidated and collapsed ones." } else { "" };
        let apart = if latency::apart(self.phase) { " New, reused: by connection." } else { "" };
        format!(
            "Good answers only. Service time: from the actual send; response time: from the intended one; \
             {differ}{misses}{apart}"
        )
    }

    fn why_they_differ(&self) -> &'static str {
        if self.has_open_pace() {
            "between the two, requests waited to be sent."
        } else {
            "both are the same in a closed pace, where users send when they intend to."
        }
    }

    fn has_open_pace(&self) -> bool {
        let load = self.context.plan.load.as_ref();
        let mut phases = load.into_iter().flat_map(|load| &load.phases).filter(|phase| phase.measured);
        phases.any(|phase| matches!(phase.pace, Pace::Rate { .. }))
    }

    // How it changed.

    fn timeline(&self) -> Option<Section> {
        let all = &self.result.timeline.rows;
        if !all.windows(2).any(|pair| pair[0].phase != pair[1].phase) {
            return None;
        }
        let rows = self.result.timeline.condensed(TIMELINE_ROWS);
        let mut table = Table::new("rllrrrrr");
        table.row(["until", "phase", "", "hits", "rate", "origin", "p99", "failed"]);
        rows.iter().for_each(|row| table.row(self.timeline_row(row)));
        let mut section = Section::new("Through time", table.lines());
        let joined =
            if rows.len() < all.len() { "; seconds are joined, with the p99 of the worst one" } else { "" };
        section.say(&format!("p99 of the service time{joined}."));
        Some(section)
    }

    fn timeline_row(&self, row: &Row) -> [String; 8] {
        let hits = row.hit_ratio().or_else(|| row.origin_offload());
        let phase = self.result.phases.get(row.phase as usize).map(|phase| short(&phase.name));
        [
            format!("{:.0} s", row.at_s),
            show::or_dash(phase),
            hits.map(bar).unwrap_or_default(),
            show::or_dash(hits.map(show::percent)),
            show::rate(row.per_second(row.counts.requests)),
            row.origin.as_ref().map(|origin| show::rate(row.per_second(origin.requests))).unwrap_or_default(),
            time_or_dash(row.p99_us),
            show::count(row.counts.failed),
        ]
    }

    // What the cache did.

    fn cache(&self) -> Option<Section> {
        let (phase, counts) = (self.phase, self.counts());
        let stamped = answered(counts);
        if stamped + counts.unstamped == 0 {
            return None;
        }
        let mut section = Section::new("Cache, as the clients saw it", Vec::new());
        if stamped > 0 {
            section.lines = cache_table(counts).lines();
            section.say(&stamped_ratio(phase));
        } else {
            section.say(&joined_ratio(phase));
        }
        section.say(&self.predicted_by_phase());
        if stamped > 0 && counts.unstamped > 0 {
            section.say(&format!(
                "{} carried no stamp and are left out: of them it is not known what the cache did.",
                show::counted(counts.unstamped, "answer")
            ));
        }
        if let Some(factor) = phase.collapse_factor().filter(|_| counts.collapsed > 0) {
            section.say(&format!(
                "Collapsing: {} needed the origin and {} went to it, {factor:.2} for each fetch.",
                show::counted(counts.misses + counts.collapsed, "request"),
                show::count(counts.misses)
            ));
        }
        Some(section)
    }

    // What the origin saw.

    fn origin(&self) -> Option<Section> {
        let origin = self.phase.origin.as_ref()?;
        let mut table = Table::new("lrl");
        let rate = show::rate(self.phase.per_second(origin.requests));
        let connections = show::counted(origin.connections, "new connection");
        table.row(["requests".to_owned(), show::count(origin.requests), format!("{rate}, {connections}")]);
        let bytes_rate = show::bytes_rate(self.phase.per_second(origin.body_bytes));
        table.row(["bodies".to_owned(), show::bytes(origin.body_bytes), bytes_rate]);
        for (name, value, meaning) in origin_lines(origin).into_iter().filter(|(_, value, _)| *value > 0) {
            table.row([name.to_owned(), show::count(value), meaning.to_owned()]);
        }
        if let Some(offload) = self.phase.origin_offload() {
            let bytes = show::or_dash(self.phase.byte_offload().map(show::percent));
            let meaning = format!("of answers cost the origin no body; {bytes} of body bytes");
            table.row(["offload".to_owned(), show::percent(offload), meaning]);
        }
        Some(Section::new("Origin", table.lines()))
    }

    // How requests ended.

    fn outcomes(&self) -> Option<Section> {
        let counts = self.counts();
        if counts.requests + counts.overflow == 0 {
            return None;
        }
        let mut table = Table::new("rrl");
        for (value, meaning) in outcome_lines(counts).into_iter().filter(|(value, _)| *value > 0) {
            let share = ratio(value, counts.requests).map(show::percent);
            table.row([show::count(value), show::or_dash(share), meaning.to_owned()]);
        }
        if counts.overflow > 0 {
            // What was never sent is no part of the requests, so it has no share of them.
            let meaning = "overflow: due but not sent, as too many were under way";
            table.row([show::count(counts.overflow), "-".to_owned(), meaning.to_owned()]);
        }
        let mut section = Section::new("Outcomes", table.lines());
        self.add_failures(&mut section);
        self.add_statuses(&mut section);
        Some(section)
    }

    fn add_failures(&self, section: &mut Section) {
        let mut table = Table::new("rl");
        self.phase.tally.failures().for_each(|(failure, count)| {
            table.row([show::count(count), failure_text(failure)]);
        });
        let lines = table.lines();
        if !lines.is_empty() {
            section.lines.push("failed while".to_owned());
            section.lines.extend(lines.iter().map(|line| format!("  {line}")));
        }
    }

    fn add_statuses(&self, section: &mut Section) {
        let statuses: Vec<_> = self
            .phase
            .tally
            .statuses()
            .map(|(status, count)| format!("{status} ({})", show::count(count)))
            .collect();
        if !statuses.is_empty() {
            section.say(&format!("Statuses: {}.", statuses.join(", ")));
        }
    }

    // Whether answers were right.

    fn oracle(&self) -> Option<Section> {
        let counts = self.counts();
        let checked = counts.fine + counts.faulty;
        if checked == 0 {
            return None;
        }
        let mut section = Section::new("Oracle", Vec::new());
        let answers = show::counted(checked, "checked answer");
        if counts.faulty == 0 {
            section.say(&format!("Nothing wrong in {answers}; {}.", self.what_was_checked()));
        } else {
            section.say(&format!(
                "{} of {answers} wrong; {}.",
                show::count(counts.faulty),
                self.what_was_checked()
            ));
            section.lines.extend(fault_table(self.phase.tally.faults()).lines());
        }
        self.add_evidence(&mut section);
        Some(section)
    }

    fn what_was_checked(&self) -> &'static str {
        let Some(load) = &self.context.plan.load else { return "nothing was compared" };
        let mut steps = load.phases.iter().flat_map(|phase| &phase.scenario.steps);
        if !steps.any(|step| matches!(step, Step::Object(_))) {
            return "what URLs must hold is not known, so only their framing was checked";
        }
        match (load.check.content, load.check.length) {
            (CheckContent::All, _) => "every byte was compared",
            (CheckContent::Prefix, _) => "of bodies only the beginning was compared",
            (CheckContent::Nothing, true) => "bodies were not compared, only their length",
            (CheckContent::Nothing, false) => "bodies were not compared",
        }
    }

    fn add_evidence(&self, section: &mut Section) {
        let evidence = &self.result.evidence;
        let Some(first) = evidence.first() else { return };
        section.say(&format!(
            "First, {:.1} s into the run, in phase {}: {}: {}",
            first.at_us as f64 / 1e6,
            short(&first.phase),
            first.fault.text(),
            first.detail
        ));
        if let Some(file) = self.context.evidence_file {
            let kept = show::counted(evidence.len() as u64, "faulty answer");
            section.lines.push(format!("{kept} kept, with both sides' header fields, in {file}"));
        }
    }

    // Whether the generator was the limit.

    fn generator(&self) -> Section {
        let mut facts: Vec<(&str, String)> = Vec::new();
        if self.has_load() {
            facts.extend(self.verdict_facts());
        }
        facts.push(("threads", self.threads()));
        facts.extend(self.cpu_cost().map(|text| ("cost", text)));
        facts.extend(self.target_cost().map(|text| ("target", text)));
        facts.extend(lateness(self.phase).map(|text| ("lateness", text)));
        let dropped = self.result.self_check.dropped_events;
        if dropped > 0 {
            facts.push((
                "dropped",
                format!("{} that nobody read fast enough", show::counted(dropped, "event")),
            ));
        }
        facts.extend(self.result.notes.iter().map(|note| ("note", note.clone())));
        Section::new("Generator", fact_lines(&facts))
    }

    fn verdict_facts(&self) -> Vec<(&'static str, String)> {
        let [word, meaning] = self.verdict();
        let verdict = self.result.self_check.verdict();
        if verdict.valid || self.result.self_check.requests == 0 {
            return vec![("verdict", format!("{word}: {meaning}"))];
        }
        let mut facts = vec![("verdict", word)];
        facts.extend(verdict.reasons.into_iter().map(|reason| ("because", reason)));
        facts
    }

    fn threads(&self) -> String {
        let threads = show::counted(u64::from(self.context.threads), "worker");
        let text = format!("{threads} on {}", self.result.backend);
        match cpu_shares(&self.result.self_check.worker_cpu) {
            Some(shares) => format!("{text}; CPU {shares} of a core while measuring"),
            None => text,
        }
    }

    fn cpu_cost(&self) -> Option<String> {
        let cost = self.result.cpu_us_per_request()?;
        let sides = if self.context.plan.origin.is_some() { ", the origin's part included" } else { "" };
        Some(format!("{} of CPU per request{sides}", show::cost(cost)))
    }

    fn target_cost(&self) -> Option<String> {
        let cpu_s = self.context.target_cpu?;
        let cost = self.phase.cpu_us_per_answer(cpu_s)?;
        let seconds = self.phase.took.as_secs_f64();
        let cores = if seconds > 0.0 { format!(", {:.2} cores", cpu_s / seconds) } else { String::new() };
        Some(format!("{} of CPU per answer{cores}", show::cost(cost)))
    }

    fn repeat(&self) -> Section {
        let seed = self.context.plan.seed;
        let mut lines = vec![format!("seed {seed}")];
        if !self.context.command.is_empty() {
            lines.push(self.context.command.to_owned());
        }
        Section::new("To repeat this run", lines)
    }
}

/// Rows of the table through time, about.
const TIMELINE_ROWS: usize = 30;
/// Characters of a bar that stands for all.
const BAR: usize = 20;
/// Characters of a phase's name that are shown.
const NAME: usize = 12;

/// Hit ratio by stamps; where answers carry none, what both sides' accounts say.
fn hit_ratio(phase: &PhaseResult) -> Option<f64> {
    phase.hit_ratio().or_else(|| phase.origin_offload().filter(|_| phase.counts().unstamped > 0))
}

/// A name in at most [`NAME`] characters.
fn short(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

fn phase_row(phase: &PhaseResult) -> [String; 8] {
    let counts = phase.counts();
    [
        short(&phase.name),
        show::duration(phase.took),
        show::count(counts.requests),
        show::rate(phase.per_second(counts.requests)),
        show::bytes_rate(phase.per_second(received_bytes(counts))),
        show::or_dash(hit_ratio(phase).map(show::percent)),
        time_or_dash(phase.percentile_us(Clock::Response, 0.5)),
        time_or_dash(phase.percentile_us(Clock::Response, 0.99)),
    ]
}

fn pace_text(pace: Pace) -> String {
    match pace {
        Pace::Users(users) => format!("closed, {}", show::counted(u64::from(users), "user")),
        Pace::Rate { per_second, arrivals, in_flight } => {
            let law = match arrivals {
                Arrivals::Even => "evenly spaced",
                Arrivals::Poisson => "Poisson arrivals",
                Arrivals::EachSecond => "all at the beginning of each second",
            };
            let limit = show::count(u64::from(in_flight));
            format!("open, {per_second} requests/s, {law}, at most {limit} under way")
        }
    }
}

fn handshakes(counts: &Counts) -> String {
    let [full, resumed] = [counts.handshakes_full, counts.handshakes_resumed];
    let [taken, refused] = [counts.early_accepted, counts.early_rejected];
    if full + resumed == 0 {
        return String::new();
    }
    let early = format!(
        " Early data of {} taken, of {} refused.",
        show::counted(taken, "request"),
        show::count(refused)
    );
    let early = if taken + refused > 0 { early } else { String::new() };
    format!("TLS handshakes: {} full, {} resumed.{early}", show::count(full), show::count(resumed))
}

fn kinds_of_request(counts: &Counts) -> String {
    let kinds = [
        (counts.conditional, "with a validator"),
        (counts.unchanged, "answered 304"),
        (counts.reloads, "with no-cache"),
        (counts.ranges, "for a range"),
        (counts.ranges_ignored, "for a range answered with the whole object"),
        (counts.redirects, "redirected"),
        (counts.dropped_urls, "URLs dropped because too many waited"),
    ];
    let said: Vec<_> = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{} {kind}", show::count(count)))
        .collect();
    if said.is_empty() { String::new() } else { format!("Of the requests: {}.", said.join(", ")) }
}

fn time_or_dash(us: u64) -> String {
    show::or_dash((us > 0).then(|| show::time(us)))
}

fn bar(share: f64) -> String {
    let filled = ((share.clamp(0.0, 1.0) * BAR as f64).round()) as usize;
    "#".repeat(filled) + &".".repeat(BAR - filled)
}

fn cache_table(counts: &Counts) -> Table {
    let kinds = [
        ("hit", counts.hits, counts.hit_bytes, "from the cache"),
        ("revalidated", counts.revalidated, counts.revalidated_bytes, "confirmed by the origin"),
        ("collapsed", counts.collapsed, counts.collapsed_bytes, "shared a fetch under way"),
        ("miss", counts.misses, counts.miss_bytes, "made for this request"),
    ];
    let all = answered(counts);
    let all_bytes = kinds.iter().map(|(_, _, bytes, _)| bytes).sum();
    let mut table = Table::new("lrrrrl");
    table.row(["", "answers", "share", "bytes", "share", ""]);
    for (name, count, bytes, meaning) in kinds {
        table.row([
            name.to_owned(),
            show::count(count),
            show::or_dash(ratio(count, all).map(show::percent)),
            show::bytes(bytes),
            show::or_dash(ratio(bytes, all_bytes).map(show::percent)),
            meaning.to_owned(),
        ]);
    }
    table
}

fn stamped_ratio(phase: &PhaseResult) -> String {
    let requests = show::or_dash(phase.hit_ratio().map(show::percent));
    let bytes = phase.byte_hit_ratio().map(|ratio| format!(", {} by bytes", show::percent(ratio)));
    let foretold =
        phase.predicted_hit_ratio.map(|ratio| format!("; predicted {} by requests", show::percent(ratio)));
    format!("Hit ratio {requests} by requests{}{}.", bytes.unwrap_or_default(), foretold.unwrap_or_default())
}

fn joined_ratio(phase: &PhaseResult) -> String {
    let Some(ratio) = phase.origin_offload() else {
        return "Answers carry no stamp of our origin and its accounts are not at hand: hits cannot be told from misses."
            .to_owned();
    };
    let foretold = phase.predicted_hit_ratio.map(|ratio| format!(" (predicted {})", show::percent(ratio)));
    format!(
        "Hit ratio {}{}: answers carry no stamp, so this is 1 - origin bodies / client answers.",
        show::percent(ratio),
        foretold.unwrap_or_default()
    )
}

fn origin_lines(origin: &OriginCounts) -> [(&'static str, u64, &'static str); 16] {
    [
        ("full", origin.full, "answers with a whole object"),
        ("range", origin.partial, "answers 206"),
        ("not modified", origin.unchanged, "answers 304: revalidations"),
        ("conditional", origin.conditional, "requests with a validator"),
        ("bypassed", origin.unstorable, "answers that no shared cache may store"),
        ("concurrent", origin.concurrent, "requests while the same object was being answered"),
        ("errors", origin.errors, "given because the plan says so"),
        ("cut", origin.cut, "bodies cut short because the plan says so"),
        ("refused", origin.refused, "answers 400, 404, 405 and 416"),
        ("malformed", origin.malformed, "requests not to be understood"),
        ("broken", origin.broken, "connections that broke during an answer"),
        ("handshakes", origin.handshakes, "of TLS, full or resumed"),
        ("resumed", origin.handshakes_resumed, "of them"),
        ("early data", origin.early_accepted, "taken of so many of them"),
        ("no handshake", origin.handshakes_failed, "connections that ended within the TLS handshake"),
        ("not accepted", origin.accept_failures, "times, mostly for want of descriptors"),
    ]
}

fn outcome_lines(counts: &Counts) -> [(u64, &'static str); 6] {
    [
        (counts.fine, "fine"),
        (counts.faulty, "faulty: the oracle found the answer false"),
        (counts.injected, "injected: the plan had the origin fail them"),
        (counts.aborted, "aborted by the client on purpose"),
        (counts.failed, "failed: no good answer"),
        (counts.unfinished, "unfinished when the time was up"),
    ]
}

fn failure_text(failure: Failure) -> String {
    let errno = failure.errno.map(|number| match failure.kind {
        FailureKind::TlsAlert => format!(" ({})", show::alert(number)),
        _ => format!(" ({})", show::errno(number)),
    });
    let stage: Stage = failure.stage;
    format!("{}: {}{}", stage.text(), failure.kind.text(), errno.unwrap_or_default())
}

fn fault_table(faults: impl Iterator<Item = (Fault, u64)>) -> Table {
    let mut table = Table::new("rl");
    faults.for_each(|(fault, count)| table.row([show::count(count), fault.text().to_owned()]));
    table
}

/// Up to eight workers one by one, more as a range.
fn cpu_shares(shares: &[f64]) -> Option<String> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    match shares {
        [] => None,
        [one] => Some(percent(*one)),
        few if few.len() <= 8 => Some(few.iter().map(|share| percent(*share)).collect::<Vec<_>>().join(", ")),
        many => {
            let least = many.iter().copied().fold(f64::INFINITY, f64::min);
            let most = many.iter().copied().fold(0.0, f64::max);
            Some(format!("{} to {}", percent(least), percent(most)))
        }
    }
}

fn lateness(phase: &PhaseResult) -> Option<String> {
    let histogram = phase.tally.clock(Clock::Lateness);
    let at = |quantile| show::time(phase.percentile_us(Clock::Lateness, quantile));
    let longest = show::time(histogram.max());
    (!histogram.is_empty()).then(|| {
        format!("of sends: p50 {}, p99 {}, p99.9 {}, longest {longest}", at(0.5), at(0.99), at(0.999))
    })
}

/// Names on the left, wrapped text on the right.
fn fact_lines(facts: &[(&str, String)]) -> Vec<String> {
    let names = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut table = Table::new("ll");
    for (name, text) in facts {
        for (number, line) in show::wrap(text, show::WIDTH - names - 4).into_iter().enumerate() {
            table.row([if number == 0 { name.to_string() } else { String::new() }, line]);
        }
    }
    table.lines()
}
