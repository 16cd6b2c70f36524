//! The cost of scripts, by hand: `cargo test --release -p jmscript --test speed -- --ignored --nocapture`.

use jmscript::host::{Field, HostSample};
use jmscript::{Dialect, MachineLimits, MemoryHost, Script, Value};

const POST_PROCESSOR: &str = r#"
import groovy.json.JsonSlurper
def body = prev.getResponseDataAsString()
def found = (body =~ /"token":"([^"]+)"/)
if (found.find()) {
    vars.put("token", found.group(1))
} else {
    log.warn("no token")
}
int count = (vars.get("count") ?: "0").toInteger() + 1
vars.put("count", count.toString())
vars.put("label", "user-${ctx.getThreadNum()}-${count}")
"#;

const TEXTS: &str = r#"
def n = 0
for (int i = 0; i < 100; i++) {
    def s = "id-" + i
    if (s.startsWith("id") && s.contains("-") && !s.isEmpty()) {
        n += s.substring(3).toInteger() + s.length() + s.trim().toUpperCase().indexOf("-")
    }
}
n
"#;

const LISTS: &str = r#"
def list = (1..50).collect { it * 2 }
def map = [:]
list.findAll { it > 10 }.eachWithIndex { item, at -> map["k" + at] = item }
list.each { map.put("a", it) }
map.size() + list.join(",").length() + list.sum() + list.get(3) + list.indexOf(8)
"#;

const OBJECTS: &str = r#"
import java.security.MessageDigest
def text = new java.text.SimpleDateFormat("yyyy-MM-dd HH:mm:ss").format(new Date())
def builder = new StringBuilder()
for (int i = 0; i < 20; i++) { builder.append(i).append(',') }
def digest = MessageDigest.getInstance("SHA-256").digest(builder.toString().getBytes("UTF-8")).encodeHex().toString()
UUID.randomUUID().toString() + text + digest + new Random(5).nextInt(10)
"#;

fn cost(name: &str, text: &str, dialect: Dialect) {
    const RUNS: u32 = 20_000;
    let script = Script::compile(text, dialect).expect(name);
    let mut host = MemoryHost::default();
    host.set_field(
        Field::Body(HostSample::Previous),
        Value::from(r#"{"id":7,"token":"abcdef","items":[1,2,3]}"#),
    );
    host.set_field(Field::UserNumber, Value::Int(3));
    host.variables.insert("a".into(), Value::from("x"));
    let began = cpu_ns();
    for _ in 0..RUNS {
        script.run(&mut host, MachineLimits::default()).expect(name);
    }
    println!("{name}: {:.0} ns of CPU", (cpu_ns() - began) / f64::from(RUNS));
}

/// Nanoseconds that this thread was on a CPU: what else the machine does is not counted.
fn cpu_ns() -> f64 {
    let figures = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    figures.split(' ').next().and_then(|first| first.parse().ok()).expect("a number")
}

#[test]
#[ignore = "it measures, and says nothing of right and wrong"]
fn what_scripts_cost() {
    cost("post-processor of ten lines", POST_PROCESSOR, Dialect::Groovy);
    cost("condition", "vars.get('a') == 'x'", Dialect::Groovy);
    cost("condition of JavaScript", "'x' == 'x' && 5 < 7", Dialect::JavaScript);
    cost("condition of JEXL", "'x' == 'x' and 5 lt 7", Dialect::Jexl);
    cost(
        "JSON",
        "new groovy.json.JsonSlurper().parseText(prev.responseDataAsString).items.size()",
        Dialect::Groovy,
    );
    cost("methods of texts", TEXTS, Dialect::Groovy);
    cost("closures over lists", LISTS, Dialect::Groovy);
    cost("dates, digests, identities", OBJECTS, Dialect::Groovy);
    cost("loop of 1000", "int s = 0; for (int i = 0; i < 1000; i++) { s += i }; s", Dialect::Groovy);
}
