//! The context of a command: environment, folder and caller.

use std::cell::OnceCell;
use std::path::PathBuf;

use engine::Who;
use store::Group;

use crate::caller;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::fleet_seat::FleetSeat;
use crate::state::State;

pub struct Context {
    pub environment: Environment,
    /// Where the command was typed.
    pub folder: PathBuf,
    state: Option<PathBuf>,
    /// The caller does not change while the command runs, so it is determined once.
    who: OnceCell<Who>,
    store: StoreChoice,
    /// Called before work that may take long, if somebody waits.
    before_delay: Option<Box<BeforeDelay>>,
}

type BeforeDelay = dyn Fn(&Environment);

/// The part of a context that can move to another thread.
#[derive(Clone)]
pub struct SharedContext {
    environment: Environment,
    folder: PathBuf,
    state: Option<PathBuf>,
    store: StoreChoice,
}

/// Which store the runs of a context are in.
#[derive(Clone, Default)]
pub(crate) enum StoreChoice {
    /// The store of this machine.
    #[default]
    Home,
    /// The same, shared by the threads of one process.
    Group(Box<Group>),
    /// The store that machines share.
    Fleet(FleetSeat),
}

impl SharedContext {
    /// The same, with a store that the threads share.
    pub fn with_group(self, group: Group) -> Self {
        Self {
            store: StoreChoice::Group(Box::new(group)),
            ..self
        }
    }

    /// A context for a thread that writes in the engine's name.
    pub fn to_context(&self) -> Context {
        self.to_context_of(Who::Engine)
    }

    /// A context for a thread that does what this caller of the process asks for.
    pub fn to_context_of(&self, who: Who) -> Context {
        Context {
            environment: self.environment.clone(),
            folder: self.folder.clone(),
            state: self.state.clone(),
            who: OnceCell::from(who),
            store: self.store.clone(),
            before_delay: None,
        }
    }
}

impl Context {
    pub fn shared(&self) -> SharedContext {
        SharedContext {
            environment: self.environment.clone(),
            folder: self.folder.clone(),
            state: self.state.clone(),
            store: self.store.clone(),
        }
    }

    pub(crate) fn store_choice(&self) -> &StoreChoice {
        &self.store
    }

    /// The seat in the fleet, where the runs of this context are in one.
    pub fn fleet(&self) -> Option<&FleetSeat> {
        match &self.store {
            StoreChoice::Fleet(seat) => Some(seat),
            StoreChoice::Home | StoreChoice::Group(_) => None,
        }
    }

    /// The same context for the runs of a fleet.
    pub fn in_fleet(&self, seat: FleetSeat) -> Self {
        Self {
            environment: self.environment.clone(),
            folder: self.folder.clone(),
            state: self.state.clone(),
            who: OnceCell::from(self.who()),
            store: StoreChoice::Fleet(seat),
            before_delay: None,
        }
    }

    /// The context of this process.
    pub fn of_process(environment: Environment) -> Result<Self, Failure> {
        let folder = std::env::current_dir().map_err(|cause| {
            Failure::environment(format!("cannot find the current folder ({cause})"))
                .hint("go to a folder that exists")
        })?;
        Ok(Self {
            environment,
            folder,
            state: None,
            who: OnceCell::new(),
            store: StoreChoice::Home,
            before_delay: None,
        })
    }

    /// The context of a hook: its host names the folder.
    pub fn at(environment: Environment, folder: PathBuf) -> Self {
        Self {
            environment,
            folder,
            state: None,
            who: OnceCell::new(),
            store: StoreChoice::Home,
            before_delay: None,
        }
    }

    /// Adds a function that runs before work that may take long.
    pub fn with_delay_hook(self, before_delay: impl Fn(&Environment) + 'static) -> Self {
        Self {
            before_delay: Some(Box::new(before_delay)),
            ..self
        }
    }

    /// Announces work that may take long.
    pub fn expect_delay(&self) {
        if let Some(before_delay) = &self.before_delay {
            before_delay(&self.environment);
        }
    }

    /// The same context in another folder and with another state folder. It counts as unattended,
    /// even at a terminal.
    pub fn relocated(&self, folder: PathBuf, state: PathBuf) -> Self {
        Self::isolated(self.environment.clone(), folder, state)
    }

    /// A context with this environment, folder and state folder. It counts as unattended, even at a terminal.
    pub fn isolated(environment: Environment, folder: PathBuf, state: PathBuf) -> Self {
        Self {
            who: OnceCell::from(Who::Unattended(caller::user(&environment))),
            environment,
            folder,
            state: Some(state),
            store: StoreChoice::Home,
            before_delay: None,
        }
    }

    pub fn state(&self) -> Result<State, Failure> {
        match &self.state {
            Some(folder) => Ok(State::new(folder.clone())),
            None => State::find(&self.environment),
        }
    }

    pub fn who(&self) -> Who {
        self.who
            .get_or_init(|| caller::who(&self.environment))
            .clone()
    }
}
