//! The file of a recording (`.rec`): a header, URLs and users, blocks of requests in columns, a summary and an index, each section
//! with a checksum of its own. It is written from beginning to end and read in any order; what is whole of a damaged one can be
//! read, too.

mod block;
mod header;
mod read;
mod section;
mod varint;
mod write;

pub use block::{Block, ROWS};
pub use header::{Class, FilePlace, Header, Input, Known, Note, Summary};
pub use read::{Gap, ReadError, Recording, Salvage, path_without_host};
pub use write::{UserId, VERSION, Writer};

pub(crate) use varint::{put, take};
