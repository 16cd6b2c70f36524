//! The part that an element plays, by its class.

/// The part that an element plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A group of users.
    Group,
    /// Decides on what stands below it.
    Controller,
    /// Sends something, or does something that is told like a request.
    Sampler,
    /// Holds for all samplers of its level and below.
    Config,
    /// Waits before samplers.
    Timer,
    /// Works before samplers.
    Pre,
    /// Works after samplers.
    Post,
    /// Judges samplers.
    Assertion,
    /// Decides where a user goes on after a sample that failed.
    Reaction,
    /// Shows or writes results.
    Listener,
    /// Takes no part in a run.
    Idle,
}

impl Role {
    /// True if it holds for the samplers of its level and below.
    pub(crate) fn is_scoped(self) -> bool {
        match self {
            Role::Config | Role::Timer | Role::Pre | Role::Post => true,
            Role::Assertion | Role::Reaction | Role::Listener => true,
            Role::Group | Role::Controller | Role::Sampler | Role::Idle => false,
        }
    }
}
