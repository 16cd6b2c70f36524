//! A format of fields with literal text between them, compiled to searches for what follows each field.

use crate::entry::{Entry, Escape, Text};

use super::field::{Field, Filler, Times, escape_of};

/// A piece of a format as a dialect reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatPiece {
    /// Text that stands there as it is.
    Literal(String),
    /// A field.
    Field {
        /// Which.
        field: Field,
        /// How the dialect calls it, for messages.
        name: String,
        /// How it is laid out.
        shape: Shape,
    },
}

/// How a field is laid out, beyond ending where the literal behind it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// As it is.
    #[default]
    Plain,
    /// Blanks may stand before it.
    Padded,
    /// In braces, or missing together with the literal behind it: HAProxy's captured headers.
    Braces,
    /// In quotes of its own where it holds blanks or is marked so; `""` or `\"` inside is a quote.
    Quoted,
}

impl FormatPiece {
    /// A field as it is.
    pub fn field(field: Field, name: impl Into<String>) -> FormatPiece {
        FormatPiece::Field { field, name: name.into(), shape: Shape::Plain }
    }

    /// A field of this shape.
    pub fn shaped(field: Field, name: impl Into<String>, shape: Shape) -> FormatPiece {
        FormatPiece::Field { field, name: name.into(), shape }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Op {
    field: Field,
    name: String,
    escape: Escape,
    shape: Shape,
    /// The literal behind it; empty: the end of the line.
    until: Vec<u8>,
}

/// A compiled format.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    lead: Vec<u8>,
    ops: Vec<Op>,
    /// More may follow, which nobody reads.
    open: bool,
}

/// The place at which a line stops to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misfit {
    /// Byte of the line, from 1.
    pub column: u32,
    /// Number of the field that was to be read there, from 0; past the last: the line goes on where it should end.
    pub field: usize,
}

impl Template {
    /// Compiles pieces.
    ///
    /// # Errors
    /// In words, where two fields follow each other with nothing between them.
    pub fn compile(pieces: &[FormatPiece], dialect: Escape) -> Result<Template, String> {
        let mut template = Template::default();
        let mut bare = false;
        for piece in pieces {
            match piece {
                FormatPiece::Literal(text) if text.is_empty() => {}
                FormatPiece::Literal(text) => {
                    let slot = template.ops.last_mut().map_or(&mut template.lead, |op| &mut op.until);
                    slot.extend_from_slice(text.as_bytes());
                    bare = false;
                }
                // A path and the query behind it are one target.
                FormatPiece::Field { field, name, .. } if bare && template.goes_on(*field, name) => {}
                FormatPiece::Field { field, name, shape } => {
                    if let (true, Some(before)) = (bare, template.ops.last()) {
                        return Err(format!(
                            "nothing stands between {} and {name}, so nobody can tell where one ends: put a blank there",
                            before.name
                        ));
                    }
                    let name = name.clone();
                    let escape = escape_of(*field, dialect);
                    template.ops.push(Op { field: *field, name, escape, shape: *shape, until: Vec::new() });
                    bare = true;
                }
            }
        }
        if template.ops.is_empty() {
            return Err("it names no field".to_owned());
        }
        Ok(template)
    }

    /// Takes a query into the path that stands directly before it; nginx has its `?` between the two.
    fn goes_on(&mut self, field: Field, name: &str) -> bool {
        let Some(before) = self.ops.last_mut().filter(|op| matches!(op.field, Field::Path | Field::Target))
        else {
            return false;
        };
        let is_query = field == Field::Query || name == "$is_args";
        if is_query {
            before.field = Field::Target;
        }
        is_query
    }

    /// The same, for lines that may go on behind its last field.
    #[must_use]
    pub fn open(mut self) -> Template {
        if let Some(last) = self.ops.last_mut()
            && last.until.is_empty()
        {
            last.until.push(b' ');
        }
        self.open = true;
        self
    }

    /// True if it has a field of this kind.
    pub fn has(&self, wanted: impl Fn(Field) -> bool) -> bool {
        self.ops.iter().any(|op| wanted(op.field))
    }

    /// The dialect's name of a field, by its number.
    pub fn name_of(&self, field: usize) -> Option<&str> {
        self.ops.get(field).map(|op| op.name.as_str())
    }

    /// Number of its fields.
    pub fn fields(&self) -> usize {
        self.ops.len()
    }

    /// Reads a line into an entry that says nothing yet.
    ///
    /// # Errors
    /// The place at which it stops to fit.
    #[inline]
    pub fn read<'a>(&self, line: &'a [u8], times: &mut Times, entry: &mut Entry<'a>) -> Result<(), Misfit> {
        let mut filler = Filler::new(entry);
        let misfit = |rest: &[u8], field| Misfit { column: (line.len() - rest.len()) as u32 + 1, field };
        let mut rest = line.strip_prefix(&self.lead[..]).ok_or(Misfit { column: 1, field: 0 })?;
        let last = self.ops.len() - 1;
        for (number, op) in self.ops.iter().enumerate() {
            let begin = rest;
            let Some((found, after)) = op.take(rest, self.open && number == last) else {
                return Err(misfit(begin, number));
            };
            rest = after;
            let text = Text { bytes: found, escape: op.escape };
            if !filler.put(op.field, text, times) {
                return Err(misfit(begin, number));
            }
        }
        if !(self.open || rest.iter().all(u8::is_ascii_whitespace)) {
            return Err(misfit(rest, self.ops.len()));
        }
        filler.finish(times);
        Ok(())
    }
}

impl Op {
    /// The field's text and what follows the literal behind it.
    #[inline]
    fn take<'a>(&self, text: &'a [u8], may_end: bool) -> Option<(&'a [u8], &'a [u8])> {
        match self.shape {
            Shape::Plain => self.plain(text, may_end),
            Shape::Padded => self.plain(text.trim_ascii_start(), may_end),
            Shape::Braces => match text.strip_prefix(b"{") {
                None => Some((&text[..0], text)),
                Some(rest) => {
                    let end = memchr::memchr(b'}', rest)?;
                    Some((&rest[..end], rest[end + 1..].strip_prefix(&self.until[..])?))
                }
            },
            Shape::Quoted => match text.strip_prefix(b"\"") {
                None => self.plain(text, may_end),
                Some(rest) => {
                    let end = closing_quote(rest)?;
                    let after = &rest[end + 1..];
                    let after = match after.strip_prefix(&self.until[..]) {
                        Some(after) => after,
                        None if may_end && after.is_empty() => after,
                        None => return None,
                    };
                    Some((&rest[..end], after))
                }
            },
        }
    }

    #[inline]
    fn plain<'a>(&self, text: &'a [u8], may_end: bool) -> Option<(&'a [u8], &'a [u8])> {
        let [first, more @ ..] = &self.until[..] else {
            let end = text.trim_ascii_end();
            return Some((end, &text[end.len()..]));
        };
        let mut from = 0;
        loop {
            let Some(at) = memchr::memchr(*first, &text[from..]).map(|at| from + at) else {
                return (may_end && !text.is_empty()).then_some((text, &text[text.len()..]));
            };
            let after = &text[at + 1..];
            // Where nothing is escaped, a backslash before a quote is a backslash.
            let escaped = *first == b'"' && self.escape != Escape::None && is_escaped(text, at);
            if !escaped && let Some(after) = after.strip_prefix(more) {
                return Some((&text[..at], after));
            }
            from = at + 1;
        }
    }
}

/// True if an odd number of backslashes stands before this place.
#[inline]
fn is_escaped(text: &[u8], at: usize) -> bool {
    text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Where the quote is that ends a text; `\"` and `""` belong to it.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(b'"', &text[from..])?;
        if is_escaped(text, at) {
            from = at + 1;
        } else if text.get(at + 1) == Some(&b'"') {
            from = at + 2;
        } else {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Named, Sent};
    use crate::format::field::Unit;

    fn read<'a>(template: &Template, line: &'a [u8]) -> Result<Entry<'a>, Misfit> {
        let mut entry = Entry::default();
        template.read(line, &mut Times::default(), &mut entry).map(|()| entry)
    }

    fn combined() -> Template {
        let pieces = [
            FormatPiece::field(Field::Address, "%h"),
            FormatPiece::Literal(" ".into()),
            FormatPiece::field(Field::Skip, "%l"),
            FormatPiece::Literal(" [".into()),
            FormatPiece::field(Field::Time(crate::format::field::TimeForm::Clf), "%t"),
            FormatPiece::Literal("] \"".into()),
            FormatPiece::field(Field::Line, "%r"),
            FormatPiece::Literal("\" ".into()),
            FormatPiece::field(Field::Status, "%>s"),
            FormatPiece::Literal(" ".into()),
            FormatPiece::field(Field::BodyBytes, "%b"),
        ];
        Template::compile(&pieces, Escape::Backslash).unwrap()
    }

    #[test]
    fn lines_are_cut_at_what_follows_each_field() {
        let line = br#"192.0.2.1 - john doe [10/Oct/2000:13:55:36 -0700] "GET /a\"b HTTP/1.0" 200 23"#;
        let entry = read(&combined(), line).unwrap();
        assert_eq!(entry.address.bytes, b"192.0.2.1");
        assert_eq!(entry.time.unwrap().us, 971_211_336_000_000);
        let Named::Line(request) = entry.object else { panic!("{entry:?}") };
        assert_eq!(request.bytes, br#"GET /a\"b HTTP/1.0"#);
        assert_eq!((entry.status, entry.sent), (Some(200), Sent::Body(23)));
    }

    #[test]
    fn a_misfit_says_where() {
        for (line, column, field) in [
            ("x", 1, 0),
            ("192.0.2.1 - - [yesterday] \"GET / HTTP/1.0\" 200 23", 16, 2),
            ("192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" abc 23", 61, 4),
            ("192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 23 more", 65, 5),
        ] {
            let misfit = read(&combined(), line.as_bytes()).unwrap_err();
            assert_eq!(misfit, Misfit { column, field }, "{line}");
        }
    }

    #[test]
    fn shapes() {
        let pieces = [
            FormatPiece::shaped(Field::Duration(Unit::Millis), "%6tr", Shape::Padded),
            FormatPiece::Literal(" ".into()),
            FormatPiece::shaped(Field::Skip, "%hr", Shape::Braces),
            FormatPiece::Literal(" ".into()),
            FormatPiece::shaped(Field::Agent, "agent", Shape::Quoted),
        ];
        let template = Template::compile(&pieces, Escape::None).unwrap();
        for (line, ms, agent) in [
            ("    12 {a|b c} curl", 12, "curl"),
            ("12 \"curl \"\"x\"\"\"", 12, "curl \"\"x\"\""),
            ("0 {} curl", 0, "curl"),
        ] {
            let entry = read(&template, line.as_bytes()).unwrap();
            assert_eq!(entry.duration_us, Some(ms * 1000), "{line}");
            assert_eq!(entry.agent.bytes, agent.as_bytes(), "{line}");
        }
        let two = [FormatPiece::field(Field::Status, "%a"), FormatPiece::field(Field::Status, "%b")];
        assert!(Template::compile(&two, Escape::None).unwrap_err().contains("between %a and %b"));
        let open = Template::compile(&pieces[..1], Escape::None).unwrap().open();
        for line in ["12", "12 whatever"] {
            assert!(read(&open, line.as_bytes()).is_ok(), "{line}");
        }
    }
}
