//! Expressions: operators by their precedence, assignments, conversions.

use super::{Parsed, Parser, can_be_set};
use crate::dialect::Dialect;
use crate::lexer::Token;
use crate::tree::{Binary, Expr, Literal, Place, Target, Type, Unary};
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

impl Parser<'_> {
    /// An expression with whatever operators.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let left = parser.ternary()?;
            parser.assignment(left)
        })
    }

    fn assignment(&mut self, left: Expr) -> Parsed<Expr> {
        let Token::Sign(sign) = *self.token() else { return Ok(left) };
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
        self.at += 1;
        let target = self.target(left)?;
        let value = self.expression()?;
        let value = if self.starts_argument() { self.command(value)? } else { value };
        if let Target::Place(place) = &target {
            self.note_given(*place, Some(&value));
        }
        Ok(match sign {
            "?=" => Expr::AssignUnlessTrue(target, Box::new(value)),
            _ => Expr::Assign(target, operator, Box::new(value)),
        })
    }

    /// Converts an expression to the target of an assignment.
    fn target(&mut self, expr: Expr) -> Parsed<Target> {
        match expr {
            Expr::Place(Place::Bound(binding)) if !can_be_set(binding) => {
                // The name is the script's own from now on.
                match self.lexemes[self.at.saturating_sub(2)].token.clone() {
                    Token::Name(name) => self.own_global(&name),
                    _ => self.fault("nothing can be assigned to this"),
                }
            }
            Expr::Place(Place::Global(at)) => {
                self.assigned.insert(at);
                Ok(Target::Place(self.loose_variable(at)?))
            }
            Expr::Place(place) => Ok(Target::Place(place)),
            Expr::Property(property) => {
                self.keys.insert(property.name.clone());
                Ok(Target::Property(property))
            }
            Expr::Index(parts, _) => Ok(Target::Index(parts)),
            _ => self.fault("nothing can be assigned to this"),
        }
    }

    fn own_global(&mut self, name: &Rc<str>) -> Parsed<Target> {
        let at = self.global(name)?;
        self.assigned.insert(at);
        Ok(Target::Place(Place::Global(at)))
    }

    /// A name that BeanShell sees first on the left side within a method belongs to the method.
    fn loose_variable(&mut self, at: u16) -> Parsed<Place> {
        let is_new = usize::from(at) + 1 == self.globals.len();
        if self.dialect != Dialect::BeanShell || !self.scopes.in_method() || !is_new {
            return Ok(Place::Global(at));
        }
        let Some(name) = self.globals.pop() else { return Ok(Place::Global(at)) };
        self.assigned.remove(&at);
        Ok(Place::Local(self.declare(name)?))
    }

    pub(super) fn target_of_name(&mut self, name: &Rc<str>) -> Parsed<Target> {
        match self.scopes.find(name) {
            Some(place) => Ok(Target::Place(place)),
            None => self.own_global(name),
        }
    }

    fn ternary(&mut self) -> Parsed<Expr> {
        let condition = self.binary(0)?;
        if self.take_sign("?:") {
            let otherwise = self.nested(Self::ternary)?;
            return Ok(Expr::Elvis(Box::new((condition, otherwise))));
        }
        if !self.take_sign("?") {
            return Ok(condition);
        }
        let then = self.nested(|parser| {
            let then = parser.ternary()?;
            parser.assignment(then)
        })?;
        self.expect_sign(":")?;
        let otherwise = self.expression()?;
        Ok(Expr::Ternary(Box::new((condition, then, otherwise))))
    }

    /// Operands with operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        let mut chain = 0;
        while let Some((operator, binds)) = self.operator().filter(|(_, binds)| *binds >= least) {
            chain += 1;
            if chain > 500 {
                return self.fault("an expression of more than 500 operators");
            }
            self.take_operator(operator);
            left = match operator {
                Operator::As => {
                    let kind = self.type_name()?;
                    Expr::Cast(kind, Box::new(left), true)
                }
                Operator::InstanceOf(is_wanted) => self.instance_of(left, is_wanted)?,
                // Powers are read from the right.
                Operator::Binary(Binary::Power) => {
                    let right = self.nested(|parser| parser.binary(POWER))?;
                    Expr::Binary(Binary::Power, Box::new((left, right)))
                }
                operator => {
                    let right = self.nested(|parser| parser.binary(binds + 1))?;
                    joined(operator, left, right)
                }
            };
        }
        Ok(left)
    }

    fn instance_of(&mut self, left: Expr, is_wanted: bool) -> Parsed<Expr> {
        let start = self.at;
        let kind = self.type_name()?;
        if kind == Type::Any {
            let name = self.text[self.lexemes[start].start..self.lexemes[self.at - 1].end].to_owned();
            if name != "Object" {
                self.refuse_class(&name);
            }
        }
        let asked = Expr::InstanceOf(Box::new(left), kind);
        Ok(if is_wanted { asked } else { Expr::Unary(Unary::Not, Box::new(asked)) })
    }

    /// The operator that comes next, and how tightly it binds.
    fn operator(&self) -> Option<(Operator, u8)> {
        match self.token() {
            Token::Sign(sign) => {
                let found = self.sign_operator(sign)?;
                let begins_statement = matches!(*sign, "+" | "-") && self.is_new_line();
                (!begins_statement).then_some(found)
            }
            Token::Name(name) if !self.is_new_line() => self.word_operator(name),
            _ => None,
        }
    }

    fn take_operator(&mut self, operator: Operator) {
        self.at += 1;
        // `!in` and `!instanceof` are two tokens.
        if matches!(operator, Operator::Binary(Binary::NotIn) | Operator::InstanceOf(false)) {
            self.at += 1;
        }
    }

    fn sign_operator(&self, sign: &str) -> Option<(Operator, u8)> {
        use Operator::Binary as B;
        let strict = self.dialect == Dialect::JavaScript;
        Some(match sign {
            "||" => (Operator::Or, 1),
            "&&" => (Operator::And, 2),
            "|" => (B(Binary::BitOr), 3),
            "^" => (B(Binary::BitXor), 4),
            "&" => (B(Binary::BitAnd), 5),
            "==" => (B(Binary::Equal), 6),
            "!=" => (B(Binary::NotEqual), 6),
            "===" if strict || self.dialect == Dialect::Groovy => (B(Binary::Same), 6),
            "!==" if strict || self.dialect == Dialect::Groovy => (B(Binary::NotSame), 6),
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
            "!" => return self.negated_word(),
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

    fn negated_word(&self) -> Option<(Operator, u8)> {
        let is_groovy = self.dialect == Dialect::Groovy
            && self.lexemes.get(self.at + 1).is_some_and(|next| next.is_glued);
        match self.ahead(1) {
            Token::Name(name) if is_groovy && &**name == "in" => {
                Some((Operator::Binary(Binary::NotIn), COMPARISON))
            }
            Token::Name(name) if is_groovy && &**name == "instanceof" => {
                Some((Operator::InstanceOf(false), COMPARISON))
            }
            _ => None,
        }
    }

    fn word_operator(&self, name: &str) -> Option<(Operator, u8)> {
        let (groovy, jexl) = (self.dialect == Dialect::Groovy, self.dialect == Dialect::Jexl);
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

    fn unary(&mut self) -> Parsed<Expr> {
        let sign = match self.token() {
            Token::Sign(sign) => *sign,
            Token::Name(name) => match (&**name, self.dialect) {
                ("not", Dialect::Jexl) => "!",
                ("empty", Dialect::Jexl) => "empty",
                ("size", Dialect::Jexl) => "size",
                ("typeof", Dialect::JavaScript) => "typeof",
                _ => return self.postfix(),
            },
            _ => return self.postfix(),
        };
        let operator = match sign {
            "-" => Unary::Minus,
            "+" => Unary::Plus,
            "!" => Unary::Not,
            "~" => Unary::BitNot,
            "empty" => Unary::Empty,
            "size" => Unary::Size,
            "typeof" => Unary::TypeOf,
            "++" | "--" => return self.prefix_step(sign),
            "(" => return self.cast_or_postfix(),
            _ => return self.postfix(),
        };
        self.at += 1;
        let of = self
            .nested(|parser| if operator == Unary::Minus { parser.binary(POWER) } else { parser.unary() })?;
        Ok(match (operator, of) {
            (Unary::Minus, Expr::Literal(literal)) => negated(literal),
            (operator, of) => Expr::Unary(operator, Box::new(of)),
        })
    }

    fn prefix_step(&mut self, sign: &str) -> Parsed<Expr> {
        self.at += 1;
        let of = self.nested(Self::unary)?;
        let target = self.target(of)?;
        Ok(Expr::Step(target, if sign == "++" { 1 } else { -1 }, false))
    }

    pub(super) fn postfix_step(&mut self, of: Expr, sign: &str) -> Parsed<Expr> {
        let target = self.target(of)?;
        self.at += 1;
        Ok(Expr::Step(target, if sign == "++" { 1 } else { -1 }, true))
    }

    /// `(Type) operand`, or an expression in parentheses.
    fn cast_or_postfix(&mut self) -> Parsed<Expr> {
        if matches!(self.dialect, Dialect::JavaScript | Dialect::Jexl) {
            return self.postfix();
        }
        let start = self.at;
        self.at += 1;
        if let Some((kind, is_sure)) = self.try_type()
            && is_sure
            && self.take_sign(")")
            && self.starts_operand(&kind)
        {
            let of = self.nested(Self::unary)?;
            return Ok(Expr::Cast(kind, Box::new(of), false));
        }
        self.at = start;
        self.postfix()
    }

    /// True if what follows a type in parentheses is converted to it.
    fn starts_operand(&self, kind: &Type) -> bool {
        if self.is_new_line() {
            return false;
        }
        match self.token() {
            Token::Name(name) => !matches!(&**name, "in" | "as" | "instanceof"),
            Token::Literal(_) | Token::Text(_) | Token::Template(_) => true,
            Token::Sign("(" | "!" | "~") => true,
            Token::Sign("[" | "{") => !matches!(kind, Type::Int | Type::Long | Type::Double),
            Token::Sign("-" | "+") => !matches!(kind, Type::Any | Type::Class(_)),
            _ => false,
        }
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
