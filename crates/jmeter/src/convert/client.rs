//! The two clients of JMeter, and how each sends a request: HttpClient, the usual one, and that of Java's own library (`Java`), which sends less.

use super::Converter;
use super::http::{Content, Sampler, Url};
use crate::element::Element;

impl Sampler<'_> {
    /// It is sent by Java's own client.
    pub(super) fn is_java(&self) -> bool {
        self.text("HTTPSampler.implementation").trim().eq_ignore_ascii_case("java")
    }
}

impl Content {
    pub(super) fn is_multipart(&self) -> bool {
        self.is_upload && self.kind.as_deref().is_some_and(|kind| kind.starts_with("multipart/"))
    }
}

/// Methods of HTTP samplers that Java's own client does not know.
const UNKNOWN_TO_JAVA: [&str; 4] = ["PATCH", "COPY", "MOVE", "PROPFIND"];

/// Leaves of the content what Java's own client sends with such a method, and lists what JMeter fails to send.
pub(super) fn limit_to_java(c: &mut Converter<'_>, of: &Element, method: &str, content: &mut Content) {
    let fails =
        |why: &str| format!("with the implementation Java JMeter fails to send it ({why}); it is sent");
    match method {
        "POST" => {}
        "PUT" if content.is_form => *content = Content::default(),
        "PUT" if content.is_multipart() => c.different(of, fails("a PUT of several parts")),
        "PUT" => {}
        _ if UNKNOWN_TO_JAVA.contains(&method) => {
            c.different(of, fails(&format!("its client knows no {method}")));
        }
        _ => *content = Content::default(),
    }
}

/// True if a URL may have several slashes in a row in its path, which HttpClient sends as one: where the path holds them, or values.
pub(super) fn folds_slashes(sampler: &Sampler<'_>, url: &Url) -> bool {
    let several = |written: &str| {
        let behind = written.split_once("://").map_or(written, |(_, behind)| behind);
        behind.split(['?', '#']).next().is_some_and(|path| path.contains("//"))
    };
    !sampler.is_java() && (url.varies() || several(&url.url) || url.place.as_deref().is_some_and(several))
}
