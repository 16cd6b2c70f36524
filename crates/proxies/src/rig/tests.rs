//! Tests of what rigs are told, and of what they print.

use super::*;
use std::net::TcpListener;

#[test]
fn every_name_is_read_back_and_others_are_told_the_choices() {
    for proxy in ALL {
        assert_eq!(named(&proxy.name().to_ascii_uppercase()).unwrap().name(), proxy.name());
    }
    let error = named("apache").expect_err("there is none");
    assert_eq!(
        error.to_string(),
        "there is no rig \"apache\": the choices are ats, nginx, varnish, vinyl, squid, haproxy, httpd, envoy, souin, h2o, caddy"
    );
}

#[test]
fn versions_are_found_in_what_proxies_say() {
    for (said, version) in [
        ("nginx version: nginx/1.22.1\n", Some("1.22.1")),
        ("varnishd (varnish-7.1.1 revision 7cee)", Some("7.1.1")),
        ("vinyld (vinyl-cache-9.0.1 revision e8e3)", Some("9.0.1")),
        ("\n/usr/bin/envoy  version: 9e5580933739775e/1.40.0/Clean/RELEASE/BoringSSL\n", Some("1.40.0")),
        ("Squid Cache: Version 5.7\n", Some("5.7")),
        ("HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https://haproxy.org/", Some("2.6.12")),
        ("Traffic Server 9.2.9 Apr  4 2026 14:52:39", Some("9.2.9")),
        ("no idea...", None),
    ] {
        assert_eq!(find_version(said), version, "{said}");
    }
}

#[test]
fn accounts_are_found_by_their_whole_name() {
    let accounts = "root:x:0:0::/:/bin/sh\nnobody2:x:1:1::/:/\nnobody:x:65534:65533:n:/:/\n";
    assert_eq!(find_account(accounts, "nobody"), Some((65534, 65533)));
    assert_eq!(find_account(accounts, "nob"), None);
}

#[test]
fn a_taken_port_is_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound");
    assert_eq!(free_address(address).expect_err("it is taken").kind(), io::ErrorKind::AddrInUse);
}

/// Printed configurations are compared with `src/rig/printed/`; `UPDATE_PRINTED=1` rewrites those files.
#[test]
fn printed_configurations_are_as_recorded() {
    let farm = Farm::new("10.0.0.1:9080".parse().expect("an address"), 2, 2).expect("a small farm");
    let alone = RigOptions::default();
    let reload = RigOptions { honour_reload: true, ..RigOptions::default() };
    let purge = RigOptions { purge: true, ..RigOptions::default() };
    let many = RigOptions {
        origin: farm.addresses()[0],
        workers: 4,
        memory_bytes: 1 << 30,
        ..RigOptions::default()
    };
    for proxy in ALL.iter().copied() {
        let print = |options: &RigOptions, farm| print(proxy, options, farm).expect("nothing is set");
        check_printed(&format!("{proxy}.txt"), &print(&alone, None));
        check_printed(&format!("{proxy}-reload.txt"), &print(&reload, None));
        if ["varnish", "vinyl", "squid"].contains(&proxy.name()) {
            check_printed(&format!("{proxy}-purge.txt"), &print(&purge, None));
        }
        check_printed(&format!("{proxy}-farm.txt"), &print(&many, Some(&farm)));
        for http in &proxy.speaks()[1..] {
            let options = RigOptions { http: *http, ..RigOptions::default() };
            check_printed(&format!("{proxy}-{}.txt", http.typed()), &print(&options, None));
        }
    }
}

/// Each of them has something that can be set, and says so where it has not.
#[test]
fn settings_stand_in_the_configuration_or_are_refused() {
    let printed = |name: &str, key: &str, value: &str| {
        let settings = vec![Setting { key: key.to_owned(), value: value.to_owned() }];
        print(named(name).expect("it is known"), &RigOptions { settings, ..RigOptions::default() }, None)
    };
    for (name, key, value, line) in [
        ("ats", "proxy.config.cache.ram_cache.size", "5", "CONFIG proxy.config.cache.ram_cache.size INT 5\n"),
        (
            "ats",
            "proxy.config.cache.limits.http.max_alts",
            "9",
            "CONFIG proxy.config.cache.limits.http.max_alts INT 9\n",
        ),
        ("nginx", "proxy_cache_lock", "off", "            proxy_cache_lock off;\n"),
        ("varnish", "default_grace", "10", "-p default_grace=10"),
        ("varnish", "max_restarts", "1", "-p max_restarts=1"),
        ("squid", "collapsed_forwarding", "off", "\ncollapsed_forwarding off\n"),
        ("squid", "read_ahead_gap", "64 KB", "\nread_ahead_gap 64 KB\n"),
        ("haproxy", "max-secondary-entries", "5", "    max-secondary-entries 5\n"),
        ("haproxy", "tune.bufsize", "32768", "global\n    tune.bufsize 32768\n"),
        ("httpd", "CacheLock", "On", "\nCacheLock On\n"),
        ("httpd", "CacheMinExpire", "2", "\nCacheMinExpire 2\n"),
        ("h2o", "max-connections", "9", "\nmax-connections: 9\n"),
        ("caddy", "idle", "2h", "            idle 2h\n"),
        ("souin", "stale", "5s", "        stale 5s\n"),
        ("vinyl", "default_grace", "10", "-p default_grace=10"),
        ("envoy", "tcp_backlog_size", "9", "    tcp_backlog_size: 9\n"),
    ] {
        let text = printed(name, key, value).expect("it can be set");
        assert!(text.contains(line), "{name} {key}: {text}");
    }
    for (name, key) in [("nginx", "proxy_cache_lok"), ("haproxy", "nosuch"), ("nginx", "a\nb"), ("squid", "")]
    {
        assert!(printed(name, key, "1").expect_err("it cannot").is_mistake(), "{name} {key}");
    }
}

#[test]
fn a_build_of_ones_own_is_found_below_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let nginx = named("nginx").expect("it is known");
    let found = || program_of(nginx, Some(folder.path()));
    assert!(matches!(found(), Err(RigError::NotBuilt { .. })));
    fs::create_dir(folder.path().join("objs")).expect("it is ours");
    let program = folder.path().join("objs/nginx");
    fs::write(&program, "").expect("it is ours");
    assert!(found().is_err(), "no program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    assert_eq!(found().expect("it is there"), fs::canonicalize(&program).expect("it is there"));
}

/// A program of the right name that lists no such module is none of it, and the reason is said.
#[test]
fn a_module_that_a_program_lacks_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let souin = named("souin").expect("it is known");
    let found = |modules: &str| {
        let program = folder.path().join("caddy");
        fs::write(&program, format!("#!/bin/sh\ntest \"$1\" = list-modules && printf '{modules}'\n"))
            .expect("it is ours");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
        program_of(souin, Some(folder.path()))
    };
    assert!(found("http.handlers.acme\\nhttp.handlers.cache\\n\\n  Standard modules: 9\\n").is_ok());
    let error = found("http.handlers.cache_status\\n").expect_err("it is another module");
    let said = error.to_string();
    assert!(error.is_mistake() && said.starts_with("Souin is a module of caddy, and no caddy in "), "{said}");
    assert!(said.contains("http.handlers.cache"), "{said}");
}

fn check_printed(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rig/printed").join(name);
    if std::env::var_os("UPDATE_PRINTED").is_some() {
        fs::write(&path, text).expect("the folder is there");
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(recorded, text, "{name} differs; UPDATE_PRINTED=1 records the new text");
}
