//! The text in Chinese: nothing of ours is left in English, tables are aligned, and what others wrote stays.

use super::{check_golden, live_rows_in, sample};
use measure::notes;
use measure::{FailureKind, Fault, SelfCheck, Stage};
use report::Language;
use report::show::{WIDTH, columns};
use std::collections::BTreeSet;

#[test]
fn text_in_chinese_is_as_in_the_golden_files() {
    for (name, sample) in sample::all() {
        if ["plain", "trouble", "all_failed"].contains(&name) {
            check_golden(&format!("{name}.zh"), &sample.chinese());
        }
    }
    check_golden("live.zh", &live_rows_in(Language::Chinese));
}
