//! Requests that follow from the last answer: what `jmeter::follow` makes of it becomes changes of the next request.

use super::memory::Memory;
use jmeter::follow::{self, Change, GivenRequest, LinkOrigin, RequestArgument, SessionPlace};
use load::code::{CodeContext, CodeUser, Parameter, Ran, Sample};
use plan::Code;

/// The next request becomes one of the links and forms of the last page that it is like.
pub(super) fn link(context: &mut CodeContext<'_>, memory: &mut Memory) -> Ran {
    let given = GivenRequest::read(context.parameters);
    // Nothing leads on from a sample that was no request.
    let page = context.user.last.as_ref().filter(|last| !last.url.is_empty());
    let Some((url, text)) = page.map(|last| (last.url.clone(), text_of(last))) else { return Ran::default() };
    let change = {
        let user = &*context.user;
        follow::link(&given, &url, &text, &mut || memory.random(user))
    };
    change.into_iter().for_each(|change| apply(change, context.user));
    Ran::default()
}

/// The session that the last answer names is put into the next request.
pub(super) fn session(code: &Code, context: &mut CodeContext<'_>, memory: &mut Memory) -> Ran {
    let Some(text) = context.user.last.as_ref().map(text_of) else { return Ran::default() };
    let given = GivenRequest::read(context.parameters);
    let place = SessionPlace::read(&code.text);
    let mut session = place.find(&given.session, &text);
    if place.keeps {
        let kept = memory.sessions.entry(code.name.clone()).or_default();
        if session.is_empty() {
            session.clone_from(kept);
        } else {
            kept.clone_from(&session);
        }
    }
    apply(place.put(&given, &session), context.user);
    Ran::default()
}

fn text_of(last: &Sample) -> String {
    last.body.as_ref().map_or_else(String::new, |body| String::from_utf8_lossy(body).into_owned())
}

fn apply(change: Change, user: &mut CodeUser) {
    let edit = &mut user.edit;
    if let Some(LinkOrigin { protocol, domain, port }) = change.place {
        edit.scheme = Some(protocol);
        edit.host = Some(domain);
        edit.port = Some(port);
    }
    if change.path.is_some() {
        edit.path = change.path;
    }
    if change.replaces {
        edit.parameters.replaces = true;
        edit.parameters.added.clear();
    }
    // Without parameters of its own a body stays as it is.
    edit.parameters.raw |= change.is_raw && !change.arguments.is_empty();
    let parameter = |RequestArgument { name, value, encodes }| Parameter { name, value, encodes };
    edit.parameters.added.extend(change.arguments.into_iter().map(parameter));
}
