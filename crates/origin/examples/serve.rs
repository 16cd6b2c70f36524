//! Serves the default site on one core until killed, to be measured: `serve [ADDRESS] [native|jtest]`.

use net::{Io, Limits, ListenOptions, Net};
use origin::{OriginSettings, OriginShared};
use plan::Site;
use plan::site::SiteForm;

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let at = words.next().unwrap_or_else(|| "127.0.0.1:9080".to_owned());
    let at = at.parse().map_err(std::io::Error::other)?;
    let form = match words.next().as_deref() {
        Some("jtest") => SiteForm::Jtest(plan::jtest::JtestForm::default()),
        _ => SiteForm::Native,
    };
    let site = Site { form, ..Site::default() };
    let shared = OriginShared::new(
        OriginSettings { site, behaviour: plan::Origin::default(), seed: 1, tls: None, follow: false },
        1,
    );
    let main = |net: Net| async move {
        let listener = net.listen(at, &ListenOptions::default())?;
        origin::serve(net, listener, None, shared, 0, None).await;
        Ok(())
    };
    net::run(Io::Auto, Limits::default(), main)?
}
