//! Gets what a plan names and does not hold: secrets from the environment and from files, and data, certificates and keys
//! from files. The one place that reads them.

use crate::files;
use crate::problem::Problem;
use plan::{AwsSignature, BodyFile, Inputs, NamedFile, Plan, SecretSource};
use std::collections::HashSet;
use std::path::Path;

/// Reads all of it. `carried`: for machines that do not have the files that bodies stand in.
///
/// # Errors
/// A variable that is not set, a file that cannot be read or used, with what to try.
pub fn read(plan: &Plan, carried: bool) -> Result<Inputs, Problem> {
    let mut inputs = Inputs::default();
    for source in plan.secrets() {
        if let Some(value) = secret(&source)? {
            inputs.add_secret(&source, &value);
        }
    }
    for file in plan.files() {
        let title = file.title();
        let path = file.path().to_owned();
        let bytes = bytes(&file)?;
        inputs.add_file(file, bytes).map_err(|why| Problem::impossible(format!("{title} {path}: {why}")))?;
    }
    let mut seen = HashSet::new();
    for file in plan.body_files() {
        if seen.insert((&file.file, file.bytes, &file.sha256)) {
            check_body(file)?;
        }
    }
    if carried {
        add_bodies(plan, &mut inputs)?;
    }
    Ok(inputs)
}

/// Files of this machine are nobody else's to read or send: all that a plan names comes with it.
pub fn refuse_missing(plan: &Plan, inputs: &Inputs) -> Result<(), Problem> {
    let bodies = plan.body_files().map(|file| NamedFile::Body(file.file.clone()));
    match plan.files().into_iter().chain(bodies).find(|file| !inputs.has_file(file)) {
        None => Ok(()),
        Some(file) => {
            Err(Problem::impossible(format!("{} {} did not come with the plan", file.title(), file.path())))
        }
    }
}

/// Adds what the files hold that bodies stand in.
fn add_bodies(plan: &Plan, inputs: &mut Inputs) -> Result<(), Problem> {
    for file in plan.body_files() {
        let named = NamedFile::Body(file.file.clone());
        if !inputs.has_file(&named) {
            let read = bytes(&named)?;
            inputs.add_file(named, read).map_err(Problem::Impossible)?;
        }
    }
    Ok(())
}

/// Checks that a file can be read, and is the one that the plan speaks of.
fn check_body(told: &BodyFile) -> Result<(), Problem> {
    let path = Path::new(&told.file);
    let refused = |why: String| Problem::impossible(format!("the body file {}: {why}", told.file));
    let unread = |error: std::io::Error| refused(format!("it cannot be read: {error}; check its path"));
    let facts = std::fs::metadata(path).map_err(unread)?;
    if !facts.is_file() {
        return Err(refused("it is no file; give one that has a length".to_owned()));
    }
    std::fs::File::open(path).map_err(unread)?;
    let other = "it is another one than the plan was made for; take bytes and sha256 out of the plan to send it as it is now";
    if told.bytes.is_some_and(|bytes| bytes != facts.len()) {
        return Err(refused(format!("it has {} bytes: {other}", facts.len())));
    }
    if let Some(sha256) = told.sha256.as_ref().filter(|_| !told.is_measured()) {
        let measured = files::measured(path).map_err(unread)?;
        if measured.sha256.as_ref() != Some(sha256) {
            return Err(refused(format!("its SHA-256 differs: {other}")));
        }
    }
    Ok(())
}

/// The value of a secret; `None` where it may be missing.
fn secret(source: &SecretSource) -> Result<Option<String>, Problem> {
    match source {
        SecretSource::Typed => Ok(None),
        SecretSource::File(path) => {
            files::read_text(Path::new(path), files::LONGEST_SECRET).map(Some).map_err(|error| {
                Problem::impossible(format!("the secret {source}: {path} cannot be read: {error}"))
            })
        }
        SecretSource::Environment(name) => match std::env::var(name) {
            Ok(value) if !value.is_empty() => Ok(Some(value)),
            _ if AwsSignature::default_token().is_some_and(|token| token.source() == source) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(Problem::Usage(format!("the secret {source}: what {name} holds is no UTF-8 text")))
            }
            _ => Err(Problem::Usage(format!(
                "the secret {source}: the environment has no variable {name}, or it is empty; set it, or name another \
                 source"
            ))),
        },
    }
}

/// All bytes of a file, in a piece of memory of its size.
fn bytes(file: &NamedFile) -> Result<Vec<u8>, Problem> {
    let title = file.title();
    let path = file.path();
    let advice = if matches!(file, NamedFile::Rows(_)) { "; check --data-file" } else { "; check its name" };
    files::read(Path::new(path), files::LONGEST)
        .map_err(|error| Problem::Usage(format!("{title} {path} cannot be read: {error}{advice}")))
}
