//! `wringer tcp`: what its options mean.

use super::data;
use super::fleet::FleetArgs;
use super::options::{KeepArgs, LoadArgs, OutputArgs, WarmUpArgs, WatchArgs};
use super::pace::PaceArgs;
use super::tls::TlsArgs;
use super::values::{some_bytes, target};
use clap::Args;
use plan::answer::{Check, Extract, IsoForm, Must, Selector};
use plan::byte_order as mark;
use plan::data::{Data, unescape};
use plan::message::{Correlation, Framing, Message, MessageOrder, Pushed};
use plan::{
    Body, Load, MessageConnections, MessageStep, Phase, Plan, Protocol, Resend, Scenario, Site, Step, units,
};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The options of `wringer tcp`.
#[derive(Debug, Clone, Args)]
pub struct TcpArgs {
    /// The service, HOST:PORT
    #[arg(value_name = "HOST:PORT", value_parser = target)]
    pub target: String,
    /// Messages that are sent.
    #[command(flatten)]
    pub messages: MessageArgs,
    /// Conditions that answers must meet.
    #[command(flatten)]
    pub answers: AnswerArgs,
    /// When messages are sent.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// How clients behave.
    #[command(flatten)]
    pub load: LoadArgs,
    /// Warm-up, sent before the measurement.
    #[command(flatten)]
    pub warm_up: WarmUpArgs,
    /// Speak TLS
    #[arg(long, help_heading = "TLS of clients")]
    pub tls: bool,
    /// How TLS is spoken.
    #[command(flatten)]
    pub tls_options: TlsArgs,
    /// Processes watched beside wringer.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Other machines that carry the load.
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Output that is printed and kept.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Storage of the run: whether it is kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// Messages that are sent.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Messages")]
pub struct MessageArgs {
    /// How messages are told apart: ascii:8, hex:4, binary:2, little:4 or bcd:2 for a length before the body (with ,total
    /// ,at=N ,head=N ,adjust=N), delimiter:TEXT, fixed:BYTES, lines, resp-line, iso8583:2, http, close, or raw
    #[arg(long, value_name = "FRAMING", default_value = "lines", value_parser = Framing::parse)]
    pub framing: Framing,
    /// How answers are told apart [default: as --framing]
    #[arg(long, value_name = "FRAMING", value_parser = Framing::parse)]
    pub answer_framing: Option<Framing>,
    /// A message, with {{placeholders}} and \r \n \t \0 \xHH; several are sent in turn
    #[arg(long = "message", short = 'm', value_name = "TEXT")]
    pub messages: Vec<String>,
    /// A file that holds one message, as it is but for {{placeholders}}
    #[arg(long, value_name = "FILE")]
    pub message_file: Vec<PathBuf>,
    /// A file with a message per line, each as --message has it
    #[arg(long = "messages", value_name = "FILE")]
    pub list: Option<PathBuf>,
    /// The head of each message, where the framing has one that is more than a length
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub head: String,
    /// How often each message is sent beside the others, in their order; they are then drawn at random
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    pub weights: Vec<u32>,
    /// Each user sends the messages as a sequence, and begins anew after a failure
    #[arg(long, conflicts_with = "weights")]
    pub sequence: bool,
    /// A value of the answer to message N of a sequence [default: 1] for later ones: where it stands, as in --code
    #[arg(long, alias = "take", value_name = "[N:]NAME=WHERE", value_parser = extract, requires = "sequence")]
    pub extract: Vec<(usize, String, String)>,
    /// Values of a placeholder, such as n='counter:1..999999 as %06d' or t=time-local:%Y%m%d%H%M%S%3f
    #[arg(long, value_name = "NAME=SOURCE", value_parser = source)]
    pub data: Vec<Data>,
    /// A file that placeholders take rows from: lines, or a .csv with columns ({{NAME.COLUMN}})
    #[arg(long, value_name = "NAME=FILE[,ORDER]", value_parser = data::file)]
    pub data_file: Vec<Data>,
    /// Nobody answers: a message is done when it is sent
    #[arg(long, conflicts_with_all = ["code", "pipeline", "sequence"])]
    pub no_answer: bool,
    /// Messages under way on one connection
    #[arg(long, value_name = "N", default_value = "1")]
    pub pipeline: u32,
}

/// Conditions that answers must meet.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Answers")]
pub struct AnswerArgs {
    /// Where the code of an answer stands: fixed FIRST LENGTH, json PATH, xml /PATH, tag TEXT, between BEFORE AFTER, regex
    /// EXPRESSION, iso FIELD, header NAME, status or all, with head or whole before it for another part than the body
    #[arg(long, value_name = "WHERE")]
    pub code: Option<String>,
    /// Codes that are good; all others are not
    #[arg(long, value_name = "CODES", value_delimiter = ',', requires = "code")]
    pub success: Vec<String>,
    /// Codes that are bad; all others are not
    #[arg(long, value_name = "CODES", value_delimiter = ',', requires = "code", conflicts_with = "success")]
    pub failure: Vec<String>,
    /// Where a message holds what its answer repeats, for answers that come in any order
    #[arg(long, value_name = "WHERE")]
    pub correlate: Option<String>,
    /// Where the answer repeats it [default: as --correlate]
    #[arg(long, value_name = "WHERE", requires = "correlate")]
    pub correlate_answer: Option<String>,
    /// Where a message that nobody asked for can be told by; such messages are counted and skipped
    #[arg(long, value_name = "WHERE")]
    pub pushed: Option<String>,
    /// Values that stand there [default: anything]
    #[arg(long, value_name = "VALUES", value_delimiter = ',', requires = "pushed")]
    pub pushed_is: Vec<String>,
    /// The longest answer that is accepted
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = some_bytes)]
    pub longest_answer: u64,
    /// Share of answers that may be wrong before the exit code is 3
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub tolerate: f64,
}

fn named(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=').ok_or_else(|| format!("'{text}' has no =: give NAME=VALUE"))
}

fn source(text: &str) -> Result<Data, String> {
    let (name, source) = named(text)?;
    Data::parse(name, source)
}

fn extract(text: &str) -> Result<(usize, String, String), String> {
    let (name, at) = named(text)?;
    let (nth, name) = match name.split_once(':') {
        Some((nth, name)) => (nth.parse().ok(), name),
        None => (Some(1), name),
    };
    let nth: usize = nth.filter(|nth| *nth > 0).ok_or("give the number of a message, from 1")?;
    Ok((nth - 1, name.to_owned(), at.to_owned()))
}

fn codes(texts: &[String]) -> Result<Vec<Body>, String> {
    texts.iter().map(|text| unescape(text).map(Body::from)).collect()
}

/// Returns the value of an option, or the reason why it cannot be meant.
fn option<Value>(name: &str, value: Result<Value, String>) -> Result<Value, String> {
    value.map_err(|why| format!("--{name}: {why}"))
}

impl TcpArgs {
    /// The plan; `seed` is taken where none was given.
    ///
    /// # Errors
    /// Options that cannot be meant together, and files of messages that cannot be read, in one line.
    pub fn plan(&self, seed: u64) -> Result<Plan, String> {
        self.pace.check(false)?;
        self.pace.check_users()?;
        self.load.check_grace(&self.pace)?;
        if let Some(option) = self.tls_options.given().filter(|_| !self.tls) {
            return Err(format!("{option} is about TLS, which is not spoken: give --tls, too"));
        }
        let connections = MessageConnections {
            requests_per_connection: self.pace.requests_per_connection(self.load.keep_alive),
            close: self.load.close,
            tls: self.tls.then(|| self.tls_options.tls()),
            resend: self.load.resend.unwrap_or(Resend::Never),
        };
        let pace = self.pace.pace();
        let step = self.step()?;
        self.warm_up.check(&step.data)?;
        let phase = Phase {
            name: "measure".to_owned(),
            measured: true,
            scenario: Scenario::of(vec![Step::Messages(step)]),
            stop: self.pace.stop(&pace),
            preconnect: self.pace.preconnect,
            pace,
            ..Phase::default()
        };
        let load = Load {
            target: Some(self.target.clone()),
            protocol: Protocol::Messages(connections),
            sources: self.load.sources.clone(),
            check: plan::Check { tolerated: self.answers.tolerate, ..plan::Check::default() },
            limits: self.load.limits(),
            phases: self.warm_up.phases(phase),
            ..Load::default()
        };
        Ok(Plan {
            version: Plan::VERSION,
            seed: self.load.seed.unwrap_or(seed),
            threads: self.load.threads,
            io: self.load.io,
            site: Site::default(),
            load: Some(load),
            origin: None,
        })
    }

    fn step(&self) -> Result<MessageStep, String> {
        let typed = &self.messages;
        let answers = &self.answers;
        let order = match (typed.sequence, typed.weights.is_empty()) {
            (true, _) => MessageOrder::Sequence,
            (false, false) => MessageOrder::Weighted,
            (false, true) => MessageOrder::Loop,
        };
        Ok(MessageStep {
            framing: typed.framing.clone(),
            answers: typed.answer_framing.clone(),
            messages: self.list()?,
            order,
            data: typed.data.iter().chain(&typed.data_file).cloned().collect(),
            code: self.code()?,
            correlation: self.correlation()?,
            pushed: self.pushed()?,
            pipeline: typed.pipeline,
            longest_answer: u32::try_from(answers.longest_answer).unwrap_or(u32::MAX),
            ..MessageStep::default()
        })
    }

    /// How ISO 8583 is written, where it is spoken.
    fn iso_form(&self) -> IsoForm {
        self.messages.answer_framing.as_ref().unwrap_or(&self.messages.framing).iso_form()
    }

    fn selector(&self, name: &str, text: &str) -> Result<Selector, String> {
        option(name, Selector::parse(text, self.iso_form()))
    }

    fn list(&self) -> Result<Vec<Message>, String> {
        let typed = &self.messages;
        let mut bodies: Vec<Vec<u8>> = Vec::new();
        for text in &typed.messages {
            bodies.push(option("message", unescape(text))?);
        }
        for file in &typed.message_file {
            bodies.push(read(file)?);
        }
        if let Some(file) = &typed.list {
            let text = String::from_utf8(read(file)?)
                .map_err(|_| format!("{} is not UTF-8 text: write other bytes as \\xHH", file.display()))?;
            for (nth, line) in mark::behind(&text).lines().enumerate().filter(|(_, line)| !line.is_empty()) {
                let body = unescape(line).map_err(|why| format!("{}:{}: {why}", file.display(), nth + 1))?;
                bodies.push(body);
            }
        }
        if bodies.is_empty() {
            return Err("there is no message: give --message, --message-file or --messages".to_owned());
        }
        let head = option("head", unescape(&typed.head))?;
        let mut list: Vec<Message> = bodies
            .into_iter()
            .map(|body| Message {
                head: head.clone().into(),
                unanswered: typed.no_answer,
                ..Message::of(body)
            })
            .collect();
        self.add_weights(&mut list)?;
        self.add_extracts(&mut list)?;
        Ok(list)
    }

    fn add_weights(&self, list: &mut [Message]) -> Result<(), String> {
        let weights = &self.messages.weights;
        if !weights.is_empty() && weights.len() != list.len() {
            return Err(format!("--weights has {} numbers for {} messages", weights.len(), list.len()));
        }
        list.iter_mut().zip(weights).for_each(|(message, weight)| message.weight = *weight);
        Ok(())
    }

    fn add_extracts(&self, list: &mut [Message]) -> Result<(), String> {
        let count = list.len();
        for (nth, name, at) in &self.messages.extract {
            let at = self.selector("extract", at)?;
            let message = list.get_mut(*nth);
            let message = message.ok_or_else(|| format!("--extract: there are {count} messages"))?;
            message.extract.push(Extract::of(name, at, None));
        }
        Ok(())
    }

    fn code(&self) -> Result<Option<Check>, String> {
        let answers = &self.answers;
        let Some(at) = &answers.code else { return Ok(None) };
        let must = match (answers.success.is_empty(), answers.failure.is_empty()) {
            (false, _) => Must::BeOneOf(option("success", codes(&answers.success))?),
            (true, false) => Must::BeNoneOf(option("failure", codes(&answers.failure))?),
            (true, true) => Must::BeAnything,
        };
        Ok(Some(Check::of(self.selector("code", at)?, must)))
    }

    fn correlation(&self) -> Result<Option<Correlation>, String> {
        let Some(text) = &self.answers.correlate else { return Ok(None) };
        let request = self.selector("correlate", text)?;
        let answer = match &self.answers.correlate_answer {
            Some(text) => self.selector("correlate-answer", text)?,
            None => request.clone(),
        };
        Ok(Some(Correlation { request, answer }))
    }

    fn pushed(&self) -> Result<Option<Pushed>, String> {
        let Some(text) = &self.answers.pushed else { return Ok(None) };
        let is = option("pushed-is", codes(&self.answers.pushed_is))?;
        Ok(Some(Pushed { at: self.selector("pushed", text)?, is }))
    }
}

/// Bytes of a file of messages at most.
const LONGEST: u64 = 64 << 20;

fn read(file: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|opened| opened.take(LONGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    match bytes.len() as u64 {
        0..=LONGEST => Ok(bytes),
        _ => Err(format!("{} has more than {} MiB", file.display(), LONGEST >> 20)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cli, Command};

    fn args(words: &[&str]) -> TcpArgs {
        let words = ["wringer", "tcp"].iter().chain(words);
        let Command::Tcp(args) = Cli::read(words).unwrap().command else { panic!("no tcp") };
        *args
    }

    fn plan(words: &[&str]) -> Plan {
        let plan = args(words).plan(7).unwrap();
        assert_eq!(plan.check(), Vec::<String>::new(), "{words:?}");
        plan
    }

    #[test]
    fn every_option_reaches_the_plan() {
        let plan = plan(&[
            "h:1",
            "--framing",
            "binary:2",
            "--answer-framing",
            "iso8583:2,hex",
            "-m",
            "a{{n}}\\x01",
            "-m",
            "{{w}}",
            "--weights",
            "3,1",
            "--data",
            "n=counter:1..9 as %04d",
            "--data-file",
            "w=words.txt,random",
            "--code",
            "iso 39",
            "--success",
            "00,\\x00",
            "--correlate",
            "fixed 1 4",
            "--correlate-answer",
            "iso 11",
            "--pushed",
            "iso 0",
            "--pushed-is",
            "0800",
            "--pipeline",
            "16",
            "--longest-answer",
            "9000",
            "--tolerate",
            "1%",
            "--tls",
            "-k",
            "-c",
            "5",
            "--keep-alive",
            "100",
            "--timeout",
            "3s",
            "--source",
            "127.0.0.2",
            "-n",
            "10",
        ]);
        let text = plan.to_text();
        assert_eq!(Plan::from_text(&text).unwrap(), plan, "{text}");
        for word in [
            "binary = 2",
            "hex",
            "weighted",
            "weight = 3",
            "%04d",
            "words.txt",
            "random",
            "0800",
            "pipeline = 16",
            "9000",
            "tolerated = 0.01",
            "verify = false",
            "requests_per_connection = 100",
            "127.0.0.2",
        ] {
            assert!(text.contains(word), "{word} in {text}");
        }
    }

    #[test]
    fn sequences_take_values() {
        let plan = plan(&[
            "h:1",
            "-m",
            "login",
            "-m",
            "work {{sid}}",
            "--sequence",
            "--extract",
            "sid=json /sid",
            "--code",
            "tag <c>",
            "--failure",
            "9",
        ]);
        let Step::Messages(step) = &plan.load.as_ref().unwrap().phases[0].scenario.steps[0] else { panic!() };
        assert_eq!(step.messages[0].extract[0].name, "sid");
        assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (words, said) in [
            (&["h:1"][..], "no message"),
            (&["h:1", "-m", "\\q"], "backslash"),
            (&["h:1", "-m", "x", "--weights", "1,2"], "2 numbers for 1"),
            (&["h:1", "-m", "x", "--code", "nowhere 1"], "no place"),
            (&["h:1", "-m", "x", "-k"], "--tls"),
            (&["h:1", "--message-file", "/nowhere/at/all"], "cannot be read"),
        ] {
            let error = args(words).plan(7).unwrap_err();
            assert!(error.contains(said), "{words:?}: {error}");
        }
        for (words, said) in [
            (&["h:1", "-m", "{{none}}"][..], "no known data"),
            (&["h:1", "-m", "x", "--pipeline", "0"], "pipeline"),
            (&["h:1", "-m", "x", "--pipeline", "4", "--connection-rate", "5"], "leave out one of both"),
            (&["h:1", "-m", "x", "--framing", "ascii:4,head=9"], "give the message a head"),
            (&["h:1", "-m", "x", "--framing", "raw"], "answers"),
            (&["h:1", "-m", "{{length as}}"], "placeholder"),
        ] {
            let found = args(words).plan(7).unwrap().check().join("\n");
            assert!(found.contains(said), "{words:?}: {found}");
        }
    }

    #[test]
    fn a_warm_up_comes_before() {
        let load = plan(&["h:1", "-m", "x", "--warm-up", "5s", "-d", "9"]).load.unwrap();
        let [before, measured] = &load.phases[..] else { panic!("{:?}", load.phases) };
        assert_eq!((before.measured, before.stop.after), (false, Some(std::time::Duration::from_secs(5))));
        assert_eq!((measured.measured, &before.scenario), (true, &measured.scenario));
        let once = ["h:1", "-m", "{{u}}", "--data-file", "u=f,once", "--warm-up", "1s"];
        assert!(args(&once).plan(7).unwrap_err().contains("--warm-up"));
    }
}
