//! `wringer http`: what its options mean.

use super::aws::AwsArgs;
use super::body::{BodyArgs, Described};
use super::data::DataArgs;
use super::expect::ExpectArgs;
use super::farm::TargetArgs;
use super::files::Files;
use super::fleet::FleetArgs;
use super::list;
use super::options::{KeepArgs, LoadArgs, OutputArgs, TracingArgs, WarmUpArgs, WatchArgs};
use super::pace::PaceArgs;
use super::session::{ReachArgs, SessionArgs};
use super::tls::TlsArgs;
use super::values::{field, host_and_port, method, url};
use super::version::VersionArgs;
use clap::Args;
use plan::data::Data;
use plan::template::{escape, is_template};
use plan::{
    Endpoint, Field, Http, Http1, ListName, Load, LoadLimits, Phase, Plan, Protocol, Request, RequestForm,
    RequestList, RequestOrder, RequestStep, Scenario, Secret, Site, Step, Trace,
};
use std::path::PathBuf;
use std::time::Duration;

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
    /// Servers that they go to instead.
    #[command(flatten)]
    pub farm: TargetArgs,
    /// Processes watched beside wringer.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Other machines that carry the load.
    #[command(flatten)]
    pub fleet: FleetArgs,
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
    /// Traces that they take part in.
    #[command(flatten)]
    pub tracing: TracingArgs,
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
    /// A command of curl's in quotes, as browsers copy it: its URL, method, fields and body; other options stand beside it
    #[arg(long, value_name = "COMMAND")]
    pub curl: Option<String>,
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
    /// Field added to each request; Host replaces the URL's. Its value may be env:VARIABLE or file:PATH, also behind a scheme or the name
    /// of a cookie: 'Authorization: Bearer env:TOKEN'
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
        if self.farm.targets.is_some() && load.protocol.connections().tls.is_some() {
            return Err("--targets: TLS is spoken to hosts by the names in their URLs, and redirections (--follow) lead to those: give http:// \
                        URLs without --follow"
                .to_owned());
        }
        self.farm.apply(load);
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
            target: self.sent.requests.proxy.as_ref().map(|proxy| proxy.with_port(0)),
            protocol: Protocol::Http(self.http(tls)),
            sources: self.clients.load.sources.clone(),
            limits: LoadLimits {
                first_byte: self.sent.reach.first_byte_timeout,
                ..self.sent.reach.head.applied(self.clients.load.limits())
            },
            phases: paced(self.phase(step)),
            ..Load::default()
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

    fn http(&self, tls: bool) -> Http {
        let form =
            if self.sent.requests.proxy.is_some() { RequestForm::Forward } else { RequestForm::Reverse };
        Http {
            requests_per_connection: self.requests_per_connection,
            close: self.clients.load.close,
            resend: self.clients.load.resend.unwrap_or_default(),
            fields: self.fields(),
            traceparent: self.sent.tracing.traceparent,
            tls: tls.then(|| self.clients.version.tls(self.clients.tls.tls())),
            h2: self.clients.version.http2(),
            h3: self.clients.version.http3(),
            tunnel: self.sent.requests.proxy.is_some() && !self.secure_proxy() && tls,
            unix_socket: self.sent.reach.unix_socket.clone(),
            connect_to: self.sent.reach.connect_to.clone(),
            h1: Http1 {
                form,
                pipeline: self.sent.reach.pipeline.map_or(1, |count| count.min(u64::from(u32::MAX)) as u32),
                expect_continue: self.fields().iter().any(is_expectation).then_some(CONTINUE),
                ..Http1::default()
            },
            ..Http::default()
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
        let mut has_braces = false;
        let mut requests: RequestList =
            self.urls.iter().map(|url| self.request(unsaid(url), &body)).collect();
        if let Some(list) = &self.sent.requests.list {
            let text = files.text(list, "write one URL to a line")?;
            let name = list.display().to_string();
            let finish = |request| self.request(request, &body);
            match files.requests(list) {
                Some(read) => {
                    let data = self.sent.data.data();
                    let read = read.iter().map(|request| with_braces(request.clone(), &data));
                    let read: Vec<Request> = read.collect();
                    has_braces = read.iter().any(|request| request.body.templates().any(is_template));
                    requests.extend(read.into_iter().map(finish));
                }
                None => list::read(text, &name, &mut requests, finish).map_err(|all| all.join("\n"))?,
            }
            listed = Some(ListName::of_file(&name, text.as_bytes(), requests.len()));
        }
        list::label_each(&mut requests);
        let fields = self.fields();
        let is_text = body.as_ref().is_none_or(|body| body.is_text);
        let mut step = RequestStep {
            list: listed,
            order: self.order(&requests),
            expect: self.sent.expect.expect(),
            templates: has_braces || has_placeholders(&requests, &fields, is_text),
            data: self.sent.data.data(),
            aws: self.sent.aws.signature(),
            session: self.sent.session.session(&self.reach()),
            requests,
            ..RequestStep::default()
        };
        if let Some(Described { bytes, .. }) =
            body.filter(|body| step.templates && !is_text && !body.bytes.is_filed())
        {
            // Bytes of a file mean themselves.
            let of_file = step.requests.kinds_mut().iter_mut().filter(|request| request.body == bytes);
            of_file.for_each(|request| request.body = escape(&bytes).into());
        }
        self.sent.data.check_used(&step, &fields)?;
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

/// Time that a request waits for 100 (Continue); curl's.
const CONTINUE: Duration = Duration::from_secs(1);

/// True if a field says that the server is asked before a body is sent (RFC 9110 section 10.1.1).
fn is_expectation(field: &Field) -> bool {
    field.name.eq_ignore_ascii_case("Expect")
        && field.value.template().is_some_and(|text| text.trim().eq_ignore_ascii_case("100-continue"))
}

/// A request of which only the URL was said.
fn unsaid(url: &str) -> Request {
    Request { method: String::new(), ..Request::get(url) }
}

/// A request of a file of another program, whose braces are sent as they stand, but where they name data of this command.
fn with_braces(mut request: Request, data: &[Data]) -> Request {
    request.url = braces(&request.url, data);
    for field in &mut request.fields {
        field.value = field.value.clone().map_text(|text| braces(text, data));
    }
    if request.body.templates().any(is_template) {
        request.body = match std::str::from_utf8(&request.body) {
            Ok(text) if request.body.is_secret() => Secret::typed(braces(text, data)).into(),
            Ok(text) => braces(text, data).into(),
            Err(_) => escape(&request.body).into(),
        };
    }
    request
}

/// Text whose braces mean themselves, but where they name one of these data.
fn braces(text: &str, data: &[Data]) -> String {
    let mut parts = text.split("{{");
    let mut whole = parts.next().expect("a split has a first part").to_owned();
    for part in parts {
        let is_of_name = |one: char| one.is_ascii_alphanumeric() || "_-".contains(one);
        let inside = part.trim_start();
        let name = &inside[..inside.find(|one: char| !is_of_name(one)).unwrap_or(inside.len())];
        let is_data = part.contains("}}") && data.iter().any(|one| one.name == name);
        whole += if is_data { "{{" } else { "\\{{" };
        whole += part;
    }
    whole
}

/// True if anything of requests is to be filled in. `fields`: those of all.
fn has_placeholders(requests: &RequestList, fields: &[Field], body_is_text: bool) -> bool {
    let kinds = requests.kinds();
    let mut fields = fields.iter().chain(kinds.iter().flat_map(|kind| &kind.fields));
    fields.any(|field| field.value.template().is_some_and(|text| is_template(text.as_bytes())))
        || body_is_text && kinds.iter().any(|kind| kind.body.templates().any(is_template))
        || requests.iter().any(|listed| is_template(listed.url.as_bytes()))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod tests_of_braces {
    use super::*;
    use crate::{Cli, Command};
    use plan::template::{Encode, TemplatePiece, pieces};
    use std::path::Path;

    /// The plan of a line that sends these requests of another program's file.
    fn plan(line: &str, requests: Vec<Request>) -> Plan {
        let words = ["wringer", "http", "--urls", "r.http"].into_iter().chain(line.split_whitespace());
        let Command::Http(args) = Cli::read(words).unwrap().command else { panic!("{line}") };
        let list = Path::new("r.http").to_owned();
        let body = (Path::new("b.bin").to_owned(), vec![0, 255]);
        let mut files = Files::from([(list.clone(), Vec::new()), body]);
        files.add_requests(list, requests);
        args.plan(7, &files).unwrap()
    }

    /// Text as it is sent, with `<NAME>` for what is filled in.
    fn sent(text: &[u8]) -> String {
        let piece = |piece: TemplatePiece| match piece {
            TemplatePiece::Text(bytes) => String::from_utf8(bytes).unwrap(),
            TemplatePiece::Value { name, .. } => format!("<{name}>"),
        };
        pieces(text, Encode::Raw).unwrap().into_iter().map(piece).collect()
    }

    #[test]
    fn braces_of_another_programs_file_are_sent_as_they_stand() {
        let said = "a {{who}} b {{ id }} {{open";
        for (line, expected) in
            [("", said), ("--body-file b.bin", said), ("--var who=uuid", "a <who> b {{ id }} {{open")]
        {
            let fields = vec![Field::new("X-A", said)];
            let body = said.into();
            let post = Request { method: "POST".to_owned(), fields, body, ..Request::get("http://h/p") };
            let login = Request { body: Secret::typed(said).into(), fields: Vec::new(), ..post.clone() };
            let plan = plan(line, vec![post, login, Request::get("http://h/")]);
            assert_eq!(plan.check(), Vec::<String>::new(), "{line}");
            let phases = &plan.load.as_ref().unwrap().phases;
            let Step::Requests(step) = &phases[0].scenario.steps[0] else { panic!("{line}") };
            assert!(step.templates, "{line}");
            for listed in step.requests.iter().take(2) {
                assert_eq!(sent(&listed.like.body), expected, "{line}");
                listed.like.fields.iter().for_each(|field| {
                    assert_eq!(sent(field.value.text().as_bytes()), expected, "{line}");
                });
            }
            assert!(step.requests.iter().nth(1).unwrap().like.body.is_secret(), "{line}");
        }
        let plain = plan("", vec![Request::get("http://h/")]);
        let Step::Requests(step) = &plain.load.as_ref().unwrap().phases[0].scenario.steps[0] else {
            panic!()
        };
        assert!(!step.templates);
    }
}
