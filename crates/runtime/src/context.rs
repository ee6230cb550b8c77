//! What every command works with: the environment, and the folder that it was typed in.

use std::cell::OnceCell;
use std::path::PathBuf;

use engine::Who;
use store::Group;

use crate::caller;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::state::State;

pub struct Context {
    pub environment: Environment,
    /// Where the command was typed.
    pub folder: PathBuf,
    state: Option<PathBuf>,
    /// Who typed it does not change while the command runs, so it is found out once.
    who: OnceCell<Who>,
    /// The store, where threads write to it together.
    group: Option<Group>,
    /// Done before what may take long, where somebody waits.
    before_delay: Option<Box<BeforeDelay>>,
}

type BeforeDelay = dyn Fn(&Environment);

/// All of a context that another thread can take along.
#[derive(Clone)]
pub struct Whereabouts {
    environment: Environment,
    folder: PathBuf,
    state: Option<PathBuf>,
    group: Option<Group>,
}

impl Whereabouts {
    /// The same for threads that write together.
    pub fn with(self, group: Group) -> Self {
        Self {
            group: Some(group),
            ..self
        }
    }

    /// The same context again, for whoever writes in our name.
    pub fn context(&self) -> Context {
        Context {
            environment: self.environment.clone(),
            folder: self.folder.clone(),
            state: self.state.clone(),
            who: OnceCell::from(Who::Engine),
            group: self.group.clone(),
            before_delay: None,
        }
    }
}

impl Context {
    pub fn whereabouts(&self) -> Whereabouts {
        Whereabouts {
            environment: self.environment.clone(),
            folder: self.folder.clone(),
            state: self.state.clone(),
            group: self.group.clone(),
        }
    }

    /// The store, where threads write to it together.
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// The context of this process.
    pub fn of_process(environment: Environment) -> Result<Self, Failure> {
        let folder = std::env::current_dir().map_err(|cause| {
            Failure::outside(format!("the present folder cannot be found ({cause})"))
                .hint("go to a folder that exists")
        })?;
        Ok(Self {
            environment,
            folder,
            state: None,
            who: OnceCell::new(),
            group: None,
            before_delay: None,
        })
    }

    /// The context of a hook: what its host says, wherever the process was started.
    pub fn at(environment: Environment, folder: PathBuf) -> Self {
        Self {
            environment,
            folder,
            state: None,
            who: OnceCell::new(),
            group: None,
            before_delay: None,
        }
    }

    /// The same where somebody waits who must hear something in time.
    pub fn hurried(self, before_delay: impl Fn(&Environment) + 'static) -> Self {
        Self {
            before_delay: Some(Box::new(before_delay)),
            ..self
        }
    }

    /// Whoever waits is told that what comes now may take long.
    pub fn expect_delay(&self) {
        if let Some(before_delay) = &self.before_delay {
            before_delay(&self.environment);
        }
    }

    /// The same in another folder and with a state folder of its own. Whatever is played there is
    /// played without anybody at a terminal, whoever wants to see it.
    pub fn elsewhere(&self, folder: PathBuf, state: PathBuf) -> Self {
        Self {
            environment: self.environment.clone(),
            folder,
            state: Some(state),
            who: OnceCell::from(Who::Unattended(caller::user(&self.environment))),
            group: None,
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
