//! Variables and includes.

use plan::{Plan, Source};
use std::collections::BTreeMap;

/// Reads `main.toml` among these files.
fn read(files: &[(&str, &str)], set: &[(&str, &str)]) -> Result<Plan, String> {
    let files: BTreeMap<_, _> = files.iter().copied().collect();
    let find = |path: &str, _: &str| match files.get(path) {
        Some(text) => Ok(Source::new(path.to_owned(), (*text).to_owned())),
        None => Err("there is no such file".to_owned()),
    };
    let set: Vec<_> = set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let main = Source::new("main.toml".to_owned(), files["main.toml"].to_owned());
    Plan::read(main, &set, &find).map_err(|mistakes| mistakes[0].to_string())
}

const VARIABLES: &str = "version = 1\nseed = '${seed}'\n[variables]\nseed = 7\nhost = 'h:${port}'\nport = 80\nquiet = false\n\
                         [origin]\nlisten = '${host}'\nfields = [{ name = 'X', value = 'a $${b} ${seed}' }]\n";

#[test]
fn variables_are_filled_in_with_their_types() {
    let plan = read(&[("main.toml", VARIABLES)], &[]).unwrap();
    let origin = plan.origin.unwrap();
    assert_eq!((plan.seed, origin.listen.as_str()), (7, "h:80"));
    assert_eq!(origin.fields[0].value.template().as_deref(), Some("a ${b} 7"));
    let plan = read(&[("main.toml", VARIABLES)], &[("seed", "9"), ("host", "x${port}")]).unwrap();
    assert_eq!((plan.seed, plan.origin.unwrap().listen.as_str()), (9, "x${port}"));
}

#[test]
fn what_is_wrong_with_variables_is_told() {
    for (from, to, set, said) in [
        ("", "", ("sed", "1"), "there is no variable `sed`: did you mean `seed`?"),
        ("", "", ("seed", "x"), "line 4, column 8: --set seed=x: seed is a whole number here"),
        (
            "${host}",
            "${hots}",
            ("seed", "1"),
            "line 9, column 10: there is no variable `hots`: did you mean `host`?",
        ),
        ("port = 80", "port = '${host}'", ("seed", "1"), "stands in itself"),
        ("${host}", "${host", ("seed", "1"), "not closed"),
        ("quiet = false", "quiet = []", ("seed", "1"), "`quiet` is a list"),
    ] {
        let told = read(&[("main.toml", &VARIABLES.replace(from, to))], &[set]).unwrap_err();
        assert!(told.contains(said), "{said}: {told}");
    }
    let plain = "version = 1\nseed = 7\norigin = { listen = '${host}' }\n";
    assert_eq!(read(&[("main.toml", plain)], &[]).unwrap().origin.unwrap().listen, "${host}");
    assert!(read(&[("main.toml", plain)], &[("a", "1")]).unwrap_err().contains("this plan has no variables"));
}

#[test]
fn variables_cannot_fill_the_memory() {
    let mut text = "version = 1\nseed = 1\n[variables]\na0 = 'xxxxxxxxxxxxxxxx'\n".to_owned();
    for n in 1..40 {
        text += &format!("a{n} = '${{a{0}}}${{a{0}}} '\n", n - 1);
    }
    text += "[origin]\nlisten = '${a39} '\n";
    assert!(read(&[("main.toml", &text)], &[]).unwrap_err().contains("variables put more than"));
}

#[test]
fn an_include_lies_beneath_what_the_plan_says() {
    let main = "version = 1\nseed = 7\ninclude = 'base.yaml'\n[load]\ntarget = 'own:1'\nlimits = { request = '9s' }\n\
                [[load.phases]]\nname = 'x'\nscenario = { steps = [ { sequence = { include = 'steps.json' } } ] }\n";
    let base = "seed: 1\nvariables: {n: 3}\nload:\n  target: base:1\n  limits: {request: 1s, connect: 2s}\n";
    let steps = "{\"name\": \"login\", \"steps\": [{\"loop\": {\"times\": \"${n}\", \"steps\": []}}]}";
    let files = [("main.toml", main), ("base.yaml", base), ("steps.json", steps)];
    let plan = read(&files, &[]).unwrap();
    let load = plan.load.unwrap();
    assert_eq!((plan.seed, load.target.as_deref()), (7, Some("own:1")));
    assert_eq!((load.limits.request.as_secs(), load.limits.connect.as_secs()), (9, 2));
    let written = format!("{:?}", load.phases[0].scenario);
    assert!(written.contains("login") && written.contains("Number(3)"), "{written}");
    assert!(format!("{:?}", read(&files, &[("n", "5")]).unwrap()).contains("Number(5)"));
}

#[test]
fn what_is_wrong_in_an_included_file_is_told_with_its_name() {
    let main = "version = 1\nseed = 7\ninclude = ['b.toml']\n";
    for (b, said) in [
        ("io = 'urin'\n", "b.toml: line 1, column 6: unknown name `urin`: did you mean `uring`?"),
        ("include = 'main.toml'\n", "b.toml: line 1, column 11: the include main.toml: it includes itself"),
        ("include = 'c.toml'\n", "b.toml: line 1, column 11: the include c.toml: there is no such file"),
        ("include = 5\n", "include names a file"),
        ("a = = 1", "b.toml: line 1, column 5"),
    ] {
        let told = read(&[("main.toml", main), ("b.toml", b)], &[]).unwrap_err();
        assert!(told.contains(said), "{said}: {told}");
    }
    let list = read(&[("main.toml", "include = 'b.json'\n"), ("b.json", "[]")], &[]).unwrap_err();
    assert!(list.contains("must be a table"), "{list}");
}

#[test]
fn includes_do_not_multiply_without_end() {
    let twice =
        |next: usize| format!("a = {{ include = '{next}.toml' }}\nb = {{ include = '{next}.toml' }}\n");
    let names: Vec<_> = (0..17).map(|n| (format!("{n}.toml"), twice(n + 1))).collect();
    let mut files: Vec<_> = names.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.push(("main.toml", &names[0].1));
    files.push(("17.toml", "x = 1\n"));
    assert!(read(&files, &[]).unwrap_err().contains("too many files"));
}
