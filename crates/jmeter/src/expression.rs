//! Text with `${name}` and `${__function(a,b)}`, taken apart as JMeter does: a backslash frees `$`, `,` and itself, but only in
//! text that holds a placeholder at all; a function that is not known is the name of a variable.

/// Text with placeholders, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(Vec<Piece>);

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Stays as it is.
    Fixed(String),
    /// `${name}`.
    Variable(String),
    /// `${__name(…)}`.
    Call(Call),
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// With its two underscores.
    pub name: String,
    /// Its arguments, which may hold calls again.
    pub arguments: Vec<Text>,
}

/// Placeholders may stand in each other this deep.
const MAX_DEPTH: usize = 50;

impl Text {
    /// Takes a text apart. `known`: whether there is a function of that name.
    ///
    /// # Errors
    /// A call that goes on behind its closing parenthesis: JMeter takes such text as it stands.
    pub fn parse(text: &str, known: &dyn Fn(&str) -> bool) -> Result<Text, String> {
        let parsed = Parser { known }.text(text, 0)?;
        let has_placeholder = parsed.0.iter().any(|piece| !matches!(piece, Piece::Fixed(_)));
        Ok(if has_placeholder { parsed } else { Text::fixed(text) })
    }

    /// Text without placeholders.
    pub fn fixed(text: &str) -> Text {
        Text(if text.is_empty() { Vec::new() } else { vec![Piece::Fixed(text.to_owned())] })
    }

    /// A call alone.
    pub(crate) fn of_call(call: Call) -> Text {
        Text(vec![Piece::Call(call)])
    }

    /// A piece alone.
    pub(crate) fn of(piece: Piece) -> Text {
        Text(vec![piece])
    }

    /// Its pieces, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The text where there is no placeholder in it.
    pub fn as_fixed(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Fixed(text)] => Some(text),
            _ => None,
        }
    }

    /// Hands over each call in it, those in arguments before those that they stand in.
    pub fn calls<'a>(&'a self, to: &mut dyn FnMut(&'a Call)) {
        for piece in &self.0 {
            if let Piece::Call(call) = piece {
                call.arguments.iter().for_each(|argument| argument.calls(to));
                to(call);
            }
        }
    }

    fn push(&mut self, piece: Piece) {
        match (self.0.last_mut(), piece) {
            (_, Piece::Fixed(text)) if text.is_empty() => {}
            (Some(Piece::Fixed(before)), Piece::Fixed(text)) => before.push_str(&text),
            (_, piece) => self.0.push(piece),
        }
    }
}

struct Parser<'a> {
    known: &'a dyn Fn(&str) -> bool,
}

impl Parser<'_> {
    fn text(&self, text: &str, depth: usize) -> Result<Text, String> {
        let mut parsed = Text::default();
        let mut rest = text;
        while let Some(at) = rest.find(['\\', '$']) {
            parsed.push(Piece::Fixed(rest[..at].to_owned()));
            rest = &rest[at..];
            if rest.starts_with("${") && depth < MAX_DEPTH {
                let (piece, after) = self.placeholder(&rest[2..], depth)?;
                parsed.push(piece);
                rest = after;
            } else if let Some(escaped) = rest.strip_prefix('\\') {
                let freed = escaped.starts_with(['$', ',', '\\']);
                let length = escaped.chars().next().map_or(0, char::len_utf8);
                let slash = if freed { "" } else { "\\" };
                parsed.push(Piece::Fixed(format!("{slash}{}", &escaped[..length])));
                rest = &escaped[length..];
            } else {
                parsed.push(Piece::Fixed("$".to_owned()));
                rest = &rest[1..];
            }
        }
        parsed.push(Piece::Fixed(rest.to_owned()));
        Ok(parsed)
    }

    /// Reads the placeholder behind `${`, and returns it with the text behind its end.
    fn placeholder<'t>(&self, text: &'t str, depth: usize) -> Result<(Piece, &'t str), String> {
        let mut name = String::new();
        let mut characters = text.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
                '(' if !name.is_empty() && (self.known)(&name) => {
                    let (arguments, rest) = self.arguments(&text[at + 1..], depth)?;
                    let after =
                        rest.strip_prefix('}').ok_or_else(|| format!("there is no }} after {name}(…)"))?;
                    return Ok((Piece::Call(Call { name, arguments }), after));
                }
                '}' => {
                    let after = &text[at + 1..];
                    let piece = match (self.known)(&name) {
                        true => Piece::Call(Call { name, arguments: Vec::new() }),
                        false => Piece::Variable(name),
                    };
                    return Ok((piece, after));
                }
                other => name.push(other),
            }
        }
        // Nothing ends it: JMeter drops the two characters that began it.
        Ok((Piece::Fixed(name), ""))
    }

    /// Arguments up to the closing parenthesis, and the text behind it.
    fn arguments<'t>(&self, text: &'t str, depth: usize) -> Result<(Vec<Text>, &'t str), String> {
        let mut arguments = Vec::new();
        let mut begin = 0;
        let mut braces = 0u32;
        let mut parentheses = 0u32;
        let mut before = ' ';
        let mut characters = text.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => {
                    characters.next();
                    before = ' ';
                    continue;
                }
                ',' if braces == 0 => {
                    arguments.push(self.text(&text[begin..at], depth + 1)?);
                    begin = at + 1;
                }
                ')' if braces == 0 && parentheses == 0 => {
                    if at > begin || !arguments.is_empty() {
                        arguments.push(self.text(&text[begin..at], depth + 1)?);
                    }
                    return Ok((arguments, &text[at + 1..]));
                }
                '{' if before == '$' => braces += 1,
                '}' if braces > 0 => braces -= 1,
                ')' if braces == 0 => parentheses -= 1,
                '(' if braces == 0 => parentheses += 1,
                _ => {}
            }
            before = character;
        }
        Err("a function's parenthesis is not closed".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &Text) -> String {
        let pieces = text.pieces().iter().map(|piece| match piece {
            Piece::Fixed(text) => text.clone(),
            Piece::Variable(name) => format!("<{name}>"),
            Piece::Call(call) => {
                let arguments: Vec<String> = call.arguments.iter().map(shown).collect();
                format!("<{}[{}]>", call.name, arguments.join("|"))
            }
        });
        pieces.collect()
    }

    #[test]
    fn texts_are_taken_apart_as_jmeter_does() {
        for (text, expected) in [
            ("", ""),
            ("plain \\, $ { } \\\\", "plain \\, $ { } \\\\"),
            ("a${b}c$d", "a<b>c$d"),
            ("\\${b} ${c} \\, \\x", "${b} <c> , \\x"),
            ("${__f}", "<__f[]>"),
            ("${__f()}", "<__f[]>"),
            ("${__f(,)}", "<__f[|]>"),
            ("${__f(a,${b}, c\\,d)}", "<__f[a|<b>| c,d]>"),
            ("${__f(${__g(1,2)},(x,y))}", "<__f[<__g[1|2]>|(x|y)]>"),
            ("${__f(a(b)c)}", "<__f[a(b)c]>"),
            ("${__unknown(a,b)}", "<__unknown(a,b)>"),
            ("${unclosed", "${unclosed"),
            ("${a} ${unclosed", "<a> unclosed"),
            ("${a.b-c d}", "<a.b-c d>"),
            ("{\"a\": \"${b}\"}", "{\"a\": \"<b>\"}"),
        ] {
            let parsed = Text::parse(text, &|name| matches!(name, "__f" | "__g")).unwrap();
            assert_eq!(shown(&parsed), expected, "{text}");
        }
        for text in ["${__f(a)x}", "${__f(a", "${__f(a)"] {
            assert!(Text::parse(text, &|name| name == "__f").is_err(), "{text}");
        }
        assert!(Text::parse(&"${__f(".repeat(5000), &|name| name == "__f").is_err());
    }
}
