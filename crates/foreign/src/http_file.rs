//! `.http` files, as editors send them: requests between lines of `###`, with `@NAME = VALUE` for `{{NAME}}`.

use crate::taken::{Taken, add_field, body, path, request};
use crate::variables::KnownValues;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plan::Request;

/// Lines that begin with these words are for editors' own features.
const OTHERS: [&str; 6] = ["import", "run", "WEBSOCKET", "GRPC", "GRAPHQL", "RSOCKET"];

/// Reads it. `find`: reads the file of a body.
pub(crate) fn read(
    text: &str,
    variables: &mut KnownValues<'_>,
    find: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Taken {
    let mut taken = Taken { cookies: true, ..Taken::of("an .http file") };
    let blocks = blocks(text);
    // Variables may be used in front of the line that they stand in.
    for line in blocks.iter().flat_map(|block| block.lines.iter().take_while(|line| is_before_request(line)))
    {
        if let Some((name, value)) = line.strip_prefix('@').and_then(|line| line.split_once('=')) {
            variables.own(name.trim(), value.trim().to_owned());
        }
    }
    for block in &blocks {
        HttpFileReader { variables, taken: &mut taken, find }.one(block);
    }
    taken
}

/// Lines between two lines of `###`.
struct HttpBlock<'a> {
    title: &'a str,
    lines: Vec<&'a str>,
}

fn blocks(text: &str) -> Vec<HttpBlock<'_>> {
    let mut blocks = vec![HttpBlock { title: "", lines: Vec::new() }];
    for line in text.lines() {
        match (line.strip_prefix("###"), blocks.last_mut()) {
            (Some(title), _) => {
                blocks.push(HttpBlock { title: title.trim_matches(['#', ' ', '\t']), lines: Vec::new() })
            }
            (None, Some(block)) => block.lines.push(line),
            (None, None) => {}
        }
    }
    blocks
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("//")
}

/// True for a line that no request begins with: empty, a comment, a variable.
fn is_before_request(line: &str) -> bool {
    line.trim().is_empty() || is_comment(line) || line.starts_with('@')
}

struct HttpFileReader<'a, 'v> {
    variables: &'a mut KnownValues<'v>,
    taken: &'a mut Taken,
    find: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
}

impl HttpFileReader<'_, '_> {
    fn filled(&mut self, text: &str) -> String {
        self.variables.filled(text, self.taken)
    }

    /// The request of a block, if it has one.
    fn one(&mut self, block: &HttpBlock<'_>) {
        let mut name = block.title.to_owned();
        for comment in block.lines.iter().filter(|line| is_comment(line)) {
            let said = comment.trim_start_matches(['#', '/', ' ', '\t']);
            match said.strip_prefix("@name") {
                Some(named) => name = named.trim_start_matches([' ', '=']).trim().to_owned(),
                None if said.starts_with('@') => self.taken.leave_out(format!("the line {}", comment.trim())),
                None => {}
            }
        }
        let lines = self.without_scripts(&block.lines, &name);
        let mut rest = lines.into_iter().skip_while(|line| is_before_request(line)).peekable();
        let Some(first) = rest.next() else { return };
        if OTHERS.iter().any(|word| first.split_whitespace().next() == Some(*word)) {
            return self.taken.leave_out(format!("the line {}, and what belongs to it", first.trim()));
        }
        let mut line = first.trim().to_owned();
        // A query may go on in the lines that follow.
        while let Some(more) = rest.next_if(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty()) {
            line += more.trim();
        }
        let line = self.filled(&line);
        let (method, url) = method_and_url(&line);
        let fields: Vec<&str> = rest.by_ref().take_while(|line| !line.trim().is_empty()).collect();
        let fields: Vec<&str> = fields.into_iter().filter(|line| !is_comment(line)).collect();
        let name = if name.is_empty() { format!("{method} {}", path(url)) } else { name };
        let mut request = request(method, url, &name);
        for field in fields {
            match field.split_once(':') {
                Some((name, value)) => {
                    let value = self.filled(value.trim());
                    add_field(&mut request, name.trim(), &credentials(name.trim(), &value), self.taken);
                }
                None => self.taken.leave_out(format!("{name}: the line {}", field.trim())),
            }
        }
        of_host(&mut request);
        self.body(&mut request, rest.collect());
        self.taken.requests.push(request);
    }

    /// Lines without scripts, which stand in front of a request or behind it, and without what is done with answers.
    fn without_scripts<'t>(&mut self, lines: &[&'t str], name: &str) -> Vec<&'t str> {
        let name = if name.is_empty() { "a request" } else { name };
        let mut kept = Vec::new();
        let mut script = false;
        for line in lines {
            let begins = line.trim_start();
            if begins.starts_with("> {%") || begins.starts_with("< {%") {
                script = true;
                self.taken.leave_out(format!("{name}: its script"));
            }
            if script {
                script = !begins.contains("%}");
            } else if ["> ", ">>", "<>"].iter().any(|word| begins.starts_with(word)) {
                self.taken.leave_out(format!("{name}: the line {}", begins.trim()));
            } else {
                kept.push(*line);
            }
        }
        kept
    }

    /// Everything behind the first empty line, with the files that are named there.
    fn body(&mut self, request: &mut Request, lines: Vec<&str>) {
        let has_form = |field: &plan::Field| {
            field.name.eq_ignore_ascii_case("content-type")
                && field.value.template().is_some_and(|kind| kind.contains("x-www-form-urlencoded"))
        };
        let is_form = request.fields.iter().any(has_form);
        let is_empty = |line: &&str| line.trim().is_empty();
        let from = lines.iter().position(|line| !is_empty(line)).unwrap_or(lines.len());
        let to = lines.iter().rposition(|line| !is_empty(line)).map_or(from, |last| last + 1);
        let mut bytes: Vec<u8> = Vec::new();
        for (number, line) in lines[from..to].iter().enumerate() {
            // The lines of a form are one.
            if number > 0 && !is_form {
                bytes.push(b'\n');
            }
            match line.trim_start().strip_prefix('<').filter(|file| file.starts_with([' ', '@'])) {
                Some(file) => bytes.extend(self.file(file, &request.name)),
                None if is_form => bytes.extend(self.filled(line.trim()).into_bytes()),
                None => bytes.extend(self.filled(line).into_bytes()),
            }
        }
        request.body = body(bytes);
    }

    /// Contents of a file: as they are, or, behind `<@`, with values in them.
    fn file(&mut self, named: &str, request: &str) -> Vec<u8> {
        let is_filled = named.starts_with('@');
        // An encoding may stand behind the sign.
        let file = if is_filled { named.split_once(' ').map_or("", |(_, file)| file) } else { named }.trim();
        match (self.find)(file) {
            Ok(bytes) if is_filled => self.filled(&String::from_utf8_lossy(&bytes)).into_bytes(),
            Ok(bytes) => bytes,
            Err(why) => {
                self.taken.leave_out(format!("{request}: the file {file} of its body: {why}"));
                Vec::new()
            }
        }
    }
}

/// The parts of a request line; without a method it is a GET.
fn method_and_url(line: &str) -> (&str, &str) {
    let line = line.rsplit_once(" HTTP/").map_or(line, |(line, _)| line).trim();
    let is_method =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    match line.split_once([' ', '\t']).filter(|(method, _)| is_method(method)) {
        Some((method, url)) => (method, url.trim()),
        None => ("GET", line),
    }
}

/// `Basic NAME PASSWORD`, or with a colon between them, as it is sent.
fn credentials(name: &str, value: &str) -> String {
    let pair =
        value.strip_prefix("Basic ").filter(|_| name.eq_ignore_ascii_case("authorization")).map(str::trim);
    let pair = pair.and_then(|pair| pair.split_once([' ', ':']));
    pair.map_or_else(
        || value.to_owned(),
        |(name, password)| format!("Basic {}", STANDARD.encode(format!("{name}:{}", password.trim()))),
    )
}

/// A path alone belongs to the host of the field.
fn of_host(request: &mut Request) {
    let host = request.fields.iter().position(|field| field.name.eq_ignore_ascii_case("host"));
    if let Some(at) = host.filter(|_| request.url.starts_with('/')) {
        let host = request.fields.remove(at);
        request.url = format!("http://{}{}", host.value.text(), request.url);
    }
}
