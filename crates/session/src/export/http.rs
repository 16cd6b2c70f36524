//! Figures sent by POST, over one connection as long as it lives, with TLS where the URL says `https`.

use crate::problem::Problem;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{Request, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use plan::{Endpoint, FieldValue, Masked};

/// The field of credentials.
pub(super) const AUTHORIZATION: &str = "authorization";
/// How much of a refusal is told.
const TOLD_BYTES: usize = 300;

/// Somebody who takes figures by POST.
#[derive(Debug)]
pub(super) struct Post {
    to: Uri,
    fields: Vec<(String, String)>,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl Post {
    /// # Errors
    /// TLS is asked for, and this machine's authorities cannot be read.
    pub(super) fn new(target: Target, fields: Vec<(String, String)>) -> Result<Post, Problem> {
        let is_secure = target.uri.scheme_str() == Some("https");
        let client = Client::builder(TokioExecutor::new()).build(connector(is_secure)?);
        Ok(Post { to: target.uri, fields, client })
    }

    pub(super) fn authority(&self) -> String {
        self.to.authority().expect("a target has one").to_string()
    }

    pub(super) async fn send(&self, body: Vec<u8>) -> Result<(), String> {
        let mut request = Request::post(self.to.clone());
        for (name, value) in &self.fields {
            request = request.header(name, value);
        }
        let request = request.body(Full::from(body)).map_err(|error| error.to_string())?;
        let answer = self.client.request(request).await.map_err(|error| said(&error))?;
        let status = answer.status();
        // Read to its end, so that the connection can take the next figures.
        let told = Limited::new(answer.into_body(), 1 << 16).collect().await;
        if status.is_success() {
            return Ok(());
        }
        let told = told.map_or_else(|_| Bytes::new(), |body| body.to_bytes());
        let told = String::from_utf8_lossy(&told[..told.len().min(TOLD_BYTES)]).into_owned();
        let told = report::harmless(&told).trim().replace('\n', " ");
        Err(format!("answer {status} {told}").trim_end().to_owned())
    }
}

/// Authorities are read only where they are asked.
fn connector(is_secure: bool) -> Result<HttpsConnector<HttpConnector>, Problem> {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let builder = HttpsConnectorBuilder::new();
    let builder = if is_secure {
        let cannot = |error| {
            Problem::impossible(format!(
                "figures cannot be sent over TLS: this machine's authorities: {error}"
            ))
        };
        builder.with_provider_and_native_roots(provider).map_err(cannot)?
    } else {
        let config = rustls::ClientConfig::builder_with_provider(provider.into());
        let config = config.with_safe_default_protocol_versions().expect("the provider has both versions");
        let nobody = rustls::RootCertStore::empty();
        builder.with_tls_config(config.with_root_certificates(nobody).with_no_client_auth())
    };
    Ok(builder.https_or_http().enable_http1().build())
}

/// An error with what is behind it.
fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}

/// Where figures are sent, without what stood before its host.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) uri: Uri,
    /// The field that a name and password before the host mean.
    pub(super) authorization: Option<(String, String)>,
}

impl Target {
    /// Takes a URL apart. `option`: who names it.
    pub(super) fn of(option: &str, url: &str) -> Result<Target, Problem> {
        let shown = Masked::address(url);
        let refused = |why: &dyn std::fmt::Display| Problem::Usage(format!("{option} {shown}: {why}"));
        let (plain, credentials) = Endpoint::split(url);
        let uri: Uri = plain.parse().map_err(|error| refused(&error))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.authority().is_none() {
            return Err(refused(&"give a whole URL, such as http://127.0.0.1:4318"));
        }
        let basic = credentials.map(|both| FieldValue::basic(both).text().into_owned());
        Ok(Target { uri, authorization: basic.map(|value| (AUTHORIZATION.to_owned(), value)) })
    }
}
