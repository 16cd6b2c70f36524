//! The way from the main state to a seat, and a thread as `setup` and `done` see it.

use crate::addr::Addr;
use crate::failure::Failure;
use crate::message::{Globals, Order, Reply};
use crate::thread::Handle;
use crate::value::Carried;
use mlua::{Lua, Value};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender};

/// The way to a seat.
#[derive(Debug)]
pub(crate) struct Link {
    /// Closed once nothing more is to be asked.
    orders: RefCell<Option<Sender<Order>>>,
    replies: Receiver<Reply>,
    /// Globals that were left when the run was over.
    globals: RefCell<Option<Globals>>,
}

impl Link {
    pub fn new(orders: Sender<Order>, replies: Receiver<Reply>) -> Link {
        Link { orders: RefCell::new(Some(orders)), replies, globals: RefCell::default() }
    }

    /// Keeps what the seat's globals were in the end.
    pub fn keep(&self, globals: Globals) {
        *self.globals.borrow_mut() = Some(globals);
    }

    pub fn close(&self) {
        *self.orders.borrow_mut() = None;
    }

    pub fn send(&self, order: Order) -> Result<(), Failure> {
        let sent = self.orders.borrow().as_ref().map(|orders| orders.send(order).is_ok());
        if sent == Some(true) { Ok(()) } else { Err(Failure("the thread has ended".to_owned())) }
    }

    /// Gives an order and waits until it is done.
    pub fn order(&self, order: Order) -> Result<(), Failure> {
        self.send(order)?;
        match self.reply()? {
            Reply::Done(done) => done,
            Reply::Value(_) => Ok(()),
        }
    }

    /// How long that may take is the business of whoever waits for the main state.
    fn reply(&self) -> Result<Reply, Failure> {
        self.replies.recv().map_err(|_| Failure("the thread has ended".to_owned()))
    }

    /// A global: of the state while it is on stage, of what it has left afterwards.
    fn get(&self, name: &[u8]) -> Result<Carried, String> {
        if let Some(globals) = &*self.globals.borrow() {
            return globals.get(name).cloned().unwrap_or(Ok(Carried::Nil));
        }
        if self.orders.borrow().is_none() {
            // The thread had nothing to do, or its script did not come back.
            return Ok(Carried::Nil);
        }
        self.send(Order::Get(name.to_vec())).map_err(|failure| failure.0)?;
        match self.reply().map_err(|failure| failure.0)? {
            Reply::Value(value) => value,
            Reply::Done(_) => Ok(Carried::Nil),
        }
    }
}

/// A thread, as seen from the stage.
pub(crate) struct Remote {
    link: Rc<Link>,
    addr: RefCell<Option<Addr>>,
}

impl Remote {
    pub fn new(link: Rc<Link>) -> Remote {
        Remote { link, addr: RefCell::default() }
    }

    fn order(&self, order: Order) -> mlua::Result<()> {
        self.link.order(order).map_err(|failure| mlua::Error::RuntimeError(failure.0))
    }
}

impl Handle for Remote {
    fn addr(&self) -> Option<Addr> {
        *self.addr.borrow()
    }

    fn connect(&self, addr: Addr) -> mlua::Result<()> {
        *self.addr.borrow_mut() = Some(addr);
        self.order(Order::Connect(addr))
    }

    fn get(&self, lua: &Lua, name: &[u8]) -> mlua::Result<Value> {
        self.link.get(name).map_err(mlua::Error::RuntimeError)?.into_lua(lua)
    }

    fn set(&self, _lua: &Lua, name: &[u8], value: Value) -> mlua::Result<()> {
        let value = Carried::of(&value).map_err(mlua::Error::RuntimeError)?;
        self.order(Order::Set(name.to_vec(), value))
    }

    fn stop(&self) -> mlua::Result<()> {
        self.order(Order::Stop)
    }
}
