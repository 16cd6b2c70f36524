//! JMeter's test plans (`.jmx`): read, resolved, and turned into a [`plan::Plan`].
//!
//! Nothing here opens a file or a socket, or prints: bytes come in, and files that a plan names are asked for through
//! [`Settings`]. Start reading at [`TestPlan::read`]: `encoding` and `xml` make a tree of nodes, `element` a tree of elements
//! with properties, `resolve` leaves what takes part in a run; `expression` and `function` are the language in `${…}`; `convert` turns it
//! into a plan, and lists what runs differently or not at all; `follow` is asked while it runs.

pub mod arguments;
mod charset;
mod convert;
mod element;
mod encoding;
mod error;
mod expression;
mod finding;
pub mod follow;
mod form;
pub mod function;
mod json_path;
mod resolve;
mod role;
mod settings;
mod xml;

pub use convert::{Backend, Conversion, System};
pub use element::{Element, Object, Properties, Value};
pub use error::Error;
pub use expression::{Call, Piece, Text};
pub use finding::{Finding, Grade};
pub use settings::{Settings, Unsupported, read_properties, sample_variables};

/// The name under which a plan keeps a variable: its own, with an underscore for each character that placeholders cannot have.
pub fn placeholder_name(variable: &str) -> String {
    let good = |one: char| if one.is_ascii_alphanumeric() || one == '_' || one == '-' { one } else { '_' };
    let plain: String = variable.chars().map(good).collect();
    if plain.is_empty() { "_".to_owned() } else { plain }
}

/// A test plan as JMeter would run it.
#[derive(Debug, Clone, PartialEq)]
pub struct TestPlan {
    /// The Test Plan element, with all that takes part in a run below it.
    pub root: Element,
    /// Problems found while it was resolved.
    pub findings: Vec<Finding>,
}

impl TestPlan {
    /// Reads the bytes of a `.jmx` file.
    ///
    /// # Errors
    /// The bytes are no plan of JMeter. Elements that cannot be run are no errors: they are listed.
    pub fn read(bytes: &[u8], settings: &Settings<'_>) -> Result<TestPlan, Error> {
        let mut findings = Vec::new();
        let root = resolve::resolve(&resolve::read(bytes)?, settings, &mut findings)?;
        Ok(TestPlan { root, findings })
    }
}
