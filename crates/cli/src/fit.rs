//! `wringer fit`: laws out of a recording.

use super::cache::proxy;
use super::values::{address, seed};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The options of `wringer fit`.
#[derive(Debug, Clone, Args)]
pub struct FitArgs {
    /// The recording, as wringer capture makes it
    #[arg(value_name = "FILE.rec")]
    pub recording: PathBuf,
    /// Write a plan of these laws, for wringer run; its ending tells its form: .toml, .json or .yaml. - is standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The proxy that the plan presses
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080", value_parser = plain)]
    pub target: String,
    /// Where the plan's origin listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9080", value_parser = address)]
    pub origin: SocketAddr,
    /// Exit with 3 where an error is larger: hit-curve, size or rate, such as 'hit-curve>2%'; several with commas
    #[arg(long, value_name = "CONDITION", value_delimiter = ',', value_parser = limit)]
    pub fail_if: Vec<FitLimit>,
    /// Seed of what the laws draw to be judged, and the plan's
    #[arg(long, value_name = "N", default_value = "1", value_parser = seed)]
    pub seed: u64,
    /// Write laws and errors as JSON to a file, or - for standard output instead of the text
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Read what is whole of a damaged recording
    #[arg(long)]
    pub salvage: bool,
}

/// The most that an error may be.
#[derive(Debug, Clone, PartialEq)]
pub struct FitLimit {
    /// Of which law.
    pub of: FitFigure,
    /// As a share.
    pub most: f64,
}

/// Errors of laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitFigure {
    /// The largest difference of hit ratios.
    HitCurve,
    /// That of the shares of objects up to a size.
    Size,
    /// That of the shares of requests up to a moment.
    Rate,
}

impl FitFigure {
    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            FitFigure::HitCurve => "hit-curve",
            FitFigure::Size => "size",
            FitFigure::Rate => "rate",
        }
    }
}

/// A proxy that is spoken to without TLS, as the plan does.
fn plain(text: &str) -> Result<String, String> {
    let endpoint = proxy(text)?;
    match endpoint.secure {
        false => Ok(endpoint.with_port(0)),
        true => Err(format!(
            "'{text}' wants TLS, which the plan does not speak: give HOST:PORT, and add tls to the plan that is written"
        )),
    }
}

fn limit(text: &str) -> Result<FitLimit, String> {
    let wanted = || format!("'{text}' is no condition: give hit-curve>2%, size>10% or rate>5%");
    let (name, share) = text.split_once('>').ok_or_else(wanted)?;
    let all = [FitFigure::HitCurve, FitFigure::Size, FitFigure::Rate];
    let of = all.into_iter().find(|one| one.name() == name.trim()).ok_or_else(wanted)?;
    let most = plan::units::share(share).map_err(|error| error.to_string())?;
    Ok(FitLimit { of, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_name_a_law_and_a_share() {
        assert_eq!(limit("hit-curve>2%"), Ok(FitLimit { of: FitFigure::HitCurve, most: 0.02 }));
        assert_eq!(limit("size > 0.1"), Ok(FitLimit { of: FitFigure::Size, most: 0.1 }));
        for wrong in ["hit-curve", "zipf>1%", "rate>x", "rate<1%"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_plan_of_laws_speaks_no_tls() {
        assert_eq!(plain("proxy:8080"), Ok("proxy:8080".to_owned()));
        assert!(plain("https://proxy:8443").is_err_and(|why| why.contains("TLS")));
    }
}
