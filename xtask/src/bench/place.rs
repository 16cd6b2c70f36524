//! Where a bench runs: the program under test, the cores, the time, a temporary folder; and running things there.

use std::cell::Cell;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::measure::{self, Cpu};
use super::peers::{Peer, Pressing};
use super::run::{self, Cores, Server};
use super::sample::Figures;
use crate::{Result, shell};

/// State shared by all cases.
pub struct Place {
    pub wringer: PathBuf,
    pub cores: Cores,
    /// How long each case runs in each round.
    pub time: Duration,
    folder: TempDir,
    /// Gives each run a seed of its own, so that objects that are never asked for again are not, in a later run.
    seed: Cell<u64>,
}

impl Place {
    pub fn new(wringer: PathBuf, time: Duration) -> Result<Self> {
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let seed = Cell::new(std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_secs()));
        Ok(Self { wringer, cores: Cores::choose(), time, folder, seed })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where the run that goes on says what it has to say.
    pub fn log(&self) -> PathBuf {
        self.file("run.log")
    }

    pub fn next_seed(&self) -> u64 {
        self.seed.set(self.seed.get() + 1);
        self.seed.get()
    }

    /// wringer as a generator, on its core.
    pub fn generator(&self) -> Command {
        run::pinned(&self.wringer, self.cores.generator)
    }

    /// Runs wringer, which writes its report to `json`. A run that found faults (exit code 3) still has a CPU time; its
    /// faults are counted.
    pub fn ours(&self, mut command: Command, json: &Path) -> Result<Figures> {
        command.arg("--json").arg(json);
        self.reported(command, json)
    }

    /// Runs wringer with words of which some have it write its report to `json`.
    pub fn reported(&self, command: Command, json: &Path) -> Result<Figures> {
        let ended = run::to_the_end(command, self.limit(), &self.log(), &[0, 3])?;
        let text = fs::read_to_string(json)
            .map_err(|error| format!("{} cannot be read: {error}", json.display()))?;
        let figures = Figures::of_run(&text, ended.cpu);
        figures.ok_or_else(|| format!("{} lacks figures", json.display()))?.believable()
    }

    /// Runs another program to its end.
    pub fn ended(&self, command: Command) -> Result<run::Ended> {
        run::to_the_end(command, self.limit(), &self.log(), &[0])
    }

    /// Runs another tester.
    pub fn peer(&self, peer: Peer, pressing: &Pressing<'_>) -> Result<Figures> {
        let command = peer.command(pressing, self.cores.generator, self.folder())?;
        let ended = self.ended(command)?;
        let requests = peer
            .requests(&ended.said)
            .ok_or_else(|| format!("its output is not understood: {}", ended.said))?;
        let seconds = Some(ended.took.as_secs_f64());
        let p99_us = peer.p99_us(&ended.said);
        Figures { cpu: ended.cpu, requests, seconds, p99_us, ..Figures::default() }.believable()
    }

    /// Our origin as a web server of objects of one size.
    pub fn start_origin(&self, address: SocketAddr, bytes: usize) -> Result<Server> {
        self.start_origin_with(address, &format!("--size {bytes}"))
    }

    /// Our origin with these options.
    pub fn start_origin_with(&self, address: SocketAddr, options: &str) -> Result<Server> {
        let line = format!("origin --listen {address} --threads 1 {options}");
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut server = Server::start(&self.wringer, self.cores.proxy, &arguments, self.file("origin.log"))?;
        server.await_port(address)?;
        Ok(server)
    }

    /// nginx, one process without a log, as cheap as it can be, with the files of our folder; `tls`: where it speaks
    /// TLS, by the certificate `tls.crt` and the key `tls.key`.
    pub fn start_nginx(&self, plain: SocketAddr, tls: Option<SocketAddr>) -> Result<Server> {
        self.start_nginx_with("nginx", &nginx_settings(self.folder(), plain, tls), plain)
    }

    /// nginx with these settings, of which `name` tells the files apart; `at`: an address that it listens on.
    pub fn start_nginx_with(&self, name: &str, settings: &str, at: SocketAddr) -> Result<Server> {
        let program = shell::find("nginx").ok_or("it is not installed")?;
        let file = self.file(&format!("{name}.conf"));
        fs::write(&file, settings).map_err(|error| format!("{}: {error}", file.display()))?;
        let arguments = ["-p", ".", "-e", "stderr", "-c"].map(str::to_owned).into_iter();
        let arguments: Vec<_> = arguments.chain([file.display().to_string()]).collect();
        let log = self.file(&format!("{name}.log"));
        let mut server = Server::start(&program, self.cores.proxy, &arguments, log)?;
        server.await_port(at)?;
        Ok(server)
    }

    /// A key `tls.key` and a certificate of its own `tls.crt` in our folder, as servers have them most: P-256.
    pub fn make_certificate(&self) -> Result<()> {
        let program =
            shell::find("openssl").ok_or("openssl is not installed, which makes the certificate")?;
        let mut command = Command::new(program);
        command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        command.args(["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]);
        command.arg("-keyout").arg(self.file("tls.key")).arg("-out").arg(self.file("tls.crt"));
        shell::output(&mut command).map(drop)
    }

    /// CPU time of a server for each request that another tester gets answered.
    pub fn served(&self, server: &Server, peer: Peer, pressing: &Pressing<'_>) -> Result<Figures> {
        let before = measure::running(server.process())?;
        let pressed = self.peer(peer, pressing)?;
        let cpu = measure::running(server.process())?.saturating_sub(before);
        Ok(Figures { cpu: Cpu { total: cpu, user: None }, ..pressed })
    }

    fn limit(&self) -> Duration {
        self.time * 3 + Duration::from_secs(30)
    }
}

fn nginx_settings(folder: &Path, plain: SocketAddr, tls: Option<SocketAddr>) -> String {
    let folder = folder.display();
    let secure = tls.map_or_else(String::new, |address| {
        format!(
            "server {{ listen {address} ssl backlog=4096; root {folder}; ssl_certificate {folder}/tls.crt; \
             ssl_certificate_key {folder}/tls.key; ssl_protocols TLSv1.2 TLSv1.3; }}\n  "
        )
    });
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log stderr;\n\
         worker_rlimit_nofile 40000;\nevents {{ worker_connections 20000; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  keepalive_requests 1000000000;\n  \
         open_file_cache max=16;\n  client_body_temp_path {folder}/t1;\n  proxy_temp_path {folder}/t2;\n  \
         fastcgi_temp_path {folder}/t3;\n  uwsgi_temp_path {folder}/t4;\n  scgi_temp_path {folder}/t5;\n  \
         {secure}server {{ listen {plain} backlog=4096; root {folder}; }}\n}}\n"
    )
}
