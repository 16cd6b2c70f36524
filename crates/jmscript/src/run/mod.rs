//! Walks the tree of a compiled script.

mod eval;
mod exec;
mod function;

use crate::dialect::Dialect;
use crate::model::abrupt::{Run, RunError};
use crate::model::host::Host;
use crate::model::machine::{Budget, Frame, Globals, Machine, MachineLimits, MachineSlot};
use crate::model::meaning::patterns::Patterns;
use crate::model::tree::{TreeCode, TreePlace};
use crate::model::value::{SharedValue, Value, drop_flat};
use exec::Flow;
use std::rc::Rc;

/// Buffers that runs of a script share.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    slots: Vec<MachineSlot>,
}

/// Context of a run: all that it needs besides the script.
pub(crate) struct Context<'a> {
    pub host: &'a mut dyn Host,
    pub globals: &'a mut Globals,
    pub patterns: &'a Patterns,
    pub buffers: &'a mut Buffers,
    pub limits: MachineLimits,
}

/// Runs a script; its value.
pub(crate) fn run(code: &TreeCode, dialect: Dialect, context: Context<'_>) -> Result<Value, RunError> {
    let Context { host, globals, patterns, buffers, limits } = context;
    globals.values.resize(code.globals.len(), None);
    if !dialect.keeps_globals() {
        globals.values.fill(None);
    }
    let mut machine = Machine {
        code,
        dialect,
        host,
        globals,
        patterns,
        limits,
        frame: Frame {
            slots: std::mem::take(&mut buffers.slots),
            base: 0,
            captures: Rc::from([]),
            shared: Vec::new(),
        },
        builders: Vec::new(),
        delegates: Vec::new(),
        time_categories: 0,
        calls: 0,
        label: None,
        line: 1,
        walk: |machine, function, captures, args| machine.call_function(function, captures, args),
        left: Budget::new(limits),
    };
    let result = machine.main();
    let line = machine.line;
    buffers.slots = machine.end();
    result.map_err(|abrupt| RunError::new(*abrupt, line))
}

impl Machine<'_> {
    fn main(&mut self) -> Run {
        let main = self.code.main.clone();
        self.frame.slots.resize_with(usize::from(main.slots), || MachineSlot::Plain(Value::Null));
        let value = match self.block(&main.body)? {
            Flow::Return(value) => value,
            Flow::Next | Flow::Break(_) | Flow::Continue(_) => Value::Null,
        };
        // A text with closures in it is printed while its variables are still there.
        if let Value::Lazy(_) = value { self.text(&value).map(Value::Text) } else { Ok(value) }
    }

    /// Drops all that the run has made; the buffer of slots for the next run.
    fn end(mut self) -> Vec<MachineSlot> {
        self.frame.slots.clear();
        let values = self.frame.shared.iter().map(|shared| shared.set(Value::Null)).collect();
        drop_flat(values);
        if !self.dialect.keeps_globals() {
            self.globals.values.fill(None);
        }
        self.frame.slots
    }

    // Variables.

    fn read(&mut self, place: TreePlace) -> Run {
        match place {
            TreePlace::Local(slot) => Ok(match &self.frame.slots[self.frame.base + usize::from(slot)] {
                MachineSlot::Plain(value) => value.clone(),
                MachineSlot::Shared(shared) => shared.get(),
            }),
            TreePlace::Captured(at) => Ok(self.frame.captures[usize::from(at)].get()),
            TreePlace::Global(at) => self.global(at),
            TreePlace::Bound(binding) => self.bound(binding),
        }
    }

    fn write(&mut self, place: TreePlace, value: Value) -> Run<()> {
        match place {
            TreePlace::Local(slot) => match &mut self.frame.slots[self.frame.base + usize::from(slot)] {
                MachineSlot::Plain(old) => *old = value,
                MachineSlot::Shared(shared) => drop(shared.set(value)),
            },
            TreePlace::Captured(at) => drop(self.frame.captures[usize::from(at)].set(value)),
            TreePlace::Global(at) => self.globals.values[usize::from(at)] = Some(value),
            TreePlace::Bound(binding) => return self.set_bound(binding, value),
        }
        Ok(())
    }

    /// A new variable in a slot, which a closure may have shared with an earlier turn.
    fn declare(&mut self, slot: u16, value: Value) {
        self.frame.slots[self.frame.base + usize::from(slot)] = MachineSlot::Plain(value);
    }

    /// A local variable as one that closures share.
    fn share(&mut self, slot: u16) -> Rc<SharedValue> {
        let slot = &mut self.frame.slots[self.frame.base + usize::from(slot)];
        match slot {
            MachineSlot::Shared(shared) => shared.clone(),
            MachineSlot::Plain(value) => {
                let shared = Rc::new(SharedValue::new(std::mem::take(value)));
                *slot = MachineSlot::Shared(shared.clone());
                self.frame.shared.push(shared.clone());
                shared
            }
        }
    }
}
