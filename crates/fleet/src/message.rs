//! Words that controller and agents say to each other. Beats hold a state and not a change, so one that is lost, doubled or late harms
//! nothing; deltas are numbered and kept until they are acknowledged.

use crate::delta::Delta;
use crate::frame::Frame;
use crate::split::Share;
use measure::OriginCounts;
use plan::SourceRange;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Words of an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Up {
    /// First: who it is.
    Hello(Hello),
    /// It has its plan and could begin.
    Ready(Ready),
    /// It does not do what was asked.
    Refused(Refused),
    /// How far it is.
    Beat(UpBeat),
    /// Figures.
    Delta(Numbered),
    /// Accounts of the origin that it serves.
    Served(Box<Served>),
    /// A result that nobody took begins: its bytes follow as pieces.
    Kept(KeptFile),
    /// A piece of it.
    Piece(Vec<u8>),
    /// There are no more results.
    NoMore,
}

/// Accounts of an origin that an agent serves: all since it began, so that one that is lost harms nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Served {
    /// Its counts.
    pub counts: OriginCounts,
    /// It serves no more.
    pub last: bool,
}

/// A result that nobody took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// Name of its file.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
}

/// A controller asks for results that nobody took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collect {
    /// Those of one run; `None`: all.
    pub run: Option<String>,
    /// As in an [`Order`].
    #[serde(default)]
    pub nonce: String,
    /// As in an [`Order`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub proof: String,
}

/// A delta on its way: its number, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered {
    /// Its number, from 0.
    pub number: u64,
    /// A [`Delta`].
    pub bytes: Vec<u8>,
}

/// Words of a controller.
#[derive(Debug, Clone, PartialEq)]
pub enum Down {
    /// The order.
    Plan(Box<Order>),
    /// A piece of the plan and of what it names.
    Data(Vec<u8>),
    /// The state of the run.
    Beat(DownBeat),
    /// Instead of a plan: results that nobody took are to be told.
    Collect(Collect),
    /// Results with these names are kept elsewhere now.
    Forget(Vec<String>),
}

/// An agent says who it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`crate::PROTOCOL`].
    pub protocol: u32,
    /// Version of the program.
    pub version: String,
    /// Name of its machine.
    pub host: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Its process.
    pub pid: u32,
    /// A number that is good for this talk alone.
    #[serde(default)]
    pub nonce: String,
}

/// A plan for one agent. The text of the plan, and of its inputs, follows as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Name of the agent.
    pub name: String,
    /// Its parts of the load.
    pub share: Share,
    /// A number that differs between runs and is the same for all agents of one.
    pub run_id: u64,
    /// Length of an interval in µs.
    pub interval_us: u64,
    /// Bytes that a cache on the way may keep, where that is known.
    pub cache_bytes: Option<u64>,
    /// The agent ends by itself when nobody has said anything for so long, in µs.
    pub lease_us: u64,
    /// How long it waits for a target that does not answer yet, in µs.
    pub ready_us: Option<u64>,
    /// Where its parts go on that another agent has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<Resumes>,
    /// Local addresses that its connections come from; none: those of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceRange>,
    /// Where it is to listen as the plan's origin, which is all that it does then; `None`: it carries its parts of the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// Bytes of the plan's text.
    pub plan_bytes: u64,
    /// Bytes of the inputs' text, behind it.
    pub inputs_bytes: u64,
    /// SHA-256 of both.
    pub sha256: String,
    /// A number of the controller's that is good for this talk alone.
    #[serde(default)]
    pub nonce: String,
    /// Proof that the controller has the agent's token, over all else that stands here.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub proof: String,
}

/// Parts that another agent has begun, which is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resumes {
    /// The phase in which that was, by its number.
    pub phase: u32,
    /// Requests that each part is known to have begun in that phase.
    pub done: Vec<u64>,
    /// Age of the controller's clock, in µs: gates that are open already opened since it began.
    pub since_us: u64,
}

impl Order {
    /// All that a proof is given for.
    pub fn signed(&self) -> Vec<u8> {
        // A plain value, as all that travels.
        serde_json::to_vec(&Order { proof: String::new(), ..self.clone() }).expect("orders are plain values")
    }
}

impl Collect {
    /// All that a proof is given for.
    pub fn signed(&self) -> Vec<u8> {
        // As above.
        serde_json::to_vec(&Collect { proof: String::new(), ..self.clone() })
            .expect("wishes are plain values")
    }
}

/// An agent could begin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// SHA-256 of what it was given.
    pub sha256: String,
    /// Warnings of what may fall short on its machine.
    pub warnings: Vec<String>,
    /// Its wall clock when its own clock was at zero, in µs since 1970; `None`: it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_us: Option<i64>,
    /// Proof that it has the controller's token.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub proof: String,
}

/// An agent does not do what was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Why not.
    pub why: String,
    /// True if what was asked cannot be meant, rather than not be done here and now.
    pub usage: bool,
}

/// How far an agent is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpBeat {
    /// Number of the last beat that came, and the moment that it bore.
    pub echo: Option<(u64, u64)>,
    /// Since when it has waited to be sent back, in µs.
    pub held_us: u64,
    /// The agent's clock in µs.
    pub at_us: u64,
    /// Gates that all its workers have come to.
    pub arrived: u32,
}

/// How the run is to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// By itself.
    #[default]
    No,
    /// Now; what is under way has its time of grace.
    Grace,
    /// At once.
    Now,
}

/// From a moment on, so many requests per second of all agents together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateFrom {
    /// The phase, by its number.
    pub phase: u32,
    /// When, in µs since the phase began.
    pub at_us: u64,
    /// How many.
    pub per_second: f64,
}

/// The state of the run, for one agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DownBeat {
    /// Its number.
    pub number: u64,
    /// The controller's clock in µs.
    pub at_us: u64,
    /// All deltas before this one have come.
    pub acknowledged: u64,
    /// All agents are ready: workers may go to the first gate.
    pub go: bool,
    /// When gates open, by the agent's clock in µs.
    pub opens_us: Vec<u64>,
    /// Rates that were changed, in order.
    pub rates: Vec<RateFrom>,
    /// How the run is to end.
    pub stop: Stop,
}

/// Something that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a message of kind {kind} cannot be read: {why}")]
pub struct BadMessage {
    /// Its kind.
    pub kind: u8,
    /// Why.
    pub why: String,
}

/// Numbers of kinds.
mod kind {
    pub const HELLO: u8 = 1;
    pub const READY: u8 = 2;
    pub const REFUSED: u8 = 3;
    pub const UP_BEAT: u8 = 4;
    pub const DELTA: u8 = 5;
    pub const KEPT: u8 = 6;
    pub const PIECE: u8 = 7;
    pub const NO_MORE: u8 = 8;
    pub const SERVED: u8 = 9;
    pub const PLAN: u8 = 101;
    pub const DATA: u8 = 102;
    pub const DOWN_BEAT: u8 = 103;
    pub const COLLECT: u8 = 104;
    pub const FORGET: u8 = 105;
}

/// Bytes of a delta's number.
const NUMBER: usize = 8;

fn json(kind: u8, said: &impl Serialize) -> Frame {
    // Structs of numbers, texts and lists: nothing in them can fail.
    Frame { kind, body: serde_json::to_vec(said).expect("messages are plain values") }
}

fn read<T: DeserializeOwned>(frame: &Frame) -> Result<T, BadMessage> {
    serde_json::from_slice(&frame.body)
        .map_err(|error| BadMessage { kind: frame.kind, why: error.to_string() })
}

fn unknown(kind: u8) -> BadMessage {
    BadMessage { kind, why: "this version does not know it".to_owned() }
}

impl Up {
    /// It as a frame.
    pub fn frame(&self) -> Frame {
        match self {
            Up::Hello(said) => json(kind::HELLO, said),
            Up::Ready(said) => json(kind::READY, said),
            Up::Refused(said) => json(kind::REFUSED, said),
            Up::Beat(said) => json(kind::UP_BEAT, said),
            Up::Delta(said) => {
                let mut body = said.number.to_be_bytes().to_vec();
                body.extend(&said.bytes);
                Frame { kind: kind::DELTA, body }
            }
            Up::Served(said) => json(kind::SERVED, said),
            Up::Kept(said) => json(kind::KEPT, said),
            Up::Piece(bytes) => Frame { kind: kind::PIECE, body: bytes.clone() },
            Up::NoMore => Frame { kind: kind::NO_MORE, body: Vec::new() },
        }
    }

    /// Reads what a frame says.
    ///
    /// # Errors
    /// It is none of an agent's.
    pub fn of(frame: &Frame) -> Result<Up, BadMessage> {
        match frame.kind {
            kind::HELLO => read(frame).map(Up::Hello),
            kind::READY => read(frame).map(Up::Ready),
            kind::REFUSED => read(frame).map(Up::Refused),
            kind::UP_BEAT => read(frame).map(Up::Beat),
            kind::DELTA => match frame.body.split_first_chunk::<NUMBER>() {
                Some((number, bytes)) => {
                    Ok(Up::Delta(Numbered { number: u64::from_be_bytes(*number), bytes: bytes.to_vec() }))
                }
                None => Err(BadMessage { kind: frame.kind, why: "it is too short".to_owned() }),
            },
            kind::SERVED => read(frame).map(|served| Up::Served(Box::new(served))),
            kind::KEPT => read(frame).map(Up::Kept),
            kind::PIECE => Ok(Up::Piece(frame.body.clone())),
            kind::NO_MORE => Ok(Up::NoMore),
            other => Err(unknown(other)),
        }
    }
}

impl Down {
    /// It as a frame.
    pub fn frame(&self) -> Frame {
        match self {
            Down::Plan(said) => json(kind::PLAN, said),
            Down::Data(bytes) => Frame { kind: kind::DATA, body: bytes.clone() },
            Down::Beat(said) => json(kind::DOWN_BEAT, said),
            Down::Collect(said) => json(kind::COLLECT, said),
            Down::Forget(names) => json(kind::FORGET, names),
        }
    }

    /// Reads what a frame says.
    ///
    /// # Errors
    /// It is none of a controller's.
    pub fn of(frame: &Frame) -> Result<Down, BadMessage> {
        match frame.kind {
            kind::PLAN => read(frame).map(|plan| Down::Plan(Box::new(plan))),
            kind::DATA => Ok(Down::Data(frame.body.clone())),
            kind::DOWN_BEAT => read(frame).map(Down::Beat),
            kind::COLLECT => read(frame).map(Down::Collect),
            kind::FORGET => read(frame).map(Down::Forget),
            other => Err(unknown(other)),
        }
    }
}

impl Numbered {
    /// The delta in it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn delta(&self) -> Result<Delta, BadMessage> {
        Delta::of_bytes(&self.bytes).map_err(|why| BadMessage { kind: kind::DELTA, why })
    }
}
