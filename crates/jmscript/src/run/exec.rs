//! Statements.

use crate::dialect::Dialect;
use crate::model::abrupt::{Abrupt, Run, thrown};
use crate::model::class::Class;
use crate::model::library::lang::throwable::Throwable;
use crate::model::machine::{Machine, MachineSlot};
use crate::model::meaning::convert;
use crate::model::meaning::items::items;
use crate::model::meaning::operate::is_case;
use crate::model::tree::{Case, Expr, For, ForIn, Statement, TreeLine, TreePlace, TreeTarget, Try, Type};
use crate::model::value::Value;
use std::rc::Rc;

/// How a statement ended.
pub(super) enum Flow {
    /// Go on with the next.
    Next,
    /// Leave a loop.
    Break(Option<Rc<str>>),
    /// Go on with the next turn.
    Continue(Option<Rc<str>>),
    /// Leave the function.
    Return(Value),
}

/// Next action of a loop after a turn.
enum RunTurn {
    Another,
    Leave(Flow),
}

impl Machine<'_> {
    pub(super) fn block(&mut self, lines: &[TreeLine]) -> Run<Flow> {
        for line in lines {
            self.line = line.line;
            self.step()?;
            match self.statement(&line.statement)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Statement) -> Run<Flow> {
        match statement {
            Statement::Expr(expr) => drop(self.eval(expr)?),
            Statement::Declare(slot, kind, value) => {
                let value = self.initial(kind, value.as_ref())?;
                self.declare(*slot, value);
            }
            Statement::Return(Some(value)) => return Ok(Flow::Return(self.eval(value)?)),
            Statement::Return(None) => return Ok(Flow::Return(Value::Null)),
            Statement::If(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                return self.block(if condition { then } else { otherwise });
            }
            Statement::Break(label) => return Ok(Flow::Break(label.clone())),
            Statement::Continue(label) => return Ok(Flow::Continue(label.clone())),
            Statement::Block(block) => return self.block(block),
            Statement::DeclareGlobal(global, kind, value) => {
                let value = self.initial(kind, value.as_ref())?;
                self.write(TreePlace::Global(*global), value)?;
            }
            Statement::DeclareMany(slots, value) => self.declare_many(slots, value)?,
            Statement::AssignMany(targets, value) => self.assign_many(targets, value)?,
            Statement::While(condition, body) => return self.while_loop(condition, body),
            Statement::DoWhile(body, condition) => return self.do_while(body, condition),
            Statement::For(parts) => return self.for_loop(parts),
            Statement::ForIn(head, body) => return self.for_in(head, body),
            Statement::Switch(subject, cases) => return self.switch(subject, cases),
            Statement::Try(parts) => return self.try_statement(parts),
            Statement::Throw(value) => {
                let value = self.eval(value)?;
                return self.throw(&value);
            }
            Statement::Labelled(label, body) => return self.labelled(label, body),
            Statement::Assert(condition, text, message) => self.assert(condition, text, message.as_ref())?,
        }
        Ok(Flow::Next)
    }

    #[inline(never)]
    fn labelled(&mut self, label: &Rc<str>, body: &[TreeLine]) -> Run<Flow> {
        self.label = Some(label.clone());
        Ok(match self.block(body)? {
            Flow::Break(Some(found)) if found == *label => Flow::Next,
            other => other,
        })
    }

    #[inline(never)]
    fn declare_many(&mut self, slots: &[u16], value: &Expr) -> Run<()> {
        let values = self.many(value)?;
        for (at, slot) in slots.iter().enumerate() {
            self.declare(*slot, values.get(at).cloned().unwrap_or(Value::Null));
        }
        Ok(())
    }

    fn initial(&mut self, kind: &Type, value: Option<&Expr>) -> Run {
        match value {
            Some(value) => {
                let value = self.eval(value)?;
                if *kind == Type::Any { Ok(value) } else { convert::coerce(self, kind, value) }
            }
            None => Ok(default_of(kind, self.dialect)),
        }
    }

    pub(super) fn condition(&mut self, condition: &Expr) -> Run<bool> {
        let value = self.eval(condition)?;
        self.is_true(&value)
    }

    fn many(&mut self, value: &Expr) -> Run<Vec<Value>> {
        let value = self.eval(value)?;
        items(self, &value)
    }

    fn assign_many(&mut self, targets: &[TreeTarget], value: &Expr) -> Run<()> {
        let values = self.many(value)?;
        for (at, target) in targets.iter().enumerate() {
            self.assign(target, values.get(at).cloned().unwrap_or(Value::Null))?;
        }
        Ok(())
    }

    /// Returns the next action of a loop with this label, by how its turn ended.
    fn turn(flow: Flow, label: Option<&Rc<str>>) -> RunTurn {
        match flow {
            Flow::Next | Flow::Continue(None) => RunTurn::Another,
            Flow::Break(None) => RunTurn::Leave(Flow::Next),
            Flow::Continue(Some(to)) if Some(&to) == label => RunTurn::Another,
            other => RunTurn::Leave(other),
        }
    }

    fn while_loop(&mut self, condition: &Expr, body: &[TreeLine]) -> Run<Flow> {
        let label = self.label.take();
        while self.condition(condition)? {
            self.step()?;
            if let RunTurn::Leave(flow) = Self::turn(self.block(body)?, label.as_ref()) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn do_while(&mut self, body: &[TreeLine], condition: &Expr) -> Run<Flow> {
        let label = self.label.take();
        loop {
            self.step()?;
            if let RunTurn::Leave(flow) = Self::turn(self.block(body)?, label.as_ref()) {
                return Ok(flow);
            }
            if !self.condition(condition)? {
                return Ok(Flow::Next);
            }
        }
    }

    fn for_loop(&mut self, parts: &For) -> Run<Flow> {
        let label = self.label.take();
        self.block(&parts.init)?;
        loop {
            if let Some(condition) = &parts.condition
                && !self.condition(condition)?
            {
                return Ok(Flow::Next);
            }
            self.step()?;
            if let RunTurn::Leave(flow) = Self::turn(self.block(&parts.body)?, label.as_ref()) {
                return Ok(flow);
            }
            for update in &parts.update {
                self.eval(update)?;
            }
        }
    }

    fn for_in(&mut self, head: &ForIn, body: &[TreeLine]) -> Run<Flow> {
        let label = self.label.take();
        let list = self.eval(&head.list)?;
        if let Value::Range(range) = &list {
            for at in 0..range.len() {
                if let RunTurn::Leave(flow) = self.turn_for(head, range.at(at), body, label.as_ref())? {
                    return Ok(flow);
                }
            }
            return Ok(Flow::Next);
        }
        for item in items(self, &list)? {
            if let RunTurn::Leave(flow) = self.turn_for(head, item, body, label.as_ref())? {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn turn_for(
        &mut self,
        head: &ForIn,
        item: Value,
        body: &[TreeLine],
        label: Option<&Rc<str>>,
    ) -> Run<RunTurn> {
        self.step()?;
        let item = convert::coerce(self, &head.kind, item)?;
        match head.place {
            TreePlace::Local(slot) => self.declare(slot, item),
            place => self.write(place, item)?,
        }
        Ok(Self::turn(self.block(body)?, label))
    }

    fn switch(&mut self, subject: &Expr, cases: &[Case]) -> Run<Flow> {
        let subject = self.eval(subject)?;
        let mut first = None;
        for (at, case) in cases.iter().enumerate() {
            if let Some(value) = &case.value {
                let value = self.eval(value)?;
                if is_case(self, &value, &subject)? {
                    first = Some(at);
                    break;
                }
            }
        }
        let Some(first) = first.or_else(|| cases.iter().position(|case| case.value.is_none())) else {
            return Ok(Flow::Next);
        };
        for case in &cases[first..] {
            match self.block(&case.body)? {
                Flow::Next => {}
                Flow::Break(None) => return Ok(Flow::Next),
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn try_statement(&mut self, parts: &Try) -> Run<Flow> {
        let base = self.frame.base;
        let captures = self.frame.captures.clone();
        let calls = self.calls;
        let builders = self.builders.len();
        let delegates = self.delegates.len();
        let mut result = self.block(&parts.body);
        if let Err(abrupt) = result {
            // Functions that were left by the exception are no longer running.
            self.frame.base = base;
            self.frame.captures = captures;
            self.calls = calls;
            self.builders.truncate(builders);
            self.delegates.truncate(delegates);
            result = self.catch(parts, abrupt);
        }
        let Some(finally) = &parts.finally else { return result };
        if matches!(result.as_ref().map_err(|abrupt| &**abrupt), Err(Abrupt::Limit(..))) {
            return result;
        }
        match self.block(finally)? {
            Flow::Next => result,
            other => Ok(other),
        }
    }

    fn catch(&mut self, parts: &Try, abrupt: Box<Abrupt>) -> Run<Flow> {
        let Abrupt::Thrown(class, message) = &*abrupt else { return Err(abrupt) };
        let fits = |caught: &[Option<Class>]| {
            caught.is_empty()
                || caught.iter().any(|caught| match caught {
                    Some(Class::Thrown(caught)) => class.is_a(*caught),
                    Some(known @ Class::Known(_)) => known.is_object(),
                    None => false,
                })
        };
        let Some(found) = parts.catches.iter().find(|one| fits(&one.classes)) else {
            return Err(abrupt);
        };
        self.declare(found.slot, Value::object(Throwable { class: *class, message: message.clone() }));
        self.block(&found.body)
    }

    fn throw<T>(&mut self, value: &Value) -> Run<T> {
        if let Some(thrown) = value.as_object::<Throwable>() {
            return Err(Box::new(Abrupt::Thrown(thrown.class, thrown.message.clone())));
        }
        let text = self.text(value)?;
        thrown("GroovyRuntimeException", text)
    }

    fn assert(&mut self, condition: &Expr, text: &Rc<str>, message: Option<&Expr>) -> Run<()> {
        if self.condition(condition)? {
            return Ok(());
        }
        match message {
            None => thrown("PowerAssertionError", format!("Assertion failed: \n\nassert {text}\n")),
            Some(message) => {
                let message = self.eval(message)?;
                let message = self.text(&message)?;
                thrown("AssertionError", format!("{message}. Expression: {text}"))
            }
        }
    }

    /// Makes room for a function's slots; the first of them.
    pub(super) fn enter(&mut self, slots: u16) -> Run<usize> {
        let base = self.frame.slots.len();
        self.take(usize::from(slots) * 8)?;
        self.frame.slots.resize_with(base + usize::from(slots), || MachineSlot::Plain(Value::Null));
        Ok(base)
    }
}

/// The value of a variable that is declared without one.
pub(super) fn default_of(kind: &Type, dialect: Dialect) -> Value {
    match kind {
        Type::Int | Type::Short | Type::Byte => Value::Int(0),
        Type::Long => Value::Long(0),
        Type::Double => Value::Double(0.0),
        Type::Float => Value::Float(0.0),
        Type::Bool => Value::Bool(false),
        _ if dialect == Dialect::JavaScript => Value::Void,
        _ => Value::Null,
    }
}
