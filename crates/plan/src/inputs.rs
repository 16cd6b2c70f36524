//! Inputs that a plan names and does not hold: secrets, and files.
//!
//! Whoever runs a plan gets all of it once, before the run: [`Plan::secrets`] and [`Plan::files`] say what is wanted,
//! [`Inputs`] holds it, and [`Inputs::fill`] gives the plan's secrets their values. A plan and its inputs together are all
//! that another machine needs to run the same.

use crate::Plan;
use crate::data::body::Body;
use crate::data::filed::BodyFile;
use crate::data::secret::{Secret, SecretSource};
use crate::data::{Data, Source, Table, Tables};
use crate::digest::Sha256;
use crate::load::{Phase, Protocol};
use crate::request::Request;
use crate::request::field::{Field, FieldValue};
use crate::request::message::MessageStep;
use crate::scenario::{RequestStep, Step};
use crate::text::TextError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Inputs that a plan names and does not hold. Neither their Debug nor anything else but [`Inputs::to_text`] shows a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    secrets: BTreeMap<String, Secret>,
    files: BTreeMap<NamedFile, File>,
}

/// A file that a plan names, by its path, and how it is read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedFile {
    /// Rows: comma-separated values where its name ends in `.csv`, otherwise lines that are not empty.
    Rows(String),
    /// Every line, empty ones and bytes that are no text included.
    Lines(String),
    /// As it is, rows that users take one after the other.
    Feed(String),
    /// As it is: certificates and keys of TLS.
    Whole(String),
    /// As it is: the body of a request, for another machine. Here whoever sends it reads it.
    Body(String),
}

/// The content that a file held.
#[derive(Debug, Clone, PartialEq, Eq)]
struct File {
    sha256: String,
    content: InputContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum InputContent {
    Table(Arc<Table>),
    Bytes(Hidden),
}

/// Bytes that may be a private key.
#[derive(Clone, PartialEq, Eq)]
struct Hidden(Arc<[u8]>);

impl std::fmt::Debug for Hidden {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{} bytes", self.0.len())
    }
}

impl NamedFile {
    /// Its path.
    pub fn path(&self) -> &str {
        match self {
            NamedFile::Rows(path)
            | NamedFile::Lines(path)
            | NamedFile::Feed(path)
            | NamedFile::Whole(path)
            | NamedFile::Body(path) => path,
        }
    }

    /// Returns its name in messages.
    pub fn title(&self) -> &'static str {
        match self {
            NamedFile::Rows(_) | NamedFile::Lines(_) | NamedFile::Feed(_) => "the data file",
            NamedFile::Whole(_) => "the PEM file",
            NamedFile::Body(_) => "the body file",
        }
    }
}

impl Inputs {
    /// Adds a secret's value. A line end that it ends with is not part of it.
    pub fn add_secret(&mut self, source: &SecretSource, value: &str) {
        let value = value.strip_suffix('\n').map_or(value, |line| line.strip_suffix('\r').unwrap_or(line));
        self.secrets.insert(source.to_string(), Secret::typed(value));
    }

    /// Adds what a file holds.
    ///
    /// # Errors
    /// Why it has no rows, in words.
    pub fn add_file(&mut self, file: NamedFile, bytes: Vec<u8>) -> Result<(), String> {
        let sha256 = Sha256::of([&bytes[..]]);
        let content = match &file {
            NamedFile::Whole(_) | NamedFile::Feed(_) | NamedFile::Body(_) => {
                InputContent::Bytes(Hidden(bytes.into()))
            }
            NamedFile::Lines(_) => InputContent::Table(Arc::new(Table::from_all_lines(bytes)?)),
            NamedFile::Rows(path) => {
                let not_text = |_| "it is not UTF-8 text; convert it first";
                let is_csv = path.to_ascii_lowercase().ends_with(".csv");
                let text = String::from_utf8(bytes).map_err(not_text)?;
                let table =
                    if is_csv { Table::from_csv(&text) } else { Table::from_lines(text.into_bytes()) };
                InputContent::Table(Arc::new(table?))
            }
        };
        self.files.insert(file, File { sha256, content });
        Ok(())
    }

    /// True if a secret is there.
    pub fn has_secret(&self, source: &SecretSource) -> bool {
        self.secrets.contains_key(&source.to_string())
    }

    /// True if a file is there.
    pub fn has_file(&self, file: &NamedFile) -> bool {
        self.files.contains_key(file)
    }

    /// The content of a file that is not made of rows.
    pub fn whole(&self, path: &str) -> Option<&[u8]> {
        match &self.files.get(&NamedFile::Whole(path.to_owned()))?.content {
            InputContent::Bytes(Hidden(bytes)) => Some(bytes),
            InputContent::Table(_) => None,
        }
    }

    /// The content of a file whose rows users take one after the other.
    pub fn feed(&self, path: &str) -> Option<Arc<[u8]>> {
        match &self.files.get(&NamedFile::Feed(path.to_owned()))?.content {
            InputContent::Bytes(Hidden(bytes)) => Some(bytes.clone()),
            InputContent::Table(_) => None,
        }
    }

    /// The rows of all files that have some, by path.
    pub fn tables(&self) -> Tables {
        let rows = self.files.iter().filter_map(|(file, found)| match &found.content {
            InputContent::Table(table) => Some((file.path().to_owned(), table.clone())),
            InputContent::Bytes(_) => None,
        });
        rows.collect()
    }

    /// Paths and SHA-256 digests of all files, in hexadecimal digits.
    pub fn digests(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(file, found)| (file.path(), found.sha256.as_str()))
    }

    /// The value of a secret, here or with it; empty where it is in neither.
    pub fn value_of<'a>(&'a self, secret: &'a Secret) -> &'a str {
        self.secrets.get(&secret.source().to_string()).unwrap_or(secret).reveal()
    }

    /// Gives the secrets of a plan their values, and its bodies what their files hold. Those that are not here stay empty.
    pub fn fill(&self, plan: &mut Plan) {
        plan.each_secret_mut(&mut |secret| {
            if let Some(value) = self.secrets.get(&secret.source().to_string()) {
                secret.fill(value.reveal().into());
            }
        });
        for file in plan.body_files() {
            if let Some(InputContent::Bytes(Hidden(bytes))) =
                self.files.get(&NamedFile::Body(file.file.clone())).map(|found| &found.content)
            {
                let Ok(_) = file.hold(|_| Ok::<_, std::convert::Infallible>(bytes.to_vec()));
            }
        }
    }
}

/// The text before the number in the name of a variable for a secret that was typed.
const VARIABLE: &str = "WRINGER_SECRET_";

impl Plan {
    /// True if program text runs in it.
    pub fn has_code(&self) -> bool {
        let mut found = false;
        let phases = self.load.iter().flat_map(|load| &load.phases);
        for scenario in phases.flat_map(|phase| phase.scenarios()) {
            scenario.each(&mut |step| found |= matches!(step, Step::Code(_)));
        }
        found
    }

    /// The commands of the shell by which it purges.
    pub fn purge_commands(&self) -> impl Iterator<Item = &str> {
        let phases = self.load.iter().flat_map(|load| &load.phases);
        let steps = phases.flat_map(|phase| phase.scenarios()).flat_map(|scenario| &scenario.steps);
        steps.filter_map(|step| {
            let Step::Object(object) = step else { return None };
            object.purge.as_ref()?.command.as_deref()
        })
    }

    /// The sources of its secrets that are not part of it, each once.
    pub fn secrets(&self) -> BTreeSet<SecretSource> {
        let mut found = BTreeSet::new();
        self.each_secret(&mut |secret| {
            if !secret.is_typed() {
                found.insert(secret.source().clone());
            }
        });
        found
    }

    /// The values of its secrets, as far as they are known; for whoever masks them in what others say.
    pub fn secret_values(&self) -> Vec<String> {
        let mut found = BTreeSet::new();
        self.each_secret(&mut |secret| {
            found.insert(secret.reveal().to_owned());
        });
        found.into_iter().filter(|value| !value.is_empty()).collect()
    }

    /// The files that are not part of it, each once.
    pub fn files(&self) -> BTreeSet<NamedFile> {
        let mut found = BTreeSet::new();
        let mut whole = |path: &Option<String>| found.extend(path.clone().map(NamedFile::Whole));
        let connections = self.load.as_ref().map(|load| load.protocol.connections());
        if let Some(tls) = connections.and_then(|connections| connections.tls) {
            [&tls.ca, &tls.certificate, &tls.key].into_iter().for_each(&mut whole);
            whole(&tls.keystore.as_ref().map(|keystore| keystore.file.clone()));
        }
        if let Some(tls) = self.origin.as_ref().and_then(|origin| origin.tls.as_ref()) {
            [&tls.client_ca, &tls.certificate, &tls.key].into_iter().for_each(&mut whole);
        }
        for scenario in self.load.iter().flat_map(|load| &load.phases).flat_map(|phase| phase.scenarios()) {
            scenario.each(&mut |step| {
                if let Step::Feed(feed) = step {
                    found.insert(NamedFile::Feed(feed.file.clone()));
                }
            });
        }
        for step in self.steps() {
            if let Step::Requests(RequestStep { data, .. }) | Step::Messages(MessageStep { data, .. }) = step
            {
                found.extend(data.iter().filter_map(data_file));
            }
        }
        found
    }

    /// The files in which bodies of its requests stand, which whoever sends these reads. One may come several times.
    pub fn body_files(&self) -> impl Iterator<Item = &BodyFile> {
        let requests =
            self.steps().filter_map(|step| if let Step::Requests(step) = step { Some(step) } else { None });
        let requests = requests.flat_map(|step| step.requests.kinds().iter().chain(&step.session.login));
        requests.flat_map(|request| request.body.files())
    }

    /// Names its files anew: what a plan says of them goes in, where they are comes out.
    pub fn rename_files(&mut self, name: &dyn Fn(&str) -> String) {
        let mut whole = |path: &mut Option<String>| path.iter_mut().for_each(|path| *path = name(path));
        if let Some(tls) = self.load.as_mut().and_then(|load| load.protocol.tls_mut()) {
            [&mut tls.ca, &mut tls.certificate, &mut tls.key].into_iter().for_each(&mut whole);
            tls.keystore.iter_mut().for_each(|keystore| keystore.file = name(&keystore.file));
        }
        if let Some(tls) = self.origin.as_mut().and_then(|origin| origin.tls.as_mut()) {
            [&mut tls.client_ca, &mut tls.certificate, &mut tls.key].into_iter().for_each(&mut whole);
        }
        for scenario in self.load.iter_mut().flat_map(|load| &mut load.phases).flat_map(Phase::scenarios_mut)
        {
            scenario.each_mut(&mut |step| {
                if let Step::Feed(feed) = step {
                    feed.file = name(&feed.file);
                }
                if let Step::Requests(RequestStep { data, .. }) | Step::Messages(MessageStep { data, .. }) =
                    step
                {
                    data.iter_mut().for_each(|data| rename(data, name));
                }
                if let Step::Requests(step) = step {
                    let requests = step.requests.kinds_mut().iter_mut().chain(&mut step.session.login);
                    requests.flat_map(|request| request.body.files_mut()).for_each(|file| file.rename(name));
                }
            });
        }
    }

    /// The steps of all phases.
    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.load.iter().flat_map(|load| &load.phases).flat_map(|phase| phase.sends())
    }

    /// Gives typed secrets names, so that the plan reads back, and returns the names with their secrets.
    pub(crate) fn name_typed(&mut self) -> Vec<(SecretSource, Secret)> {
        let mut named: Vec<(SecretSource, Secret)> = Vec::new();
        self.each_secret_mut(&mut |secret| {
            if !secret.is_typed() {
                return;
            }
            let known = named.iter().find(|(_, other)| other == secret).map(|(source, _)| source.clone());
            let number = named.len() + 1;
            let source = known.unwrap_or_else(|| SecretSource::Environment(format!("{VARIABLE}{number}")));
            if !named.iter().any(|(other, _)| *other == source) {
                named.push((source.clone(), secret.clone()));
            }
            secret.rename(source);
        });
        named
    }
}

fn rename(data: &mut Data, name: &dyn Fn(&str) -> String) {
    if let Source::File(rows) = &mut data.source {
        rows.file = name(&rows.file);
    }
}

fn data_file(data: &Data) -> Option<NamedFile> {
    let Source::File(rows) = &data.source else { return None };
    let named = if rows.lines { NamedFile::Lines } else { NamedFile::Rows };
    Some(named(rows.file.clone()))
}

/// A visit of each secret of a plan: the same walk for those who look and those who change.
macro_rules! walk {
    ($of:ident, $request:ident, $field:ident, $secret:ident, $iter:ident, $kinds:ident, $sends:ident, $($m:tt)?) => {
        impl Plan {
            fn $of(& $($m)? self, visit: &mut dyn FnMut(& $($m)? Secret)) {
                if let Some(origin) = & $($m)? self.origin {
                    origin.fields.$iter().for_each(|field| $field(field, visit));
                }
                let Some(load) = & $($m)? self.load else { return };
                let tls = match & $($m)? load.protocol {
                    Protocol::Http(http) => {
                        http.fields.$iter().for_each(|field| $field(field, visit));
                        & $($m)? http.tls
                    }
                    Protocol::Messages(messages) => & $($m)? messages.tls,
                };
                let keystores = tls.$iter().flat_map(|tls| tls.keystore.$iter());
                keystores.for_each(|keystore| visit(& $($m)? keystore.password));
                for step in load.phases.$iter().flat_map(|phase| phase.$sends()) {
                    match step {
                        Step::Requests(step) => {
                            let data = step.data.$iter().filter_map(|data| data.source.$secret());
                            data.for_each(&mut *visit);
                            let login = step.session.login.$iter();
                            step.requests.$kinds().$iter().chain(login).for_each(|request| $request(request, visit));
                            if let Some(aws) = & $($m)? step.aws {
                                visit(& $($m)? aws.id);
                                visit(& $($m)? aws.key);
                                aws.token.$iter().for_each(&mut *visit);
                            }
                            if let Some(auth) = & $($m)? step.session.auth {
                                let all = auth.credentials.$iter().chain(auth.proxy.$iter());
                                all.for_each(|one| visit(& $($m)? one.password));
                            }
                        }
                        Step::Object(step) => {
                            let fields = step.purge.$iter().flat_map(|purge| purge.fields.$iter());
                            fields.for_each(|field| $field(field, visit));
                        }
                        Step::Script(step) => $request(& $($m)? step.request, visit),
                        Step::Messages(step) => {
                            step.data.$iter().filter_map(|field| field.source.$secret()).for_each(&mut *visit);
                        }
                        // Their addresses hold no secrets, or they send nothing.
                        Step::Urls(_) | Step::Sequence(_) | Step::Loop(_) | Step::If(_) | Step::Choice(_) | Step::Share(_)
                        | Step::Once(_) | Step::Transaction(_) | Step::Lock(_) | Step::Together(_) | Step::Pause(_) | Step::Wait(_)
                        | Step::Rhythm(_) | Step::Barrier(_) | Step::Set(_) | Step::Counter(_) | Step::Feed(_)
                        | Step::Extract(_) | Step::Check(_) | Step::Code(_) | Step::Log(_) | Step::Flow(_) => {}
                    }
                }
            }
        }

        fn $request(request: & $($m)? Request, visit: &mut dyn FnMut(& $($m)? Secret)) {
            request.fields.$iter().for_each(|field| $field(field, visit));
            request.body.$secret().into_iter().for_each(visit);
        }

        fn $field(field: & $($m)? Field, visit: &mut dyn FnMut(& $($m)? Secret)) {
            match & $($m)? field.value {
                FieldValue::Text(_) => {}
                FieldValue::Secret(text) => visit(& $($m)? text.secret),
                FieldValue::Basic(basic) => visit(& $($m)? basic.basic.password),
            }
        }
    };
}

walk!(each_secret, of_request, of_field, secret, iter, kinds, sends,);
walk!(each_secret_mut, of_request_mut, of_field_mut, secret_mut, iter_mut, kinds_mut, sends_mut, mut);

/// Inputs in a form that another machine reads.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputForm {
    secrets: BTreeMap<String, String>,
    files: Vec<FileForm>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    file: NamedFile,
    sha256: String,
    content: ContentForm,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ContentForm {
    Table(Table),
    Bytes(Body),
}

impl Plan {
    /// The plan and its inputs as two texts, for another machine that is to run it. Secrets, those that were typed included, stand in
    /// the second one in clear.
    pub fn carried(&self, inputs: &Inputs) -> (String, String) {
        let mut named = self.clone();
        let mut all = inputs.clone();
        for (source, secret) in named.name_typed() {
            all.secrets.insert(source.to_string(), secret);
        }
        (named.to_text(), all.to_text())
    }
}

impl Inputs {
    /// All of it as text, for another machine that is to run the plan: the secrets stand in it in clear.
    pub fn to_text(&self) -> String {
        let file = |(file, found): (&NamedFile, &File)| FileForm {
            file: file.clone(),
            sha256: found.sha256.clone(),
            content: match &found.content {
                InputContent::Table(table) => ContentForm::Table((**table).clone()),
                InputContent::Bytes(Hidden(bytes)) => ContentForm::Bytes(bytes.to_vec().into()),
            },
        };
        let secret = |(name, secret): (&String, &Secret)| (name.clone(), secret.reveal().to_owned());
        let secrets = self.secrets.iter().map(secret).collect();
        let form = InputForm { secrets, files: self.files.iter().map(file).collect() };
        // All of it is tables, lists and strings, which TOML can hold.
        crate::text::write(&form)
    }

    /// Reads what [`Inputs::to_text`] wrote.
    ///
    /// # Errors
    /// The text is not of that form; the error gives line and column.
    pub fn from_text(text: &str) -> Result<Inputs, TextError> {
        let form: InputForm = crate::text::read(text)?;
        let files = form.files.into_iter().map(|file| {
            let content = match file.content {
                ContentForm::Table(table) => InputContent::Table(Arc::new(table)),
                ContentForm::Bytes(bytes) => InputContent::Bytes(Hidden(bytes.to_vec().into())),
            };
            (file.file, File { sha256: file.sha256, content })
        });
        let secrets = form.secrets.into_iter().map(|(name, value)| (name, Secret::typed(value)));
        Ok(Inputs { secrets: secrets.collect(), files: files.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Purge;
    use crate::{AwsSignature, Credentials, Http, Load, ObjectStep, Origin, RequestStep, Session, Site};

    /// A plan with a secret in each place that may have one.
    fn plan(secret: impl Fn(&str) -> Secret) -> Plan {
        let login = Request { body: secret("form").into(), ..Request::get("http://h/login") };
        let credentials = |name| vec![Credentials::new("me", secret(name))];
        let auth = crate::Auth {
            credentials: credentials("user"),
            proxy: credentials("proxy"),
            ..Default::default()
        };
        let step = RequestStep {
            requests: vec![Request {
                fields: vec![Field::new("Cookie", FieldValue::bearer(secret("cookie")))],
                ..Request::get("http://h/")
            }]
            .into(),
            aws: Some(AwsSignature {
                region: "r".to_owned(),
                service: "s".to_owned(),
                id: secret("id"),
                key: secret("key"),
                token: Some(secret("token")),
            }),
            session: Session { login: vec![login], auth: Some(auth), ..Session::default() },
            ..RequestStep::default()
        };
        let key = Field::new("X-Purge-Key", FieldValue::bearer(secret("purge")));
        let object = ObjectStep {
            purge: Some(Purge {
                fields: vec![key],
                ..serde_json::from_str("{\"per_second\": 1.0}").unwrap()
            }),
            ..ObjectStep::default()
        };
        let http = Http {
            fields: vec![Field::new(
                "Authorization",
                FieldValue::basic(Credentials::of_pair(secret("pair"))),
            )],
            ..Http::default()
        };
        let phase = crate::Phase {
            name: "p".to_owned(),
            measured: true,
            scenario: crate::Scenario::of(vec![Step::Requests(step), Step::Object(object)]),
            pace: crate::Pace::Users(1),
            stop: crate::Stop { requests: Some(1), ..Default::default() },
            ..Phase::default()
        };
        let load = Load { protocol: Protocol::Http(http), phases: vec![phase], ..Load::default() };
        let fields = vec![Field::new("X-Token", FieldValue::bearer(secret("origin")))];
        Plan {
            version: Plan::VERSION,
            seed: 1,
            threads: None,
            io: crate::Io::Auto,
            site: Site::default(),
            load: Some(load),
            origin: Some(Origin { fields, ..Origin::default() }),
        }
    }

    const NAMES: [&str; 10] =
        ["cookie", "form", "id", "key", "origin", "pair", "proxy", "purge", "token", "user"];

    #[test]
    fn secrets_are_found_wherever_they_stand_and_filled_in() {
        let named = plan(Secret::environment);
        let sources: Vec<String> = named.secrets().iter().map(ToString::to_string).collect();
        assert_eq!(sources, NAMES.map(|name| format!("env:{name}")));
        assert_eq!(named.secret_values(), Vec::<String>::new());
        let mut inputs = Inputs::default();
        for source in named.secrets() {
            inputs.add_secret(&source, &format!("geheim {source}\r\n"));
        }
        let mut filled = named.clone();
        inputs.fill(&mut filled);
        assert_eq!(filled.secret_values(), NAMES.map(|name| format!("geheim env:{name}")));
        let shown = format!("{filled:?}{inputs:?}{}", filled.to_text());
        assert!(!shown.contains("geheim"), "{shown}");
        assert_eq!(Plan::from_text(&filled.to_text()).unwrap(), named);
    }

    #[test]
    fn a_plan_that_is_shown_says_how_to_give_what_was_typed() {
        let typed = plan(|name| Secret::typed(format!("geheim {name}")));
        let text = typed.to_text();
        assert!(!text.contains("geheim") && text.starts_with("# "), "{text}");
        let shown = Plan::from_text(&text).unwrap();
        assert_eq!(shown.secrets().len(), NAMES.len());
        assert!(shown.secrets().iter().all(|source| text.contains(&format!("{source} "))), "{text}");
        assert!(plan(|_| Secret::typed("the same")).to_text().matches("# ").count() <= 3);
    }

    #[test]
    fn inputs_go_to_another_machine() {
        let mut inputs = Inputs::default();
        inputs.add_secret(&SecretSource::Environment("A".to_owned()), "geheim");
        inputs.add_file(NamedFile::Rows("u.csv".to_owned()), b"a,b\n1,\"x\ny\"\n".to_vec()).unwrap();
        inputs.add_file(NamedFile::Lines("l".to_owned()), b"\xff\n\nz".to_vec()).unwrap();
        inputs.add_file(NamedFile::Whole("key.pem".to_owned()), b"geheim".to_vec()).unwrap();
        assert!(!format!("{inputs:?}").contains("geheim"));
        let there = Inputs::from_text(&inputs.to_text()).unwrap();
        assert_eq!(there, inputs);
        assert_eq!(there.whole("key.pem"), Some(&b"geheim"[..]));
        assert_eq!(there.tables()["u.csv"].cell(0, 1), b"x\ny");
        assert!(there.digests().all(|(_, sha256)| sha256.len() == 64));
        assert!(inputs.add_file(NamedFile::Rows("u".to_owned()), vec![0xff]).unwrap_err().contains("UTF-8"));
    }
}
