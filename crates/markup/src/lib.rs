//! XML and HTML as a tree, and what XPath 1.0 expressions and CSS selectors find in it.
//!
//! For looking into answers of a server, which may be anything: reading is bounded in depth and size, nothing is fetched, no
//! entity of a document's own is known. HTML is mended as far as pages need it (elements without an end, attributes without
//! quotes), not by the whole algorithm of browsers. Names are compared as they are written, prefix included.
//!
//! Start reading at [`Document`], then [`XPath`] or [`Selector`].

mod css;
mod entity;
mod html;
mod tree;
mod xml;
mod xpath;

pub use css::Selector;
pub use tree::{Attribute, Document, Node};
pub use xpath::{Found, XPath, XpathKind};
