//! Changes that a program asks for, made to a request before it is sent, as JMeter's samplers have them.

use super::message::SessionMessage;
use crate::code::{Edit, Parameter, Parameters};
use crate::request::{FieldLine, HttpRequest};
use plan::Address;
use plan::template::Encode;

const FORM: &str = "application/x-www-form-urlencoded; charset=UTF-8";
const TEXT: &str = "text/plain; charset=UTF-8";

impl SessionMessage {
    /// Changes it as a program has asked for.
    pub fn edit(&mut self, edit: Edit) {
        if let Some(method) = &edit.method {
            self.request.method = method.as_str().into();
        }
        self.move_origin(&edit);
        edit.fields.iter().for_each(|(name, value)| self.change_field(name, value.as_deref()));
        self.set_parameters(&edit.parameters);
        if let Some(path) = &edit.path {
            self.move_path(path);
        }
    }

    /// Another scheme, host or port.
    fn move_origin(&mut self, edit: &Edit) {
        if edit.scheme.is_none() && edit.host.is_none() && edit.port.is_none() {
            return;
        }
        let own = if self.address.secure { "https" } else { "http" };
        let scheme = edit.scheme.as_deref().unwrap_or(own);
        let host = edit.host.clone().unwrap_or_else(|| self.address.authority_host());
        let port = edit.port.unwrap_or(self.address.port);
        let text = format!("{scheme}://{host}:{port}{}", self.address.path);
        let Some(to) = Address::parse(&text) else { return (self.address.text, self.refused) = (text, true) };
        // Where it led nowhere, it has no host yet.
        let is_own = |host: &str| host.is_empty() || host == self.address.authority;
        for field in self.request.fields.iter_mut() {
            if field.is("Host") && is_own(&field.value()) {
                *field = FieldLine::new(field.name(), &to.authority);
            }
        }
        self.request.secure = to.secure;
        self.address = to;
        if edit.host.is_some() && edit.path.is_some() {
            self.refused = false;
        }
    }

    /// Another path; the query that the parameters made stays, before one of the path's own.
    fn move_path(&mut self, path: &str) {
        let (path, own) = path.split_once('?').unwrap_or((path, ""));
        let made = self.address.path.split_once('?').filter(|_| self.is_of_query());
        let made = made.map_or("", |(_, query)| query).to_owned();
        self.set_target(path, &joined([made.as_str(), own]));
    }

    fn set_target(&mut self, path: &str, query: &str) {
        let slash = if path.starts_with('/') || path.contains("://") { "" } else { "/" };
        let mark = if query.is_empty() { "" } else { "?" };
        let target = format!("{slash}{path}{mark}{query}").replace(' ', "%20");
        if let Some(to) = self.address.join(&target) {
            self.address = to;
        }
        self.request.target = target.into();
    }

    /// A field is added behind those of JMeter's header managers, or all of its name are taken away.
    fn change_field(&mut self, name: &str, value: Option<&str>) {
        let fields = &mut self.request.fields;
        match value {
            None => fields.retain(|field| !field.is(name)),
            Some(value) => {
                let behind =
                    |field: &FieldLine| field.is_open() || field.is("Content-Length") || field.is("Host");
                let at = fields.iter().position(behind).unwrap_or(fields.len());
                fields.insert(at, FieldLine::new(name, value));
            }
        }
    }

    /// True if its parameters stand in the query.
    fn is_of_query(&self) -> bool {
        matches!(&*self.request.method, "GET" | "DELETE" | "OPTIONS")
    }

    fn set_parameters(&mut self, parameters: &Parameters) {
        if parameters.is_empty() {
            return;
        }
        let named = parameters.added.iter().any(|one| !one.name.is_empty());
        match self.is_of_query() && (named || parameters.added.is_empty()) {
            true => self.set_query(parameters),
            false => set_body(&mut self.request, parameters),
        }
    }

    fn set_query(&mut self, parameters: &Parameters) {
        let path = self.address.path.clone();
        let (path, old) = path.split_once('?').unwrap_or((&path, ""));
        let old = if parameters.replaces { "" } else { old };
        let added: Vec<String> = parameters.added.iter().map(|one| pair(one, false)).collect();
        self.set_target(path, &joined(std::iter::once(old).chain(added.iter().map(String::as_str))));
    }
}

/// A body of values alone where none has a name, otherwise a form.
fn set_body(request: &mut HttpRequest, parameters: &Parameters) {
    debug_assert!(request.long.is_none(), "a request that programs edit is held whole");
    let old_type = request.field("Content-Type").map(FieldLine::value).unwrap_or_default();
    let was_form = old_type.starts_with("application/x-www-form-urlencoded") && !request.body.is_empty();
    let old = if parameters.replaces { Vec::new() } else { request.body.to_vec() };
    let old_form = was_form && !parameters.replaces;
    let named = parameters.added.iter().any(|one| !one.name.is_empty());
    let is_raw = parameters.raw || !named && !old_form;
    let mut body = match (is_raw, old_form) {
        // Of a form, its values.
        (true, true) => {
            let old = String::from_utf8_lossy(&old).into_owned();
            old.split('&').map(|one| one.split_once('=').map_or("", |(_, value)| value)).collect()
        }
        (true, false) => String::from_utf8_lossy(&old).into_owned(),
        (false, true) => String::from_utf8_lossy(&old).into_owned(),
        // Values without names are no part of a form.
        (false, false) => String::new(),
    };
    if is_raw {
        body.extend(parameters.added.iter().map(|one| encoded(&one.value, one.encodes)));
    } else {
        let named = parameters.added.iter().filter(|one| !one.name.is_empty());
        let added: Vec<String> = named.map(|one| pair(one, true)).collect();
        body = joined(std::iter::once(body.as_str()).chain(added.iter().map(String::as_str)));
    }
    let is_own_type = ![FORM, TEXT, ""].contains(&old_type.as_str());
    set_field(request, "Content-Length", &body.len().to_string());
    if !is_own_type {
        set_field(request, "Content-Type", if is_raw { TEXT } else { FORM });
    }
    request.body = body.into_bytes().into();
}

/// `name=value`; in a form what is not to be encoded is decoded and encoded anew.
fn pair(of: &Parameter, in_form: bool) -> String {
    let one = |text: &str| match (of.encodes, in_form) {
        (true, _) => encoded(text, true),
        (false, true) => encoded(&decoded(text), true),
        (false, false) => text.to_owned(),
    };
    format!("{}={}", one(&of.name), one(&of.value))
}

fn encoded(text: &str, encodes: bool) -> String {
    if !encodes {
        return text.to_owned();
    }
    let mut written = Vec::new();
    Encode::Form.write(text.as_bytes(), &mut written);
    String::from_utf8_lossy(&written).into_owned()
}

/// `application/x-www-form-urlencoded` taken away; what is no `%XX` stays.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let encoded = digits.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        plain.push(encoded.unwrap_or(if *byte == b'+' { b' ' } else { *byte }));
        at += if encoded.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// With ampersands between what is there.
fn joined<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&")
}

/// Sets a field in its place; a new one stands before Host, as in JMeter.
fn set_field(request: &mut HttpRequest, name: &str, value: &str) {
    let line = FieldLine::new(name, value);
    if let Some(field) = request.fields.iter_mut().find(|field| field.is(name)) {
        return *field = line;
    }
    let host = request.fields.iter().position(|field| field.is("Host"));
    request.fields.insert(host.unwrap_or(request.fields.len()), line);
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "GET /p?a=b HTTP/1.1\r\nX-A: one\r\nHost: h:81\r\n\r\n";
    const SENT_FORM: &str = "POST /p HTTP/1.1\r\nContent-Length: 3\r\n\
        Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\nHost: h:81\r\n\r\na=b";
    const RAW: &str =
        "POST /p HTTP/1.1\r\nContent-Type: text/x\r\nContent-Length: 3\r\nHost: h:81\r\n\r\nold";

    fn edited(text: &str, edit: Edit) -> (String, String, String) {
        let path = text.split(' ').nth(1).unwrap();
        let mut message = SessionMessage::new(
            HttpRequest::of_text(text),
            &Address::parse(&format!("http://h:81{path}")).unwrap(),
        );
        message.edit(edit);
        let fields: Vec<String> = message
            .request
            .fields
            .iter()
            .map(|field| format!("{}: {}", field.name(), field.value()))
            .collect();
        let body = String::from_utf8(message.request.body.to_vec()).unwrap();
        (message.address.text.clone(), fields.join("; "), body)
    }

    fn adds(name: &str, value: &str, encodes: bool) -> Parameters {
        let added = vec![Parameter { name: name.to_owned(), value: value.to_owned(), encodes }];
        Parameters { added, ..Parameters::default() }
    }

    fn of(parameters: Parameters) -> Edit {
        Edit { parameters, ..Edit::default() }
    }

    #[test]
    fn parameters_go_where_the_method_has_them() {
        let url = |text: &str, parameters| edited(text, of(parameters)).0;
        let body = |text: &str, parameters| edited(text, of(parameters)).2;
        let replacing = |parameters| Parameters { replaces: true, ..parameters };
        assert_eq!(url(QUERY, adds("c", "d e", true)), "http://h:81/p?a=b&c=d+e");
        assert_eq!(url(QUERY, replacing(adds("q", "1&2", true))), "http://h:81/p?q=1%262");
        assert_eq!(url(QUERY, replacing(Parameters::default())), "http://h:81/p");
        assert_eq!(body(SENT_FORM, adds("c", "d e", true)), "a=b&c=d+e");
        assert_eq!(body(SENT_FORM, adds("c", "d+e", false)), "a=b&c=d+e");
        assert_eq!(body(SENT_FORM, adds("", "no part of a form", false)), "a=b");
        assert_eq!(body(SENT_FORM, Parameters { raw: true, ..Parameters::default() }), "b");
        assert_eq!(body(RAW, adds("", " new", false)), "old new");
        assert_eq!(body(RAW, adds("", "{a b}", true)), "old%7Ba+b%7D");
        assert_eq!(body(RAW, adds("n", "v", true)), "n=v");
    }

    #[test]
    fn fields_follow_the_body() {
        let fields = |text: &str, edit| edited(text, edit).1;
        let raw = Parameters { replaces: true, ..adds("", "{}", false) };
        assert_eq!(
            fields(SENT_FORM, of(raw.clone())),
            "Content-Length: 2; Content-Type: text/plain; charset=UTF-8; Host: h:81"
        );
        assert_eq!(fields(RAW, of(raw)), "Content-Type: text/x; Content-Length: 2; Host: h:81");
        let change = vec![("X-B".to_owned(), Some("2".to_owned())), ("x-a".to_owned(), None)];
        assert_eq!(fields(QUERY, Edit { fields: change, ..Edit::default() }), "X-B: 2; Host: h:81");
    }

    #[test]
    fn places_are_changed_in_part() {
        let edit = |host: Option<&str>, port, path: Option<&str>| Edit {
            host: host.map(str::to_owned),
            port,
            path: path.map(str::to_owned),
            ..Edit::default()
        };
        let (url, fields, _) = edited(QUERY, edit(Some("other"), None, None));
        assert_eq!((url.as_str(), fields.as_str()), ("http://other:81/p?a=b", "X-A: one; Host: other:81"));
        assert_eq!(edited(QUERY, edit(None, Some(80), None)).1, "X-A: one; Host: h");
        assert_eq!(edited(QUERY, edit(None, None, Some("/o?z=1"))).0, "http://h:81/o?a=b&z=1");
        assert_eq!(edited(SENT_FORM, edit(None, None, Some("o x"))).0, "http://h:81/o%20x");
        // The query of a path goes with it, unless it is one of parameters.
        let with_query = SENT_FORM.replace("/p ", "/p?y=1 ");
        assert_eq!(edited(&with_query, edit(None, None, Some("/o?z=1"))).0, "http://h:81/o?z=1");
        let replaces = Parameters { replaces: true, ..Parameters::default() };
        let whole = Edit { parameters: replaces, ..edit(None, None, Some("/o?z=%61&q")) };
        assert_eq!(edited(QUERY, whole).0, "http://h:81/o?z=%61&q");
    }

    #[test]
    fn a_request_that_led_nowhere_is_sent_where_a_program_gives_it_a_whole_place() {
        let nowhere = || {
            let request = HttpRequest::of_text("GET / HTTP/1.1\r\nHost: \r\n\r\n");
            let mut message = SessionMessage::new(request, &Address::parse("http://place.invalid/").unwrap());
            message.move_to("http://h:81/[a-z]+");
            message
        };
        let host = Some("h".to_owned());
        let half = Edit { host: host.clone(), port: Some(81), ..Edit::default() };
        let whole = Edit { path: Some("/abc".to_owned()), ..half.clone() };
        for (edit, refused) in [(Edit::default(), true), (half, true), (whole, false)] {
            let mut message = nowhere();
            message.edit(edit);
            assert_eq!(message.refused, refused, "{}", message.address.text);
            assert!(
                refused
                    || message.address.text == "http://h:81/abc"
                        && message.request.fields[0].value() == "h:81"
            );
        }
    }
}
