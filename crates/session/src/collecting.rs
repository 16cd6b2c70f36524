//! Results that agents kept because nobody took them are brought to one folder, and added up. An agent forgets one only when it is in
//! the folder.

use crate::carrier::{Came, Fleet};
use crate::gathering::Gathering;
use crate::kept::LONGEST;
use crate::problem::Problem;
use crate::usage;
use fleet::kept::{Kept, Together, together};
use fleet::message::{Collect, Down, KeptFile, Up};
use fleet::token::{Nonces, Prover};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// An agent that says nothing for so long has no more to say.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked at what is not told by an agent.
const LOOK_UP: Duration = Duration::from_millis(5);
/// The sum of what was collected.
const SUM: &str = "sum.json";

/// Result of a collection.
#[derive(Debug, Default)]
pub struct Collected {
    /// The sum of each run.
    pub runs: Vec<Together>,
    /// Names of the files.
    pub files: Vec<String>,
    /// Agents and files that could not be had.
    pub troubles: Vec<String>,
}

/// Brings results of one run, or of all, to a folder.
///
/// # Errors
/// Agents that are not there; a folder that cannot be written.
pub fn collect(
    fleet: &Fleet,
    run: Option<&str>,
    into: &Path,
    stop: &AtomicBool,
) -> Result<Collected, Problem> {
    let mut gathering = Gathering::begin(fleet, stop)?;
    gathering.hellos(stop)?;
    let agents = gathering.agents.len();
    let nonce = usage::nonce()?;
    for agent in 0..agents {
        let mut ask = Collect { run: run.map(str::to_owned), nonce: nonce.clone(), proof: String::new() };
        if let Some(token) = &gathering.token {
            let nonces = Nonces { agent: gathering.nonce(agent), controller: &nonce };
            ask.proof = token.prove(Prover::Controller, nonces, &ask.signed());
        }
        gathering.say(agent, &Down::Collect(ask));
    }
    let mut hearing = Hearing { told: vec![Told::default(); agents], troubles: Vec::new() };
    hearing.all(&gathering, stop)?;
    let collected = hearing.write(&gathering, into)?;
    gathering.ways.clear();
    gathering.processes.iter().flatten().for_each(|process| process.finish());
    Ok(collected)
}

/// Files that came from one agent.
#[derive(Debug, Clone, Default)]
struct Told {
    files: Vec<(KeptFile, Vec<u8>)>,
    settled: bool,
}

struct Hearing {
    told: Vec<Told>,
    troubles: Vec<String>,
}

impl Hearing {
    fn all(&mut self, gathering: &Gathering, stop: &AtomicBool) -> Result<(), Problem> {
        let mut until = Instant::now() + PATIENCE;
        while self.told.iter().any(|told| !told.settled) {
            if stop.load(Ordering::Relaxed) {
                return Err(gathering.give_up(vec!["interrupted; nothing was removed".to_owned()], false));
            }
            match gathering.came.recv_timeout(LOOK_UP) {
                Ok((agent, came)) => {
                    until = Instant::now() + PATIENCE;
                    if let Err(why) = self.told[agent].take(came) {
                        self.troubles.push(gathering.named(agent, &why));
                    }
                }
                Err(_) if Instant::now() >= until => {
                    let late = self.told.iter_mut().enumerate().filter(|(_, told)| !told.settled);
                    for (agent, told) in late {
                        told.settled = true;
                        self.troubles.push(gathering.named(agent, "it did not tell all that it has"));
                    }
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn write(mut self, gathering: &Gathering, into: &Path) -> Result<Collected, Problem> {
        let mut all: BTreeMap<String, Kept> = BTreeMap::new();
        for (agent, told) in self.told.iter().enumerate() {
            let mut there = Vec::new();
            for (file, bytes) in told.files.iter().filter(|(file, bytes)| bytes.len() as u64 == file.bytes) {
                match Kept::parse(bytes) {
                    Ok(kept) => {
                        written(into, &file.name, bytes)?;
                        // Agents on one machine have the same folder.
                        all.insert(file.name.clone(), kept);
                        there.push(file.name.clone());
                    }
                    Err(why) => self.troubles.push(gathering.named(agent, &format!("{}: {why}", file.name))),
                }
            }
            gathering.say(agent, &Down::Forget(there));
        }
        let files = all.keys().cloned().collect();
        let runs = together(&all.into_values().collect::<Vec<Kept>>());
        if !runs.is_empty() {
            // Plain values, as all that is told.
            written(into, SUM, &serde_json::to_vec_pretty(&runs).expect("sums are plain values"))?;
        }
        Ok(Collected { runs, files, troubles: self.troubles })
    }
}

impl Told {
    fn take(&mut self, came: Came) -> Result<(), String> {
        match came {
            Came::Said(Up::Kept(file)) if file.bytes <= LONGEST && is_plain(&file.name) => {
                self.files.push((file, Vec::new()));
                Ok(())
            }
            Came::Said(Up::Piece(piece)) => match self.files.last_mut() {
                Some((file, bytes)) if (bytes.len() + piece.len()) as u64 <= file.bytes => {
                    bytes.extend(piece);
                    Ok(())
                }
                Some(_) | None => self.end("more came than was announced"),
            },
            Came::Said(Up::NoMore) => {
                self.settled = true;
                Ok(())
            }
            Came::Said(Up::Kept(_)) => self.end("it announced a file that cannot be one of its own"),
            Came::Said(Up::Refused(refused)) => self.end(&refused.why),
            Came::Closed(_) if self.settled => Ok(()),
            Came::Closed(why) => self.end(&why),
            Came::Said(Up::Hello(_) | Up::Ready(_) | Up::Beat(_) | Up::Delta(_) | Up::Served(_))
            | Came::Hello(..) => self.end("it said something else"),
        }
    }

    fn end(&mut self, why: &str) -> Result<(), String> {
        self.settled = true;
        Err(why.to_owned())
    }
}

/// True for the name of a file that leads nowhere else.
fn is_plain(name: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.len() <= 200 && name.ends_with(".json") && name.bytes().all(fine) && name != SUM
}

fn written(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Problem> {
    let file = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&file, bytes))
        .map_err(|error| Problem::impossible(format!("{}: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_an_agent_stays_in_its_folder_and_within_what_was_announced() {
        for (name, fine) in
            [("0f-a1-7.json", true), ("../x.json", false), ("a/b.json", false), ("x", false), (SUM, false)]
        {
            let file = KeptFile { name: name.to_owned(), bytes: 2 };
            assert_eq!(Told::default().take(Came::Said(Up::Kept(file))).is_ok(), fine, "{name}");
        }
        let mut told = Told::default();
        let file = KeptFile { name: "x.json".to_owned(), bytes: 2 };
        told.take(Came::Said(Up::Kept(file))).expect("it may be");
        told.take(Came::Said(Up::Piece(b"ab".to_vec()))).expect("it may be");
        assert!(told.take(Came::Said(Up::Piece(b"c".to_vec()))).is_err() && told.settled);
    }
}
