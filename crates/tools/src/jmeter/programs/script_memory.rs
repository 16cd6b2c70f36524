//! State that a user keeps for its scripts between their runs.

use jmscript::{CookieValue, Globals, Value};
use std::collections::HashMap;
use std::rc::Rc;

/// State that a user keeps for its scripts.
#[derive(Default)]
pub(super) struct ScriptMemory {
    /// Variables that are no texts.
    pub objects: HashMap<Rc<str>, Value>,
    /// Variables of BeanShell's elements, by element.
    pub globals: HashMap<String, Globals>,
    /// Cookies that scripts have set.
    pub cookies: Vec<CookieValue>,
}
