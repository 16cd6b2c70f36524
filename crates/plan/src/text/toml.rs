//! TOML as a tree.

use super::node::{Fault, Node, NodeKey, NodePlace, NodeValue};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads TOML; offsets are bytes.
pub(super) fn read(text: &str, file: u32) -> Result<Node, Fault> {
    let place = |offset: usize| NodePlace { file, offset: u32::try_from(offset).unwrap_or(u32::MAX) };
    let read = DeTable::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        Fault::new(place(start), error.message().trim_end().replace('\n', "; "))
    })?;
    let at = place(read.span().start);
    let entries = entries(read.into_inner(), &place)?;
    Ok(Node { at, value: NodeValue::Table(entries) })
}

fn entries(table: DeTable<'_>, place: &dyn Fn(usize) -> NodePlace) -> Result<Vec<(NodeKey, Node)>, Fault> {
    let entry = |(key, value): (Spanned<_>, Spanned<DeValue<'_>>)| {
        let at = place(key.span().start);
        let name: std::borrow::Cow<'_, str> = key.into_inner();
        Ok((NodeKey { at, name: name.into_owned().into() }, node(value, place)?))
    };
    table.into_iter().map(entry).collect()
}

fn node(value: Spanned<DeValue<'_>>, place: &dyn Fn(usize) -> NodePlace) -> Result<Node, Fault> {
    let at = place(value.span().start);
    let value = match value.into_inner() {
        DeValue::String(text) => NodeValue::Text(text.into_owned()),
        DeValue::Boolean(yes) => NodeValue::Bool(yes),
        DeValue::Integer(digits) => i128::from_str_radix(digits.as_str(), digits.radix())
            .map(NodeValue::Integer)
            .map_err(|_| Fault::new(at, "this number is too large"))?,
        DeValue::Float(digits) => {
            let number = digits.as_str().parse();
            NodeValue::Float(number.map_err(|_| Fault::new(at, "this is no number"))?)
        }
        DeValue::Datetime(date) => {
            return Err(Fault::new(at, format!("write \"{date}\": dates are text here")));
        }
        DeValue::Array(items) => {
            NodeValue::List(items.into_iter().map(|item| node(item, place)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => NodeValue::Table(entries(table, place)?),
    };
    Ok(Node { at, value })
}
