//! Scripts that would never end, take everything, or were never meant to run: each ends with a limit or an exception.

use jmscript::{Dialect, Limit, MachineLimits, MemoryHost, Script};
use proptest::prelude::*;

const LIMITS: MachineLimits =
    MachineLimits { steps: 200_000, memory: 8 << 20, text: 1 << 20, calls: 64, sleep: 1_000 };
const DIALECTS: [Dialect; 4] = [Dialect::Groovy, Dialect::BeanShell, Dialect::JavaScript, Dialect::Jexl];

/// How a script ended: its limit, or the simple name of its exception, or `ok`.
fn ended(text: &str, dialect: Dialect) -> String {
    let script = match Script::compile(text, dialect) {
        Ok(script) => script,
        Err(all) => return format!("refused: {}", all[0]),
    };
    match script.run(&mut MemoryHost::default(), LIMITS) {
        Ok(_) => "ok".to_owned(),
        Err(error) => match error.limit {
            Some(limit) => format!("{limit:?}"),
            None => error.class.rsplit('.').next().unwrap_or_default().to_owned(),
        },
    }
}

fn check(text: &str, expected: &str) {
    assert_eq!(ended(text, Dialect::Groovy), expected, "{text}");
}

#[test]
fn what_never_ends_ends() {
    check("while (true) {}", "Steps");
    check("for (;;) { try { continue } finally { } }", "Steps");
    check("while (true) { try { while (true) {} } catch (Throwable t) { } }", "Steps");
    check("(1..2000000000).each { }", "Steps");
    check("for (i in 1..2000000000) { }", "Steps");
    check("def f() { f() }\nf()", "Calls");
    check("def f\nf = { f() }\nf()", "Calls");
    check("1.upto(9000000000000) { }", "Steps");
    check("Thread.sleep(999999)", "Sleep");
}

#[test]
fn what_grows_ends() {
    check("def s = 'x'; while (true) s += s", "Text");
    check("def l = []; while (true) l << 'abc'", "Steps");
    check("def l = [0] * 100000000", "Steps");
    check("'x' * 2000000000", "Text");
    check("'x'.padLeft(2000000000)", "Text");
    check("new int[2000000000]", "Steps");
    check("def b = new StringBuilder(); while (true) b.append('0123456789' * 1000)", "Text");
    check("2 ** 100000000", "ArithmeticException");
    check("def x = 3.3; while (true) x = x * x", "ArithmeticException");
    check("String.format('%999999999d', 1)", "IllegalArgumentException");
    check("('a' * 100000).replaceAll('', 'bbbbbbbbbbbbbbbbbbbb')", "Text");
}

#[test]
fn what_is_deep_ends() {
    check("def l = []; 50000.times { l = [l] }", "ok");
    check("def l = []; 50000.times { l = [l] }; l.toString(); l == l.collect()", "ok");
    check("def root = []; def a = root; 5000.times { def n = []; a << n; a = n }", "ok");
    check("def l = []; l << l", "ok");
    check("def l = [1]; l << l", "UnsupportedOperationException");
    check("def m = [a: 1]; m.b = m", "UnsupportedOperationException");
    check("def l = []; 20000.times { l = [l] }; def x = [1, 2]; x[l]", "Calls");
    check("def l = []; 20000.times { l = [l] }; l.name", "Calls");
    check("java.time.LocalDate.of(2024, 1, 1).format(java.time.LocalDate.of(2024, 1, 1))", "ok");
    check("def f = { 1 }; 20000.times { def g = f; f = { g } }", "ok");
    let nested = format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000));
    assert!(ended(&nested, Dialect::Groovy).contains("nested too deeply"));
    let nested = format!("{}{}", "{".repeat(50_000), "}".repeat(50_000));
    assert!(ended(&nested, Dialect::BeanShell).contains("nested too deeply"));
    let long = vec!["1"; 100_000].join("+");
    assert!(ended(&long, Dialect::Groovy).contains("more than 500 operators"));
}

#[test]
fn patterns_cannot_explode() {
    check("('a' * 50000) ==~ /(a+)+b/", "ok");
    check("'x' =~ /(a)\\1/", "PatternSyntaxException");
    check("'x' =~ ('(a{500}){500}')", "PatternSyntaxException");
    check("('a' * 100000 + 'b').find(/(a*)*b/)", "ok");
}

#[test]
fn ways_out_are_refused_before_anything_runs() {
    for text in [
        "\"ls\".execute()",
        "Runtime.getRuntime().exec('ls')",
        "new ProcessBuilder('ls')",
        "new URL('http://x').text",
        "new java.net.Socket('x', 1)",
        "Class.forName('x')",
        "this.class.classLoader",
        "new GroovyShell().evaluate('1')",
        "Eval.me('1')",
        "System.exit(0)",
        "System.getenv('PATH')",
        "evaluate('1')",
        "@Grab('x') import y",
        "groovy.sql.Sql.newInstance('x')",
        "org.apache.http.impl.client.HttpClients.createDefault()",
        "class A { }",
    ] {
        assert!(
            ended(text, Dialect::Groovy).starts_with("refused"),
            "{text}: {}",
            ended(text, Dialect::Groovy)
        );
    }
}

#[test]
fn all_refusals_are_listed_with_their_places() {
    let text = "def x = 1\nnew Socket('x', 1)\nvars.put('a', 'b')\n  x.frobnicate()\n";
    let all = Script::compile(text, Dialect::Groovy).expect_err("two refusals");
    let shown: Vec<_> = all.iter().map(|found| (found.line, found.construct.as_str())).collect();
    assert_eq!(shown, [(2, "class Socket"), (4, "frobnicate()")]);
}

/// Scripts that would get null, or have no effect.
#[test]
fn what_is_not_known_of_a_request_is_listed() {
    for text in [
        "sampler.getPath()",
        "sampler.path",
        "ctx.getCurrentSampler().getUrl()",
        "def s = ctx.currentSampler\ns.getDomain()",
        "sampler.getArguments().getArgument(0).getValue()",
        "sampler.arguments.each { }",
        "sampler.getHeaderManager().getFirstHeaderNamed('X')",
        "sampler.getCookieManager().get(0)",
        "sampler.setHeaderManager(null)",
        "sampler.useKeepAlive = false",
        "ctx.getPreviousResult().getSubResults()",
        "prev.assertionResults",
        "SampleResult.setStartTime(0)",
        "SampleResult.bytes = 5",
    ] {
        let refused = ended(text, Dialect::Groovy);
        assert!(refused.starts_with("refused"), "{text}: {refused}");
    }
    for text in [
        "sampler.addArgument('a', 'b'); sampler.setPath('/x'); sampler.setPostBodyRaw(true)",
        "sampler.arguments.removeAllArguments(); sampler.arguments.getArgumentCount()",
        "def all = new Arguments(); all.addArgument('a', 'b'); sampler.setArguments(all); all.getArgument(0).name",
        "def s = sampler; s = [path: 1]; s.path",
        "sampler.getHeaderManager().removeHeaderNamed('X')",
        "sampler.domain = 'h'; sampler.port = 81; sampler.protocol = 'https'",
        "def cookie = new Cookie('a', 'b', 'h', '/', false, 0); cookie.getPath(); sampler.getCookieManager().add(cookie)",
        "prev.setSuccessful(false); prev.sampleLabel = 'x'",
    ] {
        check(text, "ok");
    }
}

/// Methods that a class does not have here are told before anything runs, where the class is certain.
#[test]
fn what_no_class_has_is_listed() {
    for (text, reason) in [
        ("vars.putAll([a: 1], 2)", "JMeterVariables has it, but not with 2 arguments here"),
        ("vars.clear()", "JMeterVariables has no such method here"),
        ("prev.getResponseTimes()", "this method is not understood"),
        ("\"abc\".chars().count()", "nothing has it with no argument here"),
        ("def f(x) { x.isEmpty(1, 2) }", "nothing has it with 2 arguments here"),
        ("prev.getPath()", "SampleResult has no such method here"),
        ("def p = prev; p.path", "SampleResult has no such method here"),
        ("props.getParent()", "Properties has no such method here"),
        ("ctx.currentSampler.setArguments(null); log.setName('x')", "Logger has no such method here"),
        ("import groovy.xml.dom.DOMCategory\nuse (DOMCategory) { 1.day }", "this class is not known here"),
        ("StringUtils.getPath('x')", "StringUtils has no such method here"),
        ("Math.round(1, 2)", "Math has it, but not with 2 arguments here"),
        ("String s = 1; s.getSeconds()", "String has no such method here"),
        ("new StringBuilder().getSeconds()", "StringBuilder has no such method here"),
        ("UUID.randomUUID().toString(1, 2)", "UUID has it, but not with 2 arguments here"),
        ("java.security.MessageDigest.getInstance('MD5').nextInt()", "MessageDigest has no such method here"),
    ] {
        let refused = ended(text, Dialect::Groovy);
        assert!(refused.starts_with("refused") && refused.ends_with(reason), "{text}: {refused}");
    }
    for text in [
        "args.size()",
        "def s = sampler; def c = { it -> it.getPath() }; s.name",
        "def x = new ArrayList(); 2.times { if (it > 0) x.intdiv(2); x = 5 }",
        "def x = [a: { 5 }]; x.a()",
        "props.anything = 1; props.anything",
        "vars.each { }; vars.find { true }",
        "new StringBuilder('a').toUpperCase()",
        "if (false) { def d = new Date(); d.getSeconds() }",
        "String.name.length() + Integer.getSimpleName()",
    ] {
        check(text, "ok");
    }
}

#[test]
fn limits_name_themselves_and_the_line() {
    let script = Script::compile("def a = 1\n\nwhile (true) { a++ }", Dialect::Groovy).unwrap();
    let error = script.run(&mut MemoryHost::default(), LIMITS).unwrap_err();
    assert_eq!((error.line, error.limit), (3, Some(Limit::Steps)));
    assert_eq!(error.to_string(), "line 3: the script used more than 200000 steps, its limit");
}

/// Words of which random scripts are made.
const WORDS: &[&str] = &[
    "def",
    "a",
    "b",
    "it",
    "=",
    "==",
    "+",
    "-",
    "*",
    "/",
    "%",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "->",
    ".",
    "?.",
    ",",
    ";",
    "\n",
    "1",
    "2.5",
    "'x'",
    "\"$a\"",
    "\"${b}\"",
    "if",
    "else",
    "for",
    "in",
    "while",
    "true",
    "null",
    "return",
    "break",
    "[:]",
    "..",
    "<<",
    "=~",
    "/x/",
    "each",
    "collect",
    "size()",
    "new",
    "String",
    "ArrayList",
    "Date",
    "try",
    "catch",
    "throw",
    "switch",
    "case",
    ":",
    "?",
    "?:",
    "!",
    "&&",
    "||",
    "++",
    "as",
    "int",
    "vars",
    "put",
    "get",
    "toString()",
    "substring",
    "sort",
    "times",
    "function",
    "var",
    "eq",
    "empty",
    "not",
    "instanceof",
    "*.",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_words_never_break_it(words in proptest::collection::vec(0..WORDS.len(), 0..40), dialect in 0..4_usize) {
        let text: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
        ended(&text.join(" "), DIALECTS[dialect]);
    }

    #[test]
    fn random_text_never_breaks_it(text in "\\PC{0,60}", dialect in 0..4_usize) {
        ended(&text, DIALECTS[dialect]);
    }

    #[test]
    fn methods_with_any_arguments_never_break_it(
        of in 0..OPERANDS.len(), method in 0..METHODS.len(), args in proptest::collection::vec(0..OPERANDS.len(), 0..4), dialect in 0..2_usize,
    ) {
        let args: Vec<&str> = args.iter().map(|arg| OPERANDS[*arg]).collect();
        let text = format!("{}.{}({});", OPERANDS[of], METHODS[method], args.join(", "));
        ended(&text, DIALECTS[dialect]);
    }
}

const OPERANDS: &[&str] = &[
    "\"abc\"",
    "\"\"",
    "\"é😀x\"",
    "0",
    "-1",
    "3",
    "2147483647",
    "9999999999L",
    "1.5d",
    "null",
    "true",
    "new Date(0)",
    "new Random(1)",
    "new StringBuilder(\"abc\")",
    "new ArrayList()",
    "new HashMap()",
    "java.time.LocalDate.of(2024, 1, 31)",
    "java.time.LocalDateTime.of(2024, 1, 31, 1, 1)",
    "java.time.Instant.ofEpochMilli(5L)",
    "Calendar.getInstance()",
    "\"abc\".getBytes()",
    "\"a,b\".split(\",\")",
    "new BigDecimal(\"1.50\")",
    "new BigInteger(\"99999999999999999999\")",
    "new java.text.SimpleDateFormat(\"yyyy\")",
    "UUID.randomUUID()",
    "Math",
    "Integer",
    "String",
    "Collections",
    "java.util.regex.Pattern.compile(\"b\")",
    "java.util.regex.Pattern.compile(\"b\").matcher(\"abc\")",
    "vars",
    "props",
    "prev",
    "sampler",
    "log",
    "groovy.json.JsonOutput",
    "new Exception(\"x\")",
    "java.time.Duration.ofSeconds(5L)",
    "-9223372036854775807L",
];

const METHODS: &[&str] = &[
    "substring",
    "charAt",
    "indexOf",
    "lastIndexOf",
    "replace",
    "replaceAll",
    "split",
    "padLeft",
    "center",
    "take",
    "drop",
    "getAt",
    "plus",
    "minus",
    "multiply",
    "format",
    "valueOf",
    "parseInt",
    "abs",
    "round",
    "power",
    "intdiv",
    "setScale",
    "divide",
    "add",
    "addAll",
    "remove",
    "set",
    "get",
    "put",
    "subList",
    "join",
    "sort",
    "collate",
    "shuffle",
    "insert",
    "delete",
    "setLength",
    "deleteCharAt",
    "nextInt",
    "nextLong",
    "plusDays",
    "plusMonths",
    "minusYears",
    "withDayOfMonth",
    "parse",
    "between",
    "until",
    "setTime",
    "before",
    "compareTo",
    "equals",
    "group",
    "find",
    "matches",
    "start",
    "times",
    "toString",
    "getBytes",
    "times",
    "upto",
    "step",
    "pow",
    "floorMod",
    "copyOfRange",
    "nCopies",
    "swap",
    "max",
    "min",
    "fill",
    "setCharAt",
    "mod",
];
