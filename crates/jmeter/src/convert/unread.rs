//! Properties that nobody asked for: none is left out in silence. Each is read by the converter of its element, or has no effect
//! on a run ([`WITHOUT_EFFECT`] says why), or has the value that JMeter takes without it ([`USUAL`]), or is listed.

use super::text::short;
use super::variables::each_text;
use super::{Converter, kinds};
use crate::element::{Element, Properties, Value};
use crate::finding::Grade;
use crate::role::Role;
use std::collections::BTreeSet;

/// Properties of elements without an effect on what a run sends, waits for and judges, in groups with one reason. A name that ends
/// with `*` stands for all that begin so.
const WITHOUT_EFFECT: &[(&str, &[&str])] = &[
    (
        "it describes the element",
        &[
            "TestPlan.comments",
            "TestElement.*",
            "Argument.desc",
            "Argument.metadata",
            "HTTPSampler.monitor",
            "scriptLanguage",
            "WorkBench.save",
        ],
    ),
    (
        "it shows or writes results, of which `-l` is told",
        &["ResultCollector.*", "RespTimeGraph.*", "saveConfig"],
    ),
    ("JMeter 5.6 does not read it any more", &["ThreadGroup.start_time", "ThreadGroup.end_time"]),
    (
        "it says when threads are made, not when users come",
        &["ThreadGroup.delayedStart", "KeystoreConfig.preload", "preload"],
    ),
    ("it counts only beside the scheduler's flag", &["ThreadGroup.duration", "ThreadGroup.delay"]),
    (
        "it says whether loops begin anew, which their readers tell where it matters",
        &["LoopController.continue_forever"],
    ),
    (
        "it counts only beside another property, which is read first",
        &[
            "Scope.variable",
            "HTTPSampler.auto_redirects",
            "HTTPSampler.embedded_url_*",
            "HTTPSampler.concurrentDwn",
            "HTTPSampler.concurrentPool",
            "HTTPSampler.DO_MULTIPART_POST",
            "HTTPSampler.BROWSER_COMPATIBLE_MULTIPART",
            "HTTPSampler.contentEncoding",
            "HTTPSampler.domain",
            "HTTPSampler.port",
            "HTTPSampler.protocol",
            "HTTPsampler.Files",
            "HTTPsampler.Arguments",
            "HTTPArgument.always_encode",
            "HTTPArgument.use_equals",
            "Argument.name",
            "Header.value",
            "TCPSampler.closeConnection",
            "ThroughputController.percentThroughput",
            "ThroughputController.maxThroughput",
            "ActionProcessor.duration",
            "ActionProcessor.target",
            "CookieManager.clearEachIteration",
            "AuthManager.clearEachIteration",
            "clearEachIteration",
            "startIndex",
            "endIndex",
            "clientCertAliasVarName",
            "EXPECT_NULL",
            "ISREGEX",
            "EXPECTED_VALUE",
            "script",
            "BeanShellSampler.query",
            "BeanShellAssertion.query",
            "CounterConfig.reset_on_tg_iteration",
            "IfController.evaluateAll",
            "stopThread",
            "UserParameters.*",
        ],
    ),
    (
        "a GraphQL request sends its parameters, into which whoever saved the plan has put it",
        &["GraphQLHTTPSampler.*"],
    ),
    (
        "it says what tools that mend HTML or XML report",
        &[
            "XPathExtractor.quiet",
            "XPathExtractor.report_errors",
            "XPathExtractor.show_warnings",
            "XPath.quiet",
            "XPath.report_errors",
            "XPath.show_warnings",
            "XPath.whitespace",
            "XPathExtractor.whitespace",
        ],
    ),
    ("all users draw from one distribution either way", &["perThread"]),
    ("random arrivals are listed as such", &["exactLimit", "allowedThroughputSurplus", "batchThreadDelay"]),
    (
        "it shows in results only",
        &[
            "REQUEST_DATA",
            "RESULT_CLASS",
            "URL",
            "LATENCY",
            "CONNECT",
            "RESPONSE_TIME",
            "displayJMeter*",
            "displaySystemProperties",
            "displaySamplerProperties",
            "LogFilename",
        ],
    ),
    (
        "it counts only for a limit that is set",
        &["avg_response_time_length", "avg_response_latency_length", "error_rate_length", "percentile_value"],
    ),
    (
        "static hosts do not change, and what the system found for other names is kept",
        &["DNSCacheManager.clearEachIteration"],
    ),
];

/// Values that JMeter takes where a property is missing, and so says nothing new.
const USUAL: &[(&str, &str)] = &[
    ("LoopController.loops", "-1"),
    ("maxSize", "5000"),
    ("duration", "3600"),
    ("randomSeed", "0"),
    ("HTTPArgument.content_type", "text/plain"),
    ("InterleaveControl.style", "0"),
    ("HTTPSampler.ipSourceType", "0"),
    ("HTTPSampler.proxyScheme", "http"),
    ("Cookie.path", "/"),
    ("Cookie.expires", "0"),
    ("Cookie.path_specified", "true"),
    ("Cookie.domain_specified", "true"),
];

/// Lists the properties of a plan, and those given to it, that nobody read.
pub(super) fn list(c: &mut Converter<'_>, root: &Element) {
    root.properties.meet();
    let missing = c.findings.iter().filter(|finding| finding.grade == Grade::Missing);
    let missing: BTreeSet<String> = missing.map(|finding| finding.path.clone()).collect();
    of_element(c, root, &missing);
    given(c, root);
}

fn of_element(c: &mut Converter<'_>, of: &Element, missing: &BTreeSet<String>) {
    if missing.contains(&of.path) && of.class != "TestPlan" {
        return;
    }
    // Listeners of JMeter's own show what is known anyway.
    let is_shown =
        kinds::role(of) == Role::Listener && !kinds::is_script_listener(of) && !of.class.contains('.');
    if of.properties.is_met() && !is_shown {
        let mut unread = Vec::new();
        unread_of(&of.properties, &mut unread);
        for (name, value) in unread {
            c.different(of, format!("its property {name} is '{}', which is not obeyed", short(&value)));
        }
    }
    of.children.iter().for_each(|child| of_element(c, child, missing));
}

/// Names and values that nobody asked for; within elements that are values and in lists, too.
fn unread_of(properties: &Properties, to: &mut Vec<(String, String)>) {
    for (name, value, asked) in properties.asked() {
        if !asked && is_without_effect(name) {
            continue;
        }
        match value {
            Value::Text(text) if !asked && !is_usual(name, text) => to.push((name.to_owned(), text.clone())),
            Value::Text(_) => {}
            Value::Object(object) => unread_of(&object.properties, to),
            Value::List(list) if asked => list.iter().for_each(|member| unread_member(member, to)),
            Value::List(list) if list.is_empty() => {}
            Value::List(list) => to.push((name.to_owned(), format!("a list of {}", list.len()))),
        }
    }
}

/// Of a list those members that somebody looked at.
fn unread_member(member: &Value, to: &mut Vec<(String, String)>) {
    match member {
        Value::Object(object) if object.properties.is_asked() => unread_of(&object.properties, to),
        Value::Object(_) | Value::List(_) | Value::Text(_) => {}
    }
}

fn is_without_effect(name: &str) -> bool {
    WITHOUT_EFFECT.iter().flat_map(|(_, names)| names.iter()).any(|known| is_like(known, name))
}

fn is_like(known: &str, name: &str) -> bool {
    known.strip_suffix('*').map_or(known == name, |begin| name.starts_with(begin))
}

/// True for a value that is blank or off, which is as if it was not there, or that JMeter takes anyway.
fn is_usual(name: &str, text: &str) -> bool {
    let text = text.trim();
    let off = text.is_empty() || text.eq_ignore_ascii_case("false");
    off || USUAL.iter().any(|(known, usual)| *known == name && *usual == text)
}

/// How the names of JMeter's own properties begin.
const PREFIXES: &[&str] = &[
    "jmeter.",
    "httpclient",
    "httpsampler.",
    "HTTPSampler.",
    "http.",
    "https.",
    "summariser.",
    "CookieManager.",
    "AuthManager.",
    "HTTPResponse.",
    "HTTPFileArgs.",
    "cacheManager.",
    "cache_manager.",
    "csvdataset.",
    "csvread.",
    "jmeterengine.",
    "jmeterthread.",
    "sampleresult.",
    "sample_variables",
    "xpath.",
    "xpath2query.",
    "jsyntaxtextarea.",
    "language",
    "locales.",
    "log_level.",
    "not_in_menu",
    "server.",
    "server_port",
    "remote_hosts",
    "client.",
    "mode",
    "backend_",
    "beanshell.",
    "groovy.",
    "jsr223.",
    "htmlParser.",
    "wmlParser.",
    "cssParser.",
    "cssselector.",
    "javascript.",
    "proxy.",
    "search_paths",
    "user.classpath",
    "plugin_dependency_paths",
    "user.properties",
    "system.properties",
    "upgrade_properties",
    "tcp.",
    "tcp",
    "view.results.tree.",
    "reader.",
    "rampup.",
];

/// Properties that are read somewhere in this program, or have nothing to say on what a run does.
const KNOWN: &[&str] = &[
    // Read.
    "httpsampler.max_redirects",
    "http.proxy*",
    "http.nonProxyHosts",
    "summariser.interval",
    "summariser.name",
    "summariser.out",
    "jmeter.save.saveservice.*",
    "sample_variables",
    // Windows, menus, remote machines and reports of JMeter's own, of which there are none here.
    "jmeter.gui.*",
    "jmeter.laf*",
    "jmeter.toolbar.*",
    "jmeter.tree.*",
    "jmeter.icons*",
    "jmeter.hidpi.*",
    "jmeter.loggerpanel.*",
    "jmeter.errorscounter.*",
    "jmeter.expertMode",
    "jmeter.reportgenerator.*",
    "jmeter.exit.check.pause",
    "jmeterengine.nongui.*",
    "jsyntaxtextarea.*",
    "language",
    "locales.*",
    "log_level.*",
    "not_in_menu",
    "server.*",
    "server_port",
    "remote_hosts",
    "client.*",
    "mode",
    "view.results.tree.*",
    "proxy.*",
    "upgrade_properties",
    "user.properties",
    "system.properties",
    "rampup.granularity",
    "jmeter.version",
];

/// Properties with the value that JMeter has without them.
const USUAL_GIVEN: &[(&str, &str)] = &[
    ("httpclient4.retrycount", "0"),
    ("httpclient4.idletimeout", "0"),
    ("httpclient4.time_to_live", "60000"),
    ("httpclient4.validate_after_inactivity", "4900"),
    ("httpclient.reset_state_on_thread_group_iteration", "true"),
    ("httpsampler.max_frame_depth", "5"),
    ("httpsampler.parallel_download_thread_keepalive_inseconds", "60"),
    ("jmeter.httpsampler", "HttpClient4"),
    ("CookieManager.check.cookies", "true"),
    ("CookieManager.delete_null_cookies", "true"),
    ("CookieManager.name.prefix", "COOKIE_"),
    ("https.default.protocol", "TLS"),
    ("summariser.log", "true"),
    ("sampleresult.timestamp.start", "false"),
    ("sampleresult.useNanoTime", "true"),
    ("sampleresult.default.encoding", "ISO-8859-1"),
    ("htmlParser.className", "org.apache.jmeter.protocol.http.parser.LagartoBasedHtmlParser"),
];

/// Parts of a results file that are not written, whatever `jmeter.save.saveservice.NAME` says.
const NOT_SAVED: &[&str] = &["assertion_results", "xml_pi", "base_prefix"];

/// Properties of the command line and of files of properties that would change a run of JMeter, and change none here.
fn given(c: &mut Converter<'_>, root: &Element) {
    let mut texts = Vec::new();
    collect(root, &mut texts);
    let mut told = Vec::new();
    for (name, value) in &c.settings.properties {
        let is_named = || texts.iter().any(|text| text.contains(name.as_str()));
        if is_given_in_vain(name, value.trim()) && !is_named() {
            told.push(format!("the property {name} is '{}', which is not obeyed", short(value)));
        }
    }
    told.into_iter().for_each(|why| c.different(root, why));
}

fn is_given_in_vain(name: &str, value: &str) -> bool {
    if let Some(saved) = name.strip_prefix("jmeter.save.saveservice.") {
        let says_more = !matches!(value, "" | "false" | "none");
        return match saved {
            "output_format" => !matches!(value, "" | "csv" | "xml"),
            _ => NOT_SAVED.contains(&saved) && says_more,
        };
    }
    let of_jmeter = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let usual = USUAL_GIVEN.iter().any(|(known, usual)| *known == name && usual.eq_ignore_ascii_case(value));
    let off = value.is_empty()
        || value.eq_ignore_ascii_case("false") && !USUAL_GIVEN.iter().any(|(known, _)| *known == name);
    of_jmeter && !off && !usual && !KNOWN.iter().any(|known| is_like(known, name))
}

fn collect<'e>(of: &'e Element, to: &mut Vec<&'e str>) {
    each_text(&of.properties, &mut |text| to.push(text));
    of.children.iter().for_each(|child| collect(child, to));
}

#[cfg(test)]
mod tests {
    use super::super::kinds::{ALL, Convert};
    use crate::{Settings, TestPlan};

    /// Findings of a plan, as lines.
    fn told(plan: &str, properties: &[(&str, &str)]) -> Vec<String> {
        let properties = properties.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings = Settings { properties: properties.collect(), ..Settings::default() };
        let xml = format!(
            "<jmeterTestPlan><hashTree><TestPlan testname='P'/><hashTree>{plan}</hashTree></hashTree></jmeterTestPlan>"
        );
        let conversion = TestPlan::read(xml.as_bytes(), &settings).unwrap().convert(&settings);
        conversion.findings.iter().map(ToString::to_string).collect()
    }

    fn sampler(more: &str, below: &str) -> String {
        format!(
            "<HTTPSamplerProxy testname='S'><stringProp name='HTTPSampler.domain'>h.example</stringProp>{more}\
             </HTTPSamplerProxy><hashTree>{below}</hashTree>"
        )
    }

    fn users(inner: &str) -> String {
        format!("<ThreadGroup testname='G'/><hashTree>{inner}</hashTree>")
    }

    /// A plan with an element of a class that has a property which no reader knows.
    fn with_unknown(class: &str, convert: Convert) -> String {
        let property = "<stringProp name='Nobody.reads'>this</stringProp>";
        let group = "<intProp name='ThreadGroup.num_threads'>1</intProp><stringProp name='TargetLevel'>1</stringProp>";
        let element = format!("<{class} testname='E' guiclass='HttpDefaultsGui'>{property}{group}</{class}>");
        match convert {
            Convert::Group(_) => format!("{element}<hashTree>{}</hashTree>", sampler("", "")),
            Convert::Controller(_) => users(&format!("{element}<hashTree>{}</hashTree>", sampler("", ""))),
            Convert::Sampler(_) | Convert::Action(_) => {
                users(&format!("{element}<hashTree/>{}", sampler("", "")))
            }
            Convert::Config(_)
            | Convert::Timer(_)
            | Convert::Pre(_)
            | Convert::Follow(_)
            | Convert::Post(_)
            | Convert::Assertion(_)
            | Convert::Reaction(_)
            | Convert::Listener(_)
            | Convert::ScriptListener(_)
            | Convert::Idle => users(&sampler("", &format!("{element}<hashTree/>"))),
        }
    }

    #[test]
    fn no_element_has_a_property_that_is_left_out_in_silence() {
        for kind in ALL.iter().flat_map(|rows| rows.iter()) {
            // Idle elements take no part.
            if matches!(kind.convert, Convert::Idle) || matches!(kind.class, "ResultCollector" | "Summariser")
            {
                continue;
            }
            let told = told(&with_unknown(kind.class, kind.convert), &[]);
            let of_it = |line: &&String| line.contains("/E (") || line.contains("Nobody.reads");
            assert!(told.iter().any(|line| of_it(&line)), "{}: {told:?}", kind.class);
        }
    }

    #[test]
    fn a_property_is_read_or_usual_or_listed() {
        for (property, said) in [
            (
                "<stringProp name='HTTPSampler.ipSource'>192.0.2.1</stringProp>",
                Some("HTTPSampler.ipSource is '192.0.2.1'"),
            ),
            ("<stringProp name='HTTPSampler.ipSource'></stringProp>", None),
            ("<stringProp name='HTTPSampler.ipSource'>127.0.0.2</stringProp>", Some("HTTPSampler.ipSource")),
            ("<boolProp name='HTTPSampler.md5'>true</boolProp>", Some("HTTPSampler.md5")),
            ("<boolProp name='HTTPSampler.md5'>false</boolProp>", None),
            ("<stringProp name='TestPlan.comments'>a word</stringProp>", None),
            ("<stringProp name='HTTPSampler.embedded_url_re'>.*</stringProp>", None),
        ] {
            let told = told(&users(&sampler(property, "")), &[]);
            assert_eq!(told.len(), usize::from(said.is_some()), "{property}: {told:?}");
            assert!(
                said.is_none_or(|said| told[0].contains(said) && told[0].starts_with("/P/G/S ")),
                "{told:?}"
            );
        }
    }

    #[test]
    fn defaults_that_a_sampler_replaces_are_read() {
        let defaults = "<ConfigTestElement testname='D' guiclass='HttpDefaultsGui'>\
            <stringProp name='HTTPSampler.domain'>d.example</stringProp><stringProp name='HTTPSampler.path'>/x</stringProp>\
            <stringProp name='HTTPSampler.ipSource'>192.0.2.1</stringProp></ConfigTestElement><hashTree/>";
        let told = told(&users(&format!("{defaults}{}", sampler("", ""))), &[]);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("/P/G/D (") && told[0].contains("ipSource"), "{told:?}");
    }

    #[test]
    fn properties_of_jmeter_are_read_or_listed() {
        for (name, value, listed) in [
            ("host", "a.example", false),
            ("httpclient4.retrycount", "3", true),
            ("httpclient4.retrycount", "0", false),
            ("CookieManager.save.cookies", "true", true),
            ("CookieManager.check.cookies", "false", true),
            ("httpsampler.max_redirects", "3", false),
            ("summariser.interval", "5", false),
            ("summariser.name", "mine", false),
            ("sample_variables", "a,b", false),
            ("jmeter.save.saveservice.url", "false", false),
            ("jmeter.save.saveservice.response_data", "true", false),
            ("jmeter.save.saveservice.assertion_results", "all", true),
            ("jmeter.save.saveservice.timestamp_format", "ms", false),
            ("jmeter.save.saveservice.timestamp_format", "yyyy", false),
            ("log_level.jmeter", "DEBUG", false),
        ] {
            let told = told(&users(&sampler("", "")), &[(name, value)]);
            assert_eq!(told.len(), usize::from(listed), "{name}={value}: {told:?}");
            assert!(told.iter().all(|line| line.contains(name)), "{told:?}");
        }
        let used = "<stringProp name='HTTPSampler.path'>/${__P(jmeter.mine)}</stringProp>";
        assert_eq!(told(&users(&sampler(used, "")), &[("jmeter.mine", "1")]), Vec::<String>::new());
    }
}
