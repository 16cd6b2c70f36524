//! Programs of JMeter's plans from outside: those of listeners, and those of values that are computed once at the start. What is
//! asked for is what JMeter 5.6.3 asked for.

use crate::jmeter::{on, once, results, sampler};
use crate::web::{Web, ok};

fn listener(class: &str, script: &str) -> String {
    format!(
        "<{class} testname=\"Watch\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
         <stringProp name=\"script\">{script}</stringProp></{class}><hashTree/>"
    )
}

const HOLDS_NO: &str = "<ResponseAssertion testname=\"Holds\"><collectionProp name=\"Asserion.test_strings\">\
    <stringProp name=\"1\">no</stringProp></collectionProp><stringProp name=\"Assertion.test_field\">Assertion.response_data</stringProp>\
    <intProp name=\"Assertion.test_type\">16</intProp></ResponseAssertion><hashTree/>";

#[test]
fn programs_of_listeners_see_each_result_with_its_assertions() {
    let web = Web::start(|_| ok("body"));
    let said = "vars.put(&quot;seen&quot;, sampleResult.getResponseCode() + prev.isSuccessful() + sampleEvent.getResult().getSampleLabel())";
    for class in ["JSR223Listener", "BeanShellListener"] {
        let before = web.seen().len();
        let steps = [
            listener(class, &(said.to_owned() + ";")),
            sampler("a", "/a", "", HOLDS_NO),
            sampler("b", "/b?${seen}", "", ""),
            sampler("c", "/c?${seen}", "", ""),
        ];
        results(&once(&steps.concat()), &web);
        let asked: Vec<String> = web.seen().split_off(before).into_iter().map(|asked| asked.target).collect();
        assert_eq!(asked, ["/a", "/b?200falsea", "/c?200trueb"], "{class}");
    }
}

#[test]
fn programs_of_listeners_run_the_innermost_first_and_are_listed_beside_transactions() {
    let web = Web::start(|_| ok("body"));
    let adds = |what: &str| {
        listener(
            "JSR223Listener",
            &format!(
                "vars.put(&quot;seen&quot;, (vars.get(&quot;seen&quot;) ?: &quot;&quot;) + &quot;{what}&quot;)"
            ),
        )
    };
    let steps = [adds("out"), sampler("a", "/a", "", &adds("in")), sampler("b", "/b?${seen}", "", "")];
    results(&once(&steps.concat()), &web);
    assert_eq!(web.seen()[1].target, "/b?inout");
    let within = format!(
        "{}<TransactionController testname=\"T\"/><hashTree>{}</hashTree>",
        adds("out"),
        sampler("a", "/a", "", "")
    );
    let checked = on(&once(&within), &["plan", "check", "{}/plan.jmx", "-Jport=1"]).ended_with(0);
    assert!(
        checked.stdout.contains("it runs for each sampler, and not for transactions"),
        "{}",
        checked.stdout
    );
}

/// A plan whose user defined variables have these values.
fn defining(values: &[(&str, &str)], path: &str) -> String {
    let argument = |(name, value): &(&str, &str)| {
        format!(
            "<elementProp name=\"{name}\" elementType=\"Argument\"><stringProp name=\"Argument.name\">{name}</stringProp>\
             <stringProp name=\"Argument.value\">{value}</stringProp></elementProp>"
        )
    };
    let arguments: String = values.iter().map(argument).collect();
    let first = "<Arguments testname=\"First\"><collectionProp name=\"Arguments.arguments\"><elementProp name=\"a\" elementType=\"Argument\">\
        <stringProp name=\"Argument.name\">a</stringProp><stringProp name=\"Argument.value\">3</stringProp></elementProp>\
        </collectionProp></Arguments><hashTree/>";
    once(&format!(
        "{first}<Arguments testname=\"Values\"><collectionProp name=\"Arguments.arguments\">{arguments}</collectionProp></Arguments><hashTree/>{}",
        sampler("a", path, "", "")
    ))
}

#[test]
fn programs_of_user_defined_variables_are_run_once_at_the_start() {
    let web = Web::start(|_| ok("x"));
    let values = [
        ("n", "${__groovy(1 + 2)}"),
        ("m", "${__jexl3(${a} * 2)}"),
        ("t", "${__groovy(vars.get(&quot;a&quot;) + &quot;x&quot;,kept)}"),
        ("o", "${__groovy(vars.get(&quot;n&quot;))}z"),
        ("p", "${__groovy(props.get(&quot;port&quot;).length() &gt; 3)}"),
        ("j", "${__javaScript(4 * 2)}"),
    ];
    results(&defining(&values, "/${n}/${m}/${t}/${kept}/${p}/${j}/${o}"), &web);
    assert_eq!(web.seen()[0].target, "/3/6/3x/3x/true/8/z", "those of one element do not see each other");
    for (value, said) in [
        ("${__groovy(new URL(&quot;http://h&quot;).text)}", "class URL: a script may not use the network"),
        ("${__groovy(1.intdiv(0))}", "ArithmeticException"),
        ("${__groovy(props.put(&quot;a&quot;\\,&quot;b&quot;))}", "it sets properties before the run begins"),
    ] {
        let plan = defining(&[("v", value)], "/${v}");
        let checked = on(&plan, &["plan", "check", "{}/plan.jmx", "-Jport=1"]).ended_with(2);
        assert!(checked.stdout.contains(said), "{value}: {}", checked.stdout);
    }
}
