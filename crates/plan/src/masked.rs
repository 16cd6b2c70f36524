//! Masks for text that is shown: the fields and parameters whose values are secrets, by their names, and what stands before
//! the `@` of an address.

use std::fmt;

/// Stands where a secret is not shown.
pub const MASK: &str = "***";

/// A text as it may be shown: made of what was typed, which it does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked(String);

impl Masked {
    /// An address as it was typed: a URL, `HOST:PORT`, or what was to be one. Its scheme may be missing or mistyped.
    pub fn address(typed: &str) -> Masked {
        let begin = authority_begins(typed);
        let Some(end) = userinfo_ends(&typed[begin..]).map(|end| begin + end) else {
            return Masked(without_secrets(typed));
        };
        let name = typed[begin..end].split_once(':').map_or("", |(name, _)| name);
        let name = if name.is_empty() { String::new() } else { format!("{name}:") };
        Masked(format!("{}{name}{MASK}{}", &typed[..begin], without_secrets(&typed[end..])))
    }
}

/// Where the authority of an address begins: behind its scheme, be that followed by two slashes, by one, or not there.
fn authority_begins(typed: &str) -> usize {
    let letters = typed.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let scheme = if typed[letters..].starts_with(":/") { letters + 1 } else { 0 };
    scheme + typed[scheme..].bytes().take_while(|byte| *byte == b'/').count()
}

/// The place of the `@` behind a name and a password, where there is one. A password may hold a slash that nobody encoded: then what looks like
/// a port is none.
fn userinfo_ends(address: &str) -> Option<usize> {
    let end = address.find(['/', '?', '#']).unwrap_or(address.len());
    let authority = &address[..end];
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let has_host = || match authority.split_once(':') {
        None => true,
        Some((host, port)) => is_port(port) || host.starts_with('['),
    };
    authority.rfind('@').or_else(|| address.rfind('@').filter(|_| !has_host()))
}

impl fmt::Display for Masked {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

/// True if the value of a header field is nobody's business: credentials, cookies, tokens, API keys.
pub fn is_secret_field(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "cookie",
        "token",
        "secret",
        "passw",
        "api-key",
        "apikey",
        "access-key",
        "subscription-key",
        "credential",
    ];
    /// By themselves, between marks: as part of a word they tell nothing (`authority`, `www-authenticate`).
    const ALONE: [&str; 3] = ["auth", "jwt", "pwd"];
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    name.ends_with("authorization")
        || name.starts_with("x-auth-")
        || name.split(|mark: char| !mark.is_ascii_alphanumeric()).any(|word| ALONE.contains(&word))
        || name == "x-functions-key"
        || WORDS.iter().any(|word| name.contains(word))
}

/// A line that was to be a header field and is none, as its refusal names it: what stands behind its name may be a secret, and so may all of
/// a line whose first word does not look like a name.
pub fn shown_line(line: &str) -> String {
    let line = line.trim();
    if let Some((name, _)) = line.split_once(':') {
        return format!("{name}: {MASK}");
    }
    let end = line.find(|mark: char| mark == '=' || mark.is_whitespace()).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    match rest.chars().next() {
        _ if !looks_like_name(name) => MASK.to_owned(),
        Some(mark) => format!("{name}{mark}{MASK}"),
        // By itself it may be a password.
        None if name.contains('-') => name.to_owned(),
        None => MASK.to_owned(),
    }
}

/// True if a word is a field's name rather than a token: words of letters, none of them long, or a few digits among them.
fn looks_like_name(word: &str) -> bool {
    let is_word = |part: &str| match part.len() {
        1..=4 => part.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        5..=16 => part.bytes().all(|byte| byte.is_ascii_alphabetic()),
        _ => false,
    };
    word.split(['-', '_']).all(is_word)
}

/// True if the value of a URL's parameter is nobody's business, by its name.
pub fn is_secret_parameter(name: &str) -> bool {
    const WORDS: [&str; 7] = ["token", "secret", "passw", "apikey", "accesskey", "credential", "signature"];
    const NAMES: [&str; 8] = ["auth", "authorization", "jwt", "pwd", "session", "sessionid", "sid", "sig"];
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    NAMES.contains(&plain.as_str()) || WORDS.iter().any(|word| plain.contains(word))
}

/// A placeholder tells no secret: it names one.
fn is_placeholder(value: &str) -> bool {
    value.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")).is_some_and(|name| !name.contains("{{"))
}

/// True if [`without_secrets`] may change a text: it has a mark behind which a secret may stand.
pub fn may_have_secrets(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'?' | b'&' | b'@'))
}

/// The text as it may be shown: the user names and passwords of its URLs are masked, and in queries and forms the values of
/// parameters whose names tell a secret: `?user=me&api_key=***`.
pub fn without_secrets(text: &str) -> String {
    let text = without_userinfo(text);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut has_user = false;
    while let Some(at) = rest.find(['?', '&']) {
        let (before, after) = rest.split_at(at + 1);
        shown.push_str(before);
        if before.ends_with('?') {
            has_user = names_user(after);
        }
        let parameter = &after[..after.find(ENDS_PARAMETER).unwrap_or(after.len())];
        rest = &after[parameter.len()..];
        match parameter.split_once('=') {
            Some((name, value))
                if !value.is_empty()
                    && !is_placeholder(value)
                    && (is_secret_parameter(name) || name == "p" && has_user) =>
            {
                shown.push_str(name);
                shown.push('=');
                shown.push_str(MASK);
            }
            _ => shown.push_str(parameter),
        }
    }
    shown + rest
}

/// True if a query that begins here names a user as `u`: then `p` is the password (InfluxDB 1, Subsonic), and else it may be a page.
fn names_user(query: &str) -> bool {
    let end = query.find(|mark| mark != '&' && ENDS_PARAMETER.contains(&mark)).unwrap_or(query.len());
    query[..end].split('&').any(|parameter| parameter.starts_with("u="))
}

/// The content of a message as it may be shown, be it a form or JSON: `user=me&password=***`, `{"password":"***"}`. `None`: it is neither,
/// or has no name that tells a secret.
pub fn content_without_secrets(content: &str) -> Option<String> {
    form_without_secrets(content).or_else(|| json_without_secrets(content))
}

/// JSON with the values masked, where they are texts or numbers, of members whose names tell a secret. All else stays as it was
/// written; what is cut off at its end is read as far as it goes.
fn json_without_secrets(content: &str) -> Option<String> {
    if !content.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut shown = String::with_capacity(content.len());
    let mut rest = content;
    let mut hid = false;
    while let Some(begin) = rest.find('"') {
        let end = begin + text_length(&rest[begin..]);
        let (text, behind) = rest.split_at(end);
        shown.push_str(text);
        rest = behind;
        let name = &text[begin..].trim_matches('"');
        let Some(value) = behind.trim_start().strip_prefix(':').map(str::trim_start) else { continue };
        let length = value_length(value);
        if length > 0 && is_secret_parameter(name) {
            shown.push_str(&behind[..behind.len() - value.len()]);
            shown.push_str(&format!("\"{MASK}\""));
            rest = &value[length..];
            hid = true;
        }
    }
    hid.then(|| shown + rest)
}

/// Bytes of a text of JSON that begins here, its quotes included.
fn text_length(text: &str) -> usize {
    let mut escaped = false;
    let ends = |byte: u8| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    };
    text.bytes().skip(1).position(ends).map_or(text.len(), |at| at + 2)
}

/// Bytes of a value that may be a secret: a text that is not empty, or a number.
fn value_length(value: &str) -> usize {
    if value.starts_with('"') {
        return Some(text_length(value)).filter(|length| *length > 2).unwrap_or(0);
    }
    value.bytes().take_while(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)).count()
}

/// The content of a form as it may be shown: `user=me&password=***`. `None`: it is no form, or has no parameter whose name tells a
/// secret.
pub fn form_without_secrets(content: &str) -> Option<String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-~+%[]$:".contains(&byte))
    };
    let parameters: Vec<(&str, &str)> =
        content.split('&').map(|parameter| parameter.split_once('=')).collect::<Option<_>>()?;
    let is_secret = |(name, value): &(&str, &str)| !value.is_empty() && is_secret_parameter(name);
    if !parameters.iter().all(|(name, _)| is_name(name)) || !parameters.iter().any(is_secret) {
        return None;
    }
    let shown = |parameter: &(&str, &str)| {
        format!("{}={}", parameter.0, if is_secret(parameter) { MASK } else { parameter.1 })
    };
    Some(parameters.iter().map(shown).collect::<Vec<_>>().join("&"))
}

/// A parameter ends before these, in a URL and in what stands around one.
const ENDS_PARAMETER: [char; 13] = ['&', '?', ';', '#', ' ', '"', '\'', '<', '>', '\\', '\r', '\n', '\t'];

/// The text with the user names and passwords of its URLs masked: `http://me:***@host/`.
pub fn without_userinfo(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = after.find(['/', '?', '#', ' ', '"', '\'', '<', '>', '\r', '\n']).unwrap_or(after.len());
        let authority = &after[..end];
        match authority.rsplit_once('@') {
            Some((user, host)) => {
                let name = user.split_once(':').map_or("", |(name, _)| name);
                shown.push_str(&if name.is_empty() { MASK.to_owned() } else { format!("{name}:{MASK}") });
                shown.push('@');
                shown.push_str(host);
            }
            None => shown.push_str(authority),
        }
        rest = &after[end..];
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_credentials_are_known() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "COOKIE",
            "Set-Cookie",
            "X-Api-Key",
            "apikey",
            "X-Auth-Key",
            "X-Amz-Security-Token",
            "X-CSRF-Token",
            "Ocp-Apim-Subscription-Key",
            "X-Client-Secret",
            "X-Auth",
            "X-Auth-User",
            "My_Auth",
            "X-Vault-Token",
            "X_API_KEY",
            "X-Password",
            "X-JWT",
        ] {
            assert!(is_secret_field(name), "{name}");
        }
        for name in [
            "Accept",
            "WWW-Authenticate",
            "Host",
            "Idempotency-Key",
            "X-Author",
            "Keep-Alive",
            ":authority",
            "Sec-WebSocket-Key",
        ] {
            assert!(!is_secret_field(name), "{name}");
        }
    }

    #[test]
    fn parameters_are_shown_without_secrets() {
        for (text, shown) in [
            ("http://h/a?api_key=k&x=1", "http://h/a?api_key=***&x=1"),
            ("GET /?x=1&X-Amz-Signature=abc HTTP/1.1", "GET /?x=1&X-Amz-Signature=*** HTTP/1.1"),
            ("'http://me:pw@h/?token=t'", "'http://me:***@h/?token=***'"),
            ("user=me&password=p;w#f", "user=me&password=***;w#f"),
            ("/?sig=s==&sv=2&AccessKeyId=id", "/?sig=***&sv=2&AccessKeyId=***"),
            ("/?page=1&key=k&design=d&token=&tokens", "/?page=1&key=k&design=d&token=&tokens"),
            ("http://h/write?db=x&p=pw&u=a", "http://h/write?db=x&p=***&u=a"),
            ("http://h/rest?u=a&p=pw#p=1", "http://h/rest?u=a&p=***#p=1"),
            ("http://h/?u=a http://h/?p=2&q=u=1", "http://h/?u=a http://h/?p=2&q=u=1"),
            ("{{a?b}} & c?", "{{a?b}} & c?"),
            ("/?token={{token|url}}&sig=x{{y}}", "/?token={{token|url}}&sig=***"),
        ] {
            assert_eq!(without_secrets(text), shown);
            assert!(may_have_secrets(text), "{text}");
        }
        assert!(!may_have_secrets("/token=t;key=k#sig=s"));
        assert_eq!(without_secrets("/token=t;key=k#sig=s"), "/token=t;key=k#sig=s");
    }

    #[test]
    fn forms_are_shown_without_secrets() {
        for (content, shown) in [
            ("user=me&password=p;w#f", Some("user=me&password=***")),
            ("password=geheim", Some("password=***")),
            ("login%5Bpasswd%5D=a b", Some("login%5Bpasswd%5D=***")),
            ("user=me&token=", None),
            ("user=me", None),
            ("{\"password\": \"a=b\"}", None),
            ("password", None),
            ("", None),
        ] {
            assert_eq!(form_without_secrets(content).as_deref(), shown, "{content}");
        }
    }

    #[test]
    fn members_of_json_are_shown_without_secrets() {
        for (content, shown) in [
            (r#"{"user":"me","password":"a\"b"}"#, Some(r#"{"user":"me","password":"***"}"#)),
            (r#" [{"apiKey" : 12.5, "x": [1]}]"#, Some(r#" [{"apiKey" : "***", "x": [1]}]"#)),
            (
                r#"{"a":{"refresh_token":"x","b":"password"},"#,
                Some(r#"{"a":{"refresh_token":"***","b":"password"},"#),
            ),
            (r#"{"secret":"cut"#, Some(r#"{"secret":"***""#)),
            (r#"{"token":"","secret":null,"password":{"x":1}}"#, None),
            (r#"{"user":"me"}"#, None),
            ("password", None),
            ("{", None),
            ("{\"", None),
        ] {
            assert_eq!(content_without_secrets(content).as_deref(), shown, "{content}");
        }
        assert_eq!(content_without_secrets("password=x").as_deref(), Some("password=***"));
    }

    #[test]
    fn urls_are_shown_without_passwords() {
        for (text, shown) in [
            ("http://me:pw@h:1/a@b", "http://me:***@h:1/a@b"),
            ("GET https://token@h?x=a:b@c http://h/", "GET https://***@h?x=a:b@c http://h/"),
            ("http://a:b@c@h/", "http://a:***@h/"),
            ("'http://u:p@h'", "'http://u:***@h'"),
            ("http://h/ me:pw@h", "http://h/ me:pw@h"),
            ("no url", "no url"),
        ] {
            assert_eq!(without_userinfo(text), shown);
        }
    }

    #[test]
    fn addresses_are_shown_without_what_stands_before_the_host() {
        for (typed, shown) in [
            ("me:geheim@h:80", "me:***@h:80"),
            ("http://me:geheim@h:80/a?token=x", "http://me:***@h:80/a?token=***"),
            ("http:/me:geheim@h/", "http:/me:***@h/"),
            ("htp://me:geheim@h", "htp://me:***@h"),
            ("http://me:ge/heim@h/", "http://me:***@h/"),
            (":::http:/me:geheim@h:80", "***@h:80"),
            ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
            ("geheim@h", "***@h"),
            ("//geheim@h", "//***@h"),
            ("me:a@geheim@h", "me:***@h"),
            ("h:80:me:geheim@to:81", "h:***@to:81"),
            ("http://h/me:a@b", "http://h/me:a@b"),
            ("h/a@b", "h/a@b"),
            ("http://h:80/a@b", "http://h:80/a@b"),
            ("h:80", "h:80"),
        ] {
            assert_eq!(Masked::address(typed).to_string(), shown);
        }
    }

    #[test]
    fn lines_that_are_no_fields_are_named_without_what_may_be_a_secret() {
        for (line, shown) in [
            ("X-Trace on", "X-Trace ***"),
            ("X-B3=on", "X-B3=***"),
            ("X-Trace", "X-Trace"),
            ("geheim", "***"),
            ("Authorization:geheim", "Authorization: ***"),
            ("Bearer eyJhbGciOi", "Bearer ***"),
            ("eyJhbGciOiJIUzI1NiJ9", "***"),
            ("abcdefghijklmnopqrst", "***"),
            ("", "***"),
        ] {
            assert_eq!(shown_line(line), shown);
        }
    }
}
