//! The cost of scripts, by hand: `cargo test --release -p jmscript --test speed -- --ignored --nocapture`.

use jmscript::host::{Field, Sample};
use jmscript::{Dialect, Limits, MemoryHost, Script, Value};

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

fn cost(name: &str, text: &str, dialect: Dialect) {
    const RUNS: u32 = 20_000;
    let script = Script::compile(text, dialect).expect(name);
    let mut host = MemoryHost::default();
    host.set_field(
        Field::Body(Sample::Previous),
        Value::from(r#"{"id":7,"token":"abcdef","items":[1,2,3]}"#),
    );
    host.set_field(Field::UserNumber, Value::Int(3));
    host.variables.insert("a".into(), Value::from("x"));
    let began = cpu_ns();
    for _ in 0..RUNS {
        script.run(&mut host, Limits::default()).expect(name);
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
    cost("loop of 1000", "int s = 0; for (int i = 0; i < 1000; i++) { s += i }; s", Dialect::Groovy);
}
