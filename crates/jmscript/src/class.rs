//! The classes that scripts may name. There is no look-up by text at run time: what is not in these tables does not exist.

use std::fmt;

macro_rules! classes {
    ($($class:ident $path:literal $name:literal)*) => {
        /// A class that is understood.
        #[expect(clippy::enum_variant_names, reason = "the variants are the names of Java's classes")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Class { $($class,)* Thrown(Exception) }

        impl Class {
            const TABLE: &[(Class, &str, &str)] = &[$((Class::$class, $path, $name)),*];
        }
    };
}

classes! {
    Object "java.lang" "Object"
    String "java.lang" "String"
    CharSequence "java.lang" "CharSequence"
    Integer "java.lang" "Integer"
    Long "java.lang" "Long"
    Double "java.lang" "Double"
    Float "java.lang" "Float"
    Short "java.lang" "Short"
    Byte "java.lang" "Byte"
    Number "java.lang" "Number"
    Boolean "java.lang" "Boolean"
    Character "java.lang" "Character"
    Math "java.lang" "Math"
    StringBuilder "java.lang" "StringBuilder"
    StringBuffer "java.lang" "StringBuffer"
    System "java.lang" "System"
    Thread "java.lang" "Thread"
    ClassItself "java.lang" "Class"
    ArrayList "java.util" "ArrayList"
    LinkedList "java.util" "LinkedList"
    Vector "java.util" "Vector"
    Stack "java.util" "Stack"
    List "java.util" "List"
    Collection "java.util" "Collection"
    Iterable "java.lang" "Iterable"
    Iterator "java.util" "Iterator"
    Map "java.util" "Map"
    MapEntry "java.util" "Map.Entry"
    HashMap "java.util" "HashMap"
    LinkedHashMap "java.util" "LinkedHashMap"
    TreeMap "java.util" "TreeMap"
    Hashtable "java.util" "Hashtable"
    Properties "java.util" "Properties"
    ConcurrentHashMap "java.util.concurrent" "ConcurrentHashMap"
    Set "java.util" "Set"
    HashSet "java.util" "HashSet"
    LinkedHashSet "java.util" "LinkedHashSet"
    TreeSet "java.util" "TreeSet"
    Collections "java.util" "Collections"
    Arrays "java.util" "Arrays"
    Objects "java.util" "Objects"
    Random "java.util" "Random"
    SecureRandom "java.security" "SecureRandom"
    ThreadLocalRandom "java.util.concurrent" "ThreadLocalRandom"
    TimeUnit "java.util.concurrent" "TimeUnit"
    Uuid "java.util" "UUID"
    Date "java.util" "Date"
    Calendar "java.util" "Calendar"
    GregorianCalendar "java.util" "GregorianCalendar"
    TimeZone "java.util" "TimeZone"
    Locale "java.util" "Locale"
    Base64 "java.util" "Base64"
    CodecBase64 "org.apache.commons.codec.binary" "Base64"
    Hex "org.apache.commons.codec.binary" "Hex"
    DigestUtils "org.apache.commons.codec.digest" "DigestUtils"
    RandomStringUtils "org.apache.commons.lang3" "RandomStringUtils"
    StringUtils "org.apache.commons.lang3" "StringUtils"
    Pattern "java.util.regex" "Pattern"
    Matcher "java.util.regex" "Matcher"
    BigDecimal "java.math" "BigDecimal"
    BigInteger "java.math" "BigInteger"
    RoundingMode "java.math" "RoundingMode"
    SimpleDateFormat "java.text" "SimpleDateFormat"
    DateFormat "java.text" "DateFormat"
    DecimalFormat "java.text" "DecimalFormat"
    LocalDate "java.time" "LocalDate"
    LocalTime "java.time" "LocalTime"
    LocalDateTime "java.time" "LocalDateTime"
    ZonedDateTime "java.time" "ZonedDateTime"
    OffsetDateTime "java.time" "OffsetDateTime"
    Instant "java.time" "Instant"
    ZoneId "java.time" "ZoneId"
    ZoneOffset "java.time" "ZoneOffset"
    Duration "java.time" "Duration"
    DateTimeFormatter "java.time.format" "DateTimeFormatter"
    ChronoUnit "java.time.temporal" "ChronoUnit"
    File "java.io" "File"
    FileWriter "java.io" "FileWriter"
    BufferedWriter "java.io" "BufferedWriter"
    PrintWriter "java.io" "PrintWriter"
    FileReader "java.io" "FileReader"
    BufferedReader "java.io" "BufferedReader"
    FileOutputStream "java.io" "FileOutputStream"
    OutputStreamWriter "java.io" "OutputStreamWriter"
    PrintStream "java.io" "PrintStream"
    StandardCharsets "java.nio.charset" "StandardCharsets"
    Charset "java.nio.charset" "Charset"
    MessageDigest "java.security" "MessageDigest"
    Mac "javax.crypto" "Mac"
    SecretKeySpec "javax.crypto.spec" "SecretKeySpec"
    UrlEncoder "java.net" "URLEncoder"
    UrlDecoder "java.net" "URLDecoder"
    JsonSlurper "groovy.json" "JsonSlurper"
    JsonSlurperClassic "groovy.json" "JsonSlurperClassic"
    JsonOutput "groovy.json" "JsonOutput"
    JsonBuilder "groovy.json" "JsonBuilder"
    GString "groovy.lang" "GString"
    Closure "groovy.lang" "Closure"
    JMeterUtils "org.apache.jmeter.util" "JMeterUtils"
    JMeterContextService "org.apache.jmeter.threads" "JMeterContextService"
    FileServer "org.apache.jmeter.services" "FileServer"
    Cookie "org.apache.jmeter.protocol.http.control" "Cookie"
    Header "org.apache.jmeter.protocol.http.control" "Header"
    CookieManager "org.apache.jmeter.protocol.http.control" "CookieManager"
    HeaderManager "org.apache.jmeter.protocol.http.control" "HeaderManager"
    Arguments "org.apache.jmeter.config" "Arguments"
    Argument "org.apache.jmeter.config" "Argument"
    HttpArgument "org.apache.jmeter.protocol.http.util" "HTTPArgument"
    SampleResult "org.apache.jmeter.samplers" "SampleResult"
    AssertionResult "org.apache.jmeter.assertions" "AssertionResult"
    Json "" "JSON"
    JsArray "" "Array"
}

/// Packages whose classes Groovy and BeanShell know without an import.
const DEFAULT_PACKAGES: [&str; 8] =
    ["java.lang", "java.util", "java.io", "java.math", "groovy.lang", "groovy.util", "java.net", ""];

impl Class {
    /// The class of this simple name, as an import or the default imports make it known.
    pub fn named(name: &str) -> Option<Class> {
        let rows =
            || Class::TABLE.iter().filter(|row| row.2 == name || row.2.rsplit('.').next() == Some(name));
        let default = rows().find(|row| DEFAULT_PACKAGES.contains(&row.1));
        let found = default.or_else(|| rows().next()).map(|row| row.0);
        found.or_else(|| Exception::named(name).map(Class::Thrown))
    }

    /// The class of this name with its package.
    pub fn with_path(path: &str) -> Option<Class> {
        let (package, name) = path.rsplit_once('.')?;
        let row = Class::TABLE.iter().find(|row| row.1 == package && row.2 == name);
        // Vendors move classes between packages (commons-lang, commons-lang3); the name decides where the package is unknown.
        let alike = || Class::named(name).filter(|class| !matches!(class, Class::Base64));
        row.map(|row| row.0).or_else(alike)
    }

    /// The name without its package.
    pub fn simple_name(self) -> &'static str {
        match self {
            Class::Thrown(exception) => exception.simple_name(),
            _ => self.row().2,
        }
    }

    /// The name with its package.
    pub fn full_name(self) -> String {
        match self {
            Class::Thrown(exception) => exception.full_name().to_owned(),
            _ if self.row().1.is_empty() => self.row().2.to_owned(),
            _ => format!("{}.{}", self.row().1, self.row().2),
        }
    }

    fn row(self) -> (Class, &'static str, &'static str) {
        Class::TABLE.iter().copied().find(|row| row.0 == self).unwrap_or((self, "", "?"))
    }
}

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
    ("java.io.UnsupportedEncodingException", "java.io.IOException"),
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
        self.full_name().rsplit('.').next().unwrap_or_default()
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

/// Why a class is refused, by its package or name; `None` for one that is merely unknown.
pub fn refusal(path: &str) -> Option<&'static str> {
    const NETWORK: &str = "a script may not use the network";
    const DATABASE: &str = "a script may not use databases";
    const PROCESSES: &str = "a script may not start programs";
    const REFLECTION: &str = "a script may not load classes or run text as code";
    const THREADS: &str = "a script may not start threads";
    const TABLE: &[(&str, &str)] = &[
        ("Socket", NETWORK),
        ("ServerSocket", NETWORK),
        ("URL", NETWORK),
        ("URLConnection", NETWORK),
        ("HttpURLConnection", NETWORK),
        ("HttpClient", NETWORK),
        ("HttpClients", NETWORK),
        ("HttpGet", NETWORK),
        ("HttpPost", NETWORK),
        ("InetAddress", NETWORK),
        ("Transport", NETWORK),
        ("Session", NETWORK),
        ("MimeMessage", NETWORK),
        ("Sql", DATABASE),
        ("DriverManager", DATABASE),
        ("Connection", DATABASE),
        ("MongoClient", DATABASE),
        ("Runtime", PROCESSES),
        ("ProcessBuilder", PROCESSES),
        ("GroovyShell", REFLECTION),
        ("GroovyClassLoader", REFLECTION),
        ("Eval", REFLECTION),
        ("ClassLoader", REFLECTION),
        ("ScriptEngineManager", REFLECTION),
        ("Grab", REFLECTION),
        ("Executors", THREADS),
        ("ExecutorService", THREADS),
        ("Timer", THREADS),
    ];
    let name = path.rsplit('.').next().unwrap_or(path);
    TABLE.iter().find(|(refused, _)| *refused == name).map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_by_name() {
        assert_eq!(Class::named("Base64"), Some(Class::Base64));
        assert_eq!(Class::with_path("org.apache.commons.codec.binary.Base64"), Some(Class::CodecBase64));
        assert_eq!(Class::with_path("java.util.Base64"), Some(Class::Base64));
        assert_eq!(Class::named("Entry"), Some(Class::MapEntry));
        assert_eq!(Class::named("Socket"), None);
        assert_eq!(Class::ArrayList.full_name(), "java.util.ArrayList");
        assert!(refusal("java.net.Socket").is_some());
    }

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
