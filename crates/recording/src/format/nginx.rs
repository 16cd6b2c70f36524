//! nginx's log_format, as a string or out of a configuration.

use super::dialect::Compiled;
use super::field::{AbortForm, Field, TimeForm, Unit};
use super::template::FormatPiece;
use crate::entry::{Edge, Escape};

/// nginx's own format.
pub const COMBINED: &str = "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\"";

/// Compiles a log_format; `escape` as nginx has it.
///
/// # Errors
/// In words.
pub fn compile(format: &str, escape: Escape) -> Result<Compiled, String> {
    let mut compiled = Compiled::new(escape, Edge::End);
    let mut rest = format;
    while let Some(at) = rest.find('$') {
        compiled.literal(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, length) = match after.strip_prefix('{') {
            Some(inner) => {
                let end = inner.find('}').ok_or("a brace of a variable is not closed")?;
                (&inner[..end], end + 2)
            }
            None => {
                let end =
                    after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
                (&after[..end], end)
            }
        };
        if name.is_empty() {
            return Err("a $ stands for itself, which no log_format can say".to_owned());
        }
        compiled.push(FormatPiece::field(variable(name), format!("${name}")));
        rest = &after[length..];
    }
    compiled.literal(rest);
    Ok(compiled)
}

fn variable(name: &str) -> Field {
    match name {
        "remote_addr" | "proxy_protocol_addr" | "binary_remote_addr" => Field::Address,
        "http_x_forwarded_for" | "http_x_real_ip" => Field::Forwarded,
        "time_local" => Field::Time(TimeForm::Clf),
        "time_iso8601" => Field::Time(TimeForm::Iso),
        "msec" => Field::Time(TimeForm::Seconds),
        "request" => Field::Line,
        "request_method" => Field::Method,
        "request_uri" => Field::Target,
        "uri" | "document_uri" => Field::Path,
        "args" | "query_string" => Field::Query,
        "host" | "http_host" | "server_name" => Field::Host,
        "server_protocol" => Field::Protocol,
        "status" => Field::Status,
        "body_bytes_sent" => Field::BodyBytes,
        "bytes_sent" => Field::SentBytes,
        "request_time" => Field::Duration(Unit::Seconds),
        "upstream_response_time" => Field::Upstream(Unit::Seconds),
        "upstream_cache_status" => Field::Cache,
        "request_completion" => Field::Aborted(AbortForm::Completion),
        "connection" => Field::Connection,
        name => match (
            name.strip_prefix("http_"),
            name.strip_prefix("sent_http_"),
            name.strip_prefix("upstream_http_"),
        ) {
            (Some(field), _, _) => Field::of_request(&field.replace('_', "-")),
            (_, Some(field), _) | (_, _, Some(field)) => Field::of_answer(&field.replace('_', "-")),
            (None, None, None) => Field::Skip,
        },
    }
}

/// A log_format of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFormat {
    /// Its name.
    pub name: String,
    /// Its text, pieces joined.
    pub text: String,
    /// How texts are escaped.
    pub escape: Escape,
}

/// All log_formats that a configuration's text has; files that it includes are the caller's to read.
///
/// # Errors
/// In words, where a quote is not closed.
pub fn log_formats(configuration: &str) -> Result<Vec<LogFormat>, String> {
    let tokens = tokens(configuration)?;
    let mut found = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some(at) = rest.iter().position(|token| *token == NginxToken::Word("log_format".to_owned())) {
        let end =
            rest[at..].iter().position(|token| *token == NginxToken::End).map_or(rest.len(), |end| at + end);
        let words: Vec<&str> = rest[at + 1..end].iter().filter_map(NginxToken::word).collect();
        rest = &rest[end..];
        let Some((name, mut texts)) = words.split_first() else { continue };
        let mut escape = Escape::Backslash;
        if let Some((first, more)) = texts.split_first()
            && let Some(kind) = first.strip_prefix("escape=")
        {
            escape = match kind {
                "json" => Escape::Json,
                "none" => Escape::None,
                _ => Escape::Backslash,
            };
            texts = more;
        }
        found.push(LogFormat { name: (*name).to_owned(), text: texts.concat(), escape });
    }
    Ok(found)
}

/// Finds one by its name; `combined` is always there.
///
/// # Errors
/// In words, with the names that there are.
pub fn named(configuration: &str, name: &str) -> Result<LogFormat, String> {
    let found = log_formats(configuration)?;
    if let Some(format) = found.iter().find(|format| format.name == name) {
        return Ok(format.clone());
    }
    if name == "combined" {
        return Ok(LogFormat { name: name.to_owned(), text: COMBINED.to_owned(), escape: Escape::Backslash });
    }
    let names: Vec<&str> = found.iter().map(|format| format.name.as_str()).collect();
    Err(match names.is_empty() {
        true => format!("it has no log_format '{name}', nor any other (files that it includes are not read)"),
        false => format!("it has no log_format '{name}'; it has {}", names.join(", ")),
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum NginxToken {
    Word(String),
    End,
}

impl NginxToken {
    fn word(&self) -> Option<&str> {
        match self {
            NginxToken::Word(word) => Some(word),
            NginxToken::End => None,
        }
    }
}

/// Words, quoted or not, and the ends of directives.
fn tokens(text: &str) -> Result<Vec<NginxToken>, String> {
    let mut found = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '#' => drop(letters.by_ref().find(|letter| *letter == '\n')),
            ';' | '{' | '}' => found.push(NginxToken::End),
            letter if letter.is_whitespace() => {}
            '\'' | '"' => {
                let mut word = String::new();
                loop {
                    match letters.next() {
                        None => {
                            return Err(format!(
                                "the quote before '{}' is not closed",
                                word.chars().take(20).collect::<String>()
                            ));
                        }
                        Some(end) if end == letter => break,
                        Some('\\') => match letters.next() {
                            Some(quoted @ ('\'' | '"' | '\\')) => word.push(quoted),
                            Some('t') => word.push('\t'),
                            Some(other) => word.extend(['\\', other]),
                            None => word.push('\\'),
                        },
                        Some(other) => word.push(other),
                    }
                }
                found.push(NginxToken::Word(word));
            }
            first => {
                let mut word = String::from(first);
                // `${name}` belongs to the word.
                while let Some(next) = letters.peek().copied() {
                    let in_name = next == '{' && word.ends_with('$') || next == '}' && word.contains("${");
                    if !in_name && (next.is_whitespace() || matches!(next, ';' | '{' | '}')) {
                        break;
                    }
                    word.push(next);
                    letters.next();
                }
                found.push(NginxToken::Word(word));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIGURATION: &str = r#"
        # log_format ghost '$x';
        http {
            log_format  main  '$remote_addr - $remote_user [$time_local] "$request" '
                              '$status $body_bytes_sent "${http_referer}"';
            log_format json escape=json '{"t":"$msec","r":"$request"}';
            server { location / { return 200 "log_format;"; } }
        }"#;

    #[test]
    fn formats_are_found_in_a_configuration() {
        let main = named(CONFIGURATION, "main").unwrap();
        assert_eq!(
            main.text,
            "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"${http_referer}\""
        );
        assert_eq!(named(CONFIGURATION, "json").unwrap().escape, Escape::Json);
        assert_eq!(named(CONFIGURATION, "combined").unwrap().text, COMBINED);
        assert!(named(CONFIGURATION, "ghost").unwrap_err().ends_with("it has main, json"));
        assert!(named("", "x").unwrap_err().contains("nor any other"));
        assert!(log_formats("log_format x 'abc").unwrap_err().contains("not closed"));
    }

    #[test]
    fn variables_are_known_by_name() {
        for (name, field) in [
            ("http_range", Field::Range),
            ("sent_http_cache_control", Field::CacheControl),
            ("upstream_http_expires", Field::Expires),
            ("upstream_addr", Field::Skip),
            ("request_time", Field::Duration(Unit::Seconds)),
        ] {
            assert_eq!(variable(name), field, "{name}");
        }
    }
}
