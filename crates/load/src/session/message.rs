//! A request as it is derived from one of the list: its fields stay, and what an answer changed is changed.

use crate::channel::OwnedDestination;
use crate::request::{FieldLine, HttpRequest};
use plan::{Address, Http, uri_fault};
use wire::http2::FieldList;

/// A request that can be led on.
#[derive(Debug, Clone)]
pub(crate) struct SessionMessage {
    pub request: HttpRequest,
    /// Where it leads.
    pub address: Address,
    /// It leads nowhere, and is not sent.
    pub refused: bool,
}

/// The scheme of messages over TCP.
pub(super) const TCP: &str = "tcp://";

/// Statuses after which a request becomes a GET without a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BecomesGet {
    /// Those of RFC 9110.
    AsStandard,
    /// All but 307 and 308, whatever the method.
    AfterMost,
    /// All but 307; not of HEAD.
    AfterAllBut307,
}

/// How a request changes where an answer redirects it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Redirection<'a> {
    becomes_get: BecomesGet,
    /// Names of fields that stay where the body that they describe does not.
    keep: &'a [String],
}

impl<'a> Redirection<'a> {
    /// As RFC 9110 has it.
    pub const STANDARD: Redirection<'static> = Redirection { becomes_get: BecomesGet::AsStandard, keep: &[] };

    /// As a plan has it.
    pub fn of(redirects: Option<&'a plan::Redirects>) -> Redirection<'a> {
        let Some(redirects) = redirects else { return Redirection::STANDARD };
        let becomes_get = match redirects {
            redirects if redirects.as_jmeter => BecomesGet::AfterAllBut307,
            redirects if redirects.to_get => BecomesGet::AfterMost,
            _ => BecomesGet::AsStandard,
        };
        Redirection { becomes_get, keep: &redirects.keep }
    }

    fn keeps(&self, field: &FieldLine) -> bool {
        self.keep.iter().any(|name| field.is(name))
    }

    /// The body stays behind, and with it what describes it.
    fn become_get(&self, request: &mut HttpRequest) {
        request.method = "GET".into();
        request.body = [].into();
        request.long = None;
        request.chunked = false;
        request.fields.retain(|field| !field.describes_body() || self.keeps(field));
    }
}

/// Fields that a session adds, and those that they take the place of.
#[derive(Debug, Default)]
pub(crate) struct Additions {
    pub fields: Vec<FieldLine>,
    /// Names of fields of the plan that are left out.
    pub instead_of: Vec<&'static str>,
}

impl Additions {
    /// Adds a field, instead of the plan's own.
    pub fn add(&mut self, name: &'static str, value: &str) {
        self.fields.push(FieldLine::new(name, value));
        self.instead_of.push(name);
    }

    fn keeps(&self, field: &FieldLine) -> bool {
        !self.instead_of.iter().any(|name| field.is(name))
    }
}

impl SessionMessage {
    /// Method and URL; of a message over TCP its address.
    pub fn title(&self) -> String {
        let url = &self.address.text;
        if url.starts_with(TCP) { url.clone() } else { format!("{} {url}", self.request.method) }
    }

    /// `described`: its URL as it was described, without values.
    pub fn new(request: HttpRequest, described: &Address) -> SessionMessage {
        let filled = Some(&*request.target).filter(|target| *target != described.path);
        let filled = filled.and_then(|target| described.join(target));
        SessionMessage { address: filled.unwrap_or_else(|| described.clone()), request, refused: false }
    }

    /// Leads it to another place: scheme, host and port; nowhere, where that is none.
    pub fn move_to(&mut self, place: &str) {
        if place.is_empty() {
            return;
        }
        let behind = place.split_once("://").map_or("", |(_, behind)| behind);
        let text = match behind.split_once('/') {
            // A path that is a value may begin with a slash of its own.
            Some((authority, path)) => {
                let path = path.strip_prefix('/').unwrap_or(path);
                format!("{}{authority}/{path}", &place[..place.len() - behind.len()])
            }
            None => format!("{place}{}", self.address.path),
        };
        if uri_fault(&text).is_some() {
            return (self.address.text, self.refused) = (text, true);
        }
        let parsed = if text.starts_with(TCP) { Address::parse_tcp(&text) } else { Address::parse(&text) };
        match parsed {
            Some(to) => self.address = to,
            None => (self.address.text, self.refused) = (text, true),
        }
        for host in
            self.request.fields.iter_mut().filter(|field| field.is("Host") && field.value().is_empty())
        {
            *host = FieldLine::new(host.name(), &self.address.authority);
        }
    }

    /// One slash where its path has several, as Apache's HttpClient sends it.
    pub fn fold_slashes(&mut self) {
        let (path, query) =
            self.address.path.split_at(self.address.path.find('?').unwrap_or(self.address.path.len()));
        if self.refused || !path.contains("//") {
            return;
        }
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let end = if path.ends_with('/') && !segments.is_empty() { "/" } else { "" };
        let folded = format!("/{}{end}{query}", segments.join("/"));
        self.address = self.address.with_path(&folded);
    }

    /// Refuses it where its target holds what no URI may (RFC 3986); its URL then stands as it was to be sent.
    pub fn refuse_what_is_no_uri(&mut self) {
        if !self.refused && uri_fault(&self.request.target).is_some() {
            let origin = self.address.text.strip_suffix(&self.address.path).unwrap_or_default();
            self.address.text = format!("{origin}{}", self.request.target);
            self.refused = true;
        }
    }

    /// The request that an answer of this status leads to (RFC 9110 section 15.4).
    pub fn led_on(&self, to: Address, status: u16, redirection: Redirection<'_>) -> SessionMessage {
        let how = redirection.becomes_get;
        let method = &*self.request.method;
        let becomes_get = match status {
            308 if how == BecomesGet::AfterAllBut307 => method != "HEAD",
            307 | 308 => false,
            _ if how != BecomesGet::AsStandard => method != "HEAD" || how == BecomesGet::AfterMost,
            301 | 302 => method == "POST",
            _ => method != "HEAD",
        };
        let mut request = self.request.clone();
        if becomes_get {
            redirection.become_get(&mut request);
        }
        if (&to.host, to.port) != (&self.address.host, self.address.port) {
            // What was meant for the first host stays behind.
            request.fields.retain(|field| !field.is("Authorization") && !field.is("Cookie"));
        }
        for host in request.fields.iter_mut().filter(|field| field.is("Host")) {
            *host = FieldLine::new(host.name(), &to.authority);
        }
        request.secure = to.secure;
        SessionMessage { request, address: to, refused: false }
    }

    /// A GET of what a page needs.
    pub fn resource(&self, at: Address, redirection: Redirection<'_>) -> SessionMessage {
        let mut message = self.led_on(at, 307, Redirection::STANDARD);
        redirection.become_get(&mut message.request);
        message
    }

    /// Appends the request as it is sent. What is added stands where the plan lists a field of that name without a value;
    /// otherwise it follows the Host field, or the request line where there is none.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        destination: &OwnedDestination,
        http: &Http,
        more: &Additions,
        last: bool,
    ) {
        let fields = self.fields(destination, more);
        self.request.encode(
            destination.line(&self.address, http),
            fields,
            last && !http.h1.listed_fields_only,
            out,
        );
    }

    /// Adds the request as HTTP/2 has it.
    pub fn list(&self, to: &mut FieldList, destination: &OwnedDestination, more: &Additions) {
        self.request.list(&self.address.path, self.fields(destination, more), to);
    }

    fn fields<'a>(
        &'a self,
        destination: &'a OwnedDestination,
        more: &'a Additions,
    ) -> impl Iterator<Item = &'a FieldLine> + Clone {
        let fields = &self.request.fields;
        let host = fields.iter().position(|field| field.is("Host"));
        let (before, after) = fields.split_at(host.map_or(0, |host| host + 1));
        let open = || fields.iter().filter(|field| field.is_open());
        let keeps = move |field: &&FieldLine| {
            field.is("Host") || more.keeps(field) && destination.carries(field.name())
        };
        // What stands where the plan has left room for it does not stand behind Host as well.
        let placed = move |added: &&FieldLine| !open().any(|field| field.is(added.name()));
        let written = move |field: &'a FieldLine| match field.is_open() {
            true => more.fields.iter().find(|added| added.is(field.name())),
            false => Some(field).filter(keeps),
        };
        let rest = more.fields.iter().filter(placed);
        before.iter().filter_map(written).chain(rest).chain(after.iter().filter_map(written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::http2::Indexing;

    const POST: &str = "POST /form HTTP/1.1\r\nHost: h\r\nX-A: b\r\nAuthorization: Basic eA==\r\n\
        Content-Type: text/plain\r\nContent-Length: 3\r\nProxy-Authorization: x\r\n\r\na=1";

    fn destination(tunnel: Option<&str>) -> OwnedDestination {
        OwnedDestination { tunnel: tunnel.map(str::to_owned), ..OwnedDestination::default() }
    }

    fn text(message: &SessionMessage, added: &str, tunnel: Option<&str>) -> String {
        let fields = added.lines().map(|line| FieldLine::written(line.into(), Indexing::Literal)).collect();
        let more = Additions { fields, instead_of: Vec::new() };
        let mut out = Vec::new();
        message.write(&mut out, &destination(tunnel), &Http::default(), &more, false);
        String::from_utf8(out).unwrap()
    }

    fn of(text: &str, url: &str) -> SessionMessage {
        SessionMessage::new(HttpRequest::of_text(text), &Address::parse(url).unwrap())
    }

    fn post() -> SessionMessage {
        of(POST, "http://h/form")
    }

    #[test]
    fn what_is_added_follows_host() {
        assert_eq!(text(&post(), "", None), POST);
        let added = text(&post(), "Cookie: a=b\r\n", None);
        assert!(added.contains("Host: h\r\nCookie: a=b\r\nX-A: b\r\n"), "{added}");
        let old = of("GET / HTTP/1.0\r\nX: y\r\n\r\n", "http://h/");
        assert_eq!(text(&old, "Cookie: a=b\r\n", None), "GET / HTTP/1.0\r\nCookie: a=b\r\nX: y\r\n\r\n");
    }

    #[test]
    fn methods_and_bodies_follow_the_status() {
        let to = Address::parse("http://h/next").unwrap();
        for (status, method) in [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")] {
            let next = post().led_on(to.clone(), status, Redirection::STANDARD);
            let written = text(&next, "", None);
            assert!(written.starts_with(&format!("{method} /next HTTP/1.1\r\nHost: h\r\n")), "{written}");
            assert_eq!(written.ends_with("a=1"), method == "POST", "{written}");
            assert_eq!(written.contains("Content-"), method == "POST", "{written}");
            assert!(written.contains("Authorization: Basic"), "{written}");
        }
        let put = of("PUT / HTTP/1.1\r\nHost: h\r\n\r\nx", "http://h/next").led_on(
            to.clone(),
            302,
            Redirection::STANDARD,
        );
        assert_eq!(text(&put, "", None), "PUT /next HTTP/1.1\r\nHost: h\r\n\r\nx");
        for (status, method) in [(201, "GET"), (301, "GET"), (302, "GET"), (307, "PUT"), (308, "PUT")] {
            let next = put.led_on(
                to.clone(),
                status,
                Redirection { becomes_get: BecomesGet::AfterMost, ..Redirection::STANDARD },
            );
            let found = (&*next.request.method, next.request.body.is_empty());
            assert_eq!(found, (method, method == "GET"), "{status}");
        }
    }

    #[test]
    fn chunks_come_with_the_bytes() {
        let chunked = of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\na=1", "http://h/");
        assert_eq!(&*chunked.request.body, b"a=1");
        assert!(text(&chunked, "", None).ends_with("\r\n\r\n3\r\na=1\r\n0\r\n\r\n"));
        let next = chunked.led_on(Address::parse("http://h/next").unwrap(), 303, Redirection::STANDARD);
        assert_eq!(text(&next, "", None), "GET /next HTTP/1.1\r\n\r\n");
    }

    #[test]
    fn secrets_stay_with_their_host() {
        let there = post().led_on(Address::parse("http://other:81/").unwrap(), 307, Redirection::STANDARD);
        let written = text(&there, "", None);
        assert!(
            written.contains("Host: other:81\r\n") && !written.contains("\r\nAuthorization"),
            "{written}"
        );
        let back = there.led_on(Address::parse("http://h/").unwrap(), 307, Redirection::STANDARD);
        assert!(!text(&back, "", None).contains("\r\nAuthorization"), "what was left behind stays there");
        assert!(!text(&post(), "", Some("h:443")).contains("Proxy-"));
    }
}
