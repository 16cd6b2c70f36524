//! The nouns of an exchange. They know each other and the connection, and no loop.

mod client;
mod exchanges;
mod head;
mod moments;
mod pacing;
mod queue;
mod reading;
mod repeating;
mod shortcuts;
mod told;
mod worker;

pub(crate) use client::Client;
pub(crate) use exchanges::{Exchanges, HttpExchanges};
pub(crate) use head::Head;
pub(crate) use moments::{
    AnswerRead, ClientTurn, Due, HeadWritten, Loss, Moments, SentRequest, Written, closed_early, note_arrival,
};
pub(crate) use pacing::Pacing;
pub(crate) use queue::ShortQueue;
pub(crate) use reading::AnswerReading;
pub(crate) use repeating::Repeating;
pub(crate) use shortcuts::{SHORT, has_fast_path, may_repeat};
pub(crate) use told::{Described, Ending, KeptBytes, OffendingBytes};
pub(crate) use worker::{Busy, Context, Unanswered, Worker};
pub use worker::{OnBrokenOff, OnPhase};
