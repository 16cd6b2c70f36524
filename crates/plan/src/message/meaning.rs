//! What the names in the templates of messages mean.

use super::{Field, FieldSource, Format, Message, MessageStep};
use crate::data::{self, Source};
use crate::template::{Encode, Piece, pieces};

/// What a name in a placeholder means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A value as other requests have it.
    Value(data::Meaning, Option<Format>),
    /// A value that only messages know.
    Own(FieldSource, Option<Format>),
    /// The value taken under this name.
    Taken(String),
}

impl MessageStep {
    /// What a name means: a value taken from an answer, named data, a column of a file (`users.email`), or a source that
    /// is described in place (`int:1..9`).
    ///
    /// # Errors
    /// What the name could be, in words.
    pub fn meaning(&self, name: &str) -> Result<Meaning, String> {
        if self.messages.iter().flat_map(|message| &message.take).any(|take| take.name == name) {
            return Ok(Meaning::Taken(name.to_owned()));
        }
        let (first, column) =
            name.split_once('.').map_or((name, None), |(name, column)| (name, Some(column)));
        let named = |name: &str| self.data.iter().find(|field| field.name == name);
        let field = match (named(name), named(first)) {
            (Some(field), _) => Some((field, None)),
            (None, Some(field)) if is_file(&field.source) => Some((field, column)),
            _ => None,
        };
        if let Some((field, column)) = field {
            return Ok(field.meaning(column));
        }
        match FieldSource::parse(name) {
            Ok(FieldSource::Value(source)) => {
                Ok(Meaning::Value(data::Meaning { source, name: name.to_owned(), column: None }, None))
            }
            Ok(own) => Ok(Meaning::Own(own, None)),
            Err(why) => Err(format!(
                "{{{{{name}}}}} is no known data: {why}; write \\{{{{ for braces that stand for themselves"
            )),
        }
    }

    /// The files that values come from.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.data.iter().filter_map(|field| match &field.source {
            FieldSource::Value(Source::File { file, .. }) => Some(file.as_str()),
            _ => None,
        })
    }

    /// The files whose lines values are.
    pub fn line_files(&self) -> impl Iterator<Item = &str> {
        self.data.iter().filter_map(|field| match &field.source {
            FieldSource::Lines(file) => Some(file.as_str()),
            _ => None,
        })
    }

    /// All placeholders of a message, with what they mean.
    ///
    /// # Errors
    /// The first that is broken or means nothing, in words.
    pub fn placeholders(&self, message: &Message) -> Result<Vec<Meaning>, String> {
        let mut found = pieces(&message.head, Encode::Raw)?;
        found.extend(pieces(&message.body, Encode::Raw)?);
        let names = found.iter().filter_map(|piece| match piece {
            Piece::Value { name, .. } => Some(name),
            Piece::Text(_) => None,
        });
        names.map(|name| self.meaning(name)).collect()
    }
}

fn is_file(source: &FieldSource) -> bool {
    matches!(source, FieldSource::Value(Source::File { .. }))
}

impl Field {
    fn meaning(&self, column: Option<&str>) -> Meaning {
        match &self.source {
            FieldSource::Value(source) => Meaning::Value(
                data::Meaning {
                    source: source.clone(),
                    name: self.name.clone(),
                    column: column.map(str::to_owned),
                },
                self.format.clone(),
            ),
            own => Meaning::Own(own.clone(), self.format.clone()),
        }
    }
}
