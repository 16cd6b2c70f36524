//! Entries under `[parameters]`: `NAME = TYPE, arguments`.

use ::plan::data::Format;

/// Kind of value that a parameter stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    /// One counter for the whole run.
    Counter {
        /// The first value.
        start: i64,
        /// The last one, at most.
        end: i64,
        /// Amount that is added each time.
        step: i64,
        /// How it is written; `None`: as it is.
        format: Option<Format>,
    },
    /// The time of the request, as strftime writes it.
    DateTime {
        /// strftime's format, in whatever character set the file is.
        format: Vec<u8>,
    },
    /// The number of worker and connection: 10001, 10002, 20001 …
    ConnectId {
        /// How it is written; `None`: as it is.
        format: Option<Format>,
    },
    /// A line of a file, in turn.
    File {
        /// Relative to the working directory.
        path: String,
    },
}

impl Parameter {
    /// Reads `TYPE, arguments`.
    ///
    /// # Errors
    /// The mistake, in words.
    pub fn read(text: &[u8]) -> Result<Parameter, String> {
        let comma = text.iter().position(|byte| *byte == b',');
        let (kind, arguments) = comma.map_or((text, &b""[..]), |at| (&text[..at], &text[at + 1..]));
        let arguments = arguments.trim_ascii();
        match kind.trim_ascii() {
            b"COUNTER" => counter(arguments),
            b"DATETIME" if arguments.is_empty() => {
                Err("DATETIME needs a format such as %Y%m%d%H%M%S".to_owned())
            }
            b"DATETIME" => Ok(Parameter::DateTime { format: arguments.to_vec() }),
            b"CONNECTID" => Ok(Parameter::ConnectId { format: format(arguments)? }),
            b"FILE" if arguments.is_empty() => Err("FILE needs the name of a file".to_owned()),
            b"FILE" => match std::str::from_utf8(arguments) {
                Ok(path) => Ok(Parameter::File { path: path.to_owned() }),
                Err(_) => {
                    let shown = String::from_utf8_lossy(arguments);
                    Err(format!("FILE: the name '{shown}' is not UTF-8: give the file a name that is"))
                }
            },
            other => Err(format!(
                "there is no type '{}': give COUNTER, DATETIME, CONNECTID or FILE, then a comma",
                String::from_utf8_lossy(other)
            )),
        }
    }
}

fn format(text: &[u8]) -> Result<Option<Format>, String> {
    (!text.is_empty()).then(|| Format::of_number(text)).transpose()
}

/// `start, end, step[, format]`.
fn counter(text: &[u8]) -> Result<Parameter, String> {
    let mut words = text.splitn(4, |byte| *byte == b',').map(<[u8]>::trim_ascii);
    let mut number = |what: &str| {
        let word = String::from_utf8_lossy(words.next().unwrap_or_default());
        word.parse::<i64>()
            .map_err(|_| format!("COUNTER: '{word}' is no {what}: give start, end, step, format"))
    };
    let start = number("start")?;
    let end = number("end")?;
    let step = number("step")?;
    let format = format(words.next().unwrap_or_default())?;
    if step == 0 {
        return Err("COUNTER: a step of 0 never moves".to_owned());
    }
    if start > end {
        return Err(format!("COUNTER: start {start} is greater than end {end}"));
    }
    Ok(Parameter::Counter { start, end, step, format })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_or_refused() {
        for (text, wanted) in [
            ("COUNTER, 1, 5, 1", Parameter::Counter { start: 1, end: 5, step: 1, format: None }),
            ("CONNECTID", Parameter::ConnectId { format: None }),
            ("DATETIME, %Y-%m-%d,%H", Parameter::DateTime { format: b"%Y-%m-%d,%H".to_vec() }),
            ("FILE,  a b.txt ", Parameter::File { path: "a b.txt".to_owned() }),
        ] {
            assert_eq!(Parameter::read(text.as_bytes()), Ok(wanted));
        }
        for text in [
            "",
            "RANDOM, 1,2",
            "COUNTER",
            "COUNTER, 1, 5",
            "COUNTER, 5, 1, 1",
            "COUNTER, 1, 5, 0",
            "FILE",
            "DATETIME",
            "COUNTER, 1, 9, 1, %s",
            "counter, 1, 2, 3",
        ] {
            assert!(Parameter::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
