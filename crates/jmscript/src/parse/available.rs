//! Uses of JMeter's objects that scripts cannot make here, told before the run: to read what the plan gives a request, or to
//! change what a request or a sample keeps. What is not listed runs, or is a method that is not understood.

use super::Parser;
use super::primary::capitalized;
use crate::dialect::Dialect;
use crate::tree::{Binding, Expr, Place};

const UNKNOWN_REQUEST: &str = "what the plan gives a request is not known to its scripts: they may change it, or ask prev for the last one";
const UNKNOWN_PARAMETERS: &str = "the parameters that the plan gives a request are not known to its scripts: they may add some, or \
                                  remove all and begin anew";
const UNKNOWN_FIELDS: &str = "the header fields that the plan gives a request are not known to its scripts: they may add one or remove one by its name";
const UNKNOWN_COOKIES: &str =
    "the cookies that answers have set are not known to scripts: they may add one or clear all";
const FIXED: &str = "a script cannot change this: set it in the plan";
const MEASURED: &str = "a script cannot change what is measured";
const PARTS: &str = "the parts of a sample and its assertions are not known to scripts";

/// The object of JMeter's that a method gives.
fn given_by(of: Binding, method: &str) -> Option<Binding> {
    Some(match (of, method) {
        (Binding::Ctx, "getCurrentSampler" | "getPreviousSampler") => Binding::Sampler,
        (Binding::Ctx, "getPreviousResult") | (Binding::SampleEvent, "getResult") => Binding::Prev,
        (Binding::Sampler, "getArguments") => Binding::Arguments,
        (Binding::Sampler, "getHeaderManager") => Binding::HeaderManager,
        (Binding::Sampler, "getCookieManager") => Binding::CookieManager,
        _ => return None,
    })
}

/// Why a method of one of JMeter's objects does not run here.
fn refusal(of: Binding, method: &str) -> Option<&'static str> {
    let changes = ["set", "add", "remove", "clear", "store"].iter().any(|start| method.starts_with(start));
    match of {
        Binding::Sampler => match method {
            "getPath" | "getUrl" | "getMethod" | "getDomain" | "getPort" | "getProtocol"
            | "getQueryString" | "getPostBodyRaw" => Some(UNKNOWN_REQUEST),
            "setName"
            | "setPath"
            | "setMethod"
            | "setDomain"
            | "setPort"
            | "setProtocol"
            | "setArguments"
            | "setPostBodyRaw"
            | "addArgument"
            | "addEncodedArgument"
            | "addNonEncodedArgument" => None,
            _ => changes.then_some(FIXED),
        },
        Binding::Arguments => match method {
            "addArgument" | "add" | "removeAllArguments" | "clear" => None,
            _ => Some(UNKNOWN_PARAMETERS),
        },
        Binding::HeaderManager => match method {
            "add" | "addHeader" | "removeHeaderNamed" => None,
            _ => Some(UNKNOWN_FIELDS),
        },
        Binding::CookieManager => match method {
            "add" | "addCookie" | "clear" => None,
            _ => Some(UNKNOWN_COOKIES),
        },
        Binding::Prev | Binding::SampleResult => match method {
            "getSubResults"
            | "getAssertionResults"
            | "addSubResult"
            | "addRawSubResult"
            | "storeSubResult"
            | "addAssertionResult" => Some(PARTS),
            "setBytes" | "setBodySize" | "setStartTime" | "setEndTime" | "setTimeStamp" => Some(MEASURED),
            _ => None,
        },
        Binding::Ctx => match method {
            "setStartNextThreadLoop" | "setRestartNextLoop" => None,
            _ => changes.then_some(FIXED),
        },
        _ => None,
    }
}

impl Parser<'_> {
    /// The object of JMeter's that an expression is, where that can be told before the run.
    fn given(&self, of: &Expr) -> Option<Binding> {
        match of {
            Expr::Place(Place::Bound(binding)) => Some(*binding),
            Expr::Place(place) => self.given.iter().find(|(known, _)| known == place).map(|(_, of)| *of),
            Expr::Call(call) => given_by(self.given(&call.of)?, &call.name),
            Expr::Property(property) => {
                let getter = format!("get{}", capitalized(&property.name));
                given_by(self.given(&property.of)?, &getter)
            }
            Expr::Cast(_, of, _) => self.given(of),
            _ => None,
        }
    }

    /// Remembers which object of JMeter's a variable holds from here on.
    pub(super) fn note_given(&mut self, place: Place, value: Option<&Expr>) {
        let given = value.and_then(|value| self.given(value));
        self.given.retain(|(known, _)| *known != place);
        self.given.extend(given.map(|given| (place, given)));
    }

    /// Notes a method of JMeter's objects that does not run here.
    pub(super) fn check_available(&mut self, of: &Expr, method: &str) {
        if self.dialect == Dialect::Jexl {
            return;
        }
        let Some(of) = self.given(of) else { return };
        let begins_anew = matches!(method, "removeAllArguments" | "clear") && of == Binding::Arguments;
        self.has_own_arguments |= begins_anew || method == "setArguments";
        let reads_own = of == Binding::Arguments && self.has_own_arguments;
        if let Some(reason) = refusal(of, method).filter(|_| !reads_own) {
            self.refuse(format!("{method}()"), reason);
        }
    }

    /// The same of a property that is read or, by `verb`, set.
    pub(super) fn check_available_property(&mut self, of: &Expr, verb: &str, name: &str) {
        self.check_available(of, &format!("{verb}{}", capitalized(name)));
    }
}
