//! Checks before the run: methods that no class has, and methods of objects whose class is certain that this class
//! does not have here, or that do not run as in JMeter.

use super::tokens::Spot;
use super::{JmscriptParser, Unsupported};
use crate::ciphers::Mode;
use crate::dialect::Dialect;
use crate::model::class::{Class, Kind, Knowledge};
use crate::model::library::groovy::json_builder;
use crate::model::library::jmeter::{arguments, is_changed_wholly};
use crate::model::library::lang::{gstring, string};
use crate::model::library::security::cipher;
use crate::model::library::{self, capitalized};
use crate::model::tree::{Expr, Literal, TreePlace, Type};
use std::ptr;
use std::rc::Rc;

const UNKNOWN_PARAMETERS: &str = "the parameters that the plan gives a request are not known to its scripts: they may add some, or \
                                  remove all and begin anew";

/// Notes made while a script is read.
#[derive(Default)]
pub struct Notes {
    pub unsupported: Vec<Unsupported>,
    /// Calls of methods whose names are not known.
    unknown: Vec<Call>,
    /// A builder's calls may have any name.
    uses_builder: bool,
    /// Variables that hold objects whose class is certain.
    held: Vec<ParseHeld>,
    /// The script has taken the plan's parameters away.
    has_own_arguments: bool,
}

/// A variable that holds an object of a class.
struct ParseHeld {
    variable: Variable,
    kind: &'static Kind,
    /// It is declared so, whatever it holds later.
    is_declared: bool,
}

/// A variable of a function, or of the script's binding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variable {
    Own(u32),
    Global(u16),
}

/// A call of a method whose name is not known, or not with so many arguments.
struct Call {
    name: Rc<str>,
    /// How many arguments, where the name itself is known.
    args: Option<usize>,
    /// The binding's variable that it is called on.
    of: Option<u16>,
    spot: Spot,
}

impl Notes {
    pub fn refuse(&mut self, spot: Spot, construct: String, reason: String) {
        let Spot { line, column } = spot;
        self.unsupported.push(Unsupported { line, column, construct, reason, is_syntax: false });
    }

    /// Notes a class that is created.
    pub fn created(&mut self, class: Class) {
        self.uses_builder |= class.is(&json_builder::KIND);
    }
}

/// Notes a call of a method whose name no class has: it is refused in the end, unless it turns out to be a name of the script's own.
pub fn note_unknown(p: &mut JmscriptParser<'_>, name: &Rc<str>, of: &Expr) {
    note(p, name, of, None);
}

/// Notes a call with so many arguments, where no class has the method with as many.
fn note_count(p: &mut JmscriptParser<'_>, name: &str, of: &Expr, args: usize) {
    let takes = |kind: &&Kind| kind.all_rows().any(|row| row.name() == name && row.takes(args));
    if !library::ALL.iter().any(takes) {
        note(p, &Rc::from(name), of, Some(args));
    }
}

fn note(p: &mut JmscriptParser<'_>, name: &Rc<str>, of: &Expr, args: Option<usize>) {
    let of = if let Expr::Place(TreePlace::Global(at)) = of { Some(*at) } else { None };
    let spot = p.tokens.spot();
    p.notes.unknown.push(Call { name: name.clone(), args, of, spot });
}

/// Refuses what has turned out to be unknown.
pub fn conclude(p: &mut JmscriptParser<'_>) {
    for Call { name, args, of, spot } in std::mem::take(&mut p.notes.unknown) {
        // A variable that is never set fails before its method does.
        let is_unset = of.is_some_and(|of| !p.names.assigned.contains(&of));
        if !p.notes.uses_builder && !p.names.keys.contains(&name) && !is_unset {
            let reason = match args {
                None => "this method is not understood".to_owned(),
                Some(args) => format!("nothing has it with {} here", counted(args)),
            };
            p.notes.refuse(spot, format!("{name}()"), reason);
        }
    }
}

/// The class of an expression's value, where that is certain before the run.
fn certain(p: &JmscriptParser<'_>, of: &Expr) -> Option<&'static Kind> {
    match of {
        Expr::Place(TreePlace::Bound(binding)) => library::bound(*binding),
        Expr::Place(place) => {
            let variable = variable(p, *place)?;
            p.notes.held.iter().find(|held| held.variable == variable).map(|held| held.kind)
        }
        Expr::Literal(Literal::Text(_)) => Some(&string::KIND),
        Expr::Template(_) if p.dialect == Dialect::Groovy => Some(&gstring::KIND),
        Expr::New(class, _) => match class {
            Class::Known(kind) => Some(kind),
            Class::Thrown(_) => Some(class.kind()),
        },
        Expr::Call(call) if !call.is_spread => {
            given(certain(p, &call.of)?, &call.name, call.args.len(), p.dialect)
        }
        Expr::Property(property) if !property.is_spread => {
            let getter = format!("get{}", capitalized(&property.name));
            given(certain(p, &property.of)?, &getter, 0, p.dialect)
        }
        Expr::Static(call) => {
            let kind = call.class.kind();
            match kind.knows_static(call.method.name(), Some(call.args.len())) {
                Knowledge::Runs(Some(class)) => Some(class.kind()),
                _ => None,
            }
        }
        Expr::Cast(kind, of, _) => declared(kind).or_else(|| certain(p, of)),
        _ => None,
    }
}

fn given(kind: &'static Kind, method: &str, args: usize, dialect: Dialect) -> Option<&'static Kind> {
    match kind.knows(method, Some(args), dialect) {
        Knowledge::Runs(Some(class)) => Some(class.kind()),
        _ => None,
    }
}

/// The class of the values of a declared type, where none of them is of a class that extends it.
fn declared(kind: &Type) -> Option<&'static Kind> {
    match kind {
        Type::Text => Some(&string::KIND),
        Type::Class(Class::Known(kind)) => {
            let extends = |other: &&&'static Kind| !ptr::eq(**other, *kind) && other.is_a(kind);
            let is_last = library::ALL.iter().find(extends).is_none();
            is_last.then_some(kind)
        }
        _ => None,
    }
}

fn variable(p: &JmscriptParser<'_>, place: TreePlace) -> Option<Variable> {
    match place {
        TreePlace::Local(_) | TreePlace::Captured(_) => p.names.scopes.id(place).map(Variable::Own),
        TreePlace::Global(at) => Some(Variable::Global(at)),
        TreePlace::Bound(_) => None,
    }
}

/// Remembers the class that a variable is declared with, or that of its first value.
pub fn note_declared(p: &mut JmscriptParser<'_>, place: TreePlace, kind: &Type, value: Option<&Expr>) {
    match (variable(p, place), declared(kind)) {
        (Some(variable), Some(kind)) => hold(p, ParseHeld { variable, kind, is_declared: true }),
        (Some(_), None) => note_assigned(p, place, value),
        (None, _) => {}
    }
}

/// Remembers the class of the object that a variable holds from here on: one that JMeter gives. What a script makes itself it may
/// replace in another turn of a loop, so that is not certain.
pub fn note_assigned(p: &mut JmscriptParser<'_>, place: TreePlace, value: Option<&Expr>) {
    let Some(variable) = variable(p, place) else { return };
    if p.notes.held.iter().any(|held| held.variable == variable && held.is_declared) {
        return;
    }
    let is_given = |value: &&Expr| !matches!(value, Expr::New(..) | Expr::Literal(_) | Expr::Template(_));
    match value.filter(is_given).and_then(|value| certain(p, value)) {
        Some(kind) => hold(p, ParseHeld { variable, kind, is_declared: false }),
        None => p.notes.held.retain(|held| held.variable != variable),
    }
}

fn hold(p: &mut JmscriptParser<'_>, new: ParseHeld) {
    p.notes.held.retain(|held| held.variable != new.variable);
    p.notes.held.push(new);
}

/// Notes a method that an object does not have here; without a number of arguments, where that is open.
pub fn check_method(p: &mut JmscriptParser<'_>, of: &Expr, method: &str, args: Option<usize>) {
    if p.dialect == Dialect::Jexl {
        return;
    }
    if let Expr::Class(class) = of {
        return check_static(p, *class, method, args);
    }
    let Some(kind) = certain(p, of) else {
        args.into_iter().for_each(|args| note_count(p, method, of, args));
        return;
    };
    let of_request = ptr::eq(kind, &arguments::OF_SAMPLER);
    p.notes.has_own_arguments |= of_request && is_changed_wholly(method) || method == "setArguments";
    if of_request && !p.notes.has_own_arguments && !matches!(method, "addArgument" | "add") {
        p.refuse(format!("{method}()"), UNKNOWN_PARAMETERS);
        return;
    }
    let knowledge = kind.knows(method, args, p.dialect);
    refuse_unless_known(p, knowledge, kind, method, args);
}

/// Notes a transformation of a cipher that is not done here, where the script names it as it stands.
pub fn check_transformation(p: &mut JmscriptParser<'_>, of: &Expr, method: &str, args: &[Expr]) {
    let Some(Expr::Literal(Literal::Text(name))) = args.first() else { return };
    let is_cipher = matches!(of, Expr::Class(class) if class.is(&cipher::KIND));
    if is_cipher && method == "getInstance" && Mode::of(name).is_none() {
        p.refuse(format!("Cipher.getInstance(\"{name}\")"), "ciphers are AES in CBC, ECB or GCM here");
    }
}

fn check_static(p: &mut JmscriptParser<'_>, class: Class, method: &str, args: Option<usize>) {
    let kind = class.kind();
    let knowledge = match kind.knows_static(method, args) {
        Knowledge::Unknown => crate::model::library::lang::class::KIND.knows(method, args, p.dialect),
        found => found,
    };
    refuse_unless_known(p, knowledge, kind, method, args);
}

fn refuse_unless_known(
    p: &mut JmscriptParser<'_>,
    knowledge: Knowledge,
    kind: &Kind,
    method: &str,
    args: Option<usize>,
) {
    let reason = match knowledge {
        Knowledge::Runs(_) => return,
        Knowledge::Listed(reason) => reason.to_owned(),
        Knowledge::Unknown => format!("{} has no such method here", kind.name()),
        Knowledge::OtherCount => {
            let count = counted(args.expect("a count is compared"));
            format!("{} has it, but not with {count} here", kind.name())
        }
    };
    p.refuse(format!("{method}()"), reason);
}

fn counted(args: usize) -> String {
    match args {
        0 => "no argument".to_owned(),
        1 => "one argument".to_owned(),
        args => format!("{args} arguments"),
    }
}

/// The same of a property that is read or set.
pub fn check_property(p: &mut JmscriptParser<'_>, of: &Expr, name: &str, is_set: bool) {
    let Some(kind) = certain(p, of).filter(|_| p.dialect != Dialect::Jexl) else { return };
    let view = kind.view();
    let is_named = if is_set { view.set_property.is_some() } else { view.property.is_some() };
    if is_named || matches!(name, "length" | "class") {
        return;
    }
    let capitalized = capitalized(name);
    if is_set {
        check_method(p, of, &format!("set{capitalized}"), Some(1));
        return;
    }
    let asked = format!("is{capitalized}");
    if !matches!(kind.knows(&asked, Some(0), p.dialect), Knowledge::Runs(_)) {
        check_method(p, of, &format!("get{capitalized}"), Some(0));
    }
}
