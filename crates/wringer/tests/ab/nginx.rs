//! Both tools press nginx: statuses, lengths, authentication, redirections, connections that it ends, and TLS.

use crate::support::{ours, program, real, theirs};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

struct Nginx {
    child: Child,
    plain: u16,
    secure: u16,
    _folder: TempDir,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It has no worker processes, so nothing stays behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Nginx {
    fn start() -> Option<Nginx> {
        let program = program("nginx")?;
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let at = folder.path().display();
        let free =
            || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr()).expect("a port");
        let (plain, secure) = (free().port(), free().port());
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).expect("a key");
        let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let certificate = params.self_signed(&key).expect("a certificate");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("ours");
        write("crt.pem", &certificate.pem());
        write("key.pem", &key.serialize_pem());
        write("passwords", "joe:{PLAIN}secret\n");
        write("page", &"x".repeat(5_120));
        let temps: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {at}/{name};\n"))
            .concat();
        write(
            "nginx.conf",
            &format!(
                "daemon off; master_process off; pid {at}/pid; error_log {at}/log;
                 events {{}}
                 http {{ access_log off; {temps} keepalive_requests 100;
                 server {{ listen 127.0.0.1:{plain}; listen 127.0.0.1:{secure} ssl; root {at};
                 ssl_certificate {at}/crt.pem; ssl_certificate_key {at}/key.pem; ssl_protocols TLSv1.2;
                 location /auth {{ auth_basic x; auth_basic_user_file {at}/passwords; try_files /page =404; }}
                 location /moved {{ return 302 /page; }}
                 location /post {{ return 200 posted; }}
                 location /empty {{ return 204; }} }} }}"
            ),
        );
        let child = Command::new(program)
            .args(["-p", &at.to_string(), "-c", &folder.path().join("nginx.conf").display().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let nginx = Nginx { child, plain, secure, _folder: folder };
        let since = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, plain)).is_err() {
            assert!(since.elapsed() < Duration::from_secs(10), "nginx does not come up");
            thread::sleep(Duration::from_millis(20));
        }
        Some(nginx)
    }
}

#[test]
fn reports_agree() {
    let Some(real) = real() else { skip!("ab is not installed") };
    let Some(nginx) = Nginx::start() else { skip!("nginx is not installed") };
    let (plain, secure) = (format!("127.0.0.1:{}", nginx.plain), format!("localhost:{}", nginx.secure));
    for line in [
        "-n 40 -c 4 PLAIN/page",
        "-k -n 250 PLAIN/page",
        "-n 20 -c 2 PLAIN/nope",
        "-i -n 20 -c 2 PLAIN/page",
        "-i -k -n 20 -c 2 PLAIN/page",
        "-n 10 PLAIN/auth",
        "-A joe:secret -n 10 PLAIN/auth",
        "-A joe:wrong -n 10 PLAIN/auth",
        "-n 10 PLAIN/moved",
        "-n 10 PLAIN/empty",
        "-p body -n 10 PLAIN/post",
        "-n 10 http://SECURE/page",
        "-n 10 -c 2 https://SECURE/page",
        "-I -k -n 10 https://SECURE/page",
        "-f TLS1.2 -Z ECDHE-RSA-AES128-GCM-SHA256 -n 5 https://SECURE/page",
    ] {
        let line = line.replace("PLAIN", &plain).replace("SECURE", &secure);
        let (theirs, ours) = (theirs(&real, &line), ours(&line));
        assert_eq!((ours.exit, theirs.exit), (Some(0), Some(0)), "{line}: {ours:?}");
        assert_eq!(ours.facts(), theirs.facts(), "{line}");
        assert_eq!(ours.layout(), theirs.layout(), "{line}");
        let tls = |text: &str| {
            let lines =
                text.lines().filter(|line| line.starts_with("SSL/TLS") || line.starts_with("Server Temp"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(tls(&ours.stdout), tls(&theirs.stdout), "{line}");
    }
}
