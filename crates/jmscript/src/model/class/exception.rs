//! Exceptions that scripts throw, catch and see.

use std::fmt;

/// A kind of exception: a place in the table of those that scripts throw, catch and see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exception(u8);

/// Names with their packages, and the one that each extends.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("java.lang.Throwable", ""),
    ("java.lang.Exception", "java.lang.Throwable"),
    ("java.lang.RuntimeException", "java.lang.Exception"),
    ("java.lang.Error", "java.lang.Throwable"),
    ("java.lang.AssertionError", "java.lang.Error"),
    ("org.codehaus.groovy.runtime.powerassert.PowerAssertionError", "java.lang.AssertionError"),
    ("java.lang.NullPointerException", "java.lang.RuntimeException"),
    ("java.lang.IllegalArgumentException", "java.lang.RuntimeException"),
    ("java.lang.NumberFormatException", "java.lang.IllegalArgumentException"),
    ("java.lang.IllegalStateException", "java.lang.RuntimeException"),
    ("java.lang.UnsupportedOperationException", "java.lang.RuntimeException"),
    ("java.lang.ArithmeticException", "java.lang.RuntimeException"),
    ("java.lang.ClassCastException", "java.lang.RuntimeException"),
    ("java.lang.IndexOutOfBoundsException", "java.lang.RuntimeException"),
    ("java.lang.ArrayIndexOutOfBoundsException", "java.lang.IndexOutOfBoundsException"),
    ("java.lang.StringIndexOutOfBoundsException", "java.lang.IndexOutOfBoundsException"),
    ("java.lang.NegativeArraySizeException", "java.lang.RuntimeException"),
    ("java.lang.InterruptedException", "java.lang.Exception"),
    ("java.util.NoSuchElementException", "java.lang.RuntimeException"),
    ("java.util.ConcurrentModificationException", "java.lang.RuntimeException"),
    ("java.util.MissingFormatArgumentException", "java.lang.IllegalArgumentException"),
    ("java.util.regex.PatternSyntaxException", "java.lang.IllegalArgumentException"),
    ("java.text.ParseException", "java.lang.Exception"),
    ("java.time.DateTimeException", "java.lang.RuntimeException"),
    ("java.time.format.DateTimeParseException", "java.time.DateTimeException"),
    ("java.io.IOException", "java.lang.Exception"),
    ("java.io.FileNotFoundException", "java.io.IOException"),
    ("java.security.NoSuchAlgorithmException", "java.lang.Exception"),
    ("java.security.InvalidKeyException", "java.lang.Exception"),
    ("java.security.InvalidAlgorithmParameterException", "java.lang.Exception"),
    ("javax.crypto.IllegalBlockSizeException", "java.lang.Exception"),
    ("javax.crypto.BadPaddingException", "java.lang.Exception"),
    ("javax.crypto.AEADBadTagException", "javax.crypto.BadPaddingException"),
    ("io.jsonwebtoken.security.WeakKeyException", "java.lang.RuntimeException"),
    ("org.json.JSONException", "java.lang.RuntimeException"),
    ("java.io.UnsupportedEncodingException", "java.io.IOException"),
    ("java.util.zip.ZipException", "java.io.IOException"),
    ("java.util.zip.DataFormatException", "java.lang.Exception"),
    ("org.xml.sax.SAXException", "java.lang.Exception"),
    ("org.xml.sax.SAXParseException", "org.xml.sax.SAXException"),
    ("java.lang.ArrayStoreException", "java.lang.RuntimeException"),
    ("groovy.lang.GroovyRuntimeException", "java.lang.RuntimeException"),
    ("groovy.lang.MissingPropertyException", "groovy.lang.GroovyRuntimeException"),
    ("groovy.lang.MissingMethodException", "groovy.lang.GroovyRuntimeException"),
    ("org.codehaus.groovy.runtime.typehandling.GroovyCastException", "java.lang.ClassCastException"),
    ("groovy.json.JsonException", "java.lang.RuntimeException"),
    ("bsh.EvalError", "java.lang.Exception"),
    ("bsh.TargetError", "bsh.EvalError"),
    ("bsh.ParseException", "java.lang.Exception"),
    ("org.apache.jorphan.util.JMeterStopThreadException", "java.lang.RuntimeException"),
    ("org.apache.jorphan.util.JMeterStopTestException", "java.lang.RuntimeException"),
    ("org.apache.jorphan.util.JMeterStopTestNowException", "java.lang.RuntimeException"),
    ("org.apache.commons.jexl3.JexlException", "java.lang.RuntimeException"),
    ("org.mozilla.javascript.EcmaError", "java.lang.RuntimeException"),
    ("org.codehaus.groovy.control.MultipleCompilationErrorsException", "java.lang.RuntimeException"),
];

impl Exception {
    /// `java.lang.Exception`.
    pub fn any() -> Exception {
        Exception(1)
    }

    /// The exception with this name, with or without its package.
    pub fn named(name: &str) -> Option<Exception> {
        let at =
            EXCEPTIONS.iter().position(|(full, _)| *full == name || full.rsplit('.').next() == Some(name))?;
        u8::try_from(at).ok().map(Exception)
    }

    /// The name with its package.
    pub fn full_name(self) -> &'static str {
        EXCEPTIONS[usize::from(self.0)].0
    }

    /// The name without its package.
    pub fn simple_name(self) -> &'static str {
        self.full_name().rsplit('.').next().expect("a split has a part")
    }

    /// True if it is the other, or extends it.
    pub fn is_a(self, other: Exception) -> bool {
        self == other
            || Exception::named(EXCEPTIONS[usize::from(self.0)].1).is_some_and(|parent| parent.is_a(other))
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.full_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_extend_others() {
        let named = |name| Exception::named(name).expect("an exception");
        for (_, parent) in EXCEPTIONS.iter().skip(1) {
            named(parent);
        }
        assert!(named("NumberFormatException").is_a(named("Exception")));
        assert!(!named("AssertionError").is_a(named("Exception")));
    }
}
