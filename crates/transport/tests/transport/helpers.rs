//! A worker that cannot hang, a client and a server that fit each other, and a connected pair.

use net::{Buffer, ConnectOptions, Io, Limits, ListenOptions, Net};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use transport::TransportStream;
use wire::tls::{ClientSettings, Identity, Resumption, ServerSettings, TlsClient, TlsServer, Trust, Version};

/// Runs a test's body on a worker of its own.
pub fn check<T, F: Future<Output = T>>(body: impl FnOnce(Net) -> F) -> T {
    let result = net::run(Io::Auto, Limits::default(), |net| {
        let guard = net.clone();
        net.spawn(async move {
            guard.sleep(Duration::from_secs(60)).await;
            panic!("the test hangs: {:?}", guard.usage());
        });
        body(net)
    });
    result.expect("sockets work here")
}

pub fn client(versions: &[Version], resumption: Resumption) -> TlsClient {
    let settings = ClientSettings {
        trust: Trust::Anybody,
        identity: None,
        versions: versions.to_vec(),
        suites: Vec::new(),
        alpn: Vec::new(),
        sni: None,
        resumption,
        keep_certificates: false,
    };
    TlsClient::new(&settings).unwrap()
}

pub fn server(resumption: Resumption) -> TlsServer {
    let settings = ServerSettings {
        identity: Identity::throw_away(&["localhost".to_owned()]).unwrap(),
        client_roots: None,
        versions: Vec::new(),
        suites: Vec::new(),
        alpn: Vec::new(),
        resumption,
    };
    TlsServer::new(&settings).unwrap()
}

/// The two ends of one connection; the server's handshake goes along with its first receive.
pub async fn pair(net: &Net, tls: Option<(&TlsClient, &TlsServer)>) -> (TransportStream, TransportStream) {
    let any = "127.0.0.1:0".parse().unwrap();
    let mut listener = net.listen(any, &ListenOptions::default()).unwrap();
    let at = listener.local_addr().unwrap();
    let connected = net.connect(at, &ConnectOptions::default()).await.unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    let Some((client, server)) = tls else { return (connected.into(), accepted.into()) };
    let mut accepted = TransportStream::server(net, accepted, server).unwrap();
    let connecting = async {
        let mut stream = TransportStream::client(net, connected, client, "localhost").await?;
        stream.flush().await.map(|()| stream)
    };
    let (connected, completed) = both(connecting, accepted.complete()).await;
    completed.unwrap();
    (connected.unwrap(), accepted)
}

/// A connected client that still has its first message to send, and its server.
pub async fn early_pair(
    net: &Net,
    client: &TlsClient,
    server: &TlsServer,
) -> (TransportStream, TransportStream) {
    let any = "127.0.0.1:0".parse().unwrap();
    let mut listener = net.listen(any, &ListenOptions::default()).unwrap();
    let at = listener.local_addr().unwrap();
    let connected = net.connect(at, &ConnectOptions::default()).await.unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    let accepted = TransportStream::server(net, accepted, server).unwrap();
    // With early data to send it does not wait for the server.
    (TransportStream::client(net, connected, client, "localhost").await.unwrap(), accepted)
}

/// Waits for both.
pub async fn both<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    let mut one = pin!(one);
    let mut other = pin!(other);
    let mut of_one = None;
    let mut of_other = None;
    poll_fn(|context| {
        if of_one.is_none()
            && let Poll::Ready(output) = one.as_mut().poll(context)
        {
            of_one = Some(output);
        }
        if of_other.is_none()
            && let Poll::Ready(output) = other.as_mut().poll(context)
        {
            of_other = Some(output);
        }
        match (&of_one, &of_other) {
            (Some(_), Some(_)) => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
    (of_one.expect("it is ready"), of_other.expect("it is ready"))
}

/// Receives so many bytes.
pub async fn recv_exactly(stream: &mut TransportStream, bytes: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < bytes {
        let received = stream.recv().await.unwrap();
        assert!(!received.is_empty(), "the end came after {} of {bytes} bytes", all.len());
        all.extend_from_slice(&received);
    }
    all
}

pub fn message(net: &Net, bytes: &[u8]) -> Buffer {
    let mut message = net.buffer();
    message.extend_from_slice(bytes);
    message
}

/// Bytes that are nowhere the same.
pub fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|n| (n * 7 + n / 251) as u8).collect()
}
