//! The connection to a bus: where it is, by what it is trusted, and what it says of itself.

use super::at::{BusAt, is_loopback, secret};
use crate::problem::Problem;
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, ServerAddr, Subscriber};
use fleet::stream::{HEAD, PIECE};
use futures_util::StreamExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A server that says nothing for two of these is gone.
const PING: Duration = Duration::from_secs(2);
/// A server is there within this time.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest wait before it is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// A connection.
pub(crate) struct Line {
    /// The client.
    pub client: Client,
    said: Arc<Mutex<Option<String>>>,
}

impl BusAt {
    /// The servers of `SERVER[,SERVER…]`.
    ///
    /// # Errors
    /// A server that is none, a name and password among them, or a way in clear that leaves this machine.
    fn checked(&self) -> Result<Vec<ServerAddr>, Problem> {
        let wrong = |server: &str, why: &str| Problem::Usage(format!("--bus {server}: {why}"));
        let mut all = Vec::new();
        for server in &self.servers {
            let address: ServerAddr = match server.split_once("://") {
                Some(("nats" | "tls", _)) => server.parse().map_err(|_| wrong(server, "it is no address"))?,
                Some(_) | None => return Err(wrong(server, "give nats://HOST:PORT or tls://HOST:PORT")),
            };
            if address.has_user_pass() || address.username().is_some() {
                let shown = server.rsplit_once('@').map_or("", |(_, host)| host);
                return Err(wrong(
                    shown,
                    "a secret of the command line is seen by all: give --bus-creds FILE",
                ));
            }
            if !self.insecure && !address.tls_required() && !is_loopback(address.host()) {
                return Err(wrong(
                    server,
                    "it is in clear, and whoever listens may command the agents: give tls://, or --insecure-bus",
                ));
            }
            all.push(address);
        }
        Ok(all)
    }

    fn options(&self, name: &str) -> Result<ConnectOptions, Problem> {
        let mut options = ConnectOptions::new()
            .name(name)
            .ping_interval(PING)
            .connection_timeout(CONNECT)
            .reconnect_delay_callback(|times| AGAIN.min(Duration::from_millis(50) * times as u32));
        if let Some(file) = &self.authorities {
            options = options.add_root_certificates(file.clone()).require_tls(true);
        }
        let Some(file) = &self.credentials else { return Ok(options) };
        let text = secret("--bus-creds", file)?;
        match text.lines().map(str::trim).find(|line| line.starts_with("SU")) {
            Some(_) if text.contains("BEGIN NATS USER JWT") => options
                .credentials(&text)
                .map_err(|error| Problem::impossible(format!("--bus-creds {}: {error}", file.display()))),
            Some(seed) => Ok(options.nkey(seed.to_owned())),
            None => Err(Problem::impossible(format!(
                "--bus-creds {}: there is no seed of a user (SU…) in it, as `nsc` and `nk -gen user` write it",
                file.display()
            ))),
        }
    }
}

impl Line {
    /// Connects. `name`: by what the server's lists call it.
    ///
    /// # Errors
    /// An address that is none, credentials that cannot be read, a server that is not there or does not take us, or takes only
    /// messages that are too short.
    pub async fn connect(at: &BusAt, name: &str) -> Result<Line, Problem> {
        let servers = at.checked()?;
        let said: Arc<Mutex<Option<String>>> = Arc::default();
        let remembered = said.clone();
        let options = at.options(name)?.event_callback(move |event| {
            tracing::info!(%event, "the bus");
            if let Event::ServerError(_) | Event::ClientError(_) = event {
                *remembered.lock().unwrap_or_else(PoisonError::into_inner) = Some(event.to_string());
            }
            async {}
        });
        let client = options.connect(servers).await.map_err(|error| {
            let mut why = error.to_string();
            if let Some(source) = std::error::Error::source(&error) {
                why = format!("{why}: {source}");
            }
            Problem::impossible(format!("the bus {at} cannot be used: {why}"))
        })?;
        let most = client.server_info().max_payload;
        if most < PIECE + HEAD {
            return Err(Problem::impossible(format!(
                "the bus {at} takes messages of {most} bytes, and {} are needed: set max_payload in its server's configuration",
                PIECE + HEAD
            )));
        }
        Ok(Line { client, said })
    }

    /// Hears a subject.
    ///
    /// # Errors
    /// The connection is gone for good.
    pub async fn subscribe(&self, subject: String) -> Result<Subscriber, Problem> {
        self.client
            .subscribe(subject.clone())
            .await
            .map_err(|error| Problem::impossible(format!("the bus: {subject} cannot be heard: {error}")))
    }

    /// The last thing that the server complained of.
    pub fn complaint(&self) -> Option<String> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// False while it is cut: what would be said then would only wait, and be said again.
    pub fn is_up(&self) -> bool {
        self.client.connection_state() == State::Connected
    }
}

/// Says something. What does not get there is said again by whoever has to.
pub(crate) async fn publish(line: &Line, subject: &str, bytes: Vec<u8>) {
    if let Err(error) = line.client.publish(subject.to_owned(), bytes.into()).await {
        tracing::info!(%error, subject, "nothing can be said on the bus");
    }
}

/// The next message of a subject.
pub(crate) async fn drain(from: &mut Subscriber) -> Option<async_nats::Message> {
    from.next().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_in_clear_does_not_leave_this_machine_unless_it_is_asked_to() {
        let at = |server: &str, insecure| BusAt {
            servers: vec![server.to_owned()],
            credentials: None,
            authorities: None,
            token: None,
            insecure,
        };
        for (server, said) in [
            ("nats://127.0.0.1:4222", None),
            ("nats://localhost", None),
            ("nats://[::1]:4222", None),
            ("tls://bus.example:4222", None),
            ("nats://192.0.2.1:4222", Some("it is in clear")),
            ("ws://127.0.0.1", Some("give nats://")),
            ("127.0.0.1:4222", Some("give nats://")),
            ("nats://me:secret@127.0.0.1", Some("--bus-creds FILE")),
        ] {
            let found = at(server, false).checked().err().map(|problem| problem.to_string());
            match said {
                None => assert_eq!(found, None, "{server}"),
                Some(part) => {
                    assert!(found.as_ref().is_some_and(|found| found.contains(part)), "{server}: {found:?}");
                }
            }
            assert!(found.is_none_or(|found| !found.contains("secret@")), "{server}");
        }
        assert!(at("nats://192.0.2.1:4222", true).checked().is_ok());
        assert!(!at("nats://192.0.2.1:4222", true).is_private() && at("tls://192.0.2.1", false).is_private());
    }
}
