//! Style sheets as JMeter looks into them: the sheets that they import. Other URLs in them it leaves alone, as browsers do until a
//! rule applies.

/// References of the `@import` rules of a sheet that stand outside of blocks, in order.
pub(super) fn imports(sheet: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = sheet;
    let mut depth = 0_u32;
    while let Some(next) = rest.chars().next() {
        rest = match next {
            '/' if rest.starts_with("/*") => behind(&rest[2..], "*/"),
            '"' | '\'' => text(rest).rest,
            '@' if depth == 0 && is_import(rest) => match reference(rest[IMPORT.len()..].trim_start()) {
                Some(SheetText { value, rest }) => {
                    found.push(value);
                    rest
                }
                None => &rest[IMPORT.len()..],
            },
            _ => {
                depth = match next {
                    '{' => depth + 1,
                    '}' => depth.saturating_sub(1),
                    _ => depth,
                };
                &rest[next.len_utf8()..]
            }
        };
    }
    found.retain(|reference| !reference.is_empty());
    found
}

const IMPORT: &str = "@import";

fn is_import(rest: &str) -> bool {
    rest.get(..IMPORT.len()).is_some_and(|word| word.eq_ignore_ascii_case(IMPORT))
        && rest[IMPORT.len()..].starts_with(|next: char| next.is_whitespace() || matches!(next, '"' | '\''))
}

/// A quoted text, or what stands in `url(…)`, and what follows it.
struct SheetText<'a> {
    value: String,
    rest: &'a str,
}

fn reference(rest: &str) -> Option<SheetText<'_>> {
    if rest.starts_with(['"', '\'']) {
        return Some(text(rest));
    }
    let function = rest.get(..4).filter(|word| word.eq_ignore_ascii_case("url("))?;
    let inner = rest[function.len()..].trim_start();
    if inner.starts_with(['"', '\'']) {
        let SheetText { value, rest } = text(inner);
        return Some(SheetText { value, rest: behind(rest, ")") });
    }
    let end = inner.find(')')?;
    Some(SheetText { value: inner[..end].trim_end().to_owned(), rest: &inner[end + 1..] })
}

/// The text that begins with a quotation mark. One that nothing ends goes on to the end.
fn text(rest: &str) -> SheetText<'_> {
    let mut chars = rest.char_indices();
    let quote = chars.next().map(|(_, quote)| quote);
    let mut value = String::new();
    while let Some((at, next)) = chars.next() {
        if Some(next) == quote {
            return SheetText { value, rest: &rest[at + next.len_utf8()..] };
        }
        value.extend(if next == '\\' { chars.next().map(|(_, escaped)| escaped) } else { Some(next) });
    }
    SheetText { value, rest: "" }
}

fn behind<'a>(rest: &'a str, end: &str) -> &'a str {
    rest.find(end).map_or("", |at| &rest[at + end.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen of JMeter 5.6.3 in front of such sheets.
    #[test]
    fn sheets_are_those_of_import_rules_outside_of_blocks() {
        for (sheet, found) in [
            (
                "@import url(\"b.css\");\n@import 'c.css' screen; @IMPORT url( d.css );",
                &["b.css", "c.css", "d.css"][..],
            ),
            ("/* @import \"no.css\"; */ a { background: url(no.png) } @import \"late.css\";", &["late.css"]),
            ("a:after { content: '@import \"no.css\"' } @media x { @import \"no.css\"; }", &[]),
            ("@importance 'no.css'; @import", &[]),
            ("@import 'open", &["open"]),
            ("@import url('a", &["a"]),
            ("@import url(a", &[]),
        ] {
            assert_eq!(imports(sheet), found, "{sheet}");
        }
    }
}
