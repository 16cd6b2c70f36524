//! Values as people type them at wringer's own command line; each refusal is a sentence that says what form is wanted.

use clap::builder::{PathBufValueParser, TypedValueParser};
use plan::secret::without_userinfo;
use plan::site::{Freshness, Keys, Lifetime, Size, VaryForm, VaryOn, VersionSize};
use plan::template::{TemplateAddress, is_template};
use plan::units::{self, UnitError};
use plan::{
    Address, Arrivals, CheckContent, CloseBy, Endpoint, Field, Masked, RequestForm, Secret, TextForm,
};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

type Read<T> = Result<T, String>;

fn unit<T>(read: Result<T, UnitError>) -> Read<T> {
    read.map_err(|error| error.to_string())
}

/// A count that fits 32 bits.
pub(super) fn count32(text: &str) -> Read<u32> {
    let count = unit(units::count(text))?;
    u32::try_from(count).map_err(|_| format!("'{text}' is too large"))
}

/// A count of at least one.
pub(super) fn at_least_one(text: &str) -> Read<u64> {
    match unit(units::count(text))? {
        0 => Err(format!("'{text}' would be nothing: give at least 1")),
        count => Ok(count),
    }
}

/// A size of at least one byte.
pub(super) fn some_bytes(text: &str) -> Read<u64> {
    match unit(units::size(text))? {
        0 => Err(format!("'{text}' would be nothing: give at least one byte, such as 100MB")),
        bytes => Ok(bytes),
    }
}

/// A duration that is longer than nothing.
pub(super) fn some_time(text: &str) -> Read<Duration> {
    let duration = unit(units::duration(text))?;
    if duration.is_zero() {
        return Err(format!("'{text}' would be over at once: give a time such as 500ms or 10s"));
    }
    Ok(duration)
}

/// A plain whole number in a range.
fn whole<T: FromStr + PartialOrd + std::fmt::Display>(text: &str, least: T, most: T) -> Read<T> {
    let number = text.trim().parse::<T>().ok().filter(|number| (&least..=&most).contains(&number));
    number.ok_or_else(|| format!("'{text}' is not a whole number from {least} to {most}"))
}

/// A name and its value.
pub(super) fn assignment(text: &str) -> Read<(String, String)> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("'{text}' is not NAME=VALUE"))?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// The way in which answers say for how long they may be kept.
pub(super) fn freshness(text: &str) -> Read<Freshness> {
    let names = Freshness::ALL.map(Freshness::name);
    let found = Freshness::ALL.into_iter().find(|one| one.name() == text);
    found.ok_or_else(|| format!("'{text}' is no way to say a lifetime: give {}", names.join(", ")))
}

/// How addresses are spelled.
pub(super) fn keys(text: &str) -> Read<Keys> {
    let names = Keys::ALL.map(Keys::name);
    let found = Keys::ALL.into_iter().find(|one| one.name() == text);
    found.ok_or_else(|| format!("'{text}' is no way to spell addresses: give {}", names.join(" or ")))
}

/// How Vary names the fields that choose a variant.
pub(super) fn vary_form(text: &str) -> Read<VaryForm> {
    let names = VaryForm::ALL.map(VaryForm::name);
    let found = VaryForm::ALL.into_iter().find(|one| one.name() == text);
    found.ok_or_else(|| format!("'{text}' is no form of Vary: give {}", names.join(", ")))
}

/// The length of a version.
pub(super) fn version_size(text: &str) -> Read<VersionSize> {
    let names = VersionSize::ALL.map(VersionSize::name);
    let found = VersionSize::ALL.into_iter().find(|one| one.name() == text);
    found.ok_or_else(|| format!("'{text}' is no length of a version: give {}", names.join(", ")))
}

/// A form of plan files.
pub(super) fn text_form(text: &str) -> Read<TextForm> {
    match text {
        "toml" => Ok(TextForm::Toml),
        "json" => Ok(TextForm::Json),
        "yaml" => Ok(TextForm::Yaml),
        _ => Err(format!("'{text}' is no form of plan files: give toml, json or yaml")),
    }
}

/// Workers; how few are too few is the plan's to say.
pub(super) fn threads(text: &str) -> Read<u16> {
    whole(text, 0, u16::MAX)
}

/// Workers of a rig.
pub(super) fn rig_workers(text: &str) -> Read<u16> {
    whole(text, 1, 64)
}

/// Variants of an object.
pub(super) fn variants(text: &str) -> Read<u32> {
    whole(text, 0, 1_000_000)
}

/// Origins of a farm.
pub(super) fn origins(text: &str) -> Read<u32> {
    whole(text, 1, 100_000)
}

/// Ports of each origin of a farm.
pub(super) fn ports(text: &str) -> Read<u16> {
    whole(text, 1, u16::MAX)
}

/// The status of an error; which ones are errors is the plan's to say.
pub(super) fn status(text: &str) -> Read<u16> {
    whole(text, 100, 599)
}

/// A seed, in decimal or as reports of other tools have it, in hexadecimal with 0x.
pub(super) fn seed(text: &str) -> Read<u64> {
    let read = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // The sign that the number could have is none of a seed.
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16),
        _ => text.parse(),
    };
    read.map_err(|_| format!("'{text}' is not a seed: give a whole number below 2^64, such as 42 or 0x2a"))
}

/// A Zipf exponent.
pub(super) fn zipf(text: &str) -> Read<f64> {
    let alpha = text.parse::<f64>().ok().filter(|alpha| (0.0..=10.0).contains(alpha));
    alpha.ok_or_else(|| {
        format!("'{text}' is not a Zipf exponent: give a number from 0 to 10, commonly 0.6 to 1.2")
    })
}

/// How often something happens in an hour.
pub(super) fn per_hour(text: &str) -> Read<f64> {
    let often = text.parse::<f64>().ok().filter(|often| (0.0..=1e6).contains(often));
    often.ok_or_else(|| format!("'{text}' is not a number of times per hour, such as 6 or 0.5"))
}

/// An address to listen at. A bare port, or one of `localhost`, is on 127.0.0.1: no name is ever looked up for it.
pub(super) fn address(text: &str) -> Read<SocketAddr> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| {
        format!("'{text}' is not an IP address with a port: give 127.0.0.1:9080, [::1]:9080, or a port alone")
    })
}

/// A service, `host:port`; an IPv6 address in brackets.
pub(super) fn target(text: &str) -> Read<String> {
    let endpoint = host_and_port(text)?;
    if endpoint.credentials.is_some() {
        let shown = Masked::address(text);
        return Err(format!(
            "'{shown}': a TCP service is given no name and password before its host: give HOST:PORT"
        ));
    }
    Ok(endpoint.with_port(0))
}

/// An address that names its port.
pub(super) fn host_and_port(text: &str) -> Read<Endpoint> {
    let endpoint = Endpoint::read(text).map_err(|fault| fault.to_string())?;
    match endpoint.port {
        Some(_) => Ok(endpoint),
        None => {
            let shown = Masked::address(text);
            Err(format!("'{shown}' names no port: give HOST:PORT, such as localhost:8080 or [::1]:8080"))
        }
    }
}

/// How arrivals are spread.
pub(super) fn arrivals(text: &str) -> Read<Arrivals> {
    match text {
        "even" => Ok(Arrivals::Even),
        "poisson" => Ok(Arrivals::Poisson),
        "each-second" => Ok(Arrivals::EachSecond),
        _ => {
            let size =
                text.strip_prefix("bursts:").and_then(|size| count32(size).ok()).filter(|size| *size > 0);
            size.map(Arrivals::Bursts)
                .ok_or_else(|| "give even, poisson, bursts:N (such as bursts:50) or each-second".to_owned())
        }
    }
}

/// The form of requests.
pub(super) fn form(text: &str) -> Read<RequestForm> {
    match text {
        "reverse" => Ok(RequestForm::Reverse),
        "forward" => Ok(RequestForm::Forward),
        "transparent" => Ok(RequestForm::Transparent),
        _ => Err("give reverse, forward or transparent".to_owned()),
    }
}

/// The number of a process.
pub(super) fn pid(text: &str) -> Read<u32> {
    text.parse().map_err(|_| format!("'{text}' is not the number of a process such as 4711: see ps -e"))
}

/// Requests per second, and some.
pub(super) fn some_rate(text: &str) -> Read<f64> {
    match units::rate(text).map_err(|error| error.to_string())? {
        rate if rate > 0.0 => Ok(rate),
        _ => Err("no requests at all say nothing: give a rate such as 1000/s".to_owned()),
    }
}

/// How clients end connections.
pub(super) fn close(text: &str) -> Read<CloseBy> {
    match text {
        "fin" => Ok(CloseBy::Fin),
        "reset" | "rst" => Ok(CloseBy::Reset),
        _ => Err("give fin or reset".to_owned()),
    }
}

/// How much of a body is compared.
pub(super) fn check_content(text: &str) -> Read<CheckContent> {
    match text {
        "all" => Ok(CheckContent::All),
        "prefix" => Ok(CheckContent::Prefix),
        "nothing" => Ok(CheckContent::Nothing),
        _ => Err("give all, prefix or nothing".to_owned()),
    }
}

/// The field that chooses the variant.
pub(super) fn vary_on(text: &str) -> Read<VaryOn> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "cookie" => VaryOn::Cookie,
        "user-agent" => VaryOn::UserAgent,
        "coding" => VaryOn::Coding,
        _ => VaryOn::Field(field_name(text)?),
    })
}

/// The name of a field that chooses.
pub(super) fn field_name(text: &str) -> Read<String> {
    if text.is_empty() || text.contains([':', ' ', ',']) {
        return Err("give a field name such as X-Variant".to_owned());
    }
    Ok(text.to_owned())
}

/// A URL as it is typed: `http://` may be left out, and placeholders stay as they are.
pub(super) fn url(text: &str) -> Result<String, String> {
    let has_scheme = text.contains("://") || has_broken_scheme(text);
    let whole = if has_scheme { text.to_owned() } else { format!("http://{text}") };
    if is_template(text.as_bytes()) {
        return TemplateAddress::parse(&whole).map(|_| whole);
    }
    match Address::read(&whole) {
        // The user name and password of a URL go on to the request that is made of it.
        Ok(_) if without_userinfo(&whole) != whole => Ok(whole),
        Ok(address) => Ok(address.text),
        Err(fault) => Err(fault.of(text).to_string()),
    }
}

/// True for what begins as a URL of a web server, and goes on otherwise: `http//h`, `http;//h`, `http:/h`, `https:h`. `http:8080` is a host with a
/// port.
fn has_broken_scheme(text: &str) -> bool {
    let rest = text.strip_prefix("https").or_else(|| text.strip_prefix("http"));
    rest.is_some_and(|rest| match rest.strip_prefix(':') {
        Some(behind) => !behind.starts_with(|first: char| first.is_ascii_digit()),
        // Nothing, or a neighbour of the colon.
        None => rest.trim_start_matches([';', '.', ',']).starts_with("//"),
    })
}

/// A header field.
pub(super) fn field(text: &str) -> Read<Field> {
    let (name, value) =
        text.split_once(':').ok_or("write a colon behind the name of a field, as in 'Name: value'")?;
    if value.starts_with("//") {
        return Err("give a field as 'Name: value'".to_owned());
    }
    Field::read(name.trim(), value.trim()).map_err(|error| error.to_string())
}

/// A method: a token (RFC 9110 section 9.1).
pub(super) fn method(text: &str) -> Read<String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_token) {
        return Err("give a method such as GET or POST".to_owned());
    }
    Ok(text.to_owned())
}

/// Reads the file of the result, whose name need not be text; what begins as JSON does is a body that went astray.
pub(super) fn result_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|file| match file.to_str() {
        Some(text) if text.starts_with(['{', '[', '"']) => {
            Err("give a file for the result, or - for standard output".to_owned())
        }
        _ => Ok(file),
    })
}

/// A header field of requests, which have a Host field already.
pub(super) fn request_field(text: &str) -> Read<Field> {
    let field = field(text)?;
    if field.name.eq_ignore_ascii_case("host") {
        return Err(format!("a request has one Host field: choose it with --host {}", field.value.shown()));
    }
    Ok(field)
}

/// A law of sizes.
pub(super) fn size_law(text: &str) -> Read<Size> {
    if text == "table" {
        return Ok(Size::Table);
    }
    if let Some(rest) = text.strip_prefix("heavy") {
        let median = match (rest, rest.strip_prefix(':')) {
            (_, Some(median)) => unit(units::size(median))?,
            // The body of web objects in SURGE: exp(9.36).
            ("", None) => 11_600,
            (_, None) => return Err(format!("'{text}' is not heavy or heavy:MEDIAN, such as heavy:8KB")),
        };
        return Ok(Size::Heavy { median, sigma: 1.32, tail: 0.07, shape: 1.2, max: 64 * 1024 * 1024 });
    }
    match text.split_once("..") {
        Some((min, max)) => Ok(Size::Uniform { min: unit(units::size(min))?, max: unit(units::size(max))? }),
        None => Ok(Size::Fixed(unit(units::size(text))?)),
    }
}

/// A law of lifetimes.
pub(super) fn lifetime_law(text: &str) -> Read<Lifetime> {
    if let Some(every) = text.strip_prefix("together:") {
        let every = whole_seconds(every)?;
        return match every.is_zero() {
            true => Err(format!("'{text}' leaves no time between two expiries: give together:1s or more")),
            false => Ok(Lifetime::Together { every }),
        };
    }
    match text.split_once("..") {
        Some((min, max)) => Ok(Lifetime::Uniform { min: whole_seconds(min)?, max: whole_seconds(max)? }),
        None => Ok(Lifetime::Fixed { max_age: whole_seconds(text)? }),
    }
}

/// `max-age` counts seconds, and a lifetime cut to nothing would be another test than the one that was meant.
fn whole_seconds(text: &str) -> Read<Duration> {
    let lifetime = unit(units::duration(text))?;
    if lifetime.subsec_nanos() > 0 {
        return Err(format!(
            "'{text}' is not in whole seconds, as max-age is: give 1s or more, or 0 for answers that are stale at once"
        ));
    }
    Ok(lifetime)
}

/// A secret, or where it stands.
pub(super) fn secret(text: &str) -> Result<Secret, String> {
    Ok(Secret::parse(text))
}

/// A share that is not nothing.
pub(super) fn some_share(text: &str) -> Result<f64, String> {
    let share = units::share(text).map_err(|error| error.to_string())?;
    if share > 0.0 { Ok(share) } else { Err("give more than 0".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_be_a_port_alone() {
        let local = SocketAddr::from(([127, 0, 0, 1], 9080));
        for text in ["9080", "localhost:9080", "127.0.0.1:9080"] {
            assert_eq!(address(text), Ok(local), "{text}");
        }
        assert_eq!(address("[::1]:80").unwrap().to_string(), "[::1]:80");
        for text in ["", "x", "127.0.0.1", "90800", ":9080", "localhost:", "example.com:80"] {
            let said = address(text).unwrap_err();
            assert!(said.contains("127.0.0.1:9080") && said.contains(text), "{text}: {said}");
        }
    }

    #[test]
    fn numbers_are_no_hosts() {
        for text in ["100", "http://100", "100/x", "100:80", "https://u:p@100:80/", "65536", "0"] {
            let said = url(text).unwrap_err();
            assert!(said.contains("number and no host") && said.contains("localhost:"), "{text}: {said}");
        }
        assert!(url("26082").unwrap_err().contains("localhost:26082"));
        assert!(target("7000").unwrap_err().contains("localhost:7000"));
        assert!(target("7000:80").is_err());
        for text in
            ["127.0.0.1", "h1", "1.example", "localhost:26082", "[::1]:80", "h/100", "h?100", "100.0.0.1"]
        {
            assert!(url(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn addresses_that_cannot_be_meant_are_told_by_their_kind() {
        for (text, said) in [
            ("http;//h/", "'http;//h/' has no colon behind its scheme: write http://h/"),
            ("http:/h:80/", "'http:/h:80/' has one slash behind its scheme: write two, http://h:80/"),
            ("http//h/", "'http//h/' has no colon behind its scheme: write http://h/"),
            ("https:h", "'https:h' has no slashes behind its scheme: write two, https://h"),
            ("http:\\\\h", "'http:\\\\h' has backslashes behind its scheme: write http://h"),
            ("h:99999", "'h:99999' has '99999' for a port"),
            ("::1:8080", "'::1:8080' has an IPv6 address without brackets: write http://[::1]:8080"),
            ("http://me:geheim@h:x/", "'http://me:***@h:x/' has 'x' for a port"),
            ("ftp://me:geheim@h/{{x}}", "'ftp://me:***@h/{{x}}' begins with ftp:"),
            ("http://me:geheim@{{x}}/", "'http://me:***@{{x}}/' has a placeholder in its host"),
        ] {
            assert!(url(text).unwrap_err().starts_with(said), "{text}: {}", url(text).unwrap_err());
        }
        for (text, said) in [
            ("localhost", "'localhost' names no port: give HOST:PORT"),
            ("me:geheim@h:80", "'me:***@h:80': a TCP service is given no name"),
            ("h:80/x", "'h:80/x' is more than a host and a port"),
        ] {
            assert!(target(text).unwrap_err().starts_with(said), "{text}: {}", target(text).unwrap_err());
        }
        assert_eq!(
            ["localhost:7000", "[::1]:7000"].map(|text| target(text).unwrap()),
            ["localhost:7000", "[::1]:7000"]
        );
        assert_eq!(url("h/a/../b").unwrap(), "http://h/a/../b");
        assert_eq!(url("http:8080/x").unwrap(), "http://http:8080/x");
    }

    #[test]
    fn seeds_are_decimal_or_hexadecimal() {
        for (text, number) in [("0", 0), ("16", 16), ("0x10", 16), ("0XfF", 255)] {
            assert_eq!(seed(text), Ok(number), "{text}");
        }
        for text in ["", "x", "0x", "0x+1", "-1", "1.5", "99999999999999999999"] {
            assert!(seed(text).unwrap_err().contains("0x2a"), "{text}");
        }
    }

    #[test]
    fn what_would_be_nothing_is_refused() {
        for (said, word) in [
            (at_least_one("0").unwrap_err(), "at least 1"),
            (some_bytes("0KB").unwrap_err(), "at least one byte"),
            (some_time("0").unwrap_err(), "500ms"),
            (whole_seconds("500ms").unwrap_err(), "whole seconds"),
            (size_law("heavyx").unwrap_err(), "heavy:8KB"),
            (request_field("host: a").unwrap_err(), "--host a"),
            (zipf("x").unwrap_err(), "0 to 10"),
            (zipf("-1").unwrap_err(), "0 to 10"),
            (zipf("nan").unwrap_err(), "0 to 10"),
            (per_hour("x").unwrap_err(), "per hour"),
            (rig_workers("65").unwrap_err(), "1 to 64"),
        ] {
            assert!(said.contains(word), "{said}");
        }
        assert_eq!(lifetime_law("0"), Ok(Lifetime::Fixed { max_age: Duration::ZERO }));
        assert_eq!(lifetime_law("together:10s"), Ok(Lifetime::Together { every: Duration::from_secs(10) }));
        assert!(lifetime_law("together:0").is_err() && lifetime_law("together:500ms").is_err());
        assert!(lifetime_law("1s..1500ms").is_err() && size_law("heavy").is_ok());
    }
}
