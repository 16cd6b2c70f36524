//! nginx on free ports of 127.0.0.1, in a folder of its own: statuses, lengths, authentication, redirections, and TLS.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// It ends when dropped.
pub struct Nginx {
    child: Child,
    /// Its ports.
    pub plain: u16,
    pub secure: u16,
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
    /// Starts it, where it is installed.
    pub fn start() -> Option<Nginx> {
        let program = program()?;
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let at = folder.path().display();
        let free =
            || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr()).expect("a port");
        let plain = free().port();
        let secure = free().port();
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).expect("a key");
        let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let certificate = params.self_signed(&key).expect("a certificate");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("ours");
        write("crt.pem", &certificate.pem());
        write("key.pem", &key.serialize_pem());
        write("passwords", "joe:{PLAIN}secret\nu:{PLAIN}p\n");
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
                 location /chain {{ return 301 /moved; }}
                 location /varies {{ return 200 $request_id$arg_x$connection; }}
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
            assert!(since.elapsed() < Duration::from_secs(120), "nginx does not come up");
            thread::sleep(Duration::from_millis(20));
        }
        Some(nginx)
    }
}

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join("nginx")).find(|program| program.exists())
}
