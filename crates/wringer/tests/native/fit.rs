//! `wringer fit` from outside: laws of a recording as text, JSON, options and a plan that can be run.

use crate::plans::with_files;
use crate::support::{fits_schema, shell};
use plan::Plan;
use serde_json::{Value, json};
use tempfile::TempDir;

const FORMAT: &str = "json:time=t,method=m,host=h,path=p,status=s,bytes=b,cache_control=cc";

/// A folder with a recording of 3,000 requests in a minute, `day.rec`: a hundred objects of one size, asked for in turn. `control`: what
/// the answers said of their lifetime.
fn recorded(control: &str) -> TempDir {
    let line = |number: u64, method: &str, path: u64, status: u16| {
        let t = 1_795_746_709_000 + number * 20;
        format!(
            "{{\"t\":{t},\"m\":\"{method}\",\"h\":\"h\",\"p\":\"/o/{path}\",\"s\":{status},\"b\":2000,\"cc\":\"{control}\"}}\n"
        )
    };
    let lines: String = (0..3_000).map(|number| line(number, "GET", number * 7 % 100, 200)).collect();
    let lines = lines + &line(3_000, "POST", 1, 200) + &line(3_001, "GET", 5, 404);
    let files = with_files(&[("app.log", &lines)]);
    let at = files.path().display();
    shell(&format!("cd {at}; $WRINGER capture app.log --log-format '{FORMAT}' -o day.rec -q")).ended_with(0);
    files
}

#[test]
fn laws_are_told_with_their_errors_and_make_a_plan() {
    let files = recorded("max-age=600");
    let at = files.path().display();
    let ran = shell(&format!(
        "cd {at}; $WRINGER fit day.rec -o plan.toml --target localhost:1 --origin 127.0.0.1:2"
    ))
    .ended_with(0);
    for said in [
        "learnt of 3,000 of 3,002 requests",
        "sizes       2.00 kB each: good",
        "50.0/s on average in 1 stage, evenly spaced: good",
        "lifetimes   10 min 00 s each; known of 100 % of the objects",
        "1 GET answered with a redirection, an error or nothing; 1 request of other methods",
        "'wringer run plan.toml' is clients for the proxy at localhost:1, and the origin behind it at 127.0.0.1:2",
    ] {
        assert!(ran.stdout.contains(said), "{said:?} is missing in\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("assumed"), "{}", ran.stdout);
    let text = std::fs::read_to_string(files.path().join("plan.toml")).unwrap();
    let plan = Plan::from_text(&text).unwrap();
    assert_eq!(plan.check(), Vec::<String>::new());
    assert_eq!(plan.site.size, plan::site::Size::Fixed(2_000));
    let options =
        ran.stdout.lines().find_map(|line| line.strip_prefix("nearly the same as options: wringer "));
    let options = options.and_then(|options| options.split(" (").next()).expect("options are told");
    shell(&format!("$WRINGER {options} --show-plan")).ended_with(0);
    for form in ["json", "yaml"] {
        shell(&format!("cd {at}; $WRINGER fit day.rec -o p.{form} && $WRINGER plan check p.{form}"))
            .ended_with(0);
    }
}

#[test]
fn what_is_assumed_stands_in_the_headline() {
    let files = recorded("");
    let at = files.path().display();
    let ran = shell(&format!("cd {at}; $WRINGER fit day.rec")).ended_with(0);
    let headline = ran.stdout.lines().next().unwrap();
    assert!(headline.contains("; lifetimes assumed; learnt of "), "{headline}");
    assert!(ran.stdout.contains("1 day is an assumption"), "{}", ran.stdout);
}

#[test]
fn errors_can_fail_a_build_and_are_told_to_programs() {
    let files = recorded("");
    let at = files.path().display();
    let ran =
        shell(&format!("cd {at}; $WRINGER fit day.rec --json - --fail-if 'rate>50%,size>0%'")).ended_with(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON alone");
    fits_schema("fit", &told);
    assert_eq!(
        (&told["schema"], &told["size"]["error"], &told["requests"]),
        (&json!("wringer.fit"), &json!(0.0), &json!(3_000))
    );
    assert_eq!(told["left_aside"], json!({ "methods": 1, "statuses": 1, "beyond": 0 }));
    // Objects that come in turn are no Zipf law: a cache that is too small for all of them has no hit.
    let ran = shell(&format!("cd {at}; $WRINGER fit day.rec --fail-if 'hit-curve>5%'")).ended_with(3);
    assert!(ran.stdout.contains("popularity wrong"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("the error of hit-curve is ") && ran.stderr.contains("more than 5.0 %"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_has_no_laws_is_refused() {
    let files = recorded("");
    let at = files.path().display();
    let run = |words: &str| shell(&format!("cd {at}; $WRINGER fit {words}"));
    run("none.rec").refused_with(2, &["none.rec cannot be read"]);
    run("app.log").refused_with(2, &["it is no recording", "wringer capture app.log"]);
    run("day.rec --fail-if 'zipf>1%'").refused_with(2, &["zipf>1%", "hit-curve>2%"]);
    run("day.rec --target https://h:1").refused_with(2, &["wants TLS"]);
    run("day.rec --json - -o -").refused_with(2, &["give one of them a file"]);
    let few = format!(
        "cd {at}; head -50 app.log > few.log; $WRINGER capture few.log --log-format '{FORMAT}' -o few.rec -q >/dev/null"
    );
    shell(&format!("{few}; $WRINGER fit few.rec"))
        .refused_with(1, &["few.rec: it has 50 GETs", "laws want 100"]);
    shell(&format!("cd {at}; head -c -40 day.rec > cut.rec; $WRINGER fit cut.rec"))
        .refused_with(1, &["--salvage"]);
    let ran = shell(&format!("cd {at}; head -c -40 day.rec > cut.rec; $WRINGER fit cut.rec --salvage"))
        .ended_with(0);
    assert!(ran.stdout.contains("note: the recording is damaged"), "{}", ran.stdout);
}
