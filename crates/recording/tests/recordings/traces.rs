//! Traces of caches: objects without URLs, of which laws can be learnt.

use crate::support::{Memory, open, requests};
use plan::draw::Draw;
use plan::popularity::{Popularity, Sampler};
use recording::fit::fit;
use recording::format::Format;
use recording::import::trace::TraceForm;
use recording::import::{Import, Options};
use recording::left_out::Reason;
use recording::moment::Zone;
use recording::read::lines::Go;
use recording::replay::{Choice, ChooseError, choose};
use recording::words::Cache;

fn record(seconds: u32, object: u64, size: u32) -> Vec<u8> {
    [&seconds.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &(-1_i64).to_le_bytes()].concat()
}

fn recorded(bytes: &[u8]) -> Vec<u8> {
    let mut import = Import::new(Options { tolerate: 0.5, ..Options::default() }, Memory::default());
    import.trace("a.trace", TraceForm::ORACLE, &mut &bytes[..], &mut |_| Go::On).unwrap();
    let finished = import.finish(Vec::new()).unwrap();
    assert_eq!(finished.left_out.of(Reason::Cut), u64::from(!bytes.len().is_multiple_of(24)));
    finished.to
}

#[test]
fn a_trace_has_sizes_and_no_urls() {
    let cut = [record(5, 1 << 60, 100), record(5, 7, 2_000), record(6, 1 << 60, 100), vec![1, 2, 3]].concat();
    let mut recording = open(&recorded(&cut));
    let found = requests(&mut recording);
    assert_eq!(found.iter().map(|one| one.size).collect::<Vec<_>>(), [100, 2_000, 100]);
    assert!(found[0].object == found[2].object && found[0].object != found[1].object);
    assert!((found[2].begin_us - found[0].begin_us) < 2_000_000 && recording.header().relative);
    assert!(matches!(choose(&mut recording, &Choice::default()), Err(ChooseError::NoUrls)));
}

#[test]
fn laws_of_a_trace_come_back() {
    let law = Popularity {
        hot: 500,
        law: plan::Law::Zipf { alpha: 0.8 },
        one_timers: 0.1,
        ..Popularity::default()
    };
    let sampler = Sampler::new(&law);
    let trace: Vec<u8> = (0..20_000)
        .flat_map(|number| {
            let object = sampler.pick(&mut Draw::new(11, number), number, 0).object(0);
            record((number / 100) as u32, object, 4_096)
        })
        .collect();
    let fit = fit(&mut open(&recorded(&trace)), 1).unwrap();
    let told = format!("seed 11: {:?}", fit.popularity);
    let plan::Law::Zipf { alpha } = fit.popularity.law.law else { panic!("{told}") };
    assert!((alpha - 0.8).abs() < 0.04 && (fit.popularity.law.one_timers - 0.1).abs() < 0.01, "{told}");
    assert!((480..520).contains(&fit.popularity.law.hot) && fit.curve.error() < 0.015, "{told}");
    assert_eq!(fit.sizes.law, plan::site::Size::Fixed(4_096));
    assert!((fit.rate.per_second - 100.0).abs() < 2.0 && fit.rate.window_us == 10_000_000, "{:?}", fit.rate);
}

/// A stream that gives a few bytes at a time.
struct Dripping<'a>(&'a [u8]);

impl std::io::Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = 1_000.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

#[test]
fn lcs_has_a_head_sizes_of_64_bits_and_lifetimes() {
    let magic = 0x1234_5678_9abc_def0_u64.to_le_bytes();
    let mut trace = vec![0; 8_192];
    trace[..8].copy_from_slice(&magic);
    trace[8..16].copy_from_slice(&3_u64.to_le_bytes());
    trace[8_184..].copy_from_slice(&magic);
    for (seconds, object, size) in [(5_u32, 1_u64, 5_000_000_000_u64), (6, 2, 7), (7, 1, 5_000_000_000)] {
        trace.extend(seconds.to_le_bytes());
        trace.extend(object.to_le_bytes());
        trace.extend(size.to_le_bytes());
        trace.extend([1, 0, 0, 0]);
        trace.extend(60_u32.to_le_bytes());
        trace.extend((-1_i64).to_le_bytes());
    }
    let form = TraceForm::lcs(&trace).unwrap();
    let mut import = Import::new(Options::default(), Memory::default());
    import.trace("a.lcs", form, &mut Dripping(&trace), &mut |_| Go::On).unwrap();
    let finished = import.finish(Vec::new()).unwrap();
    assert_eq!(finished.left_out.total(), 0);
    let mut recording = open(&finished.to);
    let sizes: Vec<u64> = requests(&mut recording).iter().map(|one| one.size).collect();
    assert_eq!(sizes, [5_000_000_000, 7, 5_000_000_000]);
    assert!(recording.summary().classes.iter().all(|class| class.lifetime_s == Some(60)));
}

#[test]
fn a_table_is_a_trace_too() {
    let mut format = Format::parse("csv:time=t,id=key,size=bytes,hit=hit", Zone::Untold).unwrap();
    let table = b"t,key,bytes,hit\n0,a,100,0\n1,b,200,0\n1,a,100,1\nnonsense\n";
    let mut import = Import::new(Options { tolerate: 0.5, ..Options::default() }, Memory::default());
    import.log("a.csv", &mut format, &mut &table[..], &mut |_| Go::On).unwrap();
    let finished = import.finish(Vec::new()).unwrap();
    assert_eq!((finished.left_out.total(), finished.left_out.of(Reason::Unparsed)), (1, 1));
    let mut recording = open(&finished.to);
    assert!(recording.header().relative && !recording.header().urls);
    let found = requests(&mut recording);
    assert_eq!(found.iter().map(|one| one.size).collect::<Vec<_>>(), [100, 200, 100]);
    assert!(found[0].object == found[2].object && found[2].kind.cache == Cache::Hit);
}
