//! Functions about properties, variables, counters and files.

use super::{Use, evaluate};

/// A property, `1` where it is not set and no default is given.
pub(super) fn p(used: &mut Use<'_>) -> Result<String, String> {
    let otherwise = used.arguments.get(1).map_or("1", |otherwise| otherwise.trim()).to_owned();
    Ok(used.context.property(used.argument(0).trim()).unwrap_or(otherwise))
}

/// A property, its own name where it is not set and no default is given.
pub(super) fn property(used: &mut Use<'_>) -> Result<String, String> {
    let name = used.argument(0).trim().to_owned();
    let otherwise = used.arguments.get(2).map_or(name.as_str(), |otherwise| otherwise.trim()).to_owned();
    let value = used.context.property(&name).unwrap_or(otherwise);
    used.keep(1, value)
}

/// Sets a property; its old value, or `null`, where the third argument asks for it.
pub(super) fn set_property(used: &mut Use<'_>) -> Result<String, String> {
    let name = used.argument(0).to_owned();
    let value = used.argument(1).to_owned();
    let before = used.context.property(&name).unwrap_or_else(|| "null".to_owned());
    used.context.set_property(&name, &value);
    Ok(if used.argument(2).eq_ignore_ascii_case("true") { before } else { String::new() })
}

pub(super) fn is_property(used: &mut Use<'_>) -> Result<String, String> {
    Ok(used.context.property(used.argument(0)).is_some().to_string())
}

pub(super) fn is_variable(used: &mut Use<'_>) -> Result<String, String> {
    Ok(used.context.variable(used.argument(0)).is_some().to_string())
}

/// A variable whose name is computed; the name where there is none and no default is given.
pub(super) fn variable(used: &mut Use<'_>) -> Result<String, String> {
    let otherwise = used.arguments.get(1).cloned().unwrap_or_else(|| used.argument(0).to_owned());
    Ok(used.context.variable(used.argument(0)).unwrap_or(otherwise))
}

pub(super) fn eval(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.argument(0).to_owned();
    evaluate(&text, used.context)
}

pub(super) fn eval_var(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.context.variable(used.argument(0)).unwrap_or_default();
    evaluate(&text, used.context)
}

/// A variable of the environment: whoever runs the plan gives those that it names, as properties `env.NAME`.
pub(super) fn env(used: &mut Use<'_>) -> Result<String, String> {
    let name = used.argument(0).to_owned();
    let otherwise = used.arguments.get(2).cloned().unwrap_or_else(|| name.clone());
    let value = used.context.property(&format!("env.{name}")).unwrap_or(otherwise);
    used.keep(1, value)
}

pub(super) fn counter(used: &mut Use<'_>) -> Result<String, String> {
    let of_user = used.argument(0).trim().eq_ignore_ascii_case("true");
    let count = used.context.count(used.nth, of_user).to_string();
    used.keep(1, count)
}

pub(super) fn log(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.argument(0).to_owned();
    used.context.log(&text);
    Ok(text)
}

pub(super) fn logn(used: &mut Use<'_>) -> Result<String, String> {
    log(used).map(|_| String::new())
}

pub(super) fn file_to_string(used: &mut Use<'_>) -> Result<String, String> {
    let path = used.argument(0).trim().to_owned();
    let bytes = used.context.file(&path).ok_or_else(|| format!("the file {path} is not there"))?;
    used.keep(2, String::from_utf8_lossy(&bytes).into_owned())
}

/// A column, from 0, of the row that the user is at; `next` goes on to the next row and gives nothing.
pub(super) fn csv_read(used: &mut Use<'_>) -> Result<String, String> {
    let path = used.argument(0).trim().to_owned();
    let column = used.argument(1).trim().to_owned();
    let bytes = used.context.file(&path).ok_or_else(|| format!("the file {path} is not there"))?;
    let row = used.context.row(&path, column == "next");
    if column == "next" {
        return Ok(String::new());
    }
    let column: usize =
        column.parse().map_err(|_| format!("'{column}' is no column: give a number from 0"))?;
    let text = String::from_utf8_lossy(&bytes);
    let rows: Vec<&str> = text.lines().collect();
    let line = rows.get(row % rows.len().max(1)).copied().unwrap_or("");
    Ok(line.split(',').nth(column).unwrap_or("").to_owned())
}
