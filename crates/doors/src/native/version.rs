//! Which HTTP is spoken, and how.

use super::values::{count32, some_bytes};
use clap::Args;
use plan::{Http2, Tls};

/// Options of HTTP/2, for each command that speaks HTTP.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "HTTP version")]
pub struct VersionArgs {
    /// 1.1; 2, over TLS; or 2c, HTTP/2 without TLS, by prior knowledge [default: 1.1]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub http: Option<HttpVersion>,
    /// Users that share a connection of HTTP/2: requests that may be under way on it at once [default: 1]
    #[arg(long, value_name = "N", value_parser = count32)]
    pub streams: Option<u32>,
    /// Bytes of an answer over HTTP/2 that may come before they are granted anew, with a unit [default: 2^30-1]
    #[arg(long, value_name = "SIZE", value_parser = some_bytes)]
    pub stream_window: Option<u64>,
    /// The same for all answers of a connection [default: 2^30-1]
    #[arg(long, value_name = "SIZE", value_parser = some_bytes)]
    pub connection_window: Option<u64>,
    /// Bytes of the tables that compress header fields; 0: none is used [default: 4096]
    #[arg(long, value_name = "BYTES")]
    pub header_table: Option<u32>,
}

/// A version of HTTP as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpVersion {
    /// 1.1
    One,
    /// 2
    Two,
    /// 2c
    TwoClear,
}

pub(crate) fn version(text: &str) -> Result<HttpVersion, String> {
    match text {
        "1.1" | "1" => Ok(HttpVersion::One),
        "2" => Ok(HttpVersion::Two),
        "2c" | "h2c" => Ok(HttpVersion::TwoClear),
        "3" => Err("HTTP/3 is not there yet: give 1.1, 2 or 2c".to_owned()),
        _ => Err("give 1.1, 2 (over TLS) or 2c (HTTP/2 without TLS)".to_owned()),
    }
}

/// A version that rigs speak.
///
/// # Errors
/// What to give instead.
pub(super) fn of_rig(text: &str) -> Result<HttpVersion, String> {
    match version(text)? {
        HttpVersion::Two => Err("rigs speak no TLS: give 2c, HTTP/2 without TLS".to_owned()),
        other => Ok(other),
    }
}

fn bytes(size: u64) -> u32 {
    size.min(u32::MAX.into()) as u32
}

impl VersionArgs {
    /// The options must fit together. `tls`: it is spoken to what the command line names; answers may lead elsewhere.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self, tls: bool) -> Result<(), String> {
        match self.http {
            Some(HttpVersion::Two) if !tls => {
                Err("--http 2 is spoken over TLS: give https://, or --http 2c for HTTP/2 without TLS"
                    .to_owned())
            }
            Some(HttpVersion::TwoClear) if tls => {
                Err("--http 2c is HTTP/2 without TLS: give http://, or --http 2 over TLS".to_owned())
            }
            None | Some(HttpVersion::One) => match self.given() {
                Some(option) => {
                    Err(format!("{option} is about HTTP/2, which is not spoken: give --http 2 or 2c"))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// HTTP/2, where it is spoken.
    pub fn http2(&self) -> Option<Http2> {
        self.http.filter(|version| *version != HttpVersion::One)?;
        let usual = Http2::default();
        Some(Http2 {
            streams: self.streams.unwrap_or(usual.streams),
            stream_window: self.stream_window.map_or(usual.stream_window, bytes),
            connection_window: self.connection_window.map_or(usual.connection_window, bytes),
            decoder_table: self.header_table.unwrap_or(usual.decoder_table),
            encoder_table: self.header_table.unwrap_or(usual.encoder_table),
        })
    }

    /// TLS that offers what is spoken.
    pub fn tls(&self, tls: Tls) -> Tls {
        match self.http2() {
            Some(_) => Tls { alpn: vec!["h2".to_owned()], ..tls },
            None => tls,
        }
    }

    /// The first of the options that have no effect on HTTP/1.
    fn given(&self) -> Option<&'static str> {
        let given = [
            (self.streams.is_some(), "--streams"),
            (self.stream_window.is_some(), "--stream-window"),
            (self.connection_window.is_some(), "--connection-window"),
            (self.header_table.is_some(), "--header-table"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }
}
