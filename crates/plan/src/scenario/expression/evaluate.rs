//! The meaning of expressions.
//!
//! Values are texts, numbers, truths, or nothing. A text counts as a number where it is written like one and a number is
//! asked for; arithmetic on anything else gives nothing, which is no number, equals nothing but itself, and is false.

use super::{Fact, Function, Node, Operator};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::Write;

/// The result of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// A text.
    Text(Cow<'a, [u8]>),
    /// A number.
    Number(f64),
    /// True or false.
    Truth(bool),
    /// Nothing.
    Nothing,
}

/// The values and facts that an expression is evaluated with.
pub trait Facts<N> {
    /// The value that is kept under a name; `None`: there is none.
    fn kept(&self, name: &N) -> Option<&[u8]>;

    /// Returns a fact known beside the values, as a number; truths are 0 and 1.
    fn fact(&self, fact: Fact) -> f64;

    /// A number from 0 up to 1, another one each time.
    fn chance(&self) -> f64;

    /// Milliseconds since 1970.
    fn now(&self) -> u64;
}

impl Value<'_> {
    /// True, the text `true` in any case, or a number that is not 0.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Text(text) => text.trim_ascii().eq_ignore_ascii_case(b"true"),
            Value::Number(number) => *number != 0.0,
            Value::Truth(truth) => *truth,
            Value::Nothing => false,
        }
    }

    /// As a number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Text(text) => {
                std::str::from_utf8(text).ok()?.trim().parse().ok().filter(|n: &f64| n.is_finite())
            }
            Value::Number(number) => Some(*number),
            Value::Truth(_) | Value::Nothing => None,
        }
    }

    /// Appends its text: whole numbers without a point, nothing for nothing.
    pub fn write(&self, to: &mut Vec<u8>) {
        // Writing to memory does not fail.
        let _ = match self {
            Value::Text(text) => to.write_all(text),
            Value::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                write!(to, "{}", *number as i64)
            }
            Value::Number(number) => write!(to, "{number}"),
            Value::Truth(truth) => write!(to, "{truth}"),
            Value::Nothing => Ok(()),
        };
    }

    fn text(&self) -> Cow<'_, [u8]> {
        if let Value::Text(text) = self {
            return Cow::Borrowed(text);
        }
        let mut text = Vec::new();
        self.write(&mut text);
        Cow::Owned(text)
    }

    /// Numbers where one of them is a number and the other one can be; texts otherwise.
    fn equals(&self, other: &Value<'_>) -> bool {
        match (self, other) {
            (Value::Nothing, Value::Nothing) => true,
            (Value::Nothing, _) | (_, Value::Nothing) => false,
            (Value::Number(_), _) | (_, Value::Number(_)) => match (self.number(), other.number()) {
                (Some(left), Some(right)) => left == right,
                _ => false,
            },
            _ => self.text() == other.text(),
        }
    }

    fn compare(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self.number(), other.number()) {
            (Some(left), Some(right)) => left.partial_cmp(&right),
            _ if matches!((self, other), (Value::Text(_), Value::Text(_))) => {
                Some(self.text().cmp(&other.text()))
            }
            _ => None,
        }
    }
}

impl<N> Node<N> {
    /// Evaluates it.
    pub fn value<'a>(&'a self, facts: &'a impl Facts<N>) -> Value<'a> {
        match self {
            Node::Text(text) => Value::Text(Cow::Borrowed(text.as_bytes())),
            Node::Number(number) => Value::Number(*number),
            Node::Truth(truth) => Value::Truth(*truth),
            Node::Name(name) => {
                facts.kept(name).map_or(Value::Nothing, |text| Value::Text(Cow::Borrowed(text)))
            }
            Node::Fact(Fact::LastOk) => Value::Truth(facts.fact(Fact::LastOk) != 0.0),
            Node::Fact(fact) => Value::Number(facts.fact(*fact)),
            Node::Not(node) => Value::Truth(!node.value(facts).is_true()),
            Node::Minus(node) => of_number(node.value(facts).number().map(|number| -number)),
            Node::Two(left, operator, right) => two(left, *operator, right, facts),
            Node::Matches(node, pattern) => Value::Truth(pattern.is_match(&node.value(facts).text())),
            Node::Call(function, arguments) => call(*function, arguments, facts),
        }
    }
}

fn of_number<'a>(number: Option<f64>) -> Value<'a> {
    number.filter(|number| number.is_finite()).map_or(Value::Nothing, Value::Number)
}

fn two<'a, N>(
    left: &'a Node<N>,
    operator: Operator,
    right: &'a Node<N>,
    facts: &'a impl Facts<N>,
) -> Value<'a> {
    let first = left.value(facts);
    let second = || right.value(facts);
    let ordered = |wanted: &[Ordering]| {
        Value::Truth(first.compare(&second()).is_some_and(|ordering| wanted.contains(&ordering)))
    };
    let computed = |compute: fn(f64, f64) -> f64| {
        let numbers = first.number().zip(second().number());
        of_number(numbers.map(|(left, right)| compute(left, right)))
    };
    match operator {
        Operator::Or => Value::Truth(first.is_true() || second().is_true()),
        Operator::And => Value::Truth(first.is_true() && second().is_true()),
        Operator::Equal => Value::Truth(first.equals(&second())),
        Operator::Differs => Value::Truth(!first.equals(&second())),
        Operator::Less => ordered(&[Ordering::Less]),
        Operator::AtMost => ordered(&[Ordering::Less, Ordering::Equal]),
        Operator::More => ordered(&[Ordering::Greater]),
        Operator::AtLeast => ordered(&[Ordering::Greater, Ordering::Equal]),
        Operator::Contains => Value::Truth(memchr::memmem::find(&first.text(), &second().text()).is_some()),
        Operator::Plus => computed(|left, right| left + right),
        Operator::Minus => computed(|left, right| left - right),
        Operator::Times => computed(|left, right| left * right),
        Operator::Over => computed(|left, right| left / right),
        Operator::Modulo => computed(|left, right| left % right),
    }
}

fn call<'a, N>(function: Function, arguments: &'a [Node<N>], facts: &'a impl Facts<N>) -> Value<'a> {
    let value = |nth: usize| arguments.get(nth).map_or(Value::Nothing, |node| node.value(facts));
    let number = |compute: fn(f64) -> f64| of_number(value(0).number().map(compute));
    let of_text = |text: String| Value::Text(Cow::Owned(text.into_bytes()));
    let text = || String::from_utf8_lossy(&value(0).text()).into_owned();
    match function {
        Function::Length => Value::Number(text().chars().count() as f64),
        Function::Lower => of_text(text().to_lowercase()),
        Function::Upper => of_text(text().to_uppercase()),
        Function::Trim => of_text(text().trim().to_owned()),
        Function::Exists => Value::Truth(value(0) != Value::Nothing),
        Function::Floor => number(f64::floor),
        Function::Round => number(f64::round),
        Function::Abs => number(f64::abs),
        Function::Min => of_number(value(0).number().zip(value(1).number()).map(|(a, b)| a.min(b))),
        Function::Max => of_number(value(0).number().zip(value(1).number()).map(|(a, b)| a.max(b))),
        Function::Random if arguments.is_empty() => Value::Number(facts.chance()),
        Function::Random => of_number(value(0).number().zip(value(1).number()).map(|(least, most)| {
            let from = least.ceil().min(most);
            let to = most.floor().max(least);
            (from + (facts.chance() * (to - from + 1.0)).floor()).min(to)
        })),
        Function::Normal => {
            // Box and Muller's.
            let radius = 1.0 - facts.chance();
            let angle = facts.chance();
            Value::Number((-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos())
        }
        Function::Now => Value::Number(facts.now() as f64),
        Function::Text => {
            let mut all = Vec::new();
            arguments.iter().for_each(|node| node.value(facts).write(&mut all));
            Value::Text(Cow::Owned(all))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Expression;
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    struct Known(Cell<u64>);

    impl Facts<String> for Known {
        fn kept(&self, name: &String) -> Option<&[u8]> {
            Some(match name.as_str() {
                "id" => b"07",
                "token" => b"abc-1",
                "my name" => b"Zo\xc3\xab",
                "empty" => b"",
                "yes" => b"TRUE",
                _ => return None,
            })
        }

        fn fact(&self, fact: Fact) -> f64 {
            match fact {
                Fact::LastOk => 1.0,
                Fact::LastStatus => 404.0,
                Fact::LastMilliseconds => 12.0,
                Fact::User => 3.0,
                Fact::Iteration => 0.0,
            }
        }

        fn chance(&self) -> f64 {
            self.0.set(self.0.get() + 1);
            crate::draw::Draw::new(7, self.0.get()).unit()
        }

        fn now(&self) -> u64 {
            1_700_000_000_123
        }
    }

    fn shown(text: &str) -> String {
        let node = Expression::from(text).parse().unwrap_or_else(|error| panic!("{error}"));
        let known = Known(Cell::new(0));
        let mut shown = Vec::new();
        node.value(&known).write(&mut shown);
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn expressions_mean_what_they_say() {
        for (text, value) in [
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("7 - 2 - 1", "4"),
            ("7 / 2", "3.5"),
            ("7 % 4 - -1", "4"),
            ("1 / 0", ""),
            ("id == 7", "true"),
            ("id == '7'", "false"),
            ("id == '07' and not (id < 7)", "true"),
            ("id + 1", "8"),
            ("token + 1", ""),
            ("token == nobody", "false"),
            ("nobody == nobody", "true"),
            ("nobody < 1 or nobody >= 1", "false"),
            ("exists(empty) && !exists(nobody)", "true"),
            ("token contains 'bc'", "true"),
            ("token matches '^[a-z]+-\\d$'", "true"),
            ("token matches \"^\\d\"", "false"),
            ("length({{my name}}) == 3", "true"),
            ("upper({{my name}})", "ZO\u{cb}"),
            ("text(token, '/', id, 1.5)", "abc-1/071.5"),
            ("'a' < 'b' and '10' > '9'", "true"),
            ("yes", "TRUE"),
            ("yes and last.ok", "true"),
            ("last.status == 404", "true"),
            ("not last.ok or last.milliseconds > 11", "true"),
            ("not true == false", "true"),
            ("true or false and false", "true"),
            ("user * 10 + iteration", "30"),
            ("max(2, min(5, 9))", "5"),
            ("round(2.5) + floor(-1.5) + abs(-3)", "4"),
            ("now()", "1700000000123"),
            ("'it\\'s'", "it's"),
            ("!empty", "true"),
        ] {
            assert_eq!(shown(text), value, "{text}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, column, said) in [
            ("", 1, "a value is expected"),
            ("1 +", 4, "a value is expected"),
            ("(1", 3, ") is missing"),
            ("1 2", 3, "an operator or the end"),
            ("a = b", 3, "an operator or the end"),
            ("lenght(a)", 1, "is no function: there are length"),
            ("length()", 1, "number of arguments"),
            ("a matches b", 11, "quotes is expected"),
            ("a matches '('", 10, "no regular expression"),
            ("'x", 1, "no closing"),
            ("and 1", 1, "before and"),
            ("{{}}", 1, "{{name}}"),
            ("1a", 2, "a letter follows"),
            ("exists(1)", 1, "the name of a value"),
        ] {
            let error = Expression::from(text).parse().unwrap_err();
            assert_eq!((error.column, error.why.contains(said)), (column, true), "{text}: {error}");
        }
        let deep = "(".repeat(10_000);
        assert!(Expression(deep).parse().is_err());
        assert!(Expression(format!("{}1", "not ".repeat(1_000))).parse().is_err());
    }

    #[test]
    fn random_numbers_are_within_their_range() {
        let node = Expression::from("random(2, 4)").parse().unwrap();
        let known = Known(Cell::new(0));
        let mut seen = [0; 3];
        for _ in 0..3_000 {
            let number = node.value(&known).number().unwrap();
            seen[number as usize - 2] += 1;
        }
        assert!(seen.iter().all(|count| (900..1_100).contains(count)), "{seen:?}");
    }

    proptest! {
        #[test]
        fn any_text_is_an_expression_or_a_line_that_says_why(text in "[a-z0-9 ()'\"{}+*/%<>=!&|.,\\\\-]{0,40}") {
            match Expression(text.clone()).parse() {
                Ok(node) => { node.value(&Known(Cell::new(0))).is_true(); }
                Err(error) => prop_assert!(error.column <= text.chars().count() + 1),
            }
        }

        #[test]
        fn numbers_count_as_elsewhere(a in -1000i32..1000, b in -1000i32..1000, c in 1i32..50) {
            let expected = (i64::from(a) + i64::from(b) * i64::from(c) - (i64::from(a) - i64::from(b))).to_string();
            prop_assert_eq!(shown(&format!("{a} + {b} * {c} - ({a} - {b})")), expected);
        }
    }
}
