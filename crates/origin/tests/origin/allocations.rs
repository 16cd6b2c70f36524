//! After warm-up a request allocates nothing, neither in the origin nor in the client of this test.

use net::{ConnectOptions, Io, Limits, ListenOptions, Net};
use origin::{OriginSettings, OriginShared};
use plan::Site;
use plan::site::SiteForm;

const WARM_UP: u32 = 200;

#[test]
fn a_request_allocates_nothing() {
    let native = || SiteForm::Native;
    let jtest = || SiteForm::Jtest(plan::jtest::JtestForm::default());
    let conditional = "If-None-Match: \"1-0-0\"\r\nRange: bytes=5-9\r\n";
    for (form, path, lines) in [
        (&native as &dyn Fn() -> SiteForm, "/w/1/100", ""),
        (&native, "/w/1/100000", ""),
        (&native, "/w/2/100", conditional),
        (&native, "/w/1/100", conditional),
        (&jtest, "/0.5/500", "Range: bytes=5-9\r\n"),
    ] {
        let run = |requests| {
            let site = Site { form: form(), ..Site::default() };
            let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n");
            allocation_counter::measure(|| serve_and_ask(site, request.as_bytes(), requests)).count_total
        };
        // The first run of all also makes the bytes that bodies consist of.
        run(0);
        let short = run(0);
        let long = run(2_000);
        assert!(short > 0, "the counter counts");
        assert_eq!(long, short, "allocations for 2,000 requests more of {path}");
    }
}

/// Origin and client as two tasks of one worker, so that one thread's allocations are all.
fn serve_and_ask(site: Site, request: &[u8], requests: u32) {
    let shared = OriginShared::new(
        OriginSettings { site, behaviour: plan::Origin::default(), seed: 1, tls: None, follow: false },
        1,
    );
    let main = |net: Net| async move {
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = net.listen(any, &ListenOptions::default()).unwrap();
        let at = listener.local_addr().unwrap();
        net.spawn(origin::serve(net.clone(), listener, None, shared, 0, None));
        let mut stream = net.connect(at, &ConnectOptions::default()).await.unwrap();
        for _ in 0..WARM_UP + requests {
            let mut out = net.buffer();
            out.extend_from_slice(request);
            stream.send(out).await.unwrap();
            let received = stream.recv().await.unwrap();
            let mut left = missing(&received);
            drop(received);
            while left > 0 {
                left -= stream.discard(left).await.unwrap();
            }
        }
    };
    net::run(Io::Auto, Limits::default(), main).unwrap();
}

/// Bytes of the body that did not come with the head.
fn missing(received: &[u8]) -> u64 {
    let blank = received.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    let name = b"Content-Length: ";
    let length = match received[..blank].windows(name.len()).position(|window| window == name) {
        Some(at) => plan::site::leading_number(&received[at + name.len()..]).unwrap(),
        None => 0,
    };
    length - (received.len() - blank) as u64
}
