//! `wringer origin --tcp`: a stand-in for a service that speaks messages.

use clap::Args;
use plan::data::unescape;
use plan::message::{Framing, MessageService};
use plan::{Body, units};

/// How the origin answers TCP messages.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Answers to messages")]
pub struct ServiceArgs {
    /// Answer messages over TCP instead of HTTP
    #[arg(long)]
    pub tcp: bool,
    /// How messages are told apart, as of wringer tcp [default: lines]
    #[arg(long, value_name = "FRAMING", value_parser = Framing::parse, requires = "tcp")]
    pub framing: Option<Framing>,
    /// How answers are told apart [default: as --framing]
    #[arg(long, value_name = "FRAMING", value_parser = Framing::parse, requires = "tcp")]
    pub answer_framing: Option<Framing>,
    /// The head of answers, where the framing has one that is more than a length
    #[arg(long, value_name = "TEXT", value_parser = bytes, requires = "tcp")]
    pub answer_head: Option<Body>,
    /// Each answer, with {{code}}, {{body}} (the request's) and {{number}} [default: {{code}}{{body}}]
    #[arg(long, value_name = "TEXT", value_parser = bytes, requires = "tcp")]
    pub answer: Option<Body>,
    /// The code of answers that say yes [default: 00]
    #[arg(long, value_name = "CODE", value_parser = bytes, requires = "tcp")]
    pub success_code: Option<Body>,
    /// The code of answers that say no [default: 99]
    #[arg(long, value_name = "CODE", value_parser = bytes, requires = "tcp")]
    pub failure_code: Option<Body>,
    /// Share of requests that are answered no
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share, requires = "tcp")]
    pub failures: f64,
    /// Share of requests at which the connection is closed instead
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share, requires = "tcp")]
    pub drops: f64,
    /// Share of requests that are never answered
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share, requires = "tcp")]
    pub silent: f64,
    /// Share of answers that lack their last byte
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share, requires = "tcp")]
    pub wrong_lengths: f64,
    /// Share of answers before which a message comes that nobody asked for, with the code push
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share, requires = "tcp")]
    pub pushes: f64,
    /// Send answers in pieces of so many bytes, 1 ms apart
    #[arg(long, value_name = "BYTES", default_value = "0", requires = "tcp")]
    pub split: u32,
}

fn bytes(text: &str) -> Result<Body, String> {
    unescape(text).map(Body::from)
}

impl ServiceArgs {
    /// The service, where one is wanted.
    pub fn service(&self) -> Option<MessageService> {
        let otherwise = MessageService::default();
        self.tcp.then(|| MessageService {
            framing: self.framing.clone().unwrap_or(otherwise.framing),
            answers: self.answer_framing.clone(),
            head: self.answer_head.clone().unwrap_or_default(),
            answer: self.answer.clone().unwrap_or(otherwise.answer),
            success: self.success_code.clone().unwrap_or(otherwise.success),
            failure: self.failure_code.clone().unwrap_or(otherwise.failure),
            failures: self.failures,
            drops: self.drops,
            silent: self.silent,
            wrong_lengths: self.wrong_lengths,
            pushes: self.pushes,
            split: self.split,
            longest_request: otherwise.longest_request,
        })
    }
}
