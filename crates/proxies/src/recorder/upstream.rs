//! The way to servers: a connection for each request, over TLS where the URL says so.

use super::RecorderError;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::Url;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(15);

/// Sends requests on to servers.
pub(super) struct Upstream {
    tls: TlsConnector,
}

impl Upstream {
    /// Trusts the system's certificates, or those of a file.
    pub(super) fn new(file: Option<&Path>) -> Result<Upstream, RecorderError> {
        let mut roots = RootCertStore::empty();
        match file {
            None => roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs).0,
            Some(file) => {
                let said =
                    |why: String| RecorderError::Usage(format!("the certificates {}: {why}", file.display()));
                let found = CertificateDer::pem_file_iter(file).map_err(|error| said(error.to_string()))?;
                let found: Result<Vec<_>, _> = found.collect();
                let found = found.map_err(|error| said(error.to_string()))?;
                match roots.add_parsable_certificates(found).0 {
                    0 => return Err(said("there is none in PEM".to_owned())),
                    count => count,
                }
            }
        };
        let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Upstream { tls: TlsConnector::from(Arc::new(config)) })
    }

    /// Sends a request to where its URL leads.
    ///
    /// # Errors
    /// Why there is no answer, in words.
    pub(super) async fn send(
        &self,
        url: &Url,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, String> {
        let host = url.host_str().ok_or("the URL has no host")?.trim_matches(['[', ']']);
        let port = url.port_or_known_default().ok_or("the URL has no port")?;
        let connected = tokio::time::timeout(CONNECT, TcpStream::connect((host, port))).await;
        let stream =
            connected.map_err(|_| "no connection in 15 s".to_owned())?.map_err(|error| error.to_string())?;
        // Without it, requests would only be slower.
        let _ = stream.set_nodelay(true);
        if url.scheme() != "https" {
            return exchange(stream, request).await;
        }
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let shaken = tokio::time::timeout(CONNECT, self.tls.connect(name, stream)).await;
        let stream =
            shaken.map_err(|_| "no TLS in 15 s".to_owned())?.map_err(|error| format!("TLS: {error}"))?;
        exchange(stream, request).await
    }
}

async fn exchange<Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: Stream,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, String> {
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // It ends with its one exchange; what was wrong with it the answer says.
    tokio::spawn(async move { drop(connection.await) });
    sender.send_request(request).await.map_err(|error| error.to_string())
}
