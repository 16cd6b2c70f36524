//! The terminal view of a run that goes on: a picture of lines, made of the records so far. Pure: who draws it, and when, is the
//! binary's business ([`Watched::take`], then [`frame`]).

mod canvas;
mod heat;

use crate::response_times::{ResponseTimes, quantile};
use canvas::{Line, Style, spark};
use measure::stream::BoundBy;
use measure::timeline::Rests;
use measure::{Buckets, Counts, Head, OriginCounts, RunEvent, Second, TimeMetric};
use std::collections::VecDeque;
use std::time::Duration;

/// Seconds that are remembered for curves and for the heat map.
const REMEMBERED: usize = 240;
/// Smaller terminals get plain lines.
pub const SMALLEST: (usize, usize) = (80, 24);

/// State of a run that goes on, as far as it is known.
#[derive(Debug, Default)]
pub struct Watched {
    head: Head,
    phase: u32,
    phases_begun: u32,
    seconds: VecDeque<ScreenPoint>,
    counts: Counts,
    origin: Option<OriginCounts>,
    statuses: std::collections::BTreeMap<u16, u64>,
    steps: std::collections::BTreeMap<(u32, u16), ScreenStep>,
    last: Second,
    rests: Rests,
    marks: VecDeque<String>,
    over: bool,
}

/// Figures remembered of a second.
#[derive(Debug, Clone, Default)]
struct ScreenPoint {
    rate: f64,
    times: ResponseTimes,
    metrics: Vec<(TimeMetric, Buckets)>,
}

#[derive(Debug, Clone, Default)]
struct ScreenStep {
    ended: u64,
    ok: u64,
    response: Buckets,
}

/// How it is looked at.
#[derive(Debug, Clone)]
pub struct Look {
    /// Columns and lines.
    pub size: (usize, usize),
    /// Which figures stand beside the heat map.
    pub pane: Pane,
    /// Which time the heat map shows.
    pub metric: TimeMetric,
    /// Colours, and no more than ASCII.
    pub colour: bool,
    /// Only characters that every terminal has.
    pub ascii: bool,
    /// The picture stands still.
    pub paused: bool,
    /// Text that is being typed or asked, instead of the keys.
    pub prompt: Option<String>,
    /// The keys, in full.
    pub help: bool,
    /// When the run ends by its plan, where that is known.
    pub planned: Option<Duration>,
}

/// Figures beside the heat map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    /// How requests ended.
    Outcomes,
    /// Requests with a name.
    Steps,
    /// Answers by status.
    Statuses,
    /// The generator's own use.
    Generator,
}

impl Pane {
    /// The one behind it.
    pub fn next(self) -> Pane {
        match self {
            Pane::Outcomes => Pane::Steps,
            Pane::Steps => Pane::Statuses,
            Pane::Statuses => Pane::Generator,
            Pane::Generator => Pane::Outcomes,
        }
    }
}

/// The times that the heat map may show.
pub const METRICS: [TimeMetric; 3] = [TimeMetric::Service, TimeMetric::Response, TimeMetric::FirstByte];

impl Watched {
    /// Takes a record in.
    pub fn take(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Head(head) => {
                self.head = (**head).clone();
                self.rests = Rests::new(head.interval);
            }
            RunEvent::Phase(phase) => {
                self.phase = phase.phase;
                self.phases_begun += 1;
            }
            RunEvent::Second(second) => self.second(second),
            RunEvent::End(_) => self.over = true,
            _ => {}
        }
    }

    /// Something to be read; the last few are shown.
    pub fn mark(&mut self, text: String) {
        self.marks.push_back(text);
        if self.marks.len() > 3 {
            self.marks.pop_front();
        }
    }

    /// True once a second is told.
    pub fn has_seconds(&self) -> bool {
        !self.seconds.is_empty()
    }

    /// Requests per second that were asked for in the last second, where the pace is open.
    pub fn asked(&self) -> Option<f64> {
        self.last.asked_per_s
    }

    fn second(&mut self, second: &Second) {
        if self.rests.is_rest(second.took.as_secs_f64()) && !self.seconds.is_empty() {
            // What is left over is no second: it is counted, and not drawn.
            return self.count(second);
        }
        let took = second.took.as_secs_f64().max(1e-3);
        let kept = second.metrics.iter().filter(|(metric, _)| METRICS.contains(metric));
        self.seconds.push_back(ScreenPoint {
            rate: measure::shares::finished(&second.clients.counts) as f64 / took,
            times: ResponseTimes::of(second),
            metrics: kept.map(|(metric, buckets)| (*metric, buckets.clone())).collect(),
        });
        if self.seconds.len() > REMEMBERED {
            self.seconds.pop_front();
        }
        self.count(second);
        self.last = second.clone();
    }

    fn count(&mut self, second: &Second) {
        self.counts.merge(&second.clients.counts);
        if let Some(counts) = &second.origin {
            self.origin.get_or_insert_default().merge(counts);
        }
        for (status, count) in &second.clients.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for label in &second.clients.labels {
            let step = self.steps.entry((second.phase, label.label)).or_default();
            step.ended += label.ended;
            step.ok += label.ok;
            step.response.merge(&label.response);
        }
        self.phase = second.phase;
    }
}

/// The picture: as many lines as the terminal has, none longer than it is wide.
pub fn frame(run: &Watched, look: &Look) -> Vec<String> {
    let (width, height) = look.size;
    let mut lines = vec![title(run, look), Line::default()];
    lines.extend(figures(run, look));
    lines.push(Line::default());
    let foot = foot(run, look);
    let room = height.saturating_sub(lines.len() + foot.len());
    lines.extend(if look.help { help() } else { panes(run, look, room) });
    lines.resize_with(height.saturating_sub(foot.len()), Line::default);
    lines.extend(foot);
    lines.into_iter().map(|line| line.within(width, look)).collect()
}

fn title(run: &Watched, look: &Look) -> Line {
    let mut line = Line::default();
    let target = run.head.target.as_deref().unwrap_or_default();
    line.put(Style::Strong, " wringer ").put(Style::Plain, &format!("{} ", run.head.door));
    line.put(Style::Plain, look.pick("→ ", "> ")).put(Style::Strong, target);
    let mut right = Line::default();
    if let Some(phase) = run.head.phases.get(run.phase as usize) {
        right.put(Style::Plain, &format!("{} {}/{}  ", phase.name, run.phase + 1, run.head.phases.len()));
    }
    let now = run.last.at.as_secs();
    match look.planned.map(|planned| planned.as_secs()).filter(|planned| *planned > 0) {
        Some(planned) => {
            right.put(Style::Plain, &format!("{}/{} ", minutes(now), minutes(planned)));
            right.put(Style::Accent, &bar(now as f64 / planned as f64, 10, look));
        }
        None => drop(right.put(Style::Plain, &minutes(now))),
    }
    if look.paused {
        right.put(Style::Bad, "  paused");
    }
    let word = if run.over { "over" } else { bound(&run.last.bound) };
    let style = if word == "valid" || word == "over" { Style::Good } else { Style::Bad };
    right.put(Style::Plain, "  ").put(style, word).put(Style::Plain, " ");
    let room = look.size.0.saturating_sub(right.width() + 2);
    if line.width() > room {
        line.fill(room.saturating_sub(1)).put(Style::Plain, look.pick("…", "~"));
    }
    line.fill(room).put(Style::Plain, "  ").append(right);
    line
}

fn bound(bound: &[BoundBy]) -> &'static str {
    match bound.first() {
        None => "valid",
        Some(BoundBy::Cpu) => "generator-bound: cpu",
        Some(BoundBy::Lateness) => "generator-bound: late",
        Some(BoundBy::Overflow) => "overflow",
        Some(BoundBy::Ports) => "generator-bound: ports",
        Some(BoundBy::Descriptors) => "generator-bound: descriptors",
        Some(BoundBy::Swap) => "generator-bound: swap",
        Some(BoundBy::Other) => "generator-bound",
    }
}

/// A piece of a line, and how soon it is left out where the terminal is narrow: the highest first, 0 never.
type Piece = (u8, Line);

fn figures(run: &Watched, look: &Look) -> Vec<Line> {
    vec![joined(times(run, look), look), joined(counts(run, look), look)]
}

/// As many pieces as there is room for, in their order.
fn joined(mut pieces: Vec<Piece>, look: &Look) -> Line {
    while pieces.iter().map(|(_, line)| line.width()).sum::<usize>() > look.size.0 {
        let least = pieces.iter().enumerate().max_by_key(|(_, (rank, _))| *rank);
        match least.map(|(at, (rank, _))| (at, *rank)) {
            Some((at, 1..)) => drop(pieces.remove(at)),
            _ => break,
        }
    }
    let mut whole = Line::default();
    for (_, line) in pieces {
        whole.append(line);
    }
    whole
}

fn piece(rank: u8, soft: &str, style: Style, text: &str) -> Piece {
    let mut line = Line::default();
    line.put(Style::Soft, soft).put(style, text);
    (rank, line)
}

/// How fast, and how long it takes, with curves of the last seconds.
fn times(run: &Watched, look: &Look) -> Vec<Piece> {
    let room = look.size.0.saturating_sub(78) / 3 + 8;
    let curve = |rank: u8, of: &dyn Fn(&ScreenPoint) -> f64| {
        let values: Vec<f64> = run.seconds.iter().rev().take(room).map(of).collect();
        piece(rank, " ", Style::Accent, &spark(values.into_iter().rev(), look.ascii))
    };
    let last = run.seconds.back().cloned().unwrap_or_default();
    let mut pieces = vec![
        piece(0, " requests/s ", Style::Strong, &format!("{:>6}", crate::show::scaled(last.rate))),
        curve(3, &|point| point.rate),
    ];
    if let Some(asked) = run.asked() {
        pieces.push(piece(1, " asked ", Style::Soft, &crate::show::scaled(asked)));
    }
    let time = |us: u64| format!("{:>7}", crate::show::time(us));
    pieces.push(piece(0, "  p50 ", Style::Strong, &time(last.times.p50_us)));
    pieces.push(curve(4, &|point| point.times.p50_us as f64));
    pieces.push(piece(0, "  p99 ", Style::Strong, &time(last.times.p99_us)));
    pieces.push(curve(2, &|point| point.times.p99_us as f64));
    pieces.push(piece(0, "  max ", Style::Plain, &crate::show::time(last.times.max_us)));
    pieces
}

/// Returns the pieces that show what became of the requests.
fn counts(run: &Watched, look: &Look) -> Vec<Piece> {
    let counts = &run.counts;
    let told = counts.hits + counts.misses + counts.revalidated + counts.collapsed;
    let mut pieces = Vec::new();
    if told > 0 {
        let hits = counts.hits as f64 / told as f64;
        pieces.push(piece(0, " hits ", Style::Strong, &crate::show::percent(hits)));
        pieces.push(piece(3, " ", Style::Accent, &bar(hits, 10, look)));
    }
    if let (Some(origin), Some(now)) = (&run.origin, &run.last.origin) {
        let took = run.last.took.as_secs_f64().max(1e-3);
        let spared = (1.0 - origin.full as f64 / counts.ended.max(1) as f64).max(0.0);
        pieces.push(piece(1, "  offload ", Style::Plain, &crate::show::percent(spared)));
        let rate = format!("{}/s", crate::show::scaled(now.requests as f64 / took));
        pieces.push(piece(2, "  origin ", Style::Plain, &rate));
    }
    let first = if told > 0 { "  under way " } else { " under way " };
    pieces.push(piece(2, first, Style::Plain, &run.last.in_flight.to_string()));
    for (name, count) in
        [("failed", counts.failed), ("check failed", counts.check_failed), ("overflow", counts.overflow)]
    {
        let (rank, style) = match count {
            0 if name == "overflow" => (4, Style::Plain),
            0 => (0, Style::Plain),
            _ => (0, Style::Bad),
        };
        pieces.push(piece(rank, &format!("  {name} "), style, &crate::show::count(count)));
    }
    pieces
}

fn panes(run: &Watched, look: &Look, room: usize) -> Vec<Line> {
    let side = 34.min(look.size.0 / 3 + 6);
    let left = look.size.0.saturating_sub(side + 3);
    let columns: Vec<&Buckets> = run
        .seconds
        .iter()
        .map(|point| {
            point.metrics.iter().find(|(metric, _)| *metric == look.metric).map_or(&EMPTY, |(_, times)| times)
        })
        .collect();
    let map = heat::map(&columns, look.metric, left, room, look);
    let pane = pane(run, look, room);
    let mut both = Vec::new();
    for nth in 0..room {
        let mut line = map.get(nth).cloned().unwrap_or_default();
        line.fill(left).put(Style::Soft, look.pick(" │ ", " | "));
        line.append(pane.get(nth).cloned().unwrap_or_default());
        both.push(line);
    }
    both
}

static EMPTY: Buckets = Buckets::EMPTY;

fn pane(run: &Watched, look: &Look, room: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut row = |name: &str, value: &str, style| {
        let mut line = Line::default();
        line.put(Style::Plain, &format!("{name:<16.16}")).put(style, &format!("{value:>9}"));
        lines.push(line);
    };
    let counts = &run.counts;
    match look.pane {
        Pane::Outcomes => {
            row("outcomes", "", Style::Soft);
            for (name, count, bad) in [
                ("ok", counts.ok, false),
                ("failed", counts.failed, true),
                ("check failed", counts.check_failed, true),
                ("injected", counts.injected, false),
                ("aborted", counts.aborted, false),
                ("unfinished", counts.unfinished, true),
            ] {
                let style = if bad && count > 0 { Style::Bad } else { Style::Plain };
                row(name, &crate::show::count(count), style);
            }
            for one in run.last.clients.failures.iter().take(room.saturating_sub(8)) {
                row(one.failure.kind.name(), &format!("{}/s", one.count), Style::Bad);
            }
        }
        Pane::Steps => {
            row("steps", "p99", Style::Soft);
            for ((phase, label), step) in run.steps.iter().take(room.saturating_sub(1)) {
                let names = run.head.phases.get(*phase as usize);
                let name = names.and_then(|phase| phase.labels.get(usize::from(*label)));
                let style = if step.ok < step.ended { Style::Bad } else { Style::Plain };
                let name = crate::harmless(name.map_or("others", String::as_str)).into_owned();
                row(&name, &crate::show::time(quantile(&step.response, 0.99)), style);
            }
        }
        Pane::Statuses => {
            row("answers", "", Style::Soft);
            for (status, count) in run.statuses.iter().take(room.saturating_sub(1)) {
                let style = if *status >= 400 { Style::Bad } else { Style::Plain };
                row(&status.to_string(), &crate::show::count(*count), style);
            }
        }
        Pane::Generator => {
            row("generator", "", Style::Soft);
            for (nth, cpu) in run.last.worker_cpu.iter().take(8).enumerate() {
                let style = if *cpu > 0.75 { Style::Bad } else { Style::Plain };
                row(&format!("worker {nth}"), &crate::show::percent(*cpu), style);
            }
            let late = run.last.metrics.get(&TimeMetric::Lateness).map(|times| quantile(times, 0.99));
            if let Some(late) = late {
                row("late p99", &crate::show::time(late), Style::Plain);
            }
            if let Some(machine) = &run.last.machine {
                row("descriptors", &machine.descriptors.to_string(), Style::Plain);
                row("memory", &crate::show::bytes(machine.memory_bytes), Style::Plain);
            }
        }
    }
    lines
}

fn help() -> Vec<Line> {
    [
        ("q", "stop the run; asks"),
        ("Q", "stop it without asking"),
        ("p", "the picture stands still; the run does not"),
        ("+ -", "ten percent more or fewer requests per second, of an open pace"),
        ("r", "another rate, such as 20k"),
        ("m", "mark the moment: the word stands in every report"),
        ("Tab", "another pane: outcomes, steps, answers, generator"),
        ("l", "another time in the heat map: service, response, first byte"),
        ("?", "this, and back"),
    ]
    .map(|(key, text)| {
        let mut line = Line::default();
        line.put(Style::Strong, &format!("   {key:<5}")).put(Style::Plain, text);
        line
    })
    .into()
}

fn foot(run: &Watched, look: &Look) -> Vec<Line> {
    let told = run.marks.iter().map(|text| {
        let mut line = Line::default();
        line.put(Style::Soft, look.pick(" ▲ ", " ^ ")).put(Style::Plain, text);
        line
    });
    let mut lines: Vec<Line> = told.collect();
    let mut keys = Line::default();
    match &look.prompt {
        Some(prompt) => drop(keys.put(Style::Strong, " ").put(Style::Strong, prompt)),
        None => drop(
            keys.put(Style::Soft, " q stop  p pause  + - rate  r rate…  m mark  Tab pane  l time  ? help"),
        ),
    }
    lines.push(keys);
    lines
}

fn bar(share: f64, width: usize, look: &Look) -> String {
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    if look.ascii {
        let full = eighths / 8;
        return "#".repeat(full) + &".".repeat(width - full);
    }
    let parts = ['·', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let full = eighths / 8;
    let rest = eighths % 8;
    let mut bar = "█".repeat(full);
    if full < width {
        bar.push(parts[rest]);
        bar.extend(std::iter::repeat_n('·', width - full - 1));
    }
    bar
}

fn minutes(seconds: u64) -> String {
    match seconds / 3600 {
        0 => format!("{:02}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

impl Look {
    /// The first, or the second where only ASCII is to be shown.
    fn pick(&self, text: &'static str, ascii: &'static str) -> &'static str {
        if self.ascii { ascii } else { text }
    }
}

#[cfg(test)]
mod tests;
