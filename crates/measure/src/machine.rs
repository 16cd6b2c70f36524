//! Resources that a run took of the machine it ran on: plain figures, sampled once per interval by whoever can read them.

use serde::{Deserialize, Serialize};

/// Share of the local ports above which the system searches long for a free one.
pub const SCARCE: f64 = 0.9;
/// Less swapped than this is the machine's housekeeping, in bytes.
const SWAP_NOISE_BYTES: u64 = 1 << 20;

/// Highest use of resources, and what went on during the run. Figures of TCP and of swapping are those of the whole
/// machine (of its network namespace), as the system tells no others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MachineUse {
    /// Most descriptors that this process held.
    pub descriptors: u64,
    /// Descriptors that it may hold; `None` without limit.
    pub descriptor_limit: Option<u64>,
    /// Most memory that this process held, in bytes.
    pub memory_bytes: u64,
    /// Most TCP sockets in use, on the whole machine.
    pub tcp_sockets: u64,
    /// Most of its TCP sockets in TIME_WAIT.
    pub time_wait: u64,
    /// Most local ports seen in use towards the target, those in TIME_WAIT included where they block the port; looked at
    /// only where they may run out.
    pub ports: Option<u64>,
    /// Connections to the target that there are local ports for.
    pub port_limit: Option<u64>,
    /// TCP segments sent during the run, by the whole machine.
    pub segments: u64,
    /// Of those, the ones sent again.
    pub retransmits: u64,
    /// New connections that found a listener's queue full, on the whole machine.
    pub listen_overflows: u64,
    /// Bytes that the machine swapped in and out during the run.
    pub swapped_bytes: u64,
}

impl MachineUse {
    /// Reason, where local ports were so few that finding one took time.
    pub fn ports_reason(&self) -> Option<String> {
        let ports = self.ports?;
        let limit = self.port_limit?;
        let scarce = ports as f64 > limit as f64 * SCARCE;
        scarce
            .then(|| format!("{ports} of {limit} local ports towards the target were in use: {PORT_ADVICE}"))
    }

    /// Reason, where no descriptor was left. Fewer than all do no harm, unlike ports.
    pub fn descriptors_reason(&self) -> Option<String> {
        let limit = self.descriptor_limit?;
        (self.descriptors >= limit)
            .then(|| format!("all of {limit} descriptors were in use: {DESCRIPTOR_ADVICE}"))
    }

    /// Reason, where the machine swapped.
    pub fn swap_reason(&self) -> Option<String> {
        let megabytes = self.swapped_bytes as f64 / 1e6;
        (self.swapped_bytes >= SWAP_NOISE_BYTES)
            .then(|| format!("the machine swapped {megabytes:.1} MB meanwhile: free memory, or ask for less"))
    }
}

/// Advice where local ports run out.
pub const PORT_ADVICE: &str = "give more addresses to connect from (--source), reuse connections (--keep-alive 0), end \
    them by a reset (--close reset), or widen net.ipv4.ip_local_port_range";
/// Advice where descriptors run out.
pub const DESCRIPTOR_ADVICE: &str = "raise the limit with ulimit -n, or ask for fewer connections";

/// Resources that a watched process used, its children included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Watched {
    /// Name that the system gives it.
    pub name: String,
    /// Its number.
    pub pid: u32,
    /// Processes that it consisted of when it was last looked at.
    pub processes: u32,
    /// CPU time while measuring in seconds, user and system; `None` where it could not be read.
    pub cpu_s: Option<f64>,
    /// Most resident memory in bytes, summed over its processes: what they share counts for each.
    pub memory_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_is_named_with_what_helps() {
        let calm = MachineUse {
            descriptors: 999,
            descriptor_limit: Some(1_000),
            ports: Some(25_000),
            port_limit: Some(28_232),
            swapped_bytes: 4_096,
            ..MachineUse::default()
        };
        let reasons = |machine: &MachineUse| {
            let all = [machine.ports_reason(), machine.descriptors_reason(), machine.swap_reason()];
            all.into_iter().flatten().collect::<Vec<_>>().join("\n")
        };
        assert_eq!(reasons(&calm), "");
        let tight =
            MachineUse { descriptors: 1_000, ports: Some(25_500), swapped_bytes: 3 << 20, ..calm.clone() };
        let found = reasons(&tight);
        for said in ["all of 1000 descriptors", "ulimit -n", "25500 of 28232", "--source", "swapped 3.1 MB"] {
            assert!(found.contains(said), "{said} in {found}");
        }
        let unlimited = MachineUse { descriptor_limit: None, port_limit: None, swapped_bytes: 0, ..tight };
        assert_eq!(reasons(&unlimited), "");
    }
}
