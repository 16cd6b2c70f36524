//! OpenSSL as the peer: certificates that nobody would make today and many test servers have (version 1 of X.509, small keys, keys with a
//! password), and what ALPN agreed on.

use crate::support::{folder, free_address, program, run, wringer};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn openssl(folder: &Path, line: &str) {
    let mut command = Command::new("openssl");
    let ran = command.current_dir(folder).args(line.split(' ')).output().expect("openssl is here");
    assert!(ran.status.success(), "openssl {line}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A web server of OpenSSL's, which ends with this.
struct Server {
    address: SocketAddr,
    process: Child,
}

impl Server {
    fn start(folder: &Path, options: &str) -> Server {
        let address = free_address();
        let line = format!("s_server -accept {address} -cert c.pem -key k.pem -www -quiet {options}");
        let mut command = Command::new("openssl");
        command.current_dir(folder).args(line.split_whitespace());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("openssl is here");
        let until = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < until, "openssl s_server does not listen at {address}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Server { address, process }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = (self.process.kill(), self.process.wait());
    }
}

#[test]
fn any_certificate_is_any_certificate() {
    if program("openssl").is_none() {
        skip!("openssl is not here");
    }
    let version_1 = "a certificate of version 1";
    let small = "a small key";
    for (what, bits, extensions, options) in [
        (version_1, 2048, false, "-tls1_3"),
        (version_1, 2048, false, "-tls1_2"),
        (small, 1024, true, "-tls1_3 -cipher ALL:@SECLEVEL=0"),
        (small, 1024, true, "-tls1_2 -cipher ALL:@SECLEVEL=0"),
    ] {
        let folder = folder();
        openssl(folder.path(), &format!("genrsa -out k.pem {bits}"));
        if extensions {
            openssl(folder.path(), "req -x509 -new -key k.pem -subj /CN=localhost -days 900 -out c.pem");
        } else {
            openssl(folder.path(), "req -new -key k.pem -subj /CN=localhost -out r.csr");
            openssl(folder.path(), "x509 -req -in r.csr -signkey k.pem -days 900 -out c.pem");
        }
        let server = Server::start(folder.path(), options);
        let at = server.address;
        let ran = run(&format!("http https://{at}/ -k -n 4 -c 1 -q --json {{}}/result.json"));
        assert_eq!(ran.ended_with(0).report().sum("ok"), 4, "{what}, {options}");
        run(&format!("wrk -t1 -c1 -d1s https://{at}/")).ended_with(0);
        if !extensions {
            let own = folder.path().join("c.pem");
            let line = format!("http https://{at}/ -n 1 -c 1 --ca {} --json {{}}/result.json", own.display());
            let ran = run(&line).ended_with(1);
            assert_eq!(ran.report().failures()["certificate_version"], 1, "{what}, {options}");
            assert!(ran.stdout.contains("version 3"), "{}", ran.stdout);
        }
    }
}

/// Whatever the first bytes look like.
#[test]
fn an_origin_speaks_what_was_agreed_on() {
    if program("openssl").is_none() {
        skip!("openssl is not here");
    }
    let address = free_address();
    let mut origin = wringer(&format!("origin --tls --listen {address} -t 1 -q"));
    origin.wait_for("listens at");
    let ask = |protocol: &str, text: &'static [u8]| {
        // One that is served wrongly may stay open.
        let mut client = Command::new("timeout");
        let words = ["60", "openssl", "s_client", "-alpn", protocol, "-quiet", "-no_ign_eof", "-connect"];
        client.args(words).arg(address.to_string());
        let piped = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut client = piped.spawn().expect("openssl is here");
        client.stdin.as_mut().expect("it is piped").write_all(text).expect("it reads");
        let mut said = Vec::new();
        client.stdout.take().expect("it is piped").read_to_end(&mut said).expect("the origin closes");
        client.wait().expect("it ends");
        String::from_utf8_lossy(&said).into_owned()
    };
    let get = &b"GET /w/1/5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"[..];
    let preface = &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..];
    let said = ask("h2", get);
    assert!(!said.contains("HTTP/1.1 200") && said.contains("preface"), "{said:?}");
    let said = ask("http/1.1", preface);
    assert!(said.starts_with("HTTP/1.1 4") || said.starts_with("HTTP/1.1 5"), "{said:?}");
    origin.signal(Signal::INT);
    origin.end().ended_with(0);
}

#[test]
fn a_key_with_a_password_is_named() {
    if program("openssl").is_none() {
        skip!("openssl is not here");
    }
    let folder = folder();
    openssl(folder.path(), "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out p.pem");
    openssl(folder.path(), "req -x509 -new -key p.pem -subj /CN=c -days 900 -out c.pem");
    openssl(folder.path(), "pkcs8 -topk8 -in p.pem -passout pass:x -out k.pem");
    openssl(folder.path(), "ec -in p.pem -aes128 -passout pass:x -out old.pem");
    let at = folder.path().display();
    for key in ["k.pem", "old.pem"] {
        let ran = run(&format!("http https://127.0.0.1:1/ -k --cert {at}/c.pem --key {at}/{key} -n 1"));
        let ran = ran.ended_with(2);
        assert!(ran.stderr.contains("the private key is encrypted"), "{}", ran.stderr);
        assert!(ran.stderr.contains("openssl pkey") && ran.stderr.contains("--keystore"), "{}", ran.stderr);
    }
}
