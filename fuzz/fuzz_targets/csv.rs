//! Data files: any text is refused in words, or is a table each of whose cells can be taken.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plan::data::Table;

fuzz_target!(|input: &[u8]| {
    let text = std::str::from_utf8(input).ok();
    let tables = [
        text.and_then(|text| Table::from_csv(text).ok()),
        Table::from_lines(input.to_vec()).ok(),
        Table::from_all_lines(input.to_vec()).ok(),
    ];
    for table in tables.into_iter().flatten() {
        assert!(table.rows() > 0);
        for row in 0..table.rows() {
            (0..table.columns().len().max(1)).for_each(|column| drop(table.cell(row, column).to_vec()));
        }
    }
});
