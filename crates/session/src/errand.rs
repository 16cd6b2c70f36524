//! A plan on its way to agents: the order that each gets, and the text of the plan with what it names.

use fleet::Share;
use fleet::message::{Down, Hello, Order, Ready, Resumes};
use fleet::token::{Nonces, Prover, Token};
use plan::SourceRange;
use plan::digest::Sha256;
use std::net::SocketAddr;
use std::sync::mpsc::Sender;

/// Bytes of a plan that are sent at once.
const PIECE: usize = 256 << 10;

/// Work that each agent is given.
pub(crate) struct Errand {
    order: Order,
    text: String,
    /// The token of agents on a bus.
    token: Option<Token>,
}

/// Words of an order that are one agent's own.
pub(crate) struct OwnWords<'a> {
    pub name: &'a str,
    pub share: Share,
    pub sources: &'a [SourceRange],
    pub listen: Option<SocketAddr>,
    pub resumes: Option<Resumes>,
}

impl Errand {
    /// `order`: what is the same for all. `plan`, `inputs`: their texts.
    pub fn new(order: Order, plan: &str, inputs: &str, token: Option<Token>) -> Errand {
        let sha256 = Sha256::of([plan.as_bytes(), inputs.as_bytes()]);
        let order =
            Order { plan_bytes: plan.len() as u64, inputs_bytes: inputs.len() as u64, sha256, ..order };
        Errand { order, text: format!("{plan}{inputs}"), token }
    }

    /// Digest of all that is sent.
    pub fn sha256(&self) -> &str {
        &self.order.sha256
    }

    fn nonces<'a>(&'a self, hello: &'a Hello) -> Nonces<'a> {
        Nonces { agent: &hello.nonce, controller: &self.order.nonce }
    }

    /// True if an agent has proven that it has the token, where there is one.
    pub fn is_proven(&self, hello: &Hello, ready: &Ready) -> bool {
        let holds = |token: &Token| {
            token.holds(Prover::Agent, self.nonces(hello), ready.sha256.as_bytes(), &ready.proof)
        };
        self.token.as_ref().is_none_or(holds)
    }

    /// Gives it to an agent.
    pub fn give(&self, to: &Sender<Vec<u8>>, hello: &Hello, own: OwnWords<'_>) {
        let OwnWords { name, share, sources, listen, resumes } = own;
        let mut order = Order {
            name: name.to_owned(),
            share,
            resumes,
            sources: sources.to_vec(),
            listen: listen.map(|at| at.to_string()),
            ..self.order.clone()
        };
        if let Some(token) = &self.token {
            order.proof = token.prove(Prover::Controller, self.nonces(hello), &order.signed());
        }
        let pieces = self.text.as_bytes().chunks(PIECE).map(|piece| Down::Data(piece.to_vec()));
        for said in std::iter::once(Down::Plan(Box::new(order))).chain(pieces) {
            // One that has gone says so itself.
            let _ = to.send(said.frame().to_bytes());
        }
    }
}
