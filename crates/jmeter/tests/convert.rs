//! Plans of our own: what becomes of each stands beside it as a plan file, with what was found amiss as comments.
//! `UPDATE=1 cargo test --workspace --test convert` writes those files anew.

use jmeter::{Conversion, Settings, TestPlan};
use plan::Plan;
use std::fs;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plans"))
}

fn convert(bytes: &[u8]) -> Conversion {
    let settings = Settings { seed: 7, ..Settings::default() };
    TestPlan::read(bytes, &settings).unwrap().convert(&settings)
}

fn text(conversion: &Conversion) -> String {
    let mut text = String::new();
    for finding in &conversion.findings {
        text += &format!("# {:?}: {finding}\n", finding.grade);
    }
    for path in &conversion.endless {
        text += &format!("# never ends: {path}\n");
    }
    text + &conversion.plan.to_text()
}

#[test]
fn plans_become_what_stands_beside_them() {
    for name in ["one", "scope", "controllers", "arrivals", "listeners", "tcp", "unsupported"] {
        let conversion = convert(&fs::read(folder().join(format!("{name}.jmx"))).unwrap());
        let file = folder().join(format!("{name}.toml"));
        let made = text(&conversion);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&file, &made).unwrap();
        }
        assert_eq!(made, fs::read_to_string(&file).unwrap(), "{name}");
        assert_eq!(Plan::from_text(&made).unwrap(), conversion.plan, "{name} reads back");
    }
}

#[test]
fn one_plain_request_is_no_journey() {
    let conversion = convert(&fs::read(folder().join("one.jmx")).unwrap());
    let load = conversion.plan.load.as_ref().unwrap();
    assert!(conversion.findings.is_empty() && conversion.runs_wholly());
    assert!(!load.phases[0].scenario.is_journey(), "the engine's plain path serves it");
    assert_eq!(conversion.plan.check(), Vec::<String>::new());
}

#[test]
fn what_cannot_run_is_listed_and_the_rest_is_kept() {
    let conversion = convert(&fs::read(folder().join("unsupported.jmx")).unwrap());
    assert!(!conversion.runs_wholly());
    let told: Vec<String> = conversion.findings.iter().map(ToString::to_string).collect();
    for (path, why) in [
        ("/Plan/Unknown group", "not known"),
        ("/Plan/Users/Unknown config", "not known"),
        ("/Plan/Users/Query", "databases"),
        ("/Plan/Users/Broken/Open group", "is no pattern: unclosed group"),
        ("/Plan/Users/No host", "its host is ''"),
        ("/Plan/Users/Fine ${__threadNum}/Check of JSON", "is no JMESPath"),
        ("/Plan/Users/Fine ${__threadNum}/Open call", "JMeter does not begin the test"),
        ("/Plan/Influx", "another system"),
    ] {
        assert!(told.iter().any(|line| line.starts_with(path) && line.contains(why)), "{path}: {told:#?}");
    }
    assert_eq!(conversion.endless, ["/Plan/Users"]);
    let load = conversion.plan.load.as_ref().unwrap();
    assert_eq!(load.phases[0].scenario.sends().len(), 2);
    assert!(conversion.exact.contains(&"/Plan/Users/Random wait".to_owned()));
}

#[test]
fn a_keystore_is_that_of_javas_properties() {
    let plan = |config: &str| {
        format!(
            "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan testname=\"Plan\"/><hashTree>\
             <KeystoreConfig testname=\"Keys\">{config}</KeystoreConfig><hashTree/>\
             <CSVDataSet testname=\"Rows\"><stringProp name=\"filename\">a.csv</stringProp>\
             <stringProp name=\"variableNames\">row</stringProp></CSVDataSet><hashTree/>\
             <ThreadGroup testname=\"Users\"/><hashTree><HTTPSamplerProxy testname=\"Home\">\
             <stringProp name=\"HTTPSampler.domain\">h.example</stringProp><stringProp name=\"HTTPSampler.protocol\">https</stringProp>\
             </HTTPSamplerProxy><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"
        )
    };
    let all = [("keyStore", "k.p12"), ("keyStorePassword", "env:PASSWORD")];
    let indices =
        "<stringProp name=\"startIndex\">0</stringProp><stringProp name=\"endIndex\">0</stringProp>";
    let variable = "<stringProp name=\"clientCertAliasVarName\">row</stringProp>";
    for (config, properties, said) in [
        (indices, &all[..], None),
        ("", &all, Some("do not take turns")),
        (variable, &all, Some("whatever the variable's value")),
        (indices, &[], Some("no keystore is named")),
    ] {
        let named = |(name, value): &(&str, &str)| (format!("javax.net.ssl.{name}"), (*value).to_owned());
        let properties = properties.iter().map(named).collect();
        let settings = Settings { properties, ..Settings::default() };
        let conversion = TestPlan::read(plan(config).as_bytes(), &settings).unwrap().convert(&settings);
        let of_keys = |finding: &&jmeter::Finding| finding.path == "/Plan/Keys";
        let told = conversion.findings.iter().find(of_keys).map(ToString::to_string);
        assert_eq!(told.is_some(), said.is_some(), "{config}: {told:?}");
        assert!(said.is_none_or(|said| told.unwrap().contains(said)), "{config}");
        let tls = conversion.plan.load.as_ref().unwrap().protocol.connections().tls.unwrap();
        let keystore =
            tls.keystore.as_ref().map(|keystore| (keystore.file.as_str(), keystore.password.to_string()));
        let wanted = (said != Some("no keystore is named")).then(|| ("k.p12", "env:PASSWORD".to_owned()));
        assert_eq!(keystore, wanted);
        assert_eq!(Plan::from_text(&conversion.plan.to_text()).unwrap(), conversion.plan);
    }
}

/// A conversion of users with some elements.
fn of_users(inner: &str) -> Conversion {
    convert(plan_of(inner).as_bytes())
}

/// A plan of JMeter's with some elements.
fn plan_of(inner: &str) -> String {
    format!(
        "<jmeterTestPlan><hashTree><TestPlan testname='P'/><hashTree>{inner}</hashTree></hashTree></jmeterTestPlan>"
    )
}

fn request(path: &str, more: &str) -> String {
    format!(
        "<HTTPSamplerProxy testname='S'><stringProp name='HTTPSampler.domain'>h.example</stringProp>\
         <stringProp name='HTTPSampler.path'>{path}</stringProp>{more}</HTTPSamplerProxy><hashTree/>"
    )
}

#[test]
fn groups_of_one_request_each_run_side_by_side() {
    let group = format!("<ThreadGroup testname='G'/><hashTree>{}</hashTree>", request("/a", ""));
    let conversion = of_users(&group.repeat(2));
    assert_eq!(conversion.plan.check(), Vec::<String>::new());
    assert!(conversion.findings.is_empty(), "{:?}", conversion.findings);
    assert_eq!(conversion.plan.load.unwrap().phases[0].groups.len(), 2);
}

#[test]
fn what_a_request_becomes() {
    let argument = |encode: bool| {
        format!(
            "<stringProp name='HTTPSampler.method'>POST</stringProp><elementProp name='HTTPsampler.Arguments' elementType='Arguments'>\
             <collectionProp name='Arguments.arguments'><elementProp name='' elementType='HTTPArgument'>\
             <boolProp name='HTTPArgument.always_encode'>{encode}</boolProp><stringProp name='Argument.value'>x y</stringProp>\
             </elementProp></collectionProp></elementProp>"
        )
    };
    for (path, more, wanted) in [
        ("//svc/x", String::new(), "url = \"http://h.example//svc/x\""),
        ("//svc/x", String::new(), "fold_slashes = true"),
        ("svc/x", String::new(), "url = \"http://h.example/svc/x\""),
        ("/?at=${START.MS}", String::new(), "url = \"http://h.example/?at=0\""),
        ("/", argument(true), "body = \"x+y\""),
        ("/", argument(false), "body = \"x y\""),
    ] {
        let conversion =
            of_users(&format!("<ThreadGroup testname='G'/><hashTree>{}</hashTree>", request(path, &more)));
        let text = text(&conversion);
        assert!(text.contains(wanted), "{path}: {text}");
        assert!(conversion.findings.is_empty(), "{:?}", conversion.findings);
    }
}

#[test]
fn what_runs_differently_is_told() {
    let manager = "<CookieManager testname='C'><stringProp name='CookieManager.policy'>rfc2965</stringProp>\
        <collectionProp name='CookieManager.cookies'><elementProp name='a' elementType='Cookie'/></collectionProp></CookieManager><hashTree/>";
    let encoding = |text: &str| {
        "<stringProp name='HTTPSampler.method'>POST</stringProp><stringProp name='HTTPSampler.contentEncoding'>GBK</stringProp>\
        <boolProp name='HTTPSampler.postBodyRaw'>true</boolProp><elementProp name='HTTPsampler.Arguments' elementType='Arguments'>\
        <collectionProp name='Arguments.arguments'><elementProp name='' elementType='HTTPArgument'>\
        <stringProp name='Argument.value'>TEXT</stringProp></elementProp></collectionProp></elementProp>".replace("TEXT", text)
    };
    let share = "<ThroughputController testname='T'><intProp name='ThroughputController.style'>1</intProp>\
        <stringProp name='ThroughputController.percentThroughput'>many</stringProp></ThroughputController>";
    let times = "<ThroughputController testname='T'><intProp name='ThroughputController.style'>0</intProp>\
        <stringProp name='ThroughputController.maxThroughput'>many</stringProp></ThroughputController>";
    let proxied = "<stringProp name='HTTPSampler.proxyHost'>p.example</stringProp><stringProp name='HTTPSampler.proxyPort'>81</stringProp>";
    let code = "<RegexExtractor testname='R'><stringProp name='RegexExtractor.useHeaders'>code</stringProp>\
        <stringProp name='RegexExtractor.refname'>V</stringProp><stringProp name='RegexExtractor.regex'>(\\d)\\d</stringProp>\
        <stringProp name='RegexExtractor.template'>$1$</stringProp></RegexExtractor><hashTree/>";
    let pair = request("/a", "").repeat(2);
    let simple = format!("<TransactionController testname='I'/><hashTree>{pair}</hashTree>");
    let once = "<LoopController testname='L'><boolProp name='LoopController.continue_forever'>false</boolProp>\
        <stringProp name='LoopController.loops'>2</stringProp></LoopController>";
    let listed = |class: &str, more: &str| {
        let size = "<stringProp name='SizeAssertion.size'>1234567</stringProp>";
        let inner = if class == "SizeAssertion" { size } else { "" };
        format!("<{class} testname='E' {more}>{inner}</{class}><hashTree/>{}", request("/", ""))
    };
    let script = "<JSR223PostProcessor testname='J'><stringProp name='scriptLanguage'>javascript</stringProp>\
        <stringProp name='script'>1</stringProp></JSR223PostProcessor><hashTree/>";
    for (inner, said) in [
        (format!("{manager}{}", request("/", "")), "with the policy rfc2965 JMeter keeps no cookies"),
        (request("/", &encoding("${__UUID}")), "sent as UTF-8, not as GBK"),
        (request("/", &encoding("a").replace("GBK", "klingon")), "none that is known"),
        (format!("{share}<hashTree>{}</hashTree>{}", request("/", ""), request("/z", "")), "taken as 100 %"),
        (format!("{}<hashTree>{}</hashTree>", times, request("/", "")), "taken as 1,"),
        (format!("{}{}", request("/", ""), request("/", proxied)), "its proxy is not used"),
        (format!("{code}{}", request("/", "")), "whole code or message"),
        (
            format!("<InterleaveControl testname='L'/><hashTree>{simple}{pair}</hashTree>"),
            "takes it as a whole",
        ),
        (
            format!(
                "{}<hashTree>{once}<hashTree>{pair}</hashTree></hashTree>",
                once.replace("false", "true")
            ),
            "JMeter runs it once per user",
        ),
        (listed("ResultSaver", ""), "answers are not saved to files"),
        (listed("DebugPostProcessor", ""), "it adds no part"),
        (listed("JDBCDataSource", ""), "no connections to a database"),
        (
            listed("ConfigTestElement", "guiclass='FtpConfigGui'"),
            "no sampler here takes its defaults (FtpConfigGui)",
        ),
        (listed("SizeAssertion", ""), "JMeter counts the status line"),
        (format!("{script}{}", request("/", "")), "no JavaScript for it with Java 15"),
        (
            format!("<TransactionController testname='E'/><hashTree/>{}", request("/", "")),
            "records a sample of it all the same",
        ),
    ] {
        let conversion = of_users(&format!("<ThreadGroup testname='G'/><hashTree>{inner}</hashTree>"));
        let told: Vec<String> = conversion.findings.iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].contains(said), "{said}: {told:?}");
        assert!(conversion.runs_wholly());
    }
}

#[test]
fn a_delay_that_changes_is_computed_each_time() {
    let timer = |class: &str| {
        format!(
            "<{class} testname='T'><stringProp name='ConstantTimer.delay'>${{__groovy(1+1,)}}</stringProp>\
             <stringProp name='RandomTimer.range'>5</stringProp></{class}><hashTree/>"
        )
    };
    for (class, wait) in [
        ("UniformRandomTimer", "(value_1) + random() * (5)"),
        ("PoissonRandomTimer", "value_"),
        ("GaussianRandomTimer", "abs((value_1) + normal() * (5))"),
    ] {
        let inner =
            format!("<ThreadGroup testname='G'/><hashTree>{}{}</hashTree>", timer(class), request("/", ""));
        let conversion = of_users(&inner);
        assert!(conversion.runs_wholly() && conversion.findings.is_empty(), "{:?}", conversion.findings);
        let text = conversion.plan.to_text();
        assert!(text.contains(wait), "{text}");
    }
}

#[test]
fn with_all_matches_the_name_holds_the_default() {
    let regex = "<RegexExtractor testname='R'><stringProp name='RegexExtractor.refname'>V</stringProp>\
        <stringProp name='RegexExtractor.regex'>(o)k</stringProp><stringProp name='RegexExtractor.template'>$1$</stringProp>\
        <stringProp name='RegexExtractor.default'>NF</stringProp>\
        <stringProp name='RegexExtractor.match_number'>-1</stringProp></RegexExtractor><hashTree/>";
    let inner = format!("<ThreadGroup testname='G'/><hashTree>{regex}{}</hashTree>", request("/", ""));
    let conversion = of_users(&inner);
    assert_eq!(conversion.plan.to_text().matches("otherwise = \"NF\"").count(), 2);
    assert_eq!(conversion.plan.check(), Vec::<String>::new());
}

#[test]
fn backend_listeners_of_known_systems_become_exports() {
    let listener = |class: &str, parameters: &[(&str, &str)]| {
        let row = |(name, value): &(&str, &str)| {
            format!(
                "<elementProp name='{name}' elementType='Argument'><stringProp name='Argument.name'>{name}</stringProp>\
                 <stringProp name='Argument.value'>{value}</stringProp></elementProp>"
            )
        };
        let rows: String = parameters.iter().map(row).collect();
        let listener = format!(
            "<BackendListener testname='B'><elementProp name='arguments' elementType='Arguments'>\
             <collectionProp name='Arguments.arguments'>{rows}</collectionProp></elementProp>\
             <stringProp name='classname'>org.apache.jmeter.visualizers.backend.{class}</stringProp></BackendListener><hashTree/>"
        );
        // Two samplers stand in its scope, and one export comes of it.
        of_users(&format!(
            "<ThreadGroup testname='G'/><hashTree>{}{listener}</hashTree>",
            request("/", "").repeat(2)
        ))
    };
    let influx = listener(
        "influxdb.InfluxdbBackendListenerClient",
        &[
            ("influxdbUrl", "http://i.example:8086/write?db=jmeter"),
            ("application", "shop"),
            ("measurement", "m"),
        ],
    );
    let wanted = jmeter::Backend {
        system: jmeter::System::Influx,
        to: "http://i.example:8086/write?db=jmeter".to_owned(),
        name: "shop".to_owned(),
        token: None,
        only: None,
    };
    assert_eq!(influx.backends, [wanted]);
    let told: Vec<String> = influx.findings.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("measurement 'm' is not obeyed"), "{told:?}");
    let graphite = listener(
        "graphite.GraphiteBackendListenerClient",
        &[("graphiteHost", "g.example"), ("graphitePort", "2003"), ("summaryOnly", "false")],
    );
    assert_eq!(graphite.backends[0].to, "g.example:2003");
    assert_eq!(graphite.backends[0].name, "jmeter.");
    assert!(graphite.findings.is_empty(), "{:?}", graphite.findings);
    // Beside one of two samplers.
    let address = "<elementProp name='graphiteHost' elementType='Argument'><stringProp name='Argument.name'>graphiteHost</stringProp>\
        <stringProp name='Argument.value'>g.example</stringProp></elementProp>\
        <elementProp name='summaryOnly' elementType='Argument'><stringProp name='Argument.name'>summaryOnly</stringProp>\
        <stringProp name='Argument.value'>false</stringProp></elementProp>";
    let below = format!(
        "<TransactionController testname='T'/><hashTree>{}<BackendListener testname='B'><elementProp name='arguments' elementType='Arguments'>\
         <collectionProp name='Arguments.arguments'>{address}</collectionProp></elementProp>\
         <stringProp name='classname'>a.graphite.GraphiteBackendListenerClient</stringProp></BackendListener><hashTree/></hashTree>",
        request("/", "")
    );
    let partial =
        of_users(&format!("<ThreadGroup testname='G'/><hashTree>{below}{}</hashTree>", request("/", "")));
    let told: Vec<String> = partial.findings.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].contains("it stands beside 1 of 2 samplers: it is sent the figures of their labels"),
        "{told:?}"
    );
    assert!(told[1].contains("are called 'S', too"), "{told:?}");
    // The transaction that it stands in, and its sampler.
    assert_eq!(partial.backends[0].only.as_deref(), Some(&["S".to_owned(), "T".to_owned()][..]));
    let other = listener("rabbit.RabbitClient", &[("host", "x")]);
    assert!(other.backends.is_empty());
    assert!(
        other.findings[0].to_string().contains("not sent to another system (org"),
        "{:?}",
        other.findings
    );
}

#[test]
fn cookies_of_a_manager_are_part_of_the_plan() {
    let manager = |policy: &str| {
        format!(
            "<CookieManager testname='C'><stringProp name='CookieManager.policy'>{policy}</stringProp>\
             <collectionProp name='CookieManager.cookies'><elementProp name='sid' elementType='Cookie'>\
             <stringProp name='Cookie.value'>s3</stringProp></elementProp></collectionProp></CookieManager><hashTree/>"
        )
    };
    for (policy, sent) in [("standard", true), ("ignoreCookies", false)] {
        let inner = manager(policy) + &request("/", "");
        let conversion = of_users(&format!("<ThreadGroup testname='G'/><hashTree>{inner}</hashTree>"));
        let text = conversion.plan.to_brief_text_as(plan::TextForm::Toml).unwrap();
        assert!(conversion.findings.is_empty(), "{:?}", conversion.findings);
        assert!(text.contains("sid=s3") == sent && !text.contains("WRINGER_SECRET"), "{text}");
        assert!(Plan::from_text(&text).unwrap().check().is_empty());
    }
}

#[test]
fn a_cookie_of_a_manager_may_change_from_request_to_request() {
    let manager = "<CookieManager testname='C'><collectionProp name='CookieManager.cookies'>\
         <elementProp name='k' elementType='Cookie'><stringProp name='Cookie.value'>a${row}</stringProp></elementProp>\
         </collectionProp></CookieManager><hashTree/>\
         <CounterConfig testname='N'><stringProp name='CounterConfig.name'>row</stringProp></CounterConfig><hashTree/>";
    let conversion =
        of_users(&format!("<ThreadGroup testname='G'/><hashTree>{manager}{}</hashTree>", request("/", "")));
    assert!(conversion.findings.is_empty(), "{:?}", conversion.findings);
    assert!(conversion.plan.to_text().contains("k=a{{row}}"), "{}", conversion.plan.to_text());
}

#[test]
fn rows_without_text_are_listed() {
    let rows = "<CSVDataSet testname='D'><stringProp name='filename'>FILE</stringProp>\
        <stringProp name='variableNames'>a</stringProp></CSVDataSet><hashTree/>";
    for (file, content, said) in [
        ("full", "1\n2\n", None),
        ("gaps", "1\n\n2\n\n", Some("2 empty lines, which are no rows")),
        ("empty", "", Some("its file has no rows")),
    ] {
        let included = move |name: &str| (name == file).then(|| content.as_bytes().to_vec());
        let settings = Settings { seed: 7, included: &included, ..Settings::default() };
        let inner = rows.replace("FILE", file) + &request("/", "");
        let text = plan_of(&format!("<ThreadGroup testname='G'/><hashTree>{inner}</hashTree>"));
        let conversion = TestPlan::read(text.as_bytes(), &settings).unwrap().convert(&settings);
        let told: Vec<String> = conversion.findings.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), usize::from(said.is_some()), "{told:?}");
        assert!(said.is_none_or(|said| told[0].contains(said)), "{told:?}");
    }
}

#[test]
fn the_folder_of_a_plan_is_a_constant() {
    let script = "${__BeanShell(import org.apache.jmeter.services.FileServer; FileServer.getFileServer().getBaseDir();)}";
    let data = format!(
        "<CSVDataSet testname='D'><stringProp name='filename'>{script}${{__BeanShell(File.separator)}}a.csv</stringProp>\
         <stringProp name='variableNames'>a</stringProp></CSVDataSet><hashTree/>"
    );
    let settings = Settings { located: &|path| format!("/plans/{path}"), ..Settings::default() };
    let inner = format!("<ThreadGroup testname='G'/><hashTree>{data}{}</hashTree>", request("/", ""));
    let xml = format!(
        "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan testname=\"P\"/><hashTree>{inner}</hashTree></hashTree></jmeterTestPlan>"
    );
    let conversion = TestPlan::read(xml.as_bytes(), &settings).unwrap().convert(&settings);
    assert!(conversion.runs_wholly(), "{:?}", conversion.findings);
    assert!(conversion.plan.to_text().contains("/plans//plans/a.csv"));
}

#[test]
fn scripts_of_bsf_are_those_of_their_languages() {
    let script = |language: &str| {
        format!(
            "<BSFPostProcessor testname='B'><stringProp name='scriptLanguage'>{language}</stringProp>\
             <stringProp name='script'>vars.put(\"a\", \"1\");</stringProp></BSFPostProcessor><hashTree/>"
        )
    };
    for (language, runs) in [("beanshell", true), ("javascript", true), ("jython", false)] {
        let inner = script(language) + &request("/", "");
        let conversion = of_users(&format!("<ThreadGroup testname='G'/><hashTree>{inner}</hashTree>"));
        assert_eq!(conversion.runs_wholly(), runs, "{language}: {:?}", conversion.findings);
    }
}

#[test]
fn a_graphql_request_sends_its_parameters() {
    let body = "{\"operationName\":\"Q\",\"variables\":{\"x\":1},\"query\":\"query Q { a }\"}";
    let more = format!(
        "<stringProp name='GraphQLHTTPSampler.query'>query Q {{ a }}</stringProp>\
         <stringProp name='GraphQLHTTPSampler.operationName'>Q</stringProp>\
         <stringProp name='HTTPSampler.method'>POST</stringProp><boolProp name='HTTPSampler.postBodyRaw'>true</boolProp>\
         <elementProp name='HTTPsampler.Arguments' elementType='Arguments'><collectionProp name='Arguments.arguments'>\
         <elementProp name='' elementType='HTTPArgument'><stringProp name='Argument.value'>{body}</stringProp></elementProp>\
         </collectionProp></elementProp>"
    );
    let inner = request("/g", &more);
    let conversion = of_users(&format!("<ThreadGroup testname='G'/><hashTree>{inner}</hashTree>"));
    assert!(conversion.findings.is_empty(), "{:?}", conversion.findings);
    assert!(conversion.plan.to_text().contains(body), "{}", conversion.plan.to_text());
}
