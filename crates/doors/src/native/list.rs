//! Lists of requests: one to a line, `[xWEIGHT] [METHOD] URL [key=value]…`.

use super::values::{field, url};
use plan::{Request, Status};

const KEYS: &str = "status=LIST, header='NAME: VALUE', data='TEXT'";

/// Reads a list. `name`: what mistakes are named with. A request's method is empty where the line has none.
///
/// # Errors
/// Each mistake with its line.
pub(super) fn requests(text: &str, name: &str) -> Result<Vec<Request>, Vec<String>> {
    let (mut requests, mut wrong) = (Vec::new(), Vec::new());
    for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match request(line) {
            Ok(request) => requests.push(request),
            Err(why) => wrong.push(format!("{name}:{number}: {why}")),
        }
    }
    if requests.is_empty() && wrong.is_empty() {
        wrong.push(format!("{name} has no request: write one URL to a line"));
    }
    if wrong.is_empty() { Ok(requests) } else { Err(wrong) }
}

fn request(line: &str) -> Result<Request, String> {
    let words = words(line)?;
    let mut words = words.iter().map(String::as_str).peekable();
    let weight = words.next_if(|word| is_weight(word)).map(weight).transpose()?.unwrap_or(1);
    let method = words.next_if(|word| is_method(word)).unwrap_or_default().to_owned();
    let text = words.next().ok_or("a URL is missing")?;
    let address = url(text).map_err(|why| format!("'{text}': {why}"))?;
    let mut request = Request { method, weight, ..Request::get(&address) };
    words.try_for_each(|word| set_key(&mut request, word))?;
    Ok(request)
}

fn is_weight(word: &str) -> bool {
    word.strip_prefix('x').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        && !word.contains(['.', ':', '/'])
}

fn weight(word: &str) -> Result<u32, String> {
    word[1..].parse().map_err(|_| format!("'{word}' is no weight: give one such as x3"))
}

fn is_method(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-')
}

fn set_key(request: &mut Request, word: &str) -> Result<(), String> {
    let (key, value) =
        word.split_once('=').ok_or_else(|| format!("'{word}' is not key=value; keys are {KEYS}"))?;
    match key {
        "status" => request.statuses = value.split(',').map(Status::parse).collect::<Result<_, _>>()?,
        "header" => request.fields.push(field(value)?),
        "data" => request.body = value.into(),
        _ => return Err(format!("'{key}' is not a key; keys are {KEYS}")),
    }
    Ok(())
}

/// Words divided by white space. Quotes, single or double, hold words together, also within one: `header='A: b'`. Nothing
/// else is special, so that URLs and JSON can be written as they are.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut previous = ' ';
    for character in line.chars() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => word.get_or_insert_default().push(character),
            None if character.is_whitespace() => words.extend(word.take()),
            // Within a URL an apostrophe is one.
            None if matches!(character, '\'' | '"') && (previous.is_whitespace() || previous == '=') => {
                word.get_or_insert_default();
                quote = Some(character);
            }
            None => word.get_or_insert_default().push(character),
        }
        previous = character;
    }
    if quote.is_some() {
        return Err("a quote has no end".to_owned());
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Field;

    #[test]
    fn lines_are_read_as_written() {
        let text = "\u{feff}# a comment\n\n h/a \r\nx3 DELETE http://h/it's?x=\"1\" status=204,4xx\n\
                    POST http://h/{{id}} header='A: b c' header=\"X-Y: 'z'\" data='{\"a\": 1}'\n";
        let requests = requests(text, "f").unwrap();
        assert_eq!(requests[0], Request { method: String::new(), ..Request::get("http://h/a") });
        assert_eq!((requests[1].method.as_str(), requests[1].weight), ("DELETE", 3));
        assert_eq!(requests[1].statuses, [Status::Is(204), Status::Class(4)]);
        assert!(requests[1].url.starts_with("http://h/it's?x="), "{}", requests[1].url);
        let field = |name: &str, value: &str| Field::new(name, value);
        assert_eq!(requests[2].fields, [field("A", "b c"), field("X-Y", "'z'")]);
        assert_eq!((requests[2].url.as_str(), &*requests[2].body), ("http://h/{{id}}", &b"{\"a\": 1}"[..]));
    }

    #[test]
    fn every_mistake_is_named_with_its_line() {
        let text = "h/\nftp://h/\nPOST\nh/ stat=3\nh/ status=x\nh/ 'x\nx99999999999 h/\n{{x h/";
        let wrong = requests(text, "list.txt").unwrap_err();
        let words = [
            "2: 'ftp://h/'",
            "3: a URL is missing",
            "4: 'stat'",
            "5: 'x'",
            "6: a quote",
            "7: 'x999",
            "8: '{{x'",
        ];
        assert_eq!(wrong.len(), words.len(), "{wrong:#?}");
        for (said, word) in wrong.iter().zip(words) {
            assert!(said.contains(&format!("list.txt:{word}")), "{said}");
        }
        assert!(requests("# nothing\n", "f").unwrap_err()[0].contains("no request"));
    }
}
