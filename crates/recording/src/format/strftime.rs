//! Times written by a format of strftime(3), read back.

use crate::moment::{self, MomentParts};
use crate::text;

/// A format, ready to be read by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strftime {
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Byte(u8),
    Number(StrftimePart),
    MonthName,
    /// Of a day or a zone: it says nothing that is needed.
    Name,
    HalfOfDay,
    Below,
    Zone,
}

/// A part of a time that is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StrftimePart {
    Year,
    ShortYear,
    Month,
    Day,
    Hour,
    Hour12,
    Minute,
    Second,
    Unix,
}

impl StrftimePart {
    /// The fewest and the most digits that it has.
    const fn digits(self) -> (usize, usize) {
        match self {
            StrftimePart::Year => (4, 4),
            StrftimePart::ShortYear => (2, 2),
            StrftimePart::Month
            | StrftimePart::Day
            | StrftimePart::Hour
            | StrftimePart::Hour12
            | StrftimePart::Minute
            | StrftimePart::Second => (1, 2),
            StrftimePart::Unix => (1, 12),
        }
    }

    /// Sets it; false where the number cannot be this part.
    fn set(self, value: u64, parts: &mut MomentParts) -> bool {
        let small = value as u32;
        match self {
            StrftimePart::Year => parts.year = value as i64,
            StrftimePart::ShortYear => parts.year = if small < 69 { 2000 } else { 1900 } + value as i64,
            StrftimePart::Month => parts.month = small,
            StrftimePart::Day => parts.day = small,
            StrftimePart::Hour => parts.of_day = parts.of_day % 3_600 + small * 3_600,
            StrftimePart::Hour12 => parts.of_day = parts.of_day % 3_600 + small % 12 * 3_600,
            StrftimePart::Minute => {
                parts.of_day = parts.of_day / 3_600 * 3_600 + small * 60 + parts.of_day % 60
            }
            StrftimePart::Second => parts.of_day = parts.of_day / 60 * 60 + small,
            StrftimePart::Unix => parts.unix = Some(value as i64 * moment::SECOND),
        }
        match self {
            StrftimePart::Hour | StrftimePart::Hour12 => small < 24,
            StrftimePart::Minute => small < 60,
            StrftimePart::Second => small < 61,
            StrftimePart::Year
            | StrftimePart::ShortYear
            | StrftimePart::Month
            | StrftimePart::Day
            | StrftimePart::Unix => true,
        }
    }
}

impl Strftime {
    /// Compiles a format.
    ///
    /// # Errors
    /// The letter that is not read.
    pub fn compile(format: &str) -> Result<Strftime, char> {
        let mut items = Vec::new();
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                let mut bytes = [0; 4];
                items.extend(letter.encode_utf8(&mut bytes).bytes().map(Item::Byte));
                continue;
            }
            let code = letters
                .by_ref()
                .find(|code| !matches!(code, '-' | '_' | '0'..='9' | 'E' | 'O'))
                .unwrap_or('%');
            let text = |items: &mut Vec<Item>, format: &str| -> Result<(), char> {
                items.extend(Strftime::compile(format)?.items);
                Ok(())
            };
            match code {
                'Y' => items.push(Item::Number(StrftimePart::Year)),
                'y' => items.push(Item::Number(StrftimePart::ShortYear)),
                'm' => items.push(Item::Number(StrftimePart::Month)),
                'b' | 'B' | 'h' => items.push(Item::MonthName),
                'd' | 'e' => items.push(Item::Number(StrftimePart::Day)),
                'a' | 'A' => items.push(Item::Name),
                'H' | 'k' => items.push(Item::Number(StrftimePart::Hour)),
                'I' | 'l' => items.push(Item::Number(StrftimePart::Hour12)),
                'p' | 'P' => items.push(Item::HalfOfDay),
                'M' => items.push(Item::Number(StrftimePart::Minute)),
                'S' => items.push(Item::Number(StrftimePart::Second)),
                'f' | 'L' | 'N' => items.push(Item::Below),
                'z' => items.push(Item::Zone),
                'Z' => items.push(Item::Name),
                's' => items.push(Item::Number(StrftimePart::Unix)),
                'T' | 'X' => text(&mut items, "%H:%M:%S")?,
                'R' => text(&mut items, "%H:%M")?,
                'F' => text(&mut items, "%Y-%m-%d")?,
                'D' | 'x' => text(&mut items, "%m/%d/%y")?,
                'c' => text(&mut items, "%a %b %e %H:%M:%S %Y")?,
                'n' | 't' => items.push(Item::Byte(b' ')),
                '%' => items.push(Item::Byte(b'%')),
                other => return Err(other),
            }
        }
        Ok(Strftime { items })
    }

    /// Reads a text by it, to the end, into the parts that it tells.
    pub fn read(&self, text: &[u8], parts: &mut MomentParts) -> Option<()> {
        let mut rest = text;
        let mut afternoon = None;
        for item in &self.items {
            rest = read_item(*item, rest, parts, &mut afternoon)?;
        }
        match afternoon {
            Some(true) if parts.of_day < 43_200 => parts.of_day += 43_200,
            Some(false) if parts.of_day >= 43_200 => parts.of_day -= 43_200,
            Some(_) | None => {}
        }
        rest.is_empty().then_some(())
    }
}

fn read_item<'a>(
    item: Item,
    text: &'a [u8],
    parts: &mut MomentParts,
    afternoon: &mut Option<bool>,
) -> Option<&'a [u8]> {
    match item {
        Item::Byte(byte) => text.strip_prefix(&[byte]),
        Item::Number(part) => {
            let text = text.strip_prefix(b" ").unwrap_or(text);
            let (least, most) = part.digits();
            let count = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
            let (digits, rest) = text.split_at(count);
            (count >= least && part.set(text::number(digits)?, parts)).then_some(rest)
        }
        Item::MonthName => {
            parts.month = moment::month(text)?;
            Some(after_letters(text))
        }
        Item::Name => Some(after_letters(text)),
        Item::HalfOfDay => {
            *afternoon = Some(text.first()?.eq_ignore_ascii_case(&b'p'));
            Some(after_letters(text))
        }
        Item::Below => {
            let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (parts.micros, parts.resolution) = moment::subsecond(&text[..count])?;
            Some(&text[count..])
        }
        Item::Zone => {
            let sign = text.first().filter(|byte| matches!(byte, b'+' | b'-' | b'Z'))?;
            let digits = text[1..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b':').count();
            let length = if *sign == b'Z' { 1 } else { 1 + digits };
            parts.offset = Some(moment::offset(&text[..length])?);
            Some(&text[length..])
        }
    }
}

fn after_letters(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    &text[count..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Zone;

    fn check(format: &str, text: &str, us: i64) {
        let mut parts = MomentParts::default();
        let format = Strftime::compile(format).expect("a format");
        assert_eq!(format.read(text.as_bytes(), &mut parts), Some(()), "{text}");
        assert_eq!(parts.unix_us(&Zone::Untold), Some(us), "{text}");
    }

    #[test]
    fn times_by_many_formats() {
        check("%Y-%m-%d %H:%M:%S", "2000-10-10 20:55:36", 971_211_336_000_000);
        check("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700", 971_211_336_000_000);
        check("%FT%T.%f%z", "2000-10-10T13:55:36.125-07:00", 971_211_336_125_000);
        check("%s.%3f", "971211336.125", 971_211_336_125_000);
        check("%a %b %e %I:%M:%S %p %Y", "Tue Oct 10 08:55:36 PM 2000", 971_211_336_000_000);
        check("%a, %d %B %y %T %Z", "Tue, 10 October 00 20:55:36 GMT", 971_211_336_000_000);
    }

    #[test]
    fn what_does_not_fit() {
        let format = Strftime::compile("%Y-%m-%d").unwrap();
        for text in ["2000-10", "2000-10-10x", "20-10-10"] {
            assert_eq!(format.read(text.as_bytes(), &mut MomentParts::default()), None, "{text}");
        }
        assert_eq!(Strftime::compile("%Y %Q"), Err('Q'));
    }
}
