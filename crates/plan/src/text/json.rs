//! JSON (RFC 8259) as a tree. Comments and other liberties are refused.

use super::node::{DEEPEST, Fault, Node, NodeKey, NodePlace, NodeValue, table};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads JSON; offsets are bytes.
pub(super) fn read(text: &str, file: u32) -> Result<Node, Fault> {
    let place = |offset: usize| NodePlace { file, offset: u32::try_from(offset).unwrap_or(u32::MAX) };
    let read = parse_to_ast(text, &CollectOptions::default(), &STRICT)
        .map_err(|error| Fault::new(place(error.range().start), error.kind().to_string()))?;
    let value = read.value.ok_or_else(|| Fault::new(place(0), "the file is empty"))?;
    node(value, &place, 0)
}

fn node(value: ast::Value<'_>, place: &dyn Fn(usize) -> NodePlace, depth: usize) -> Result<Node, Fault> {
    let at = place(value.range().start);
    if depth > DEEPEST {
        return Err(Fault::new(at, "tables and lists stand too deep in each other"));
    }
    let value = match value {
        ast::Value::NullKeyword(_) => NodeValue::Null,
        ast::Value::BooleanLit(yes) => NodeValue::Bool(yes.value),
        ast::Value::StringLit(text) => NodeValue::Text(text.value.into_owned()),
        ast::Value::NumberLit(digits) => number(digits.value, at)?,
        ast::Value::Array(list) => {
            let items = list.elements.into_iter().map(|item| node(item, place, depth + 1));
            NodeValue::List(items.collect::<Result<_, _>>()?)
        }
        ast::Value::Object(object) => {
            let entry = |property: ast::ObjectProp<'_>| {
                let at = place(property.range.start);
                let value = node(property.value, place, depth + 1)?;
                Ok((NodeKey { at, name: property.name.into_string().into() }, value))
            };
            return table(at, object.properties.into_iter().map(entry).collect::<Result<_, _>>()?);
        }
    };
    Ok(Node { at, value })
}

fn number(digits: &str, at: NodePlace) -> Result<NodeValue, Fault> {
    let whole = digits.parse().map(NodeValue::Integer).ok();
    let finite = || digits.parse().ok().filter(|number: &f64| number.is_finite()).map(NodeValue::Float);
    whole.or_else(finite).ok_or_else(|| Fault::new(at, "this number is too large"))
}
