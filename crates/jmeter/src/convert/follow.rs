//! HTML Link Parser and HTTP URL Re-writing Modifier: programs before a request that make of the last answer what it is.

use super::Converter;
use super::http::Sampler;
use super::kinds::{Convert, ElementKind};
use super::text::Encoding;
use crate::element::Element;
use crate::follow::SessionPlace;
use crate::form;
use plan::{Body, Code, Step};

pub(super) const KINDS: &[ElementKind] = &[
    ElementKind { class: LINK, convert: Convert::Follow(link) },
    ElementKind { class: SESSION, convert: Convert::Follow(session) },
];

const LINK: &str = "AnchorModifier";
const SESSION: &str = "URLRewritingModifier";

/// True if an element looks at the answer to the request before.
pub(super) fn looks_back(of: &Element) -> bool {
    matches!(of.class.as_str(), LINK | SESSION)
}

/// True if an element leads samplers on by links.
pub(super) fn is_link(of: &Element) -> bool {
    of.class == LINK
}

fn link(c: &mut Converter<'_>, of: &Element, sampler: &Sampler<'_>) -> Vec<Step> {
    let code = c.code(of, "follow", "", None);
    called(c, code, sampler, Vec::new())
}

fn session(c: &mut Converter<'_>, of: &Element, sampler: &Sampler<'_>) -> Vec<Step> {
    let flag = |name: &str, otherwise| of.properties.flag(name, otherwise);
    let place = SessionPlace {
        path: flag("path_extension", false),
        no_equals: flag("path_extension_no_equals", false),
        no_question_mark: flag("path_extension_no_questionmark", false),
        keeps: flag("cache_value", true),
        encodes: flag("encode", false),
    };
    if !place.path && !sampler.files().is_empty() {
        c.different(
            of,
            format!("'{}' has files beside its parameters: it gets no session", sampler.element.title()),
        );
        return Vec::new();
    }
    let name = c.text(of, of.properties.text("argument_name"));
    let code = c.code(of, "rewrite", &place.words(), None);
    let pair = format!("session={}", name.template(Encoding::Form, form::encode));
    let steps = name.steps();
    let called = called(c, code, sampler, vec![pair]);
    steps.into_iter().chain(called).collect()
}

/// A program that is called with what its sampler says, as a form has it.
fn called(c: &mut Converter<'_>, code: Code, sampler: &Sampler<'_>, mut pairs: Vec<String>) -> Vec<Step> {
    let of = sampler.element;
    let mut steps = Vec::new();
    let mut add = |key: &str, written: &str| {
        let text = c.text(of, written);
        steps.extend(text.steps());
        pairs.push(format!("{key}={}", text.template(Encoding::Form, form::encode)));
    };
    for key in ["protocol", "domain", "port", "path", "method"] {
        add(key, sampler.text(&format!("HTTPSampler.{key}")).trim());
    }
    add("raw", if sampler.flag("HTTPSampler.postBodyRaw", false) { "true" } else { "" });
    for argument in sampler.arguments() {
        add("name", argument.properties.text("Argument.name"));
        add("value", argument.properties.text("Argument.value"));
        let encodes = argument.properties.flag("HTTPArgument.always_encode", true);
        add("encodes", if encodes { "true" } else { "false" });
    }
    steps.push(Step::Code(Code { parameters: Body::from(pairs.join("&")), ..code }));
    steps
}
