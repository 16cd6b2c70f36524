//! Traces of caches: objects without URLs, of which laws can be learnt.

use crate::support::{Memory, open, requests};
use plan::draw::Draw;
use plan::popularity::{Popularity, Sampler};
use recording::fit::fit;
use recording::import::{Import, Options};
use recording::left_out::Reason;
use recording::read::lines::Go;
use recording::replay::{Choice, ChooseError, choose};

fn record(seconds: u32, object: u64, size: u32) -> Vec<u8> {
    [&seconds.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &(-1_i64).to_le_bytes()].concat()
}

fn recorded(bytes: &[u8]) -> Vec<u8> {
    let mut import = Import::new(Options { tolerate: 0.5, ..Options::default() }, Memory::default());
    import.trace("a.trace", &mut &bytes[..], &mut |_| Go::On).unwrap();
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
