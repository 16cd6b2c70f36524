//! Writes a log of known laws to standard output: `made_logs FORMAT REQUESTS [ALPHA [ONE_TIMERS [HOT [USERS]]]]`.

use recording::made::{self, Laws};
use std::io::{BufWriter, Write};

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let format = words.first().map_or("combined", String::as_str);
    let number = |at: usize, usual: f64| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(usual);
    let popularity = plan::Popularity {
        hot: number(4, 200_000.0) as u64,
        law: plan::Law::Zipf { alpha: number(2, 0.9) },
        one_timers: number(3, 0.2),
        ..plan::Popularity::default()
    };
    let laws = Laws {
        requests: number(1, 100_000.0) as u64,
        per_second: 5_000.0,
        users: number(5, 50_000.0) as u64,
        popularity,
        ..Laws::default()
    };
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut line = Vec::new();
    made::write_head(&mut line, format);
    let mut each = |fact| {
        made::write_line(&mut line, format, &fact);
        out.write_all(&line)?;
        line.clear();
        Ok::<(), std::io::Error>(())
    };
    if made::is_by_end(format) {
        made::by_end(made::facts(&laws)).try_for_each(&mut each)?;
    } else {
        made::facts(&laws).try_for_each(&mut each)?;
    }
    out.flush()
}
