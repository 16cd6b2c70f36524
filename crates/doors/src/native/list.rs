//! Lists of requests: one to a line, `[xWEIGHT] [METHOD] URL [key=value]…`.

use super::values::{field, url};
use plan::{Address, Request, RequestList, Status};

const KEYS: &str = "status=LIST, header='NAME: VALUE', data='TEXT'";

/// Reads a list and adds it to `requests`. `name`: what mistakes are named with; `finish`: says what a line does not, whose
/// method is empty where it has none.
///
/// # Errors
/// Each mistake with its line.
pub(super) fn read(
    text: &str,
    name: &str,
    requests: &mut RequestList,
    finish: impl Fn(Request) -> Request,
) -> Result<(), Vec<String>> {
    let (mut wrong, mut before) = (Vec::new(), None);
    let before_list = requests.len();
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).zip(1..);
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    requests.extend(lines.filter_map(|(line, number)| match request(line, &mut before) {
        Ok(request) => Some(finish(request)),
        Err(why) => {
            wrong.push(format!("{name}:{number}: {why}"));
            None
        }
    }));
    if requests.len() == before_list && wrong.is_empty() {
        wrong.push(format!("{name} has no request: write one URL to a line"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// `before`: where the last line that was a URL leads; most lines are such, and lead there too.
fn request(line: &str, before: &mut Option<Address>) -> Result<Request, String> {
    if before.as_ref().is_some_and(|before| before.path_of(line).is_some()) {
        return Ok(Request { method: String::new(), ..Request::get(line) });
    }
    let words = words(line)?;
    let mut words = words.iter().map(String::as_str).peekable();
    let weight = words.next_if(|word| is_weight(word)).map(weight).transpose()?.unwrap_or(1);
    let method = words.next_if(|word| is_method(word)).unwrap_or_default().to_owned();
    let text = words.next().ok_or("a URL is missing")?;
    let address = url(text).map_err(|why| format!("'{text}': {why}"))?;
    *before = Address::parse(&address);
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

    fn wrong_of(text: &str, name: &str) -> Vec<String> {
        read(text, name, &mut RequestList::default(), |request| request).unwrap_err()
    }

    #[test]
    fn lines_that_lead_where_the_one_before_leads_are_read_alike() {
        let lines = [
            "http://h/a",
            "http://h/b?c=%20",
            "h/../d",
            "http://h/../e",
            "http://h/f status=404",
            "http://h/g",
        ];
        let mut list = RequestList::default();
        read(&lines.join("\n"), "f", &mut list, |request| request).unwrap();
        let alone = lines.map(|line| request(line, &mut None).unwrap());
        assert_eq!(list.to_vec(), alone);
        assert_eq!(list.kinds().len(), 2);
    }

    #[test]
    fn lines_are_read_as_written() {
        let text = "\u{feff}# a comment\n\n h/a \r\nx3 DELETE http://h/it's?x=\"1\" status=204,4xx\n\
                    POST http://h/{{id}} header='A: b c' header=\"X-Y: 'z'\" data='{\"a\": 1}'\n";
        let mut list = RequestList::default();
        read(text, "f", &mut list, |request| request).unwrap();
        let requests = list.to_vec();
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
        let wrong = wrong_of(text, "list.txt");
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
        assert!(wrong_of("# nothing\n", "f")[0].contains("no request"));
    }
}
