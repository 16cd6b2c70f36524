//! Parts of a plan that cannot be shared out among machines that know nothing of each other: refused by its name.

use plan::{Phase, Plan, Step};

/// Why a plan cannot be run by agents with so many workers together; nothing where it can.
pub fn not_shared_out(plan: &Plan, workers: u32) -> Option<String> {
    let Some(load) = &plan.load else {
        return Some("agents carry a load, and this plan has none: it is an origin alone".to_owned());
    };
    if plan.origin.is_some() {
        return Some(
            "this plan has an origin of its own, which is on one machine: run `wringer origin` there, and give agents a plan that \
             only presses (wringer cache --clients-only), or name agents that serve it (--origin-agents)"
                .to_owned(),
        );
    }
    let trace = &load.trace;
    let told = [
        (
            trace.urls || trace.heads || trace.requests || trace.bodies,
            "telling each request (--verbose, trace)",
        ),
        (trace.bad_requests || trace.errors, "telling each request that was not good (trace)"),
        (trace.first || trace.connections, "telling of single connections and first answers (trace)"),
    ];
    if let Some((_, what)) = told.iter().find(|(asked, _)| *asked) {
        return Some(cannot(what, "requests of several machines have no common order"));
    }
    if load.protocol.http().is_some_and(|http| http.unix_socket.is_some()) {
        return Some(cannot("a Unix socket", "it is a file of one machine"));
    }
    if load.spoken().iter().any(|http| http.h3.as_ref().is_some_and(|http3| http3.qlog.is_some())) {
        return Some(cannot("--qlog", "its files would be written on machines of others"));
    }
    if plan.purge_commands().next().is_some() {
        return Some(cannot("--purge-command", "it would be run on machines of others"));
    }
    for phase in &load.phases {
        for scenario in phase.scenarios() {
            let mut found = None;
            scenario.each(&mut |step| found = found.take().or_else(|| alone(step)));
            if found.is_some() {
                return found;
            }
        }
        let sends = |phase: &Phase| phase.pace.at_once().min(workers);
        if let Some(group) = phase.parts().iter().find(|group| sends(group) < sends_of(phase, workers)) {
            return Some(format!(
                "a group of the phase {} has {} users, and there are {workers} workers, so that values which are dealt to it would be \
                 left out: give it as many users, or ask for fewer workers (--threads)",
                phase.name,
                group.pace.at_once()
            ));
        }
        if deals_to_all(phase)
            && load.phases.iter().any(|one| sends_of(one, workers) != sends_of(phase, workers))
        {
            return Some(format!(
                "the rows that all phases share are dealt to as many workers as there are users, and the phases have different ones: give \
                 each at least {workers} users, or ask for fewer workers (--threads)"
            ));
        }
    }
    None
}

/// How many of so many workers send in a phase.
pub(crate) fn sends_of(phase: &Phase, workers: u32) -> u32 {
    phase.parts().iter().map(|group| group.pace.at_once()).max().unwrap_or(0).min(workers)
}

fn cannot(what: &str, why: &str) -> String {
    format!("{what} cannot be shared out among agents: {why}; leave it out, or run the plan on one machine")
}

/// A step that only one machine can do.
fn alone(step: &Step) -> Option<String> {
    match step {
        Step::Script(_) => Some(cannot("a script of wrk's", "what it remembers is that of one process")),
        Step::Code(_) => {
            Some(cannot("program text of a journey", "users of one process share what it keeps"))
        }
        Step::Lock(lock) => Some(cannot(&format!("the lock {}", lock.name), "users of one process hold it")),
        Step::Barrier(_) => Some(cannot("a barrier of users", "users of other machines do not come to it")),
        Step::Urls(urls) if urls.order == plan::UrlOrder::Once => {
            Some(cannot("a list of URLs that is fetched once", "what was fetched is known to one process"))
        }
        Step::Object(_)
        | Step::Urls(_)
        | Step::Requests(_)
        | Step::Messages(_)
        | Step::Sequence(_)
        | Step::Loop(_)
        | Step::If(_)
        | Step::Choice(_)
        | Step::Share(_)
        | Step::Once(_)
        | Step::Transaction(_)
        | Step::Together(_)
        | Step::Pause(_)
        | Step::Wait(_)
        | Step::Rhythm(_)
        | Step::Set(_)
        | Step::Counter(_)
        | Step::Feed(_)
        | Step::Extract(_)
        | Step::Check(_)
        | Step::Log(_)
        | Step::Flow(_) => None,
    }
}

/// True if rows are dealt to the users of all phases.
fn deals_to_all(phase: &Phase) -> bool {
    let mut found = false;
    phase.scenarios().for_each(|scenario| {
        scenario.each(&mut |step| found |= matches!(step, Step::Feed(feed) if feed.of == plan::Scope::All));
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(step: &str, more: &str) -> Plan {
        Plan::from_text(&format!(
            "version = 1\nseed = 7\n{more}[load]\n[load.protocol.http]\n[[load.phases]]\nname = \"measure\"\nmeasured = true\n\
             pace = {{ users = 4 }}\nstop = {{ requests = 5 }}\n[[load.phases.scenario.steps]]\n{step}\n"
        ))
        .unwrap()
    }

    #[test]
    fn what_one_process_alone_knows_is_refused_by_its_name() {
        let get = "requests = { requests = [{ url = \"http://127.0.0.1:8080/\" }] }";
        assert_eq!(not_shared_out(&plan(get, ""), 8), None);
        let mut told = plan(get, "");
        told.load.as_mut().unwrap().trace.requests = true;
        let mut socket = plan(get, "");
        let plan::Protocol::Http(http) = &mut socket.load.as_mut().unwrap().protocol else { panic!("HTTP") };
        http.unix_socket = Some("/tmp/x".to_owned());
        let purge = "object = { purge = { per_second = 1, command = \"purge {path}\" } }";
        for (plan, said) in [
            (told, "telling each request"),
            (socket, "a Unix socket"),
            (plan(purge, ""), "--purge-command"),
            (plan(get, "[origin]\nlisten = \"127.0.0.1:9080\"\n"), "an origin of its own"),
        ] {
            let refused = not_shared_out(&plan, 2).expect(said);
            assert!(refused.contains(said), "{refused}");
        }
    }
}
