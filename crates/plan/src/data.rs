//! Data that requests are filled with: where a named value comes from, and what it is for one request.
//!
//! A value is a pure function of (seed, number of the request), so that the same plan sends the same requests however many
//! workers there are. What a file holds is not read here: a plan names the file, and whoever runs the plan lays a
//! [`Table`] beside it, as with the files of TLS. A plan stays short, and so does every report that quotes it.

mod source;
mod table;
mod time;

pub use source::{Moment, RowOrder, Source, TimeForm, seed_of};
pub use table::Table;
pub use time::rfc3339;

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Tables by the file that they were read from.
pub type Tables = HashMap<String, Arc<Table>>;

/// A name for values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// As it stands between the braces of a placeholder.
    pub name: String,
    /// Where its values come from.
    pub source: Source,
}

/// What a name in a placeholder means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// Where its values come from.
    pub source: Source,
    /// The name by which its random numbers are drawn: the same name has the same value throughout a request.
    pub name: String,
    /// The column of a file; `None`: the first.
    pub column: Option<String>,
}

/// What a name means among named data: the data of that name, a column of a file (`users.email`), or a source that is
/// described in place (`int:1..9`).
///
/// # Errors
/// What the name could be, in words.
pub fn meaning(name: &str, data: &[Data]) -> Result<Meaning, String> {
    let named = |name: &str| data.iter().find(|data| data.name == name);
    if let Some(data) = named(name) {
        return Ok(Meaning { source: data.source.clone(), name: name.to_owned(), column: None });
    }
    if let Some((file, column)) = name.split_once('.')
        && let Some(Data { source: source @ Source::File { .. }, .. }) = named(file)
    {
        let (source, column) = (source.clone(), Some(column.to_owned()));
        return Ok(Meaning { source, name: file.to_owned(), column });
    }
    let source = Source::parse(name).map_err(|why| {
        let known: Vec<&str> = data.iter().map(|data| data.name.as_str()).collect();
        let known =
            if known.is_empty() { String::new() } else { format!("; named data: {}", known.join(", ")) };
        format!(
            "{{{{{name}}}}} is no known data: {why}{known}; write \\{{{{ for braces that stand for themselves"
        )
    })?;
    Ok(Meaning { source, name: name.to_owned(), column: None })
}

/// Whether a name can stand in a placeholder.
pub fn is_name(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !name.is_empty() && name.bytes().all(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_data_columns_or_sources() {
        let file = Source::File { file: "u.csv".to_owned(), order: RowOrder::InTurn };
        let data = [
            Data { name: "users".to_owned(), source: file.clone() },
            Data { name: "id".to_owned(), source: Source::Uuid },
        ];
        let of = |name| meaning(name, &data).map(|found| (found.source, found.name, found.column));
        assert_eq!(of("users"), Ok((file.clone(), "users".to_owned(), None)));
        assert_eq!(of("users.mail"), Ok((file, "users".to_owned(), Some("mail".to_owned()))));
        assert_eq!(of("id"), Ok((Source::Uuid, "id".to_owned(), None)));
        assert_eq!(of("int:1..9"), Ok((Source::Integer { min: 1, max: 9 }, "int:1..9".to_owned(), None)));
        let said = of("nobody").unwrap_err();
        assert!(said.contains("{{nobody}}") && said.contains("users, id") && said.contains("\\{{"), "{said}");
        assert!(of("id.column").is_err());
    }
}
