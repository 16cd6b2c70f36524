//! Classes that are refused, and why.

/// Why a class is refused, by its package or name; `None` for one that is merely unknown.
pub fn refusal(path: &str) -> Option<&'static str> {
    const NETWORK: &str = "a script may not use the network";
    const DATABASE: &str = "a script may not use databases";
    const PROCESSES: &str = "a script may not start programs";
    const REFLECTION: &str = "a script may not load classes or run text as code";
    const THREADS: &str = "a script may not start threads";
    const TABLE: &[(&str, &str)] = &[
        ("Socket", NETWORK),
        ("ServerSocket", NETWORK),
        ("URL", NETWORK),
        ("URLConnection", NETWORK),
        ("HttpURLConnection", NETWORK),
        ("HttpClient", NETWORK),
        ("HttpClients", NETWORK),
        ("HttpGet", NETWORK),
        ("HttpPost", NETWORK),
        ("InetAddress", NETWORK),
        ("Transport", NETWORK),
        ("Session", NETWORK),
        ("MimeMessage", NETWORK),
        ("Sql", DATABASE),
        ("DriverManager", DATABASE),
        ("Connection", DATABASE),
        ("MongoClient", DATABASE),
        ("Runtime", PROCESSES),
        ("ProcessBuilder", PROCESSES),
        ("GroovyShell", REFLECTION),
        ("GroovyClassLoader", REFLECTION),
        ("Eval", REFLECTION),
        ("ClassLoader", REFLECTION),
        ("ScriptEngineManager", REFLECTION),
        ("Grab", REFLECTION),
        ("Executors", THREADS),
        ("ExecutorService", THREADS),
        ("Timer", THREADS),
    ];
    let name = path.rsplit('.').next().unwrap_or(path);
    TABLE.iter().find(|(refused, _)| *refused == name).map(|(_, reason)| *reason)
}
