//! Lists of requests: one to a line, `[xWEIGHT] [METHOD] URL [key=value]…`.

use super::values::{field, url};
use plan::byte_order as mark;
use plan::secret::without_secrets;
use plan::{Address, Request, RequestList, Status};
use std::borrow::Cow;

const KEYS: &str = "status=LIST, header='NAME: VALUE', data='TEXT', label=NAME";

/// Requests up to which each has a label of its own where none is given.
const LABELLED: usize = 100;
/// Characters of a label that is made of a URL.
const LONGEST: usize = 80;
/// Label of requests that have none of their own, beside some that have one.
const OTHERS: &str = "others";

/// Gives each request a label, so that figures tell them apart: the one of its line, or its method and path. Of a longer list only lines
/// with a label have figures of their own; one request alone needs none.
pub(super) fn label_each(requests: &mut RequestList) {
    let is_labelled = |request: &Request| !request.name.is_empty();
    let is_short = (2..=LABELLED).contains(&requests.len());
    if !is_short && !requests.kinds().iter().any(is_labelled) {
        return;
    }
    let authority = |url: &str| CliKnown::of(url).site;
    let first = requests.get(0).and_then(|first| authority(first.url));
    let is_one_site = requests.iter().all(|listed| authority(listed.url) == first);
    *requests = requests
        .iter()
        .map(|listed| {
            let mut request = listed.whole();
            if !is_labelled(&request) {
                request.name = match is_short {
                    true => label_of(&request, is_one_site),
                    false => OTHERS.to_owned(),
                };
            }
            request
        })
        .collect();
}

fn label_of(request: &Request, is_one_site: bool) -> String {
    let url = without_secrets(&request.url);
    let url = url.strip_prefix("http://").unwrap_or(&url);
    let path = url.find("://").map_or(0, |at| at + 3);
    let path = url[path..].find(['/', '?']).map_or("/", |at| &url[path + at..]);
    let place = if is_one_site { path } else { url };
    let label = match request.method.as_str() {
        "" | "GET" => place.to_owned(),
        method => format!("{method} {place}"),
    };
    match label.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &label[..end]),
        None => label,
    }
}

/// Reads a list and adds it to `requests`; the first of those that are there says where paths belong. `name`: what mistakes
/// are named with; `finish`: says what a line does not, whose method is empty where it has none.
///
/// # Errors
/// Each mistake with its line.
pub(super) fn read(
    text: &str,
    name: &str,
    requests: &mut RequestList,
    finish: impl Fn(Request) -> Request,
) -> Result<(), Vec<String>> {
    let mut wrong = Vec::new();
    let mut known = requests.get(0).map_or_else(CliKnown::default, |first| CliKnown::of(first.url));
    let before_list = requests.len();
    let lines = mark::behind(text).lines().map(str::trim).zip(1..);
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    requests.extend(lines.filter_map(|(line, number)| match request(line, &mut known) {
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

/// Context known before a line is read.
#[derive(Default)]
struct CliKnown {
    /// Scheme and authority, such as `http://h:80`, of the URL that paths belong to.
    site: Option<String>,
    /// Where the last line that was a URL leads; most lines are such, and lead there too.
    before: Option<Address>,
}

impl CliKnown {
    /// The URL that a list follows.
    fn of(url: &str) -> CliKnown {
        let authority = url.find("://").map_or(0, |at| at + 3);
        let end = url[authority..].find(['/', '?', '#']).map_or(url.len(), |at| authority + at);
        CliKnown { site: Some(url[..end].to_owned()), before: Address::parse(url) }
    }

    fn is_simple(&self, url: &str) -> bool {
        self.before.as_ref().is_some_and(|before| before.path_of(url).is_some())
    }

    /// The URL that a word of a line means, which may be a path.
    fn url<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, String> {
        match &self.site {
            _ if !text.starts_with('/') => Ok(Cow::Borrowed(text)),
            Some(site) => Ok(Cow::Owned(format!("{site}{text}"))),
            None => Err(format!(
                "'{text}' does not say of which host: write whole URLs, or give the host's before the list, as in \
                 http://localhost:8080/ --urls FILE"
            )),
        }
    }
}

fn request(line: &str, known: &mut CliKnown) -> Result<Request, String> {
    let plain = |url: &str| Request { method: String::new(), ..Request::get(url) };
    if known.is_simple(line) {
        return Ok(plain(line));
    }
    if line.starts_with('/')
        && let Ok(whole) = known.url(line)
        && known.is_simple(&whole)
    {
        return Ok(plain(&whole));
    }
    let words = words(line)?;
    let mut words = words.iter().map(String::as_str).peekable();
    let weight = words.next_if(|word| is_weight(word)).map(weight).transpose()?.unwrap_or(1);
    let method = words.next_if(|word| is_method(word)).unwrap_or_default().to_owned();
    let text = words.next().ok_or("a URL is missing")?;
    let address = url(&known.url(text)?).map_err(|why| format!("'{text}': {why}"))?;
    known.before = Address::parse(&address);
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
        "label" if value.is_empty() => return Err("'label=' has no name".to_owned()),
        "label" => value.clone_into(&mut request.name),
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
        let alone = lines.map(|line| request(line, &mut CliKnown::default()).unwrap());
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
    fn paths_belong_to_the_url_before_the_list() {
        let mut list = RequestList::from(vec![Request::get("https://h:8443/a/b?c")]);
        let text = "/x\n/d?e=%20\nhttp://i/\nx2 POST /f data=g\n/../h\n/{{int:1..9}}";
        read(text, "f", &mut list, |request| request).unwrap();
        let urls: Vec<_> = list.iter().skip(1).map(|listed| listed.url.to_owned()).collect();
        let of = |path: &str| format!("https://h:8443{path}");
        assert_eq!(
            urls,
            [of("/x"), of("/d?e=%20"), "http://i/".to_owned(), of("/f"), of("/../h"), of("/{{int:1..9}}")]
        );
        assert_eq!(
            list.get(4).map(|listed| (listed.like.method.as_str(), listed.like.weight)),
            Some(("POST", 2))
        );
        let alone = wrong_of("/x\n", "f");
        assert!(alone[0].starts_with("f:1: '/x' does not say of which host"), "{alone:?}");
    }

    #[test]
    fn requests_of_a_list_have_labels_of_their_own() {
        let labels = |text: &str| {
            let mut list = RequestList::default();
            let get = |request: Request| Request { method: request.method.replace("-", ""), ..request };
            read(text, "f", &mut list, get).unwrap();
            label_each(&mut list);
            list.iter().map(|listed| listed.like.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(labels("h/a"), [""], "one alone");
        assert_eq!(
            labels("h/a\nh/b?c=1\nh\nPOST h/a\nh/d label='the d'"),
            ["/a", "/b?c=1", "/", "POST /a", "the d"]
        );
        assert_eq!(labels("h/a\nhttps://i:8443/b"), ["h/a", "https://i:8443/b"]);
        let long = labels(&format!("h/a\nh/{}", "é".repeat(100)));
        assert_eq!((long[1].chars().count(), long[1].ends_with('…')), (LONGEST + 1, true));
        let many: String = (0..=LABELLED).map(|n| format!("h/{n}\n")).collect();
        assert!(labels(&many).iter().all(String::is_empty));
        let some = labels(&format!("{many}h/x label=x\n"));
        assert_eq!((some[0].as_str(), some[LABELLED + 1].as_str()), (OTHERS, "x"));
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
