//! `--curl 'curl …'`: a command as browsers and documentation have it, in words of ours. What cannot be taken is told.
//!
//! Start at [`expanded`]. [`TAKEN`] is the table of options.

use super::words::CALLED;
use std::ffi::OsString;

/// Treatment of an option of curl's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// This option of ours, with its value.
    Value(&'static str),
    /// This option of ours, without a value.
    Flag(&'static str),
    /// These words.
    Words(&'static [&'static str]),
    /// A piece of the body.
    Data(Data),
    /// A header field.
    Header,
    /// Data belongs to the query.
    Get,
    /// The method is HEAD.
    Head,
    /// A time in seconds.
    Seconds(&'static str),
    /// The URL.
    Url,
    /// HOST:PORT:ADDRESS.
    Resolve,
    /// It only says what curl prints, or is so here anyway.
    Nothing,
    /// The same, with a value.
    NothingWithValue,
}

/// How a piece of a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Data {
    /// `@FILE` is a file.
    Plain,
    /// `@` means itself.
    Raw,
    /// `NAME=VALUE`, to be encoded.
    Encode,
    /// As plain, and it is JSON.
    Json,
}

/// Options of curl's that are taken: short and long name.
const TAKEN: &[(&str, &str, Fate)] = &[
    ("-X", "--request", Fate::Value("-X")),
    ("-H", "--header", Fate::Header),
    ("-d", "--data", Fate::Data(Data::Plain)),
    ("", "--data-ascii", Fate::Data(Data::Plain)),
    ("", "--data-binary", Fate::Data(Data::Plain)),
    ("", "--data-raw", Fate::Data(Data::Raw)),
    ("", "--data-urlencode", Fate::Data(Data::Encode)),
    ("", "--json", Fate::Data(Data::Json)),
    ("-F", "--form", Fate::Value("--multipart")),
    ("", "--form-string", Fate::Value("--multipart")),
    ("-u", "--user", Fate::Value("--user")),
    ("", "--oauth2-bearer", Fate::Value("--bearer")),
    ("-b", "--cookie", Fate::Value("--cookie")),
    ("-A", "--user-agent", Fate::Value("--user-agent")),
    ("-x", "--proxy", Fate::Value("--proxy")),
    ("-U", "--proxy-user", Fate::Value("--proxy-user")),
    ("-E", "--cert", Fate::Value("--cert")),
    ("", "--key", Fate::Value("--key")),
    ("", "--cacert", Fate::Value("--ca")),
    ("", "--connect-to", Fate::Value("--connect-to")),
    ("", "--resolve", Fate::Resolve),
    ("", "--unix-socket", Fate::Value("--unix-socket")),
    ("", "--max-redirs", Fate::Value("--redirects")),
    ("-m", "--max-time", Fate::Seconds("--timeout")),
    ("", "--connect-timeout", Fate::Seconds("--connect-timeout")),
    ("", "--url", Fate::Url),
    ("-G", "--get", Fate::Get),
    ("-I", "--head", Fate::Head),
    ("-k", "--insecure", Fate::Flag("-k")),
    ("-L", "--location", Fate::Flag("--follow")),
    ("", "--compressed", Fate::Flag("--compressed")),
    ("", "--digest", Fate::Flag("--digest")),
    ("", "--http1.1", Fate::Words(&["--http", "1.1"])),
    ("", "--http2", Fate::Words(&["--http", "2"])),
    ("", "--http2-prior-knowledge", Fate::Words(&["--http", "2c"])),
    ("", "--http3", Fate::Words(&["--http", "3"])),
    ("-s", "--silent", Fate::Nothing),
    ("-S", "--show-error", Fate::Nothing),
    ("-v", "--verbose", Fate::Nothing),
    ("-i", "--include", Fate::Nothing),
    ("-f", "--fail", Fate::Nothing),
    ("-N", "--no-buffer", Fate::Nothing),
    ("-g", "--globoff", Fate::Nothing),
    ("-#", "--progress-bar", Fate::Nothing),
    ("", "--path-as-is", Fate::Nothing),
    ("", "--basic", Fate::Nothing),
    ("-o", "--output", Fate::NothingWithValue),
    ("-w", "--write-out", Fate::NothingWithValue),
];

/// Options of curl's with a value that have no place here.
const WITH_VALUE: [&str; 10] = ["-e", "-r", "-T", "-c", "-D", "-y", "-Y", "-z", "-C", "-K"];

/// A line without `--curl`, and what of it was left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expanded {
    /// The words.
    pub words: Vec<OsString>,
    /// A sentence for each thing that was left out.
    pub left_out: Vec<String>,
}

/// Puts words of ours in place of `--curl COMMAND`.
///
/// # Errors
/// The command is none of curl's.
pub(super) fn expanded(words: Vec<OsString>) -> Result<Expanded, String> {
    let mut all = Expanded::default();
    let mut readings = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let command = match word.to_str() {
            Some("--curl") => match words.next() {
                Some(command) => command.to_string_lossy().into_owned(),
                // What is missing is told by whoever reads the line.
                None => {
                    all.words.push(word);
                    continue;
                }
            },
            Some(text) => match text.strip_prefix("--curl=") {
                Some(command) => command.to_owned(),
                None => {
                    all.words.push(word);
                    continue;
                }
            },
            None => {
                all.words.push(word);
                continue;
            }
        };
        readings.push(CurlReading { at: all.words.len(), ..CurlReading::of(&command)? });
    }
    let line = CurlLine::of(&all.words, &readings);
    // From behind, so that the places of those before stay.
    for read in readings.into_iter().rev() {
        let (used, unused): (Vec<_>, Vec<_>) =
            read.words.into_iter().map(|option| line.taken(option)).partition(|(_, why)| why.is_none());
        let words = used.into_iter().flat_map(|(option, _)| option).map(OsString::from);
        all.words.splice(read.at..read.at, words);
        let unused = unused.iter().filter_map(|(option, why)| Some((option, why.as_ref()?)));
        let told = unused.map(|(option, why)| format!("{}, {why}", name_there(option)));
        all.left_out.splice(0..0, read.left_out.into_iter().chain(told));
    }
    Ok(all)
}

/// The name of an option in curl.
fn name_there(ours: &[String]) -> &'static str {
    let is_this = |fate: &Fate| match fate {
        Fate::Value(option) | Fate::Flag(option) | Fate::Seconds(option) => ours[0] == *option,
        Fate::Words(words) => ours == *words,
        Fate::Data(_)
        | Fate::Header
        | Fate::Get
        | Fate::Head
        | Fate::Url
        | Fate::Resolve
        | Fate::Nothing
        | Fate::NothingWithValue => false,
    };
    TAKEN.iter().find(|(_, _, fate)| is_this(fate)).map_or("an option", |(_, long, _)| long)
}

/// Facts of a line as a whole, on which it depends whether an option of curl's has a use in it.
#[derive(Debug, Default)]
struct CurlLine {
    /// A URL, or the proxy, is `https://`.
    secure: bool,
    /// It may be, as answers or a list lead elsewhere.
    leads_on: bool,
    /// Any certificate is taken.
    insecure: bool,
    proxy: bool,
    user: bool,
    certificate: bool,
}

impl CurlLine {
    fn of(typed: &[OsString], readings: &[CurlReading]) -> CurlLine {
        let mut line = CurlLine::default();
        typed.iter().filter_map(|word| word.to_str()).for_each(|word| line.add(word));
        let of_curl = readings.iter().flat_map(|read| &read.words);
        // The values of fields and bodies are no URLs.
        let of_curl = of_curl.filter(|option| !["-H", "--data"].contains(&option[0].as_str()));
        of_curl.flatten().for_each(|word| line.add(word));
        line
    }

    fn add(&mut self, word: &str) {
        let (option, value) = word.split_once('=').unwrap_or((word, word));
        let value = if option.starts_with('-') { value } else { word };
        self.secure |= value.starts_with("https://");
        self.leads_on |= ["--follow", "--redirects", "--resources", "--urls"].contains(&option);
        self.insecure |= ["-k", "--insecure"].contains(&option);
        self.proxy |= option == "--proxy";
        self.user |= ["-u", "--user"].contains(&option);
        self.certificate |= option == "--cert";
    }

    /// An option that became words of ours, and why it has no use in this line, if it has none.
    fn taken(&self, mut option: Vec<String>) -> (Vec<String>, Option<&'static str>) {
        let words: Vec<&str> = option.iter().map(String::as_str).collect();
        let may_speak_tls = self.secure || self.leads_on;
        let why = match words[..] {
            ["-k"] | ["--cert" | "--key" | "--ca", _] if !may_speak_tls => Some(NO_TLS),
            ["--http", "2" | "3"] if !self.secure => Some(NO_TLS),
            ["--ca", _] if self.insecure => Some("as --insecure takes any certificate"),
            ["--key", _] if !self.certificate => Some("as there is no certificate"),
            ["--proxy-user", _] if !self.proxy => Some("as there is no proxy"),
            ["--digest"] if !self.user => Some("as there is no name and password"),
            _ => None,
        };
        // Over TLS, HTTP/2 needs no prior knowledge.
        if words[..] == ["--http", "2c"] && self.secure {
            option[1].truncate(1);
        }
        (option, why)
    }
}

/// Why an option on TLS has no use.
const NO_TLS: &str = "as no URL is https://";

#[derive(Debug, Default)]
struct CurlReading {
    /// Place among the words of the line.
    at: usize,
    /// Options, each with its value, and URLs.
    words: Vec<Vec<String>>,
    left_out: Vec<String>,
    data: Vec<String>,
    urls: Vec<String>,
    content_type: Option<&'static str>,
    has_type: bool,
    has_method: bool,
    get: bool,
    head: bool,
}

impl CurlReading {
    fn of(command: &str) -> Result<CurlReading, String> {
        let mut words = shell_words(command)?.into_iter();
        if words.next().is_none_or(|program| program != "curl" && !program.ends_with("/curl")) {
            return Err(
                "--curl takes a command that begins with curl, in quotes: --curl 'curl http://…'".to_owned()
            );
        }
        let mut reading = CurlReading::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                _ if word.starts_with("--") => reading.long(&word, &mut words)?,
                _ if word.starts_with('-') && word.len() > 1 => reading.short(&word, &mut words)?,
                _ => reading.urls.push(word),
            }
        }
        reading.finish()?;
        Ok(reading)
    }

    fn long(&mut self, word: &str, words: &mut impl Iterator<Item = String>) -> Result<(), String> {
        match TAKEN.iter().find(|(_, long, _)| *long == word) {
            Some((_, _, fate)) => self.take(word, *fate, None, words),
            None => {
                // Most that are not known take no value; a value that follows would be taken for a URL.
                let tip = CALLED.iter().find(|(there, _)| *there == word);
                let here = tip.map_or_else(String::new, |(_, here)| format!("; here that is {here}"));
                self.left_out.push(format!("{word}{here}"));
                Ok(())
            }
        }
    }

    /// One or several short options, the last with its value.
    fn short(&mut self, word: &str, words: &mut impl Iterator<Item = String>) -> Result<(), String> {
        let mut rest = &word[1..];
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let option = format!("-{letter}");
            match TAKEN.iter().find(|(short, _, _)| *short == option) {
                Some((_, _, fate)) if fate.takes_value() => {
                    let attached = Some(rest).filter(|rest| !rest.is_empty()).map(str::to_owned);
                    return self.take(&option, *fate, attached, words);
                }
                Some((_, _, fate)) => self.take(&option, *fate, None, words)?,
                None if WITH_VALUE.contains(&option.as_str()) => {
                    let value = if rest.is_empty() { words.next() } else { Some(rest.to_owned()) };
                    match (option.as_str(), value) {
                        ("-e", Some(value)) => {
                            self.words.push(vec!["-H".to_owned(), format!("Referer: {value}")])
                        }
                        (_, value) => self.left_out.push(format!("{option} {}", value.unwrap_or_default())),
                    }
                    return Ok(());
                }
                None => self.left_out.push(option),
            }
        }
        Ok(())
    }

    fn take(
        &mut self,
        option: &str,
        fate: Fate,
        attached: Option<String>,
        words: &mut impl Iterator<Item = String>,
    ) -> Result<(), String> {
        let mut value = || {
            attached
                .clone()
                .or_else(|| words.next())
                .ok_or_else(|| format!("--curl: {option} lacks its value"))
        };
        match fate {
            Fate::Value(ours) => {
                let value = value()?;
                self.has_method |= ours == "-X";
                match ours {
                    "--cookie" if !value.contains('=') => {
                        self.left_out.push(format!("{option} {value}, a file of cookies"))
                    }
                    "--cookie" => self.words.push(vec![ours.to_owned(), literal(&value)]),
                    _ => self.words.push(vec![ours.to_owned(), value]),
                }
            }
            Fate::Flag(ours) => self.words.push(vec![ours.to_owned()]),
            Fate::Words(ours) => self.words.push(ours.iter().map(|word| (*word).to_owned()).collect()),
            Fate::Data(kind) => {
                let value = value()?;
                self.data(kind, value)?;
            }
            Fate::Header => {
                let value = value()?;
                self.header(&value);
            }
            Fate::Get => self.get = true,
            Fate::Head => self.head = true,
            Fate::Seconds(ours) => {
                let value = value()?;
                self.words.push(vec![ours.to_owned(), format!("{value}s")]);
            }
            Fate::Url => {
                let value = value()?;
                self.urls.push(value);
            }
            Fate::Resolve => {
                let value = value()?;
                let parts: Vec<&str> = value.splitn(3, ':').collect();
                match parts[..] {
                    [host, port, address] => {
                        let to = format!("{host}:{port}:{address}:{port}");
                        self.words.push(vec!["--connect-to".to_owned(), to]);
                    }
                    _ => self.left_out.push(format!("{option} {value}")),
                }
            }
            Fate::Nothing => {}
            Fate::NothingWithValue => drop(value()?),
        }
        Ok(())
    }

    fn header(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let name = name.trim();
        let own = ["content-length", "connection"].iter().any(|own| name.eq_ignore_ascii_case(own));
        match own || value.trim().is_empty() {
            true => self.left_out.push(format!("the field {}", line.trim())),
            false => {
                self.has_type |= name.eq_ignore_ascii_case("content-type");
                self.words.push(vec!["-H".to_owned(), literal(&format!("{name}: {}", value.trim()))]);
            }
        }
    }

    fn data(&mut self, kind: Data, value: String) -> Result<(), String> {
        self.content_type.get_or_insert("application/x-www-form-urlencoded");
        match kind {
            Data::Plain | Data::Json if value.starts_with('@') => {
                self.words.push(vec!["--body-file".to_owned(), value[1..].to_owned()]);
            }
            Data::Raw if value.starts_with('@') => {
                return Err(
                    "--curl: a body that begins with @ is a file here: put it into one, and give --body-file"
                        .to_owned(),
                );
            }
            Data::Plain | Data::Raw | Data::Json => self.data.push(value),
            Data::Encode => {
                let (name, value) = value.split_once('=').unwrap_or(("", value.as_str()));
                let value: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
                self.data.push(if name.is_empty() { value } else { format!("{name}={value}") });
            }
        }
        if kind == Data::Json {
            self.content_type = Some("application/json");
            self.words.push(vec!["-H".to_owned(), "Accept: application/json".to_owned()]);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), String> {
        if self.urls.is_empty() {
            return Err("--curl: the command has no URL".to_owned());
        }
        let body = self.data.join("&");
        if self.get && !body.is_empty() {
            for url in &mut self.urls {
                let join = if url.contains('?') { '&' } else { '?' };
                url.extend([join]);
                url.push_str(&body);
            }
        } else if !body.is_empty() {
            self.words.push(vec!["--data".to_owned(), literal(&body)]);
        }
        if let Some(content_type) = self.content_type.filter(|_| !self.has_type && !self.get) {
            self.words.push(vec!["-H".to_owned(), format!("Content-Type: {content_type}")]);
        }
        if self.head && !self.has_method {
            self.words.push(vec!["-X".to_owned(), "HEAD".to_owned()]);
        }
        let urls = std::mem::take(&mut self.urls);
        self.words.extend(urls.iter().map(|url| vec![literal(url)]));
        Ok(())
    }
}

impl Fate {
    fn takes_value(self) -> bool {
        match self {
            Fate::Value(_)
            | Fate::Data(_)
            | Fate::Header
            | Fate::Seconds(_)
            | Fate::Url
            | Fate::Resolve
            | Fate::NothingWithValue => true,
            Fate::Flag(_) | Fate::Words(_) | Fate::Get | Fate::Head | Fate::Nothing => false,
        }
    }
}

/// Text that means itself where placeholders are looked for.
fn literal(text: &str) -> String {
    match text.contains("{{") {
        true => String::from_utf8_lossy(&plan::template::escape(text.as_bytes())).into_owned(),
        false => text.to_owned(),
    }
}

/// Splits a command as a shell does: quotes, `$'…'`, backslashes, lines that go on.
fn shell_words(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut begun = false;
    let mut characters = command.chars().peekable();
    let open = || "--curl: a quote is not closed".to_owned();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.next_if_eq(&'\n').is_some() => {}
            '\\' => {
                begun = true;
                word.extend(characters.next());
            }
            '\'' => {
                begun = true;
                loop {
                    match characters.next().ok_or_else(open)? {
                        '\'' => break,
                        other => word.push(other),
                    }
                }
            }
            '"' => {
                begun = true;
                loop {
                    match characters.next().ok_or_else(open)? {
                        '"' => break,
                        '\\' => match characters.next().ok_or_else(open)? {
                            '\n' => {}
                            other if "\"\\$`".contains(other) => word.push(other),
                            other => word.extend(['\\', other]),
                        },
                        other => word.push(other),
                    }
                }
            }
            '$' if characters.next_if_eq(&'\'').is_some() => {
                begun = true;
                loop {
                    match characters.next().ok_or_else(open)? {
                        '\'' => break,
                        '\\' => word.push(escape(&mut characters).ok_or_else(open)?),
                        other => word.push(other),
                    }
                }
            }
            other if other.is_whitespace() => {
                if std::mem::take(&mut begun) {
                    words.push(std::mem::take(&mut word));
                }
            }
            other => {
                begun = true;
                word.push(other);
            }
        }
    }
    words.extend(begun.then_some(word));
    Ok(words)
}

/// A character that a backslash stands for within `$'…'`.
fn escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<char> {
    Some(match characters.next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        kind @ ('u' | 'x') => {
            let most = if kind == 'u' { 4 } else { 2 };
            let mut digits = String::new();
            while digits.len() < most {
                match characters.next_if(char::is_ascii_hexdigit) {
                    Some(digit) => digits.push(digit),
                    None => break,
                }
            }
            u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
        }
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;

    fn read(command: &str) -> Result<(String, Vec<String>), String> {
        let words = ["wringer", "http", "--curl", command].map(OsString::from).to_vec();
        let expanded = expanded(words)?;
        let words: Vec<_> = expanded.words.iter().map(|word| word.to_string_lossy()).collect();
        Ok((words[2..].join("|"), expanded.left_out))
    }

    #[test]
    fn commands_as_browsers_copy_them_become_ours() {
        for (command, ours, left_out) in [
            ("curl http://h/", "http://h/", &[][..]),
            (
                "curl 'https://h/a?b=c' \\\n  -H 'accept: */*' \\\n  -H 'content-type: application/json' \\\n  --data-raw '{\"a\":1}' \\\n  --compressed",
                "-H|accept: */*|-H|content-type: application/json|--compressed|--data|{\"a\":1}|https://h/a?b=c",
                &[],
            ),
            (
                "curl -sSLk -XPUT -d a=1 -d b=2 h:80",
                "--follow|-k|-X|PUT|--data|a=1&b=2|-H|Content-Type: application/x-www-form-urlencoded|h:80",
                &[],
            ),
            ("curl -G -d q=1 --data-urlencode 'r=a b' http://h/?x=0", "http://h/?x=0&q=1&r=a+b", &[]),
            ("curl -I h:80", "-X|HEAD|h:80", &[]),
            (
                "curl -u me:pw -b 'a=1; b=2' -A me -e http://r/ h:80",
                "--user|me:pw|--cookie|a=1; b=2|--user-agent|me|-H|Referer: http://r/|h:80",
                &[],
            ),
            (
                "curl --resolve h:80:127.0.0.1 -m 2.5 http://h/ -o /dev/null",
                "--connect-to|h:80:127.0.0.1:80|--timeout|2.5s|http://h/",
                &[],
            ),
            (
                "curl --data-raw $'a\\'b\\u0021\\n' h:80",
                "--data|a'b!\n|-H|Content-Type: application/x-www-form-urlencoded|h:80",
                &[],
            ),
            (
                "curl --json '{}' h:80",
                "-H|Accept: application/json|--data|{}|-H|Content-Type: application/json|h:80",
                &[],
            ),
            (
                "curl --data-binary @f -H 'Content-Length: 3' --ipv4 h:80",
                "--body-file|f|-H|Content-Type: application/x-www-form-urlencoded|h:80",
                &["the field Content-Length: 3", "--ipv4"],
            ),
            ("curl -k http://h/", "http://h/", &["--insecure, as no URL is https://"]),
            ("curl -k https://h/", "-k|https://h/", &[]),
            (
                "curl -k --cacert ca.pem -E c.pem --key k.pem -H 'Origin: https://o/' h:80",
                "-H|Origin: https://o/|h:80",
                &["--insecure, as no", "--cacert, as no", "--cert, as no", "--key, as no"],
            ),
            ("curl -k --cacert ca.pem https://h/", "-k|https://h/", &["--cacert, as --insecure takes any"]),
            ("curl --http2 http://h/", "http://h/", &["--http2, as no URL is https://"]),
            ("curl --http2-prior-knowledge https://h/", "--http|2|https://h/", &[]),
            ("curl --key k.pem https://h/", "https://h/", &["--key, as there is no certificate"]),
            (
                "curl --digest -U me:pw h:80",
                "h:80",
                &["--digest, as there is no name and password", "--proxy-user, as there is no proxy"],
            ),
        ] {
            let (words, told) = read(command).unwrap();
            assert_eq!(words, ours, "{command}");
            assert_eq!(told.len(), left_out.len(), "{command}: {told:?}");
            for (told, said) in told.iter().zip(left_out) {
                assert!(told.starts_with(said), "{command}: {told}");
            }
            let line = ["wringer", "--curl", command];
            assert!(Cli::read(line).is_ok(), "{command}: {:?}", Cli::read(line).unwrap_err().to_string());
        }
    }

    /// A plan refuses what is not spoken, so a command that it can be made of has nothing of that left.
    #[test]
    fn what_has_no_use_is_not_refused() {
        for (words, is_fine) in [
            (["--curl", "curl -k --http2 http://h/", "-q"], true),
            (["--curl=curl http://h/", "-k", "-q"], false),
            (["--curl=curl -k http://h/", "https://g/", "-q"], true),
        ] {
            let cli = Cli::read(["wringer", "http"].into_iter().chain(words)).unwrap();
            let crate::Command::Http(args) = cli.command else { panic!("{words:?}") };
            assert_eq!(args.plan(7, &crate::Files::default()).is_ok(), is_fine, "{words:?}");
        }
    }

    #[test]
    fn what_is_no_command_of_curl_is_refused() {
        for (command, said) in [
            ("wget http://h/", "begins with curl"),
            ("curl -H 'a: b'", "no URL"),
            ("curl 'http://h/", "a quote is not closed"),
            ("curl http://h/ -X", "-X lacks its value"),
        ] {
            let why = Cli::read(["wringer", "http", "--curl", command]).unwrap_err().to_string();
            assert!(why.contains(said), "{command}: {why}");
        }
    }

    /// Every option that a command becomes is one of ours.
    #[test]
    fn options_are_ours() {
        let command = crate::whole();
        let http = command.find_subcommand("http").unwrap();
        for (short, long, fate) in TAKEN {
            let ours = match fate {
                Fate::Value(ours) | Fate::Flag(ours) | Fate::Seconds(ours) => ours,
                Fate::Words(ours) => &ours[0],
                _ => continue,
            };
            let has = http.get_arguments().any(|arg| match ours.strip_prefix("--") {
                Some(long) => arg.get_long() == Some(long),
                None => arg.get_short().is_some_and(|short| ours.ends_with(short)),
            });
            assert!(has, "{short} {long}: {ours}");
        }
    }
}
