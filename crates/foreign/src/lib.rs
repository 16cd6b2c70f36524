//! Requests that people have already: OpenAPI descriptions, Postman's collections, vegeta's targets, `.http` files. As a plan, or as a
//! list.
//!
//! Text in, requests out: no file, no socket, no clock. Whatever has no place in a plan, or is a guess, is a line of [`Taken::left_out`].
//! Start reading at [`read`]; a kind of file is a file here.

mod asked;
mod http_file;
mod openapi;
mod postman;
mod taken;
#[cfg(test)]
mod tests;
mod value;
mod variables;
mod vegeta;

pub use asked::ForeignAsked;
pub use postman::environment;
pub use taken::Taken;

use asked::Base;
use serde_json::Value;
use variables::KnownValues;

/// The kinds of files.
enum ForeignKind {
    OpenApi(Value),
    Postman(Value),
    HttpFile,
    Vegeta,
}

impl ForeignKind {
    /// The kind of a file; `None`: it is of none of these kinds.
    fn of(name: &str, text: &str) -> Option<ForeignKind> {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
        let has = |words: [&str; 2]| words.into_iter().all(|word| text.contains(word));
        let may_describe = (text.contains("openapi") || text.contains("swagger")) && text.contains("paths");
        match ending.as_str() {
            "http" | "rest" => Some(ForeignKind::HttpFile),
            "json" | "yaml" | "yml" if may_describe || has(["\"info\"", "\"item\""]) => {
                let value = value::parse(text).ok()?;
                match () {
                    () if openapi::is(&value) => Some(ForeignKind::OpenApi(value)),
                    () if postman::is(&value) => Some(ForeignKind::Postman(value)),
                    () => None,
                }
            }
            _ if vegeta::is(text) => Some(ForeignKind::Vegeta),
            _ => None,
        }
    }
}

/// True for a file of one of these kinds, by what it holds and, for `.http` files, by its name.
pub fn is(name: &str, text: &str) -> bool {
    ForeignKind::of(name, text).is_some()
}

/// True for such a file that says more than a list of methods and URLs, a line each.
pub fn is_more_than_urls(name: &str, text: &str) -> bool {
    match ForeignKind::of(name, text) {
        Some(ForeignKind::OpenApi(_) | ForeignKind::Postman(_) | ForeignKind::HttpFile) => true,
        Some(ForeignKind::Vegeta) => vegeta::is_more_than_urls(text),
        None => false,
    }
}

/// Reads vegeta's targets. `find`: reads the file of a body.
///
/// # Errors
/// The line that is none of it, or there is no target.
pub fn targets(text: &str, find: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<Taken, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let taken = vegeta::read(text, find)?;
    match taken.requests.iter().find(|request| plan::Address::parse(&request.url).is_none()) {
        Some(request) => Err(format!("{} is no URL with a host", request.url)),
        None if taken.requests.is_empty() => {
            Err("there is no target: give lines such as GET http://localhost:8080/".to_owned())
        }
        None => Ok(taken),
    }
}

/// Reads a file of any of these kinds.
///
/// # Errors
/// It is none of them, a part of it is broken, nothing in it can be sent, or a value that was given belongs to nothing.
pub fn read(asked: &ForeignAsked<'_>) -> Result<Taken, String> {
    let name = asked.name;
    let base = asked.base.map(Base::parse).transpose()?;
    let mut variables = KnownValues::new(asked.set, asked.environment);
    let text = asked.text.strip_prefix('\u{feff}').unwrap_or(asked.text);
    let mut taken = match ForeignKind::of(name, text) {
        Some(ForeignKind::OpenApi(api)) => openapi::read(&api, base.as_ref(), &mut variables)?,
        Some(ForeignKind::Postman(collection)) => postman::read(&collection, &mut variables, asked.find),
        Some(ForeignKind::HttpFile) => http_file::read(text, &mut variables, asked.find),
        Some(ForeignKind::Vegeta) => {
            vegeta::read(text, asked.find).map_err(|why| format!("{name}: {why}"))?
        }
        None => {
            return Err(format!(
                "{name} is no OpenAPI description, no collection of Postman's, no list of vegeta's targets and no .http file"
            ));
        }
    };
    if let Some(unused) = variables.unused() {
        return Err(format!("nothing in {name} is called {unused}: check the name behind --set"));
    }
    for request in &mut taken.requests {
        if let Some(base) = &base {
            request.url = base.instead_of(&request.url);
        }
        request.url = asked::encoded_url(&request.url);
        if plan::Address::parse(&request.url).is_none() {
            let whose = &request.name;
            return Err(format!(
                "{whose}: {} is no URL with a host: give --base-url http://HOST:PORT",
                request.url
            ));
        }
    }
    match taken.requests.is_empty() {
        true if taken.left_out.is_empty() => Err(format!("{name} has no request")),
        true => Err(format!("nothing in {name} can be sent: {}", taken.left_out.join("; "))),
        false => Ok(taken),
    }
}
