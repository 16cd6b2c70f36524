//! jtest's wire format (spec/jtest.md sections 3 and 5): which documents exist, what their URLs and bodies are.
//!
//! A document is a number: hot ones are `1.x`, cold ones `0.x`, and the size stands in the URL, so an origin needs to
//! know nothing. Where the original's arithmetic went wrong (Zipf ids and sizes) this follows its intention.

use crate::draw::fraction;
use crate::site::content::Content;
use crate::site::numbers::{MAX_SIZE, leading_number, write_number};
use serde::{Deserialize, Serialize};

/// Switches of the origin and of the documents that both sides must share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct JtestForm {
    /// Bodies begin with the path (`-M` switches it off).
    pub embed_path: bool,
    /// `Content-Type` of answers (`-3`).
    pub content_type: ContentType,
    /// Answers carry `Pragma: no-cache` and `Cache-Control: no-cache` (`-5`).
    pub no_cache: bool,
    /// Share of If-Modified-Since requests that get a 304 (`-I`).
    pub not_modified: f64,
    /// Ending of the path (`-4`).
    pub extension: Extension,
    /// The origin reads the body of a POST before it answers (`--post_support`).
    pub post: bool,
}

impl Default for JtestForm {
    fn default() -> JtestForm {
        JtestForm {
            embed_path: true,
            content_type: ContentType::Html,
            no_cache: false,
            not_modified: 0.5,
            extension: Extension::None,
            post: false,
        }
    }
}

/// The type that the origin gives its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContentType {
    /// text/html
    Html,
    /// image/jpeg
    Jpeg,
    /// image/jpeg where the request has a cookie, else text/html (jtest with `-Y` and no `-3`).
    JpegForCookies,
}

/// Ending of a document's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Extension {
    /// No ending.
    None,
    /// `.html`
    Html,
    /// `.jpeg`
    Jpeg,
    /// `/`
    Slash,
}

impl Extension {
    /// The ending as it stands in the path.
    pub fn text(self) -> &'static str {
        match self {
            Extension::None => "",
            Extension::Html => ".html",
            Extension::Jpeg => ".jpeg",
            Extension::Slash => "/",
        }
    }
}

/// A document as a client names it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Document {
    /// The number in the path: `1.x` hot, `0.x` cold, a whole number under Zipf.
    pub number: f64,
    /// Its size in bytes, also in the path.
    pub size: u64,
    /// Generation under an evolving hot set (`-9`), appended to the path.
    pub generation: Option<u32>,
}

impl Document {
    /// Number of the hot document of this rank among `hot`.
    pub fn hot_number(rank: u64, hot: u64) -> f64 {
        1.0 + rank as f64 / hot as f64
    }

    /// The fraction that decides the size of a document with this number, when it is not a Zipf rank.
    pub fn size_fraction(number: f64) -> f64 {
        if number >= 1.0 { number - 1.0 } else { number }
    }

    /// Appends the path: `/0.7551555330/7000`, with generation and extension where they apply.
    pub fn write_path(&self, out: &mut Vec<u8>, extension: Extension) {
        out.push(b'/');
        write_decimal(out, self.number);
        out.push(b'/');
        write_number(out, self.size);
        if let Some(generation) = self.generation {
            out.push(b'.');
            write_number(out, u64::from(generation));
        }
        out.extend_from_slice(extension.text().as_bytes());
    }
}

/// Appends `whole.fraction` with ten decimals, as C's `%12.10f` prints numbers from 0 up.
///
/// By integers, as this is done for each request; a number of 15 digits and more would lose the last ones.
fn write_decimal(out: &mut Vec<u8>, number: f64) {
    const TEN_DECIMALS: u64 = 10_000_000_000;
    let scaled = (number * TEN_DECIMALS as f64).round() as u64;
    write_number(out, scaled / TEN_DECIMALS);
    out.push(b'.');
    let begin = out.len();
    // A one in front keeps the leading zeros; it becomes the place of the point.
    write_number(out, TEN_DECIMALS + scaled % TEN_DECIMALS);
    out.remove(begin);
}

/// Reads the size from the path of a document: `/<number>/<size>…`; what follows the size is ignored.
///
/// The original reads with scanf; a negative or absent size, or a first part that is no number, is refused here.
pub fn read_size(path: &[u8]) -> Option<u64> {
    let rest = path.strip_prefix(b"/")?;
    let slash = rest.iter().position(|byte| *byte == b'/')?;
    std::str::from_utf8(&rest[..slash]).ok()?.parse::<f64>().ok()?;
    leading_number(&rest[slash + 1..]).filter(|size| *size <= MAX_SIZE)
}

/// Size in bytes by jtest's table from a fraction in [0, 1): class by .35/.50/.14/.01, then one of nine steps.
pub fn table_size(x: f64) -> u64 {
    const STEPS: [f64; 9] = [0.018, 0.091, 0.237, 0.432, 0.627, 0.783, 0.887, 0.945, 1.0];
    let class = match x {
        _ if x < 0.35 => 0,
        _ if x < 0.85 => 1,
        _ if x < 0.99 => 2,
        _ => 3,
    };
    let r = (x * if class == 3 { 113.0 } else { 13.0 }).fract();
    let step = STEPS.iter().position(|limit| r < *limit).unwrap_or(STEPS.len() - 1);
    100 * 10u64.pow(class) * (step as u64 + 1)
}

/// The fraction that decides the size of the document of a Zipf rank: deterministic, so a rank has one URL.
pub fn zipf_fraction(rank: u64) -> f64 {
    fraction(crate::draw::mix(rank))
}

/// The body of a document, under its prefix.
pub fn content(size: u64, alternate: u32) -> Content {
    Content::jtest(size, alternate)
}

/// How many bytes of the path are laid over the beginning of a body of `size` bytes.
pub fn embedded(form: &JtestForm, path_length: usize, size: u64) -> usize {
    if form.embed_path && size > 16 { path_length.min(size as usize) } else { 0 }
}

/// The alternate that a request names in its cookie or else its user agent: the number after the second `-` of a
/// word that begins with `jtest`.
pub fn alternate(field: &[u8]) -> Option<u32> {
    let at = field.windows(5).position(|window| window == b"jtest")?;
    let mut dashes = field[at..].splitn(3, |byte| *byte == b'-');
    let number = dashes.nth(2)?;
    leading_number(number).and_then(|k| u32::try_from(k).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(document: Document, extension: Extension) -> String {
        let mut out = Vec::new();
        document.write_path(&mut out, extension);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn sizes_are_those_the_original_was_seen_to_send() {
        // (number, size) pairs from recorded URLs of the original.
        let seen = [
            (0.7551555330, 7_000),
            (1.574, 5_000),
            (0.6852712867, 8_000),
            (1.903, 60_000),
            (1.273, 500),
            (0.7532185105, 7_000),
            (1.747, 6_000),
            (1.143, 700),
            (1.773, 2_000),
        ];
        for (number, size) in seen {
            assert_eq!(table_size(Document::size_fraction(number)), size, "{number}");
        }
    }

    #[test]
    fn the_table_has_the_mean_the_spec_names() {
        let mean = (0..1_000_000).map(|n| table_size((n as f64 + 0.5) / 1e6)).sum::<u64>() as f64 / 1e6;
        assert!((14_600.0..15_000.0).contains(&mean), "{mean}");
    }

    #[test]
    fn paths_are_written_as_recorded() {
        let cold = Document { number: 0.755155533, size: 7_000, generation: None };
        assert_eq!(path(cold, Extension::None), "/0.7551555330/7000");
        let hot = Document {
            number: Document::hot_number(574, 1000),
            size: 5_000,
            generation: Some(1_795_219_342),
        };
        assert_eq!(path(hot, Extension::None), "/1.5740000000/5000.1795219342");
        assert_eq!(path(cold, Extension::Html), "/0.7551555330/7000.html");
        let zipf = Document { number: 21.0, size: 583, generation: None };
        assert_eq!(path(zipf, Extension::Slash), "/21.0000000000/583/");
    }

    #[test]
    fn decimals_are_those_that_printf_gives() {
        for number in [0.0, 1.0, 21.0, 0.000_000_000_1, 0.999_999_999_9, 1.0 / 3.0, 1.574, 669.0, 1_048_575.0]
        {
            let mut out = Vec::new();
            write_decimal(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{number:.10}"));
        }
    }

    #[test]
    fn sizes_are_read_from_what_the_original_accepts() {
        for (path, size) in [("/0.5/50", 50), ("/5/50", 50), ("/0.25/40.77.html?x=y", 40), ("/5/0", 0)] {
            assert_eq!(read_size(path.as_bytes()), Some(size), "{path}");
        }
        for path in ["/index.html", "/5/-5", "/x/5", "/5/", "5/50", "/5"] {
            assert_eq!(read_size(path.as_bytes()), None, "{path}");
        }
    }

    #[test]
    fn alternates_are_read_from_cookie_and_user_agent() {
        assert_eq!(alternate(b"jtest-cookie-3"), Some(3));
        assert_eq!(alternate(b"jtest-browser-2"), Some(2));
        assert_eq!(alternate(b"abc=1"), None);
        assert_eq!(alternate(b"jtest-cookie-"), None);
    }

    #[test]
    fn short_bodies_do_not_begin_with_the_path() {
        let form = JtestForm::default();
        assert_eq!(embedded(&form, 7, 10), 0);
        assert_eq!(embedded(&form, 7, 50), 7);
        assert_eq!(embedded(&form, 60, 20), 20);
        assert_eq!(embedded(&JtestForm { embed_path: false, ..form }, 7, 50), 0);
    }
}
