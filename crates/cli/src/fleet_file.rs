//! A file of agents, which `--agents FILE.toml` names: the same as on the command line, and what only one of them is told. What cannot be
//! obeyed is refused with its line.

use super::agent_place::{AgentArg, AgentPlace, agent_name, listen, place};
use plan::SourceRange;
use serde::Deserialize;
use std::io::Read;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::Path;
use toml::Spanned;

/// A file of agents is no longer.
const LONGEST: u64 = 1 << 20;
/// Behind the name of a client of the same entry, where one is both.
const ORIGIN: &str = "-origin";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FleetFile {
    #[serde(default)]
    defaults: AgentDefaults,
    #[serde(default)]
    agents: Vec<AgentEntry>,
}

/// Values of entries that do not say them.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentDefaults {
    threads: Option<NonZeroU16>,
    #[serde(default)]
    sources: Vec<SourceRange>,
    role: Option<AgentRole>,
    listen: Option<Spanned<ListenText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentEntry {
    at: Spanned<PlaceText>,
    name: Option<Spanned<NameText>>,
    threads: Option<NonZeroU16>,
    sources: Option<Vec<SourceRange>>,
    role: Option<AgentRole>,
    listen: Option<Spanned<ListenText>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AgentRole {
    Clients,
    Origin,
    Both,
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct PlaceText(AgentPlace);

impl TryFrom<String> for PlaceText {
    type Error = String;

    fn try_from(text: String) -> Result<PlaceText, String> {
        place(&text).map(PlaceText)
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct NameText(String);

impl TryFrom<String> for NameText {
    type Error = String;

    fn try_from(text: String) -> Result<NameText, String> {
        agent_name(&text).map(NameText)
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct ListenText(SocketAddr);

impl TryFrom<String> for ListenText {
    type Error = String;

    fn try_from(text: String) -> Result<ListenText, String> {
        listen(&text).map(ListenText)
    }
}

/// Reads a file of agents.
///
/// # Errors
/// It cannot be read, or something in it cannot be meant: the file, the line, and what to try.
pub(super) fn read(file: &Path) -> Result<Vec<AgentArg>, String> {
    let mut text = String::new();
    std::fs::File::open(file)
        .and_then(|opened| opened.take(LONGEST + 1).read_to_string(&mut text))
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    if text.len() as u64 > LONGEST {
        return Err(format!("{} has more than {} MiB", file.display(), LONGEST >> 20));
    }
    listed(&text).map_err(|(line, why)| match line {
        Some(line) => format!("{}, line {line}: {why}", file.display()),
        None => format!("{}: {why}", file.display()),
    })
}

/// A line, where it is of one, and what is wrong.
type Wrong = (Option<usize>, String);

fn listed(text: &str) -> Result<Vec<AgentArg>, Wrong> {
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let file: FleetFile = toml::from_str(text)
        .map_err(|error| (error.span().map(|span| line(span.start)), in_words(error.message())))?;
    if file.agents.is_empty() {
        return Err((
            None,
            "it names no agent: give each an entry, [[agents]] with at = \"ssh:HOST\"".to_owned(),
        ));
    }
    let mut all: Vec<AgentArg> = Vec::new();
    for entry in &file.agents {
        let at = line(entry.at.span().start);
        for agent in entry.agents(&file.defaults).map_err(|why| (Some(at), why))? {
            if let Some(name) = &agent.name
                && all.iter().any(|other| other.name == agent.name)
            {
                return Err((Some(at), format!("two agents have the name {name}: give each one of its own")));
            }
            let is_there = |other: &AgentArg| other.at == agent.at;
            if let AgentPlace::Bus(name) = &agent.at
                && all.iter().any(is_there)
            {
                let why = format!(
                    "bus:{name} stands here twice, and an agent of the bus carries one thing at a time: leave out one of them"
                );
                return Err((Some(at), why));
            }
            all.push(agent);
        }
    }
    if let Some(listen) = file.defaults.listen.filter(|_| all.iter().all(|agent| agent.origin.is_none())) {
        let why = "listen is for origins, and no agent is one: give role = \"origin\", or leave it out";
        return Err((Some(line(listen.span().start)), why.to_owned()));
    }
    Ok(all)
}

/// A refusal of the reader's, with what to do where it does not say so itself.
fn in_words(said: &str) -> String {
    if said.starts_with("unknown field `allow`") {
        return "allow is a rule of whoever owns the agent's machine, and stands in /etc/wringer/agent.toml there: leave it out here"
            .to_owned();
    }
    said.to_owned()
}

impl AgentEntry {
    /// Agents that it stands for.
    fn agents(&self, defaults: &AgentDefaults) -> Result<Vec<AgentArg>, String> {
        let role = self.role.or(defaults.role).unwrap_or(AgentRole::Clients);
        let listen = self.listen.as_ref().or(defaults.listen.as_ref()).map(|listen| listen.get_ref().0);
        let client = AgentArg {
            at: self.at.get_ref().0.clone(),
            name: self.name.as_ref().map(|name| name.get_ref().0.clone()),
            threads: self.threads.or(defaults.threads).map(NonZeroU16::get),
            sources: self.sources.clone().unwrap_or_else(|| defaults.sources.clone()),
            origin: None,
        };
        if let AgentPlace::Bus(name) = &client.at
            && role != AgentRole::Origin
        {
            return Err(format!(
                "agents of the bus are named here where they are origins, and carry a load by their number: give bus:{name} role = \"origin\", or \
                 leave it out and give --expect N"
            ));
        }
        match (role, listen) {
            (AgentRole::Clients, _) if self.listen.is_some() => {
                Err("listen is for origins: give role = \"origin\" or \"both\", or leave it out".to_owned())
            }
            (AgentRole::Clients, _) => Ok(vec![client]),
            (AgentRole::Origin | AgentRole::Both, None) => {
                Err("an origin says where it listens: give listen = \"ADDRESS:PORT\"".to_owned())
            }
            (AgentRole::Origin, Some(_)) if self.sources.is_some() => Err(
                "sources are where clients connect from, and an origin connects to nobody: leave them out"
                    .to_owned(),
            ),
            (AgentRole::Origin, Some(_)) => {
                Ok(vec![AgentArg { origin: listen, sources: Vec::new(), ..client }])
            }
            (AgentRole::Both, Some(_)) => {
                let name = client.name.as_ref().map(|name| format!("{name}{ORIGIN}"));
                let origin = AgentArg { origin: listen, sources: Vec::new(), name, ..client.clone() };
                Ok(vec![client, origin])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_what_is_its_own_and_defaults_what_is_not_said() {
        let text = "[defaults]\nthreads = 2\nsources = [\"127.0.0.2\"]\nlisten = \"0.0.0.0:9080\"\n[[agents]]\nat = \"ssh:load@h\"\n\
                    name = \"c1\"\n[[agents]]\nat = \"local\"\nthreads = 8\nsources = [\"127.0.0.3-127.0.0.9\", \"::1\"]\n[[agents]]\n\
                    at = \"cmd:ip netns exec a1 wringer agent --stdio\"\nrole = \"both\"\nname = \"b\"\nlisten = \"192.0.2.7:81\"\n\
                    [[agents]]\nat = \"local\"\nrole = \"origin\"\n\
                    [[agents]]\nat = \"bus:load-0\"\nrole = \"origin\"\nlisten = \"192.0.2.8:9080\"\n";
        let all = listed(text).unwrap();
        fn short(agent: &AgentArg) -> (Option<&str>, Option<u16>, usize, Option<SocketAddr>) {
            (agent.name.as_deref(), agent.threads, agent.sources.len(), agent.origin)
        }
        let found: Vec<_> = all.iter().map(short).collect();
        let at = |origin: &str| origin.parse::<SocketAddr>().ok();
        assert_eq!(
            found,
            [
                (Some("c1"), Some(2), 1, None),
                (None, Some(8), 2, None),
                (Some("b"), Some(2), 1, None),
                (Some("b-origin"), Some(2), 0, at("192.0.2.7:81")),
                (None, Some(2), 0, at("0.0.0.0:9080")),
                (None, Some(2), 0, at("192.0.2.8:9080")),
            ]
        );
        assert_eq!(all[5].at, AgentPlace::Bus("load-0".to_owned()));
        assert_eq!(all[0].at, AgentPlace::Ssh("load@h".to_owned()));
    }

    #[test]
    fn what_cannot_be_obeyed_is_refused_with_its_line() {
        let entry = "[[agents]]\nat = \"local\"\n";
        for (text, line, said) in [
            (String::new(), None, "names no agent"),
            (
                format!("{entry}treads = 2\n"),
                Some(3),
                "unknown field `treads`, expected one of `at`, `name`, `threads`",
            ),
            (format!("[defaults]\nallow = []\n{entry}"), Some(2), "agent.toml there"),
            (format!("{entry}allow = [\"192.0.2.0/24\"]\n"), Some(3), "agent.toml there"),
            (format!("{entry}threads = 0\n"), Some(3), "nonzero"),
            (format!("{entry}sources = [\"here\"]\n"), Some(3), "here"),
            (format!("{entry}name = \"a b\"\n"), Some(3), "letters, digits"),
            (format!("{entry}role = \"proxy\"\n"), Some(3), "expected one of `clients`, `origin`, `both`"),
            (format!("{entry}role = \"origin\"\n"), Some(2), "give listen"),
            (format!("{entry}listen = \"127.0.0.1:80\"\n"), Some(2), "give role"),
            (
                format!("{entry}role = \"origin\"\nlisten = \"127.0.0.1\"\n"),
                Some(4),
                "such as 192.0.2.10:9080",
            ),
            (
                format!("{entry}role = \"origin\"\nlisten = \"127.0.0.1:9\"\nsources = [\"127.0.0.1\"]\n"),
                Some(2),
                "connects to nobody",
            ),
            (format!("[defaults]\nlisten = \"127.0.0.1:80\"\n{entry}"), Some(2), "no agent is one"),
            ("[[agents]]\nname = \"x\"\n".to_owned(), Some(1), "missing field `at`"),
            ("[[agents]]\n\nat = \"local:3\"\n".to_owned(), Some(3), "each further one an entry"),
            ("[[agents]]\nat = \"nats://h\"\n".to_owned(), Some(2), "give local, bus:NAME, ssh:HOST"),
            ("[[agents]]\nat = \"bus:c1\"\n".to_owned(), Some(2), "give --expect N"),
            (
                "[[agents]]\nat = \"bus:c1\"\nrole = \"both\"\nlisten = \"127.0.0.1:9\"\n".to_owned(),
                Some(2),
                "give bus:c1 role = \"origin\"",
            ),
            (
                "[[agents]]\nat = \"bus:c1\"\nrole = \"origin\"\nlisten = \"127.0.0.1:9\"\n".repeat(2),
                Some(6),
                "bus:c1 stands here twice",
            ),
            (format!("{entry}name = \"x\"\n{entry}name = \"x\"\n"), Some(5), "two agents have the name x"),
            ("[[agents]\n".to_owned(), Some(1), ""),
        ] {
            let (found, why) = listed(&text).unwrap_err();
            assert!(found == line && why.contains(said), "{text}: {found:?} {why}");
        }
    }
}
