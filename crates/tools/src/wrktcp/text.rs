//! Texts with placeholders: `$(NAME)` for a parameter, `$(length)` for the length of the message.

use super::ini::{At, Ini, Mistake};

/// Placeholders of a text at most.
const LIMIT: usize = 10_000;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrktcpPiece {
    /// Bytes that stay.
    Text(Vec<u8>),
    /// The value of the parameter with this index.
    Parameter(usize),
    /// The length of the message.
    Length,
}

/// Takes a text apart.
///
/// # Errors
/// A placeholder without end or name, or a name that is no parameter: each in words, and where it begins.
pub fn pieces(text: &[u8], ini: &Ini) -> Result<Vec<WrktcpPiece>, Vec<(usize, String)>> {
    let mut pieces = Vec::new();
    let mut wrong = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"$(") {
        let before = &rest[..at];
        let inside = &rest[at + 2..];
        let offset = text.len() - rest.len() + at;
        if pieces.len() + wrong.len() > 2 * LIMIT {
            wrong.push((offset, format!("more than {LIMIT} placeholders")));
            return Err(wrong);
        }
        if !before.is_empty() {
            pieces.push(WrktcpPiece::Text(before.to_vec()));
        }
        let Some(end) = inside.iter().position(|byte| *byte == b')') else {
            let shown = String::from_utf8_lossy(&rest[at..rest.len().min(at + 20)]);
            wrong.push((offset, format!("'{shown}' has no )")));
            rest = &[];
            break;
        };
        let name = &inside[..end];
        match ini.parameters.iter().position(|given| given.name == name) {
            Some(index) => pieces.push(WrktcpPiece::Parameter(index)),
            None if name == b"length" => pieces.push(WrktcpPiece::Length),
            None if name.is_empty() => wrong.push((offset, "$() names no parameter".to_owned())),
            None => wrong.push((offset, unknown(&String::from_utf8_lossy(name)))),
        }
        rest = &inside[end + 1..];
    }
    if !rest.is_empty() {
        pieces.push(WrktcpPiece::Text(rest.to_vec()));
    }
    if wrong.is_empty() { Ok(pieces) } else { Err(wrong) }
}

fn unknown(name: &str) -> String {
    let name: String = name.chars().take(40).collect();
    format!("there is no parameter {name} for $({name}): define it under [parameters]")
}

/// Finds what is wrong with the placeholders of a file.
pub(super) fn check(ini: &Ini, mistakes: &mut Vec<Mistake>) {
    let texts = ini.requests.iter().flat_map(|request| request.heads.iter().chain(&request.body));
    for At { line, value } in texts.chain(&ini.http_line) {
        for (at, what) in pieces(value, ini).err().unwrap_or_default() {
            // A value keeps its line ends, one for each line of the file.
            let below = value[..at].iter().filter(|byte| **byte == b'\n').count();
            mistakes.push(Mistake { line: line + below, what });
        }
    }
}
