//! Elements that act when an iteration begins: data sets, counters, random variables, user parameters.

use super::kinds::{self, Convert, ElementKind};
use super::scope::Scope;
use super::{Converter, interrupt, keystore};
use crate::element::{Element, Value};
use crate::role::Role;
use plan::data::Source;
use plan::{Body, CounterStep, Feed, FeedEnd, Scope as Sharing, Set, Step};

pub(super) const KINDS: &[ElementKind] = &[
    ElementKind { class: "CSVDataSet", convert: Convert::Config(rows) },
    ElementKind { class: "CounterConfig", convert: Convert::Config(counter) },
    ElementKind { class: "RandomVariableConfig", convert: Convert::Config(random_variable) },
    ElementKind { class: "ConfigTestElement", convert: Convert::Config(defaults) },
    ElementKind { class: "JDBCDataSource", convert: Convert::Config(databases) },
    ElementKind { class: "KeystoreConfig", convert: Convert::Config(keystore::keystore_config) },
    // Read by the samplers that they hold for, or at the start.
    ElementKind { class: "Arguments", convert: Convert::Config(read_elsewhere) },
    ElementKind { class: "HeaderManager", convert: Convert::Config(read_elsewhere) },
    ElementKind { class: "CookieManager", convert: Convert::Config(read_elsewhere) },
    ElementKind { class: "CacheManager", convert: Convert::Config(read_elsewhere) },
    ElementKind { class: "AuthManager", convert: Convert::Config(read_elsewhere) },
    ElementKind { class: interrupt::CLASS, convert: Convert::Config(read_elsewhere) },
    ElementKind { class: "DNSCacheManager", convert: Convert::Config(read_elsewhere) },
    ElementKind { class: "LoginConfig", convert: Convert::Config(read_elsewhere) },
];

/// Returns the steps that begin each iteration of a controller: of the elements directly below it, and below its samplers.
pub(super) fn at_iteration(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let samplers = of.children.iter().filter(|child| kinds::role(child) == Role::Sampler);
    let of_samplers = samplers.flat_map(|sampler| &sampler.children);
    let acting: Vec<&Element> = scope.level().chain(of_samplers).collect();
    let mut steps = Vec::new();
    for element in acting {
        if let Convert::Config(convert) = kinds::convert(element) {
            steps.extend(convert(c, element));
        } else if element.class == "UserParameters" && is_per_iteration(element) {
            steps.extend(user_parameters(c, element));
        }
    }
    steps
}

fn read_elsewhere(_: &mut Converter<'_>, _: &Element) -> Vec<Step> {
    Vec::new()
}

/// The samplers that would ask it are listed, each for itself.
fn databases(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    c.different(of, "no connections to a database are opened");
    Vec::new()
}

/// Defaults of samplers, which these read.
fn defaults(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    if !matches!(of.gui.as_str(), "HttpDefaultsGui" | "TCPConfigGui" | "SimpleConfigGui" | "") {
        c.different(
            of,
            format!("no sampler here takes its defaults ({}): only those of HTTP and TCP do", of.gui),
        );
    }
    Vec::new()
}

/// True if user parameters are set once for each iteration.
pub(super) fn is_per_iteration(of: &Element) -> bool {
    of.properties.flag("UserParameters.per_iteration", false)
}

pub(super) fn rows(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let text = |name: &str| of.properties.text(name).to_owned();
    let Some(file) = c.constant(of, text("filename").trim(), "its file name") else {
        return Vec::new();
    };
    let file = file.trim().to_owned();
    let Some(names) = c.constant(of, &text("variableNames"), "its list of variables") else {
        return Vec::new();
    };
    let mut header = of.properties.flag("ignoreFirstLine", false);
    let mut names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().all(String::is_empty) {
        // The first line gives the names.
        header = true;
        names = names_in_file(c, of, &file, &delimiter(&text("delimiter")));
        names.iter().for_each(|name| c.variables.learn(name));
    }
    if !check_encoding(c, of, &text("fileEncoding")) {
        return Vec::new();
    }
    let again = of.properties.flag("recycle", true);
    let stops = of.properties.flag("stopThread", false);
    let end = match (again, stops) {
        (true, _) => FeedEnd::Again,
        (false, true) => FeedEnd::StopUser,
        (false, false) => FeedEnd::Value(Body::from("<EOF>")),
    };
    note_empty_rows(c, of, &file);
    let sharing = sharing(c, of, &text("shareMode"));
    let mut names: Vec<String> = names.iter().map(|name| c.variables.name(name)).collect();
    if names.is_empty() {
        // Of a file that is not there: its users end, as in JMeter.
        names.push("columns".to_owned());
    }
    let feed = Feed {
        file: (c.settings.located)(&file),
        names,
        delimiter: delimiter(&text("delimiter")),
        quotes: of.properties.flag("quotedData", false),
        header,
        end,
        of: sharing,
    };
    vec![Step::Feed(feed)]
}

/// Lists rows without text, which JMeter takes for the end of the file, and a file without any other.
fn note_empty_rows(c: &mut Converter<'_>, of: &Element, file: &str) {
    let Some(bytes) = (c.settings.included)(file) else { return };
    let content = String::from_utf8_lossy(&bytes).into_owned();
    let lines = content.trim_start_matches('\u{feff}').lines();
    let empty = lines.clone().filter(|line| line.is_empty()).count();
    if lines.clone().count() == empty {
        c.different(
            of,
            "its file has no rows, so its users end: in JMeter they go on with <EOF>, unless it stops them",
        );
    } else if empty > 0 {
        c.different(
            of,
            format!("its file has {empty} empty lines, which are no rows: JMeter takes each for the end of the file (<EOF>)"),
        );
    }
}

/// The value of a text that is one variable, where all rows of the data set that sets it have the same one: files of
/// settings hold hosts and ports so.
pub(super) fn one_for_all(c: &mut Converter<'_>, written: &str) -> Option<String> {
    let name = written.trim().strip_prefix("${")?.strip_suffix('}')?;
    c.columns.get(name).cloned().flatten()
}

/// Looks through the data sets below an element for columns with one value in all rows.
pub(super) fn find_columns(c: &mut Converter<'_>, of: &Element) {
    if of.class == "CSVDataSet" {
        look_through(c, of);
    }
    of.children.iter().for_each(|child| find_columns(c, child));
}

fn look_through(c: &mut Converter<'_>, of: &Element) {
    let text = |name: &str| of.properties.text(name);
    let file = c.text(of, text("filename").trim()).constant().unwrap_or_default().trim().to_owned();
    let Some(bytes) = (c.settings.included)(&file) else { return };
    let content = String::from_utf8_lossy(&bytes).into_owned();
    let delimiter = delimiter(text("delimiter"));
    let mut rows = content.trim_start_matches('\u{feff}').lines().filter(|line| !line.is_empty());
    let named = text("variableNames");
    let names = if named.trim().is_empty() || of.properties.flag("ignoreFirstLine", false) {
        rows.next()
    } else {
        None
    };
    let names = if named.trim().is_empty() { names.unwrap_or("").to_owned() } else { named.to_owned() };
    let mut values: Vec<Option<Option<String>>> = Vec::new();
    let separator = if named.trim().is_empty() { delimiter.as_str() } else { "," };
    let names: Vec<String> = names.split(separator).map(|name| name.trim().to_owned()).collect();
    values.resize(names.len(), None);
    for row in rows {
        for (known, value) in values.iter_mut().zip(row.split(delimiter.as_str())) {
            let same = known.as_ref().is_none_or(|known| known.as_deref() == Some(value));
            *known = Some(same.then(|| value.to_owned()));
        }
    }
    for (name, value) in names.into_iter().zip(values) {
        // A second data set that sets the same name makes it unknown.
        let known = c.columns.contains_key(&name);
        c.columns.insert(name, value.flatten().filter(|_| !known));
    }
}

/// The names in the first line of a file.
fn names_in_file(c: &mut Converter<'_>, of: &Element, file: &str, delimiter: &str) -> Vec<String> {
    let Some(bytes) = (c.settings.included)(file) else {
        c.different(of, format!("the file '{file}' is not there, so the names of its columns are not known"));
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let first = text.trim_start_matches('\u{feff}').lines().next().unwrap_or("");
    let delimiter = if delimiter.is_empty() { "," } else { delimiter };
    first.split(delimiter).map(|name| name.trim().trim_matches('"').to_owned()).collect()
}

fn check_encoding(c: &mut Converter<'_>, of: &Element, encoding: &str) -> bool {
    let usual = ["", "utf-8", "utf8", "us-ascii", "ascii"].contains(&encoding.trim().to_lowercase().as_str());
    if !usual {
        c.different(of, format!("its file is read as UTF-8, not as {}", encoding.trim()));
    }
    true
}

/// Who takes rows together; older files hold words of the user's language.
pub(super) fn sharing(c: &mut Converter<'_>, of: &Element, mode: &str) -> Sharing {
    let lower = mode.trim().to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["sharemode.group", "current thread group", "aktuelle thread-gruppe", "grupo", "groupe"]) {
        Sharing::Group
    } else if has(&["sharemode.thread", "current thread", "aktueller thread", "unit\u{e9}", "hilo actual"]) {
        Sharing::User
    } else {
        if !(lower.is_empty() || has(&["all", "alle", "tous", "toutes", "todos", "所有", "全"])) {
            c.different(
                of,
                format!("rows are shared by all users; in JMeter by all whose mode is '{}'", mode.trim()),
            );
        }
        Sharing::All
    }
}

pub(super) fn counter(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let text = |name: &str| of.properties.text(name).to_owned();
    let mut number = |name: &str, otherwise: i64| {
        let written = of.properties.filled(name).map(str::to_owned);
        match written {
            None => Some(Some(otherwise)),
            Some(written) => c.constant(of, &written, name).map(|text| text.trim().parse::<i64>().ok()),
        }
    };
    let start = number("CounterConfig.start", 0);
    let step = number("CounterConfig.incr", 1);
    let end = number("CounterConfig.end", i64::MAX);
    let (Some(Some(start)), Some(Some(step)), Some(Some(end))) = (start, step, end) else {
        c.missing(of, "its start, increment or end is no whole number that is known at the start");
        return Vec::new();
    };
    let format = text("CounterConfig.format");
    let digits = format.chars().filter(|one| *one == '0').count();
    if format.chars().any(|one| one != '0') && !format.is_empty() {
        c.missing(of, format!("its format '{format}' is not only zeros"));
        return Vec::new();
    }
    let per_user = of.properties.flag("CounterConfig.per_user", false);
    let counter = CounterStep {
        name: c.variables.name(text("CounterConfig.name").trim()),
        start,
        step,
        end: (end != i64::MAX).then_some(end),
        of: if per_user { Sharing::User } else { Sharing::All },
        digits: u8::try_from(digits).unwrap_or(u8::MAX),
        each_iteration: per_user && of.properties.flag("CounterConfig.reset_on_tg_iteration", false),
    };
    vec![Step::Counter(counter)]
}

fn random_variable(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let text = |name: &str| of.properties.text(name).to_owned();
    let bound = |text: Option<String>, otherwise: i64| match text.as_deref().map(str::trim) {
        Some("") => Some(otherwise),
        Some(text) => text.parse::<i64>().ok(),
        None => None,
    };
    let min = c.constant(of, &text("minimumValue"), "its minimum");
    let max = c.constant(of, &text("maximumValue"), "its maximum");
    let (Some(min), Some(max)) = (bound(min, 1), bound(max, i64::from(i32::MAX))) else {
        c.missing(of, "its minimum or maximum is no whole number that is known at the start");
        return Vec::new();
    };
    if !text("randomSeed").trim().is_empty() {
        c.different(of, "its numbers follow from the plan's seed, not from its own");
    }
    if min > max {
        c.missing(of, format!("its minimum {min} is greater than its maximum {max}"));
        return Vec::new();
    }
    let format = text("outputFormat");
    let (before, zeros, after) = split_format(&format);
    if zeros > 1 && min < 0 {
        c.different(
            of,
            format!("numbers are not filled with zeros as '{format}' wants it: some are negative"),
        );
    }
    let least = if min < 0 { min.to_string() } else { format!("{min:0zeros$}") };
    let name = c.variables.name(text("variableName").trim());
    vec![Step::Set(Set::of(&name, format!("{before}{{{{int:{least}..{max}}}}}{after}").as_str()))]
}

/// Values by the number of the user.
pub(super) fn user_parameters(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let names: Vec<String> =
        of.properties.list("UserParameters.names").iter().map(|name| name.as_text().to_owned()).collect();
    let users = of.properties.list("UserParameters.thread_values");
    if users.len() > 1 {
        c.different(of, format!("all users have the values of the first of its {} columns", users.len()));
    }
    let values: Vec<String> = users
        .first()
        .map(Value::as_list)
        .into_iter()
        .flatten()
        .map(|value| value.as_text().to_owned())
        .collect();
    let mut steps = Vec::new();
    for (name, value) in names.iter().zip(values) {
        let text = c.text(of, &value);
        let name = c.variables.name(name);
        steps.extend(set(&name, text));
    }
    steps
}

/// Keeps a text under a name.
pub(super) fn set(name: &str, text: super::text::Converted) -> Vec<Step> {
    let mut value = text.raw();
    for data in &text.data {
        value =
            value.replace(&format!("{{{{{}}}}}", data.name), &format!("{{{{{}}}}}", in_place(&data.source)));
    }
    text.before.into_iter().chain([Step::Set(Set::of(name, value.as_str()))]).collect()
}

/// A source as it is described in place.
pub(super) fn in_place(source: &Source) -> String {
    match source {
        Source::Integer { min, max, .. } => format!("int:{min}..{max}"),
        Source::Uuid => "uuid".to_owned(),
        _ => "time:ms".to_owned(),
    }
}

/// A format's text before its zeros, their number, and the text behind them.
fn split_format(format: &str) -> (&str, usize, &str) {
    let Some(begin) = format.find('0') else { return (format, 0, "") };
    let zeros = format[begin..].bytes().take_while(|byte| *byte == b'0').count();
    (&format[..begin], zeros, &format[begin + zeros..])
}

/// A delimiter as it is typed: `\t` is a tab, none a comma.
fn delimiter(typed: &str) -> String {
    match typed {
        "\\t" => "\t".to_owned(),
        "" => ",".to_owned(),
        other => other.to_owned(),
    }
}
