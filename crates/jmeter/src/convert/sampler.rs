//! Samplers, with what stands around them: pre-processors, timers, the sampler, post-processors, assertions.

use super::Converter;
use super::scope::Scope;
use crate::element::Element;
use crate::expression::Text;
use crate::function;
use crate::role::Role;
use plan::{Body, Delay, Flow, Step};
use std::time::Duration;

impl Converter<'_> {
    /// All that a sampler does, in order.
    pub(super) fn sampler(&mut self, of: &Element, around: &Scope<'_>) -> Vec<Step> {
        let scope = &around.below(of, &[]);
        self.listeners(scope);
        if of.class == "TestAction" {
            return self.action(of, scope);
        }
        let mut steps = self.before(scope);
        let after = self.after(scope);
        match of.class.as_str() {
            "HTTPSamplerProxy" => steps.extend(self.http(of, scope, after)),
            "JSR223Sampler" | "BeanShellSampler" => {
                let label = self.label(of);
                steps.extend(self.script(of, None, &label));
                steps.extend(after);
            }
            "DebugSampler" => {
                steps.extend(self.debug(of));
                steps.extend(after);
            }
            "kg.apc.jmeter.samplers.DummySampler" => steps.extend(self.dummy(of, after)),
            "TCPSampler" => {
                self.missing(of, "TCP requests within a journey do not run yet: `wringer tcp` sends messages")
            }
            "JDBCSampler" => self.missing(of, "requests to databases are not sent"),
            _ => self.missing(of, "a sampler of this kind cannot run"),
        }
        steps
    }

    /// Pre-processors, then timers.
    fn before(&mut self, scope: &Scope<'_>) -> Vec<Step> {
        let mut steps = Vec::new();
        for element in scope.outermost_first(Role::Pre) {
            steps.extend(match element.class.as_str() {
                "UserParameters" if element.properties.flag("UserParameters.per_iteration", false) => {
                    Vec::new()
                }
                "UserParameters" => self.user_parameters(element),
                "JSR223PreProcessor" | "BeanShellPreProcessor" => self.script(element, None, ""),
                _ => {
                    self.missing(element, "a pre-processor of this kind cannot run");
                    Vec::new()
                }
            });
        }
        for element in scope.timers() {
            steps.extend(self.timer(element));
        }
        steps
    }

    /// Post-processors, then assertions.
    fn after(&mut self, scope: &Scope<'_>) -> Vec<Step> {
        let mut steps = Vec::new();
        for element in scope.outermost_first(Role::Post) {
            steps.extend(match element.class.as_str() {
                "JSR223PostProcessor" | "BeanShellPostProcessor" => self.script(element, None, ""),
                "DebugPostProcessor" => Vec::new(),
                "ResultAction" => {
                    self.missing(
                        element,
                        "an action after a result of one request is not run: set the thread group's",
                    );
                    Vec::new()
                }
                _ => self.extractor(element),
            });
        }
        for element in scope.outermost_first(Role::Assertion) {
            steps.extend(match element.class.as_str() {
                "JSR223Assertion" | "BeanShellAssertion" => self.script(element, None, ""),
                _ => self.assertion(element),
            });
        }
        steps
    }

    /// Listeners have no part in what is sent; those that send or stop are listed.
    fn listeners(&mut self, scope: &Scope<'_>) {
        for element in scope.outermost_first(Role::Listener) {
            match element.class.as_str() {
                "ResultCollector" | "Summariser" => {
                    if let Some(file) = element.properties.filled("filename").map(str::to_owned) {
                        self.different(
                            element,
                            format!("its file '{file}' is not written: results go to -l FILE"),
                        );
                    }
                }
                "BackendListener" => {
                    self.missing(element, "results are not sent to another system while the run goes on")
                }
                "kg.apc.jmeter.reporters.AutoStop" => {
                    self.missing(element, "nothing stops the run by its results: use --fail-if")
                }
                "BeanShellListener" | "JSR223Listener" | "ResultSaver" => {
                    self.missing(element, "a listener of this kind cannot run")
                }
                class
                    if class.contains("Collector")
                        || class.contains("Visualizer")
                        || class.contains("Gui") => {}
                _ => self.missing(element, "a listener of this kind cannot run"),
            }
        }
    }

    /// Flow control: a pause, or where the user goes on.
    fn action(&mut self, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
        let mut steps = self.before(scope);
        let key = |name: &str| of.properties.text(&format!("ActionProcessor.{name}")).trim().to_owned();
        let whole_run = key("target") == "2";
        steps.extend(match (key("action").as_str(), whole_run) {
            ("1", _) => return self.pause(of, &key("duration"), steps),
            ("0", false) => vec![Step::Flow(Flow::StopUser)],
            ("0", true) => vec![Step::Flow(Flow::StopRun)],
            ("2", true) => vec![Step::Flow(Flow::StopNow)],
            ("2", false) => vec![Step::Flow(Flow::StopUser)],
            ("3", _) => vec![Step::Flow(Flow::NextIteration)],
            ("4", _) => vec![Step::Flow(Flow::NextRound)],
            ("5", _) => vec![Step::Flow(Flow::BreakLoop)],
            (other, _) => {
                self.missing(of, format!("'{other}' is no action that is known"));
                Vec::new()
            }
        });
        steps
    }

    fn pause(&mut self, of: &Element, written: &str, mut steps: Vec<Step>) -> Vec<Step> {
        let text = self.text(of, written);
        match (text.constant().map(|text| text.trim().parse::<u64>()), text.only_value()) {
            (Some(Ok(0)), _) => {}
            (Some(Ok(ms)), _) => steps.push(Step::Pause(Delay::Fixed { delay: Duration::from_millis(ms) })),
            (None, Some(name)) => {
                let wait = Step::Wait(plan::Expression(super::text::operand(name)));
                steps.extend(text.before.into_iter().chain([wait]));
            }
            _ if written.is_empty() => {}
            _ => self.missing(of, format!("its pause '{written}' is not a number or one variable")),
        }
        steps
    }

    /// Program text of an element. `sample`: the label under which it is told.
    pub(super) fn script(&mut self, of: &Element, into: Option<String>, sample: &str) -> Vec<Step> {
        let own = of.class.as_str() == "BeanShellSampler" || of.class == "BeanShellAssertion";
        let key = |plain: &str, old: &str| {
            let old = format!("{}.{old}", of.class);
            of.properties.text(if own { &old } else { plain }).to_owned()
        };
        if !key("filename", "filename").trim().is_empty() {
            self.missing(
                of,
                format!(
                    "its script is in the file '{}': put it into the plan",
                    key("filename", "filename").trim()
                ),
            );
            return Vec::new();
        }
        let language = match of.class.starts_with("BeanShell") {
            true => "beanshell".to_owned(),
            false => of.properties.filled("scriptLanguage").unwrap_or("groovy").trim().to_lowercase(),
        };
        let language = match language.as_str() {
            "java" | "bsh" => "beanshell",
            "javascript" | "ecmascript" | "js" | "nashorn" | "rhino" => "javascript",
            "jexl2" | "jexl3" | "jexl" => "jexl",
            "groovy" | "beanshell" => &language,
            other => {
                self.missing(of, format!("scripts in {other} cannot run"));
                return Vec::new();
            }
        };
        let written = key("script", "query");
        if written.trim().is_empty() && sample.is_empty() {
            return Vec::new();
        }
        let (mut steps, text) = self.script_text(of, &written);
        let parameters = self.text(of, &key("parameters", "parameters"));
        let mut code = self.code(of, language, &text, into);
        code.parameters = Body::from(parameters.raw());
        code.sample = sample.to_owned();
        code.sets = self.put_names(&written);
        steps.extend(parameters.before);
        steps.push(Step::Code(code));
        steps
    }

    /// The text of a script with what its placeholders stand for: constants in place, others by name.
    fn script_text(&mut self, of: &Element, written: &str) -> (Vec<Step>, String) {
        let Ok(parsed) = Text::parse(written, &function::is_known) else {
            return (Vec::new(), written.to_owned());
        };
        if parsed.as_fixed().is_some() {
            return (Vec::new(), written.to_owned());
        }
        let converted = self.text(of, written);
        let text = converted.constant().unwrap_or_else(|| converted.script());
        (converted.before, text)
    }

    /// Names that a script puts values under.
    fn put_names(&mut self, script: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for put in script.split("vars.put").skip(1) {
            let argument = put.trim_start_matches("Object").trim_start().trim_start_matches('(').trim_start();
            let quote = argument.chars().next().filter(|one| matches!(one, '"' | '\''));
            if let Some(name) = quote.and_then(|quote| argument[1..].split(quote).next()) {
                let name = self.variables.name(name);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// A sample that shows variables: nothing is sent.
    fn debug(&mut self, of: &Element) -> Vec<Step> {
        let sample = self.label(of);
        let mut code = self.code(of, "jmeter", "", None);
        code.sample = sample;
        vec![Step::Code(code)]
    }

    /// A sample that sends nothing: what it answers is written in it.
    fn dummy(&mut self, of: &Element, after: Vec<Step>) -> Vec<Step> {
        let text = |name: &str| of.properties.text(name).to_owned();
        let fine = self
            .text(of, &text("SUCCESFULL"))
            .constant()
            .is_some_and(|flag| flag.trim().eq_ignore_ascii_case("true"));
        if !fine {
            self.missing(of, "a dummy sample that fails on purpose cannot run");
            return Vec::new();
        }
        let mut steps = Vec::new();
        if of.properties.flag("WAITING", false) {
            steps.extend(self.pause(of, &text("RESPONSE_TIME"), Vec::new()));
        }
        self.different(of, "its times are those that it takes here, not those that it names");
        let sample = self.label(of);
        let parsed = Text::parse(&text("RESPONSE_DATA"), &function::is_known).unwrap_or_default();
        let answer = self.rebuilt(&parsed);
        let mut code = self.code(of, "jmeter", &answer, None);
        code.sample = sample;
        steps.push(Step::Code(code));
        steps.extend(after);
        steps
    }
}
