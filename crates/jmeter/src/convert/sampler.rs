//! Samplers, with what stands around them: pre-processors, timers, the sampler, post-processors, assertions.

use super::Converter;
use super::control::Titled;
use super::scope::Scope;
use crate::element::Element;
use crate::expression::Text;
use crate::function;
use crate::role::Role;
use plan::{Body, Code, Delay, Fills, Flow, Step};
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
        let label = self.label(of);
        for code in steps.iter_mut().filter_map(as_code) {
            code.request.clone_from(&label);
        }
        match of.class.as_str() {
            "HTTPSamplerProxy" => steps.extend(self.http(of, scope, after)),
            "JSR223Sampler" | "BeanShellSampler" => {
                let script = self.script(of, None);
                steps.extend(self.sampled(of, script, after));
            }
            "DebugSampler" => {
                let code = self.code(of, "jmeter", "", None);
                steps.extend(self.sampled(of, vec![Step::Code(code)], after));
            }
            "kg.apc.jmeter.samplers.DummySampler" => steps.extend(self.dummy(of, after)),
            "TCPSampler" => steps.extend(self.tcp(of, scope, after)),
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
                "JSR223PreProcessor" | "BeanShellPreProcessor" => self.script(element, None),
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
                "JSR223PostProcessor" | "BeanShellPostProcessor" => self.script(element, None),
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
                "JSR223Assertion" | "BeanShellAssertion" => {
                    let mut steps = self.script(element, None);
                    steps.iter_mut().filter_map(as_code).for_each(|code| code.asserts = true);
                    steps
                }
                _ => self.assertion(element),
            });
        }
        steps
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
                steps.extend(text.steps().into_iter().chain([wait]));
            }
            _ if written.is_empty() => {}
            _ => self.missing(of, format!("its pause '{written}' is not a number or one variable")),
        }
        steps
    }

    /// The program of an element as a sample: the last of its steps is timed and counted.
    fn sampled(&mut self, of: &Element, mut steps: Vec<Step>, after: Vec<Step>) -> Vec<Step> {
        let (label, Titled { before, title }) = (self.label(of), self.title(of));
        if let Some(code) = steps.last_mut().and_then(as_code) {
            (code.sample, code.title, code.after) = (label, title, after);
        }
        before.into_iter().chain(steps).collect()
    }

    /// Program text of an element.
    pub(super) fn script(&mut self, of: &Element, into: Option<String>) -> Vec<Step> {
        let own = of.class.as_str() == "BeanShellSampler" || of.class == "BeanShellAssertion";
        let key = |plain: &str, old: &str| {
            let old = format!("{}.{old}", of.class);
            of.properties.text(if own { &old } else { plain }).to_owned()
        };
        let file = key("filename", "filename");
        let Some(language) = self.language(of) else { return Vec::new() };
        let written = match file.trim() {
            "" => key("script", "query"),
            file => match self.script_file(of, file) {
                Some(text) => text,
                None => return Vec::new(),
            },
        };
        let of_user = of.properties.text("cacheKey").trim() != "false" && language != "beanshell";
        let parameters = self.text(of, &key("parameters", "parameters"));
        let mut code = self.code(of, language, &written, into);
        code.fills = match (written.contains("${"), of_user) {
            (false, _) => Fills::Never,
            (true, true) => Fills::First,
            (true, false) => Fills::Each,
        };
        code.parameters = Body::from(parameters.raw());
        code.sets = self.put_names(&written);
        parameters.steps().into_iter().chain([Step::Code(code)]).collect()
    }

    /// The text of a script in a file of its own.
    fn script_file(&mut self, of: &Element, file: &str) -> Option<String> {
        let file = self.constant(of, file, "the file of its script")?;
        let Some(bytes) = (self.settings.included)(&file) else {
            self.missing(of, format!("its script is in the file '{file}', which is not there"));
            return None;
        };
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn language(&mut self, of: &Element) -> Option<&'static str> {
        if of.class.starts_with("BeanShell") {
            return Some("beanshell");
        }
        let language = of.properties.filled("scriptLanguage").unwrap_or("groovy").trim().to_lowercase();
        match language.as_str() {
            "java" | "bsh" | "beanshell" => Some("beanshell"),
            "javascript" | "ecmascript" | "js" | "nashorn" | "rhino" => Some("javascript"),
            "jexl2" | "jexl3" | "jexl" => Some("jexl"),
            "groovy" => Some("groovy"),
            other => {
                self.missing(of, format!("scripts in {other} cannot run"));
                None
            }
        }
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

    /// A sample that sends nothing: what it answers is written in it.
    fn dummy(&mut self, of: &Element, after: Vec<Step>) -> Vec<Step> {
        let text = |name: &str| of.properties.text(name).to_owned();
        let mut steps = Vec::new();
        if of.properties.flag("WAITING", false) {
            steps.extend(self.pause(of, &text("RESPONSE_TIME"), Vec::new()));
        }
        self.different(of, "its times are those that it takes here, not those that it names");
        let parsed = Text::parse(&text("RESPONSE_DATA"), &function::is_known).unwrap_or_default();
        let answer = self.rebuilt(&parsed);
        let mut code = self.code(of, "jmeter", &answer, None);
        let (status, message) = (text("RESPONSE_CODE"), text("RESPONSE_MESSAGE"));
        let says = self.text(of, &format!("{} {} {message}", filled(&status, "200"), text("SUCCESFULL")));
        code.parameters = Body::from(says.raw());
        steps.extend(says.steps());
        steps.extend(self.sampled(of, vec![Step::Code(code)], after));
        steps
    }
}

fn filled<'t>(text: &'t str, otherwise: &'t str) -> &'t str {
    if text.trim().is_empty() { otherwise } else { text.trim() }
}

fn as_code(step: &mut Step) -> Option<&mut Code> {
    match step {
        Step::Code(code) => Some(code),
        _ => None,
    }
}
