//! The machines that made the run, a line each.

use super::{Report, Section};
use crate::show::{self, Table};

impl Report<'_> {
    pub(super) fn agents(&self) -> Option<Section> {
        let agents = &self.result.agents;
        if agents.is_empty() {
            return None;
        }
        let mut table = Table::new("LLrrrrrl");
        table.words(["agent", "at", "workers", "requests", "good", "p99", "began", "end"]);
        for agent in agents {
            let end = match &agent.lost {
                Some(lost) => format!("lost at {} s", show::moment(lost.at.as_secs_f64())),
                None => "told all".to_owned(),
            };
            table.row([
                agent.name.clone(),
                agent.at.clone(),
                agent.threads.to_string(),
                show::count(agent.requests),
                show::count(agent.ok),
                if agent.ok > 0 { show::time(agent.p99_us) } else { "-".to_owned() },
                format!("+{} ± {}", show::time(agent.late_us), show::time(agent.clock_error_us)),
                end,
            ]);
        }
        Some(Section::of("Agents", table))
    }
}
