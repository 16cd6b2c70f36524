//! The languages, as far as they differ: the interpreter asks these questions instead of having copies.

/// A language in which scripts of JMeter plans are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Groovy 3: JSR223 elements and `__groovy`.
    Groovy,
    /// BeanShell 2: Java 1.4 without types, where they are not wanted.
    BeanShell,
    /// ECMAScript 5 as far as conditions use it: `__javaScript` and old If controllers.
    JavaScript,
    /// Apache Commons JEXL 3: `__jexl3` and `__jexl2`.
    Jexl,
}

impl Dialect {
    /// The language that JMeter means by the name in an element's `scriptLanguage`; `None` for those not understood.
    pub fn named(name: &str) -> Option<Dialect> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "groovy" | "" => Dialect::Groovy,
            "beanshell" | "bsh" | "java" => Dialect::BeanShell,
            "javascript" | "js" | "ecmascript" | "rhino" | "nashorn" => Dialect::JavaScript,
            "jexl" | "jexl2" | "jexl3" => Dialect::Jexl,
            _ => return None,
        })
    }

    /// A line's end may end a statement.
    pub fn lines_end_statements(self) -> bool {
        self == Dialect::Groovy
    }

    /// Empty texts and lists, zero and null are false wherever a condition stands.
    pub fn has_truth_of_values(self) -> bool {
        self != Dialect::BeanShell
    }

    /// `/` of two whole numbers is a whole number.
    pub fn divides_whole_numbers(self) -> bool {
        matches!(self, Dialect::BeanShell | Dialect::Jexl)
    }

    /// All numbers are floating-point.
    pub fn has_only_doubles(self) -> bool {
        self == Dialect::JavaScript
    }

    /// A literal with a point is a decimal, not a `double`.
    pub fn has_decimal_literals(self) -> bool {
        self == Dialect::Groovy
    }

    /// `x.name` reads the key of a map, and `[1, 2]` and `[a: 1]` are lists and maps.
    pub fn has_collections(self) -> bool {
        self != Dialect::BeanShell
    }

    /// Variables of the outermost level live on in the user from run to run.
    pub fn keeps_globals(self) -> bool {
        self == Dialect::BeanShell
    }

    /// One character in single quotes is a `char`, not a text.
    pub fn has_char_literals(self) -> bool {
        self == Dialect::BeanShell
    }

    /// The name, as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Groovy => "Groovy",
            Dialect::BeanShell => "BeanShell",
            Dialect::JavaScript => "JavaScript",
            Dialect::Jexl => "JEXL",
        }
    }
}
