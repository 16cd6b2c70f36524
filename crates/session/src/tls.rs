//! Makes of a plan's TLS values, and of the PEM files that it names, what sessions begin with; and the origin's throw-away
//! certificate.

use crate::problem::Problem;
use plan::{CipherSuite, Inputs, Keystore, OriginTls, Plan, Tls, TlsVersion};
use wire::tls::{
    Certificates, ClientSettings, Identity, Resumption, ServerSettings, SettingsError, TlsClient, TlsServer,
    Trust, Version,
};

/// Returns the settings that the clients of a plan begin TLS with; `None`: they do not.
///
/// # Errors
/// A file that cannot be read or used.
pub fn client(plan: &Plan, inputs: &Inputs) -> Result<Option<TlsClient>, Problem> {
    let connections = plan.load.as_ref().map(|load| load.protocol.connections());
    let Some(tls) = connections.and_then(|connections| connections.tls) else { return Ok(None) };
    let settings = ClientSettings {
        trust: trust(tls, inputs)?,
        identity: client_identity(tls, inputs)?,
        versions: versions(&tls.versions),
        suites: match &tls.ciphers[..] {
            [] => CipherSuite::all().map(CipherSuite::number).collect(),
            wanted => suites(wanted),
        },
        alpn: tls.alpn.clone(),
        sni: tls.sni.clone(),
        resumption: resumption(tls.resumption),
        keep_certificates: plan.load.as_ref().is_some_and(|load| load.trace.heads),
    };
    TlsClient::new(&settings)
        .map(Some)
        .map_err(|error| Problem::impossible(format!("TLS of clients: {error}")))
}

/// Returns the settings that the origin of a plan begins TLS with; `None`: it does not.
///
/// # Errors
/// A file that cannot be read, written or used.
pub fn server(plan: &Plan, inputs: &Inputs) -> Result<Option<TlsServer>, Problem> {
    let Some(tls) = plan.origin.as_ref().and_then(|origin| origin.tls.as_ref()) else { return Ok(None) };
    let failed = |error: SettingsError| Problem::impossible(format!("TLS of the origin: {error}"));
    let given = identity("the origin's certificate", tls.certificate.as_ref(), tls.key.as_ref(), inputs)?;
    let identity = given.map_or_else(|| Identity::throw_away(&tls.names).map_err(failed), Ok)?;
    save_certificate(tls, &identity)?;
    let settings = ServerSettings {
        client_roots: tls.client_ca.as_ref().map(|file| certificates(file, inputs)).transpose()?,
        identity,
        versions: versions(&tls.versions),
        suites: suites(&tls.ciphers),
        // That of HTTP/3 is offered over QUIC alone.
        alpn: tls.alpn.iter().filter(|name| *name != "h3").cloned().collect(),
        resumption: resumption(tls.resumption),
    };
    TlsServer::new(&settings).map(Some).map_err(failed)
}

fn trust(tls: &Tls, inputs: &Inputs) -> Result<Trust, Problem> {
    match &tls.ca {
        _ if !tls.verify => Ok(Trust::Anybody),
        Some(file) => certificates(file, inputs).map(Trust::Roots),
        None => of_the_system().map(Trust::Roots),
    }
}

fn of_the_system() -> Result<Certificates, Problem> {
    // Single files of the store that cannot be read or parsed do not matter as long as something is found.
    let found = Certificates::of_der(rustls_native_certs::load_native_certs().certs);
    if found.is_empty() {
        let text = "the system trusts no certificate authority (is ca-certificates installed?): give one with --ca, or \
                    take any certificate with -k";
        return Err(Problem::impossible(text));
    }
    Ok(found)
}

fn certificates(file: &str, inputs: &Inputs) -> Result<Certificates, Problem> {
    Certificates::of_pem(read(file, inputs)?).map_err(|error| Problem::Usage(format!("{file}: {error}")))
}

fn identity(
    what: &str,
    certificate: Option<&String>,
    key: Option<&String>,
    inputs: &Inputs,
) -> Result<Option<Identity>, Problem> {
    let (Some(certificate), Some(key)) = (certificate, key) else { return Ok(None) };
    let made = Identity::of_pem(read(certificate, inputs)?, read(key, inputs)?);
    made.map(Some).map_err(|error| Problem::Usage(format!("{what} ({certificate}, key {key}): {error}")))
}

/// Returns the identity that clients show, where a server asks for it.
fn client_identity(tls: &Tls, inputs: &Inputs) -> Result<Option<Identity>, Problem> {
    let Some(Keystore { file, password, alias }) = &tls.keystore else {
        return identity("the client certificate", tls.certificate.as_ref(), tls.key.as_ref(), inputs);
    };
    let made = Identity::of_keystore(read(file, inputs)?, inputs.value_of(password), alias.as_deref());
    made.map(Some).map_err(|error| Problem::Usage(format!("the keystore {file}: {error}")))
}

fn read<'a>(file: &str, inputs: &'a Inputs) -> Result<&'a [u8], Problem> {
    inputs.whole(file).ok_or_else(|| Problem::impossible(format!("{file} was not read")))
}

fn save_certificate(tls: &OriginTls, identity: &Identity) -> Result<(), Problem> {
    let Some(file) = &tls.save_certificate else { return Ok(()) };
    std::fs::write(file, identity.certificates().to_pem())
        .map_err(|error| Problem::impossible(format!("the certificate cannot be written to {file}: {error}")))
}

fn versions(wanted: &[TlsVersion]) -> Vec<Version> {
    let of = |version: &TlsVersion| match version {
        TlsVersion::Tls12 => Version::Tls12,
        TlsVersion::Tls13 => Version::Tls13,
    };
    wanted.iter().map(of).collect()
}

fn suites(wanted: &[CipherSuite]) -> Vec<u16> {
    wanted.iter().map(|suite| suite.number()).collect()
}

fn resumption(wanted: plan::Resumption) -> Resumption {
    match wanted {
        plan::Resumption::Off => Resumption::Off,
        plan::Resumption::On => Resumption::Sessions,
        plan::Resumption::EarlyData => Resumption::EarlyData,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_knows_the_suites_that_there_are() {
        let named: Vec<u16> = CipherSuite::all().map(CipherSuite::number).collect();
        let mut there: Vec<u16> = wire::tls::suites().map(|(number, _)| number).collect();
        assert_eq!(named.len(), there.len());
        there.retain(|number| !named.contains(number));
        assert_eq!(there, [0; 0]);
    }
}
