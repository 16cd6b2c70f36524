//! Cookies by the rules of Apache HttpClient 4.5, whose names the policies of JMeter's Cookie Managers are. What is taken and sent
//! was seen of JMeter 5.6.3. Time is an argument.

use super::date::Date;
use super::jar::{JarKept, Reach, default_path, is_below};
use plan::{Address, CookieRules};

/// How a field is taken apart, and what of it is heeded.
struct Grammar {
    quotes: Quotes,
    /// Commas part cookies.
    is_list: bool,
    expires: Expires,
    age: Age,
    domains: Domains,
}

/// Quotation marks that do not belong to what stands between them.
#[derive(Clone, Copy, PartialEq)]
enum Quotes {
    None,
    /// Those around the value of the cookie.
    Value,
    /// Those of its attributes as well.
    All,
}

#[derive(Clone, Copy)]
enum Expires {
    Ignored,
    /// A date that cannot be read refuses the cookie.
    Read,
    /// Only `06-Nov-2044` is a date.
    Dashed,
}

#[derive(Clone, Copy)]
enum Age {
    Ignored,
    /// A text that is no number is left out, or refuses the cookie.
    Read {
        refuses: bool,
    },
}

#[derive(Clone, Copy)]
enum Domains {
    /// Any that the host lies below.
    Any,
    /// One that holds a dot.
    Dotted,
    Netscape,
    Rfc2109,
}

const NETSCAPE: Grammar = Grammar {
    quotes: Quotes::None,
    is_list: false,
    expires: Expires::Dashed,
    age: Age::Ignored,
    domains: Domains::Netscape,
};

const RFC2109: Grammar = Grammar {
    quotes: Quotes::All,
    is_list: true,
    expires: Expires::Ignored,
    age: Age::Read { refuses: true },
    domains: Domains::Rfc2109,
};

impl Grammar {
    /// Of a field, by the rules; none by RFC 6265, which the jar itself reads.
    fn of(rules: CookieRules, field: &str) -> Option<Grammar> {
        let standard = |refuses| Grammar {
            quotes: Quotes::Value,
            is_list: false,
            expires: Expires::Read,
            age: Age::Read { refuses },
            domains: Domains::Any,
        };
        Some(match rules {
            CookieRules::Rfc6265 => return None,
            CookieRules::HttpclientStandard => standard(false),
            CookieRules::HttpclientStrict => standard(true),
            CookieRules::HttpclientNetscape => NETSCAPE,
            CookieRules::HttpclientRfc2109 => RFC2109,
            CookieRules::HttpclientDefault => {
                let names: Vec<String> = pieces(field, ';', true).iter().map(|piece| piece.name()).collect();
                let has = |name: &str| names.iter().skip(1).any(|known| known == name);
                match has("version") && !has("expires") {
                    true => RFC2109,
                    false => Grammar { domains: Domains::Dotted, ..NETSCAPE },
                }
            }
        })
    }
}

/// The cookies of a Set-Cookie field that these rules take; those without a value end one that is there.
pub(super) fn read(rules: CookieRules, field: &str, from: &Address, now: i64) -> Vec<JarKept> {
    let Some(grammar) = Grammar::of(rules, field) else { return Vec::new() };
    let all = match grammar.is_list {
        true => pieces(field, ',', true).into_iter().map(|piece| piece.whole).collect(),
        false => vec![field],
    };
    all.into_iter().filter_map(|one| cookie(&grammar, one, from, now)).collect()
}

fn cookie(grammar: &Grammar, field: &str, from: &Address, now: i64) -> Option<JarKept> {
    let all = pieces(field, ';', grammar.quotes != Quotes::None);
    let (first, attributes) = all.split_first()?;
    let (name, value) = first.whole.split_once('=')?;
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    let text = |value: &str, quotes| if quotes { unquoted(value) } else { value.trim().to_owned() };
    let said = |name: &str| attributes.iter().rev().find(|piece| piece.name() == name);
    let value_of = |name: &str| said(name).map(|piece| text(piece.value(), grammar.quotes == Quotes::All));
    let path = value_of("path").filter(|path| !path.is_empty());
    let owner = grammar.domains.owner(value_of("domain").filter(|domain| !domain.is_empty()), from)?;
    let mut expires = match (grammar.expires, value_of("expires")) {
        (Expires::Ignored, _) | (_, None) => None,
        (Expires::Read, Some(date)) => Some(Date::read(&date)?.seconds),
        (Expires::Dashed, Some(date)) => Some(Date::read(&date).filter(|date| date.is_dashed)?.seconds),
    };
    let age = value_of("max-age").map(|age| age.parse::<i64>());
    match (grammar.age, age) {
        (Age::Ignored, _) | (Age::Read { .. }, None) | (Age::Read { refuses: false }, Some(Err(_))) => {}
        (Age::Read { .. }, Some(Ok(age))) => expires = Some(now.saturating_add(age)),
        (Age::Read { refuses: true }, Some(Err(_))) => return None,
    }
    Some(JarKept {
        name: name.to_owned(),
        value: text(value, grammar.quotes != Quotes::None),
        says_path: path.is_some(),
        path: path.unwrap_or_else(|| default_path(&from.path)),
        secure: said("secure").is_some(),
        expires,
        version: value_of("version").and_then(|version| version.parse().ok()).unwrap_or(0),
        ..owner
    })
}

impl Domains {
    /// A cookie that goes where the domain says, which a host has set; `None` where it may not.
    fn owner(self, said: Option<String>, from: &Address) -> Option<JarKept> {
        let host = from.host.to_ascii_lowercase();
        let Some(said) = said else {
            let is_taken = !matches!(self, Domains::Netscape) || has_parts(&host, &host);
            return is_taken.then(|| JarKept { domain: host, reach: Reach::Host, ..JarKept::default() });
        };
        let said = said.to_ascii_lowercase();
        let bare = said.trim_start_matches('.');
        let below = bare == host || is_below(&host, bare);
        let (domain, reach) = match self {
            Domains::Any if below => (bare, Reach::Below),
            Domains::Dotted if below && (bare == host || bare.contains('.')) => (bare, Reach::Below),
            Domains::Netscape if below && has_parts(&host, &said) => (said.as_str(), Reach::Ends),
            Domains::Rfc2109 if said == host => (bare, Reach::Host),
            Domains::Rfc2109 if is_of_rfc2109(&host, &said) => (said.as_str(), Reach::Ends),
            Domains::Any | Domains::Dotted | Domains::Netscape | Domains::Rfc2109 => return None,
        };
        Some(JarKept { domain: domain.to_owned(), reach, says_domain: true, ..JarKept::default() })
    }
}

/// The domains that Netscape's rules let have two parts; others have three.
const SPECIAL: [&str; 7] = ["com", "edu", "net", "gov", "mil", "org", "int"];

fn has_parts(host: &str, domain: &str) -> bool {
    let parts = || domain.split('.').filter(|part| !part.is_empty());
    let is_special = parts().next_back().is_some_and(|last| SPECIAL.contains(&last));
    !host.contains('.') || parts().count() >= if is_special { 2 } else { 3 }
}

fn is_of_rfc2109(host: &str, said: &str) -> bool {
    let inner = said.strip_prefix('.').is_some_and(|bare| bare.trim_end_matches('.').contains('.'));
    inner && host.strip_suffix(said).is_some_and(|below| !below.is_empty() && !below.contains('.'))
}

/// A part of a field, between separators.
struct RulePiece<'a> {
    whole: &'a str,
}

impl RulePiece<'_> {
    fn name(&self) -> String {
        let name = self.whole.split_once('=').map_or(self.whole, |(name, _)| name);
        name.trim().to_ascii_lowercase()
    }

    fn value(&self) -> &str {
        self.whole.split_once('=').map_or("", |(_, value)| value)
    }
}

/// The parts of a field. `quotes`: separators between quotation marks are none.
fn pieces(field: &str, separator: char, quotes: bool) -> Vec<RulePiece<'_>> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    let parted = field.split(move |char| {
        let was_escaped = is_escaped;
        is_escaped = is_quoted && char == '\\' && !was_escaped;
        is_quoted ^= quotes && char == '"' && !was_escaped;
        char == separator && !is_quoted
    });
    parted.map(|whole| RulePiece { whole }).collect()
}

/// A value without the quotation marks around it, and what was escaped in them as it is.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    let Some(inner) = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) else {
        return value.to_owned();
    };
    let mut chars = inner.chars();
    let mut text = String::new();
    while let Some(next) = chars.next() {
        text.extend(if next == '\\' { chars.next() } else { Some(next) });
    }
    text
}

/// The value of the Cookie field for cookies that fit, in the order in which they came.
pub(super) fn written(rules: CookieRules, mut fitting: Vec<&JarKept>) -> String {
    let least = fitting.iter().map(|kept| kept.version).min().unwrap_or(0);
    let is_plain =
        rules == CookieRules::HttpclientNetscape || rules == CookieRules::HttpclientDefault && least == 0;
    if !is_plain {
        fitting.sort_by_key(|kept| std::cmp::Reverse(kept.path.len()));
    }
    let each =
        |write: fn(&JarKept) -> String| fitting.iter().map(|kept| write(kept)).collect::<Vec<String>>();
    match rules {
        CookieRules::HttpclientDefault if !is_plain => {
            // Each is a field of its own there, and JMeter writes them without anything between.
            let one = |kept: &&JarKept| {
                format!("$Version={}; {}", kept.version, with_attributes(kept, kept.version))
            };
            fitting.iter().map(one).collect()
        }
        CookieRules::HttpclientRfc2109 if !fitting.is_empty() => {
            let all = fitting.iter().map(|kept| format!("; {}", with_attributes(kept, least)));
            format!("$Version={least}{}", all.collect::<String>())
        }
        CookieRules::HttpclientStandard | CookieRules::HttpclientStrict => {
            each(|kept| format!("{}={}", kept.name, quoted_where_special(&kept.value))).join("; ")
        }
        CookieRules::Rfc6265
        | CookieRules::HttpclientDefault
        | CookieRules::HttpclientNetscape
        | CookieRules::HttpclientRfc2109 => each(|kept| format!("{}={}", kept.name, kept.value)).join("; "),
    }
}

fn with_attributes(kept: &JarKept, version: u32) -> String {
    let text = |value: &str| if version > 0 { format!("\"{value}\"") } else { value.to_owned() };
    let mut written = format!("{}={}", kept.name, text(&kept.value));
    if kept.says_path {
        written += &format!("; $Path={}", text(&kept.path));
    }
    if kept.says_domain {
        written += &format!("; $Domain={}", text(&kept.domain));
    }
    written
}

fn quoted_where_special(value: &str) -> String {
    if !value.contains([' ', '"', ',', ';', '\\']) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}
