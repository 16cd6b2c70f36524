//! The program that the kernel runs for each packet (bpf(4) of BSD, `Documentation/networking/filter.rst` of Linux): TCP of some ports.

use nix::libc;
use socket2::SockFilter;

/// Bytes of a packet that are handed on: all.
const WHOLE: u32 = 0x4_0000;
/// Steps before the part of IPv4, and of each part before its first comparison with a port.
const HEAD: usize = 4;
const V4_HEAD: usize = 6;
const V6_HEAD: usize = 7;

const BYTE: u32 = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
const HALF: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_ABS;
/// Behind the head of IPv4.
const HALF_BEHIND: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_IND;
/// Four times the lower half of a byte: the length of that head.
const LENGTH: u32 = libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH;
const MASK: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const BITS: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const END: u32 = libc::BPF_RET | libc::BPF_K;

/// TCP, as a protocol of IP.
const TCP: u32 = 6;
/// Heads of IPv6 between its own and that of TCP (RFC 8200): hop by hop, routing, fragment, destination. Whoever reads packets reads
/// them as well.
const BETWEEN: [u32; 4] = [0, 43, 44, 60];
/// Where a fragment of IPv4 that is not the first one lies (RFC 791): it has no ports, and is handed on.
const LATER_FRAGMENT: u32 = 0x1fff;

/// A program that is being written: where it goes is known beforehand.
struct FilterProgram {
    written: Vec<SockFilter>,
    whole: usize,
    nothing: usize,
}

impl FilterProgram {
    fn step(&mut self, code: u32, k: u32) {
        self.written.push(SockFilter::new(code as u16, 0, 0, k));
    }

    /// Goes to one place or another, both behind this one.
    fn branch(&mut self, code: u32, k: u32, yes: usize, no: usize) {
        let here = self.written.len() + 1;
        // Of at most 32 ports no way is longer than a byte says.
        let way = |to: usize| u8::try_from(to - here).expect("a program of 32 ports is short");
        self.written.push(SockFilter::new(code as u16, way(yes), way(no), k));
    }

    fn next(&self) -> usize {
        self.written.len() + 1
    }

    /// Hands a packet on where the number that was loaded is one of these.
    fn any_of(&mut self, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            self.branch(EQUAL, number, self.whole, self.next());
        }
    }
}

/// TCP over IPv4 and IPv6 whose source or destination is one of these ports; packets begin with the head of IP.
pub(super) fn of(ports: &[u16]) -> Vec<SockFilter> {
    let numbers = || ports.iter().map(|port| u32::from(*port));
    let v6 = HEAD + V4_HEAD + 2 * ports.len() + 2;
    let nothing = v6 + V6_HEAD + 2 * ports.len() + 1;
    let mut program = FilterProgram { written: Vec::new(), whole: nothing + 1, nothing };
    program.step(BYTE, 0);
    program.step(MASK, 0xf0);
    program.branch(EQUAL, 0x40, HEAD, program.next());
    program.branch(EQUAL, 0x60, v6, nothing);
    program.step(BYTE, 9);
    program.branch(EQUAL, TCP, program.next(), program.nothing);
    program.step(HALF, 6);
    program.branch(BITS, LATER_FRAGMENT, program.whole, program.next());
    program.step(LENGTH, 0);
    program.step(HALF_BEHIND, 0);
    program.any_of(numbers());
    program.step(HALF_BEHIND, 2);
    program.any_of(numbers());
    program.step(END, 0);
    program.step(BYTE, 6);
    program.any_of(BETWEEN);
    program.branch(EQUAL, TCP, program.next(), program.nothing);
    program.step(HALF, 40);
    program.any_of(numbers());
    program.step(HALF, 42);
    program.any_of(numbers());
    program.step(END, 0);
    program.step(END, WHOLE);
    program.written
}
