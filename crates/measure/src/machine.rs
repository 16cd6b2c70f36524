//! What a run took of the machine it ran on: plain figures, sampled once per interval by whoever can read them.

use serde::Serialize;

/// Share of descriptors or ports above which they are nearly used up.
pub const NEARLY_ALL: f64 = 0.9;
/// Less swapped than this is the machine's housekeeping, in bytes.
const SWAP_NOISE_BYTES: u64 = 1 << 20;

/// What was in use at most, and what went on during the run. Figures of TCP and of swapping are those of the whole
/// machine (of its network namespace), as the system tells no others.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
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
    /// Most local ports seen in use towards the target, TIME_WAIT included; looked at only where they may run out.
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
    /// Why the machine may have been the limit, one sentence each, with what to try.
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some(limit) = nearly_all(self.descriptors, self.descriptor_limit) {
            let held = self.descriptors;
            reasons
                .push(format!("{held} of {limit} descriptors were in use: raise the limit with ulimit -n"));
        }
        if let Some((ports, limit)) =
            self.ports.and_then(|ports| Some((ports, nearly_all(ports, self.port_limit)?)))
        {
            reasons.push(format!(
                "{ports} of {limit} local ports towards the target were in use: {PORT_ADVICE}"
            ));
        }
        if self.swapped_bytes >= SWAP_NOISE_BYTES {
            reasons.push(format!(
                "the machine swapped {:.1} MB meanwhile: free memory, or ask for less",
                self.swapped_bytes as f64 / 1e6
            ));
        }
        reasons
    }
}

/// What helps where local ports run out.
pub const PORT_ADVICE: &str = "give more addresses to connect from (--source), reuse connections (--keep-alive 0), end \
    them by a reset (--close reset), or widen net.ipv4.ip_local_port_range";

/// The limit, where it is nearly reached.
fn nearly_all(used: u64, limit: Option<u64>) -> Option<u64> {
    limit.filter(|limit| used as f64 > *limit as f64 * NEARLY_ALL)
}

/// What a watched process used, its children included.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Watched {
    /// What the system calls it.
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
    fn what_is_nearly_used_up_is_named_with_what_helps() {
        let calm = MachineUse {
            descriptors: 900,
            descriptor_limit: Some(1_000),
            ports: Some(25_000),
            port_limit: Some(28_232),
            swapped_bytes: 4_096,
            ..MachineUse::default()
        };
        assert_eq!(calm.reasons(), Vec::<String>::new());
        let tight =
            MachineUse { descriptors: 901, ports: Some(25_500), swapped_bytes: 3 << 20, ..calm.clone() };
        let reasons = tight.reasons().join("\n");
        for said in ["901 of 1000 descriptors", "ulimit -n", "25500 of 28232", "--source", "swapped 3.1 MB"] {
            assert!(reasons.contains(said), "{said} in {reasons}");
        }
        let unlimited = MachineUse { descriptor_limit: None, port_limit: None, swapped_bytes: 0, ..tight };
        assert_eq!(unlimited.reasons(), Vec::<String>::new());
    }
}
