//! A plan on its way to agents: the order that each gets, and the text of the plan with what it names.

use fleet::Share;
use fleet::message::{Down, Order, Resumes};
use plan::digest::Sha256;
use std::sync::mpsc::Sender;

/// Bytes of a plan that are sent at once.
const PIECE: usize = 256 << 10;

/// Work that each agent is given.
pub(crate) struct Errand {
    order: Order,
    text: String,
}

impl Errand {
    /// `order`: what is the same for all. `plan`, `inputs`: their texts.
    pub fn new(order: Order, plan: &str, inputs: &str) -> Errand {
        let sha256 = Sha256::of([plan.as_bytes(), inputs.as_bytes()]);
        let order =
            Order { plan_bytes: plan.len() as u64, inputs_bytes: inputs.len() as u64, sha256, ..order };
        Errand { order, text: format!("{plan}{inputs}") }
    }

    /// Digest of all that is sent.
    pub fn sha256(&self) -> &str {
        &self.order.sha256
    }

    /// Gives it to an agent with these parts.
    pub fn give(&self, to: &Sender<Vec<u8>>, name: &str, share: Share, resumes: Option<Resumes>) {
        let order = Order { name: name.to_owned(), share, resumes, ..self.order.clone() };
        let pieces = self.text.as_bytes().chunks(PIECE).map(|piece| Down::Data(piece.to_vec()));
        for said in std::iter::once(Down::Plan(Box::new(order))).chain(pieces) {
            // One that has gone says so itself.
            let _ = to.send(said.frame().to_bytes());
        }
    }
}
