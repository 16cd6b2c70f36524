//! Journeys: plans of JMeter's as `wringer run` runs them, beside `wringer http` and beside JMeter itself, where `JMETER_HOME` says
//! where that is.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit};

use super::engine::Wanted;
use super::place::Place;
use super::run::{self, Server};
use super::sample::{Figures, Sample};
use super::server;
use crate::{Result, shell};

/// Users of each plan.
const USERS: u32 = 64;
/// Users who mostly wait, as far as there are descriptors for them, and fewer, whose memory is taken off.
const WAITING: u32 = 20_000;
const FEW: u32 = 2_000;
/// Descriptors that are needed besides.
const BESIDE: u32 = 500;
/// Bytes that a user of a journey may take while it waits.
const BOUND_WAITING: f64 = 8192.0;
/// Factor by which JMeter's second run is longer: it runs twice, so that its own needs to start, and to get warm, are left out.
const LONGER: u32 = 3;

/// A plan, and the most that it may cost of what JMeter takes for it.
struct Case {
    name: &'static str,
    steps: fn() -> String,
    bound: f64,
}

const CASES: [Case; 3] = [
    Case { name: "one request", steps: one_request, bound: 1.0 / 20.0 },
    Case { name: "five requests", steps: five_requests, bound: 1.0 / 10.0 },
    Case { name: "a Groovy script", steps: with_script, bound: 1.0 / 5.0 },
];

/// The most that the plan of one request may cost of the same as `wringer http`.
const BOUND_PLAIN: f64 = 1.1;

impl Case {
    fn row(&self, tool: &str) -> String {
        format!("journey, {}: {tool}", self.name)
    }
}

/// The ratios of all cases.
pub fn ratios() -> Vec<Wanted> {
    let ratio = |upper: String, lower: String, bound| Wanted { upper, lower, bound: Some(bound) };
    let plain = &CASES[0];
    let beside = CASES.iter().map(|case| ratio(case.row("wringer run"), case.row("JMeter"), case.bound));
    std::iter::once(ratio(plain.row("wringer run"), plain.row("wringer http"), BOUND_PLAIN))
        .chain(beside)
        .collect()
}

/// The server, which stays up over the rounds.
pub struct Journeys<'a> {
    place: &'a Place,
    at: SocketAddr,
    jmeter: Option<JMeter>,
    _server: Server,
}

/// JMeter, and what runs it.
struct JMeter {
    java: PathBuf,
    jar: PathBuf,
}

impl JMeter {
    fn find() -> Option<JMeter> {
        let jar = PathBuf::from(std::env::var_os("JMETER_HOME")?).join("bin/ApacheJMeter.jar");
        jar.exists().then_some(())?;
        Some(JMeter { java: shell::find("java")?, jar })
    }
}

impl<'a> Journeys<'a> {
    pub fn start(place: &'a Place) -> Result<Self> {
        let jmeter = JMeter::find();
        if jmeter.is_none() {
            println!("skipped: JMeter, whose folder JMETER_HOME names, or java is not there");
        }
        let at = run::free_address()?;
        let answer = place.file("journey-answer");
        let rows: String = (0..1000).map(|row| format!("user{row},pass{row}\n")).collect();
        let written = fs::write(&answer, ANSWER).and_then(|()| fs::write(place.file("users.csv"), rows));
        written.map_err(|error| format!("{}: {error}", answer.display()))?;
        let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
        let words = [server::COMMAND.to_owned(), at.to_string(), answer.display().to_string()];
        let mut server =
            Server::start(&program, place.cores.proxy, &words, place.file("journey-server.log"))?;
        server.await_port(at)?;
        Ok(Self { place, at, jmeter, _server: server })
    }

    /// The cases, each by itself.
    pub fn groups(&self) -> Vec<super::Group<'_>> {
        let mut groups: Vec<super::Group<'_>> =
            CASES.iter().map(|case| Box::new(|| self.case(case)) as super::Group<'_>).collect();
        groups.push(Box::new(|| self.waiting()));
        groups
    }

    fn case(&self, case: &Case) -> Vec<Sample> {
        let time = self.place.time;
        let sample = |tool: &str, figures| Sample::new(&case.row(tool), None, figures);
        let ours = self.plan(case, USERS, time).and_then(|plan| self.ours(&plan));
        let mut samples = vec![sample("wringer run", ours)];
        if case.name == CASES[0].name {
            let mut command = self.place.generator();
            let url = format!("http://{}/", self.at);
            let seconds = time.as_secs();
            let line =
                format!("http {url} --users {USERS} --threads 1 --quiet --no-keep --duration {seconds}s");
            command.args(line.split(' '));
            samples.push(sample("wringer http", self.place.ours(command, &self.place.file("http.json"))));
        }
        if let Some(jmeter) = &self.jmeter {
            samples.push(sample("JMeter", self.theirs(jmeter, case)));
        }
        samples
    }

    /// The file of a plan.
    fn plan(&self, case: &Case, users: u32, time: Duration) -> Result<PathBuf> {
        let file = self.place.file("journey.jmx");
        let text = plan(self.at, users, time, &(case.steps)());
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(file)
    }

    fn ours(&self, plan: &Path) -> Result<Figures> {
        let mut command = self.place.generator();
        command.arg("run").arg(plan).args(["--quiet", "--no-keep"]).current_dir(self.place.folder());
        self.place.ours(command, &self.place.file("journey.json"))
    }

    /// Measures the cost of the additional requests in a longer run.
    fn theirs(&self, jmeter: &JMeter, case: &Case) -> Result<Figures> {
        let run = |time: Duration| {
            let plan = self.plan(case, USERS, time)?;
            let mut command: Command = run::pinned(&jmeter.java, self.place.cores.generator);
            command.arg("-jar").arg(&jmeter.jar).args(["-n", "-j", "jmeter.log", "-t"]).arg(plan);
            command.current_dir(self.place.folder());
            let ended = self.place.ended(command)?;
            let requests = summed(&ended.said).ok_or_else(|| format!("no summary in {}", ended.said))?;
            Ok::<_, String>((ended.cpu, requests))
        };
        let (short, few) = run(self.place.time)?;
        let (long, many) = run(self.place.time * LONGER)?;
        let mut cpu = long;
        cpu.total = long.total.saturating_sub(short.total);
        cpu.user = long.user.zip(short.user).map(|(long, short)| long.saturating_sub(short));
        let requests = many.checked_sub(few).ok_or("the longer run had fewer samples")?;
        Figures { cpu, requests, ..Figures::default() }.believable()
    }

    /// Memory of users who wait between five requests.
    fn waiting(&self) -> Vec<Sample> {
        let held = |users: u32| {
            let steps = five_requests().replace(">10<", ">2000<");
            let file = self.place.file("waiting.jmx");
            fs::write(&file, plan(self.at, users, Duration::from_secs(8), &steps))
                .map_err(|error| error.to_string())?;
            self.ours(&file)?.memory_bytes.ok_or_else(|| "the report does not tell the memory".to_owned())
        };
        let many = descriptors().map_or(WAITING, |most| most.saturating_sub(BESIDE).clamp(FEW + 1, WAITING));
        let each = held(FEW).and_then(|few| Ok((held(many)? - few) / f64::from(many - FEW)));
        vec![Sample::of_value("user of a journey that waits, bytes", Some(BOUND_WAITING), each)]
    }
}

/// Descriptors that a program may have open.
fn descriptors() -> Option<u32> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    u32::try_from(most).ok()
}

/// The number of all samples, by the summariser's last line.
fn summed(said: &str) -> Option<u64> {
    let line = said.lines().rev().find(|line| line.starts_with("summary ="))?;
    line.split_whitespace().nth(2)?.parse().ok()
}

/// Response of the server, whatever is requested.
const ANSWER: &str = concat!(
    "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Type: application/json\r\nSet-Cookie: sid=7f3a; Path=/\r\n",
    "Content-Length: 117\r\n\r\n",
    "{\"token\":\"t-12345\",\"items\":[{\"id\":\"item-7\",\"price\":12.5},{\"id\":\"item-8\",\"price\":3.25}],",
    "\"says\":\"welcome to the shop\"}\n",
);

/// A test plan: so many users for a time, and what each does.
fn plan(at: SocketAddr, users: u32, time: Duration, steps: &str) -> String {
    let seconds = time.as_secs();
    let host = at.ip();
    let port = at.port();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Plan"/><hashTree>
<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="Defaults">
  <elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"/></elementProp>
  <stringProp name="HTTPSampler.domain">{host}</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
</ConfigTestElement><hashTree/>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users">
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp>
    <intProp name="LoopController.loops">-1</intProp></elementProp>
  <stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">{seconds}</stringProp>
  <stringProp name="ThreadGroup.delay">0</stringProp>
</ThreadGroup><hashTree>{steps}</hashTree></hashTree></hashTree></jmeterTestPlan>
"#
    )
}

fn request(name: &str, method: &str, path: &str, arguments: &[(&str, &str)], below: &str) -> String {
    let mut list = String::new();
    for (name, value) in arguments {
        let _ = write!(
            list,
            r#"<elementProp name="{name}" elementType="HTTPArgument"><boolProp name="HTTPArgument.always_encode">true</boolProp>
<stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp>"#
        );
    }
    format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}">
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{list}</collectionProp></elementProp>
<stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">{method}</stringProp>
<boolProp name="HTTPSampler.follow_redirects">true</boolProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp>
</HTTPSamplerProxy><hashTree>{below}</hashTree>"#
    )
}

fn one_request() -> String {
    request("Home", "GET", "/", &[], "")
}

/// A feed, cookies, a regular expression, a JSON path, an assertion, and 10 ms before each request.
fn five_requests() -> String {
    const AROUND: &str = r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="Users"><stringProp name="filename">users.csv</stringProp>
<stringProp name="variableNames">name,password</stringProp><stringProp name="delimiter">,</stringProp><boolProp name="recycle">true</boolProp>
<boolProp name="stopThread">false</boolProp><boolProp name="quotedData">false</boolProp><boolProp name="ignoreFirstLine">false</boolProp>
<stringProp name="shareMode">shareMode.all</stringProp></CSVDataSet><hashTree/>
<CookieManager guiclass="CookiePanel" testclass="CookieManager" testname="Cookies"><collectionProp name="CookieManager.cookies"/>
<boolProp name="CookieManager.clearEachIteration">true</boolProp></CookieManager><hashTree/>
<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="Wait"><stringProp name="ConstantTimer.delay">10</stringProp></ConstantTimer><hashTree/>
<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="Welcome"><collectionProp name="Asserion.test_strings">
<stringProp name="1">welcome to the shop</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_data</stringProp>
<boolProp name="Assertion.assume_success">false</boolProp><intProp name="Assertion.test_type">16</intProp></ResponseAssertion><hashTree/>"#;
    const REGEX: &str = r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="Token"><stringProp name="RegexExtractor.useHeaders">false</stringProp>
<stringProp name="RegexExtractor.refname">token</stringProp><stringProp name="RegexExtractor.regex">"token":"(.+?)"</stringProp>
<stringProp name="RegexExtractor.template">$1$</stringProp><stringProp name="RegexExtractor.default">none</stringProp>
<stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>"#;
    const JSON: &str = r#"<JSONPostProcessor guiclass="JSONPostProcessorGui" testclass="JSONPostProcessor" testname="Item">
<stringProp name="JSONPostProcessor.referenceNames">id</stringProp><stringProp name="JSONPostProcessor.jsonPathExprs">$.items[0].id</stringProp>
<stringProp name="JSONPostProcessor.match_numbers">1</stringProp><stringProp name="JSONPostProcessor.defaultValues">none</stringProp></JSONPostProcessor><hashTree/>"#;
    [
        AROUND.to_owned(),
        request("Home", "GET", "/", &[], ""),
        request("Login", "POST", "/login", &[("name", "${name}"), ("password", "${password}")], REGEX),
        request("Items", "GET", "/items", &[("token", "${token}")], JSON),
        request("Item", "GET", "/items/${id}", &[], ""),
        request("Order", "POST", "/orders", &[("id", "${id}"), ("token", "${token}")], ""),
    ]
    .concat()
}

fn with_script() -> String {
    const SCRIPT: &str = r#"<JSR223PostProcessor guiclass="TestBeanGUI" testclass="JSR223PostProcessor" testname="Script">
<stringProp name="scriptLanguage">groovy</stringProp><stringProp name="cacheKey">true</stringProp><stringProp name="script">def text = prev.getResponseDataAsString()
def start = text.indexOf("token") + 8
def token = text.substring(start, text.indexOf('"', start))
def count = (vars.get("count") ?: "0").toInteger() + 1
def parts = token.split("-")
def sum = 0
for (int i = 0; i &lt; 10; i++) { sum += i * count }
if (parts.length == 2) { vars.put("number", parts[1]) }
vars.put("count", count.toString())
vars.put("line", "${parts[0]}:${sum}:${token.toUpperCase()}".toString())</stringProp></JSR223PostProcessor><hashTree/>"#;
    request("Home", "GET", "/", &[], SCRIPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summarisers_last_line_counts() {
        let said = "summary +      1 in 00:00:01\nsummary =   1234 in 00:00:04 =  300.1/s\nTidying up ...\n";
        assert_eq!(summed(said), Some(1234));
        assert_eq!(summed("summary + 3 in"), None);
    }

    #[test]
    fn the_answer_is_as_long_as_it_says() {
        let (head, body) = ANSWER.split_once("\r\n\r\n").expect("a head");
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{}", body.len());
    }
}
