//! The machines that made the run, a line each.

use super::{Report, Section};
use crate::show::{self, ShowTable};
use measure::LostAgent;

impl Report<'_> {
    pub(super) fn origins(&self) -> Option<Section> {
        let origins = &self.result.origins;
        if origins.is_empty() {
            return None;
        }
        let mut table = ShowTable::new("LLLrrrrrl");
        table.words([
            "origin",
            "at",
            "listens at",
            "workers",
            "connections",
            "requests",
            "full",
            "bodies",
            "end",
        ]);
        for origin in origins {
            table.row([
                origin.name.clone(),
                origin.at.clone(),
                origin.listens_at.clone(),
                origin.threads.to_string(),
                show::count(origin.connections),
                show::count(origin.requests),
                show::count(origin.full),
                show::bytes(origin.body_bytes),
                end(origin.lost.as_ref()),
            ]);
        }
        Some(Section::of("Origins", table))
    }

    pub(super) fn agents(&self) -> Option<Section> {
        let agents = &self.result.agents;
        if agents.is_empty() {
            return None;
        }
        let mut table = ShowTable::new("LLrrrrrl");
        table.words(["agent", "at", "workers", "requests", "good", "p99", "began", "end"]);
        for agent in agents {
            table.row([
                agent.name.clone(),
                agent.at.clone(),
                agent.threads.to_string(),
                show::count(agent.requests),
                show::count(agent.ok),
                if agent.ok > 0 { show::time(agent.p99_us) } else { "-".to_owned() },
                format!("+{} ± {}", show::time(agent.late_us), show::time(agent.clock_error_us)),
                end(agent.lost.as_ref()),
            ]);
        }
        Some(Section::of("Agents", table))
    }
}

fn end(lost: Option<&LostAgent>) -> String {
    match lost {
        Some(lost) => format!("lost at {} s", show::moment(lost.at.as_secs_f64())),
        None => "told all".to_owned(),
    }
}
