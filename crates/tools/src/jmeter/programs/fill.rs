//! The `${…}` of a program text, replaced before it is compiled, as JMeter does it.

use super::ProgramWorker;
use super::functions::Functions;
use super::memory::Memory;
use jmeter::Text;
use load::code::CodeContext;
use plan::Code;

/// The text with its values; what has none stays as it is written.
pub(super) fn filled(
    worker: &ProgramWorker,
    code: &Code,
    context: &mut CodeContext<'_>,
    memory: &mut Memory,
) -> String {
    let Ok(parsed) = Text::parse(&code.text, &jmeter::function::is_known) else { return code.text.clone() };
    let mut functions = Functions { worker, code, context, memory };
    match jmeter::function::compute(&parsed, &mut functions) {
        Ok(text) => text,
        Err(why) => {
            context.user.lines.push((true, format!("{}: {why}", code.name)));
            code.text.clone()
        }
    }
}
