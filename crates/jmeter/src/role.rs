//! The part that an element plays, by its class.

use crate::element::Element;

/// The part that an element plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A group of users.
    Group,
    /// Decides on what stands below it.
    Controller,
    /// Sends something, or does something that is told like a request.
    Sampler,
    /// Holds for all samplers of its level and below.
    Config,
    /// Waits before samplers.
    Timer,
    /// Works before samplers.
    Pre,
    /// Works after samplers.
    Post,
    /// Judges samplers.
    Assertion,
    /// Shows or writes results.
    Listener,
    /// Takes no part in a run.
    Idle,
}

const ROLES: [(Role, &[&str]); 10] = [
    (
        Role::Group,
        &[
            "ThreadGroup",
            "SetupThreadGroup",
            "PostThreadGroup",
            "OpenModelThreadGroup",
            "kg.apc.jmeter.threads.UltimateThreadGroup",
            "kg.apc.jmeter.threads.SteppingThreadGroup",
            "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup",
            "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup",
            "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup",
        ],
    ),
    (
        Role::Controller,
        &[
            "GenericController",
            "RecordingController",
            "TestFragmentController",
            "LoopController",
            "OnceOnlyController",
            "IfController",
            "WhileController",
            "ForeachController",
            "ThroughputController",
            "RandomController",
            "RandomOrderController",
            "InterleaveControl",
            "SwitchController",
            "RunTime",
            "CriticalSectionController",
            "ModuleController",
            "IncludeController",
            "TransactionController",
        ],
    ),
    (
        Role::Sampler,
        &[
            "HTTPSamplerProxy",
            "TestAction",
            "DebugSampler",
            "JSR223Sampler",
            "BeanShellSampler",
            "BSFSampler",
            "TCPSampler",
            "JDBCSampler",
            "JavaSampler",
            "kg.apc.jmeter.samplers.DummySampler",
        ],
    ),
    (
        Role::Config,
        &[
            "ConfigTestElement",
            "HeaderManager",
            "CookieManager",
            "CacheManager",
            "AuthManager",
            "DNSCacheManager",
            "KeystoreConfig",
            "Arguments",
            "CSVDataSet",
            "CounterConfig",
            "RandomVariableConfig",
            "LoginConfig",
        ],
    ),
    (
        Role::Timer,
        &[
            "ConstantTimer",
            "UniformRandomTimer",
            "GaussianRandomTimer",
            "PoissonRandomTimer",
            "ConstantThroughputTimer",
            "PreciseThroughputTimer",
            "SyncTimer",
            "BeanShellTimer",
            "JSR223Timer",
            "kg.apc.jmeter.timers.VariableThroughputTimer",
        ],
    ),
    (Role::Pre, &["UserParameters", "JSR223PreProcessor", "BeanShellPreProcessor", "BSFPreProcessor"]),
    (
        Role::Post,
        &[
            "RegexExtractor",
            "JSONPostProcessor",
            "BoundaryExtractor",
            "XPathExtractor",
            "XPath2Extractor",
            "HtmlExtractor",
            "JMESPathExtractor",
            "JSR223PostProcessor",
            "BeanShellPostProcessor",
            "BSFPostProcessor",
            "ResultAction",
            "DebugPostProcessor",
        ],
    ),
    (
        Role::Assertion,
        &[
            "ResponseAssertion",
            "DurationAssertion",
            "SizeAssertion",
            "JSONPathAssertion",
            "JSR223Assertion",
            "BeanShellAssertion",
            "XPathAssertion",
            "XMLAssertion",
        ],
    ),
    (
        Role::Listener,
        &[
            "ResultCollector",
            "BackendListener",
            "Summariser",
            "BeanShellListener",
            "JSR223Listener",
            "ResultSaver",
        ],
    ),
    (Role::Idle, &["WorkBench", "ProxyControl", "MirrorServer", "HttpMirrorControl", "PropertyControl"]),
];

impl Role {
    /// Of a class; of one that is not known, what its name lets one guess.
    pub(crate) fn of(element: &Element) -> Role {
        let class = element.class.as_str();
        let known = ROLES.iter().find(|(_, classes)| classes.contains(&class));
        known.map_or_else(|| guess(class), |(role, _)| *role)
    }

    /// True if it holds for the samplers of its level and below.
    pub(crate) fn is_scoped(self) -> bool {
        matches!(self, Role::Config | Role::Timer | Role::Pre | Role::Post | Role::Assertion | Role::Listener)
    }
}

fn guess(class: &str) -> Role {
    let ends = |words: &[&str]| words.iter().any(|word| class.ends_with(word));
    if ends(&["ThreadGroup"]) {
        Role::Group
    } else if ends(&["Sampler"]) {
        Role::Sampler
    } else if ends(&["Controller"]) {
        Role::Controller
    } else if ends(&["Timer"]) {
        Role::Timer
    } else if ends(&["PreProcessor", "Modifier"]) {
        Role::Pre
    } else if ends(&["PostProcessor", "Extractor"]) {
        Role::Post
    } else if ends(&["Assertion"]) {
        Role::Assertion
    } else if ends(&["Listener", "Collector", "Visualizer", "AutoStop"]) {
        Role::Listener
    } else {
        Role::Config
    }
}
