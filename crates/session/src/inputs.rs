//! Gets what a plan names and does not hold: secrets from the environment and from files, and data, certificates and keys
//! from files. The one place that reads them.

use crate::files;
use crate::problem::Problem;
use plan::{AwsSignature, Inputs, NamedFile, Plan, SecretSource};
use std::path::Path;

/// Reads all of it.
///
/// # Errors
/// A variable that is not set, a file that cannot be read or used, with what to try.
pub fn read(plan: &Plan) -> Result<Inputs, Problem> {
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
    Ok(inputs)
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
    let advice = if matches!(file, NamedFile::Rows(_)) { "; check --data-file" } else { "" };
    files::read(Path::new(path), files::LONGEST)
        .map_err(|error| Problem::impossible(format!("{title} {path} cannot be read: {error}{advice}")))
}
