//! AWS signatures: `--aws-sigv4` and its keys.

use super::values::secret;
use clap::Args;
use plan::{AwsSignature, Secret};

/// Requests are signed as AWS wants it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Signature")]
pub struct AwsArgs {
    /// Sign each request with AWS's signature, version 4, such as us-east-1:s3
    #[arg(long = "aws-sigv4", value_name = "REGION:SERVICE", value_parser = scope)]
    pub aws_scope: Option<(String, String)>,
    /// Access key: its id, env:VARIABLE or file:PATH [default: env:AWS_ACCESS_KEY_ID]
    #[arg(long = "aws-key", value_name = "ID", value_parser = secret, requires = "aws_scope")]
    pub aws_id: Option<Secret>,
    /// Its secret, best as env:VARIABLE or file:PATH [default: env:AWS_SECRET_ACCESS_KEY]
    #[arg(long = "aws-secret", value_name = "SECRET", value_parser = secret, requires = "aws_scope")]
    pub aws_secret: Option<Secret>,
    /// Token of a session: itself, env:VARIABLE or file:PATH [default: env:AWS_SESSION_TOKEN, where it is set]
    #[arg(long = "aws-token", value_name = "TOKEN", value_parser = secret, requires = "aws_scope")]
    pub aws_token: Option<Secret>,
}

fn scope(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((region, service)) if !region.is_empty() && !service.is_empty() => {
            Ok((region.to_owned(), service.to_owned()))
        }
        _ => Err("give region and service, such as us-east-1:s3".to_owned()),
    }
}

impl AwsArgs {
    /// The signature; what the command line lacks is taken from the environment.
    pub(super) fn signature(&self) -> Option<AwsSignature> {
        let (region, service) = self.aws_scope.clone()?;
        // A token belongs to its key.
        let default_token = || AwsSignature::default_token().filter(|_| self.aws_id.is_none());
        Some(AwsSignature {
            region,
            service,
            id: self.aws_id.clone().unwrap_or_else(AwsSignature::default_id),
            key: self.aws_secret.clone().unwrap_or_else(AwsSignature::default_key),
            token: self.aws_token.clone().or_else(default_token),
        })
    }

    /// Both halves of a key, or none.
    pub(super) fn check(&self) -> Result<(), String> {
        match (self.aws_id.is_some(), self.aws_secret.is_some()) {
            (true, false) => {
                Err("--aws-key needs --aws-secret, or set AWS_SECRET_ACCESS_KEY and leave both out"
                    .to_owned())
            }
            (false, true) => {
                Err("--aws-secret needs --aws-key, or set AWS_ACCESS_KEY_ID and leave both out".to_owned())
            }
            _ => Ok(()),
        }
    }
}
