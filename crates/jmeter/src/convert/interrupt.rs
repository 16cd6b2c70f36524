//! Sample Timeouts: so long after a sampler has begun, its request is cut short.

use super::Converter;
use super::http;
use super::scope::Scope;
use crate::element::Element;
use std::time::Duration;

pub(super) const CLASS: &str = "SampleTimeout";

const LIMIT: &str = "InterruptTimer.timeout";

/// Samplers that JMeter interrupts, and that run to their end here.
const LET_FINISH: [&str; 5] = ["JSR223Sampler", "BeanShellSampler", "BSFSampler", "TestAction", "TCPSampler"];

/// The least time of those that hold for a sampler; none where none does, or that says nothing.
pub(super) fn limit(c: &mut Converter<'_>, scope: &Scope<'_>) -> Option<Duration> {
    let mut least: Option<u64> = None;
    for element in scope.innermost_first(CLASS) {
        let Some(text) = c.constant(element, element.properties.text(LIMIT), "its time") else { continue };
        // What is no number is 0 to JMeter, and 0 is no limit.
        let ms = text.trim().parse::<u64>().ok().filter(|ms| *ms > 0);
        least = least.into_iter().chain(ms).min();
    }
    least.map(Duration::from_millis)
}

/// Lists a sampler that JMeter would interrupt.
pub(super) fn note(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) {
    if http::is_sampler(of) || !LET_FINISH.contains(&of.class.as_str()) {
        return;
    }
    for element in
        scope.innermost_first(CLASS).filter(|element| !element.properties.text(LIMIT).trim().is_empty())
    {
        c.different(
            element,
            format!("it cuts HTTP requests short and nothing else: '{}' runs to its end", of.title()),
        );
    }
}
