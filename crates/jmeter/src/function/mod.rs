//! JMeter's functions: `${__name(arguments)}`. Each is a row of [`TABLE`]; what it needs of the world comes through a
//! [`Context`], so that the same code serves the start of a run and each use in it.

mod date;
mod html;
mod matches;
mod random;
mod settings;
mod text;
mod time;

use crate::expression::{Call, Piece, Text};

/// Context of a function: all that it may ask of the user it is computed for.
pub trait Context {
    /// A variable of the user.
    fn variable(&self, name: &str) -> Option<String>;
    /// Sets a variable of the user.
    fn set_variable(&mut self, name: &str, value: &str);
    /// A property, the same for all users.
    fn property(&self, name: &str) -> Option<String>;
    /// Sets a property.
    fn set_property(&mut self, name: &str, value: &str);
    /// Random bits.
    fn random(&mut self) -> u64;
    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64;
    /// The next number of the `nth` counter of this text, from 1; counted for the user or for all.
    fn count(&mut self, nth: usize, of_user: bool) -> u64;
    /// The content of a file that the plan names.
    fn file(&self, path: &str) -> Option<Vec<u8>>;
    /// The row of a file that the user is at, from 0, and whether to go on to the next.
    fn row(&mut self, file: &str, go_on: bool) -> usize;
    /// Returns a fact about the surroundings: a name or a number.
    fn fact(&self, fact: Fact) -> String;
    /// Says something to whoever watches.
    fn log(&mut self, line: &str);
    /// Runs program text of a language.
    ///
    /// # Errors
    /// Nobody interprets it, or it failed, in words.
    fn script(&mut self, language: &str, text: &str) -> Result<String, String> {
        let _ = text;
        Err(format!("it runs program text in {language}"))
    }
}

/// Fact about the surroundings of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// The number of the user within its group, from 1.
    ThreadNumber,
    /// The name of the group, with the user's number.
    ThreadName,
    /// The name of the group.
    GroupName,
    /// The name of the request.
    SamplerName,
    /// The name of the test plan's file.
    PlanName,
    /// The name of this machine.
    MachineName,
    /// The address of this machine.
    MachineAddress,
    /// The last answer's body.
    LastBody,
}

/// A function: its name, how many arguments it takes, and what it does.
struct FunctionRow {
    name: &'static str,
    arguments: std::ops::RangeInclusive<usize>,
    run: fn(&mut Use<'_>) -> Result<String, String>,
}

const fn row(
    name: &'static str,
    arguments: std::ops::RangeInclusive<usize>,
    run: fn(&mut Use<'_>) -> Result<String, String>,
) -> FunctionRow {
    FunctionRow { name, arguments, run }
}

/// All functions that are computed here, by name.
const TABLE: &[FunctionRow] = &[
    row("__CSVRead", 2..=2, settings::csv_read),
    row("__FileToString", 1..=3, settings::file_to_string),
    row("__P", 1..=2, settings::p),
    row("__Random", 2..=3, random::number),
    row("__RandomDate", 3..=5, random::date),
    row("__RandomFromMultipleVars", 1..=2, random::from_variables),
    row("__RandomString", 1..=3, random::string),
    row("__TestPlanName", 0..=0, |used| Ok(used.context.fact(Fact::PlanName))),
    row("__UUID", 0..=0, random::uuid),
    row("__V", 1..=2, settings::variable),
    row("__base64Decode", 1..=2, text::base64_decode),
    row("__base64Encode", 1..=2, text::base64_encode),
    row("__changeCase", 1..=3, text::change_case),
    row("__char", 1..=64, text::char),
    row("__counter", 1..=2, settings::counter),
    row("__dateTimeConvert", 3..=4, time::convert),
    row("__digest", 2..=5, text::digest),
    row("__escapeHtml", 1..=1, html::escape),
    row("__escapeOroRegexpChars", 1..=2, text::escape_regex),
    row("__escapeXml", 1..=1, text::escape_xml),
    row("__eval", 1..=1, settings::eval),
    row("__evalVar", 1..=1, settings::eval_var),
    row("__env", 1..=3, settings::env),
    row("__intSum", 2..=64, text::int_sum),
    row("__isPropDefined", 1..=1, settings::is_property),
    row("__isVarDefined", 1..=1, settings::is_variable),
    row("__log", 1..=4, settings::log),
    row("__logn", 1..=3, settings::logn),
    row("__longSum", 2..=64, text::long_sum),
    row("__lowercase", 1..=2, text::lowercase),
    row("__machineIP", 0..=1, |used| used.fact(Fact::MachineAddress)),
    row("__machineName", 0..=1, |used| used.fact(Fact::MachineName)),
    row("__property", 1..=3, settings::property),
    row("__regexFunction", 2..=7, matches::regex_function),
    row("__samplerName", 0..=1, |used| used.fact(Fact::SamplerName)),
    row("__setProperty", 2..=3, settings::set_property),
    row("__split", 2..=3, text::split),
    row("__strLen", 1..=2, text::length),
    row("__strReplace", 3..=4, text::replace),
    row("__substring", 3..=4, text::substring),
    row("__threadGroupName", 0..=0, |used| Ok(used.context.fact(Fact::GroupName))),
    row("__threadNum", 0..=0, |used| Ok(used.context.fact(Fact::ThreadNumber))),
    row("__threadName", 0..=0, |used| Ok(used.context.fact(Fact::ThreadName))),
    row("__time", 0..=2, time::now),
    row("__timeShift", 1..=5, time::shift),
    row("__unescape", 1..=1, text::unescape),
    row("__unescapeHtml", 1..=1, html::unescape),
    row("__uppercase", 1..=2, text::uppercase),
    row("__urldecode", 1..=1, text::url_decode),
    row("__urlencode", 1..=1, text::url_encode),
];

/// Functions that run program text: an interpreter's business.
const SCRIPTS: [(&str, &str); 6] = [
    ("__groovy", "groovy"),
    ("__jexl3", "jexl"),
    ("__jexl2", "jexl"),
    ("__jexl", "jexl"),
    ("__javaScript", "javascript"),
    ("__BeanShell", "beanshell"),
];

/// Functions of JMeter and of its wide-spread plugins that are not computed: they would reach out of the run.
const REFUSED: [(&str, &str); 6] = [
    ("__StringFromFile", "reading a file line by line: use a CSV Data Set"),
    ("__StringToFile", "a plan writes no files"),
    ("__XPath", "reading XML files by XPath"),
    ("__TestPlanDir", "the folder of a plan is not known to a run"),
    ("__caseFormat", "not written yet"),
    ("__tstFeedback", "only as the target of a Concurrency Thread Group"),
];

/// The language of a function that runs program text.
pub(crate) fn script_language(name: &str) -> Option<&'static str> {
    SCRIPTS.iter().find(|(known, _)| *known == name).map(|(_, language)| *language)
}

/// Why a function that JMeter knows is not computed here.
pub(crate) fn refusal(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(known, _)| *known == name).map(|(_, why)| *why)
}

/// True if its value follows from its arguments alone.
pub(crate) fn is_pure(name: &str) -> bool {
    const PURE: [&str; 18] = [
        "__base64Decode",
        "__base64Encode",
        "__changeCase",
        "__char",
        "__dateTimeConvert",
        "__digest",
        "__escapeHtml",
        "__escapeOroRegexpChars",
        "__escapeXml",
        "__intSum",
        "__longSum",
        "__lowercase",
        "__strLen",
        "__strReplace",
        "__substring",
        "__unescape",
        "__urldecode",
        "__urlencode",
    ];
    PURE.contains(&name)
}

/// True if one of its arguments may name a variable that it sets.
pub(crate) fn keeps(name: &str) -> bool {
    let never = [
        "__P",
        "__V",
        "__UUID",
        "__eval",
        "__evalVar",
        "__isVarDefined",
        "__isPropDefined",
        "__CSVRead",
        "__char",
    ];
    is_known(name) && !never.contains(&name)
}

/// Arguments of a function that stand before those which may name a variable: the first of some names a property.
pub(crate) fn before_names(name: &str) -> usize {
    usize::from(matches!(name, "__property" | "__setProperty" | "__env"))
}

/// Milliseconds since 1970 in the system's time zone, by a pattern of Java's.
///
/// # Errors
/// Letters that no such pattern knows.
pub fn moment(ms: i64, pattern: &str) -> Result<String, String> {
    date::format(&date::at(ms)?, pattern)
}

/// Reads a moment by a pattern of Java's: milliseconds since 1970.
///
/// # Errors
/// A text that is no date as the pattern wants it.
pub fn read_moment(text: &str, pattern: &str) -> Result<i64, String> {
    date::parse(text, pattern).map(|moment| moment.timestamp().as_millisecond())
}

/// True if there is a function of that name; what is none is a variable.
pub fn is_known(name: &str) -> bool {
    find(name).is_some() || script_language(name).is_some() || refusal(name).is_some()
}

fn find(name: &str) -> Option<&'static FunctionRow> {
    TABLE.iter().find(|row| row.name == name)
}

/// A call with its arguments computed.
struct Use<'a> {
    arguments: Vec<String>,
    /// Which call of its text it is, from 0.
    nth: usize,
    context: &'a mut dyn Context,
}

impl Use<'_> {
    /// An argument; where it is missing, an empty text.
    fn argument(&self, nth: usize) -> &str {
        self.arguments.get(nth).map_or("", String::as_str)
    }

    /// An argument that is there and not blank, without blanks around it.
    fn filled(&self, nth: usize) -> Option<&str> {
        Some(self.argument(nth).trim()).filter(|text| !text.is_empty())
    }

    /// Keeps the result under the name that an argument gives.
    fn keep(&mut self, nth: usize, value: String) -> Result<String, String> {
        if let Some(name) = self.filled(nth).map(str::to_owned) {
            self.context.set_variable(&name, &value);
        }
        Ok(value)
    }

    fn fact(&mut self, fact: Fact) -> Result<String, String> {
        let value = self.context.fact(fact);
        self.keep(0, value)
    }
}

/// Takes a text apart and computes it.
///
/// # Errors
/// A function that failed, in words.
pub fn evaluate(text: &str, context: &mut dyn Context) -> Result<String, String> {
    match Text::parse(text, &is_known) {
        Ok(parsed) => compute(&parsed, context),
        Err(_) => Ok(text.to_owned()),
    }
}

/// Computes a text: variables without a value stay as they are written.
///
/// # Errors
/// A function that failed, in words.
pub fn compute(text: &Text, context: &mut dyn Context) -> Result<String, String> {
    compute_from(text, &mut 0, context)
}

fn compute_from(text: &Text, nth: &mut usize, context: &mut dyn Context) -> Result<String, String> {
    let mut computed = String::new();
    for piece in text.pieces() {
        match piece {
            Piece::Fixed(text) => computed.push_str(text),
            Piece::Variable(name) => match context.variable(name) {
                Some(value) => computed.push_str(&value),
                None => computed.push_str(&format!("${{{name}}}")),
            },
            Piece::Call(call) => computed.push_str(&run(call, nth, context)?),
        }
    }
    Ok(computed)
}

fn run(call: &Call, nth: &mut usize, context: &mut dyn Context) -> Result<String, String> {
    if let Some(language) = script_language(&call.name) {
        let arguments = call.arguments.iter().map(|argument| compute_from(argument, nth, context));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let text = arguments.first().map_or("", String::as_str);
        let value = context
            .script(language, text)
            .map_err(|why| format!("{} is not computed here: {why}", call.name))?;
        if let Some(name) = arguments.get(1).map(|name| name.trim()).filter(|name| !name.is_empty()) {
            context.set_variable(name, &value);
        }
        return Ok(value);
    }
    let Some(row) = find(&call.name) else {
        let why = refusal(&call.name).unwrap_or("it runs program text");
        return Err(format!("{} is not computed here: {why}", call.name));
    };
    if !row.arguments.contains(&call.arguments.len()) {
        let from = row.arguments.start();
        let to = row.arguments.end();
        return Err(format!("{} takes {from} to {to} arguments, not {}", row.name, call.arguments.len()));
    }
    let arguments = call.arguments.iter().map(|argument| compute_from(argument, nth, context));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    let mut used = Use { arguments, nth: *nth, context };
    *nth += 1;
    (row.run)(&mut used).map_err(|why| format!("{}: {why}", row.name))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A user of a test: its clock stands at 2026-11-22T10:11:12.345Z.
    #[derive(Default)]
    pub(crate) struct Fake {
        pub(crate) variables: BTreeMap<String, String>,
        pub(crate) properties: BTreeMap<String, String>,
        pub(crate) counts: BTreeMap<(usize, bool), u64>,
        pub(crate) rows: BTreeMap<String, usize>,
        pub(crate) drawn: u64,
        pub(crate) lines: Vec<String>,
    }

    impl Context for Fake {
        fn variable(&self, name: &str) -> Option<String> {
            self.variables.get(name).cloned()
        }
        fn set_variable(&mut self, name: &str, value: &str) {
            self.variables.insert(name.to_owned(), value.to_owned());
        }
        fn property(&self, name: &str) -> Option<String> {
            self.properties.get(name).cloned()
        }
        fn set_property(&mut self, name: &str, value: &str) {
            self.properties.insert(name.to_owned(), value.to_owned());
        }
        fn random(&mut self) -> u64 {
            self.drawn += 1;
            plan::draw::hash(7, self.drawn)
        }
        fn now_ms(&self) -> i64 {
            1_795_342_272_345
        }
        fn count(&mut self, nth: usize, of_user: bool) -> u64 {
            let count = self.counts.entry((nth, of_user)).or_default();
            *count += 1;
            *count
        }
        fn file(&self, path: &str) -> Option<Vec<u8>> {
            (path == "data.csv").then(|| b"a,1\nb,2\n".to_vec())
        }
        fn row(&mut self, file: &str, go_on: bool) -> usize {
            let row = self.rows.entry(file.to_owned()).or_default();
            *row += usize::from(go_on);
            *row
        }
        fn fact(&self, fact: Fact) -> String {
            format!("{fact:?}")
        }
        fn log(&mut self, line: &str) {
            self.lines.push(line.to_owned());
        }
    }

    #[test]
    fn functions_give_what_jmeter_gives() {
        let mut user = Fake::default();
        for (name, value) in
            [("a", "1"), ("b", "x y"), ("q", "${a}!"), ("s", "m,n,,o"), ("v_1", "one"), ("n", "1")]
        {
            user.set_variable(name, value);
        }
        user.set_property("host", "h.example");
        user.set_property("empty", "");
        for (text, value) in [
            ("plain \\, text", "plain \\, text"),
            ("${a}${missing}", "1${missing}"),
            ("${q}", "${a}!"),
            ("${__P(host)} ${__P(zz)} ${__P(zz,d)} ${__P(zz,)}", "h.example 1 d "),
            (
                "${__property(host)} ${__property(zz)} ${__property(zz,,d)} ${__property(host,kept)}${kept}",
                "h.example zz d h.exampleh.example",
            ),
            ("${__setProperty(p,7)}${__P(p)}${__setProperty(p,8,true)}", "77"),
            ("${__V(v_${n})} ${__V(v_9,no)} ${__V(v_9)}", "one no v_9"),
            ("${__eval(${q})} ${__eval(a${q})} ${__evalVar(q)}", "1! a1! 1!"),
            ("${__intSum(1,2,3,total)}/${total} ${__longSum(4,-5)}", "6/6 -1"),
            ("${__urlencode(a b&c=é)} ${__urldecode(a+b%26c%3D%C3%A9)}", "a+b%26c%3D%C3%A9 a b&c=é"),
            (
                "${__escapeHtml(<é&\">)} ${__unescapeHtml(&lt;&eacute;&gt;)}",
                "&lt;&eacute;&amp;&quot;&gt; <é>",
            ),
            ("${__escapeXml(<a b='c'>)}", "&lt;a b=&apos;c&apos;&gt;"),
            (
                "${__changeCase(aB c)} ${__changeCase(aB,LOWER)} ${__changeCase(aB c,CAPITALIZE)}",
                "AB C ab AB c",
            ),
            ("${__char(65,0x42)}${__char(cat)}", "AB"),
            ("${__unescape(a\\\\tb\\\\n)}", "a\tb\n"),
            ("${__isPropDefined(host)} ${__isVarDefined(zz)}", "true false"),
            ("${__split(${s},parts)} ${parts_n} ${parts_1}${parts_2}${parts_3}${parts_4}", "m,n,,o 4 mn?o"),
            ("${__split(a|b,p2,|)}${p2_2}", "a|bb"),
            ("${__counter(TRUE,)}${__counter(FALSE,c)}${c}", "111"),
            (
                "${__CSVRead(data.csv,0)}${__CSVRead(data.csv,1)}${__CSVRead(data.csv,next)}${__CSVRead(data.csv,0)}",
                "a1b",
            ),
            ("${__FileToString(data.csv)}", "a,1\nb,2\n"),
            (
                "${__threadNum} ${__threadGroupName} ${__samplerName()} ${__machineName(m)}${m}",
                "ThreadNumber GroupName SamplerName MachineNameMachineName",
            ),
            ("${__base64Encode(a b)} ${__base64Decode(YSBi)}", "YSBi a b"),
            ("${__substring(abcdef,1,3)}${__strLen(abc)}${__strReplace(aXbX,X,-)}", "bc3a-b-"),
            ("${__lowercase(AB)}${__uppercase(ab)}", "abAB"),
            ("${__time(/1000)} ${__time()} ${__time}", "1795342272 1795342272345 1795342272345"),
            ("${__escapeOroRegexpChars(a.b[c])}", "a\\.b\\[c\\]"),
            ("${__log(a,INFO)}${__logn(b)}", "a"),
        ] {
            assert_eq!(evaluate(text, &mut user), Ok(value.to_owned()), "{text}");
        }
        assert_eq!(user.lines, ["a", "b"]);
    }

    /// Results of JMeter 5.6.3 for texts, each the name of a Debug Sampler of a user of its own: text, tabulator, value, with
    /// pictures of line ends and tabulators; where there is no value, the user ended with an error.
    const OF_JMETER: &str = include_str!("../../tests/functions.tsv");

    /// Differences that stay: a wrong argument fails the sample and says why, where JMeter gives an empty text, `null`, `**ERR**`
    /// or the date as it was; and a date without a time is midnight, which JMeter writes no hours of.
    const OTHERWISE: [&str; 7] = [
        "${__FileToString(none.csv)}",
        "${__RandomDate(,2026-02-01,2026-01-01,,)}",
        "${__timeShift(yyyy-MM-dd,2026-01-31,P1M,,)}",
        "${__timeShift(yyyy-MM-dd,2026-01-01,PX,,)}",
        "${__dateTimeConvert(x,yyyy-MM-dd,yyyy)}",
        "${__digest(MD9,abc)}",
        "${__dateTimeConvert(2020-01-02,yyyy-MM-dd,'at' h a)}",
    ];

    /// A user with what the users of that plan had.
    fn as_there() -> Fake {
        let mut user = Fake::default();
        for (name, value) in [
            ("a", "1"),
            ("b", "x y"),
            ("q", "${a}!"),
            ("s", "m,n,,o"),
            ("v_1", "one"),
            ("n", "1"),
            ("text", "id=1 id=22"),
            ("one", "id=7"),
        ] {
            user.set_variable(name, value);
        }
        user.set_property("host", "h.example");
        user
    }

    #[test]
    fn functions_give_what_jmeter_itself_gave() {
        let mut differ = Vec::new();
        for line in OF_JMETER.lines() {
            let (text, wanted) = match line.split_once('\t') {
                Some((text, value)) => (text, Some(value.replace('␊', "\n").replace('␉', "\t"))),
                None => (line, None),
            };
            let value = evaluate(text, &mut as_there());
            if value.clone().ok() != wanted && !OTHERWISE.contains(&text) {
                differ.push(format!("{text}\n    is {value:?}\n    in JMeter {wanted:?}"));
            }
        }
        assert!(differ.is_empty(), "{}", differ.join("\n"));
    }

    #[test]
    fn functions_that_fail_say_why() {
        let mut user = Fake::default();
        for (text, said) in [
            ("${__Random(a,b)}", "__Random: 'a' is no whole number"),
            ("${__Random(1)}", "takes 2 to 3 arguments"),
            ("${__digest(MD9,a)}", "MD9"),
            ("${__groovy(1+1)}", "program text"),
            ("${__StringToFile(a,b)}", "writes no files"),
            ("${__timeShift(,,PX,,)}", "PX"),
            ("${__CSVRead(none.csv,0)}", "none.csv"),
        ] {
            let error = evaluate(text, &mut user).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        assert_eq!(evaluate("${__P(a)x}", &mut user), Ok("${__P(a)x}".to_owned()));
    }

    #[test]
    fn the_table_is_in_order_and_names_each_once() {
        let mut names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
    }
}
