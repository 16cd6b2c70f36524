//! Entries under `[parameters]`: `NAME = TYPE, arguments`.

use std::fmt;

/// What a parameter stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    /// One counter for the whole run.
    Counter {
        /// The first value.
        start: i64,
        /// The last one, at most.
        end: i64,
        /// What is added each time.
        step: i64,
        /// How it is written.
        format: Printf,
    },
    /// The time of the request, as strftime writes it.
    DateTime {
        /// strftime's format.
        format: String,
    },
    /// The number of worker and connection: 10001, 10002, 20001 …
    ConnectId {
        /// How it is written.
        format: Printf,
    },
    /// A line of a file, in turn.
    File {
        /// Relative to the working directory.
        path: String,
    },
}

/// A printf format of one whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printf {
    /// Text before the number.
    pub before: String,
    /// Flags: `-` left, `0` zeros, `+` sign, blank.
    pub flags: String,
    /// Width at least.
    pub width: usize,
    /// How digits are written.
    pub kind: Digits,
    /// Text after it.
    pub after: String,
}

/// How digits of a number are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// Decimal.
    Decimal,
    /// Hexadecimal in small letters.
    Hex,
    /// Hexadecimal in capitals.
    HexUpper,
    /// Octal.
    Octal,
}

/// Characters of a written number at most.
const WIDTH_LIMIT: usize = 1_000;

impl Printf {
    /// The number as it is.
    pub fn plain() -> Printf {
        Printf {
            before: String::new(),
            flags: String::new(),
            width: 0,
            kind: Digits::Decimal,
            after: String::new(),
        }
    }

    /// Reads `%08ld` and the like, with text around it; `%%` is a percent sign.
    ///
    /// # Errors
    /// What is no format of one whole number, in words.
    pub fn read(text: &str) -> Result<Printf, String> {
        let wrong = || format!("'{text}' is no format of one whole number: give one such as %08ld");
        let mut format: Option<Printf> = None;
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            plain.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                plain.push('%');
                rest = after;
                continue;
            }
            let conversion = rest.find(|letter: char| "diuxXo".contains(letter)).ok_or_else(wrong)?;
            let (spec, kind) = (&rest[..conversion], &rest[conversion..=conversion]);
            let spec = spec.trim_end_matches(['l', 'h', 'z', 'j']);
            let digits =
                spec.find(|letter: char| letter.is_ascii_digit() && letter != '0').unwrap_or(spec.len());
            let (flags, width) = spec.split_at(digits);
            let good = flags.chars().all(|flag| "-0+ ".contains(flag));
            let width = if width.is_empty() { 0 } else { width.parse().map_err(|_| wrong())? };
            if !good || width > WIDTH_LIMIT || format.is_some() {
                return Err(wrong());
            }
            format = Some(Printf {
                before: std::mem::take(&mut plain),
                flags: flags.to_owned(),
                width,
                kind: digits_of(kind),
                after: String::new(),
            });
            rest = &rest[conversion + 1..];
        }
        plain.push_str(rest);
        let format = format.ok_or_else(wrong)?;
        Ok(Printf { after: plain, ..format })
    }

    /// Writes a number.
    pub fn write(&self, number: i64) -> String {
        let (minus, digits) = match self.kind {
            Digits::Decimal => (number < 0, number.unsigned_abs().to_string()),
            Digits::Hex => (false, format!("{number:x}")),
            Digits::HexUpper => (false, format!("{number:X}")),
            Digits::Octal => (false, format!("{number:o}")),
        };
        let sign = match self.kind {
            _ if minus => "-",
            Digits::Decimal if self.flags.contains('+') => "+",
            Digits::Decimal if self.flags.contains(' ') => " ",
            _ => "",
        };
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        let fill = |with: &str| with.repeat(missing);
        let number = match (self.flags.contains('-'), self.flags.contains('0')) {
            (true, _) => format!("{sign}{digits}{}", fill(" ")),
            (false, true) => format!("{sign}{}{digits}", fill("0")),
            (false, false) => format!("{}{sign}{digits}", fill(" ")),
        };
        format!("{}{number}{}", self.before, self.after)
    }
}

impl fmt::Display for Printf {
    /// A format that reads as this one.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Digits::Decimal => "ld",
            Digits::Hex => "lx",
            Digits::HexUpper => "lX",
            Digits::Octal => "lo",
        };
        let width = if self.width > 0 { self.width.to_string() } else { String::new() };
        let escaped = |text: &str| text.replace('%', "%%");
        write!(to, "{}%{}{width}{kind}{}", escaped(&self.before), self.flags, escaped(&self.after))
    }
}

fn digits_of(letter: &str) -> Digits {
    match letter {
        "x" => Digits::Hex,
        "X" => Digits::HexUpper,
        "o" => Digits::Octal,
        _ => Digits::Decimal,
    }
}

impl Parameter {
    /// Reads `TYPE, arguments`.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn read(text: &str) -> Result<Parameter, String> {
        let (kind, arguments) = text.split_once(',').unwrap_or((text, ""));
        let arguments = arguments.trim();
        match kind.trim() {
            "COUNTER" => counter(arguments),
            "DATETIME" if arguments.is_empty() => {
                Err("DATETIME needs a format such as %Y%m%d%H%M%S".to_owned())
            }
            "DATETIME" => Ok(Parameter::DateTime { format: arguments.to_owned() }),
            "CONNECTID" => Ok(Parameter::ConnectId { format: format_or_plain(arguments)? }),
            "FILE" if arguments.is_empty() => Err("FILE needs the name of a file".to_owned()),
            "FILE" => Ok(Parameter::File { path: arguments.to_owned() }),
            other => Err(format!(
                "there is no type '{other}': give COUNTER, DATETIME, CONNECTID or FILE, then a comma"
            )),
        }
    }
}

fn format_or_plain(text: &str) -> Result<Printf, String> {
    if text.is_empty() { Ok(Printf::plain()) } else { Printf::read(text) }
}

/// `start, end, step[, format]`.
fn counter(text: &str) -> Result<Parameter, String> {
    let mut words = text.splitn(4, ',').map(str::trim);
    let mut number = |what: &str| {
        let word = words.next().unwrap_or_default();
        word.parse::<i64>()
            .map_err(|_| format!("COUNTER: '{word}' is no {what}: give start, end, step, format"))
    };
    let (start, end, step) = (number("start")?, number("end")?, number("step")?);
    let format = format_or_plain(words.next().unwrap_or_default())?;
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
    fn formats_write_what_printf_writes() {
        for (format, number, text) in [
            ("%ld", 7, "7"),
            ("%08ld", 7, "00000007"),
            ("%08ld", -7, "-0000007"),
            ("%-5d|", 7, "7    |"),
            ("%5d", 7, "    7"),
            ("%+d", 7, "+7"),
            ("% d", 7, " 7"),
            ("%04X", 255, "00FF"),
            ("%x", 255, "ff"),
            ("%o", 8, "10"),
            ("\"%03ld\"", 1, "\"001\""),
            ("100%% %i", 1, "100% 1"),
            ("%2ld", 12_345, "12345"),
        ] {
            let read = Printf::read(format).unwrap();
            assert_eq!(read.write(number), text, "{format}");
            assert_eq!(Printf::read(&read.to_string()), Ok(read), "{format}");
        }
        for format in ["", "abc", "%s", "%", "%08", "%ld %ld", "%f", "%*d", "%9999999ld", "%1.5ld", "%#x"] {
            assert!(Printf::read(format).is_err(), "{format}");
        }
    }

    #[test]
    fn parameters_are_read_or_refused() {
        let plain = Printf::plain();
        for (text, wanted) in [
            ("COUNTER, 1, 5, 1", Parameter::Counter { start: 1, end: 5, step: 1, format: plain.clone() }),
            ("CONNECTID", Parameter::ConnectId { format: plain.clone() }),
            ("DATETIME, %Y-%m-%d,%H", Parameter::DateTime { format: "%Y-%m-%d,%H".to_owned() }),
            ("FILE,  a b.txt ", Parameter::File { path: "a b.txt".to_owned() }),
        ] {
            assert_eq!(Parameter::read(text), Ok(wanted));
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
            assert!(Parameter::read(text).is_err(), "{text}");
        }
    }
}
