//! `wringer http`: what its options mean.

use super::aws::AwsArgs;
use super::body::{BodyArgs, Described};
use super::data::DataArgs;
use super::expect::ExpectArgs;
use super::files::Files;
use super::list;
use super::options::{KeepArgs, LoadArgs, OutputArgs, WarmUpArgs, WatchArgs};
use super::pace::PaceArgs;
use super::session::{ReachArgs, SessionArgs};
use super::tls::TlsArgs;
use super::values::{field, host_and_port, method, url};
use super::version::VersionArgs;
use clap::Args;
use plan::template::{escape, is_template};
use plan::{
    Check, Endpoint, Field, Http1, Limits, ListName, Load, Phase, Plan, Protocol, Request, RequestForm,
    RequestList, RequestOrder, RequestStep, Scenario, Site, Step, Trace,
};
use std::path::PathBuf;

/// The options of `wringer http`.
#[derive(Debug, Clone, Args)]
pub struct HttpArgs {
    /// The URLs, fetched in turn
    #[arg(value_name = "URL", required_unless_present = "list", value_parser = url)]
    pub urls: Vec<String>,
    /// Requests, and what is looked for in their answers.
    #[command(flatten)]
    pub sent: SentArgs,
    /// How much is told of it.
    #[command(flatten)]
    pub run: RunArgs,
    /// Warm-up, sent before the measurement.
    #[command(flatten)]
    pub warm_up: WarmUpArgs,
    /// When requests are sent.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Clients that send them.
    #[command(flatten)]
    pub clients: ClientArgs,
    /// Processes watched beside wringer.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Output that is printed and kept.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Storage of the run: whether it is kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// Requests to a web server, and what is looked for in their answers.
#[derive(Debug, Clone, Args)]
pub struct SentArgs {
    /// How requests look.
    #[command(flatten)]
    pub requests: RequestArgs,
    /// Bodies that they carry.
    #[command(flatten)]
    pub body: BodyArgs,
    /// Data for their placeholders.
    #[command(flatten)]
    pub data: DataArgs,
    /// How they are signed.
    #[command(flatten)]
    pub aws: AwsArgs,
    /// Checks that their answers must pass.
    #[command(flatten)]
    pub expect: ExpectArgs,
    /// State that users keep, and actions that they take on their own.
    #[command(flatten)]
    pub session: SessionArgs,
    /// How connections are reached.
    #[command(flatten)]
    pub reach: ReachArgs,
}

/// Clients of a web server.
#[derive(Debug, Clone, Args)]
pub struct ClientArgs {
    /// How clients behave.
    #[command(flatten)]
    pub load: LoadArgs,
    /// Which HTTP is spoken.
    #[command(flatten)]
    pub version: VersionArgs,
    /// How TLS is spoken.
    #[command(flatten)]
    pub tls: TlsArgs,
}

/// How requests look.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Requests")]
pub struct RequestArgs {
    /// File of requests, - for standard input; a line each: [xWEIGHT] [METHOD] URL [status=LIST] [label=NAME] [header='NAME: VALUE']
    /// [data='TEXT']
    #[arg(long = "urls", value_name = "FILE")]
    pub list: Option<PathBuf>,
    /// Order of several requests: loop, random, weighted, per-user or slices [default: weighted where a line has a weight, or loop]
    #[arg(long, value_name = "ORDER", value_parser = order)]
    pub order: Option<RequestOrder>,
    /// Method [default: GET, or POST with a body]
    #[arg(long, short = 'X', value_name = "METHOD", value_parser = method)]
    pub method: Option<String>,
    /// Field added to each request; Host replaces the URL's. The value of Authorization, Cookie and the like may be
    /// env:VARIABLE or file:PATH
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE", value_parser = field)]
    pub headers: Vec<Field>,
    /// Each request is a unary call of gRPC (--http 2 or 2c): the URL's path is /package.Service/Method, the body the message
    #[arg(long)]
    pub grpc: bool,
    /// User-Agent field of each request [default: none]
    #[arg(long, value_name = "TEXT")]
    pub user_agent: Option<String>,
    /// Send through this proxy, [NAME:PASSWORD@]HOST:PORT, or https://HOST:PORT for TLS; https:// URLs go through a tunnel (CONNECT)
    #[arg(long, value_name = "PROXY", value_parser = host_and_port)]
    pub proxy: Option<Endpoint>,
}

/// How much is told of a run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// Tell each request and its answer: heads, TLS, times and checks; sends one request unless -n, -d or -c say otherwise
    #[arg(long, short = 'v', conflicts_with = "warm_up")]
    pub verbose: bool,
}

fn order(text: &str) -> Result<RequestOrder, String> {
    match text {
        "loop" => Ok(RequestOrder::Loop),
        "random" => Ok(RequestOrder::Random),
        "weighted" => Ok(RequestOrder::Weighted),
        "per-user" => Ok(RequestOrder::PerUser),
        "slices" => Ok(RequestOrder::Slices),
        _ => Err("give loop, random, weighted, per-user or slices".to_owned()),
    }
}

/// Scheme of URLs over TLS.
const HTTPS: &str = "https://";

/// An `https://` URL among those that users begin with.
fn secure_url(step: &RequestStep) -> Option<&str> {
    let login = step.session.login.iter().map(|request| request.url.as_str());
    let all = step.requests.turns().map(|(listed, _)| listed.url).chain(login);
    all.into_iter().find(|url| url.starts_with(HTTPS))
}

impl SentArgs {
    /// The files that the plan depends on, `-` for standard input. Files of data are not among them: the plan names those.
    pub fn files(&self) -> Vec<PathBuf> {
        self.requests.list.iter().cloned().chain(self.body.files()).collect()
    }
}

impl HttpArgs {
    /// Checks that the options fit together.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        self.pace.check(false)?;
        self.pace.check_users()?;
        self.work().check()?;
        self.clients.load.check_grace(&self.pace)?;
        self.warm_up.check(&self.sent.data.data())
    }

    /// The plan; `seed` is taken where none was given.
    ///
    /// # Errors
    /// Mistakes in the files and options, a line for each.
    pub fn plan(&self, seed: u64, files: &Files) -> Result<Plan, String> {
        let verbose = self.run.verbose;
        let mut plan = self.work().plan(seed, files, |phase| self.paced_phases(phase))?;
        let load = plan.load.as_mut().expect("clients have a load");
        load.trace = Trace { heads: verbose, requests: verbose, first: verbose, ..Trace::default() };
        // What is told of requests stands in their order.
        plan.threads = plan.threads.or(verbose.then_some(1));
        Ok(plan)
    }

    fn work(&self) -> Work<'_> {
        let requests_per_connection = self.pace.requests_per_connection(self.clients.load.keep_alive);
        Work { urls: &self.urls, sent: &self.sent, clients: &self.clients, requests_per_connection }
    }

    /// When requests are sent; told one by one, they are few.
    fn paced(&self) -> PaceArgs {
        let mut pace = self.pace.clone();
        if self.run.verbose && pace.says_nothing() {
            (pace.users, pace.requests) = (Some(1), Some(1));
        }
        pace
    }

    fn paced_phases(&self, phase: Phase) -> Vec<Phase> {
        let typed = self.paced();
        let pace = typed.pace();
        let stop = typed.stop(&pace);
        self.warm_up.phases(Phase { stop, preconnect: typed.preconnect, pace, ..phase })
    }
}

/// Work for a web server without a time: what is sent, and by whom.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// The URLs, fetched in turn.
    pub urls: &'a [String],
    /// Requests.
    pub sent: &'a SentArgs,
    /// Clients.
    pub clients: &'a ClientArgs,
    /// After how many a connection ends; `None`: without end.
    pub requests_per_connection: Option<u32>,
}

impl Work<'_> {
    /// The proxy is spoken to over TLS.
    fn secure_proxy(&self) -> bool {
        self.sent.requests.proxy.as_ref().is_some_and(|proxy| proxy.secure)
    }

    /// Checks that the options fit together.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        self.check_proxy()?;
        self.sent.data.check()?;
        self.sent.aws.check()
    }

    /// Name and password of the proxy: given once, and for Digest given at all.
    fn check_proxy(&self) -> Result<(), String> {
        let in_address = self.sent.requests.proxy.as_ref().is_some_and(|proxy| proxy.credentials.is_some());
        match (in_address, &self.sent.reach.proxy_user) {
            (true, Some(_)) => {
                Err("--proxy and --proxy-user both give a name and password: leave out one of them"
                    .to_owned())
            }
            (false, None) if self.sent.reach.proxy_digest => {
                Err("--proxy-digest answers with a name and password: give --proxy-user NAME:PASSWORD"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    /// How connections are reached, with what the proxy's address says.
    fn reach(&self) -> ReachArgs {
        let in_address = self.sent.requests.proxy.as_ref().and_then(|proxy| proxy.credentials.clone());
        ReachArgs { proxy_user: self.sent.reach.proxy_user.clone().or(in_address), ..self.sent.reach.clone() }
    }

    /// The plan; `seed` is taken where none was given. `paced`: gives a phase its pace and its end, and may have others go before it.
    ///
    /// # Errors
    /// Mistakes in the files and options, a line for each.
    pub fn plan(
        &self,
        seed: u64,
        files: &Files,
        paced: impl FnOnce(Phase) -> Vec<Phase>,
    ) -> Result<Plan, String> {
        let step = self.step(files)?;
        let tls = self.speaks_tls(&step);
        self.check_tls(&step, tls)?;
        self.clients.version.check(self.secure_proxy() || secure_url(&step).is_some())?;
        let load = Load {
            fail_if: Vec::new(),
            require: Vec::new(),
            stop_if: Vec::new(),
            target: self.sent.requests.proxy.as_ref().map(|proxy| proxy.with_port(0)),
            protocol: Protocol::Http1(self.http1(tls)),
            sources: self.clients.load.sources.clone(),
            check: Check::default(),
            limits: Limits {
                first_byte: self.sent.reach.first_byte_timeout,
                ..self.sent.reach.head.applied(self.clients.load.limits())
            },
            phases: paced(self.phase(step)),
            trace: Trace::default(),
        };
        Ok(Plan {
            version: Plan::VERSION,
            seed: self.clients.load.seed.unwrap_or(seed),
            threads: self.clients.load.threads,
            io: self.clients.load.io,
            site: Site::default(),
            load: Some(load),
            origin: None,
        })
    }

    /// TLS is spoken to the proxy, or to the hosts of `https://` URLs, which answers may lead to, too.
    fn speaks_tls(&self, step: &RequestStep) -> bool {
        self.secure_proxy() || secure_url(step).is_some() || self.sent.session.leads_on()
    }

    fn check_tls(&self, step: &RequestStep, spoken: bool) -> Result<(), String> {
        if let (true, Some(url)) = (self.secure_proxy(), secure_url(step)) {
            return Err(format!(
                "{url} would need TLS within the TLS to the proxy: give the proxy as HOST:PORT, or an http:// URL"
            ));
        }
        match self.clients.tls.given().filter(|_| !spoken) {
            Some(option) => Err(format!("{option} is about TLS, which is not spoken: give an https:// URL")),
            None => Ok(()),
        }
    }

    fn http1(&self, tls: bool) -> Http1 {
        let form =
            if self.sent.requests.proxy.is_some() { RequestForm::Forward } else { RequestForm::Reverse };
        Http1 {
            form,
            requests_per_connection: self.requests_per_connection,
            close: self.clients.load.close,
            resend: self.clients.load.resend.unwrap_or_default(),
            fields: self.fields(),
            tls: tls.then(|| self.clients.version.tls(self.clients.tls.tls())),
            http2: self.clients.version.http2(),
            http3: self.clients.version.http3(),
            tunnel: self.sent.requests.proxy.is_some() && !self.secure_proxy() && tls,
            pipeline: self.sent.reach.pipeline.map_or(1, |count| count.min(u64::from(u32::MAX)) as u32),
            unix_socket: self.sent.reach.unix_socket.clone(),
            connect_to: self.sent.reach.connect_to.clone(),
            ..Http1::default()
        }
    }

    /// Fields of all requests.
    fn fields(&self) -> Vec<Field> {
        let mut fields = self.sent.requests.headers.clone();
        fields.extend(self.sent.session.fields());
        fields.extend(self.reach().fields());
        let mut add = |name: &str, value: &str| {
            if !fields.iter().any(|field| field.name.eq_ignore_ascii_case(name)) {
                fields.push(Field::new(name, value));
            }
        };
        self.sent.requests.user_agent.iter().for_each(|agent| add("User-Agent", agent));
        if self.sent.expect.compressed {
            add("Accept-Encoding", "gzip, br, zstd");
        }
        fields
    }

    fn phase(&self, step: RequestStep) -> Phase {
        Phase {
            name: "measure".to_owned(),
            http: self.clients.version.turns(),
            scenario: Scenario::of(vec![Step::Requests(step)]),
            ..Phase::default()
        }
    }

    fn step(&self, files: &Files) -> Result<RequestStep, String> {
        let body = self.sent.body.body(files)?;
        let mut listed = None;
        let mut requests: RequestList =
            self.urls.iter().map(|url| self.request(unsaid(url), &body)).collect();
        if let Some(list) = &self.sent.requests.list {
            let text = files.text(list, "write one URL to a line")?;
            let name = list.display().to_string();
            let finish = |request| self.request(request, &body);
            list::read(text, &name, &mut requests, finish).map_err(|all| all.join("\n"))?;
            listed = Some(ListName::of_file(&name, text.as_bytes(), requests.len()));
        }
        list::label_each(&mut requests);
        let fields = self.fields();
        let is_text = body.as_ref().is_none_or(|body| body.is_text);
        let mut step = RequestStep {
            list: listed,
            order: self.order(&requests),
            expect: self.sent.expect.expect(),
            templates: has_placeholders(&requests, &fields, is_text),
            data: self.sent.data.data(),
            aws: self.sent.aws.signature(),
            session: self.sent.session.session(&self.reach()),
            requests,
            ..RequestStep::default()
        };
        if step.templates && !is_text {
            // Bytes of a file mean themselves.
            let bytes = body.map(|body| body.bytes).unwrap_or_default();
            let of_file = step.requests.kinds_mut().iter_mut().filter(|request| request.body == bytes);
            of_file.for_each(|request| request.body = escape(&bytes).into());
        }
        Ok(step)
    }

    fn order(&self, requests: &RequestList) -> RequestOrder {
        let weighted = requests.kinds().iter().any(|request| request.weight != 1);
        let otherwise = if weighted { RequestOrder::Weighted } else { RequestOrder::Loop };
        self.sent.requests.order.unwrap_or(otherwise)
    }

    /// A request with what it does not say itself: a line of a list may have a method and a body of its own.
    fn request(&self, mut request: Request, body: &Option<Described>) -> Request {
        let said = !request.method.is_empty();
        let may_carry = !said || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
        if let Some(body) = body.as_ref().filter(|_| request.body.is_empty() && may_carry) {
            let given: Vec<Field> =
                self.sent.requests.headers.iter().chain(&request.fields).cloned().collect();
            request.fields.extend(body.field(&given).filter(|_| !self.sent.requests.grpc));
            request.body = body.bytes.clone();
        }
        request.grpc = self.sent.requests.grpc;
        if !said {
            let has_body = body.is_some() || !request.body.is_empty();
            let default = if has_body || request.grpc { "POST" } else { "GET" };
            request.method = self.sent.requests.method.clone().unwrap_or_else(|| default.to_owned());
        }
        request
    }
}

/// A request of which only the URL was said.
fn unsaid(url: &str) -> Request {
    Request { method: String::new(), ..Request::get(url) }
}

/// True if anything of requests is to be filled in. `fields`: those of all.
fn has_placeholders(requests: &RequestList, fields: &[Field], body_is_text: bool) -> bool {
    let kinds = requests.kinds();
    let mut fields = fields.iter().chain(kinds.iter().flat_map(|kind| &kind.fields));
    fields.any(|field| field.value.template().is_some_and(|text| is_template(text.as_bytes())))
        || body_is_text && kinds.iter().any(|kind| kind.body.template().is_some_and(is_template))
        || requests.iter().any(|listed| is_template(listed.url.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::{Cli, Command};
    use plan::Pace;
    use std::time::Duration;

    fn args(line: &str) -> Box<HttpArgs> {
        let words = ["wringer", "http"].into_iter().chain(line.split_whitespace());
        let Command::Http(args) = Cli::read(words).unwrap().command else { panic!("{line}") };
        args.check().unwrap();
        args
    }

    fn plan(line: &str) -> Plan {
        let plan = args(line).plan(7, &Files::default()).unwrap();
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
        assert_eq!(requests(&plan).requests.to_vec(), [Request::get("http://localhost:8080/")]);
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
    fn one_request_is_told_and_a_warm_up_comes_before() {
        let told = plan("h -v");
        let load = told.load.as_ref().unwrap();
        assert!(load.trace.heads && load.trace.requests && load.trace.first && told.threads == Some(1));
        assert_eq!((&load.phases[0].pace, load.phases[0].stop.requests), (&Pace::Users(1), Some(1)));
        let several = plan("h -v -n 3").load.unwrap();
        assert_eq!(several.phases[0].stop.requests, Some(3));
        let warmed = plan("h --warm-up 5s -c 7 -d 9").load.unwrap();
        let [before, measured] = &warmed.phases[..] else { panic!("{:?}", warmed.phases) };
        assert_eq!((before.measured, before.stop.after), (false, Some(Duration::from_secs(5))));
        assert_eq!((measured.measured, measured.stop.after), (true, Some(Duration::from_secs(9))));
        assert_eq!((&before.pace, &before.scenario), (&measured.pace, &measured.scenario));
        let words = ["wringer", "http", "h/{{u}}", "--data-file", "u=f,once", "--warm-up", "1s"];
        let Command::Http(args) = Cli::read(words).unwrap().command else { panic!() };
        assert!(args.check().unwrap_err().contains("--warm-up"));
    }

    #[test]
    fn https_speaks_tls() {
        let tls = |line: &str| {
            let Protocol::Http1(http) = plan(line).load.unwrap().protocol else { panic!() };
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
            assert!(args(line).plan(7, &Files::default()).unwrap_err().contains(words), "{line}");
        }
    }

    #[test]
    fn data_makes_it_a_post() {
        for line in [
            "http://h/ --data x=1",
            "http://h/ --data=",
            "http://h/ --data=@empty",
            "http://h/ --body-file empty",
        ] {
            let files = Files::from([("empty".into(), Vec::new())]);
            let plan = args(line).plan(7, &files).unwrap();
            assert_eq!(requests(&plan).requests.kinds()[0].method, "POST", "{line}");
        }
        assert_eq!(requests(&plan("http://h/ --data= -X PUT")).requests.kinds()[0].method, "PUT");
    }

    #[test]
    fn placeholders_make_templates_and_nothing_else_does() {
        assert!(!requests(&plan("http://h/{x}")).templates);
        for line in ["http://h/{{uuid}}", "http://h/ -H A:{{user}}", "http://h/ --data {{request}}"] {
            assert!(requests(&plan(line)).templates, "{line}");
        }
        let plan = plan("http://h/{{u.a}}?{{n}} --var n=int:1..9 --data-file u=u.csv,once");
        assert_eq!(requests(&plan).data.len(), 2);
        assert_eq!(requests(&plan).requests.kinds()[0].url, "http://h/{{u.a}}?{{n}}");
        assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan);
        let unknown = args("http://h/{{x}}").plan(7, &Files::default()).unwrap().check();
        assert!(unknown[0].contains("{{x}}"), "{unknown:?}");
    }

    #[test]
    fn bytes_of_a_file_are_no_placeholders() {
        let body = |line: &str, bytes: &[u8]| {
            let files = Files::from([("f".into(), bytes.to_vec())]);
            let plan = args(line).plan(7, &files).unwrap();
            assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan);
            let step = requests(&plan).clone();
            (step.templates, step.requests.kinds()[0].body.to_vec())
        };
        assert_eq!(body("http://h/ --body-file f", b"{{x}}\xff"), (false, b"{{x}}\xff".to_vec()));
        assert_eq!(body("http://h/{{uuid}} --body-file f", b"{{x}}"), (true, b"\\{{x}}".to_vec()));
        assert_eq!(body("http://h/ --data @f", b"{{uuid}}"), (true, b"{{uuid}}".to_vec()));
    }

    #[test]
    fn results_name_a_long_list_and_do_not_hold_it() {
        let listed = |lines: usize| {
            let list: String = (0..lines).map(|line| format!("http://h/{line}\n")).collect();
            args("--urls l").plan(7, &Files::from([("l".into(), list.into())])).unwrap()
        };
        let (short, long) = (listed(1000), listed(5000));
        assert_eq!(short.told(), short);
        let told = long.told();
        let (step, text) = (requests(&told), told.to_text());
        assert!(text.len() < 5000, "{} bytes: {text}", text.len());
        assert_eq!(Plan::from_text(&text).unwrap(), told);
        assert_eq!((step.requests.len(), step.list.as_ref()), (0, requests(&long).list.as_ref()));
        let list = step.list.clone().unwrap();
        assert_eq!((list.file.as_deref(), list.requests, list.sha256.len()), (Some("l"), 5000, 64));
        let text: String = (0..5000).map(|line| format!("/{line}\n")).collect();
        let behind = args("http://h/ --urls l").plan(7, &Files::from([("l".into(), text.into())])).unwrap();
        let list = requests(&behind.told()).list.clone().unwrap();
        assert_eq!((list.file.as_deref(), list.requests), (Some("l"), 5001));
        assert!(told.check()[0].contains("names its list of 5000 requests"), "{:?}", told.check());
    }

    #[test]
    fn sizes_of_heads_are_limits_of_the_plan() {
        let limits = |line: &str| plan(line).load.unwrap().limits;
        let usual = limits("h/");
        assert_eq!((usual.head_bytes, usual.fields), (65_536, 128));
        let wide = limits("h/ --max-head 1MiB --max-fields 256");
        assert_eq!((wide.head_bytes, wide.fields), (1 << 20, 256));
        let mut narrow = plan("h/");
        let load = narrow.load.as_mut().unwrap();
        (load.limits.head_bytes, load.limits.fields) = (0, 257);
        let told: Vec<_> = narrow.check().iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 2, "{told:?}");
    }

    #[test]
    fn results_name_a_long_body_and_do_not_hold_it() {
        let with_body = |bytes: usize| {
            let files = Files::from([("b".into(), vec![7; bytes])]);
            args("http://h/ --body-file b").plan(7, &files).unwrap()
        };
        let (short, long) = (with_body(65_536), with_body(65_537));
        assert_eq!(short.told(), short);
        let told = long.told();
        let text = told.to_text();
        assert!(text.len() < 5000 && text.contains("bytes = 65537"), "{text}");
        assert_eq!(Plan::from_text(&text).unwrap(), told);
        assert!(told.check()[0].contains("names a body of 65537 bytes"), "{:?}", told.check());
    }

    #[test]
    fn results_mask_what_urls_hold_of_secrets() {
        let plan = plan("http://h/a?api_key=geheim&x=1 http://h/b");
        assert_eq!(requests(&plan).requests.get(0).unwrap().url, "http://h/a?api_key=geheim&x=1");
        let told = plan.told();
        let urls: Vec<_> = requests(&told).requests.iter().map(|listed| listed.url).collect();
        assert_eq!(urls, ["http://h/a?api_key=***&x=1", "http://h/b"]);
        let labels: Vec<_> = requests(&plan).requests.iter().map(|listed| listed.like.name.clone()).collect();
        assert_eq!(labels, ["/a?api_key=***&x=1", "/b"]);
    }

    #[test]
    fn lists_take_what_they_do_not_say_from_the_options() {
        let list = "h/a\nx2 PUT h/b data=own status=201\nGET h/c\n";
        let files = Files::from([("l".into(), list.into())]);
        let plan = args("--urls l --form a=b").plan(7, &files).unwrap();
        let step = requests(&plan);
        let listed = step.requests.to_vec();
        let seen: Vec<_> = listed.iter().map(|request| (request.method.as_str(), &*request.body)).collect();
        assert_eq!(seen, [("POST", &b"a=b"[..]), ("PUT", b"own"), ("GET", b"")]);
        let types: Vec<_> = listed.iter().map(|request| request.fields.len()).collect();
        assert_eq!((types, step.order), (vec![1, 0, 0], RequestOrder::Weighted));
        let looped = args("--urls l --order loop").plan(7, &files).unwrap();
        assert_eq!(requests(&looped).order, RequestOrder::Loop);
        let bad = Files::from([("l".into(), b"ftp://x\nh/ y\n".to_vec())]);
        let said = args("--urls l").plan(7, &bad).unwrap_err();
        assert!(said.contains("l:1:") && said.contains("l:2:"), "{said}");
    }

    #[test]
    fn checks_and_signatures_reach_the_plan_without_secrets() {
        let line = "http://h/ --expect-header ETag --expect-text a --expect-json b=1 --expect-length 3 \
                    --compressed --aws-sigv4 r:s3 --aws-key id --aws-secret geheim --user-agent x/1";
        let plan = plan(line);
        let text = plan.to_text();
        for word in ["ETag", "contain", "json", "gzip, br, zstd", "s3", "x/1"] {
            assert!(text.contains(word), "{word} in {text}");
        }
        assert!(!text.contains("geheim") && !format!("{plan:?}").contains("geheim"));
        assert_eq!(requests(&plan).aws.as_ref().unwrap().key.reveal(), "geheim");
    }

    #[test]
    fn several_conditions_may_follow_fail_if() {
        let conditions = |line: &str| {
            let args = args(line);
            let all: Vec<String> = args.output.fail_if.iter().map(ToString::to_string).collect();
            (args.urls, all.join(" "))
        };
        let urls = vec!["http://h/".to_owned()];
        for line in [
            "http://h/ --fail-if p99>50ms errors>0.1%",
            "--fail-if p99>50ms errors>0.1% http://h/",
            "--fail-if p99>50ms,errors>0.1% h",
            "--fail-if p99>50ms h --fail-if errors>0.1%",
        ] {
            assert_eq!(conditions(line), (urls.clone(), "p99>50ms errors>0.1%".to_owned()), "{line}");
        }
        assert!(Cli::read(["wringer", "http", "h", "p99>50ms"]).is_err(), "a condition by itself");
    }

    #[test]
    fn a_proxy_is_given_as_curl_has_it() {
        let told = |line: &str| {
            let plan = plan(line);
            assert!(!format!("{plan:?}{}", plan.to_text()).contains("geheim"), "{line}");
            let load = plan.load.unwrap();
            let fields: Vec<String> =
                load.protocol.http1().unwrap().fields.iter().map(Field::shown).collect();
            (load.target, fields)
        };
        let credentials = vec!["Proxy-Authorization: Basic ***".to_owned()];
        for line in [
            "h --proxy http://me:geheim@p:81/",
            "h --proxy me:geheim@p:81",
            "h --proxy p:81 --proxy-user me:geheim",
        ] {
            assert_eq!(told(line), (Some("p:81".to_owned()), credentials.clone()), "{line}");
        }
        assert_eq!(told("h --proxy me:geheim@p:81 --proxy-digest"), (Some("p:81".to_owned()), Vec::new()));
        for (line, said) in [
            ("--proxy me:geheim@p", "'me:***@p' names no port"),
            ("--proxy me:geheim@p:x", "'me:***@p:x' has 'x' for a port"),
            ("--proxy http:/me:geheim@p:81", "write two, http://me:***@p:81"),
            ("--connect-to h:80:me:geheim@to:81", "'h:***@to:81' is not HOST:PORT:TO:TOPORT"),
            ("-H X-Trace=on", "invalid value 'X-Trace=***' for '--header <NAME: VALUE>': write a colon"),
        ] {
            let words = ["wringer", "http", "h"].into_iter().chain(line.split(' '));
            let refused = Cli::read(words).unwrap_err().to_string();
            assert!(refused.contains(said) && !refused.contains("geheim"), "{line}: {refused}");
        }
        let words = ["wringer", "http", "h", "-H", "X-Trace on"];
        assert!(Cli::read(words).unwrap_err().to_string().contains("'X-Trace ***'"));
        for line in ["h --proxy me:geheim@p:81 --proxy-user a:b", "h --proxy p:81 --proxy-digest"] {
            let words = ["wringer", "http"].into_iter().chain(line.split(' '));
            let Command::Http(args) = Cli::read(words).unwrap().command else { panic!("{line}") };
            assert!(args.check().is_err(), "{line}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for line in ["ftp://h/", "http://", "h:port"] {
            assert!(Cli::read(["wringer", "http", line]).is_err(), "{line}");
        }
    }
}
