//! Requests as bytes. The native form speaks HTTP/1.1; jtest's form has exactly the lines of the original, in its
//! order (spec/jtest.md section 3.3).

use super::asked::{RequestAsked, What};
use plan::canary::{self, CANARY_FIELD};
use plan::jtest::Extension;
use plan::site::{self, NONCE_FIELD, Paths, Site, SiteForm, codings, write_hex, write_number};
use plan::{Http, Purge, RequestForm};
use wire::http2::{FieldList, Indexing};

/// Everything about requests that does not change from one to the next.
pub(crate) struct Composer {
    form: RequestForm,
    /// `http://host:port`, put before the path in the forward form.
    absolute: Vec<u8>,
    /// `Host: …` with its line end.
    host: Vec<u8>,
    /// The added fields with their line ends.
    fields: Vec<u8>,
    /// Name of the field that chooses the variant, and what stands before the number.
    vary: (String, &'static str),
    variants: bool,
    /// The variants are codings, whose names are the field's values.
    codes: bool,
    paths: Paths,
    jtest: Option<Extension>,
    etag: bool,
    post: Option<u64>,
    /// `host:port`, the added fields, the field that chooses the variant and that of the nonce, in HTTP/2's spelling.
    authority: String,
    lower: Vec<(String, Vec<u8>)>,
    vary_lower: String,
    /// A second field that chooses the variant, in both spellings.
    vary_also: Option<(String, String)>,
    nonce: String,
    /// The added fields hold a validator.
    validates: bool,
    /// Requests carry a canary, whose field is spelled so in HTTP/2.
    canary: Option<String>,
}

impl Composer {
    pub fn new(http: &Http, site: &Site) -> Composer {
        let lower =
            |field: &plan::Field| (field.name.to_ascii_lowercase(), field.value.text().as_bytes().to_vec());
        let fields = http
            .fields
            .iter()
            .flat_map(|f| format!("{}: {}\r\n", f.name, f.value.text()).into_bytes())
            .collect();
        Composer {
            form: http.h1.form,
            absolute: format!("http://{}", http.authority).into_bytes(),
            host: format!("Host: {}\r\n", http.authority).into_bytes(),
            fields,
            vary: (site.vary_on.field().to_owned(), site.vary_on.value_prefix()),
            variants: site.variants > 0 || site.codes(),
            codes: site.codes(),
            paths: Paths::new(site),
            jtest: match &site.form {
                SiteForm::Native => None,
                SiteForm::Jtest(form) => Some(form.extension),
            },
            etag: site.etag,
            post: http.post_bytes,
            authority: http.authority.clone(),
            lower: http.fields.iter().map(lower).collect(),
            vary_lower: site.vary_on.field().to_ascii_lowercase(),
            vary_also: site.vary_also.as_ref().map(|name| (name.clone(), name.to_ascii_lowercase())),
            nonce: NONCE_FIELD.to_ascii_lowercase(),
            validates: http.fields.iter().any(|field| {
                ["If-None-Match", "If-Modified-Since"]
                    .iter()
                    .any(|name| field.name.eq_ignore_ascii_case(name))
            }),
            canary: None,
        }
    }

    /// True if the plan's own fields hold a validator, so that any request may be answered 304.
    pub fn has_validator(&self) -> bool {
        self.validates
    }

    /// With canaries or without.
    pub fn with_canaries(self, wanted: bool) -> Composer {
        Composer { canary: wanted.then(|| CANARY_FIELD.to_ascii_lowercase()), ..self }
    }

    /// Bytes of the body that a request carries.
    pub fn post_bytes(&self, asked: &RequestAsked) -> Option<u64> {
        self.post.map(|bytes| if bytes == 0 { asked.size } else { bytes })
    }

    /// Appends the head of a request and returns where the path stands in `out`. `last`: the connection ends with it; `purge`: what a purge
    /// looks like.
    pub fn head(
        &self,
        out: &mut Vec<u8>,
        site: &Site,
        asked: &RequestAsked,
        purge: Option<&Purge>,
        last: bool,
    ) -> std::ops::Range<usize> {
        let purge = purge.filter(|_| asked.purge);
        match (asked.what, self.jtest) {
            (What::Jtest(document), Some(extension)) => {
                let path = |out: &mut Vec<u8>| document.write_path(out, extension);
                self.jtest_head(out, site, asked, last, path)
            }
            (What::Native { object }, _) => self.native_head(out, site, asked, object, purge, last),
            (What::Jtest(document), None) => {
                let path = |out: &mut Vec<u8>| document.write_path(out, Extension::None);
                self.jtest_head(out, site, asked, last, path)
            }
        }
    }

    /// The fields of a request over HTTP/2, where the site's form is the native one. What changes from request to request is not
    /// indexed.
    pub fn fields(
        &self,
        to: &mut FieldList,
        site: &Site,
        asked: &RequestAsked,
        purge: Option<&Purge>,
        secure: bool,
    ) {
        let purge = purge.filter(|_| asked.purge);
        let object = match asked.what {
            What::Native { object } => object,
            What::Jtest(_) => 0,
        };
        to.push(":method", method(asked, purge), Indexing::Insert);
        to.push(":scheme", if secure { "https" } else { "http" }, Indexing::Insert);
        to.push(":authority", &self.authority, Indexing::Insert);
        to.push_with(":path", Indexing::Literal, |out| self.paths.write(out, object, asked.size));
        for (name, value) in &self.lower {
            to.push(name, value, Indexing::Insert);
        }
        if asked.reload {
            to.push("cache-control", "no-cache", Indexing::Insert);
            to.push("pragma", "no-cache", Indexing::Insert);
        }
        if self.chooses(asked) {
            to.push_with(&self.vary_lower, Indexing::Insert, |out| self.choice(out, site, asked));
            if let Some((_, lower)) = &self.vary_also {
                to.push_with(lower, Indexing::Insert, |out| second_choice(out, site, asked));
            }
        }
        if let Some((first, last)) = asked.range {
            to.push_with("range", Indexing::Literal, |out| {
                write_range(out, first, last);
                write_second_range(out, asked);
            });
        }
        if let Some(version) = asked.has_version {
            let name = if self.etag { "if-none-match" } else { "if-modified-since" };
            to.push_with(name, Indexing::Literal, |out| {
                self.validator_value(out, site, asked, object, version)
            });
        }
        to.push_with(&self.nonce, Indexing::Literal, |out| write_hex(out, asked.nonce));
        if let Some(name) = &self.canary {
            to.push_with(name, Indexing::Literal, |out| canary::write(out, asked.nonce));
        }
        for field in purge.map_or(&[][..], |purge| &purge.fields) {
            let value = self.with_path(field, asked);
            to.push(field.name.to_ascii_lowercase(), value.as_bytes(), Indexing::Literal);
        }
    }

    fn target(
        &self,
        out: &mut Vec<u8>,
        method: &str,
        path: impl FnOnce(&mut Vec<u8>),
    ) -> std::ops::Range<usize> {
        let method = if self.post.is_some() { "POST" } else { method };
        out.extend_from_slice(method.as_bytes());
        out.push(b' ');
        if self.form == RequestForm::Forward {
            out.extend_from_slice(&self.absolute);
        }
        let begin = out.len();
        path(out);
        begin..out.len()
    }

    fn native_head(
        &self,
        out: &mut Vec<u8>,
        site: &Site,
        asked: &RequestAsked,
        object: u64,
        purge: Option<&Purge>,
        last: bool,
    ) -> std::ops::Range<usize> {
        let path = self.target(out, method(asked, purge), |out| self.paths.write(out, object, asked.size));
        if self.form == RequestForm::Transparent {
            out.extend_from_slice(b" HTTP/1.0\r\n");
            out.extend_from_slice(if last {
                b"Connection: close\r\n"
            } else {
                b"Connection: keep-alive\r\n"
            });
        } else {
            out.extend_from_slice(b" HTTP/1.1\r\n");
            out.extend_from_slice(&self.host);
            if last {
                out.extend_from_slice(b"Connection: close\r\n");
            }
        }
        out.extend_from_slice(NONCE_FIELD.as_bytes());
        out.extend_from_slice(b": ");
        write_hex(out, asked.nonce);
        out.extend_from_slice(b"\r\n");
        if self.canary.is_some() {
            out.extend_from_slice(CANARY_FIELD.as_bytes());
            out.extend_from_slice(b": ");
            canary::write(out, asked.nonce);
            out.extend_from_slice(b"\r\n");
        }
        if asked.reload {
            out.extend_from_slice(b"Cache-Control: no-cache\r\nPragma: no-cache\r\n");
        }
        self.range(out, asked);
        self.validator(out, site, asked, object);
        self.variant(out, site, asked);
        self.length(out, asked);
        if purge.is_some_and(Purge::has_content) {
            out.extend_from_slice(b"Content-Length: 0\r\n");
        }
        out.extend_from_slice(&self.fields);
        for field in purge.map_or(&[][..], |purge| &purge.fields) {
            out.extend_from_slice(field.name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(self.with_path(field, asked).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
        path
    }

    /// The path of an object of the native form.
    pub fn path(&self, asked: &RequestAsked) -> String {
        let mut path = Vec::new();
        if let What::Native { object } = asked.what {
            self.paths.write(&mut path, object, asked.size);
        }
        String::from_utf8_lossy(&path).into_owned()
    }

    /// The value of a purge's field.
    fn with_path(&self, field: &plan::Field, asked: &RequestAsked) -> String {
        field.value.text().replace("{path}", &self.path(asked))
    }

    fn jtest_head(
        &self,
        out: &mut Vec<u8>,
        site: &Site,
        asked: &RequestAsked,
        last: bool,
        path: impl FnOnce(&mut Vec<u8>),
    ) -> std::ops::Range<usize> {
        let ranged = asked.range.is_some();
        let path = self.target(out, method(asked, None), path);
        out.extend_from_slice(if ranged { b" HTTP/1.1\r\n" } else { b" HTTP/1.0\r\n" });
        self.length(out, asked);
        if self.form == RequestForm::Reverse {
            out.extend_from_slice(&self.host);
        }
        match (self.form, last) {
            (RequestForm::Forward, false) => out.extend_from_slice(b"Proxy-Connection: Keep-Alive\r\n"),
            (_, false) => out.extend_from_slice(b"Connection: Keep-Alive\r\n"),
            (_, true) if ranged => out.extend_from_slice(b"Connection: close\r\n"),
            (_, true) => {}
        }
        if asked.reload {
            out.extend_from_slice(b"Pragma: no-cache\r\n");
        }
        out.extend_from_slice(&self.fields);
        if ranged && self.form == RequestForm::Forward {
            out.extend_from_slice(b"Host: localhost\r\n");
        }
        self.range(out, asked);
        self.variant(out, site, asked);
        out.extend_from_slice(b"\r\n");
        path
    }

    fn length(&self, out: &mut Vec<u8>, asked: &RequestAsked) {
        if let Some(bytes) = self.post_bytes(asked) {
            out.extend_from_slice(b"Content-Length: ");
            write_number(out, bytes);
            out.extend_from_slice(b"\r\n");
        }
    }

    fn range(&self, out: &mut Vec<u8>, asked: &RequestAsked) {
        if let Some((first, last)) = asked.range {
            out.extend_from_slice(b"Range: ");
            write_range(out, first, last);
            write_second_range(out, asked);
            out.extend_from_slice(b"\r\n");
        }
    }

    fn validator(&self, out: &mut Vec<u8>, site: &Site, asked: &RequestAsked, object: u64) {
        let Some(version) = asked.has_version else { return };
        let name: &[u8] = if self.etag { b"If-None-Match: " } else { b"If-Modified-Since: " };
        out.extend_from_slice(name);
        self.validator_value(out, site, asked, object, version);
        out.extend_from_slice(b"\r\n");
    }

    fn validator_value(
        &self,
        out: &mut Vec<u8>,
        site: &Site,
        asked: &RequestAsked,
        object: u64,
        version: u64,
    ) {
        if self.etag {
            let variant = site.variant_in(object, version, asked.variant);
            out.extend_from_slice(site.etag_prefix(object));
            return site::write_etag(out, object, version, site.named_variant(variant, asked.size));
        }
        let began = std::time::Duration::from_secs(site.version_began(object, version) / 1_000_000);
        let date = httpdate::HttpDate::from(std::time::UNIX_EPOCH + began);
        out.extend_from_slice(date.to_string().as_bytes());
    }

    fn variant(&self, out: &mut Vec<u8>, site: &Site, asked: &RequestAsked) {
        if self.chooses(asked) {
            out.extend_from_slice(self.vary.0.as_bytes());
            out.extend_from_slice(b": ");
            self.choice(out, site, asked);
            out.extend_from_slice(b"\r\n");
            if let Some((name, _)) = &self.vary_also {
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b": ");
                second_choice(out, site, asked);
                out.extend_from_slice(b"\r\n");
            }
        }
    }

    /// True if the request carries the field that chooses the variant.
    fn chooses(&self, asked: &RequestAsked) -> bool {
        self.variants && (!self.codes || codings::asked(asked.variant).is_some())
    }

    /// The value of that field.
    fn choice(&self, out: &mut Vec<u8>, site: &Site, asked: &RequestAsked) {
        if let Some(value) = codings::asked(asked.variant).filter(|_| self.codes) {
            return out.extend_from_slice(value.as_bytes());
        }
        out.extend_from_slice(self.vary.1.as_bytes());
        write_number(out, u64::from(site.choices(asked.variant).0));
    }
}

/// The value of the second field that chooses.
fn second_choice(out: &mut Vec<u8>, site: &Site, asked: &RequestAsked) {
    out.extend_from_slice(site::SECOND_PREFIX.as_bytes());
    write_number(out, u64::from(site.choices(asked.variant).1));
}

/// The method of a request that carries nothing.
fn method<'a>(asked: &RequestAsked, purge: Option<&'a Purge>) -> &'a str {
    match purge {
        Some(purge) => &purge.method,
        None if asked.head => "HEAD",
        None => "GET",
    }
}

fn write_range(out: &mut Vec<u8>, first: u64, last: u64) {
    out.extend_from_slice(b"bytes=");
    write_number(out, first);
    out.push(b'-');
    write_number(out, last);
}

fn write_second_range(out: &mut Vec<u8>, asked: &RequestAsked) {
    if let Some((first, last)) = asked.second_range {
        out.push(b',');
        write_number(out, first);
        out.push(b'-');
        write_number(out, last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Field;
    use plan::jtest::{self, Document};
    use plan::site::VaryOn;

    fn jtest_asked(reload: bool, range: Option<(u64, u64)>) -> RequestAsked {
        let document = Document { number: 0.755155533, size: 7000, generation: None };
        RequestAsked {
            what: What::Jtest(document),
            size: 7000,
            variant: 2,
            range,
            second_range: None,
            reload,
            has_version: None,
            abort_at: None,
            head: false,
            purge: false,
            slow: false,
            nonce: 1,
            kind: 0,
        }
    }

    fn composed(http: &Http, site: &Site, asked: &RequestAsked, last: bool) -> String {
        let mut out = Vec::new();
        let path = Composer::new(http, site).head(&mut out, site, asked, None, last);
        let text = String::from_utf8(out).unwrap();
        assert!(text[path].starts_with('/'));
        text
    }

    fn jtest_site() -> Site {
        Site { form: SiteForm::Jtest(jtest::JtestForm::default()), ..Site::default() }
    }

    fn http(form: RequestForm) -> Http {
        Http {
            authority: "localhost:9299".to_owned(),
            h1: plan::Http1 { form, ..plan::Http1::default() },
            ..Http::default()
        }
    }

    #[test]
    fn jtest_requests_are_byte_for_byte_those_recorded() {
        let asked = jtest_asked(false, None);
        let forward = composed(&http(RequestForm::Forward), &jtest_site(), &asked, false);
        assert_eq!(
            forward,
            "GET http://localhost:9299/0.7551555330/7000 HTTP/1.0\r\nProxy-Connection: Keep-Alive\r\n\r\n"
        );
        let last = composed(&http(RequestForm::Forward), &jtest_site(), &asked, true);
        assert_eq!(last, "GET http://localhost:9299/0.7551555330/7000 HTTP/1.0\r\n\r\n");
        let reverse = composed(&http(RequestForm::Reverse), &jtest_site(), &asked, false);
        assert_eq!(
            reverse,
            "GET /0.7551555330/7000 HTTP/1.0\r\nHost: localhost:9299\r\nConnection: Keep-Alive\r\n\r\n"
        );
        let transparent = composed(&http(RequestForm::Transparent), &jtest_site(), &asked, false);
        assert_eq!(transparent, "GET /0.7551555330/7000 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
    }

    #[test]
    fn jtest_ranges_reloads_and_alternates_stand_where_the_original_puts_them() {
        let range = composed(
            &http(RequestForm::Forward),
            &jtest_site(),
            &jtest_asked(false, Some((345, 699))),
            false,
        );
        assert_eq!(
            range,
            "GET http://localhost:9299/0.7551555330/7000 HTTP/1.1\r\nProxy-Connection: Keep-Alive\r\n\
             Host: localhost\r\nRange: bytes=345-699\r\n\r\n"
        );
        let fields = vec![Field::new("Accept", "*/*")];
        let http = Http { fields, ..http(RequestForm::Forward) };
        let mut site = Site { variants: 3, vary_on: VaryOn::UserAgent, ..jtest_site() };
        site.form =
            SiteForm::Jtest(jtest::JtestForm { extension: Extension::Html, ..jtest::JtestForm::default() });
        assert_eq!(
            composed(&http, &site, &jtest_asked(true, None), false),
            "GET http://localhost:9299/0.7551555330/7000.html HTTP/1.0\r\nProxy-Connection: Keep-Alive\r\n\
             Pragma: no-cache\r\nAccept: */*\r\nUser-Agent: jtest-browser-2\r\n\r\n"
        );
    }

    #[test]
    fn jtest_posts_name_their_length_first() {
        let http = Http { post_bytes: Some(100), ..http(RequestForm::Forward) };
        assert_eq!(
            composed(&http, &jtest_site(), &jtest_asked(false, None), false),
            "POST http://localhost:9299/0.7551555330/7000 HTTP/1.0\r\nContent-Length: 100\r\n\
             Proxy-Connection: Keep-Alive\r\n\r\n"
        );
    }

    #[test]
    fn native_requests_are_read_by_the_server_codec() {
        struct Fields(Vec<(String, String)>);
        impl wire::http1::RequestSink for Fields {
            fn field(&mut self, name: &[u8], value: &[u8]) {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                self.0.push((text(name), text(value)));
            }
        }
        let site = Site { variants: 3, ..Site::default() };
        let asked = RequestAsked {
            what: What::Native { object: 31 },
            has_version: Some(0),
            ..jtest_asked(true, Some((5, 9)))
        };
        let text = composed(&http(RequestForm::Forward), &site, &asked, true);
        let mut path = Vec::new();
        Paths::new(&site).write(&mut path, 31, 7000);
        let path = String::from_utf8(path).unwrap();
        let beginning = format!("GET http://localhost:9299{path} HTTP/1.1\r\nHost: localhost:9299\r\n");
        assert!(text.starts_with(&beginning), "{text}");
        let mut fields = Fields(Vec::new());
        let mut reader = wire::http1::RequestReader::new(wire::http1::Http1Limits::default());
        assert!(reader.read(text.as_bytes(), &mut fields).unwrap().done);
        let value = |name: &str| fields.0.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
        assert_eq!(value("Wringer-Request"), Some("1"));
        assert_eq!(value("Range"), Some("bytes=5-9"));
        assert_eq!(value("If-None-Match"), Some("\"1f-0-2\""));
        assert_eq!(value("X-Variant"), Some("variant-2"));
        assert_eq!(value("Connection"), Some("close"));
    }
}
