//! The functions of XPath's core library (section 4), by their names and what they take.

use super::{Expression, XpathKind};

macro_rules! functions {
    ($($function:ident $name:literal $least:literal $most:literal $kind:ident)*) => {
        /// A function of the core library.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Function { $($function),* }

        impl Function {
            /// By its name.
            pub fn named(name: &str) -> Option<Function> {
                match name { $($name => Some(Function::$function),)* _ => None }
            }

            /// The kind of its value.
            pub fn kind(self) -> XpathKind {
                match self { $(Function::$function => XpathKind::$kind),* }
            }

            /// Arguments at least and at most.
            fn arguments(self) -> (usize, usize) {
                match self { $(Function::$function => ($least, $most)),* }
            }
        }
    };
}

functions! {
    Last "last" 0 0 Number
    Position "position" 0 0 Number
    Count "count" 1 1 Number
    LocalName "local-name" 0 1 Text
    NamespaceUri "namespace-uri" 0 1 Text
    Name "name" 0 1 Text
    Text "string" 0 1 Text
    Concat "concat" 2 100 Text
    StartsWith "starts-with" 2 2 Boolean
    Contains "contains" 2 2 Boolean
    SubstringBefore "substring-before" 2 2 Text
    SubstringAfter "substring-after" 2 2 Text
    Substring "substring" 2 3 Text
    Length "string-length" 0 1 Number
    Normalize "normalize-space" 0 1 Text
    Translate "translate" 3 3 Text
    Boolean "boolean" 1 1 Boolean
    Not "not" 1 1 Boolean
    True "true" 0 0 Boolean
    False "false" 0 0 Boolean
    Number "number" 0 1 Number
    Sum "sum" 1 1 Number
    Floor "floor" 1 1 Number
    Ceiling "ceiling" 1 1 Number
    Round "round" 1 1 Number
}

impl Function {
    /// Checks that it can be called with these.
    ///
    /// # Errors
    /// Why not.
    pub fn check(self, name: &str, arguments: &[Expression]) -> Result<(), String> {
        let (least, most) = self.arguments();
        if !(least..=most).contains(&arguments.len()) {
            let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
            let plural = if wanted == "1" { "" } else { "s" };
            return Err(format!("{name}() has {wanted} argument{plural}, not {}", arguments.len()));
        }
        let of_nodes = matches!(
            self,
            Function::Count | Function::Sum | Function::LocalName | Function::NamespaceUri | Function::Name
        );
        match arguments.first().filter(|first| of_nodes && first.kind() != XpathKind::Nodes) {
            Some(_) => Err(format!("{name}() takes nodes")),
            None => Ok(()),
        }
    }
}
