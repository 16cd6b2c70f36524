//! A request as fields, for HTTP/2 and HTTP/3.

use crate::channel::RequestContent;
use wire::http1::Version;
use wire::http2::FieldList;

/// A request as fields, in buffers that keep their memory.
pub(crate) struct Head {
    /// Version of HTTP that is spoken.
    pub version: Version,
    pub fields: FieldList,
    pub body: RequestContent,
    /// The text of an answer's head, as evidence shows it.
    pub answer: Vec<u8>,
}

impl Default for Head {
    fn default() -> Head {
        Head {
            version: Version::Http2,
            fields: FieldList::default(),
            body: RequestContent::default(),
            answer: Vec::new(),
        }
    }
}

impl Head {
    /// Appends the request as people read it.
    pub fn show(&self, to: &mut Vec<u8>) {
        self.fields.show(self.version, to);
        self.body.show(to);
    }

    pub fn clear(&mut self) {
        self.fields.clear();
        self.body.clear();
    }
}
