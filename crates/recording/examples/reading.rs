//! Measures how fast a log is read: `reading FORMAT FILE [parse|import] [RECORDING]`. Prints bytes, lines, seconds of CPU, and what a
//! recording takes.

use recording::entry::Entry;
use recording::format::{Format, RecordingLine};
use recording::import::{Import, Options};
use recording::moment::Zone;
use recording::read::lines::{Go, LinePiece, lines};
use recording::read::unpack::Unpacked;
use std::fs::File;
use std::io::BufWriter;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [format, file, rest @ ..] = &words[..] else {
        return Err("reading FORMAT FILE [parse|import] [RECORDING]".into());
    };
    let mut format = Format::parse(format, Zone::Untold)?;
    let mut read = Unpacked::new(File::open(file)?)?;
    let begun = cpu_seconds();
    let mut bytes = 0;
    let mut found = 0_u64;
    let mut all = 0_u64;
    let how = rest.first().map_or("import", String::as_str);
    if how == "parse" {
        lines::<std::io::Error>(
            &mut read,
            |piece| {
                let (LinePiece::Line(line) | LinePiece::Last(line)) = piece else { return Ok(()) };
                all += 1;
                let mut entry = Entry::default();
                if let Ok(RecordingLine::Entry) = format.read(line, &mut entry) {
                    found += u64::from(std::hint::black_box(&entry).time.is_some());
                }
                Ok(())
            },
            |chunk| {
                bytes += chunk.len() as u64;
                Go::On
            },
        )?;
        report("parsed", bytes, all, found, begun);
        return Ok(());
    }
    let scratch =
        File::options().read(true).write(true).create(true).truncate(true).open(format!("{file}.scratch"))?;
    std::fs::remove_file(format!("{file}.scratch"))?;
    let mut import = Import::new(Options::default(), scratch);
    import.log(file, &mut format, &mut read, &mut |progress| {
        (bytes, all, found) = (progress.bytes, progress.lines, progress.requests);
        Go::On
    })?;
    report("read", bytes, all, found, begun);
    let to = rest.get(1).map_or("/dev/null", String::as_str);
    let sorting = cpu_seconds();
    let finished = import.finish(BufWriter::with_capacity(1 << 20, File::create(to)?))?;
    let summary = finished.summary;
    println!(
        "sorted and written in {:.2} s: {} requests, {} objects, {} users; {} bytes, of them {:.2} a request in blocks",
        cpu_seconds() - sorting,
        summary.requests,
        summary.objects,
        summary.users,
        finished.bytes,
        finished.block_bytes as f64 / summary.requests as f64
    );
    Ok(())
}

/// Seconds for which this thread had a processor; what others of the machine do counts little here.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).map_or(f64::NAN, |ns: f64| ns / 1e9)
}

fn report(what: &str, bytes: u64, lines: u64, found: u64, begun: f64) {
    let seconds = cpu_seconds() - begun;
    println!(
        "{what} {bytes} bytes, {lines} lines, {found} requests in {seconds:.3} s: {:.3} GB/s, {:.2} M lines/s",
        bytes as f64 / seconds / 1e9,
        lines as f64 / seconds / 1e6
    );
}
