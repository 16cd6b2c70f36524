//! Orders of the stage to a seat, and the replies.

use crate::addr::Addr;
use crate::failure::Failure;
use crate::value::Carried;
use std::collections::HashMap;

/// To a seat.
#[derive(Debug)]
pub(crate) enum Order {
    /// Make a state and run the script in it.
    Load,
    /// Where the thread connects to.
    Connect(Addr),
    /// Set a global.
    Set(Vec<u8>, Carried),
    /// Tell a global.
    Get(Vec<u8>),
    /// The thread is not to run.
    Stop,
    /// Call `init`, and look at the first request. `keep`: the globals are wanted when the run is over.
    Init { keep: bool },
    /// Leave the stage and run.
    Begin,
}

/// From a seat.
#[derive(Debug)]
pub(crate) enum Reply {
    Done(Result<(), Failure>),
    Value(Result<Carried, String>),
}

/// A thread's globals as they were in the end; what cannot be carried is an error to whoever asks for it.
pub(crate) type Globals = HashMap<Vec<u8>, Result<Carried, String>>;

/// Why a script that runs has failed, and with it the run.
#[derive(Debug)]
pub(crate) struct ScriptFailed(pub Failure);
