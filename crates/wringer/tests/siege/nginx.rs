//! Siege's door and the siege of the distribution press nginx: their reports agree.

#[path = "../support/nginx.rs"]
mod server;

use crate::beside_siege::{COMPARED, figures_of_both};
use server::Nginx;
use std::collections::BTreeMap;

#[test]
fn reports_agree() {
    let Some(nginx) = Nginx::start() else {
        println!("skipped: nginx is not installed; cargo xtask setup installs it");
        return;
    };
    let (plain, secure) =
        (format!("http://127.0.0.1:{}", nginx.plain), format!("https://localhost:{}", nginx.secure));
    for line in [
        "-c 2 -r 10 PLAIN/page",
        "-c 2 -r 10 PLAIN/nope",
        "-c 2 -r 5 PLAIN/moved",
        "-c 2 -r 5 PLAIN/chain",
        "-c 2 -r 5 --no-follow PLAIN/moved",
        "-c 2 -r 5 PLAIN/auth",
        "-c 2 -r 5 PLAIN/empty",
        "-c 2 -r 10 PLAIN/varies",
        "-c 1 -r 5 PLAIN/post~POST~a=1",
        "-c 1 -r 5 SECURE/page",
        "-c 1 -r 5 SECURE/nope",
    ] {
        let line = line.replace("PLAIN", &plain).replace("SECURE", &secure);
        let Some((ours, theirs)) = figures_of_both(&line) else {
            println!("skipped: siege 4.0 is not installed; cargo xtask setup installs it");
            return;
        };
        let facts = |report: &BTreeMap<String, f64>| COMPARED.map(|label| report.get(label).copied());
        assert!(facts(&theirs).iter().all(Option::is_some), "{line}: {theirs:?}");
        assert_eq!(facts(&ours), facts(&theirs), "{line}");
    }
}
