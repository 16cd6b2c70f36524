//! The rows of a file: lines, or comma-separated values (RFC 4180) whose first row names the columns.

use crate::data::body::Body;
use memchr::memchr;
use serde::{Deserialize, Serialize};

/// Rows of cells, read-only, in one piece of memory: that of lines is the file's own, and little more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    columns: Vec<String>,
    #[serde(with = "bytes")]
    text: Vec<u8>,
    cells: Cells,
}

/// Where cells lie in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Cells {
    /// Where each ends, row by row.
    Ends(Vec<usize>),
    /// Each ends with a line end; where every so many begin.
    Lines { rows: usize, apart: usize, begins: Vec<usize> },
}

impl Table {
    /// Each line is a row of one cell; empty lines do not count.
    ///
    /// # Errors
    /// There is no line.
    pub fn from_lines(text: Vec<u8>) -> Result<Table, String> {
        Table::of_lines(text, |line| !line.is_empty())
    }

    /// Each line is a row of one cell, empty ones included; a line may end with CR LF, too.
    ///
    /// # Errors
    /// There is no line.
    pub fn from_all_lines(text: Vec<u8>) -> Result<Table, String> {
        Table::of_lines(text, |_| true)
    }

    /// Moves the lines that count together, within the memory that they lie in.
    fn of_lines(mut text: Vec<u8>, counts: impl Fn(&[u8]) -> bool) -> Result<Table, String> {
        let mark = "\u{feff}".as_bytes();
        let mut from = if text.starts_with(mark) { mark.len() } else { 0 };
        let mut rows = 0;
        let mut to = 0;
        while from < text.len() {
            let end = memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at);
            let line = text[from..end].strip_suffix(b"\r").unwrap_or(&text[from..end]);
            if counts(line) {
                let length = line.len();
                text.copy_within(from..from + length, to);
                to += length;
                match text.get_mut(to) {
                    Some(place) => *place = b'\n',
                    // The last line has no end, and none before it was shorter than in the file.
                    None => {
                        text.reserve_exact(1);
                        text.push(b'\n');
                    }
                }
                to += 1;
                rows += 1;
            }
            from = end + 1;
        }
        text.truncate(to);
        // An eighth of the text for the index.
        let apart = (64 * rows / text.len().max(1)).next_power_of_two();
        let mut begins = Vec::with_capacity(rows.div_ceil(apart));
        let mut begin = 0;
        for row in 0..rows {
            if row % apart == 0 {
                begins.push(begin);
            }
            begin += memchr(b'\n', &text[begin..]).unwrap_or_default() + 1;
        }
        Table { columns: vec![String::new()], text, cells: Cells::Lines { rows, apart, begins } }.not_empty()
    }

    /// Comma-separated values; the first row has the names of the columns. A cell in double quotes may hold commas, line
    /// ends and, written twice, quotes.
    ///
    /// # Errors
    /// Rows that are longer or shorter than the first, and quotes without end, with their line.
    pub fn from_csv(text: &str) -> Result<Table, String> {
        let mut table = Table { columns: Vec::new(), text: Vec::new(), cells: Cells::Ends(Vec::new()) };
        // What some programs write at the beginning of a file.
        let mut rest = text.trim_start_matches('\u{feff}');
        let mut line = 1;
        while !rest.is_empty() {
            let row = DataRow::read(rest).ok_or_else(|| format!("line {line}: a quote has no end"))?;
            if !row.cells.iter().all(String::is_empty) || row.cells.len() > 1 {
                table.add(row.cells, line)?;
            }
            line += row.lines;
            rest = row.rest;
        }
        table.not_empty()
    }

    fn add(&mut self, cells: Vec<String>, line: usize) -> Result<(), String> {
        if self.columns.is_empty() {
            self.columns = cells.into_iter().map(|name| name.trim().to_owned()).collect();
        } else if cells.len() == self.columns.len() {
            cells.iter().for_each(|cell| self.push(cell.as_bytes()));
        } else {
            return Err(format!(
                "line {line} has {} cells, the first row {}",
                cells.len(),
                self.columns.len()
            ));
        }
        Ok(())
    }

    fn push(&mut self, cell: &[u8]) {
        self.text.extend_from_slice(cell);
        if let Cells::Ends(ends) = &mut self.cells {
            ends.push(self.text.len());
        }
    }

    fn not_empty(self) -> Result<Table, String> {
        if self.rows() == 0 { Err("it has no row".to_owned()) } else { Ok(self) }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match &self.cells {
            Cells::Ends(ends) => ends.len() / self.columns.len().max(1),
            Cells::Lines { rows, .. } => *rows,
        }
    }

    /// The names of the columns; of lines, one that is empty.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Which column a name is, or the number of a column from 1, where none is called so; `None`, the name: the first.
    pub fn column(&self, name: Option<&str>) -> Option<usize> {
        let Some(name) = name else { return Some(0) };
        let named = self.columns.iter().position(|column| column == name);
        let numbered = || name.parse::<usize>().ok()?.checked_sub(1).filter(|nth| *nth < self.columns.len());
        named.or_else(numbered)
    }

    /// A cell; empty where there is none.
    pub fn cell(&self, row: usize, column: usize) -> &[u8] {
        match &self.cells {
            Cells::Ends(ends) => {
                let nth = row * self.columns.len() + column;
                let Some(end) = ends.get(nth) else { return b"" };
                let begin = nth.checked_sub(1).map_or(0, |before| ends[before]);
                &self.text[begin..*end]
            }
            Cells::Lines { apart, begins, .. } => {
                let Some(begin) = begins.get(row / apart) else { return b"" };
                let mut rest = &self.text[*begin..];
                for _ in 0..row % apart {
                    rest = memchr(b'\n', rest).map_or(&[], |end| &rest[end + 1..]);
                }
                &rest[..memchr(b'\n', rest).unwrap_or(rest.len())]
            }
        }
    }
}

/// Bytes as bodies are written.
mod bytes {
    use super::{Body, Deserialize, Serialize};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        Body::from(bytes.to_vec()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        Ok(Body::deserialize(from)?.to_vec())
    }
}

/// One row of comma-separated values.
struct DataRow<'a> {
    cells: Vec<String>,
    /// Lines that it takes.
    lines: usize,
    /// The text that follows it.
    rest: &'a str,
}

impl DataRow<'_> {
    /// Reads a row; `None` where a quote has no end.
    fn read(text: &str) -> Option<DataRow<'_>> {
        let mut row = DataRow { cells: vec![String::new()], lines: 1, rest: "" };
        let mut quoted = false;
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            // There is always a last cell.
            let cell = row.cells.last_mut()?;
            match character {
                '"' if quoted && next == Some('"') => {
                    characters.next();
                    cell.push('"');
                }
                '"' if quoted || cell.is_empty() => quoted = !quoted,
                ',' if !quoted => row.cells.push(String::new()),
                '\r' if !quoted && next == Some('\n') => {}
                '\n' if !quoted => {
                    row.rest = &text[at + 1..];
                    return Some(row);
                }
                _ => {
                    row.lines += usize::from(character == '\n');
                    cell.push(character);
                }
            }
        }
        (!quoted).then_some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comma_separated_values() {
        let table =
            Table::from_csv("name, mail\r\nA,a@x\n\"B, \"\"b\"\"\",\"two\nlines\"\n\n,\nC,c").unwrap();
        assert_eq!((table.rows(), table.columns()), (4, &["name".to_owned(), "mail".to_owned()][..]));
        let row = |row| [0, 1].map(|column| std::str::from_utf8(table.cell(row, column)).unwrap());
        assert_eq!([row(0), row(1)], [["A", "a@x"], ["B, \"b\"", "two\nlines"]]);
        assert_eq!([row(2), row(3)], [["", ""], ["C", "c"]]);
        let columns =
            [Some("mail"), Some("x"), None, Some("2"), Some("0"), Some("3")].map(|name| table.column(name));
        assert_eq!(columns, [Some(1), None, Some(0), Some(1), None, None]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, said) in [
            ("a,b\n1,2\n3\n", "line 3 has 1 cells, the first row 2"),
            ("a\n\"x\ny\"\nb,c", "line 4 has 2 cells"),
            ("a\n\"x", "line 2: a quote"),
            ("a,b\n", "no row"),
            ("", "no row"),
        ] {
            assert!(Table::from_csv(text).unwrap_err().contains(said), "{text}");
        }
        assert!(Table::from_lines(b"\n\n".to_vec()).is_err());
    }

    #[test]
    fn all_lines_count() {
        for (bytes, wanted) in [
            (&b"a\nb\n"[..], &[&b"a"[..], b"b"][..]),
            (b"a\r\n\r\n\xB9\xFA", &[b"a", b"", b"\xB9\xFA"]),
            (b"\n", &[b""]),
        ] {
            let table = Table::from_all_lines(bytes.to_vec()).unwrap();
            let lines: Vec<&[u8]> = (0..table.rows()).map(|row| table.cell(row, 0)).collect();
            assert_eq!(lines, wanted);
        }
        assert!(Table::from_all_lines(Vec::new()).is_err());
    }

    /// Lines of a file, as the standard library has them.
    fn lines(text: &[u8]) -> Vec<Vec<u8>> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let lines = text.split(|byte| *byte == b'\n');
        lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec()).collect()
    }

    #[test]
    fn lines_take_little_more_memory_than_their_file() {
        let text: Vec<u8> = (0..200_000).flat_map(|row| format!("{row:06}\n").into_bytes()).collect();
        let size = text.len();
        let place = text.as_ptr();
        let table = Table::from_all_lines(text).unwrap();
        let Cells::Lines { begins, .. } = &table.cells else { panic!() };
        assert_eq!(table.text.as_ptr(), place, "nothing was copied elsewhere");
        assert!(begins.capacity() * size_of::<usize>() <= size / 4, "{} entries", begins.len());
        assert!(
            [0, 1, 77_777, 199_999].iter().all(|row| table.cell(*row, 0) == format!("{row:06}").as_bytes())
        );
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_file(
            text in proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'\n'), Just(b'\r'), any::<u8>()], 1..60)
        ) {
            let wanted = lines(&text);
            let all = Table::from_all_lines(text.clone()).unwrap();
            let read: Vec<Vec<u8>> = (0..all.rows()).map(|row| all.cell(row, 0).to_vec()).collect();
            prop_assert_eq!(&read, &wanted);
            let full: Vec<Vec<u8>> = wanted.into_iter().filter(|line| !line.is_empty()).collect();
            if let Ok(table) = Table::from_lines(text) {
                let read: Vec<Vec<u8>> = (0..table.rows()).map(|row| table.cell(row, 0).to_vec()).collect();
                prop_assert_eq!(read, full);
            } else {
                prop_assert_eq!(full.len(), 0);
            }
        }

        #[test]
        fn quoted_cells_read_back(cells in proptest::collection::vec("[a\",\n\r]{0,6}", 1..6)) {
            let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            let row = cells.iter().map(quoted).collect::<Vec<_>>().join(",");
            let names = cells.iter().map(|_| "n").collect::<Vec<_>>().join(",");
            // A single empty cell is an empty line.
            prop_assume!(cells.len() > 1 || !cells[0].is_empty());
            let table = Table::from_csv(&format!("{names}\n{row}\n")).unwrap();
            let read: Vec<&[u8]> = (0..cells.len()).map(|column| table.cell(0, column)).collect();
            prop_assert_eq!(read, cells.iter().map(String::as_bytes).collect::<Vec<_>>());
        }
    }
}
