//! Output of ab on single requests (`-v`).

use measure::event::HeadTitle;

/// Prints the request once and the head of each answer.
#[derive(Debug)]
pub struct Heads {
    verbosity: i64,
    request_told: bool,
}

impl Heads {
    /// At a level of `-v`.
    pub fn new(verbosity: i64) -> Heads {
        Heads { verbosity, request_told: false }
    }

    /// Returns the output on a head; nothing for each request after the first, since all are the same.
    pub fn text(&mut self, title: HeadTitle, head: &[u8]) -> String {
        let head_text = String::from_utf8_lossy(head);
        match title {
            HeadTitle::RequestToProxy if !std::mem::replace(&mut self.request_told, true) => {
                let method = head_text.split(' ').next().expect("a split has a first part");
                format!("INFO: {method} header == \n---\n{head_text}\n---\n")
            }
            HeadTitle::ResponseFromProxy => self.answer(&head_text),
            _ => String::new(),
        }
    }

    fn answer(&self, head: &str) -> String {
        let status = head.split(' ').nth(1).and_then(|word| word.get(..3)).unwrap_or("500");
        let mut text = format!("LOG: header received:\n{head}\n");
        if !status.starts_with('2') {
            text += &format!("WARNING: Response code not 2xx ({status})\n");
        } else if self.verbosity >= 3 {
            text += &format!("LOG: Response code = {status}\n");
        }
        text
    }
}
