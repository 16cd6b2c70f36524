//! A block: requests in columns, each of which is written in its shortest form. A block needs no other to be read, nor any table.

use super::varint::{put, put_column, take, take_column};
use crate::entry::Range;
use crate::request::{Request, UNTOLD, UNTOLD_BYTES};
use crate::words::Kind;

/// Requests of a block.
pub const ROWS: usize = 65_536;

/// Requests, in the order in which they began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// Number of the first one in the recording, from 0.
    pub first: u64,
    /// The requests.
    pub rows: Vec<Request>,
    /// Ranges that were asked for, by row, in order.
    pub ranges: Vec<(u32, Range)>,
    /// Numbers of texts that were kept, by row, in order.
    pub texts: Vec<(u32, u32)>,
}

impl Block {
    /// Forgets its content and keeps its memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ranges.clear();
        self.texts.clear();
    }

    /// The range that a row asked for.
    pub fn range(&self, row: usize) -> Option<Range> {
        let at = self.ranges.binary_search_by_key(&(row as u32), |(row, _)| *row).ok()?;
        Some(self.ranges[at].1)
    }

    /// The number of a row's text.
    pub fn text(&self, row: usize) -> Option<u32> {
        let at = self.texts.binary_search_by_key(&(row as u32), |(row, _)| *row).ok()?;
        Some(self.texts[at].1)
    }
}

/// Writes blocks; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub struct Encoder {
    column: Vec<u64>,
    keys: Vec<u64>,
}

impl Encoder {
    /// Appends a block; with `users` false each request is a user of its own, and no column says so.
    pub fn encode(&mut self, out: &mut Vec<u8>, block: &Block, users: bool) {
        let rows = &block.rows;
        put(out, rows.len() as u64);
        put(out, block.first);
        let Some(first) = rows.first() else { return };
        put(out, first.begin_us);
        let mut before = first.begin_us;
        self.put(
            out,
            rows.iter().map(|row| {
                let gap = row.begin_us - before;
                before = row.begin_us;
                gap
            }),
        );
        out.push(u8::from(users));
        if users {
            self.ranked(out, rows.iter().map(|row| row.user));
        }
        self.objects(out, rows);
        // What was sent is nearly always the whole object, which is 0 here.
        self.put(
            out,
            rows.iter().map(|row| match row.sent {
                sent if sent == row.size => 0,
                UNTOLD_BYTES => 1,
                sent => sent + 2,
            }),
        );
        self.put(out, rows.iter().map(|row| told(row.duration_us)));
        self.put(out, rows.iter().map(|row| told(row.first_byte_us)));
        self.ranked(out, rows.iter().map(|row| u64::from(row.kind.pack())));
        self.ranked(out, rows.iter().map(|row| u64::from(row.status)));
        put(out, block.ranges.len() as u64);
        for (row, range) in &block.ranges {
            put(out, u64::from(*row));
            put(out, range.from);
            put(out, range.length);
        }
        put(out, block.texts.len() as u64);
        for (row, text) in &block.texts {
            put(out, u64::from(*row));
            put(out, u64::from(*text));
        }
    }

    fn put(&mut self, out: &mut Vec<u8>, values: impl Iterator<Item = u64>) {
        self.column.clear();
        self.column.extend(values);
        put_column(out, &self.column);
    }

    /// The distinct values in order, and for each row the place of its value among them.
    fn ranked(&mut self, out: &mut Vec<u8>, values: impl Iterator<Item = u64>) {
        self.column.clear();
        self.column.extend(values);
        self.keys.clone_from(&self.column);
        self.keys.sort_unstable();
        self.keys.dedup();
        put(out, self.keys.len() as u64);
        let mut before = 0;
        for key in &self.keys {
            put(out, *key - before);
            before = *key;
        }
        for value in &mut self.column {
            *value = self.keys.binary_search(value).expect("all are among the keys") as u64;
        }
        put_column(out, &self.column);
    }

    /// Objects of the block, each state of one once, and for each row its place among them.
    fn objects(&mut self, out: &mut Vec<u8>, rows: &[Request]) {
        let mut states: Vec<(u64, u32)> =
            rows.iter().zip(0..).map(|(row, number)| (state_key(row), number)).collect();
        states.sort_unstable();
        self.column.clear();
        self.column.resize(rows.len(), 0);
        let mut firsts: Vec<u32> = Vec::new();
        let mut known = None;
        for (key, number) in &states {
            if known != Some(*key) {
                firsts.push(*number);
                known = Some(*key);
            }
            self.column[*number as usize] = firsts.len() as u64 - 1;
        }
        put(out, firsts.len() as u64);
        let ranks = std::mem::take(&mut self.column);
        put_column(out, &ranks);
        self.column = ranks;
        let states = || firsts.iter().map(|number| &rows[*number as usize]);
        let mut before = 0;
        self.put(
            out,
            states().map(|row| {
                let gap = u64::from(row.object) - before;
                before = u64::from(row.object);
                gap
            }),
        );
        self.put(out, states().map(|row| u64::from(row.version)));
        self.put(out, states().map(|row| u64::from(row.variant)));
        self.put(out, states().map(|row| row.size));
        self.put(out, states().map(|row| u64::from(row.class)));
        self.put(out, states().map(|row| u64::from(row.once)));
    }
}

/// One number for object, version and variant, in this order.
fn state_key(row: &Request) -> u64 {
    u64::from(row.object) << 24 | u64::from(row.version) << 8 | u64::from(row.variant)
}

/// 0 for what is not told, else one more.
fn told(value: u32) -> u64 {
    if value == UNTOLD { 0 } else { u64::from(value) + 1 }
}

fn untold(value: u64) -> u32 {
    match value {
        0 => UNTOLD,
        value => u32::try_from(value - 1).unwrap_or(UNTOLD),
    }
}

/// Reads a block into one whose memory is used again; `None` where it is damaged in a way that its checksum did not see.
pub fn decode(content: &[u8], block: &mut Block) -> Option<()> {
    block.clear();
    let bytes = &mut &content[..];
    let count = usize::try_from(take(bytes)?).ok().filter(|count| *count <= ROWS)?;
    block.first = take(bytes)?;
    if count == 0 {
        return bytes.is_empty().then_some(());
    }
    block.rows.resize(count, Request::default());
    let rows = &mut block.rows;
    let mut now = take(bytes)?;
    let mut sound = true;
    take_column(bytes, count, |row, gap| {
        let sum = now.checked_add(gap);
        sound &= sum.is_some();
        now = sum.unwrap_or(now);
        rows[row].begin_us = now;
    })?;
    let (users, rest) = bytes.split_first()?;
    *bytes = rest;
    if *users == 1 {
        take_ranked(bytes, count, |row, user| rows[row].user = user)?;
    } else {
        let first = block.first;
        rows.iter_mut().zip(first..).for_each(|(row, number)| row.user = number);
    }
    take_objects(bytes, rows)?;
    take_column(bytes, count, |row, sent| {
        let row = &mut rows[row];
        row.sent = match sent {
            0 => row.size,
            1 => UNTOLD_BYTES,
            sent => sent - 2,
        };
    })?;
    take_column(bytes, count, |row, value| rows[row].duration_us = untold(value))?;
    take_column(bytes, count, |row, value| rows[row].first_byte_us = untold(value))?;
    take_ranked(bytes, count, |row, kind| rows[row].kind = Kind::unpack(kind as u32))?;
    take_ranked(bytes, count, |row, status| rows[row].status = status as u16)?;
    take_extras(bytes, block, count)?;
    (sound && bytes.is_empty()).then_some(())
}

fn take_extras(bytes: &mut &[u8], block: &mut Block, count: usize) -> Option<()> {
    let row = |value: u64| u32::try_from(value).ok().filter(|row| (*row as usize) < count);
    for _ in 0..take(bytes)? {
        let row = row(take(bytes)?)?;
        block.ranges.push((row, Range { from: take(bytes)?, length: take(bytes)? }));
    }
    for _ in 0..take(bytes)? {
        let row = row(take(bytes)?)?;
        block.texts.push((row, u32::try_from(take(bytes)?).ok()?));
    }
    let ordered = block.ranges.windows(2).all(|pair| pair[0].0 < pair[1].0)
        && block.texts.windows(2).all(|pair| pair[0].0 < pair[1].0);
    ordered.then_some(())
}

fn take_ranked(bytes: &mut &[u8], count: usize, mut each: impl FnMut(usize, u64)) -> Option<()> {
    let distinct = usize::try_from(take(bytes)?).ok().filter(|distinct| *distinct <= count)?;
    let mut keys = Vec::with_capacity(distinct);
    let mut key = 0_u64;
    for _ in 0..distinct {
        key = key.checked_add(take(bytes)?)?;
        keys.push(key);
    }
    let mut sound = true;
    take_column(bytes, count, |row, rank| match keys.get(rank as usize) {
        Some(key) => each(row, *key),
        None => sound = false,
    })?;
    sound.then_some(())
}

fn take_objects(bytes: &mut &[u8], rows: &mut [Request]) -> Option<()> {
    let distinct = usize::try_from(take(bytes)?).ok().filter(|distinct| *distinct <= rows.len())?;
    let mut sound = true;
    take_column(bytes, rows.len(), |row, rank| {
        sound &= rank < distinct as u64;
        rows[row].object = rank as u32;
    })?;
    if !sound {
        return None;
    }
    let mut states = vec![Request::default(); distinct];
    let mut object = 0_u64;
    take_column(bytes, distinct, |state, gap| {
        object = object.saturating_add(gap);
        sound &= object <= u64::from(u32::MAX);
        states[state].object = object as u32;
    })?;
    take_column(bytes, distinct, |state, version| states[state].version = version as u16)?;
    take_column(bytes, distinct, |state, variant| states[state].variant = variant as u8)?;
    take_column(bytes, distinct, |state, size| states[state].size = size)?;
    take_column(bytes, distinct, |state, class| states[state].class = class as u8)?;
    take_column(bytes, distinct, |state, once| states[state].once = once == 1)?;
    for row in rows {
        let state = &states[row.object as usize];
        (row.object, row.version, row.variant) = (state.object, state.version, state.variant);
        (row.size, row.class, row.once) = (state.size, state.class, state.once);
    }
    sound.then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Cache, Method};
    use plan::draw::Draw;
    use proptest::prelude::*;

    /// Requests as chance has them; those of one object, version and variant agree in what the object is.
    fn some(seed: u64, count: usize) -> Block {
        let mut draw = Draw::new(seed, 1);
        let mut begin_us = draw.below(1 << 40);
        let mut block = Block { first: draw.below(1000), ..Block::default() };
        for row in 0..count {
            begin_us += draw.below(5_000);
            let (object, version, variant) =
                (draw.below(50) as u32, draw.below(3) as u16, draw.below(2) as u8);
            let mut state =
                Draw::new(seed, u64::from(object) << 24 | u64::from(version) << 8 | u64::from(variant));
            let size = state.below(100_000);
            block.rows.push(Request {
                begin_us,
                user: draw.below(1 << 20),
                size,
                sent: [size, UNTOLD_BYTES, draw.below(1 << 40)][draw.below(3) as usize],
                object,
                duration_us: [UNTOLD, draw.below(1 << 31) as u32][draw.below(2) as usize],
                first_byte_us: UNTOLD,
                kind: Kind {
                    method: Method::Head,
                    cache: Cache::of(draw.below(9) as u32),
                    ..Kind::default()
                },
                status: [200, 304, 0, 404][draw.below(4) as usize],
                version,
                variant,
                class: state.below(3) as u8,
                once: state.chance(0.5),
            });
            if draw.chance(0.1) {
                block.ranges.push((row as u32, Range { from: draw.below(1 << 50), length: draw.below(9) }));
            }
            if draw.chance(0.1) {
                block.texts.push((row as u32, draw.below(1 << 31) as u32));
            }
        }
        block
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn blocks_read_back(seed in any::<u64>(), count in 0_usize..400) {
            let block = some(seed, count);
            let mut bytes = Vec::new();
            let mut read = Block::default();
            Encoder::default().encode(&mut bytes, &block, true);
            prop_assert_eq!(decode(&bytes, &mut read), Some(()));
            prop_assert_eq!(read, block);
        }

        #[test]
        fn damage_is_refused_or_read_but_never_panics(seed in any::<u64>(), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
            let block = some(seed, 60);
            let mut bytes = Vec::new();
            Encoder::default().encode(&mut bytes, &block, true);
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let _ = decode(&bytes, &mut Block::default());
            let _ = decode(&bytes[..at], &mut Block::default());
        }
    }

    #[test]
    fn without_users_each_request_is_one() {
        let block = some(3, 10);
        let mut bytes = Vec::new();
        let mut read = Block::default();
        Encoder::default().encode(&mut bytes, &block, false);
        decode(&bytes, &mut read).unwrap();
        let users: Vec<u64> = read.rows.iter().map(|row| row.user).collect();
        assert_eq!(users, (block.first..block.first + 10).collect::<Vec<_>>());
    }
}
