//! Expressions: operators by their precedence, assignments, conversions.

use super::{JmscriptParser, Parsed, known, names, primary, types};
use crate::dialect::Dialect;
use crate::lexer::Token;
use crate::model::tree::{Binary, Expr, Literal, TreePlace, TreeTarget, Type, Unary};
use std::rc::Rc;

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Operator {
    Or,
    And,
    Binary(Binary),
    Range(bool),
    As,
    InstanceOf(bool),
}

/// How tightly conversions and comparisons bind.
const COMPARISON: u8 = 7;
/// How tightly powers bind, which only signs do more.
const POWER: u8 = 11;

/// An expression with whatever operators.
pub(super) fn expression(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    p.nested(|p| {
        let left = ternary(p)?;
        assignment(p, left)
    })
}

pub(super) fn assignment(p: &mut JmscriptParser<'_>, left: Expr) -> Parsed<Expr> {
    let Token::Sign(sign) = *p.tokens.token() else { return Ok(left) };
    let operator = match sign {
        "=" | "?=" => None,
        "+=" => Some(Binary::Add),
        "-=" => Some(Binary::Subtract),
        "*=" => Some(Binary::Multiply),
        "/=" => Some(Binary::Divide),
        "%=" => Some(Binary::Remainder),
        "**=" => Some(Binary::Power),
        "<<=" => Some(Binary::ShiftLeft),
        ">>=" => Some(Binary::ShiftRight),
        ">>>=" => Some(Binary::ShiftRightUnsigned),
        "&=" => Some(Binary::BitAnd),
        "|=" => Some(Binary::BitOr),
        "^=" => Some(Binary::BitXor),
        _ => return Ok(left),
    };
    p.tokens.at += 1;
    let target = target(p, left)?;
    let value = expression(p)?;
    let value = if primary::starts_argument(p) { primary::command(p, value)? } else { value };
    if let TreeTarget::Place(place) = &target {
        known::note_assigned(p, *place, Some(&value));
    }
    Ok(match sign {
        "?=" => Expr::AssignUnlessTrue(target, Box::new(value)),
        _ => Expr::Assign(target, operator, Box::new(value)),
    })
}

/// Converts an expression to the target of an assignment.
pub(super) fn target(p: &mut JmscriptParser<'_>, expr: Expr) -> Parsed<TreeTarget> {
    match expr {
        Expr::Place(TreePlace::Bound(binding)) if !names::can_be_set(binding) => {
            // The name is the script's own from now on.
            match p.tokens.lexemes[p.tokens.at.saturating_sub(2)].token.clone() {
                Token::Name(name) => own_global(p, &name),
                _ => p.tokens.fault("nothing can be assigned to this"),
            }
        }
        Expr::Place(TreePlace::Global(at)) => {
            p.names.assigned.insert(at);
            Ok(TreeTarget::Place(loose_variable(p, at)?))
        }
        Expr::Place(place) => Ok(TreeTarget::Place(place)),
        Expr::Property(property) => {
            p.names.keys.insert(property.name.clone());
            Ok(TreeTarget::Property(property))
        }
        Expr::Index(parts, _) => Ok(TreeTarget::Index(parts)),
        _ => p.tokens.fault("nothing can be assigned to this"),
    }
}

fn own_global(p: &mut JmscriptParser<'_>, name: &Rc<str>) -> Parsed<TreeTarget> {
    let at = names::global(p, name)?;
    p.names.assigned.insert(at);
    Ok(TreeTarget::Place(TreePlace::Global(at)))
}

/// A name that BeanShell sees first on the left side within a method belongs to the method.
fn loose_variable(p: &mut JmscriptParser<'_>, at: u16) -> Parsed<TreePlace> {
    let is_new = usize::from(at) + 1 == p.names.globals.len();
    if p.dialect != Dialect::BeanShell || !p.names.scopes.in_method() || !is_new {
        return Ok(TreePlace::Global(at));
    }
    let Some(name) = p.names.globals.pop() else { return Ok(TreePlace::Global(at)) };
    p.names.assigned.remove(&at);
    Ok(TreePlace::Local(names::declare(p, name)?))
}

pub(super) fn target_of_name(p: &mut JmscriptParser<'_>, name: &Rc<str>) -> Parsed<TreeTarget> {
    match p.names.scopes.find(name) {
        Some(place) => Ok(TreeTarget::Place(place)),
        None => own_global(p, name),
    }
}

pub(super) fn ternary(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    let condition = binary(p, 0)?;
    if p.tokens.take_sign("?:") {
        let otherwise = p.nested(ternary)?;
        return Ok(Expr::Elvis(Box::new((condition, otherwise))));
    }
    if !p.tokens.take_sign("?") {
        return Ok(condition);
    }
    let then = p.nested(|p| {
        let then = ternary(p)?;
        assignment(p, then)
    })?;
    p.tokens.expect_sign(":")?;
    let otherwise = expression(p)?;
    Ok(Expr::Ternary(Box::new((condition, then, otherwise))))
}

/// Operands with operators that bind at least as tightly as `least`.
pub(super) fn binary(p: &mut JmscriptParser<'_>, least: u8) -> Parsed<Expr> {
    let mut left = unary(p)?;
    let mut chain = 0;
    while let Some((operator, binds)) = operator(p).filter(|(_, binds)| *binds >= least) {
        chain += 1;
        if chain > 500 {
            return p.tokens.fault("an expression of more than 500 operators");
        }
        take_operator(p, operator);
        left = match operator {
            Operator::As => {
                if let Token::Name(name) = p.tokens.token().clone()
                    && p.names.enums.contains(&name)
                {
                    p.refuse(format!("as {name}"), format!("give {name}.valueOf(text) for a constant here"));
                }
                let kind = types::type_name(p)?;
                Expr::Cast(kind, Box::new(left), true)
            }
            Operator::InstanceOf(is_wanted) => instance_of(p, left, is_wanted)?,
            // Powers are read from the right.
            Operator::Binary(Binary::Power) => {
                let right = p.nested(|p| binary(p, POWER))?;
                Expr::Binary(Binary::Power, Box::new((left, right)))
            }
            operator => {
                let right = p.nested(|p| binary(p, binds + 1))?;
                joined(operator, left, right)
            }
        };
    }
    Ok(left)
}

pub(super) fn instance_of(p: &mut JmscriptParser<'_>, left: Expr, is_wanted: bool) -> Parsed<Expr> {
    let start = p.tokens.at;
    let kind = types::type_name(p)?;
    if kind == Type::Any {
        let name = p.text[p.tokens.lexemes[start].start..p.tokens.lexemes[p.tokens.at - 1].end].to_owned();
        if name != "Object" {
            p.refuse_class(&name);
        }
    }
    let asked = Expr::InstanceOf(Box::new(left), kind);
    Ok(if is_wanted { asked } else { Expr::Unary(Unary::Not, Box::new(asked)) })
}

/// The operator that comes next, and how tightly it binds.
fn operator(p: &JmscriptParser<'_>) -> Option<(Operator, u8)> {
    match p.tokens.token() {
        Token::Sign(sign) => {
            let found = sign_operator(p, sign)?;
            let begins_statement = matches!(*sign, "+" | "-") && p.tokens.is_new_line();
            (!begins_statement).then_some(found)
        }
        Token::Name(name) if !p.tokens.is_new_line() => word_operator(p, name),
        _ => None,
    }
}

fn take_operator(p: &mut JmscriptParser<'_>, operator: Operator) {
    p.tokens.at += 1;
    // `!in` and `!instanceof` are two tokens.
    if matches!(operator, Operator::Binary(Binary::NotIn) | Operator::InstanceOf(false)) {
        p.tokens.at += 1;
    }
}

fn sign_operator(p: &JmscriptParser<'_>, sign: &str) -> Option<(Operator, u8)> {
    use Operator::Binary as B;
    let strict = p.dialect == Dialect::JavaScript;
    Some(match sign {
        "||" => (Operator::Or, 1),
        "&&" => (Operator::And, 2),
        "|" => (B(Binary::BitOr), 3),
        "^" => (B(Binary::BitXor), 4),
        "&" => (B(Binary::BitAnd), 5),
        "==" => (B(Binary::Equal), 6),
        "!=" => (B(Binary::NotEqual), 6),
        "===" if strict || p.dialect == Dialect::Groovy => (B(Binary::Same), 6),
        "!==" if strict || p.dialect == Dialect::Groovy => (B(Binary::NotSame), 6),
        "<=>" => (B(Binary::Compare), 6),
        "=~" => (B(Binary::Find), 6),
        "==~" => (B(Binary::Matches), 6),
        "!~" => (B(Binary::NotMatches), 6),
        "=^" | "!^" => (B(Binary::StartsWith), 6),
        "=$" | "!$" => (B(Binary::EndsWith), 6),
        "<" => (B(Binary::Less), COMPARISON),
        "<=" => (B(Binary::LessOrEqual), COMPARISON),
        ">" => (B(Binary::Greater), COMPARISON),
        ">=" => (B(Binary::GreaterOrEqual), COMPARISON),
        "!" => return negated_word(p),
        "<<" => (B(Binary::ShiftLeft), 8),
        ">>" => (B(Binary::ShiftRight), 8),
        ">>>" => (B(Binary::ShiftRightUnsigned), 8),
        ".." => (Operator::Range(true), 8),
        "..<" => (Operator::Range(false), 8),
        "+" => (B(Binary::Add), 9),
        "-" => (B(Binary::Subtract), 9),
        "*" => (B(Binary::Multiply), 10),
        "/" => (B(Binary::Divide), 10),
        "%" => (B(Binary::Remainder), 10),
        "**" => (B(Binary::Power), POWER),
        _ => return None,
    })
}

fn negated_word(p: &JmscriptParser<'_>) -> Option<(Operator, u8)> {
    let is_groovy = p.dialect == Dialect::Groovy
        && p.tokens.lexemes.get(p.tokens.at + 1).is_some_and(|next| next.is_glued);
    match p.tokens.ahead(1) {
        Token::Name(name) if is_groovy && &**name == "in" => {
            Some((Operator::Binary(Binary::NotIn), COMPARISON))
        }
        Token::Name(name) if is_groovy && &**name == "instanceof" => {
            Some((Operator::InstanceOf(false), COMPARISON))
        }
        _ => None,
    }
}

fn word_operator(p: &JmscriptParser<'_>, name: &str) -> Option<(Operator, u8)> {
    let groovy = p.dialect == Dialect::Groovy;
    let jexl = p.dialect == Dialect::Jexl;
    Some(match name {
        "in" if groovy => (Operator::Binary(Binary::In), COMPARISON),
        "as" if groovy => (Operator::As, COMPARISON),
        "instanceof" if !jexl => (Operator::InstanceOf(true), COMPARISON),
        "or" if jexl => (Operator::Or, 1),
        "and" if jexl => (Operator::And, 2),
        "eq" if jexl => (Operator::Binary(Binary::Equal), 6),
        "ne" if jexl => (Operator::Binary(Binary::NotEqual), 6),
        "lt" if jexl => (Operator::Binary(Binary::Less), COMPARISON),
        "le" if jexl => (Operator::Binary(Binary::LessOrEqual), COMPARISON),
        "gt" if jexl => (Operator::Binary(Binary::Greater), COMPARISON),
        "ge" if jexl => (Operator::Binary(Binary::GreaterOrEqual), COMPARISON),
        "div" if jexl => (Operator::Binary(Binary::Divide), 10),
        "mod" if jexl => (Operator::Binary(Binary::Remainder), 10),
        _ => return None,
    })
}

pub(super) fn unary(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    let sign = match p.tokens.token() {
        Token::Sign(sign) => *sign,
        Token::Name(name) => match (&**name, p.dialect) {
            ("not", Dialect::Jexl) => "!",
            ("empty", Dialect::Jexl) => "empty",
            ("size", Dialect::Jexl) => "size",
            ("typeof", Dialect::JavaScript) => "typeof",
            _ => return primary::postfix(p),
        },
        _ => return primary::postfix(p),
    };
    let operator = match sign {
        "-" => Unary::Minus,
        "+" => Unary::Plus,
        "!" => Unary::Not,
        "~" => Unary::BitNot,
        "empty" => Unary::Empty,
        "size" => Unary::Size,
        "typeof" => Unary::TypeOf,
        "++" | "--" => return prefix_step(p, sign),
        "(" => return cast_or_postfix(p),
        _ => return primary::postfix(p),
    };
    p.tokens.at += 1;
    let of = p.nested(|p| if operator == Unary::Minus { binary(p, POWER) } else { unary(p) })?;
    Ok(match (operator, of) {
        (Unary::Minus, Expr::Literal(literal)) => negated(literal),
        (operator, of) => Expr::Unary(operator, Box::new(of)),
    })
}

fn prefix_step(p: &mut JmscriptParser<'_>, sign: &str) -> Parsed<Expr> {
    p.tokens.at += 1;
    let of = p.nested(unary)?;
    let target = target(p, of)?;
    Ok(Expr::Step(target, if sign == "++" { 1 } else { -1 }, false))
}

pub(super) fn postfix_step(p: &mut JmscriptParser<'_>, of: Expr, sign: &str) -> Parsed<Expr> {
    let target = target(p, of)?;
    p.tokens.at += 1;
    Ok(Expr::Step(target, if sign == "++" { 1 } else { -1 }, true))
}

/// `(Type) operand`, or an expression in parentheses.
fn cast_or_postfix(p: &mut JmscriptParser<'_>) -> Parsed<Expr> {
    if matches!(p.dialect, Dialect::JavaScript | Dialect::Jexl) {
        return primary::postfix(p);
    }
    let start = p.tokens.at;
    p.tokens.at += 1;
    if let Some((kind, is_sure)) = types::try_type(p)
        && is_sure
        && p.tokens.take_sign(")")
        && starts_operand(p, &kind)
    {
        let of = p.nested(unary)?;
        return Ok(Expr::Cast(kind, Box::new(of), false));
    }
    p.tokens.at = start;
    primary::postfix(p)
}

/// True if what follows a type in parentheses is converted to it.
fn starts_operand(p: &JmscriptParser<'_>, kind: &Type) -> bool {
    if p.tokens.is_new_line() {
        return false;
    }
    match p.tokens.token() {
        Token::Name(name) => !matches!(&**name, "in" | "as" | "instanceof"),
        Token::Literal(_) | Token::Text(_) | Token::Template(_) => true,
        Token::Sign("(" | "!" | "~") => true,
        Token::Sign("[" | "{") => !matches!(kind, Type::Int | Type::Long | Type::Double),
        Token::Sign("-" | "+") => !matches!(kind, Type::Any | Type::Class(_)),
        _ => false,
    }
}

fn joined(operator: Operator, left: Expr, right: Expr) -> Expr {
    let both = Box::new((left, right));
    match operator {
        Operator::Or => Expr::Or(both),
        Operator::And => Expr::And(both),
        Operator::Range(is_inclusive) => Expr::Range(both, is_inclusive),
        Operator::Binary(binary) => Expr::Binary(binary, both),
        // These two have no expression on the right.
        Operator::As | Operator::InstanceOf(_) => both.0,
    }
}

fn negated(literal: Literal) -> Expr {
    Expr::Literal(match literal {
        Literal::Int(value) => Literal::Int(value.wrapping_neg()),
        Literal::Long(2_147_483_648) => Literal::Int(i32::MIN),
        Literal::Long(value) => Literal::Long(value.wrapping_neg()),
        Literal::Double(value) => Literal::Double(-value),
        Literal::Float(value) => Literal::Float(-value),
        other => return Expr::Unary(Unary::Minus, Box::new(Expr::Literal(other))),
    })
}
