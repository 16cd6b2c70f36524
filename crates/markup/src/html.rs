//! HTML as pages have it. Elements whose end may be left out are ended by what follows, as the standard has it for paragraphs,
//! lists, tables and options; an end without a beginning is passed by.

use crate::entity;
use crate::tree::{Attribute, Builder, DEPTH, Document, MarkupContent, Node};

/// Elements that hold nothing (HTML, section 13.1.2).
const VOID: [&str; 16] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr", "frame", "keygen",
];

/// Elements whose content is text, whatever it looks like.
const RAW: [&str; 6] = ["script", "style", "textarea", "title", "xmp", "noembed"];

/// Elements that end a paragraph, and that stand on lines of their own.
const BLOCKS: [&str; 38] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "td",
    "tr",
    "ul",
];

/// Elements of a page's head.
const HEAD: [&str; 7] = ["title", "meta", "link", "base", "script", "style", "noscript"];

/// True if an element stands on lines of its own.
fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name) || matches!(name, "br" | "th" | "option" | "optgroup")
}

/// The open elements that a new one ends, and those that keep it from doing so.
fn ended_by(name: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    Some(match name {
        "li" => (&["li"], &["ul", "ol", "menu", "dir"]),
        "dt" | "dd" => (&["dt", "dd"], &["dl"]),
        "option" => (&["option"], &["select", "datalist", "optgroup"]),
        "optgroup" => (&["option", "optgroup"], &["select"]),
        "td" | "th" => (&["td", "th"], &["tr", "table"]),
        "tr" => (&["td", "th", "tr"], &["table", "thead", "tbody", "tfoot"]),
        "thead" | "tbody" | "tfoot" => (&["td", "th", "tr", "thead", "tbody", "tfoot"], &["table"]),
        name if BLOCKS.contains(&name) => (&["p"], &["table", "td", "button", "div", "form", "body"]),
        _ => return None,
    })
}

impl Document {
    /// Reads HTML, whatever it is.
    pub fn html(text: &str) -> Document {
        read(text)
    }

    /// The text that people see of an element of HTML: blanks joined, scripts and styles left out.
    pub fn shown(&self, node: Node) -> String {
        let mut all = String::new();
        for inner in self.descendants(node) {
            match self.content(inner) {
                MarkupContent::Text(text) => {
                    let parent = self.parent(inner).and_then(|parent| self.name(parent));
                    if !matches!(parent, Some("script" | "style" | "template")) || parent == self.name(node) {
                        all.push_str(text);
                    }
                }
                MarkupContent::Element { name, .. } if is_block(name) => all.push(' '),
                _ => {}
            }
        }
        if matches!(self.name(node), Some("script" | "style")) {
            return String::new();
        }
        let blank = |one: char| matches!(one, ' ' | '\t' | '\n' | '\r' | '\u{c}' | '\u{a0}');
        all.split(blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

fn read(text: &str) -> Document {
    let mut reader = HtmlReader { text, at: 0, builder: Builder::new() };
    while reader.at < text.len() && !reader.builder.is_full() {
        reader.next();
    }
    reader.builder.finish()
}

struct HtmlReader<'a> {
    text: &'a str,
    at: usize,
    builder: Builder,
}

impl<'a> HtmlReader<'a> {
    fn next(&mut self) {
        let rest = &self.text[self.at..];
        let markup = rest.starts_with('<')
            && rest[1..].starts_with(|one: char| one.is_ascii_alphabetic() || matches!(one, '/' | '!' | '?'));
        match markup {
            false => self.text(rest),
            true if rest.starts_with("<!--") => {
                let end = rest[4..].find("-->").map(|end| end + 4);
                let text = &rest[4..end.unwrap_or(rest.len())];
                self.builder.add(MarkupContent::Comment(text.to_owned()));
                self.at += end.map_or(rest.len(), |end| end + 3);
            }
            true if rest.starts_with("</") => self.end(rest),
            true if rest.starts_with(['!', '?']) || rest[1..].starts_with(['!', '?']) => {
                self.at += rest.find('>').map_or(rest.len(), |end| end + 1);
            }
            true => self.begin(rest),
        }
    }

    fn text(&mut self, rest: &str) {
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find('<').map_or(rest.len(), |end| first + end);
        let text = &rest[..end];
        // Blanks between the parts of a page are none of them.
        let is_between = matches!(self.builder.open_names().next(), None | Some("html" | "head"));
        if !text.trim().is_empty() {
            self.enter_body();
        }
        if !is_between || !text.trim().is_empty() {
            self.builder.text(&entity::of_html(text));
        }
        self.at += end;
    }

    /// Enters the body: content outside of a page's parts belongs to it.
    fn enter_body(&mut self) {
        self.ensure("html");
        if self.builder.open_names().any(|name| name == "body" || name == "frameset") {
            return;
        }
        self.close_to("head");
        self.open("body", Vec::new());
    }

    fn ensure(&mut self, name: &str) {
        if !self.builder.open_names().any(|open| open == name) {
            self.open(name, Vec::new());
        }
    }

    fn open(&mut self, name: &str, attributes: Vec<Attribute>) {
        self.builder.open(MarkupContent::Element { name: name.into(), attributes });
    }

    /// Ends all up to the innermost element of a name, if there is one.
    fn close_to(&mut self, name: &str) {
        let depth = self.builder.open_names().position(|open| open == name);
        (0..depth.map_or(0, |depth| depth + 1)).for_each(|_| self.builder.close());
    }

    fn end(&mut self, rest: &str) {
        let end = rest.find('>').unwrap_or(rest.len());
        let name = rest[2..end].split_whitespace().next().unwrap_or("").to_ascii_lowercase();
        self.at += (end + 1).min(rest.len());
        // The end of a page and its body is that of the text.
        if !matches!(name.as_str(), "html" | "body") {
            let walls: &[&str] = if name == "table" { &[] } else { &["td", "th", "table"] };
            let before = self.builder.open_names().take_while(|open| *open != name);
            let is_outside = before.into_iter().any(|open| walls.contains(&open));
            if !is_outside || matches!(name.as_str(), "tr" | "tbody" | "thead" | "tfoot" | "td" | "th") {
                self.close_to(&name);
            }
        }
    }

    fn begin(&mut self, rest: &'a str) {
        let (name, attributes, length, closed) = tag(rest);
        self.at += length;
        self.place(&name, &attributes);
        if matches!(name.as_str(), "html" | "body" | "head")
            && self.builder.open_names().any(|open| open == name)
        {
            return;
        }
        if let Some((ended, walls)) = ended_by(&name) {
            self.close_implied(ended, walls);
        }
        if self.builder.depth() >= DEPTH {
            return;
        }
        self.open(&name, attributes);
        if VOID.contains(&name.as_str()) || closed && is_foreign(&name) {
            return self.builder.close();
        }
        if RAW.contains(&name.as_str()) {
            self.raw(&name);
        }
    }

    /// Opens the parts of a page that an element stands in.
    fn place(&mut self, name: &str, _: &[Attribute]) {
        match name {
            "html" => {}
            "head" => self.ensure("html"),
            "body" | "frameset" => {
                self.ensure("html");
                self.close_to("head");
            }
            name if HEAD.contains(&name) => {
                self.ensure("html");
                if !self.builder.open_names().any(|open| open == "body") {
                    self.ensure("head");
                }
            }
            _ => self.enter_body(),
        }
    }

    fn close_implied(&mut self, ended: &[&str], walls: &[&str]) {
        let mut last = None;
        for (depth, open) in self.builder.open_names().enumerate() {
            if walls.contains(&open) {
                break;
            }
            if ended.contains(&open) {
                last = Some(depth);
            }
        }
        if let Some(depth) = last {
            (0..=depth).for_each(|_| self.builder.close());
        }
    }

    /// Text up to the end of its element.
    fn raw(&mut self, name: &str) {
        let rest = &self.text[self.at..];
        let ends = |at: &usize| {
            rest.get(at + 2..at + 2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
        };
        let end = rest.match_indices("</").map(|(at, _)| at).find(ends);
        let text = &rest[..end.unwrap_or(rest.len())];
        if !text.is_empty() {
            match name {
                "textarea" | "title" => self.builder.text(&entity::of_html(text)),
                _ => self.builder.text(text),
            }
        }
        self.builder.close();
        let after = end.map(|end| rest[end..].find('>').map_or(rest.len(), |close| end + close + 1));
        self.at += after.unwrap_or(rest.len());
    }
}

/// Elements of SVG and the like, which may end at once.
fn is_foreign(name: &str) -> bool {
    matches!(name, "path" | "circle" | "rect" | "line" | "use" | "polygon" | "polyline" | "ellipse" | "stop")
}

/// The name, the attributes and the length of a tag, and whether it ends its element at once.
fn tag(text: &str) -> (String, Vec<Attribute>, usize, bool) {
    let bytes = text.as_bytes();
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
    let end = bytes.iter().position(is_end).unwrap_or(bytes.len());
    let name = text[1..end].to_ascii_lowercase();
    let mut at = end;
    let mut attributes = Vec::<Attribute>::new();
    let mut closed = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' => return (name, attributes, at + 1, closed),
            b'/' => closed = true,
            byte if !byte.is_ascii_whitespace() => {
                let (attribute, length) = attribute(&text[at..]);
                at += length;
                closed = false;
                if !attributes.iter().any(|known| known.name == attribute.name) {
                    attributes.push(attribute);
                }
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    (name, attributes, bytes.len(), closed)
}

/// An attribute and its length.
fn attribute(text: &str) -> (Attribute, usize) {
    let ends = |one: char| one.is_ascii_whitespace() || matches!(one, '>' | '/' | '=');
    let first = text.chars().next().map_or(0, char::len_utf8);
    let name_end = text[first..].find(ends).map_or(text.len(), |end| end + first);
    let name = text[..name_end].to_ascii_lowercase();
    let of =
        |value: &str| Attribute { name: name.as_str().into(), value: entity::of_html(value).into_owned() };
    let rest = text[name_end..].trim_start();
    let Some(rest) = rest.strip_prefix('=') else { return (of(""), name_end) };
    let rest = rest.trim_start();
    let before = text.len() - rest.len();
    if let Some(quote) = rest.chars().next().filter(|one| matches!(one, '"' | '\'')) {
        let value = &rest[1..];
        let end = value.find(quote).unwrap_or(value.len());
        return (of(&value[..end]), (before + end + 2).min(text.len()));
    }
    let end = rest.find(|one: char| one.is_ascii_whitespace() || one == '>').unwrap_or(rest.len());
    (of(&rest[..end]), before + end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pages_are_mended() {
        for (page, mended) in [
            ("<p>a<p>b", "<html><body><p>a</p><p>b</p></body></html>"),
            (
                "<ul><li>a<li>b<ul><li>c</ul></ul>d",
                "<html><body><ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>d</body></html>",
            ),
            ("<title>a & b</title>x", "<html><head><title>a &amp; b</title></head><body>x</body></html>"),
            ("<a B=c d='e' f>", "<html><body><a b=\"c\" d=\"e\" f=\"\"/></body></html>"),
            ("</b>x<br/>y", "<html><body>x<br/>y</body></html>"),
            (
                "<script>if (a < b) '</p>'</script>",
                "<html><head><script>if (a &lt; b) '&lt;/p&gt;'</script></head></html>",
            ),
            ("a < b", "<html><body>a &lt; b</body></html>"),
            (
                "<table><tr><td>1<td>2<tr><td>3</table>x",
                "<html><body><table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>x</body></html>",
            ),
            (
                "<select><option>a<option>b</select>",
                "<html><body><select><option>a</option><option>b</option></select></body></html>",
            ),
        ] {
            assert_eq!(read(page).markup(0), mended, "{page}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(page in "[<>/!a-c =\"'&;#\\-é\\[\\]?]{0,60}") {
            let document = read(&page);
            let again = read(&document.markup(0));
            prop_assert!(document.descendants(0).len() <= page.len() + 3);
            drop(again);
            drop(Document::xml(&page));
        }
    }
}
