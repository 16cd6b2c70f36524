//! Logs of JSON objects, one a line: a walk along the keys that matter, past everything else.

use super::field::{Field, Filler, TimeForm, Times, Unit, escape_of};
use super::template::Misfit;
use crate::entry::{Entry, Escape, Text};

/// Which keys mean what; a key inside an object is written with dots, `request.uri`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mapping {
    nodes: Vec<JsonNode>,
    /// The paths that a person named, in that order.
    named: Vec<String>,
    /// Those that a line had: a bit for each.
    seen: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct JsonNode {
    keys: Vec<(Vec<u8>, JsonFound)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonFound {
    /// A field, and its place among the pairs.
    Field(Field, u8),
    Inner(usize),
}

/// Pairs that are told apart when it is told which of them no line has.
const MOST_NAMED: usize = 63;

impl Mapping {
    /// Pairs of a path and its field.
    pub fn new(pairs: &[(&str, Field)]) -> Mapping {
        let mut mapping = Mapping { nodes: vec![JsonNode::default()], ..Mapping::default() };
        for (path, field) in pairs {
            mapping.add(path, *field);
        }
        mapping
    }

    fn add(&mut self, path: &str, field: Field) {
        // At most sixty-three.
        let place = self.named.len().min(MOST_NAMED) as u8;
        // Some writers flatten objects into keys with dots.
        if path.contains('.') {
            self.nodes[0].keys.push((path.as_bytes().to_vec(), JsonFound::Field(field, place)));
        }
        let mut at = 0;
        let mut keys = path.split('.').peekable();
        while let Some(key) = keys.next() {
            if keys.peek().is_none() {
                self.nodes[at].keys.push((key.as_bytes().to_vec(), JsonFound::Field(field, place)));
                return;
            }
            let known = self.nodes[at].keys.iter().find_map(|(name, found)| match found {
                JsonFound::Inner(node) if name == key.as_bytes() => Some(*node),
                JsonFound::Inner(_) | JsonFound::Field(..) => None,
            });
            at = known.unwrap_or_else(|| {
                let node = self.nodes.len();
                self.nodes.push(JsonNode::default());
                self.nodes[at].keys.push((key.as_bytes().to_vec(), JsonFound::Inner(node)));
                node
            });
        }
    }

    /// Reads what a person wrote: `time=ts,method=request.method,…`.
    ///
    /// # Errors
    /// In words, with the fields that there are.
    pub fn parse(text: &str) -> Result<Mapping, String> {
        let mut mapping = Mapping::new(&[]);
        for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
            let (name, path) = pair
                .split_once('=')
                .ok_or_else(|| format!("'{pair}' is not FIELD=KEY, such as time=ts or path=request.uri"))?;
            let field = named_field(name.trim()).ok_or_else(|| {
                let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
                format!("'{name}' is no field: give one of {}", names.join(", "))
            })?;
            mapping.add(path.trim(), field);
            mapping.named.push(path.trim().to_owned());
        }
        let has = |wanted: fn(&Field) -> bool| mapping.fields().any(|field| wanted(&field));
        if !has(|field| matches!(field, Field::Time(_))) {
            return Err("it names no time: say time=KEY".to_owned());
        }
        if !has(is_object) {
            return Err("it names no object: say path=KEY, url=KEY, request=KEY or id=KEY".to_owned());
        }
        Ok(mapping)
    }

    /// The fields that it has.
    pub fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        self.nodes.iter().flat_map(|node| &node.keys).filter_map(|(_, found)| match found {
            JsonFound::Field(field, _) => Some(*field),
            JsonFound::Inner(_) => None,
        })
    }

    /// Paths that a person named, and no line had.
    pub fn unseen(&self) -> Vec<String> {
        let named = self.named.iter().take(MOST_NAMED).enumerate();
        named.filter(|(place, _)| self.seen & (1u64 << place) == 0).map(|(_, path)| path.clone()).collect()
    }

    /// Reads a line into an entry that says nothing yet.
    ///
    /// # Errors
    /// The place at which it stops to be an object of JSON, or a field that cannot be meant.
    pub fn read<'a>(
        &mut self,
        line: &'a [u8],
        times: &mut Times,
        entry: &mut Entry<'a>,
    ) -> Result<(), Misfit> {
        let mut walk = Walk { filler: Filler::new(entry), times, nodes: &self.nodes, seen: 0 };
        let misfit = |rest: &[u8]| Misfit { column: (line.len() - rest.len()) as u32 + 1, field: 0 };
        let begin = line.trim_ascii_start();
        let read = walk.object(0, begin);
        self.seen |= walk.seen;
        let rest = read.map_err(misfit)?;
        if !rest.trim_ascii().is_empty() {
            return Err(misfit(rest));
        }
        walk.filler.finish(walk.times);
        Ok(())
    }
}

/// True of fields that name an object.
pub fn is_object(field: &Field) -> bool {
    matches!(field, Field::Line | Field::Target | Field::Path | Field::Number)
}

struct Walk<'a, 't> {
    filler: Filler<'t, 'a>,
    times: &'t mut Times,
    nodes: &'t [JsonNode],
    /// As in [`Mapping`].
    seen: u64,
}

impl<'a> Walk<'a, '_> {
    /// Walks an object that begins here; returns what follows it, or the place that does not fit.
    fn object(&mut self, node: usize, text: &'a [u8]) -> Result<&'a [u8], &'a [u8]> {
        let mut rest = text.strip_prefix(b"{").ok_or(text)?;
        rest = blanks(rest);
        if let Some(after) = rest.strip_prefix(b"}") {
            return Ok(after);
        }
        loop {
            let inner = rest.strip_prefix(b"\"").ok_or(rest)?;
            let end = string_end(inner).ok_or(rest)?;
            let key = &inner[..end];
            let after = blanks(&inner[end + 1..]);
            let value = blanks(after.strip_prefix(b":").ok_or(after)?);
            rest = blanks(self.value(node, key, value)?);
            match rest.split_first() {
                Some((b',', more)) => rest = blanks(more),
                Some((b'}', more)) => return Ok(more),
                Some(_) | None => return Err(rest),
            }
        }
    }

    fn value(&mut self, node: usize, key: &[u8], value: &'a [u8]) -> Result<&'a [u8], &'a [u8]> {
        // A key may stand for a field in one mapping and for an object in another.
        let nodes = self.nodes;
        for (_, found) in nodes[node].keys.iter().filter(|(name, _)| name == key) {
            match found {
                JsonFound::Inner(inner) if value.first() == Some(&b'{') => return self.object(*inner, value),
                JsonFound::Field(field, place) if value.first() != Some(&b'{') => {
                    self.seen |= 1 << place;
                    return self.field(*field, value);
                }
                JsonFound::Inner(_) | JsonFound::Field(..) => {}
            }
        }
        skip(value).ok_or(value)
    }

    fn field(&mut self, field: Field, value: &'a [u8]) -> Result<&'a [u8], &'a [u8]> {
        // Of a list, as Caddy has fields of a head, the first counts.
        if let Some(inner) = value.strip_prefix(b"[") {
            let inner = blanks(inner);
            if !matches!(inner.first(), Some(b']' | b'[' | b'{') | None) {
                self.scalar(field, inner)?;
            }
            return skip(value).ok_or(value);
        }
        self.scalar(field, value)
    }

    fn scalar(&mut self, field: Field, value: &'a [u8]) -> Result<&'a [u8], &'a [u8]> {
        let (text, rest) = match value.strip_prefix(b"\"") {
            Some(inner) => {
                let end = string_end(inner).ok_or(value)?;
                (Text { bytes: &inner[..end], escape: escape_of(field, Escape::Json) }, &inner[end + 1..])
            }
            None => {
                let end = bare_end(value);
                let bytes = &value[..end];
                let bytes = if bytes == b"null" { &bytes[..0] } else { bytes };
                (Text::plain(bytes), &value[end..])
            }
        };
        if text.bytes.is_empty() && !matches!(field, Field::Aborted(_)) {
            return Ok(rest);
        }
        if self.filler.put(field, text, self.times) { Ok(rest) } else { Err(value) }
    }
}

#[inline]
fn blanks(text: &[u8]) -> &[u8] {
    match text.first() {
        Some(b' ' | b'\t' | b'\r') => text.trim_ascii_start(),
        Some(_) | None => text,
    }
}

/// Where the quote is that ends a string whose beginning was taken off.
#[inline]
fn string_end(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', &text[from..])?;
        if text[at] == b'"' {
            return Some(at);
        }
        from = at + 2;
        if from > text.len() {
            return None;
        }
    }
}

/// The end of a number, true, false or null.
#[inline]
fn bare_end(text: &[u8]) -> usize {
    text.iter()
        .position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r'))
        .unwrap_or(text.len())
}

/// The text behind a value; brackets inside strings do not count.
fn skip(text: &[u8]) -> Option<&[u8]> {
    let (open, close) = match text.first()? {
        b'"' => return string_end(&text[1..]).map(|end| &text[end + 2..]),
        b'{' => (b'{', b'}'),
        b'[' => (b'[', b']'),
        _ => {
            let end = bare_end(text);
            return (end > 0).then(|| &text[end..]);
        }
    };
    let mut depth = 1_usize;
    let mut rest = &text[1..];
    while depth > 0 {
        let at = memchr::memchr3(b'"', open, close, rest)?;
        let byte = rest[at];
        rest = &rest[at + 1..];
        if byte == b'"' {
            rest = &rest[string_end(rest)? + 1..];
        } else if byte == open {
            depth += 1;
        } else {
            depth -= 1;
        }
    }
    Some(rest)
}

/// Names of fields in `json:` and `csv:`.
pub const NAMES: [(&str, Field); 32] = [
    ("time", Field::Time(TimeForm::Any)),
    ("begin", Field::Began(TimeForm::Any)),
    ("duration", Field::Duration(Unit::Written)),
    ("duration_ms", Field::Duration(Unit::Millis)),
    ("duration_us", Field::Duration(Unit::Micros)),
    ("duration_ns", Field::Duration(Unit::Nanos)),
    ("first_byte", Field::FirstByte(Unit::Written)),
    ("first_byte_ms", Field::FirstByte(Unit::Millis)),
    ("upstream", Field::Upstream(Unit::Written)),
    ("upstream_ms", Field::Upstream(Unit::Millis)),
    ("address", Field::Address),
    ("agent", Field::Agent),
    ("connection", Field::Connection),
    ("user", Field::User),
    ("request", Field::Line),
    ("method", Field::Method),
    ("url", Field::Target),
    ("path", Field::Target),
    ("query", Field::Query),
    ("host", Field::Host),
    ("protocol", Field::Protocol),
    ("status", Field::Status),
    ("bytes", Field::BodyBytes),
    ("sent", Field::SentBytes),
    ("size", Field::Size),
    ("cache", Field::Cache),
    ("type", Field::ContentType),
    ("range", Field::Range),
    ("accept_encoding", Field::AcceptEncoding),
    ("cache_control", Field::CacheControl),
    ("ttl", Field::Ttl),
    ("id", Field::Number),
];

/// The field of a name in `json:` and `csv:`.
pub fn named_field(name: &str) -> Option<Field> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, field)| *field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Named, Sent};

    fn read<'a>(mapping: &Mapping, line: &'a str) -> Result<Entry<'a>, Misfit> {
        let mut entry = Entry::default();
        mapping.clone().read(line.as_bytes(), &mut Times::default(), &mut entry).map(|()| entry)
    }

    #[test]
    fn keys_are_found_at_any_depth_and_the_rest_is_passed_by() {
        let mapping =
            Mapping::parse("time=ts,method=request.method,path=request.uri,agent=request.headers.User-Agent,bytes=size,status=status,duration=duration").unwrap();
        let line = r#"{"level":"info","x":{"a":["}",{"b":"\"]"}]},"ts":1646861401.52,"request":{"uri":"/a\"b","method":"GET","headers":{"User-Agent":["curl/7","x"],"Accept":[]}},"bytes_read":0,"duration":0.25,"size":10900,"status":200 , "n":null}"#;
        let entry = read(&mapping, line).unwrap();
        assert_eq!(entry.time.unwrap().us, 1_646_861_401_520_000);
        assert_eq!(entry.object, Named::Target(Text { bytes: br#"/a\"b"#, escape: Escape::Json }));
        assert_eq!((entry.agent.bytes, entry.method.bytes), (&b"curl/7"[..], &b"GET"[..]));
        assert_eq!((entry.sent, entry.duration_us), (Sent::Body(10_900), Some(250_000)));
        let flat = read(&mapping, r#"{"ts":"2000-10-10T20:55:36Z","request.uri":"/x"}"#).unwrap();
        assert_eq!(flat.object, Named::Target(Text { bytes: b"/x", escape: Escape::Json }));
    }

    #[test]
    fn keys_that_no_line_has_are_known() {
        let mut mapping =
            Mapping::parse("time=t,path=req.uri,duration=duratoin,agent=req.agnet,status=s").unwrap();
        let lines = [
            r#"{"t":1646861401,"req":{"uri":"/a","agent":"x"},"duration":1}"#,
            r#"{"s":null,"t":1646861402}"#,
        ];
        assert_eq!(mapping.unseen().len(), 5);
        for line in lines {
            mapping.read(line.as_bytes(), &mut Times::default(), &mut Entry::default()).unwrap();
        }
        assert_eq!(mapping.unseen(), ["duratoin", "req.agnet"]);
        assert!(
            Mapping::new(&[("t", Field::Time(TimeForm::Any))]).unseen().is_empty(),
            "it is not a person's"
        );
    }

    #[test]
    fn what_is_no_object() {
        let mapping = Mapping::parse("time=t,path=p").unwrap();
        for (line, column) in [
            ("x", 1),
            ("{\"x\":1", 7),
            ("{\"x\":1}x", 8),
            ("{\"a\":{\"b\":\"}", 6),
            ("{\"a\" 1}", 6),
            ("{\"t\":\"yesterday\"}", 6),
            ("[1]", 1),
            ("{\"a\":\"\\", 6),
        ] {
            assert_eq!(read(&mapping, line).unwrap_err().column, column, "{line}");
        }
        assert!(read(&mapping, "{}").unwrap().time.is_none());
    }

    #[test]
    fn mappings_that_cannot_be_meant() {
        for (text, part) in [
            ("time=ts", "names no object"),
            ("path=p", "names no time"),
            ("when=ts,path=p", "is no field"),
            ("ts", "is not FIELD=KEY"),
        ] {
            assert!(Mapping::parse(text).unwrap_err().contains(part), "{text}");
        }
    }
}
