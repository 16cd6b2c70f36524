//! The sentences that notes are made of, with `{}` where something is filled in. The page finds them again in a note's text and says
//! them in its own languages, so they stand here, and nowhere else.

use std::fmt::Display;

/// A sentence with places to be filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteTemplate(pub &'static str);

impl NoteTemplate {
    /// The sentence with these values, of which there are as many as places.
    pub fn with(self, values: &[&dyn Display]) -> String {
        let mut parts = self.0.split("{}");
        let mut text = parts.next().unwrap_or_default().to_owned();
        debug_assert_eq!(parts.clone().count(), values.len(), "{}", self.0);
        for (value, part) in values.iter().zip(parts) {
            text.push_str(&value.to_string());
            text.push_str(part);
        }
        text
    }
}

macro_rules! templates {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub const $name: NoteTemplate = NoteTemplate($text);)*
        /// All of them.
        pub const ALL: &[NoteTemplate] = &[$($name),*];
    };
}

templates! {
    /// An address, how often, and why.
    PASSED_OVER = "{} took no connection {} times ({}), and another address of the same name was tried each time: addresses of a name take turns";
    /// Twice seconds.
    CONTROLLER_STOOD_STILL = "the controller of the agents itself did not run for {} s, until {} s into the run: what they told meanwhile came late, and an agent that hears nothing for --lease ends its load";
    /// Answers 5xx; where the origin should have been.
    NEVER_ASKED = "the origin was never asked and the proxy answered {} times with 5xx: it must be able to reach {}";
    /// The same of a proxy that is warm.
    NEVER_ASKED_BUT_WARM = "the origin was never asked and the proxy answered {} times with 5xx: it must be able to reach {}; what was good, it had stored before";
    /// Requests.
    DOUBLED = "{} requests came to the origin twice, and no client sent them twice: the proxy tries again, fetches in parts, or makes two requests of one";
    /// Requests, the field's name.
    WITHOUT_CANARY = "{} requests came to the origin without the field {}, which each client sends: the proxy takes it out, asks by itself (health checks), or takes a part of one request for another one";
    /// The field's name, answers.
    UNATTRIBUTED = "the proxy does not pass the field {} on: {} answers do not say whom they were made for. Private answers, cookies and errors given to another are seen only when they come again";
    /// Hits without an Age, all hits, those with a later Date.
    AGELESS = "{} of {} hits had no Age, {} of them a Date later than they were made at: a cache behind this one keeps them too long";
    /// Hits.
    OLDER = "{} hits were of an older version than one that had come before: caches that do not share, or fetches that are not stored";
    /// Answers, those that told anything.
    FALSE_CLAIMS = "{} of {} answers said of themselves that they were hits or misses (X-Cache, Cache-Status), and were not";
    /// Answers that lost a cookie, answers that got one.
    COOKIES = "the Set-Cookie of the origin was missing in {} answers, and {} had one that is not the origin's";
    /// Answers.
    FIELDS_LOST = "{} whole answers lacked an ETag, a Last-Modified or a Content-Type, which the origin gives with each";
    /// Whole answers with the stamp of a 304, those that lost fields, those with others.
    RENEWED = "of {} whole answers whose fields a 304 of the origin had renewed, {} lacked one that it gives (ETag, Last-Modified, Content-Type, Vary, Set-Cookie, Wringer-Unchanged), and {} had another value of one, or a Set-Cookie that is not the origin's";
    /// Answers to HEAD, those without a length.
    LENGTHLESS = "of {} requests for the head alone {} were hits without a Content-Length, which the origin gives: whoever asks so cannot know how large the object is";
    /// Purges that were not acknowledged, all purges.
    PURGES_REFUSED = "{} of {} purges were not acknowledged: the proxy does not know the method, passes it on, or wants a secret; --purge-by and --purge-header say how it is asked";
    /// Commands that failed, all of them, how the first one ended.
    PURGES_FAILED = "{} of {} commands of --purge-command failed, the first one so: {}";
    /// Purges.
    PURGES_LEFT_OUT = "{} purges were left out: four commands of --purge-command were under way each time";
    /// Purges, twice milliseconds, a path.
    PURGED_LATE = "{} purges were followed by hits of what had been made before, the last one {} ms after the acknowledgement in the mean, {} ms at most ({})";
    /// Requests, a share, milliseconds, a share.
    SERIAL = "requests for one object wait for each other: of {} sent while it was being fetched, and answered by a fetch of their own, {} waited for the end of the other one, {} ms in the mean; beside other objects {} did";
    /// Twice a time in µs, seconds.
    SLOWER = "answers became slower with time: the median was {} us at first and {} us {} s later, though they were of the same kind";
    /// Twice a time in µs, seconds.
    DEARER = "answers became dearer with time: the target took {} us of CPU for each at first and {} us {} s later, though they were of the same kind";
    /// Twice a size.
    GROWN = "the target's memory grew by {} after it was warm, though only {} were fetched meanwhile";
    /// Hits, milliseconds.
    PURGED_HITS = "{} hits were of what had been purged, {} ms after the acknowledgement in the mean: within the time that a purge may take";
    /// Seconds.
    ORIGIN_SILENT = "the origin did not answer any more at the end: its accounts end {} s into the run, so nothing is said of offload";
    /// Why.
    NOT_JOINED = "the origin's accounts could not be joined: {}";
    /// Clients and origin have other settings.
    OTHER_OBJECTS = "the origin serves other objects than these clients expect: give both the same options for objects";
    /// Why there is no io_uring.
    EPOLL_USED = "{}, so epoll was used";
    /// Lines.
    LINES_LOST = "{} lines were not shown while the run went on: nobody took them fast enough";
    /// Requests.
    NOT_KEPT = "{} single requests were not kept: the run file could not be written so fast; --keep 1/N keeps fewer";
    /// The file, why.
    UNWRITTEN = "the run file {} cannot be written: {}. The run goes on; free some space, or choose another place with --keep-in";
    /// The file, why.
    QLOG_INCOMPLETE = "the qlog file {} is incomplete: {}";
    /// Seconds, requests per second, who.
    RATE_CHANGED = "from {} s on the rate was {}/s, set by {}: the command does not repeat that, `wringer runs repeat --plan` does";
    /// Requests, those that the plan asks for.
    RAN_OUT = "nothing was left to send after {} of {} requests: rows or URLs that are used once had run out";
    /// Seconds, the condition, seconds.
    STOPPED_BY_CONDITION = "the run was stopped after {} s by its condition: {}, since {} s";
    /// Seconds, who.
    STOPPED = "the run was stopped after {} s by {}";
    /// Seconds, what was said.
    MARK = "mark at {} s: {}";
    /// Bytes.
    END_MISSING = "the last {} bytes of the run file cannot be read: writing stopped there, or they are damaged";
    /// Where, bytes.
    RECORDS_MISSING = "records are missing at byte {} of the run file ({} bytes)";
    /// Seconds.
    CUT_OFF = "this run ended without a word: it is known until {} s after its start";
    /// Of a verdict: nothing.
    UNTOLD = "the run ended without a word: nothing is known of the generator";
    /// Of a verdict: nothing.
    NOTHING_SENT = "no request was sent";
    /// Of a verdict on a target: requests.
    NOT_ASKED = "none of {} requests reached it: this machine had no port or descriptor left for them";
    /// Seconds since the start of the run, seconds.
    SILENT = "silent from {} s on: nothing came in the {} s after that";
    /// Seconds.
    NEVER_ANSWERED = "nothing came from it in {} s";
    /// Seconds since the start of the run, requests, seconds.
    NOTHING_GOOD_SINCE = "no good answer from {} s on: none of the {} requests of the {} s after that got one";
    /// Requests without a good answer, all requests.
    MOSTLY_BAD = "{} of {} requests got no good answer";
    /// Requests.
    NOT_ONE_GOOD = "not one of {} requests got a good answer";
    /// Requests, all of them, when they were due, seconds.
    LOST = "lost {} of {} requests, begun at {} s: no whole answer in up to {} s";
    /// The same, and what was asked.
    LOST_OF = "lost {} of {} requests, begun at {} s: no whole answer in up to {} s ({})";
    /// Requests, all of them.
    REFUSED = "refused the connections of {} of {} requests";
    /// Requests, all of them, statuses.
    BAD_STATUS = "answered {} of {} requests with status {}, not expected";
    /// Requests, all of them, how.
    FAILED = "{} of {} requests failed: {}";
    /// Requests, all of them.
    FAILED_OTHERWISE = "{} of {} requests failed otherwise";
    /// Answers, requests, how.
    CHECKS_FAILED = "in {} of {} answers a check failed: {}";
    /// Times.
    STRAY = "sent bytes that no request had asked for ({}×)";
    /// Seconds, due requests, hits, the share of hits before.
    STOPPED_STORING = "the cache stopped storing {} s into the run: of {} requests after that which were due to be hits {} were, before that {}";
    /// Objects, times, the share of hits of others, names, broken off, cut, never a hit.
    DEAD_OBJECTS = "{} objects were no hit the last {} times or more that they were due to be one, others of their size were in {}: {} (after a client broke off: {}, after a failure or a cut: {}; never a hit, so that their entries are blocked: {})";
    /// The program, its number, the signal, seconds.
    PROCESS_ENDED_BY_SIGNAL = "process {} (pid {}) was ended by {} {} s into the run";
    /// The program, its number, the code, seconds.
    PROCESS_ENDED_WITH_CODE = "process {} (pid {}) ended with exit code {} {} s into the run";
    /// The program, its number, seconds.
    PROCESS_ENDED = "process {} (pid {}) ended {} s into the run, and only its parent was told how";
    /// The end of a process, the address.
    NOBODY_LISTENS = "{}, and nobody listens at {} since";
    /// The worker, the program, its number, the signal, seconds.
    WORKER_ENDED_BY_SIGNAL = "worker {} of {} (pid {}) was ended by {} {} s into the run";
    /// The worker, the program, its number, the code, seconds.
    WORKER_ENDED_WITH_CODE = "worker {} of {} (pid {}) ended with exit code {} {} s into the run";
    /// The worker, the program, its number, seconds.
    WORKER_ENDED = "worker {} of {} (pid {}) ended {} s into the run, and only its parent was told how";
    /// The end of a worker, the process in its place.
    TOOK_ITS_PLACE = "{}, and process {} took its place";
    /// Seconds, the program, its number, the other program.
    WORKER_REPLACED = "from {} s on a worker of {} (pid {}) is another program, {}: the figures are of two programs";
    /// The program, its number, new workers, seconds, old ones.
    WORKERS_RELOADED = "{} (pid {}) began {} new workers {} s into the run and {} old ones ended by themselves: a reload, or workers that are replaced in turn";
    /// Seconds, the new number, the address, the program, its old number.
    TARGET_RESTARTED = "from {} s on process {} answers at {}, a new start of {} (pid {}): the figures are of both";
    /// Seconds, the new process, the address, the old one.
    TARGET_REPLACED = "from {} s on another program answers, {} at {}, in place of {}: the figures are of two programs";
    /// Seconds, the new process, the address, the old one.
    TARGET_JOINED = "from {} s on another process listens, {} at {}, beside {}: the answers are of both";
    /// Seconds, the address, the program, its number.
    TARGET_CLOSED = "from {} s on nobody listens at {} any more, though {} (pid {}) goes on";
    /// Seconds, the program, its number.
    TARGET_CHANGED = "something happened {} s into the run to {} (pid {}) that this version does not know";
    /// The end of a process.
    RUN_ENDED_THERE = "{}. The run was ended there; a single run goes on with --ignore-exit";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page has each of them in Chinese, with as many places.
    #[test]
    fn the_page_knows_every_sentence() {
        let table = include_str!("../../../web/src/text/notes.ts");
        for template in ALL {
            let row = table.lines().find(|line| line.contains(&format!("[\"{}\", \"", template.0)));
            let row = row.unwrap_or_else(|| panic!("web/src/text/notes.ts lacks: {}", template.0));
            assert_eq!(row.matches("{}").count(), 2 * template.0.matches("{}").count(), "{row}");
        }
    }

    #[test]
    fn values_stand_in_their_places() {
        assert_eq!(MARK.with(&[&"1.5", &"{} deployed"]), "mark at 1.5 s: {} deployed");
        assert_eq!(OTHER_OBJECTS.with(&[]), OTHER_OBJECTS.0);
    }
}
