//! Texts that place agents: a manifest for Kubernetes, a unit for systemd, the configuration of a bus. They are printed, to be read
//! and applied by whoever owns the machines; nothing here applies them.

use std::fmt::Write;

/// The bus in a manifest.
const BUS_NAME: &str = "wringer-bus";
/// Address of that bus for its agents.
const BUS: &str = "nats://wringer-bus:4222";

/// A Job of Kubernetes with so many agents, each with whole CPUs of its own. `bus`: one that is there; where there is none, the
/// manifest has one.
pub fn kubernetes(agents: u32, image: &str, cpus: u32, bus: Option<&str>) -> String {
    let mut text = format!(
        "# {agents} agents of wringer{}.\n\
         #\n\
         #   kubectl apply -f FILE\n",
        if bus.is_none() { ", and the bus on which they meet a controller" } else { "" }
    );
    text.push_str(&match bus {
        Some(url) => format!("#   wringer http URL --bus {url} --expect {agents} -d 30s\n"),
        None => format!(
            "#   kubectl port-forward service/{BUS_NAME} 4222 &\n\
             #   wringer http URL --bus nats://localhost:4222 --expect {agents} -d 30s\n"
        ),
    });
    text.push_str("#   kubectl delete -f FILE\n#\n# Each agent ends after one run. Nothing is restarted: an agent that is lost is lost.\n");
    if bus.is_none() {
        text.push_str(
            "# The bus is in clear and knows no users: whoever can open a connection to it in this cluster commands\n\
             # these agents. `wringer fleet print nats` has rights for each; give --bus tls://… for a bus of that kind.\n",
        );
        text.push_str(KUBERNETES_BUS);
    }
    let url = bus.unwrap_or(BUS);
    let in_clear = if url.starts_with("nats://") { ", --insecure-bus" } else { "" };
    let url = quoted(url);
    let image = quoted(image);
    // Only formatting into a string.
    let _ = write!(
        text,
        "---\n\
         apiVersion: batch/v1\n\
         kind: Job\n\
         metadata:\n\
         \x20 name: wringer-agents\n\
         spec:\n\
         \x20 completionMode: Indexed\n\
         \x20 completions: {agents}\n\
         \x20 parallelism: {agents}\n\
         \x20 backoffLimit: 0\n\
         \x20 template:\n\
         \x20   metadata:\n\
         \x20     labels: {{ app: wringer-agent }}\n\
         \x20   spec:\n\
         \x20     restartPolicy: Never\n\
         \x20     automountServiceAccountToken: false\n\
         \x20     topologySpreadConstraints:\n\
         \x20       - maxSkew: 1\n\
         \x20         topologyKey: kubernetes.io/hostname\n\
         \x20         whenUnsatisfiable: ScheduleAnyway\n\
         \x20         labelSelector: {{ matchLabels: {{ app: wringer-agent }} }}\n\
         \x20     containers:\n\
         \x20       - name: agent\n\
         \x20         image: {image}\n\
         \x20         args: [agent, --bus, {url}, --name, load-$(JOB_COMPLETION_INDEX), --once{in_clear}]\n\
         \x20         resources:\n\
         \x20           # Whole CPUs, the same as request and limit: nobody else is put on them, and nothing throttles them.\n\
         \x20           requests: {{ cpu: \"{cpus}\", memory: 1Gi }}\n\
         \x20           limits: {{ cpu: \"{cpus}\", memory: 1Gi }}\n\
         \x20         securityContext:\n\
         \x20           allowPrivilegeEscalation: false\n\
         \x20           capabilities: {{ drop: [ALL] }}\n"
    );
    text
}

const KUBERNETES_BUS: &str = "---
apiVersion: v1
kind: Service
metadata:
  name: wringer-bus
spec:
  selector: { app: wringer-bus }
  ports: [{ port: 4222 }]
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: wringer-bus
spec:
  selector: { matchLabels: { app: wringer-bus } }
  template:
    metadata:
      labels: { app: wringer-bus }
    spec:
      automountServiceAccountToken: false
      containers:
        - name: nats
          image: nats:2
          ports: [{ containerPort: 4222 }]
          resources:
            requests: { cpu: 100m, memory: 128Mi }
";

/// A value of YAML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A unit of systemd for an agent that stays. It has no rights but to open connections.
pub fn systemd(bus: &str) -> String {
    let in_clear = if bus.starts_with("nats://") {
        "# Beyond this machine such a bus is in clear: add --insecure-bus where that is meant, or take tls://.\n"
    } else {
        ""
    };
    // In a unit, % begins a specifier.
    let bus = bus.replace('%', "%%");
    format!(
        "# /etc/systemd/system/wringer-agent.service: an agent of wringer that stays.\n\
         #\n\
         #   systemctl daemon-reload && systemctl enable --now wringer-agent\n\
         #\n\
         # Where a load may go, and how much of it, stands in /etc/wringer/agent.toml. Without that file it may go to\n\
         # private addresses, for an hour at most.\n\
         [Unit]\n\
         Description=wringer agent\n\
         Wants=network-online.target\n\
         After=network-online.target\n\
         \n\
         [Service]\n\
         {in_clear}\
         # Who it is on the bus: the seed of its nkey in /etc/wringer/bus.seed, which only root may read, and\n\
         #   LoadCredential=bus:/etc/wringer/bus.seed\n\
         # with --bus-creds %d/bus behind the name.\n\
         ExecStart=/usr/local/bin/wringer agent --bus {bus} --name %l\n\
         Restart=on-failure\n\
         RestartSec=5\n\
         DynamicUser=yes\n\
         NoNewPrivileges=yes\n\
         CapabilityBoundingSet=\n\
         ProtectSystem=strict\n\
         ProtectHome=yes\n\
         PrivateTmp=yes\n\
         PrivateDevices=yes\n\
         RestrictAddressFamilies=AF_INET AF_INET6\n\
         LimitNOFILE=1048576\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    )
}

/// The configuration of nats-server: each agent may say and hear what is its own, and nothing else.
pub fn nats(agents: u32) -> String {
    let mut text = "# nats-server -c FILE\n\
         #\n\
         # `nk -gen user -pubout` (or `nsc generate nkey --user`) makes a pair of keys: the line that begins with SU goes into a file for\n\
         # --bus-creds, and the one that begins with U takes the place of CONTROLLER, or of an agent's, here.\n\
         listen: \"0.0.0.0:4222\"\n\
         tls {\n\
         \x20 cert_file: \"/etc/nats/cert.pem\"\n\
         \x20 key_file: \"/etc/nats/key.pem\"\n\
         }\n\
         authorization {\n\
         \x20 users: [\n\
         \x20   { nkey: \"CONTROLLER\", permissions: { publish: [\"wringer.*.all\", \"wringer.*.down.*\"], subscribe: \"wringer.*.up.*\" } }\n"
        .to_owned();
    for agent in 0..agents {
        // As above.
        let _ = writeln!(
            text,
            "    {{ nkey: \"LOAD_{agent}\", permissions: {{ publish: \"wringer.*.up.load-{agent}\", subscribe: \
             [\"wringer.*.down.load-{agent}\", \"wringer.*.all\"] }} }}"
        );
    }
    text.push_str("  ]\n}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_that_were_read_and_tried() {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/");
        for (name, text) in [
            ("k8s.yaml", kubernetes(40, "registry.example/wringer:1", 4, None)),
            ("k8s-bus.yaml", kubernetes(2, "wringer", 1, Some("tls://bus.example:4222"))),
            ("wringer-agent.service", systemd("tls://bus.example:4222")),
            ("nats.conf", nats(2)),
        ] {
            let file = format!("{golden}{name}");
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&file, &text).unwrap();
            }
            assert_eq!(text, std::fs::read_to_string(&file).unwrap(), "{name}");
        }
    }

    #[test]
    fn a_value_cannot_leave_its_place() {
        let text = kubernetes(1, "x\", command: [\"sh", 1, None);
        assert!(text.contains("image: \"x\\\", command: [\\\"sh\"\n"), "{text}");
        assert!(systemd("tls://a%b").contains("--bus tls://a%%b"));
    }
}
