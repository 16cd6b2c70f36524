//! The tasks of a worker: boxed futures in a slab, each under an id that is never used twice.
//!
//! A future is taken out while it is polled, so a task may spawn and cancel others, or itself, without a second borrow.
//! It must not know when to poll: that is `worker.rs`.

use std::pin::Pin;

use slab::Slab;

pub(crate) type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Names a task of one worker. The id of a task that ended stays unknown for ever (its generation differs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskId {
    index: u32,
    generation: u32,
}

impl TaskId {
    /// The future given to [`run`](crate::run), which lives on the stack and not in the slab.
    pub(crate) const MAIN: Self = Self { index: u32::MAX, generation: u32::MAX };
}

#[derive(Default)]
pub(crate) struct Tasks {
    slots: Slab<TaskSlot>,
    next_generation: u32,
}

struct TaskSlot {
    generation: u32,
    /// Absent while the task is being polled.
    task: Option<Task>,
}

impl Tasks {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn insert(&mut self, task: Task) -> TaskId {
        self.next_generation = self.next_generation.wrapping_add(1);
        let generation = self.next_generation;
        let task = Some(task);
        let index = self.slots.insert(TaskSlot { generation, task });
        // A slab of more than four thousand million tasks does not fit into memory.
        let index = index as u32;
        TaskId { index, generation }
    }

    /// Takes a task out to poll it. Nothing for a task that ended, or that is being polled.
    pub(crate) fn take(&mut self, id: TaskId) -> Option<Task> {
        self.slot(id)?.task.take()
    }

    /// Puts a task back after its poll. Returns it, to be dropped by the caller, when it was cancelled meanwhile.
    pub(crate) fn put_back(&mut self, id: TaskId, task: Task) -> Option<Task> {
        match self.slot(id) {
            Some(slot) => slot.task.replace(task),
            None => Some(task),
        }
    }

    /// Forgets a task. Returns its future, to be dropped by the caller without a borrow held.
    pub(crate) fn remove(&mut self, id: TaskId) -> Option<Task> {
        self.slot(id)?;
        self.slots.remove(id.index as usize).task
    }

    /// Empties the slab. Returns the futures, to be dropped by the caller without a borrow held.
    pub(crate) fn remove_all(&mut self) -> Vec<Task> {
        self.slots.drain().filter_map(|slot| slot.task).collect()
    }

    fn slot(&mut self, id: TaskId) -> Option<&mut TaskSlot> {
        let slot = self.slots.get_mut(id.index as usize)?;
        (slot.generation == id.generation).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Task {
        Box::pin(async {})
    }

    #[test]
    fn an_old_id_does_not_name_the_new_task_in_its_place() {
        let mut tasks = Tasks::default();
        let old = tasks.insert(nothing());
        assert!(tasks.remove(old).is_some());
        let new = tasks.insert(nothing());
        assert_eq!(old.index, new.index);
        assert!(tasks.take(old).is_none());
        assert!(tasks.remove(old).is_none());
        assert!(tasks.take(new).is_some());
    }

    #[test]
    fn a_task_cancelled_while_polled_is_handed_back() {
        let mut tasks = Tasks::default();
        let id = tasks.insert(nothing());
        let future = tasks.take(id).unwrap();
        assert!(tasks.take(id).is_none());
        assert!(tasks.remove(id).is_none());
        assert!(tasks.put_back(id, future).is_some());
        assert_eq!(tasks.len(), 0);
    }
}
