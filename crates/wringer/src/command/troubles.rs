//! Lines about single requests that went wrong: a proxy that is gone makes the same one thousands of times a second.

/// Different lines that are remembered within a second; beyond, each is told.
const REMEMBERED: usize = 64;

/// Tells each line once a second, and then how many there were like it.
#[derive(Debug, Default)]
pub struct Troubles {
    /// The lines of this second, with how often each came after the first time.
    seen: Vec<(String, u64)>,
}

impl Troubles {
    /// Whether this line is to be printed now.
    pub fn is_new(&mut self, line: &str) -> bool {
        if let Some((_, more)) = self.seen.iter_mut().find(|(seen, _)| seen == line) {
            *more += 1;
            return false;
        }
        if self.seen.len() < REMEMBERED {
            self.seen.push((line.to_owned(), 0));
        }
        true
    }

    /// A second is over: what was held back in it, a line for each that came more than once.
    pub fn held_back(&mut self) -> Vec<String> {
        let repeated = self.seen.drain(..).filter(|(_, more)| *more > 0);
        repeated.map(|(line, more)| format!("{line} … and {more} more like it")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_line_is_told_once_a_second_and_nothing_is_lost() {
        let mut troubles = Troubles::default();
        let told = ["a", "b", "a", "a"].map(|line| troubles.is_new(line));
        assert_eq!(told, [true, true, false, false]);
        assert_eq!(troubles.held_back(), ["a … and 2 more like it"]);
        assert!(troubles.held_back().is_empty());
        assert!(troubles.is_new("a"), "a new second");
        for number in 0..1000 {
            assert!(troubles.is_new(&number.to_string()), "different lines are all told");
        }
        assert!(troubles.seen.len() <= REMEMBERED);
    }
}
