//! XML 1.0 as far as answers have it: elements, attributes, text, CDATA, comments, instructions. A document type is passed by,
//! so that no entity of its own unfolds.

use crate::entity;
use crate::tree::{Attribute, Builder, DEPTH, Document, MOST, MarkupContent};

impl Document {
    /// Reads XML.
    ///
    /// # Errors
    /// Why it is no XML, with the line.
    pub fn xml(text: &str) -> Result<Document, String> {
        read(text)
    }
}

fn read(text: &str) -> Result<Document, String> {
    let mut reader = XmlReader { text, at: 0, builder: Builder::new(), roots: 0 };
    let read = reader.all();
    let line = text[..reader.at.min(text.len())].matches('\n').count() + 1;
    read.map_err(|why| format!("line {line}: {why}"))?;
    Ok(reader.builder.finish())
}

struct XmlReader<'a> {
    text: &'a str,
    at: usize,
    builder: Builder,
    roots: usize,
}

type Read<T = ()> = Result<T, String>;

impl<'a> XmlReader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn all(&mut self) -> Read {
        self.at = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
        while !self.rest().is_empty() {
            if self.builder.is_full() {
                return Err(format!("more than {MOST} nodes"));
            }
            match self.rest().starts_with('<') {
                true => self.markup()?,
                false => self.text()?,
            }
        }
        if let Some(name) = self.builder.open_names().next() {
            return Err(format!("the element '{name}' has no end"));
        }
        if self.roots == 0 { Err("there is no element in it".to_owned()) } else { Ok(()) }
    }

    fn text(&mut self) -> Read {
        let end = self.rest().find('<').unwrap_or(self.rest().len());
        let text = &self.rest()[..end];
        if self.builder.depth() > 0 {
            let plain = entity::of_xml(text)?;
            self.builder.text(&plain.replace("\r\n", "\n"));
        } else if !text.trim().is_empty() {
            return Err("text outside of the element that holds all".to_owned());
        }
        self.at += end;
        Ok(())
    }

    /// Returns the text up to an end, which is passed.
    fn until(&mut self, begin: &str, end: &str) -> Read<&'a str> {
        let rest = &self.rest()[begin.len()..];
        let at = rest.find(end).ok_or_else(|| format!("'{begin}' has no '{end}'"))?;
        self.at += begin.len() + at + end.len();
        Ok(&rest[..at])
    }

    fn markup(&mut self) -> Read {
        let rest = self.rest();
        if rest.starts_with("<!--") {
            let text = self.until("<!--", "-->")?.to_owned();
            self.builder.add(MarkupContent::Comment(text));
        } else if rest.starts_with("<![CDATA[") {
            let text = self.until("<![CDATA[", "]]>")?;
            self.builder.text(text);
        } else if rest.starts_with("<?") {
            let (name, text) = split_name(self.until("<?", "?>")?);
            if name != "xml" {
                self.builder
                    .add(MarkupContent::Instruction { name: name.into(), text: text.trim().to_owned() });
            }
        } else if rest.starts_with("<!") {
            self.document_type()?;
        } else if rest.starts_with("</") {
            self.end()?;
        } else {
            self.begin()?;
        }
        Ok(())
    }

    /// With brackets in it, in which there may be quotes.
    fn document_type(&mut self) -> Read {
        let mut depth = 0usize;
        let mut quote = None;
        for (at, one) in self.rest().char_indices() {
            match (one, quote) {
                (one, Some(open)) if one == open => quote = None,
                (_, Some(_)) => {}
                ('"' | '\'', None) => quote = Some(one),
                ('<' | '[', None) => depth += 1,
                (']', None) => depth = depth.saturating_sub(1),
                ('>', None) if depth <= 1 => {
                    self.at += at + 1;
                    return Ok(());
                }
                ('>', None) => depth -= 1,
                _ => {}
            }
        }
        Err("the document type has no end".to_owned())
    }

    fn end(&mut self) -> Read {
        let name = self.until("</", ">")?.trim_end();
        match self.builder.open_names().next() {
            Some(open) if open == name => {}
            Some(open) => return Err(format!("'</{name}>' where '</{open}>' is due")),
            None => return Err(format!("'</{name}>' ends nothing")),
        }
        self.builder.close();
        Ok(())
    }

    fn begin(&mut self) -> Read {
        if self.builder.depth() == 0 {
            self.roots += 1;
        }
        if self.roots > 1 || self.builder.depth() >= DEPTH {
            let deep = format!("elements deeper than {DEPTH}");
            return Err(if self.roots > 1 { "a second element at the top".to_owned() } else { deep });
        }
        self.at += 1;
        let name = self.name()?;
        let mut attributes = Vec::new();
        let closed = loop {
            let blanks = self.rest().len() - self.rest().trim_start().len();
            self.at += blanks;
            if self.rest().starts_with("/>") {
                self.at += 2;
                break true;
            }
            if self.rest().starts_with('>') {
                self.at += 1;
                break false;
            }
            if blanks == 0 {
                return Err(format!("the element '{name}' is not as it should be"));
            }
            let attribute = self.attribute()?;
            if attributes.iter().any(|known: &Attribute| known.name == attribute.name) {
                return Err(format!("the attribute '{}' is there twice", attribute.name));
            }
            attributes.push(attribute);
        };
        self.builder.open(MarkupContent::Element { name: name.into(), attributes });
        if closed {
            self.builder.close();
        }
        Ok(())
    }

    fn name(&mut self) -> Read<&'a str> {
        let (name, _) = split_name(self.rest());
        let begins = name.starts_with(|one: char| one.is_alphabetic() || one == '_' || one == ':');
        if !begins {
            return Err("a name is missing".to_owned());
        }
        self.at += name.len();
        Ok(name)
    }

    fn attribute(&mut self) -> Read<Attribute> {
        let name = self.name()?;
        let rest = self.rest().trim_start();
        let rest = rest.strip_prefix('=').ok_or_else(|| format!("the attribute '{name}' has no value"))?;
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|one| matches!(one, '"' | '\''));
        let quote = quote.ok_or_else(|| format!("the attribute '{name}' has no quotes"))?;
        let end = rest[1..].find(quote).ok_or_else(|| format!("the attribute '{name}' has no end"))?;
        let value = &rest[1..=end];
        if value.contains('<') {
            return Err(format!("a '<' in the attribute '{name}'"));
        }
        let value = entity::of_xml(value)?.replace(['\n', '\t', '\r'], " ");
        self.at = self.text.len() - rest.len() + end + 2;
        Ok(Attribute { name: name.into(), value })
    }
}

/// A name, and what follows it.
fn split_name(text: &str) -> (&str, &str) {
    let ends = |one: char| !(one.is_alphanumeric() || matches!(one, '_' | ':' | '-' | '.' | '\u{b7}'));
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for text in ["<a/>", "<a b=\"1 &amp; &quot;2&quot;\">x<!--y--><?z w?>&lt;<c/></a>"] {
            assert_eq!(read(text).unwrap().markup(0), text);
        }
        let mixed = "\u{feff}<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY x \"]>\">]>\n<a  b = '1'><![CDATA[<&>]]></a >\n";
        assert_eq!(read(mixed).unwrap().markup(0), "<a b=\"1\">&lt;&amp;&gt;</a>");
    }

    #[test]
    fn what_is_no_xml_says_why() {
        for (text, why) in [
            ("", "no element"),
            ("text", "outside"),
            ("<a>", "'a' has no end"),
            ("<a>\n</b>", "line 2: '</b>' where '</a>' is due"),
            ("<a/><b/>", "second element"),
            ("<a b=1/>", "no quotes"),
            ("<a b='1' b='2'/>", "twice"),
            ("<a b='<'/>", "'<' in the attribute"),
            ("<a>&x;</a>", "'&x;' is not known"),
            ("<a>&</a>", "begins no entity"),
            ("<a><!--", "has no '-->'"),
            ("<!DOCTYPE a [", "document type has no end"),
            ("<a b='1'c='2'/>", "not as it should be"),
            ("<1/>", "a name is missing"),
            ("</a>", "ends nothing"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let deep = "<a>".repeat(DEPTH + 1);
        assert!(read(&deep).unwrap_err().contains("deeper"));
    }
}
