//! A finished page in Chinese. Each line is said by itself; one that has cells, with two blanks or more between them, cell by cell, and
//! neighbours that have cells are aligned again. Lines that one sentence was wrapped into are joined where that tells more.

use super::{ChineseReader, Said};
use crate::show::{WIDTH, columns, wrap};
use std::collections::BTreeMap;

/// Blanks between cells, at least.
const GAP: usize = 2;

/// Columns that sentences are wrapped to at least, where other lines beside them are longer.
const NARROWEST: usize = 60;

/// A page in Chinese, as far as it is known.
pub fn say(page: &str) -> String {
    let lines: Vec<&str> = page.split('\n').collect();
    let mut out = Vec::new();
    let mut left = lines.as_slice();
    while let Some(first) = left.first() {
        let (block, behind) = left.split_at(block_length(left).max(1));
        match cells(first).len() {
            0 => out.push((*first).to_owned()),
            1 => out.extend(paragraph(block)),
            _ => out.extend(table(block)),
        }
        left = behind;
    }
    out.join("\n")
}

fn said(text: &str) -> Said {
    ChineseReader::new(true).read(text, 0)
}

/// A cell with the columns that it takes in English.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell<'a> {
    text: &'a str,
    start: usize,
}

impl Cell<'_> {
    fn end(&self) -> usize {
        self.start + columns(self.text)
    }

    fn is_number(&self) -> bool {
        self.text.split(' ').next().is_some_and(super::is_number)
    }
}

/// Cells, which stand between two blanks or more.
fn cells(line: &str) -> Vec<Cell<'_>> {
    let mut cells = Vec::new();
    let mut at = 0;
    let mut left = line;
    loop {
        let text = left.trim_start_matches(' ');
        at += left.len() - text.len();
        if text.is_empty() {
            return cells;
        }
        let length = text.find("  ").unwrap_or(text.trim_end_matches(' ').len());
        let cell = &text[..length];
        cells.push(Cell { text: cell, start: at });
        at += columns(cell);
        left = &text[length..];
    }
}

/// Lines from the first on that are said together: rows of a table with what goes on beneath their last cells, or lines that may be one
/// paragraph.
fn block_length(lines: &[&str]) -> usize {
    let mut last = cells(lines[0]);
    let is_table = last.len() > 1;
    let others = lines[1..].iter().take_while(|line| {
        let now = cells(line);
        let goes_on =
            now.len() == 1 && now.first().map(|cell| cell.start) == last.last().map(|cell| cell.start);
        let belongs = if is_table { now.len() > 1 || goes_on } else { goes_on };
        if now.len() > 1 {
            last = now;
        }
        belongs
    });
    1 + others.count()
}

/// Lines of one indentation.
fn paragraph(lines: &[&str]) -> Vec<String> {
    let indent = lines[0].len() - lines[0].trim_start_matches(' ').len();
    let texts: Vec<&str> = lines.iter().map(|line| line.trim_matches(' ')).collect();
    let margin = " ".repeat(indent);
    sentences(&texts)
        .iter()
        .flat_map(|one| one.lines(WIDTH - indent.min(WIDTH / 2)))
        .map(|line| format!("{margin}{line}"))
        .collect()
}

/// A sentence in Chinese.
#[derive(Debug)]
struct Sentence {
    text: String,
    /// It was more than one line in English.
    is_wrapped: bool,
}

impl Sentence {
    fn lines(&self, width: usize) -> Vec<String> {
        if self.is_wrapped { wrap(&self.text, width) } else { vec![self.text.clone()] }
    }
}

/// Lines as sentences: as many are joined as could have been one that was wrapped, where more is known of the whole than of the lines.
fn sentences(lines: &[&str]) -> Vec<Sentence> {
    let widest = lines.iter().map(|line| columns(line)).max().unwrap_or(0);
    let is_full = |pair: &[&str]| {
        let word = pair[1].split(' ').next().unwrap_or("");
        let length = columns(pair[0]);
        // A longer one was not wrapped.
        length <= WIDTH && length + 1 + columns(word) > widest.min(NARROWEST)
    };
    let alone: Vec<Said> =
        lines.iter().map(|line| if is_command(line) { as_it_is(line) } else { said(line) }).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let full = lines[at..].windows(2).take_while(|pair| is_full(pair)).count();
        let joined = (at + 2..=at + 1 + full).rev().find_map(|end| {
            let known: usize = alone[at..end].iter().map(|one| one.known).sum();
            Some((end, said(&lines[at..end].join(" ")))).filter(|(_, whole)| whole.known > known)
        });
        let (end, text) =
            joined.map_or_else(|| (at + 1, alone[at].text.clone()), |(end, whole)| (end, whole.text));
        out.push(Sentence { text, is_wrapped: end > at + 1 });
        at = end;
    }
    out
}

/// A command to be copied, in which nothing is ours to say.
fn is_command(text: &str) -> bool {
    text.starts_with("wringer ") && text.contains(" --")
}

fn as_it_is(text: &str) -> Said {
    Said { text: text.to_owned(), known: 0 }
}

/// Cells that stand beneath each other: flush left at a column, or flush right before one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Left(usize),
    Right(usize),
}

/// The edge that a cell shares with more others.
fn edge(cell: &Cell<'_>, all: &[Vec<Cell<'_>>]) -> Edge {
    let count = |fits: &dyn Fn(&Cell<'_>) -> bool| all.iter().flatten().filter(|other| fits(other)).count();
    let left = count(&|other| other.start == cell.start);
    let right = count(&|other| other.end() == cell.end());
    let of_numbers = count(&|other| other.end() == cell.end() && other.is_number()) > 0;
    if right > left && of_numbers { Edge::Right(cell.end()) } else { Edge::Left(cell.start) }
}

/// A row as it grows: lines, of which the first has all cells and the others go on beneath the last one.
#[derive(Debug, Default)]
struct LineRow {
    placed: usize,
    lines: Vec<String>,
}

impl LineRow {
    fn end(&self) -> usize {
        self.lines.first().map_or(0, |line| columns(line))
    }

    fn place(&mut self, start: usize, lines: Vec<String>) {
        let gap = " ".repeat(start.saturating_sub(self.end()));
        let before = self.lines.first().map_or("", String::as_str);
        let first = format!("{before}{gap}");
        let margin = " ".repeat(start);
        let texts = lines.into_iter().enumerate();
        self.lines = texts
            .map(|(nth, line)| if nth == 0 { format!("{first}{line}") } else { format!("{margin}{line}") })
            .collect();
        self.placed += 1;
    }
}

/// Rows of a table, aligned again by the columns that Chinese takes.
fn table(lines: &[&str]) -> Vec<String> {
    let mut rows: Vec<Vec<Cell<'_>>> = Vec::new();
    let mut beneath: Vec<Vec<&str>> = Vec::new();
    for line in lines {
        let found = cells(line);
        match (found.as_slice(), beneath.last_mut()) {
            ([one], Some(last)) => last.push(one.text),
            _ => {
                rows.push(found);
                beneath.push(Vec::new());
            }
        }
    }
    let told: Vec<Vec<Vec<Sentence>>> =
        rows.iter().zip(&beneath).map(|(row, beneath)| told(row, beneath)).collect();
    let mut groups: BTreeMap<Edge, Vec<(usize, usize)>> = BTreeMap::new();
    for (nth, row) in rows.iter().enumerate() {
        for (place, cell) in row.iter().enumerate() {
            groups.entry(edge(cell, &rows)).or_default().push((nth, place));
        }
    }
    let start_of = |members: &[(usize, usize)]| {
        members.iter().map(|(nth, place)| rows[*nth][*place].start).min().unwrap_or(0)
    };
    let group =
        |(edge, members): (Edge, Vec<(usize, usize)>)| Flush { edge, start: start_of(&members), members };
    let mut groups: Vec<Flush> = groups.into_iter().map(group).collect();
    groups.sort_by_key(|group| group.start);
    let mut out: Vec<LineRow> = rows.iter().map(|_| LineRow::default()).collect();
    while !groups.is_empty() {
        let is_next = |(nth, place): &(usize, usize)| out[*nth].placed == *place;
        let whole = groups.iter().position(|group| group.members.iter().all(is_next));
        // Where tables of more than one kind meet, a part of a column is placed before the rest of it.
        let next =
            whole.or_else(|| groups.iter().position(|group| group.members.iter().any(is_next))).unwrap_or(0);
        let Flush { edge, start, members } = groups.remove(next);
        let (now, later): (Vec<_>, Vec<_>) = members.into_iter().partition(is_next);
        place(&mut out, &told, edge, start, &now);
        if !later.is_empty() {
            groups.push(Flush { edge, start, members: later });
        }
    }
    out.into_iter().flat_map(|row| row.lines).map(|line| line.trim_end().to_owned()).collect()
}

/// Cells that are set flush: each by its row, and its place in that.
struct Flush {
    edge: Edge,
    /// Where the farthest left of them begins in English.
    start: usize,
    members: Vec<(usize, usize)>,
}

/// The cells of a row in Chinese, the last one with what goes on beneath it.
fn told(row: &[Cell<'_>], beneath: &[&str]) -> Vec<Vec<Sentence>> {
    let of_cell = |(place, cell): (usize, &Cell<'_>)| {
        let mut lines = vec![cell.text];
        if place + 1 == row.len() {
            lines.extend_from_slice(beneath);
        }
        sentences(&lines)
    };
    row.iter().enumerate().map(of_cell).collect()
}

/// Places cells that share an edge.
fn place(
    out: &mut [LineRow],
    told: &[Vec<Vec<Sentence>>],
    edge: Edge,
    start: usize,
    members: &[(usize, usize)],
) {
    let least = |(nth, place): &(usize, usize)| if *place == 0 { start } else { out[*nth].end() + GAP };
    let width =
        |(nth, place): &(usize, usize)| told[*nth][*place].first().map_or(0, |one| columns(&one.text));
    let left = members.iter().map(least).max().unwrap_or(0);
    let right = members.iter().map(|member| least(member) + width(member)).max().unwrap_or(0);
    for member in members {
        let at = match edge {
            Edge::Left(_) => left,
            Edge::Right(_) => right - width(member),
        };
        let room = WIDTH.saturating_sub(at + 2).max(WIDTH / 4);
        let lines = told[member.0][member.1].iter().flat_map(|one| one.lines(room)).collect();
        out[member.0].place(at, lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_between_two_blanks() {
        let found = cells("  ok   a b  907/s ");
        let starts: Vec<(&str, usize)> = found.iter().map(|cell| (cell.text, cell.start)).collect();
        assert_eq!(starts, [("ok", 2), ("a b", 7), ("907/s", 12)]);
        assert!(cells("   ").is_empty());
    }

    #[test]
    fn a_table_is_aligned_by_the_columns_of_chinese() {
        let page = "scenario  verdict   failed\nsurge     degraded  0.2 %\nbursts    pass      0 %\n";
        let expected = "场景    结论  失败\nsurge   降级  0.2 %\nbursts  通过  0 %\n";
        assert_eq!(say(page), expected);
    }

    #[test]
    fn numbers_that_end_at_one_column_do_so_in_chinese() {
        let page = "CPU      7\nmemory  77\nscenario  2\n";
        let expected = "CPU    7\n内存  77\n场景  2\n";
        assert_eq!(say(page), expected);
    }

    #[test]
    fn a_sentence_that_was_wrapped_is_joined_and_wrapped_again() {
        let page = "  warning  cores  10.0k/s requests take about 3.0 cores, and there are\n                  2 workers\n                  above 90 % of its cores a generator measures itself\n                  -> a lower rate\n";
        let expected = "  警告  核  10.0k/s 请求约需 3.0 个核，而工作线程有 2 个\n            所用的核超过 90 % 时，压测机测到的是它自己\n            -> 更低的速率\n";
        assert_eq!(say(page), expected);
    }

    #[test]
    fn commands_and_what_is_not_known_stay() {
        for page in [
            "  wringer cache --rig nginx --seed 7\n",
            "x1  y2\n",
            "\n\n",
            "no such words, and none: at all\n",
        ] {
            assert_eq!(say(page), page);
        }
    }
}
