//! Classes that scripts may name, as tables: what a class creates, its constants, and for each method the function that runs.
//!
//! A class is a [`Kind`] in a file of `library`, and a line in [`library::ALL`](crate::model::library::ALL). There is no look-up by
//! text at run time: the names of all tables are numbered once ([`Method`]), and each kind has an index from a number to its
//! rows. What is in no table does not exist, and is listed before the run (`parse::known`).

mod exception;
mod kind;
mod method;
mod refused;

pub(crate) use exception::Exception;
pub(crate) use kind::{ClassRow, ClassView, Kind, Knowledge, MANY, Native, gives, listed, partly, row, rows};
pub(crate) use method::Method;
pub(crate) use refused::refusal;

use crate::model::library::{ALL, lang::object, lang::throwable};
use std::fmt;
use std::ptr;

/// A class: of the library, or a kind of exception.
#[derive(Clone, Copy)]
pub enum Class {
    /// One of the library.
    Known(&'static Kind),
    /// One of those that scripts throw, catch and see.
    Thrown(Exception),
}

/// Packages whose classes Groovy and BeanShell know without an import.
const DEFAULT_PACKAGES: [&str; 8] =
    ["java.lang", "java.util", "java.io", "java.math", "groovy.lang", "groovy.util", "java.net", ""];

impl Class {
    /// The class of this simple name, as an import or the default imports make it known.
    pub(crate) fn named(name: &str) -> Option<Class> {
        let alike = || ALL.iter().filter(|kind| kind.is_named(name));
        let default = alike().find(|kind| DEFAULT_PACKAGES.contains(&kind.package()));
        let found = default.or_else(|| alike().next()).map(|kind| Class::Known(kind));
        found.or_else(|| Exception::named(name).map(Class::Thrown))
    }

    /// The class of this name with its package.
    pub(crate) fn with_path(path: &str) -> Option<Class> {
        let (package, name) = path.rsplit_once('.')?;
        let exact = ALL.iter().find(|kind| kind.package() == package && kind.name() == name);
        // Vendors move classes between packages (commons-lang, commons-lang3); the name decides where the package is unknown.
        let alike = || {
            let moves = ["Base64", "Date", "JSONObject", "JSONArray"].iter().all(|fixed| *fixed != name);
            Class::named(name).filter(|_| moves)
        };
        exact.map(|kind| Class::Known(kind)).or_else(alike)
    }

    /// The table of its methods.
    pub(crate) fn kind(self) -> &'static Kind {
        match self {
            Class::Known(kind) => kind,
            Class::Thrown(_) => &throwable::KIND,
        }
    }

    /// The name without its package.
    pub(crate) fn simple_name(self) -> &'static str {
        match self {
            Class::Known(kind) => kind.name(),
            Class::Thrown(exception) => exception.simple_name(),
        }
    }

    /// The name with its package.
    pub(crate) fn full_name(self) -> String {
        match self {
            Class::Known(kind) => kind.full_name(),
            Class::Thrown(exception) => exception.full_name().to_owned(),
        }
    }

    /// True if it is this one of the library.
    pub(crate) fn is(self, kind: &'static Kind) -> bool {
        self == Class::Known(kind)
    }

    /// True if everything is of this class.
    pub(crate) fn is_object(self) -> bool {
        self.is(&object::KIND)
    }
}

impl PartialEq for Class {
    fn eq(&self, other: &Class) -> bool {
        match (self, other) {
            (Class::Known(a), Class::Known(b)) => ptr::eq(*a, *b),
            (Class::Thrown(a), Class::Thrown(b)) => a == b,
            (Class::Known(_), Class::Thrown(_)) | (Class::Thrown(_), Class::Known(_)) => false,
        }
    }
}

impl Eq for Class {}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full_name())
    }
}
