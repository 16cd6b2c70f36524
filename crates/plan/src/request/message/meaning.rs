//! The meaning of the names in the templates of messages.

use super::{Message, MessageStep};
use crate::data::template::{Encode, TemplatePiece, pieces};
use crate::data::{Meaning, Names};

impl MessageStep {
    /// The names under which values of answers are kept.
    pub fn extracted(&self) -> Vec<&str> {
        self.messages
            .iter()
            .flat_map(|message| &message.extract)
            .map(|extract| extract.name.as_str())
            .collect()
    }

    /// All placeholders of a message, with what they mean.
    ///
    /// # Errors
    /// The first that is broken or means nothing, in words.
    pub fn placeholders(&self, message: &Message) -> Result<Vec<Meaning>, String> {
        let mut found = pieces(&message.head, Encode::Raw)?;
        found.extend(pieces(&message.body, Encode::Raw)?);
        let extracted = self.extracted();
        let names = Names { data: &self.data, extracted: &extracted };
        let used = found.iter().filter_map(|piece| match piece {
            TemplatePiece::Value { name, .. } => Some(name),
            TemplatePiece::Text(_) => None,
        });
        used.map(|name| names.meaning(name)).collect()
    }
}
