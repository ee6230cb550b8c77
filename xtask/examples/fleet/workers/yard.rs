//! The yard of a round: a server, a bare remote, a laptop that queues runs, and the machines that drive them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;
use testkit::database::Server;
use testkit::make_executable;

use super::effects::{Blow, now_ms};
use super::machine::Machine;
use super::processes;
use crate::Result;
use crate::facts::observe;
use crate::site::TEAM;

const PIPELINE: &str = include_str!("../../../battery/fleet/parts.toml");
const AGENT: &str = include_str!("../../../battery/fleet/agent.sh");

const MACHINES: usize = 3;

/// There are always so many runs to do.
const WAITING: usize = 5;

/// After each fault the machines must write so many entries before the next one.
const PROGRESS: usize = 12;

/// How long anything may take before it counts as stuck. A run that a worker could not drive rests for 30 seconds.
const PATIENCE: Duration = Duration::from_secs(150);

const TICK: Duration = Duration::from_millis(100);

/// The database writes down every claim, beside what it writes down for the store's rounds.
const CLAIMS: &str = "
    CREATE TABLE observed.claims (place bigint GENERATED ALWAYS AS IDENTITY, run text, fence bigint, claim bytea);
    CREATE FUNCTION observed.claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO observed.claims (run, fence, claim) VALUES (NEW.id, NEW.last_fence, NEW.last_claim);
        RETURN NULL;
    END $$;
    CREATE TRIGGER observed_claim AFTER UPDATE ON gatewright.runs FOR EACH ROW
        WHEN (OLD.last_claim <> NEW.last_claim) EXECUTE FUNCTION observed.claim()";

pub(crate) struct Yard {
    // The machines end before the server goes.
    pub machines: Vec<Machine>,
    pub laptop: Machine,
    pub server: Server,
    pub blows: Vec<Blow>,
    folder: TempDir,
    runs: usize,
}

impl Yard {
    pub(crate) fn new(program: &Path) -> Result<Self> {
        let server = Server::start();
        let address = server.database(TEAM);
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("agent"), AGENT)?;
        make_executable(&folder.path().join("agent"));
        fs::write(folder.path().join("effects"), "")?;
        let laptop = Machine::apart(program, "laptop")?;
        laptop.run(&["fleet", "setup", &address]).succeeds();
        observe(&server, TEAM);
        server.sql(TEAM, CLAIMS);
        let mut yard = Self {
            machines: Vec::new(),
            laptop,
            server,
            blows: Vec::new(),
            folder,
            runs: 0,
        };
        yard.publish();
        yard.laptop.join(&yard.server);
        for number in 1..=MACHINES {
            let name = format!("m{number}");
            let mut machine = Machine::new(program, &name, &yard.remote(), &yard.server)?;
            machine.begin_worker()?;
            yard.machines.push(machine);
        }
        yard.go_on()?;
        Ok(yard)
    }

    /// The project of the laptop, and the bare remote that all machines clone.
    fn publish(&self) {
        let project = self.laptop.project();
        let remote = self.remote();
        let remote = remote.to_string_lossy();
        let git = |line: &str| project.git(line.split(' '));
        git(&format!("init --quiet --bare {remote}"));
        git("init --quiet --initial-branch=main --template=");
        git("config user.name Battery");
        git("config user.email battery@localhost");
        project.write("parts.toml", PIPELINE);
        project.write("a.txt", "first\n");
        git("add .");
        git("commit --quiet --message=one");
        git(&format!("remote add origin {remote}"));
        git("push --quiet origin main");
        git(&format!(
            "--git-dir={remote} symbolic-ref HEAD refs/heads/main"
        ));
        project.trust_by_hash("parts.toml");
    }

    pub(crate) fn remote(&self) -> PathBuf {
        self.folder.path().join("remote.git")
    }

    /// What the stand-in wrote.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.path().join("effects")
    }

    /// The runs that were queued.
    pub(crate) fn runs(&self) -> Vec<String> {
        (0..self.runs).map(|number| format!("f-{number}")).collect()
    }

    /// Queues runs, until there are enough to do.
    pub(crate) fn fill(&mut self) -> Result<()> {
        let agent = self.folder.path().join("agent");
        let agent = agent.to_string_lossy().into_owned();
        for _ in self.unfinished()?..WAITING {
            let run = format!("f-{}", self.runs);
            self.runs += 1;
            let what = [
                "start",
                "parts.toml",
                "--queue",
                "--fleet",
                "--task",
                "parts",
            ];
            let how = ["--id", &run, "--stand-in", &agent];
            self.laptop.run(&[&what[..], &how].concat()).succeeds();
        }
        Ok(())
    }

    /// Those that are not over, or not delivered.
    pub(crate) fn unfinished(&self) -> Result<usize> {
        let unfinished = "SELECT count(*) FROM gatewright.queue";
        Ok(self.sql(unfinished).parse()?)
    }

    /// After a fault the work goes on, and does not run out.
    pub(crate) fn go_on(&mut self) -> Result<()> {
        self.fill()?;
        let entries = "SELECT count(*) FROM gatewright.entries";
        let wanted = self.sql(entries).parse::<usize>()? + PROGRESS;
        // What was to do may be less than that.
        self.wait("progress", |yard| {
            Ok(yard.sql(entries).parse::<usize>()? >= wanted || yard.unfinished()? == 0)
        })?;
        for machine in &mut self.machines {
            if let Some(why) = machine.ended()? {
                return Err(format!("{why}\n{}", machine.last_words()).into());
            }
        }
        Ok(())
    }

    /// Waits until every run is delivered, and ends the workers.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.wait("the end of all runs", |yard| Ok(yard.unfinished()? == 0))?;
        self.machines.iter_mut().try_for_each(Machine::end_workers)
    }

    pub(crate) fn wait(
        &self,
        what: &str,
        mut is_so: impl FnMut(&Self) -> Result<bool>,
    ) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(self)? {
            if Instant::now() >= deadline {
                return Err(format!("{what} does not come\n{}", self.condition()).into());
            }
            std::thread::sleep(TICK);
        }
        Ok(())
    }

    /// Who holds what, and what the workers said: to find out why nothing goes on.
    fn condition(&self) -> String {
        let held = "SELECT r.id, r.status, r.stage, r.lease_holder, r.last_fence, r.lease_until - gatewright.now_ms(), \
                    q.tries, q.not_before - gatewright.now_ms(), q.set_aside FROM gatewright.queue q \
                    JOIN gatewright.runs r ON r.id = q.run";
        let said = self.machines.iter().map(Machine::last_words);
        let said = said.collect::<Vec<_>>().join("\n");
        format!("{}\n{said}", self.sql(held))
    }

    pub(crate) fn sql(&self, statement: &str) -> String {
        self.server.sql(TEAM, statement)
    }

    /// Notes what is done to a machine, or to the server, and does it.
    pub(crate) fn blow<T>(
        &mut self,
        at: Option<usize>,
        act: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let home = at.map(|at| self.machines[at].project().home());
        let from_ms = now_ms();
        let done = act(self)?;
        let until_ms = now_ms();
        self.blows.push(Blow {
            home,
            from_ms,
            until_ms,
        });
        Ok(done)
    }

    /// A process of the first machine that nobody ends.
    pub(crate) fn plant_process(&self) -> Result<impl Drop + use<>> {
        struct Planted(std::process::Child);
        impl Drop for Planted {
            fn drop(&mut self) {
                let id = i32::try_from(self.0.id());
                let _ = id.map(|id| processes::send(id, Signal::KILL));
                let _ = self.0.wait();
            }
        }
        let mut sleep = std::process::Command::new("sleep");
        let folder = self.machines[0].folder();
        Ok(Planted(sleep.arg("600").current_dir(folder).spawn()?))
    }
}
