//! A recording as a plan: pages as transactions, what they need grouped, values of answers in later requests.

use crate::correlate::{CorrelateKnown, Correlation, correlate};
use crate::hidden::{encoded, form, hide};
use crate::{Exchange, ExchangeKind, Recording};
use plan::data::Data;
use plan::secret::{Secret, content_without_secrets, without_secrets};
use plan::template::{escape, is_template};
use plan::{
    Body, Delay, Endpoint, Field, FieldValue, Http, Load, Pace, Phase, Plan, Protocol, Request, RequestStep,
    Scenario, Session, Site, Status, Step, Stop, Tls, Transaction,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// Settings for making a plan of a recording.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Hosts whose requests are taken, `*` for all; empty: that of the first page.
    pub hosts: Vec<String>,
    /// Treatment of scripts, style sheets, images and fonts.
    pub statics: Static,
    /// The time between pages is kept.
    pub pauses: bool,
    /// The plan's seed.
    pub seed: u64,
}

/// Treatment of scripts, style sheets, images and fonts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Static {
    /// Those of a page are one line of the report.
    #[default]
    Group,
    /// Each is a request like others.
    Keep,
    /// They are left out.
    Drop,
}

/// A plan, and what of the recording it does not say.
#[derive(Debug)]
pub struct Converted {
    /// One user walks it once.
    pub plan: Plan,
    /// A line for whatever was left out, changed or found.
    pub notes: Vec<String>,
}

/// The longest pause between two pages.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);
/// Shorter ones are the browser's.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
/// A gap that begins a new part where a recording knows no pages.
const GAP_MS: i64 = 1000;

impl Recording {
    /// The recording as a journey.
    pub fn journey(&self, choice: &Choice) -> Converted {
        let mut notes = self.left_out.clone();
        let chosen = self.chosen(choice, &mut notes);
        let found = correlate(&chosen);
        for known in &found.values {
            let from = chosen[known.from].name();
            notes.push(format!("{{{{{}}}}} is taken from the answer to {from}", known.name));
        }
        let common = common_fields(&chosen);
        let writer = JourneyWriter { chosen: &chosen, found: &found, common: &common };
        let steps = writer.steps(choice, &mut notes);
        Converted { plan: plan(steps, &chosen, common, choice), notes }
    }

    /// The exchanges of the hosts that are meant.
    fn chosen(&self, choice: &Choice, notes: &mut Vec<String>) -> Vec<&Exchange> {
        let first =
            self.exchanges.iter().find(|one| one.kind() == ExchangeKind::Page).or(self.exchanges.first());
        let own = first.map(Exchange::host).into_iter().collect();
        let hosts = if choice.hosts.is_empty() { &own } else { &choice.hosts };
        let is_meant = |one: &Exchange| {
            let host = one.host();
            let name = one.url.host_str().unwrap_or_default();
            hosts.iter().any(|meant| meant == "*" || *meant == host || meant == name)
        };
        let mut others = BTreeMap::<String, usize>::new();
        for one in self.exchanges.iter().filter(|one| !is_meant(one)) {
            *others.entry(one.host()).or_default() += 1;
        }
        notes.extend(
            others.iter().map(|(host, count)| {
                format!("left out: {count} requests to {host}; --host {host} takes them")
            }),
        );
        let is_wanted = |one: &&Exchange| {
            is_meant(one) && (choice.statics != Static::Drop || one.kind() != ExchangeKind::Static)
        };
        self.exchanges.iter().filter(is_wanted).collect()
    }
}

/// True if connections and the browser make the field of themselves, or it belongs to one visit alone.
fn is_own(name: &str) -> bool {
    const OWN: [&str; 14] = [
        "host",
        "content-length",
        "connection",
        "keep-alive",
        "proxy-connection",
        "transfer-encoding",
        "te",
        "upgrade",
        "http2-settings",
        "cookie",
        "if-none-match",
        "if-modified-since",
        "if-range",
        "expect",
    ];
    OWN.contains(&name.to_ascii_lowercase().as_str())
}

/// Fields that every request has alike.
fn common_fields(chosen: &[&Exchange]) -> Vec<(String, String)> {
    let Some((first, rest)) = chosen.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return Vec::new();
    };
    let is_common = |(name, value): &&(String, String)| {
        let once = first.fields.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name)).count() == 1;
        once && !is_own(name)
            && !plan::secret::is_secret_field(name)
            && rest.iter().all(|one| one.field(name) == Some(value.as_str()))
    };
    first.fields.iter().filter(is_common).cloned().collect()
}

fn plan(steps: Vec<Step>, chosen: &[&Exchange], common: Vec<(String, String)>, choice: &Choice) -> Plan {
    let tls = chosen.iter().any(|one| one.url.scheme() == "https").then(Tls::default);
    let fields = common.into_iter().map(|(name, value)| Field::new(name, value)).collect();
    let phase = Phase {
        name: "recorded".to_owned(),
        measured: true,
        scenario: Scenario::of(steps),
        pace: Pace::Users(1),
        stop: Stop { turns_per_user: Some(1), ..Stop::default() },
        ..Phase::default()
    };
    let load = Load {
        protocol: Protocol::Http(Http { tls, fields, ..Http::default() }),
        phases: vec![phase],
        ..Load::default()
    };
    Plan {
        version: Plan::VERSION,
        seed: choice.seed,
        threads: None,
        io: plan::Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin: None,
    }
}

struct JourneyWriter<'a> {
    chosen: &'a [&'a Exchange],
    found: &'a Correlation,
    common: &'a [(String, String)],
}

impl JourneyWriter<'_> {
    /// A transaction for each page, with a pause before it.
    fn steps(&self, choice: &Choice, notes: &mut Vec<String>) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut ended_ms: Option<i64> = None;
        for part in self.parts() {
            let first = self.chosen[part[0]];
            let pause = ended_ms.map_or(0, |ended| first.began_ms - ended);
            let pause = Duration::from_millis(u64::try_from(pause).unwrap_or(0)).min(LONGEST_PAUSE);
            if choice.pauses && pause >= SHORTEST_PAUSE {
                steps.push(Step::Pause(Delay::Fixed { delay: pause }));
            }
            ended_ms =
                part.iter().map(|&number| self.chosen[number]).map(|one| one.began_ms + one.took_ms).max();
            let name = format!("page {}", first.url.path());
            steps.push(Step::Transaction(Transaction::of(&name, self.part(&part, choice, notes))));
        }
        steps
    }

    /// The numbers of the exchanges of each page.
    fn parts(&self) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for (number, one) in self.chosen.iter().enumerate() {
            let before = number.checked_sub(1).map(|before| self.chosen[before]);
            // A redirection leads to the page that it belongs to.
            let follows = before.is_some_and(|before| {
                before.status.is_some_and(|status| (300..400).contains(&status))
                    && before.kind() != ExchangeKind::Static
            });
            let begins = before.is_none_or(|before| {
                let turned = one.page.is_some() && one.page != before.page;
                let gap = one.page.is_none() && one.began_ms - (before.began_ms + before.took_ms) > GAP_MS;
                turned || gap || one.kind() == ExchangeKind::Page && !follows
            });
            match parts.last_mut().filter(|_| !begins) {
                Some(part) => part.push(number),
                None => parts.push(vec![number]),
            }
        }
        parts
    }

    /// The requests of a page; those for what it needs last and under one label, where they are to be grouped.
    fn part(&self, part: &[usize], choice: &Choice, notes: &mut Vec<String>) -> Vec<Step> {
        let is_static = |number: &&usize| {
            choice.statics == Static::Group && self.chosen[**number].kind() == ExchangeKind::Static
        };
        let mut steps: Vec<Step> = part
            .iter()
            .filter(|number| !is_static(number))
            .map(|&number| self.request(number, notes))
            .collect();
        let needed: Vec<Step> =
            part.iter().filter(is_static).map(|&number| self.request(number, notes)).collect();
        if !needed.is_empty() {
            let name = format!("static {}", self.chosen[part[0]].url.path());
            let group = Transaction { parent: true, ..Transaction::of(&name, needed) };
            // After the page itself, before what its scripts ask for.
            steps.insert(1.min(steps.len()), Step::Transaction(group));
        }
        steps
    }

    fn request(&self, number: usize, notes: &mut Vec<String>) -> Step {
        let one = self.chosen[number];
        let known: Vec<&CorrelateKnown> =
            self.found.values.iter().filter(|known| known.from < number).collect();
        let mut filled = Filled::of(one, &known);
        let data = filled.hide();
        let extract = self.found.kept.get(&number).cloned().unwrap_or_default();
        let text = |text: &str| {
            if filled.templates {
                String::from_utf8_lossy(&escape(text.as_bytes())).into_owned()
            } else {
                text.to_owned()
            }
        };
        let fields = one.fields.iter().filter(|field| !is_own(&field.0) && !self.common.contains(field));
        let fields = fields.map(|(name, value)| {
            let whole = known
                .iter()
                .find(|known| value == &known.value || value.ends_with(&format!(" {}", known.value)));
            let value = match whole.filter(|_| filled.templates) {
                Some(known) => value.replace(&known.value, &format!("{{{{{}}}}}", known.name)),
                None => text(value),
            };
            Field::new(name.clone(), value)
        });
        let authorization = filled.authorization.take().filter(|_| one.field("Authorization").is_none());
        let fields = fields.chain(authorization.map(|basic| Field::new("Authorization", basic)));
        let refused = one.status.filter(|status| *status >= 400);
        if let Some(status) = refused {
            notes.push(format!("{} was answered with {status}, which counts as good for it", one.name()));
        }
        if without_secrets(&filled.url) != filled.url {
            notes
                .push(format!("the URL of {} holds a secret, which stands in the plan as it is", one.name()));
        }
        let request = Request {
            method: one.method.clone(),
            url: filled.url,
            fields: fields.collect(),
            body: filled.body,
            // What was wrong when it was recorded is expected; all below 400 is good anyway.
            statuses: refused.map_or(Vec::new(), |status| vec![Status::Is(status), Status::Class(2)]),
            name: known
                .iter()
                .fold(one.name(), |name, known| placed(&name, &known.value, &format!("{{{}}}", known.name))),
            extract,
            ..Request::get("http://localhost/")
        };
        let mut step = RequestStep { templates: filled.templates, data, ..RequestStep::default() };
        step.expect.decode = !request.extract.is_empty();
        step.requests = vec![request].into();
        step.session = Session { cookies: true, ..Session::default() };
        Step::Requests(step)
    }
}

/// URL and body of a request with placeholders for values of earlier answers.
struct Filled {
    url: String,
    body: Body,
    templates: bool,
    /// Of a name and a password in the URL, as a browser sends them.
    authorization: Option<FieldValue>,
}

impl Filled {
    fn of(one: &Exchange, known: &[&CorrelateKnown]) -> Filled {
        let mut url = one.url.clone();
        url.set_fragment(None);
        let (url, credentials) = Endpoint::split(url.as_str());
        let authorization = credentials.map(FieldValue::basic);
        let url = url.as_str();
        let body = one.body.as_slice();
        let candidates = crate::correlate::candidates(one);
        let used: Vec<&&CorrelateKnown> =
            known.iter().filter(|known| candidates.iter().any(|(_, value)| *value == known.value)).collect();
        if used.is_empty() {
            return Filled {
                url: url.to_owned(),
                body: secret_or_plain(body),
                templates: false,
                authorization,
            };
        }
        let mut url = escaped(url);
        let mut text = std::str::from_utf8(body).ok().map(escaped);
        let is_form = one.field("Content-Type").is_some_and(|kind| kind.contains("x-www-form-urlencoded"));
        for known in used {
            let path = encoded(&known.value);
            let form = form(&known.value);
            for (plain, how) in
                [(known.value.as_str(), "path"), (form.as_str(), "form"), (path.as_str(), "url")]
            {
                url = placed(&url, plain, &format!("{{{{{}|{how}}}}}", known.name));
            }
            if let Some(body) = &mut text {
                let (plain, how) =
                    if is_form { (form.as_str(), "form") } else { (known.value.as_str(), "raw") };
                *body = placed(body, plain, &format!("{{{{{}|{how}}}}}", known.name));
            }
        }
        let body = text.map_or_else(|| Body::from(escape(body)), Body::from);
        Filled { url, body, templates: true, authorization }
    }
}

impl Filled {
    /// Makes secrets in the URL ones of the plan, which are returned by their names.
    fn hide(&mut self) -> Vec<Data> {
        let mut url = if self.templates { self.url.clone() } else { escaped(&self.url) };
        let found = hide(&mut url);
        // A body that is a secret is no template once its value comes from elsewhere, so it cannot have braces escaped.
        let is_hidden = self.body.is_secret();
        if found.is_empty() || !self.templates && is_hidden && is_template(&self.body) {
            return Vec::new();
        }
        if !self.templates && !is_hidden {
            self.body = escape(&self.body).into();
        }
        (self.url, self.templates) = (url, true);
        found
    }
}

/// A body; one in which a name tells a secret, such as the form of a login, is a secret of the plan as a whole.
fn secret_or_plain(body: &[u8]) -> Body {
    match std::str::from_utf8(body) {
        Ok(text) if content_without_secrets(text).is_some() => Body::from(Secret::typed(text)),
        _ => Body::from(body.to_vec()),
    }
}

fn escaped(text: &str) -> String {
    String::from_utf8_lossy(&escape(text.as_bytes())).into_owned()
}

/// The text with a placeholder wherever the value stands by itself.
fn placed(text: &str, value: &str, placeholder: &str) -> String {
    let mut placed = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let before = &rest[..at];
        let after = &rest[at + value.len()..];
        let edge =
            |one: Option<char>| one.is_none_or(|one| !one.is_ascii_alphanumeric() && !"-_%{|".contains(one));
        let stands_alone =
            edge(before.chars().next_back().or(placed.chars().next_back())) && edge(after.chars().next());
        placed += before;
        placed += if stands_alone { placeholder } else { value };
        rest = after;
    }
    placed + rest
}
