//! A request and its answer, as they were seen.

use url::Url;

/// A request and its answer.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Milliseconds since 1970 at which it began.
    pub began_ms: i64,
    /// How long it took, in milliseconds.
    pub took_ms: i64,
    /// The page that it belongs to, by whatever name.
    pub page: Option<String>,
    /// Such as `GET`.
    pub method: String,
    /// With scheme `http` or `https`.
    pub url: Url,
    /// The request's fields, in order.
    pub fields: Vec<(String, String)>,
    /// Content of the request.
    pub body: Vec<u8>,
    /// The answer's status; `None` where no answer was recorded.
    pub status: Option<u16>,
    /// The answer's fields, in order.
    pub answer_fields: Vec<(String, String)>,
    /// The answer's content, decoded; empty where it was not recorded.
    pub answer: Vec<u8>,
    /// The answer's media type.
    pub media_type: String,
}

/// Purpose of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeKind {
    /// A page that the browser went to.
    Page,
    /// A script, style sheet, image or font: what does not depend on the user.
    Static,
    /// Any other request.
    Other,
}

impl Exchange {
    /// `host`, or `host:port` where the port is not the scheme's own.
    pub fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// The value of a request's field.
    pub fn field(&self, name: &str) -> Option<&str> {
        value(&self.fields, name)
    }

    /// The value of an answer's field.
    pub fn answer_field(&self, name: &str) -> Option<&str> {
        value(&self.answer_fields, name)
    }

    /// Returns its purpose: by what the browser said of it, else by its media type and its URL's ending.
    pub fn kind(&self) -> ExchangeKind {
        let media = self.media_type.to_ascii_lowercase();
        match self.field("Sec-Fetch-Dest") {
            Some("document") => return ExchangeKind::Page,
            Some("script" | "style" | "image" | "font" | "manifest" | "audio" | "video" | "track") => {
                return ExchangeKind::Static;
            }
            Some("empty") => return ExchangeKind::Other,
            _ => {}
        }
        let is_media =
            ["image/", "font/", "audio/", "video/", "text/css"].iter().any(|one| media.starts_with(one));
        if is_media
            || media.contains("javascript")
            || media.contains("font-woff")
            || has_static_ending(self.url.path())
        {
            return if self.method == "GET" { ExchangeKind::Static } else { ExchangeKind::Other };
        }
        let is_page = media.starts_with("text/html") && self.field("X-Requested-With").is_none();
        if is_page { ExchangeKind::Page } else { ExchangeKind::Other }
    }

    /// Method and path, the name that it has in reports.
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.url.path())
    }
}

fn value<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn has_static_ending(path: &str) -> bool {
    const ENDINGS: [&str; 17] = [
        "css", "js", "mjs", "png", "jpg", "jpeg", "gif", "svg", "ico", "webp", "avif", "woff", "woff2",
        "ttf", "otf", "map", "mp4",
    ];
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    ENDINGS.contains(&ending.as_str())
}
