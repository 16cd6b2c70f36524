//! Both tools press nginx: statuses, lengths, authentication, redirections, connections that it ends, and TLS.

#[path = "../support/nginx.rs"]
mod server;

use crate::support::{ours, real, theirs};
use server::Nginx;

#[test]
fn reports_agree() {
    let Some(real) = real() else { skip!("ab is not installed") };
    let Some(nginx) = Nginx::start() else { skip!("nginx is not installed") };
    let plain = format!("127.0.0.1:{}", nginx.plain);
    let secure = format!("localhost:{}", nginx.secure);
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
        let theirs = theirs(&real, &line);
        let ours = ours(&line);
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
