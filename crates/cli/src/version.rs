//! Which HTTP is spoken, and how.

use super::values::{count32, some_bytes, some_time};
use clap::Args;
use plan::{Http2, Http3, HttpProtocol, Qlog, Tls, Transport};
use std::time::Duration;

/// Options of HTTP/2 and HTTP/3, for each command that speaks HTTP.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "HTTP version")]
pub struct VersionArgs {
    /// 1.1; 2, over TLS; 2c, HTTP/2 without TLS, by prior knowledge; or 3, over QUIC. Of several, such as 1.1,2, users take
    /// turns [default: 1.1]
    #[arg(long, value_name = "VERSION", value_parser = version, value_delimiter = ',')]
    pub http: Vec<HttpProtocol>,
    /// Users that share a connection of HTTP/2 or 3: requests that may be under way on it at once [default: 1]
    #[arg(long, value_name = "N", value_parser = count32)]
    pub streams: Option<u32>,
    /// Requests for another host at the same address and port go over the same connection, where its certificate is also for that
    /// host; what is answered 421 is sent again over a connection of its own
    #[arg(long)]
    pub coalesce: bool,
    /// Bytes of an answer that may come before they are granted anew, with a unit [default: 2^30-1; over HTTP/3 as --quic
    /// has it]
    #[arg(long, value_name = "SIZE", value_parser = some_bytes)]
    pub stream_window: Option<u64>,
    /// The same for all answers of a connection
    #[arg(long, value_name = "SIZE", value_parser = some_bytes)]
    pub connection_window: Option<u64>,
    /// Bytes of the tables that compress header fields of HTTP/2; 0: none is used [default: 4096]
    #[arg(long, value_name = "BYTES")]
    pub header_table: Option<u32>,
    /// How QUIC sends: real, as clients on the Internet, or lab, without congestion control and pacing [default: real]
    #[arg(long, value_name = "HOW", value_parser = Transport::parse)]
    pub quic: Option<Transport>,
    /// Bytes of a datagram of QUIC at most [default: 1200, and up to 1452 where the path carries it]
    #[arg(long, value_name = "BYTES")]
    pub udp_payload: Option<u16>,
    /// Each connection of HTTP/3 moves to another local port this often, which servers are to bear
    #[arg(long, value_name = "DURATION", value_parser = some_time)]
    pub migrate_every: Option<Duration>,
    /// Write down in this folder what QUIC does on the first 4 connections of HTTP/3, a qlog file for each
    #[arg(long, value_name = "FOLDER")]
    pub qlog: Option<String>,
}

/// A version of HTTP, as it is typed.
///
/// # Errors
/// Advice on what to give instead.
pub fn version(text: &str) -> Result<HttpProtocol, String> {
    match text {
        "1.1" | "1" => Ok(HttpProtocol::One),
        "2" => Ok(HttpProtocol::Two),
        "2c" | "h2c" => Ok(HttpProtocol::TwoClear),
        "3" | "h3" => Ok(HttpProtocol::Three),
        _ => Err("give 1.1, 2 (over TLS), 2c (HTTP/2 without TLS) or 3 (over QUIC)".to_owned()),
    }
}

/// A version that the origin is to speak.
///
/// # Errors
/// Advice on what to give instead.
pub(super) fn of_origin(text: &str) -> Result<HttpProtocol, String> {
    match version(text)? {
        HttpProtocol::TwoClear => {
            Err("without TLS the origin speaks HTTP/2 to whoever begins with its preface: leave --http out"
                .to_owned())
        }
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
        if let Some(twice) = self.http.iter().enumerate().find(|(nth, one)| self.http[..*nth].contains(one)) {
            return Err(format!(
                "--http names {} twice: users take turns, so give each version once",
                twice.1.typed()
            ));
        }
        self.spoken().into_iter().try_for_each(|version| VersionArgs::check_scheme(version, tls))?;
        match self.out_of_place() {
            Some((option, what, instead)) => {
                Err(format!("{option} is about {what}, which is not spoken: give {instead}"))
            }
            None => Ok(()),
        }
    }

    fn check_scheme(version: HttpProtocol, tls: bool) -> Result<(), String> {
        match version {
            HttpProtocol::Two if !tls => {
                Err("--http 2 is spoken over TLS: give https://, or --http 2c for HTTP/2 without TLS"
                    .to_owned())
            }
            HttpProtocol::Three if !tls => {
                Err("--http 3 is spoken over QUIC, which has TLS: give https://".to_owned())
            }
            HttpProtocol::TwoClear if tls => {
                Err("--http 2c is HTTP/2 without TLS: give http://, or --http 2 over TLS".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The versions that are spoken, each once.
    pub fn spoken(&self) -> Vec<HttpProtocol> {
        if self.http.is_empty() { vec![HttpProtocol::One] } else { self.http.clone() }
    }

    /// True if a version is spoken that takes TLS.
    pub fn wants_tls(&self) -> bool {
        self.http.iter().any(|version| version.is_secure())
    }

    /// The versions among which users take turns; none where they all speak the same.
    pub fn turns(&self) -> Vec<plan::HttpVersion> {
        let turns = self.http.iter().filter(|_| self.http.len() > 1);
        turns.map(|version| version.version()).collect()
    }

    /// HTTP/2, where it is spoken.
    pub fn http2(&self) -> Option<Http2> {
        self.http.iter().find(|version| version.version() == plan::HttpVersion::Two)?;
        let usual = Http2::default();
        Some(Http2 {
            streams: self.streams.unwrap_or(usual.streams),
            coalesce: self.coalesce,
            stream_window: self.stream_window.map_or(usual.stream_window, bytes),
            connection_window: self.connection_window.map_or(usual.connection_window, bytes),
            decoder_table: self.header_table.unwrap_or(usual.decoder_table),
            encoder_table: self.header_table.unwrap_or(usual.encoder_table),
        })
    }

    /// HTTP/3, where it is spoken.
    pub fn http3(&self) -> Option<Box<Http3>> {
        self.http.iter().find(|version| **version == HttpProtocol::Three)?;
        let usual = Http3::default();
        Some(Box::new(Http3 {
            streams: self.streams.unwrap_or(usual.streams),
            coalesce: self.coalesce,
            transport: self.quic.unwrap_or_default(),
            stream_window: self.stream_window.map(bytes),
            connection_window: self.connection_window.map(bytes),
            payload: self.udp_payload,
            migrate_every: self.migrate_every,
            qlog: self.qlog.clone().map(|folder| Qlog { folder, connections: Qlog::connections() }),
        }))
    }

    /// TLS that offers what is spoken.
    pub fn tls(&self, tls: Tls) -> Tls {
        match self.spoken()[..] {
            [HttpProtocol::One] => tls,
            ref spoken => {
                let alpn = spoken.iter().map(|version| version.version().alpn().to_owned());
                Tls { alpn: alpn.collect(), ..tls }
            }
        }
    }

    /// The first of the options that has no effect on what is spoken, what it is about, and the version that has it.
    fn out_of_place(&self) -> Option<(&'static str, &'static str, &'static str)> {
        const BOTH: (&str, &str) = ("HTTP/2 and HTTP/3", "--http 2, 2c or 3");
        const TWO: (&str, &str) = ("HTTP/2", "--http 2 or 2c");
        const THREE: (&str, &str) = ("HTTP/3", "--http 3");
        let given = [
            (self.streams.is_some(), "--streams", BOTH),
            (self.coalesce, "--coalesce", BOTH),
            (self.stream_window.is_some(), "--stream-window", BOTH),
            (self.connection_window.is_some(), "--connection-window", BOTH),
            (self.header_table.is_some(), "--header-table", TWO),
            (self.quic.is_some(), "--quic", THREE),
            (self.udp_payload.is_some(), "--udp-payload", THREE),
            (self.migrate_every.is_some(), "--migrate-every", THREE),
            (self.qlog.is_some(), "--qlog", THREE),
        ];
        let fits = |about| {
            self.spoken().iter().any(|version| match version {
                HttpProtocol::One => false,
                HttpProtocol::Two | HttpProtocol::TwoClear => about != THREE,
                HttpProtocol::Three => about != TWO,
            })
        };
        let wrong = given.into_iter().find(|(given, _, about)| *given && !fits(*about));
        wrong.map(|(_, option, (what, instead))| (option, what, instead))
    }
}
