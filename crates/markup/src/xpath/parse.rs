//! Words to an expression, by the grammar of XPath 1.0 (sections 2 and 3).

use super::function::Function;
use super::lexer::{Token, tokens};
use super::{Axis, Comparison, Expression, NodeTest, Operation, XpathKind, XpathStep};

/// Expressions within each other, at most.
const DEPTH: usize = 64;

/// Reads an expression.
///
/// # Errors
/// Why it is none that is understood.
pub(super) fn parse(text: &str) -> Result<Expression, String> {
    let wrong = |why: String| format!("'{text}' is no XPath 1.0 expression that is understood: {why}");
    let tokens = tokens(text).map_err(wrong)?;
    let mut parser = XpathParser { tokens, at: 0, depth: 0 };
    let expression = parser.expression().map_err(wrong)?;
    match parser.token() {
        Token::End => Ok(expression),
        other => Err(wrong(format!("{} cannot stand here", shown(other)))),
    }
}

struct XpathParser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

type Read<T> = Result<T, String>;
type Side = Box<Expression>;

fn shown(token: &Token) -> String {
    match token {
        Token::End => "the end".to_owned(),
        Token::Sign(sign) | Token::Operator(sign) => format!("'{sign}'"),
        Token::Name(name) => format!("'{name}'"),
        Token::Number(number) => format!("'{number}'"),
        Token::Text(text) => format!("\"{text}\""),
    }
}

impl XpathParser {
    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn ahead(&self) -> &Token {
        self.tokens.get(self.at + 1).unwrap_or(&Token::End)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.token(), Token::Sign(found) if *found == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, sign: &str) -> Read<()> {
        if self.take(sign) {
            Ok(())
        } else {
            Err(format!("'{sign}' is missing before {}", shown(self.token())))
        }
    }

    fn expression(&mut self) -> Read<Expression> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        let expression = self.level(0)?;
        self.depth -= 1;
        Ok(expression)
    }

    /// Operators from the loosest to the tightest, all of which join from the left.
    fn level(&mut self, level: usize) -> Read<Expression> {
        if level > 5 {
            return self.unary();
        }
        let mut left = self.level(level + 1)?;
        while let Some(join) = self.operator(level) {
            self.at += 1;
            let right = self.level(level + 1)?;
            left = join(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operator(&self, level: usize) -> Option<fn(Side, Side) -> Expression> {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};
        use Expression::{And, Compare, Compute, Or};
        let word = match self.token() {
            Token::Sign(word) | Token::Operator(word) => *word,
            _ => return None,
        };
        Some(match (level, word) {
            (0, "or") => |left, right| Or(left, right),
            (1, "and") => |left, right| And(left, right),
            (2, "=") => |left, right| Compare(Equal, left, right),
            (2, "!=") => |left, right| Compare(Unequal, left, right),
            (3, "<") => |left, right| Compare(Less, left, right),
            (3, "<=") => |left, right| Compare(LessOrEqual, left, right),
            (3, ">") => |left, right| Compare(Greater, left, right),
            (3, ">=") => |left, right| Compare(GreaterOrEqual, left, right),
            (4, "+") => |left, right| Compute(Operation::Add, left, right),
            (4, "-") => |left, right| Compute(Operation::Subtract, left, right),
            (5, "*") => |left, right| Compute(Operation::Multiply, left, right),
            (5, "div") => |left, right| Compute(Operation::Divide, left, right),
            (5, "mod") => |left, right| Compute(Operation::Remainder, left, right),
            _ => return None,
        })
    }

    fn unary(&mut self) -> Read<Expression> {
        let mut negative = 0;
        while self.take("-") {
            negative += 1;
        }
        let mut of = self.union()?;
        for _ in 0..negative.min(2 - negative % 2) {
            of = Expression::Negate(Box::new(of));
        }
        Ok(of)
    }

    fn union(&mut self) -> Read<Expression> {
        let mut left = self.path()?;
        while self.take("|") {
            let right = self.path()?;
            if left.kind() != XpathKind::Nodes || right.kind() != XpathKind::Nodes {
                return Err("'|' joins nodes only".to_owned());
            }
            left = Expression::Union(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn path(&mut self) -> Read<Expression> {
        if self.take("/") {
            let steps = if self.begins_step() { self.steps()? } else { Vec::new() };
            return Ok(Expression::Absolute(steps));
        }
        if self.is("//") {
            return Ok(Expression::Absolute(self.more_steps(Vec::new())?));
        }
        if self.begins_step() {
            return Ok(Expression::Relative(self.steps()?));
        }
        let of = self.primary()?;
        let predicates = self.predicates()?;
        let is_path = !predicates.is_empty() || self.is("/") || self.is("//");
        if is_path && of.kind() != XpathKind::Nodes {
            return Err("a path begins with nodes only".to_owned());
        }
        let of = match predicates.is_empty() {
            true => of,
            false => Expression::Filter(Box::new(of), predicates),
        };
        match self.is("/") || self.is("//") {
            false => Ok(of),
            true => Ok(Expression::From(Box::new(of), self.more_steps(Vec::new())?)),
        }
    }

    fn begins_step(&self) -> bool {
        match self.token() {
            Token::Sign(sign) => matches!(*sign, "." | ".." | "@" | "*"),
            Token::Name(name) => {
                let is_call = matches!(self.ahead(), Token::Sign("("));
                !is_call || matches!(name.as_str(), "node" | "text" | "comment" | "processing-instruction")
            }
            _ => false,
        }
    }

    fn steps(&mut self) -> Read<Vec<XpathStep>> {
        let first = self.step()?;
        self.more_steps(vec![first])
    }

    fn more_steps(&mut self, mut steps: Vec<XpathStep>) -> Read<Vec<XpathStep>> {
        loop {
            if self.take("//") {
                steps.push(XpathStep {
                    axis: Axis::DescendantOrSelf,
                    test: NodeTest::Node,
                    predicates: Vec::new(),
                });
            } else if !self.take("/") {
                return Ok(steps);
            }
            if !self.begins_step() {
                return Err(format!("a step is missing before {}", shown(self.token())));
            }
            steps.push(self.step()?);
        }
    }

    fn step(&mut self) -> Read<XpathStep> {
        for (sign, axis) in [("..", Axis::Parent), (".", Axis::Itself)] {
            if self.take(sign) {
                return Ok(XpathStep { axis, test: NodeTest::Node, predicates: Vec::new() });
            }
        }
        let axis = match (self.token(), self.ahead()) {
            (Token::Sign("@"), _) => {
                self.at += 1;
                Axis::Attribute
            }
            (Token::Name(name), Token::Sign("::")) => {
                let axis = axis(name).ok_or_else(|| format!("the axis '{name}' is not understood"))?;
                self.at += 2;
                axis
            }
            _ => Axis::Child,
        };
        let test = self.node_test()?;
        Ok(XpathStep { axis, test, predicates: self.predicates()? })
    }

    fn node_test(&mut self) -> Read<NodeTest> {
        if self.take("*") {
            return Ok(NodeTest::Any(None));
        }
        let Token::Name(name) = self.token().clone() else {
            return Err(format!("a name is missing before {}", shown(self.token())));
        };
        self.at += 1;
        if !self.take("(") {
            let prefix = name.strip_suffix(":*").map(str::to_owned);
            return Ok(prefix.map_or(NodeTest::Name(name), |prefix| NodeTest::Any(Some(prefix))));
        }
        let test = match name.as_str() {
            "node" => NodeTest::Node,
            "text" => NodeTest::Text,
            "comment" => NodeTest::Comment,
            "processing-instruction" => match self.token().clone() {
                Token::Text(name) => {
                    self.at += 1;
                    NodeTest::Instruction(Some(name))
                }
                _ => NodeTest::Instruction(None),
            },
            _ => return Err(format!("'{name}()' is no test of nodes")),
        };
        self.expect(")")?;
        Ok(test)
    }

    fn predicates(&mut self) -> Read<Vec<Expression>> {
        let mut predicates = Vec::new();
        while self.take("[") {
            predicates.push(self.expression()?);
            self.expect("]")?;
        }
        Ok(predicates)
    }

    fn primary(&mut self) -> Read<Expression> {
        let token = self.token().clone();
        self.at += 1;
        match token {
            Token::Number(number) => Ok(Expression::Number(number)),
            Token::Text(text) => Ok(Expression::Text(text)),
            Token::Sign("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                // Parentheses end a path: what follows counts among all that is found.
                Ok(if inner.kind() == XpathKind::Nodes {
                    Expression::Filter(Box::new(inner), Vec::new())
                } else {
                    inner
                })
            }
            Token::Name(name) if self.is("(") => self.call(&name),
            Token::Sign("$") => Err("variables are not known here".to_owned()),
            other => Err(format!("{} cannot stand here", shown(&other))),
        }
    }

    fn call(&mut self, name: &str) -> Read<Expression> {
        let function =
            Function::named(name).ok_or_else(|| format!("the function '{name}()' is not understood"))?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.is(")") {
            arguments.push(self.expression()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        function.check(name, &arguments)?;
        Ok(Expression::Call(function, arguments))
    }
}

fn axis(name: &str) -> Option<Axis> {
    Some(match name {
        "ancestor" => Axis::Ancestor,
        "ancestor-or-self" => Axis::AncestorOrSelf,
        "attribute" => Axis::Attribute,
        "child" => Axis::Child,
        "descendant" => Axis::Descendant,
        "descendant-or-self" => Axis::DescendantOrSelf,
        "following" => Axis::Following,
        "following-sibling" => Axis::FollowingSibling,
        "parent" => Axis::Parent,
        "preceding" => Axis::Preceding,
        "preceding-sibling" => Axis::PrecedingSibling,
        "self" => Axis::Itself,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_expression_says_why() {
        for (text, why) in [
            ("", "the end cannot stand here"),
            ("//", "a step is missing before the end"),
            ("/a[", "the end cannot stand here"),
            ("/a[1", "']' is missing"),
            ("a b", "'b' cannot stand here"),
            ("$x", "variables are not known"),
            ("id('x')", "'id()' is not understood"),
            ("namespace::x", "axis 'namespace' is not understood"),
            ("count()", "count() has 1 argument, not 0"),
            ("count(1)", "count() takes nodes"),
            ("1 | //a", "joins nodes only"),
            ("'x", "a text has no end"),
            ("a#b", "'#' is not understood"),
            ("for $x in //a return $x", "cannot stand here"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let deep = format!("{}1{}", "(".repeat(100), ")".repeat(100));
        assert!(parse(&deep).unwrap_err().contains("too deeply"));
    }
}
