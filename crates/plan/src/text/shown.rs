//! Plans as people read them: where nothing asks for objects and nothing serves them, what is said of objects means nothing, and is left
//! out as long as it is the usual.

use super::node::{Node, NodeValue};
use crate::Plan;
use crate::load::http::Http;
use crate::load::{Check, Load};
use crate::scenario::Step;
use crate::site::Site;

/// The tree of a plan without what has no meaning in it.
pub(super) fn tree(plan: &Plan, mut tree: Node) -> Node {
    let Some(load) = plan.load.as_ref().filter(|load| plan.origin.is_none() && !has_objects(load)) else {
        return tree;
    };
    let usual = Check::default();
    let http = load.protocol.http();
    let keys: [(&[&str], bool); 5] = [
        (&["site"], plan.site == Site::default()),
        (
            &["load", "protocol", "http", "authority"],
            http.is_some_and(|http| http.authority == Http::default().authority),
        ),
        (&["load", "check", "content"], load.check.content == usual.content),
        (&["load", "check", "length"], load.check.length == usual.length),
        (&["load", "check", "cuts_expected"], load.check.cuts_expected == usual.cuts_expected),
    ];
    let idle = keys.into_iter().filter(|(_, is_usual)| *is_usual);
    idle.for_each(|(path, _)| without(&mut tree, path));
    tree
}

/// Objects are asked for, by their numbers or by URLs of jtest's form.
fn has_objects(load: &Load) -> bool {
    let mut sends = load.phases.iter().flat_map(|phase| phase.sends());
    sends.any(|step| matches!(step, Step::Object(_) | Step::Urls(_)))
}

/// Takes an entry out of a tree.
fn without(tree: &mut Node, path: &[&str]) {
    let (Some((name, rest)), NodeValue::Table(entries)) = (path.split_first(), &mut tree.value) else {
        return;
    };
    if rest.is_empty() {
        return entries.retain(|(key, _)| key.name != *name);
    }
    let below = entries.iter_mut().filter(|(key, _)| key.name == *name);
    below.for_each(|(_, node)| without(node, rest));
}
