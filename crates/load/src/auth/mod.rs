//! Challenges (401 and 407) and what a user answers to them (RFC 9110 section 11). It must not know connections.
//!
//! Start reading at [`Authenticator`]; `digest.rs` has the arithmetic of one scheme.

mod digest;

pub(crate) use digest::Covered;

use digest::Digest;
use plan::draw::hash;
use plan::{Auth, Credentials, FieldValue};
use std::cell::RefCell;
use std::rc::Rc;

/// Who asks: a host as `host:port`, or the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asker {
    Host(String),
    Proxy,
}

/// The answers of one user to whoever asks for its name, over all of its connections.
#[derive(Debug)]
pub(crate) struct Authenticator {
    plan: Rc<plan::Session>,
    answers: RefCell<Answers>,
    seed: u64,
}

/// Challenges to one request, so far.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    count: u32,
    host: bool,
    proxy: bool,
}

impl Rounds {
    /// True if this one was answered already.
    fn was_answered(&mut self, asker: &Asker) -> &mut bool {
        if *asker == Asker::Proxy { &mut self.proxy } else { &mut self.host }
    }
}

impl Authenticator {
    /// `seed`: of the nonces of this user's own.
    pub fn new(plan: Rc<plan::Session>, seed: u64) -> Authenticator {
        Authenticator { plan, answers: RefCell::new(Answers::new(seed)), seed }
    }

    /// Forgets what it has answered.
    pub fn forget(&self) {
        let seed = self.seed;
        self.answers.replace(Answers::new(seed));
    }

    /// Takes a challenge; true where the request is to be sent again with an answer to it. What was refused once for the
    /// same request is refused again, unless only its nonce was too old.
    pub fn challenge(&self, challenges: &[String], asker: &Asker, rounds: &mut Rounds) -> bool {
        let Some(auth) = self.plan.auth.as_ref().filter(|auth| rounds.count < auth.attempts) else {
            return false;
        };
        let answered = match self.answers.borrow_mut().challenge(challenges, asker, auth) {
            Challenged::Unanswered => false,
            Challenged::Answered => !*rounds.was_answered(asker),
            Challenged::Renewed => true,
        };
        rounds.count += 1;
        *rounds.was_answered(asker) = true;
        answered
    }

    /// True if somebody has asked for a value that covers the bodies of requests (RFC 7616 section 3.4.3).
    pub fn covers_bodies(&self) -> bool {
        self.answers.borrow().known.iter().any(|(_, known)| match known {
            AuthKnown::Basic(_) => false,
            AuthKnown::Digest(digest) => digest.0.covers_bodies(),
        })
    }

    /// The value of the field for a request to somebody who has asked before.
    pub fn value(&self, asker: &Asker, of: &Covered<'_>) -> Option<String> {
        self.answers.borrow_mut().value(asker, of)
    }
}

/// The answers of one user from now on.
#[derive(Debug, Default)]
struct Answers {
    known: Vec<(Asker, AuthKnown)>,
    /// Decides the nonces of this user's own.
    seed: u64,
    drawn: u64,
}

/// Askers that a user remembers at most.
const MOST: usize = 256;

#[derive(Debug)]
enum AuthKnown {
    Basic(String),
    Digest(Box<(Digest, Credentials)>),
}

/// The end of a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Challenged {
    /// Credentials go with the requests that follow.
    Answered,
    /// As before, and what was refused was only an old nonce.
    Renewed,
    /// There is nothing to answer with.
    Unanswered,
}

/// One challenge of a field.
struct Challenge<'a> {
    scheme: &'a str,
    parameters: Vec<(&'a str, String)>,
}

impl Answers {
    /// `seed`: of the nonces of this user's own.
    pub fn new(seed: u64) -> Answers {
        Answers { seed, ..Answers::default() }
    }

    /// Finds an answer to the challenges of an answer's fields, the strongest that both sides speak.
    pub fn challenge(&mut self, fields: &[String], asker: &Asker, auth: &Auth) -> Challenged {
        let challenges: Vec<Challenge<'_>> = fields.iter().flat_map(|field| parse(field)).collect();
        let list = if *asker == Asker::Proxy { &auth.proxy } else { &auth.credentials };
        let fitting = |realm: &str| {
            list.iter().find(|credentials| credentials.realm.as_deref().is_none_or(|wanted| wanted == realm))
        };
        let digests = challenges.iter().filter(|challenge| challenge.is("Digest")).filter_map(|challenge| {
            let digest = Digest::of(|name| challenge.parameter(name))?;
            let credentials = fitting(&digest.realm)?.clone();
            let stale = challenge.parameter("stale").is_some_and(|stale| stale.eq_ignore_ascii_case("true"));
            Some((digest, credentials, stale))
        });
        if let Some((digest, credentials, stale)) = digests.max_by_key(|(digest, ..)| digest.algorithm) {
            self.know(asker, AuthKnown::Digest(Box::new((digest, credentials))));
            return if stale { Challenged::Renewed } else { Challenged::Answered };
        }
        let mut basics = challenges.iter().filter(|challenge| auth.basic && challenge.is("Basic"));
        let found = basics.find_map(|challenge| fitting(challenge.parameter("realm").unwrap_or_default()));
        let Some(credentials) = found else { return Challenged::Unanswered };
        let value = FieldValue::basic(credentials.clone());
        self.know(asker, AuthKnown::Basic(value.text().into_owned()));
        Challenged::Answered
    }

    fn know(&mut self, asker: &Asker, known: AuthKnown) {
        self.known.retain(|(other, _)| other != asker);
        if self.known.len() == MOST {
            self.known.remove(0);
        }
        self.known.push((asker.clone(), known));
    }

    /// The value of the field for a request to somebody who has asked before.
    pub fn value(&mut self, asker: &Asker, of: &Covered<'_>) -> Option<String> {
        let (_, known) = self.known.iter_mut().find(|(other, _)| other == asker)?;
        match known {
            AuthKnown::Basic(value) => Some(value.clone()),
            AuthKnown::Digest(digest) => {
                self.drawn += 1;
                let cnonce = format!("{:016x}", hash(self.seed, self.drawn));
                let (digest, credentials) = &mut **digest;
                let (name, password) = credentials.reveal();
                Some(digest.answer(name, password, of, &cnonce))
            }
        }
    }
}

impl Challenge<'_> {
    fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        let (_, value) = self.parameters.iter().find(|(other, _)| other.eq_ignore_ascii_case(name))?;
        Some(value)
    }
}

/// The challenges of one field, whose commas stand between challenges as well as between parameters.
fn parse(field: &str) -> Vec<Challenge<'_>> {
    let mut found: Vec<Challenge<'_>> = Vec::new();
    let mut rest = field;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return found;
        }
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        match (after.trim_start().strip_prefix('='), found.last_mut()) {
            (Some(value), Some(challenge)) => {
                let (value, after) = value_of(value.trim_start());
                challenge.parameters.push((name, value));
                rest = after;
            }
            // A value that belongs to nobody.
            (Some(value), None) => rest = value,
            (None, _) => {
                found.push(Challenge { scheme: name, parameters: Vec::new() });
                rest = after;
            }
        }
    }
}

/// A token or a quoted string, and what follows it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut escaped = false;
    for (at, character) in quoted.char_indices() {
        match character {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return (value, &quoted[at + 1..]),
            _ => {
                value.push(character);
                escaped = false;
            }
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auth(realm: Option<&str>, basic: bool) -> Auth {
        let credentials = Credentials::new("u", plan::Secret::typed("p:w"));
        let credentials = Credentials { realm: realm.map(str::to_owned), ..credentials };
        Auth { credentials: vec![credentials], basic, ..Auth::default() }
    }

    fn answered(fields: &[&str], auth: &Auth) -> (Challenged, Option<String>) {
        let mut answers = Answers::default();
        let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
        let here = Asker::Host("h:80".to_owned());
        let came = answers.challenge(&fields, &here, auth);
        let of = Covered { method: "GET", uri: "/", body: b"" };
        assert_eq!(answers.value(&Asker::Host("i:80".to_owned()), &of), None);
        assert_eq!(answers.value(&Asker::Proxy, &of), None);
        (came, answers.value(&here, &of))
    }

    #[test]
    fn the_strongest_challenge_is_answered() {
        let md5 = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"";
        let sha = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256";
        let both = format!("Basic realm=\"a, \\\"b\\\"\", {md5}");
        for (fields, scheme) in [
            (vec!["Basic realm=x"], "Basic dTpwOnc="),
            (vec!["basic"], "Basic dTpwOnc="),
            (vec![&both, sha], "SHA-256"),
            (vec![sha, md5], "SHA-256"),
            (vec!["Negotiate abc==, Basic realm=\"x\""], "Basic dTpwOnc="),
            (vec!["Digest realm=\"r\", nonce=\"n\", algorithm=MD4", "Basic realm=\"\""], "Basic dTpwOnc="),
        ] {
            let (came, value) = answered(&fields, &auth(None, true));
            assert_eq!(came, Challenged::Answered);
            assert!(value.as_ref().is_some_and(|value| value.contains(scheme)), "{value:?}");
        }
        for fields in ["Negotiate", "", "=,=", "Basic realm=\"x\", Digest realm=r"] {
            assert_eq!(answered(&[fields], &auth(None, false)), (Challenged::Unanswered, None), "{fields}");
        }
    }

    #[test]
    fn realms_choose_credentials() {
        assert_eq!(answered(&["Basic realm=\"a b\""], &auth(Some("a b"), true)).0, Challenged::Answered);
        assert_eq!(answered(&["Basic realm=\"c\""], &auth(Some("a b"), true)).0, Challenged::Unanswered);
        let stale = "Digest realm=\"r\", nonce=\"n\", stale=TRUE";
        assert_eq!(answered(&[stale], &auth(None, true)).0, Challenged::Renewed);
    }
}
