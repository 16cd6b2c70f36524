//! The token of an agent's owner: whoever asks an agent on a bus for something proves that he has it, and the agent proves the same. It never
//! goes over the bus itself: a proof is an HMAC over both sides' nonces and what is asked.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::{self, Write};

/// Characters of a token at least: 256 bits have 43 of them in base 64, and 64 as hexadecimal digits.
const SHORTEST: usize = 43;

/// A secret that a controller and its agents share.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Vec<u8>);

impl fmt::Debug for Token {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Token")
    }
}

/// Numbers that each side draws for one stream, so that a proof is good for no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonces<'a> {
    /// That of the agent.
    pub agent: &'a str,
    /// That of the controller.
    pub controller: &'a str,
}

/// Whose proof it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prover {
    /// The agent's.
    Agent,
    /// The controller's.
    Controller,
}

impl Token {
    /// The token that a text holds.
    ///
    /// # Errors
    /// It is too short to be a secret.
    pub fn parse(text: &str) -> Result<Token, String> {
        let text = text.trim();
        if text.len() < SHORTEST {
            return Err(format!(
                "a token has at least {SHORTEST} characters, and there are {}: make one with `head -c 32 /dev/urandom | base64`",
                text.len()
            ));
        }
        Ok(Token(text.as_bytes().to_vec()))
    }

    fn mac(&self, side: Prover, nonces: Nonces<'_>, what: &[u8]) -> Hmac<Sha256> {
        // Keys of HMAC have any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length will do");
        let side: &[u8] = match side {
            Prover::Agent => b"agent",
            Prover::Controller => b"controller",
        };
        for part in [side, nonces.agent.as_bytes(), nonces.controller.as_bytes(), what] {
            // With its length before it, no part can pass for a piece of its neighbour.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }

    /// Proves that somebody has it who asks for this, or answers with it.
    pub fn prove(&self, side: Prover, nonces: Nonces<'_>, what: &[u8]) -> String {
        let proof = self.mac(side, nonces, what).finalize().into_bytes();
        proof.iter().fold(String::new(), |mut text, byte| {
            // Only formatting into a string.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// True if a proof is one. Compared in constant time.
    pub fn holds(&self, side: Prover, nonces: Nonces<'_>, what: &[u8], proof: &str) -> bool {
        let byte = |at: usize| proof.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let bytes: Option<Vec<u8>> = (0..proof.len()).step_by(2).map(byte).collect();
        bytes.is_some_and(|bytes| self.mac(side, nonces, what).verify_slice(&bytes).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_good_for_one_side_one_stream_and_one_request() {
        let token = Token::parse(&"a".repeat(43)).unwrap();
        let nonces = Nonces { agent: "1", controller: "2" };
        let proof = token.prove(Prover::Controller, nonces, b"plan");
        assert!(token.holds(Prover::Controller, nonces, b"plan", &proof));
        let other = Token::parse(&"b".repeat(43)).unwrap();
        for wrong in [
            token.holds(Prover::Agent, nonces, b"plan", &proof),
            token.holds(Prover::Controller, Nonces { agent: "3", ..nonces }, b"plan", &proof),
            token.holds(Prover::Controller, Nonces { agent: "12", controller: "" }, b"plan", &proof),
            token.holds(Prover::Controller, nonces, b"plan2", &proof),
            token.holds(Prover::Controller, nonces, b"plan", &proof[2..]),
            token.holds(Prover::Controller, nonces, b"plan", ""),
            token.holds(Prover::Controller, nonces, b"plan", "é"),
            other.holds(Prover::Controller, nonces, b"plan", &proof),
        ] {
            assert!(!wrong);
        }
        assert!(Token::parse("secret").unwrap_err().contains("at least 43 characters"));
        assert_eq!(format!("{token:?}"), "Token");
    }
}
