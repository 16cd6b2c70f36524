//! Bodies of requests: `--data`, `--body-file`, `--form` and `--multipart`.

use super::files::Files;
use clap::Args;
use plan::draw::hash;
use plan::template::{Encode, TemplatePiece, escape, pieces};
use plan::{Body, BodyPart, Field};
use std::path::{Path, PathBuf};

/// Bodies of requests; one kind of them.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Bodies")]
pub struct BodyArgs {
    /// Body of each request, placeholders filled in; @FILE: the text of a file
    #[arg(long, value_name = "TEXT|@FILE", conflicts_with_all = ["body_file", "forms", "parts"])]
    pub data: Option<String>,
    /// Body of each request: the bytes of a file as they are
    #[arg(long, value_name = "FILE", conflicts_with_all = ["forms", "parts"])]
    pub body_file: Option<PathBuf>,
    /// A field of a form, sent URL-encoded
    #[arg(long = "form", value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "parts")]
    pub forms: Vec<(String, String)>,
    /// A part of a multipart form: text, or the bytes of a file
    #[arg(long = "multipart", value_name = "NAME=VALUE|NAME=@FILE[;type=TYPE]", value_parser = pair)]
    pub parts: Vec<(String, String)>,
}

/// A body, with what is said of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Described {
    /// Bytes; placeholders where `is_text`.
    pub bytes: Body,
    /// True if braces may be placeholders.
    pub is_text: bool,
    /// Its Content-Type, where that is known.
    pub content_type: Option<String>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("'{text}' is not NAME=VALUE, such as q=rain")),
    }
}

impl BodyArgs {
    /// The files to be read.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let data = self.data.as_deref().and_then(|data| data.strip_prefix('@')).map(PathBuf::from);
        let parts = self.parts.iter().filter_map(|(_, value)| Some(PathBuf::from(part_file(value)?.0)));
        data.into_iter().chain(self.body_file.clone()).chain(parts)
    }

    /// True if it is the text of a file.
    pub fn is_text(&self, file: &Path) -> bool {
        self.data
            .as_deref()
            .and_then(|data| data.strip_prefix('@'))
            .is_some_and(|data| Path::new(data) == file)
    }

    /// The body; `None` where there is none.
    pub(super) fn body(&self, files: &Files) -> Result<Option<Described>, String> {
        if let Some(data) = &self.data {
            let bytes = match data.strip_prefix('@') {
                Some(file) => {
                    files.text(file.as_ref(), "use --body-file for bytes that are no text")?;
                    files.body(file.as_ref())?.clone()
                }
                None => data.clone().into(),
            };
            return Ok(Some(Described { bytes, is_text: true, content_type: None }));
        }
        if let Some(file) = &self.body_file {
            let name = file.display().to_string();
            let content_type = Some(type_of(&name).to_owned());
            let bytes = files.body(file)?.clone();
            return Ok(Some(Described { bytes, is_text: false, content_type }));
        }
        if !self.forms.is_empty() {
            return Ok(Some(self.urlencoded()?));
        }
        if !self.parts.is_empty() {
            return Ok(Some(self.multipart(files)?));
        }
        Ok(None)
    }

    fn urlencoded(&self) -> Result<Described, String> {
        let mut bytes = Vec::new();
        for (name, value) in &self.forms {
            if !bytes.is_empty() {
                bytes.push(b'&');
            }
            encode_template(name, &mut bytes)?;
            bytes.push(b'=');
            encode_template(value, &mut bytes)?;
        }
        let content_type = Some("application/x-www-form-urlencoded".to_owned());
        Ok(Described { bytes: bytes.into(), is_text: true, content_type })
    }

    /// A form of RFC 7578.
    fn multipart(&self, files: &Files) -> Result<Described, String> {
        let mut parts = Vec::new();
        for (name, value) in &self.parts {
            parts.push(part(name, value, files)?);
        }
        let boundary = boundary(&parts);
        let mut all = Vec::new();
        for FormPart { head, content } in parts {
            all.push(format!("--{boundary}\r\n{head}\r\n\r\n").into_bytes().into());
            all.push(content);
            all.push(b"\r\n".to_vec().into());
        }
        all.push(format!("--{boundary}--\r\n").into_bytes().into());
        let content_type = Some(format!("multipart/form-data; boundary={boundary}"));
        Ok(Described { bytes: Body::of_parts(joined(all)), is_text: true, content_type })
    }
}

/// Percent-encodes what stays, and has values encoded when they are filled in.
fn encode_template(text: &str, to: &mut Vec<u8>) -> Result<(), String> {
    for piece in pieces(text.as_bytes(), Encode::Url)? {
        match piece {
            TemplatePiece::Text(text) => Encode::Url.write(&text, to),
            TemplatePiece::Value { name, encode } => {
                let how = if encode == Encode::Raw { "raw" } else { "url" };
                to.extend_from_slice(format!("{{{{{name}|{how}}}}}").as_bytes());
            }
        }
    }
    Ok(())
}

/// The file of a part, and its type where one was given.
fn part_file(value: &str) -> Option<(&str, Option<&str>)> {
    let file = value.strip_prefix('@')?;
    Some(file.split_once(";type=").map_or((file, None), |(file, kind)| (file, Some(kind))))
}

/// A part of a form: its fields, and what they describe.
struct FormPart {
    head: String,
    content: BodyPart,
}

fn part(name: &str, value: &str, files: &Files) -> Result<FormPart, String> {
    // As browsers escape them (WHATWG HTML, multipart/form-data encoding algorithm).
    let quoted = |text: &str| text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let mut head = format!("Content-Disposition: form-data; name=\"{}\"", quoted(name));
    let content = match part_file(value) {
        None => value.as_bytes().to_vec().into(),
        Some((file, kind)) => {
            let path = PathBuf::from(file);
            let file_name =
                path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            head += &format!("; filename=\"{}\"\r\n", quoted(&file_name));
            head += &format!("Content-Type: {}", kind.unwrap_or_else(|| type_of(&file_name)));
            let body = files.body(&path)?;
            let named = body.files().next().cloned().map(BodyPart::File);
            named.unwrap_or_else(|| escape(body).into())
        }
    };
    Ok(FormPart { head, content })
}

/// The parts, of which no two that stand in the plan follow each other.
fn joined(parts: Vec<BodyPart>) -> Vec<BodyPart> {
    let mut all: Vec<BodyPart> = Vec::new();
    let mut bytes = Vec::new();
    for part in parts {
        match part {
            BodyPart::Bytes(more) => bytes.extend_from_slice(&more),
            BodyPart::File(_) => all.extend([std::mem::take(&mut bytes).into(), part]),
        }
    }
    all.push(bytes.into());
    all
}

/// A line that stands in no part; the same for the same parts, so that a plan is the same each time.
fn boundary(parts: &[FormPart]) -> String {
    let each = |part: &FormPart| [part.head.as_bytes().to_vec(), part.content.mark().into_owned()];
    let told: Vec<Vec<u8>> = parts.iter().flat_map(each).collect();
    let mut number = told.iter().flatten().fold(0, |sum, byte| hash(sum, u64::from(*byte)));
    loop {
        let boundary = format!("wringer-{number:016x}");
        // A file that is named is known by its digest, which decides about the boundary.
        let within = |part: &Vec<u8>| part.windows(boundary.len()).any(|text| text == boundary.as_bytes());
        if !told.iter().any(within) {
            return boundary;
        }
        number = hash(1, number);
    }
}

/// The type that a file's name lets expect.
fn type_of(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase());
    match ending.as_str() {
        "json" => "application/json",
        "xml" => "application/xml",
        "txt" => "text/plain; charset=utf-8",
        "html" | "htm" => "text/html; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "gif" => "image/gif",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "gz" => "application/gzip",
        _ => "application/octet-stream",
    }
}

impl Described {
    /// The field that says what it is, where nobody has said it.
    pub(super) fn field(&self, given: &[Field]) -> Option<Field> {
        let said = given.iter().any(|field| field.name.eq_ignore_ascii_case("Content-Type"));
        let value = self.content_type.clone().filter(|_| !said)?;
        Some(Field::new("Content-Type", value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(args: BodyArgs) -> Described {
        let files =
            Files::from([("a.bin".into(), b"\x00{{\xff".to_vec()), ("t.json".into(), b"{}".to_vec())]);
        args.body(&files).unwrap().unwrap()
    }

    fn pairs(list: &[&str]) -> Vec<(String, String)> {
        list.iter().map(|text| pair(text).unwrap()).collect()
    }

    #[test]
    fn forms_are_url_encoded() {
        let described =
            body(BodyArgs { forms: pairs(&["a b=1&2", "q={{id}}x", "r={{id|raw}}"]), ..BodyArgs::default() });
        assert_eq!(*described.bytes, *b"a%20b=1%262&q={{id|url}}x&r={{id|raw}}");
        assert_eq!(described.content_type.as_deref(), Some("application/x-www-form-urlencoded"));
    }

    #[test]
    fn multipart_forms_hold_text_and_files() {
        let parts = pairs(&["a=x", "f=@a.bin;type=text/x", "j=@t.json"]);
        let described = body(BodyArgs { parts, ..BodyArgs::default() });
        let content_type = described.content_type.unwrap();
        let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\nContent-Type: text/x\r\n\r\n@\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"j\"; filename=\"t.json\"\r\nContent-Type: application/json\r\n\r\n{{}}\r\n\
             --{boundary}--\r\n"
        );
        let (before, after) = expected.split_once('@').unwrap();
        assert_eq!(*described.bytes, [before.as_bytes(), b"\x00\\{{\xff", after.as_bytes()].concat());
    }

    #[test]
    fn long_files_are_named_in_forms() {
        let named = |sha256: &str| {
            let mut files = Files::default();
            let file = plan::BodyFile::measured("big.bin", 1 << 30, sha256.to_owned());
            files.add_body("big.bin".into(), file.into());
            let parts = pairs(&["a={{id}}", "f=@big.bin", "b=x"]);
            BodyArgs { parts, ..BodyArgs::default() }.body(&files).unwrap().unwrap()
        };
        let described = named("ab");
        let length = |piece: &plan::BodyPiece<'_>| match piece {
            plan::BodyPiece::File(file) => file.bytes,
            plan::BodyPiece::Template(text) => Some(text.len() as u64),
            plan::BodyPiece::Secret(..) => None,
        };
        let lengths: Vec<_> = described.bytes.pieces().iter().map(length).collect();
        assert!(matches!(lengths[..], [Some(100..), Some(0x4000_0000), Some(50..)]), "{lengths:?}");
        assert_ne!(described.content_type, named("ac").content_type, "the boundary follows from the digest");
    }

    #[test]
    fn files_are_bodies() {
        let described = body(BodyArgs { body_file: Some("t.json".into()), ..BodyArgs::default() });
        assert_eq!((described.bytes, described.is_text), (Body::from("{}"), false));
        assert_eq!(described.content_type.as_deref(), Some("application/json"));
        let described = body(BodyArgs { data: Some("@t.json".to_owned()), ..BodyArgs::default() });
        assert_eq!(
            (described.bytes, described.is_text, described.content_type),
            (Body::from("{}"), true, None)
        );
        let no_text = BodyArgs { data: Some("@a.bin".to_owned()), ..BodyArgs::default() };
        let files = Files::from([("a.bin".into(), vec![0xff])]);
        assert!(no_text.body(&files).unwrap_err().contains("--body-file"));
    }
}
