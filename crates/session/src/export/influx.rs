//! InfluxDB: lines in the schema of JMeter's listener.

use super::ExportShared;
use super::http::{AUTHORIZATION, Post, Target};
use super::push::{APPLICATION, Destination, Exporter, Outgoing, PushWay, Receiver, now_ms};
use crate::problem::Problem;
use plan::Masked;
use report::influx;
use report::interval::Interval;
use std::time::Duration;

pub(super) const EXPORTER: Exporter =
    Exporter { option: "--influx", name: "InfluxDB", every: Duration::from_secs(5), open };

struct InfluxRows {
    application: String,
}

impl Outgoing for InfluxRows {
    fn opening(&self) -> Option<Vec<u8>> {
        Some(influx::event(&self.application, "wringer started", now_ms()).into_bytes())
    }

    fn figures(&self, _: &ExportShared, since: &Interval, last: bool) -> Vec<u8> {
        let ended =
            if last { influx::event(&self.application, "wringer ended", now_ms()) } else { String::new() };
        (ended + &since.lines(&self.application, now_ms())).into_bytes()
    }
}

fn open(to: &Destination) -> Result<Receiver, Problem> {
    let url = &to.to;
    let target = Target::of("--influx", url)?;
    if target.uri.path() == "/" {
        let shown = Masked::address(url);
        return Err(Problem::Usage(format!(
            "--influx {shown} names no place to write to: give http://HOST:8086/write?db=NAME, or /api/v2/write?org=ORG&bucket=NAME"
        )));
    }
    let token = super::secret(to.token.as_ref())?;
    let token = token.map(|token| (AUTHORIZATION.to_owned(), format!("Token {token}")));
    if token.is_some() && target.authorization.is_some() {
        let text =
            "--influx has a name and password in its URL, and --influx-token a token: leave out one of them";
        return Err(Problem::Usage(text.to_owned()));
    }
    let fields = token.or_else(|| target.authorization.clone()).into_iter().collect();
    let application = to.name.as_deref().unwrap_or(APPLICATION).to_owned();
    let way = PushWay::Http(Box::new(Post::new(target, fields)?));
    Ok(Receiver { way, format: Box::new(InfluxRows { application }) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Secret;

    #[test]
    fn urls_name_a_place_to_write_to() {
        let influx = |url: &str, token: Option<Secret>| {
            let to = Destination { option: "--influx", to: url.to_owned(), name: None, token, only: None };
            open(&to).map(drop).map_err(|error| error.to_string())
        };
        assert!(influx("http://h:8086/write?db=x", None).is_ok());
        assert!(influx("http://h:8086", None).unwrap_err().contains("write?db="));
        let refused = influx("http://me:geheim@h:8086", None).unwrap_err();
        assert!(refused.contains("me:***@h") && !refused.contains("geheim"), "{refused}");
        assert!(influx("http://a:b@h/write?db=x", Some(Secret::typed("t"))).is_err());
    }
}
