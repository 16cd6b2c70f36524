//! The map of the project stays one that is read: short, and in lines that a terminal shows whole.

use super::File;

/// The map.
pub const MAP: &str = "ARCHITECTURE.md";

const LINES: usize = 150;
const COLUMNS: usize = 120;

/// Each way in which the map is too long.
pub fn too_long(map: &File) -> Vec<String> {
    let name = &map.name;
    let lines = map.text.lines().count();
    let whole = (lines > LINES).then(|| {
        format!("{name}: {lines} lines, {LINES} are allowed: move what is no map into docs/contributing or docs/decisions")
    });
    let wide = (1..).zip(map.text.lines()).filter_map(|(number, line)| {
        let columns = line.chars().count();
        (columns > COLUMNS).then(|| format!("{name}:{number}: {columns} columns, {COLUMNS} are allowed"))
    });
    whole.into_iter().chain(wide).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_short_and_narrow() {
        let map = |text: String| File { name: MAP.to_owned(), text };
        let widest = "─".repeat(COLUMNS);
        assert!(too_long(&map(format!("{widest}\n").repeat(LINES))).is_empty());
        assert_eq!(
            too_long(&map(format!("{widest}─\n"))),
            ["ARCHITECTURE.md:1: 121 columns, 120 are allowed"]
        );
        let long = too_long(&map("\n".repeat(LINES + 1)));
        assert!(long.len() == 1 && long[0].starts_with("ARCHITECTURE.md: 151 lines"), "{long:?}");
    }
}
