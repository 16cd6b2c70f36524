//! The end of an import: what was gathered becomes a recording.

use super::objects::Objects;
use super::row::{NO_USER, Row};
use super::{Import, ImportError, Scratch};
use crate::entry::{Range, WHOLE_SECONDS};
use crate::file::{Block, Header, Note, ROWS, Summary, Writer};
use crate::left_out::LeftOut;
use crate::request::{Request, UNTOLD_BYTES};
use crate::words::Kind;
use std::io::{self, Write};

/// Steps back that are wider than this, in microseconds, are a log's of another day.
const GUESSED_SHARE: f64 = 0.2;

/// Share of long response times from which on they are noted.
const LONG_SHARE: f64 = 0.1;

/// A recording that has been written.
#[derive(Debug)]
pub struct Finished<W> {
    /// Where it was written to.
    pub to: W,
    /// Its header.
    pub header: Header,
    /// Its summary.
    pub summary: Summary,
    /// All that was left out, with the texts that the recording does not keep.
    pub left_out: LeftOut,
    /// Bytes of it.
    pub bytes: u64,
    /// Those of its blocks of requests alone, without URLs, users and tables.
    pub block_bytes: u64,
}

impl<S: Scratch> Import<S> {
    /// Ends the gathering and writes the recording.
    ///
    /// # Errors
    /// Where nothing is left or too much was lost; those of the scratch file and of writing.
    pub fn finish<W: Write>(mut self, to: W) -> Result<Finished<W>, ImportError> {
        let lines: u64 = self.inputs.iter().map(|input| input.lines).sum();
        let losses = self.left_out.losses();
        if losses as f64 > self.options.tolerate * lines as f64 {
            let tolerated = self.options.tolerate;
            return Err(ImportError::Lost { lines, left_out: self.left_out, tolerated });
        }
        self.runs.finish(&mut self.scratch)?;
        let Some(begins_us) = self.runs.first_us(&mut self.scratch)? else {
            return Err(ImportError::Nothing { lines, left_out: self.left_out });
        };
        let objects = self.objects.count();
        // Numbers have been given; their table is as large as what comes next.
        self.objects = super::Table::new();
        let header = self.header(begins_us);
        let mut writer = Writer::new(to, &header)?;
        self.write_texts(&mut writer)?;
        let before = writer.written();
        let summary = self.write_blocks(&mut writer, objects, begins_us)?;
        let bytes = writer.written();
        let (to, summary) = writer.finish(summary)?;
        Ok(Finished { to, header, summary, left_out: self.left_out, bytes, block_bytes: bytes - before })
    }

    fn header(&mut self, begins_us: i64) -> Header {
        let mut notes = std::mem::take(&mut self.facts.notes);
        let overlaps = self.overlaps();
        let facts = &self.facts;
        if facts.spread > 0 {
            notes.push(Note::GapsInvented { requests: facts.spread, below_us: WHOLE_SECONDS });
        }
        if facts.ordered_by_end > 0 {
            notes.push(Note::OrderedByEnd { requests: facts.ordered_by_end });
        }
        if facts.steps_back > 0 {
            let count = facts.steps_back;
            let widest_us = facts.widest_us;
            let at = facts.first_step.clone();
            notes.push(Note::StepsBack { count, widest_us, at });
        }
        if facts.heads_guessed > 0 {
            notes.push(Note::HeadsGuessed { requests: facts.heads_guessed, bytes: super::clean::HEAD_GUESS });
        }
        let share = facts.long as f64 / facts.timed.max(1) as f64;
        if share > LONG_SHARE {
            notes.push(Note::TimesLong { share, above_us: super::LONG_US });
        }
        let times = self.inputs.iter().filter(|input| input.requests > 0);
        let (first, last) = times.fold((i64::MAX, i64::MIN), |(first, last), input| {
            (first.min(input.first_us), last.max(input.last_us))
        });
        if first == last && facts.requests > 1 {
            notes.push(Note::TimesEqual { at_us: first });
        }
        notes.extend(overlaps);
        Header {
            program: self.options.program.clone(),
            seed: self.options.seed,
            begins_us,
            relative: self.facts.relative,
            resolution_us: self.facts.resolution_us,
            inputs: self.inputs.clone(),
            left_out: self.left_out.without_texts(),
            notes,
            users: (self.users.count() > 0).then(|| self.options.user_by.name().to_owned()),
            urls: self.urls.count() > 0,
            kept: self.options.keep.names(),
        }
    }

    /// Inputs that cover the same time, and how much of the one is in the other.
    fn overlaps(&mut self) -> Vec<Note> {
        let common = self.samples.compare();
        let mut notes = Vec::new();
        for (number, one) in self.inputs.iter().enumerate() {
            for (after, other) in self.inputs.iter().enumerate().skip(number + 1) {
                let both = one.requests > 0 && other.requests > 0;
                if !(both && one.first_us < other.last_us && other.first_us < one.last_us) {
                    continue;
                }
                // Where the sample tells nothing, nothing is told.
                let numbers = [number as u32, after as u32];
                if let Some(shared) = common.share(numbers, one.requests.min(other.requests)) {
                    let one = one.name.clone();
                    notes.push(Note::Overlap { one, other: other.name.clone(), shared });
                }
            }
        }
        notes
    }

    fn write_texts<W: Write>(&mut self, writer: &mut Writer<W>) -> io::Result<()> {
        let scratch = &mut self.scratch;
        self.urls.each(scratch, |number, url| writer.url(number, url))?;
        self.people.each(scratch, |number, person| {
            let (id, kept) = person.split_at(16);
            writer.user(number, id.try_into().expect("sixteen bytes were written"), kept)
        })?;
        self.texts.each(scratch, |number, text| writer.text(number, text))
    }

    fn write_blocks<W: Write>(
        &mut self,
        writer: &mut Writer<W>,
        count: u64,
        begins_us: i64,
    ) -> io::Result<Summary> {
        let mut objects = Objects::new(count, begins_us, self.facts.caches_tell);
        self.runs.each(&mut self.scratch, |row| {
            objects.learn(row);
            Ok(())
        })?;
        let learnt = objects.learnt();
        let mut blocks = Blocks {
            block: Block::default(),
            summary: Summary {
                objects: count,
                once: learnt.once,
                users: self.users.count(),
                footprint: learnt.footprint,
                sizes_guessed: learnt.guessed,
                classes: learnt.classes,
                lifetimes: learnt.lifetimes,
                lifetime_width: learnt.width,
                origin_delay_us: self.delays.quantiles(),
                ..Summary::default()
            },
            begins_us,
            nobody: self.users.count(),
        };
        self.runs.each(&mut self.scratch, |row| {
            let state = objects.state(row);
            blocks.push(row, state);
            if blocks.block.rows.len() == ROWS { blocks.flush(writer) } else { Ok(()) }
        })?;
        blocks.flush(writer)?;
        let mut summary = blocks.summary;
        summary.changes = objects.changes();
        let guessed = summary.sizes_guessed as f64 / summary.objects.max(1) as f64;
        // Of inputs without sizes a note says so already.
        if guessed > GUESSED_SHARE && self.facts.sizeless == 0 {
            summary.notes.push(Note::SizesGuessed { share: guessed });
        }
        Ok(summary)
    }
}

/// Blocks on their way into the recording.
struct Blocks {
    block: Block,
    summary: Summary,
    begins_us: i64,
    /// The number of the next user whom nobody knows.
    nobody: u64,
}

impl Blocks {
    fn push(&mut self, row: &Row, state: super::objects::ObjectState) {
        let number = self.block.rows.len() as u32;
        let kind = Kind::unpack(row.kind);
        let user = if row.user == NO_USER {
            self.nobody += 1;
            self.nobody - 1
        } else {
            u64::from(row.user)
        };
        let request = Request {
            begin_us: (row.begin_us - self.begins_us) as u64,
            user,
            size: state.size,
            sent: row.sent,
            object: row.object,
            duration_us: row.duration_us,
            first_byte_us: row.first_byte_us,
            kind,
            status: row.status,
            version: state.version,
            variant: state.variant,
            class: state.class,
            once: state.once,
        };
        if row.range != Range::default() {
            self.block.ranges.push((number, row.range));
        }
        if row.text > 0 {
            self.block.texts.push((number, row.text - 1));
        }
        let summary = &mut self.summary;
        summary.requests += 1;
        summary.span_us = request.begin_us;
        if row.sent != UNTOLD_BYTES {
            summary.sent += row.sent;
        }
        *summary.methods.entry(kind.method).or_default() += 1;
        *summary.statuses.entry(row.status).or_default() += 1;
        *summary.caches.entry(kind.cache).or_default() += 1;
        self.block.rows.push(request);
    }

    fn flush<W: Write>(&mut self, writer: &mut Writer<W>) -> io::Result<()> {
        writer.block(&self.block)?;
        let first = self.block.first + self.block.rows.len() as u64;
        self.block.clear();
        self.block.first = first;
        Ok(())
    }
}
