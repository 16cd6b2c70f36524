//! The names of all methods, numbered: a call is dispatched by a number.

use crate::model::library::ALL;
use std::sync::OnceLock;

/// A name under which some class of the library has a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Method(u16);

/// All names, sorted.
fn names() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names: Vec<&str> =
            ALL.iter().flat_map(|kind| kind.all_rows()).map(|row| row.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert!(u16::try_from(names.len()).is_ok(), "names of methods are numbered with 16 bits");
        names
    })
}

impl Method {
    /// The method of this name; `None` for one that no class has.
    pub fn named(name: &str) -> Option<Method> {
        names().binary_search(&name).ok().map(|at| Method(at as u16))
    }

    /// The name as scripts write it.
    pub fn name(self) -> &'static str {
        names()[self.number()]
    }

    /// Its number, below [`Method::count`].
    pub fn number(self) -> usize {
        usize::from(self.0)
    }

    /// Names in all.
    pub fn count() -> usize {
        names().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_methods() {
        for number in 0..Method::count() {
            let method = Method(number as u16);
            assert_eq!(Method::named(method.name()), Some(method));
        }
        assert_eq!(Method::named("nothing"), None);
    }
}
