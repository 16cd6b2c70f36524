//! The rows of a file: lines, or comma-separated values (RFC 4180) whose first row names the columns.

use crate::body::Body;
use serde::{Deserialize, Serialize};

/// Rows of cells, read-only, in one piece of memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    columns: Vec<String>,
    #[serde(with = "bytes")]
    text: Vec<u8>,
    /// Where each cell ends in the text, row by row.
    ends: Vec<usize>,
}

impl Table {
    /// Each line is a row of one cell; empty lines do not count.
    ///
    /// # Errors
    /// There is no line.
    pub fn from_lines(text: &str) -> Result<Table, String> {
        let mut table = Table { columns: vec![String::new()], text: Vec::new(), ends: Vec::new() };
        text.lines().filter(|line| !line.is_empty()).for_each(|line| table.push(line.as_bytes()));
        table.not_empty()
    }

    /// Each line is a row of one cell, empty ones and bytes that are no text included; a line may end with CR LF, too.
    ///
    /// # Errors
    /// There is no line.
    pub fn from_all_lines(bytes: &[u8]) -> Result<Table, String> {
        let mut table = Table { columns: vec![String::new()], text: Vec::new(), ends: Vec::new() };
        let ended = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        if !bytes.is_empty() {
            let lines = ended.split(|byte| *byte == b'\n');
            lines.for_each(|line| table.push(line.strip_suffix(b"\r").unwrap_or(line)));
        }
        table.not_empty()
    }

    /// Comma-separated values; the first row has the names of the columns. A cell in double quotes may hold commas, line
    /// ends and, written twice, quotes.
    ///
    /// # Errors
    /// Rows that are longer or shorter than the first, and quotes without end, with their line.
    pub fn from_csv(text: &str) -> Result<Table, String> {
        let mut table = Table { columns: Vec::new(), text: Vec::new(), ends: Vec::new() };
        // What some programs write at the beginning of a file.
        let mut rest = text.trim_start_matches('\u{feff}');
        let mut line = 1;
        while !rest.is_empty() {
            let row = Row::read(rest).ok_or_else(|| format!("line {line}: a quote has no end"))?;
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
        self.ends.push(self.text.len());
    }

    fn not_empty(self) -> Result<Table, String> {
        if self.rows() == 0 { Err("it has no row".to_owned()) } else { Ok(self) }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.ends.len() / self.columns.len().max(1)
    }

    /// The names of the columns; of lines, one that is empty.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Which column a name is; `None`, the name: the first.
    pub fn column(&self, name: Option<&str>) -> Option<usize> {
        name.map_or(Some(0), |name| self.columns.iter().position(|column| column == name))
    }

    /// A cell; empty where there is none.
    pub fn cell(&self, row: usize, column: usize) -> &[u8] {
        let nth = row * self.columns.len() + column;
        let Some(end) = self.ends.get(nth) else { return b"" };
        let begin = nth.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..*end]
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
struct Row<'a> {
    cells: Vec<String>,
    /// Lines that it takes.
    lines: usize,
    /// What follows it.
    rest: &'a str,
}

impl Row<'_> {
    /// Reads a row; `None` where a quote has no end.
    fn read(text: &str) -> Option<Row<'_>> {
        let mut row = Row { cells: vec![String::new()], lines: 1, rest: "" };
        let (mut quoted, mut characters) = (false, text.char_indices().peekable());
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
        assert_eq!([Some("mail"), Some("x"), None].map(|name| table.column(name)), [Some(1), None, Some(0)]);
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
        assert!(Table::from_lines("\n\n").is_err());
    }

    #[test]
    fn all_lines_count() {
        for (bytes, wanted) in [
            (&b"a\nb\n"[..], &[&b"a"[..], b"b"][..]),
            (b"a\r\n\r\n\xB9\xFA", &[b"a", b"", b"\xB9\xFA"]),
            (b"\n", &[b""]),
        ] {
            let table = Table::from_all_lines(bytes).unwrap();
            let lines: Vec<&[u8]> = (0..table.rows()).map(|row| table.cell(row, 0)).collect();
            assert_eq!(lines, wanted);
        }
        assert!(Table::from_all_lines(b"").is_err());
    }

    proptest! {
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
