//! Checks that answers must pass: options, and what they mean.

use clap::Args;
use plan::answer::{Check, Must, json_path};
use plan::{Expect, ExpectBody, Status, units};

/// Checks that answers must pass.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Checks")]
pub struct ExpectArgs {
    /// Statuses that are good, such as 200,204 or 2xx [default: all below 400]
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = Status::parse)]
    pub expect_status: Vec<Status>,
    /// Bodies must be: complete, same-length or same (byte for byte) as the first answer's [default: complete]
    #[arg(long, value_name = "WHAT", value_parser = expect_body)]
    pub expect_body: Option<ExpectBody>,
    /// A header field: 'NAME' is there, '!NAME' is not, 'NAME: VALUE' is equal, 'NAME~REGEX' matches
    #[arg(long = "expect-header", value_name = "CHECK", value_parser = header)]
    pub header_checks: Vec<Check>,
    /// The body contains this text
    #[arg(long = "expect-text", value_name = "TEXT")]
    pub texts: Vec<String>,
    /// The body matches this regular expression
    #[arg(long = "expect-match", value_name = "REGEX")]
    pub patterns: Vec<String>,
    /// The body is JSON: PATH (a.b[0].c) is there, !PATH is not, PATH=VALUE is equal, PATH~REGEX matches
    #[arg(long = "expect-json", value_name = "CHECK", value_parser = json)]
    pub json_checks: Vec<Check>,
    /// The body has this many bytes: 1000, 1KB..2KB
    #[arg(long, value_name = "SIZE", value_parser = length)]
    pub expect_length: Option<Check>,
    /// The body's SHA-256 digest, in hexadecimal
    #[arg(long, value_name = "DIGEST")]
    pub expect_sha256: Option<String>,
    /// Ask for gzip, br or zstd, and decode what comes; a body that cannot be decoded is a fault
    #[arg(long)]
    pub compressed: bool,
}

impl ExpectArgs {
    /// Returns the expectations that these options describe.
    pub(super) fn expect(&self) -> Expect {
        let text = |text: &String| Check::of_body(Must::Contain(text.as_str().into()));
        let pattern = |pattern: &String| Check::of_body(Must::Match(pattern.clone()));
        let digest = |digest: &String| Check::of_body(Must::HaveSha256(digest.clone()));
        let checks = self.header_checks.iter().cloned();
        let checks = checks.chain(self.texts.iter().map(text)).chain(self.patterns.iter().map(pattern));
        let checks = checks.chain(self.json_checks.iter().cloned()).chain(self.expect_length.iter().cloned());
        Expect {
            statuses: self.expect_status.clone(),
            body: self.expect_body.unwrap_or_default(),
            checks: checks.chain(self.expect_sha256.iter().map(digest)).collect(),
            decode: self.compressed,
            ..Expect::default()
        }
    }
}

fn expect_body(text: &str) -> Result<ExpectBody, String> {
    match text {
        "complete" => Ok(ExpectBody::Complete),
        "same-length" => Ok(ExpectBody::SameLength),
        "same" => Ok(ExpectBody::Same),
        _ => Err("give complete, same-length or same".to_owned()),
    }
}

/// A name, what divides it from a value, and what the value must be.
fn check(text: &str, equal: char) -> (&str, Must) {
    if let Some(name) = text.strip_prefix('!') {
        return (name.trim(), Must::BeAbsent);
    }
    match text.find([equal, '~']) {
        None => (text.trim(), Must::Exist),
        Some(at) if text[at..].starts_with('~') => {
            (text[..at].trim(), Must::Match(text[at + 1..].to_owned()))
        }
        Some(at) => (text[..at].trim(), Must::Equal(text[at + 1..].trim().into())),
    }
}

fn header(text: &str) -> Result<Check, String> {
    let (name, must) = check(text, ':');
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err("give 'NAME', '!NAME', 'NAME: VALUE' or 'NAME~REGEX', such as 'ETag' or 'Vary: Accept'"
            .to_owned());
    }
    Ok(Check::of_header(name, must))
}

fn json(text: &str) -> Result<Check, String> {
    let (path, must) = check(text, '=');
    json_path(path)?;
    Ok(Check::of_json(path, must))
}

fn length(text: &str) -> Result<Check, String> {
    let size = |text: &str| units::size(text).map_err(|error| error.to_string());
    let (min, max) = text.split_once("..").unwrap_or((text, text));
    Ok(Check::of_body(Must::HaveLength { min: size(min)?, max: size(max)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_of_header_fields() {
        let text = |text: &str| text.to_owned();
        for (typed, name, must) in [
            ("ETag", "ETag", Must::Exist),
            ("!Via", "Via", Must::BeAbsent),
            ("Vary: a b", "Vary", Must::Equal("a b".into())),
            ("Age~^[0-9]+:?$", "Age", Must::Match(text("^[0-9]+:?$"))),
            ("Date: a~b", "Date", Must::Equal("a~b".into())),
        ] {
            assert_eq!(header(typed), Ok(Check::of_header(name, must)), "{typed}");
        }
        assert!(header("").is_err() && header("a b").is_err() && header(": x").is_err());
    }

    #[test]
    fn checks_of_json_and_length() {
        assert_eq!(json("a.b[0]=1"), Ok(Check::of_json("a.b[0]", Must::Equal("1".into()))));
        assert_eq!(json("/a/b=1"), Ok(Check::of_json("/a/b", Must::Equal("1".into()))));
        assert_eq!(json("!a"), Ok(Check::of_json("a", Must::BeAbsent)));
        assert!(json("a..b=1").is_err());
        let range = |min, max| Ok(Check::of_body(Must::HaveLength { min, max }));
        assert_eq!(length("1KB..2KB"), range(1000, 2000));
        assert_eq!(length("7"), range(7, 7));
    }
}
