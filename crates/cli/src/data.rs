//! Named data for placeholders: `--var` and `--data-file`.

use clap::Args;
use plan::data::template::TemplatePiece;
use plan::data::{Data, RowOrder, Rows, Source, is_name};
use plan::{Field, Listed, RequestStep};
use std::collections::HashSet;

/// Data for placeholders such as {{id}}.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// Name for values, used as {{NAME}}: counter[:FIRST[..LAST][:STEP]], int:MIN..MAX, text:LENGTH, uuid,
    /// time[:s|ms|rfc3339|http|date], time:FORMAT, user, request, connection, worker, env:NAME or bytes:TEXT, with a format of
    /// printf's behind it where wanted (counter:1..999 as %06d). All but the format can also stand in braces themselves:
    /// {{int:1..9}}
    #[arg(long = "var", value_name = "NAME=SOURCE", value_parser = var)]
    pub vars: Vec<Data>,
    /// Rows of a file: a .csv with {{NAME.COLUMN}}, any other file with a line as {{NAME}}; orders: in-turn, random, or
    /// once (the run ends when the rows are used up) [default order: in-turn]
    #[arg(long = "data-file", value_name = "NAME=FILE[,ORDER]", value_parser = file)]
    pub data_files: Vec<Data>,
}

impl DataArgs {
    /// All of it.
    pub(super) fn data(&self) -> Vec<Data> {
        self.vars.iter().chain(&self.data_files).cloned().collect()
    }

    /// Each name stands for one thing.
    pub(super) fn check(&self) -> Result<(), String> {
        let data = self.data();
        for (nth, one) in data.iter().enumerate() {
            if data[..nth].iter().any(|other| other.name == one.name) {
                return Err(format!("{} names two kinds of data: give each a name of its own", one.name));
            }
        }
        Ok(())
    }

    /// Refuses data that no request asks for. A broken placeholder is for the plan to refuse.
    pub(super) fn check_used(&self, step: &RequestStep, fields: &[Field]) -> Result<(), String> {
        let data = self.data();
        if data.is_empty() {
            return Ok(());
        }
        let Some(used) = used(step, fields) else { return Ok(()) };
        match data.iter().find(|one| !used.contains(&one.name)) {
            Some(Data { name, .. }) => Err(format!(
                "no request has a place for the data {name}: write {{{{{name}}}}} where its values belong, or leave it out"
            )),
            None => Ok(()),
        }
    }
}

/// The names of data for which requests have placeholders; `None` where a placeholder is broken.
fn used(step: &RequestStep, fields: &[Field]) -> Option<HashSet<String>> {
    let login = step.session.login.iter().map(|like| Listed { url: &like.url, like, kind: 0 });
    let mut names = HashSet::new();
    for request in step.requests.iter().chain(login) {
        for piece in RequestStep::placeholders(request, fields.iter()).ok()? {
            if let TemplatePiece::Value { name, .. } = piece {
                names.extend(name.split('.').next().map(str::to_owned));
            }
        }
    }
    Some(names)
}

/// `example`: a value that would do.
fn named<'a>(text: &'a str, example: &str) -> Result<(String, &'a str), String> {
    match text.split_once('=') {
        Some((name, rest)) if is_name(name) => Ok((name.to_owned(), rest)),
        _ => Err(format!(
            "'{text}' does not begin with a name of letters, digits, - and _, and =, such as {example}"
        )),
    }
}

fn var(text: &str) -> Result<Data, String> {
    let (name, source) = named(text, "id=uuid")?;
    Data::parse(&name, source)
}

pub(super) fn file(text: &str) -> Result<Data, String> {
    let (name, rest) = named(text, "rows=rows.csv")?;
    let (file, order) = match rest.rsplit_once(',') {
        Some((file, order)) => (file, RowOrder::parse(order)?),
        None => (rest, RowOrder::InTurn),
    };
    if file.is_empty() {
        return Err(format!("'{text}' names no file: give one such as users=users.csv"));
    }
    Ok(Data::of(&name, Source::File(Rows { file: file.to_owned(), order, ..Rows::default() })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_read_as_typed() {
        let data = file("users=a/u.csv,once").unwrap();
        let rows = Rows { file: "a/u.csv".to_owned(), order: RowOrder::Once, ..Rows::default() };
        assert_eq!(data.source, Source::File(rows));
        assert_eq!(var("id=uuid"), Ok(Data::of("id", Source::Uuid)));
        for (said, word) in [
            (var("uuid"), "id=uuid"),
            (var("a b=uuid"), "letters"),
            (var("a=x"), "counter"),
            (file("u=x.csv,often"), "'often'"),
            (file("u="), "no file"),
        ] {
            assert!(said.clone().unwrap_err().contains(word), "{said:?}");
        }
        let twice =
            DataArgs { vars: vec![var("a=uuid").unwrap(), var("a=user").unwrap()], ..DataArgs::default() };
        assert!(twice.check().unwrap_err().contains("a names two"));
    }
}
