//! Fits logs of known laws and says how far off each is: `fitting [REQUESTS [SEED]]`. Ends with 1 where an exponent is off by more than 0.02,
//! the share of one-timers by more than half a point, or a hit ratio by more than a point.

use plan::site::Size;
use plan::{Law, Popularity};
use recording::file::Recording;
use recording::fit::fit;
use recording::format::Format;
use recording::import::{Import, Options};
use recording::made::{self, Laws};
use recording::moment::Zone;
use recording::read::lines::Go;
use std::io::Cursor;

const FORMAT: &str = "caddy";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let number = |place: usize, usual: u64| {
        std::env::args().nth(place).and_then(|word| word.parse().ok()).unwrap_or(usual)
    };
    let requests = number(1, 400_000);
    let seed = number(2, 1);
    let heavy = Size::Heavy { median: 8_000, sigma: 1.2, tail: 0.05, shape: 1.3, max: 10_000_000 };
    let bare = Size::Heavy { median: 20_000, sigma: 0.7, tail: 0.0, shape: 1.5, max: 50_000_000 };
    let mut missed = 0;
    println!("alpha  once  sizes  found alpha  found once     hot  hits off  alike off");
    for (alpha, one_timers) in
        [0.6, 0.9, 1.1].into_iter().flat_map(|alpha| [0.0, 0.3, 0.6].map(|once| (alpha, once)))
    {
        for (name, size) in [("heavy", heavy), ("bare", bare), ("fixed", Size::Fixed(5_000))] {
            let popularity = Popularity {
                hot: requests / 20,
                law: Law::Zipf { alpha },
                one_timers,
                ..Popularity::default()
            };
            let laws = Laws { seed, requests, size, popularity, ..Laws::default() };
            let mut log = Vec::new();
            made::by_end(made::facts(&laws)).for_each(|fact| made::write_line(&mut log, FORMAT, &fact));
            let mut import = Import::new(Options::default(), Cursor::new(Vec::new()));
            let mut format = Format::parse(FORMAT, Zone::Untold)?;
            import.log("log", &mut format, &mut &log[..], &mut |_| Go::On)?;
            let mut recording = Recording::open(Cursor::new(import.finish(Vec::new())?.to))?;
            let found = fit(&mut recording, seed)?;
            let law = &found.popularity.law;
            let exponent = match law.law {
                Law::Zipf { alpha } => alpha,
                Law::Uniform | Law::InOrder => 0.0,
            };
            let off = found.curve.error();
            let alike = found.popularity.error;
            let is_missed =
                (exponent - alpha).abs() > 0.02 || (law.one_timers - one_timers).abs() > 0.005 || off > 0.01;
            missed += u32::from(is_missed);
            println!(
                "{alpha:5.1} {one_timers:5.1}  {name:5} {exponent:12.4} {:11.4} {:7} {:8.2} % {:8.2} %{}",
                law.one_timers,
                law.hot,
                off * 100.0,
                alike * 100.0,
                if is_missed { "  missed" } else { "" }
            );
        }
    }
    if missed > 0 {
        return Err(format!("{missed} of 27 missed").into());
    }
    Ok(())
}
