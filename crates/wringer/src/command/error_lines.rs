//! Lines about single requests that went wrong: a proxy that is gone makes the same one thousands of times a second.

use plan::{Plan, Step};

/// Different lines that are remembered within a second.
const REMEMBERED: usize = 64;

/// Different lines within a second that are told of requests that the plan has made up; what is common to them shows
/// by then.
const MADE_UP: usize = 20;

/// Tells each line once a second, and then how many there were like it.
#[derive(Debug)]
pub struct ErrorLines {
    /// The most different lines that are told within a second.
    most: usize,
    /// Different lines told in this second.
    told: usize,
    /// The lines of this second, with how often each came after the first time.
    seen: Vec<(String, u64)>,
    /// Lines of this second that were not told, beyond `most`.
    others: u64,
}

impl ErrorLines {
    /// As fits a plan: of URLs that somebody has listed each counts, and all are told.
    pub fn of(plan: &Plan) -> ErrorLines {
        let mut steps = plan.load.iter().flat_map(|load| &load.phases).flat_map(|phase| phase.sends());
        let is_list = steps.any(|step| matches!(step, Step::Urls(_)));
        ErrorLines { most: if is_list { usize::MAX } else { MADE_UP }, told: 0, seen: Vec::new(), others: 0 }
    }

    /// True if this line is to be printed now.
    pub fn is_new(&mut self, line: &str) -> bool {
        if let Some((_, more)) = self.seen.iter_mut().find(|(seen, _)| seen == line) {
            *more += 1;
            return false;
        }
        if self.told >= self.most {
            self.others += 1;
            return false;
        }
        self.told += 1;
        if self.seen.len() < REMEMBERED {
            self.seen.push((line.to_owned(), 0));
        }
        true
    }

    /// A second is over: what was held back in it, a line for each that came more than once.
    pub fn held_back(&mut self) -> Vec<String> {
        let repeated = self.seen.drain(..).filter(|(_, more)| *more > 0);
        let mut lines: Vec<String> =
            repeated.map(|(line, more)| format!("{line} … and {more} more like it")).collect();
        if self.others > 0 {
            lines.push(format!("… and {} more lines within this second", self.others));
        }
        (self.told, self.others) = (0, 0);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_lines(most: usize) -> ErrorLines {
        ErrorLines { most, told: 0, seen: Vec::new(), others: 0 }
    }

    #[test]
    fn the_same_line_is_told_once_a_second_and_nothing_is_lost() {
        let mut error_lines = error_lines(usize::MAX);
        let told = ["a", "b", "a", "a"].map(|line| error_lines.is_new(line));
        assert_eq!(told, [true, true, false, false]);
        assert_eq!(error_lines.held_back(), ["a … and 2 more like it"]);
        assert!(error_lines.held_back().is_empty());
        assert!(error_lines.is_new("a"), "a new second");
        for number in 0..1000 {
            assert!(error_lines.is_new(&number.to_string()), "different lines are all told");
        }
        assert!(error_lines.seen.len() <= REMEMBERED);
    }

    #[test]
    fn different_lines_are_told_up_to_a_number_and_the_others_counted() {
        let mut error_lines = error_lines(2);
        let told = ["a", "b", "c", "a", "d"].map(|line| error_lines.is_new(line));
        assert_eq!(told, [true, true, false, false, false]);
        assert_eq!(
            error_lines.held_back(),
            ["a … and 1 more like it", "… and 2 more lines within this second"]
        );
        assert!(error_lines.is_new("c"), "a new second");
    }
}
