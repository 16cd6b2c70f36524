//! `wringer http`: what its options mean.

use super::cache::{HTTPS, proxy};
use super::options::{LoadArgs, OutputArgs, WatchArgs};
use super::pace::PaceArgs;
use super::session::{ReachArgs, SessionArgs};
use super::tls::TlsArgs;
use super::values::{field, status, url};
use clap::Args;
use plan::{
    Check, Expect, ExpectBody, Field, Http1, Limits, Load, Phase, Plan, Protocol, Request, RequestForm,
    RequestStep, Scenario, Site, Step, Trace,
};

/// The options of `wringer http`.
#[derive(Debug, Clone, Args)]
pub struct HttpArgs {
    /// The URLs, fetched in turn
    #[arg(value_name = "URL", required = true, value_parser = url)]
    pub urls: Vec<String>,
    /// How requests look and what their answers must be.
    #[command(flatten)]
    pub requests: RequestArgs,
    /// What users remember and do of themselves.
    #[command(flatten)]
    pub session: SessionArgs,
    /// How connections are reached.
    #[command(flatten)]
    pub reach: ReachArgs,
    /// When requests are sent.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// How clients behave.
    #[command(flatten)]
    pub load: LoadArgs,
    /// How TLS is spoken.
    #[command(flatten)]
    pub tls: TlsArgs,
    /// What is watched beside.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// What is printed and kept.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How requests look and what their answers must be.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Requests")]
pub struct RequestArgs {
    /// Method [default: GET, or POST with --data]
    #[arg(long, short = 'X', value_name = "METHOD")]
    pub method: Option<String>,
    /// Field added to each request
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE", value_parser = field)]
    pub headers: Vec<Field>,
    /// Body of each request
    #[arg(long, value_name = "TEXT")]
    pub data: Option<String>,
    /// Send through this proxy, HOST:PORT, or https://HOST:PORT for TLS; https:// URLs go through a tunnel (CONNECT)
    #[arg(long, value_name = "PROXY", value_parser = proxy)]
    pub proxy: Option<String>,
    /// Statuses that are good [default: all below 400]
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = status)]
    pub expect_status: Vec<u16>,
    /// What bodies must be: complete, same-length or same (byte for byte) as the first answer's
    #[arg(long, value_name = "WHAT", default_value = "complete", value_parser = expect_body)]
    pub expect_body: ExpectBody,
}

fn expect_body(text: &str) -> Result<ExpectBody, String> {
    match text {
        "complete" => Ok(ExpectBody::Complete),
        "same-length" => Ok(ExpectBody::SameLength),
        "same" => Ok(ExpectBody::Same),
        _ => Err("give complete, same-length or same".to_owned()),
    }
}

impl HttpArgs {
    /// Whether any URL that an option names is an `https://` one.
    fn secure_url(&self) -> Option<&String> {
        let login = self.session.login.iter().map(|login| &login.url);
        self.urls.iter().chain(login).find(|url| url.starts_with(HTTPS))
    }

    /// The proxy is spoken to over TLS.
    fn secure_proxy(&self) -> bool {
        self.requests.proxy.as_ref().is_some_and(|proxy| proxy.starts_with(HTTPS))
    }

    /// TLS is spoken to the proxy, or to the hosts of `https://` URLs, which answers may lead to, too.
    fn speaks_tls(&self) -> bool {
        self.secure_proxy() || self.secure_url().is_some() || self.session.leads_on()
    }

    /// What the options say must fit together.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        self.pace.check(false)?;
        if let (true, Some(url)) = (self.secure_proxy(), self.secure_url()) {
            return Err(format!(
                "{url} would need TLS within the TLS to the proxy: give the proxy as HOST:PORT, or an http:// URL"
            ));
        }
        match self.tls.given().filter(|_| !self.speaks_tls()) {
            Some(option) => Err(format!("{option} is about TLS, which is not spoken: give an https:// URL")),
            None => Ok(()),
        }
    }

    /// The plan; `seed` is taken where none was given.
    pub fn plan(&self, seed: u64) -> Plan {
        let load = Load {
            target: self.requests.proxy.as_ref().map(|proxy| proxy.trim_start_matches(HTTPS).to_owned()),
            protocol: Protocol::Http1(self.http1()),
            sources: self.load.sources.clone(),
            check: Check::default(),
            limits: Limits { first_byte: self.reach.first_byte_timeout, ..self.load.limits() },
            phases: vec![self.phase()],
            trace: Trace::default(),
        };
        Plan {
            version: Plan::VERSION,
            seed: self.load.seed.unwrap_or(seed),
            threads: self.load.threads,
            io: self.load.io,
            site: Site::default(),
            load: Some(load),
            origin: None,
        }
    }

    fn http1(&self) -> Http1 {
        let form = if self.requests.proxy.is_some() { RequestForm::Forward } else { RequestForm::Reverse };
        Http1 {
            form,
            requests_per_connection: self.pace.requests_per_connection(self.load.keep_alive),
            close: self.load.close,
            fields: self.fields(),
            tls: self.speaks_tls().then(|| self.tls.tls()),
            tunnel: self.requests.proxy.is_some() && !self.secure_proxy() && self.speaks_tls(),
            pipeline: self.reach.pipeline.map_or(1, |count| count.min(u64::from(u32::MAX)) as u32),
            unix_socket: self.reach.unix_socket.clone(),
            connect_to: self.reach.connect_to.clone(),
            ..Http1::default()
        }
    }

    fn fields(&self) -> Vec<Field> {
        let given = self.requests.headers.iter().cloned();
        given.chain(self.session.fields()).chain(self.reach.fields()).collect()
    }

    fn phase(&self) -> Phase {
        let requests = self.urls.iter().map(|url| self.request(url)).collect();
        let expect = Expect {
            statuses: self.requests.expect_status.clone(),
            body: self.requests.expect_body,
            ..Expect::default()
        };
        let pace = self.pace.pace();
        Phase {
            name: "measure".to_owned(),
            measured: true,
            scenario: Scenario {
                steps: vec![Step::Requests(RequestStep {
                    requests,
                    expect,
                    session: self.session.session(&self.reach),
                    ..RequestStep::default()
                })],
            },
            stop: self.pace.stop(&pace),
            pace,
        }
    }

    fn request(&self, url: &str) -> Request {
        let default = if self.requests.data.is_some() { "POST" } else { "GET" };
        Request {
            method: self.requests.method.clone().unwrap_or_else(|| default.to_owned()),
            body: self.requests.data.clone().unwrap_or_default(),
            ..Request::get(url)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::{Cli, Command};
    use plan::Pace;

    fn plan(line: &str) -> Plan {
        let words = ["wringer", "http"].into_iter().chain(line.split_whitespace());
        let Command::Http(args) = Cli::read(words).unwrap().command else { panic!("{line}") };
        let plan = args.plan(7);
        assert_eq!(plan.check(), Vec::<String>::new(), "{line}");
        plan
    }

    fn requests(plan: &Plan) -> &RequestStep {
        match &plan.load.as_ref().unwrap().phases[0].scenario.steps[0] {
            Step::Requests(step) => step,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_url_is_enough() {
        let plan = plan("localhost:8080");
        assert_eq!(requests(&plan).requests, [Request::get("http://localhost:8080/")]);
        assert_eq!(plan.load.as_ref().unwrap().target, None);
        assert_eq!(plan.load.as_ref().unwrap().phases[0].pace, Pace::Users(50));
    }

    #[test]
    fn every_option_reaches_the_plan() {
        let plan = plan(
            "http://h/a http://h/b -X PUT -H A:b --data x --proxy p:1 --expect-status 200,204 --expect-body same \
             --rate 5k -n 100 --seed 5 -t 2 --keep-alive 3 --source 127.0.0.2 --timeout 3s",
        );
        let text = plan.to_text();
        assert_eq!(Plan::from_text(&text).unwrap(), plan);
        for word in [
            "PUT",
            "\"A\"",
            "\"x\"",
            "\"p:1\"",
            "204",
            "same",
            "5000",
            "forward",
            "\"3s\"",
            "127.0.0.2",
            "http://h/b",
        ] {
            assert!(text.contains(word), "{word} in {text}");
        }
    }

    #[test]
    fn every_pace_reaches_the_plan() {
        for line in [
            "--think exp:1s",
            "--stages 10s:100,30s:100..1k --arrivals poisson",
            "--connection-rate 20 --keep-alive 3",
            "--rate 5 --arrivals bursts:5 --in-flight 9",
        ] {
            let plan = plan(&format!("http://h/ {line}"));
            assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan, "{line}");
        }
    }

    #[test]
    fn https_speaks_tls() {
        let tls = |line: &str| {
            let Protocol::Http1(http) = plan(line).load.unwrap().protocol;
            http.tls
        };
        assert_eq!(tls("http://h/"), None);
        assert!(tls("http://h/ https://h/").is_some_and(|tls| tls.verify));
        assert!(
            tls("https://h/ -k --sni x").is_some_and(|tls| !tls.verify && tls.sni.as_deref() == Some("x"))
        );
        assert!(tls("http://h/ --proxy https://p:1 --ca x").is_some());
        assert_eq!(plan("http://h/ --proxy https://p:1").load.unwrap().target.as_deref(), Some("p:1"));
        for (line, words) in
            [("http://h/ -k", "--insecure"), ("https://h/ --proxy https://p:1", "TLS within")]
        {
            let words_of_line = ["wringer", "http"].into_iter().chain(line.split_whitespace());
            let Command::Http(args) = Cli::read(words_of_line).unwrap().command else { panic!("{line}") };
            assert!(args.check().unwrap_err().contains(words), "{line}");
        }
    }

    #[test]
    fn data_makes_it_a_post() {
        assert_eq!(requests(&plan("http://h/ --data x=1")).requests[0].method, "POST");
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for line in ["ftp://h/", "http://", "h:port"] {
            assert!(Cli::read(["wringer", "http", line]).is_err(), "{line}");
        }
    }
}
