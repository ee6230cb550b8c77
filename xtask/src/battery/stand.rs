//! A stand on which the program is tried: a project, a home and a state folder of its own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::typing::converse;
use crate::failure::Failure;
use crate::workspace::{scratch, succeed};

pub(crate) struct Stand {
    program: PathBuf,
    folder: PathBuf,
    /// The folder goes when this goes.
    _temporary: Option<TempDir>,
}

impl Stand {
    /// A stand whose project holds these files.
    pub(crate) fn new(program: &Path, files: &[(&str, &str)]) -> Result<Self, Failure> {
        Self::inside(scratch("stand")?, program, files)
    }

    /// The same below this folder.
    pub(crate) fn below(
        program: &Path,
        folder: &Path,
        files: &[(&str, &str)],
    ) -> Result<Self, Failure> {
        let mut named = tempfile::Builder::new();
        let made = named.prefix("xtask-stand-").tempdir_in(folder);
        let made = made.map_err(Failure::file("make a folder in", folder))?;
        Self::inside(made, program, files)
    }

    /// The same in this folder, which stays.
    pub(crate) fn at(
        program: &Path,
        folder: &Path,
        files: &[(&str, &str)],
    ) -> Result<Self, Failure> {
        Self::made(folder, None, program, files)
    }

    /// The same in memory, if the system has a folder for that. A process that is killed loses nothing
    /// that the system has, so that no disk is needed, and many stands can be put back at once.
    pub(crate) fn in_memory(program: &Path, files: &[(&str, &str)]) -> Result<Self, Failure> {
        let mut named = tempfile::Builder::new();
        let folder = named.prefix("xtask-stand-").tempdir_in("/dev/shm");
        let folder = folder.or_else(|_| scratch("stand"))?;
        Self::inside(folder, program, files)
    }

    fn inside(folder: TempDir, program: &Path, files: &[(&str, &str)]) -> Result<Self, Failure> {
        let path = folder.path().to_owned();
        Self::made(&path, Some(folder), program, files)
    }

    fn made(
        folder: &Path,
        temporary: Option<TempDir>,
        program: &Path,
        files: &[(&str, &str)],
    ) -> Result<Self, Failure> {
        let program = program
            .canonicalize()
            .map_err(Failure::file("find", program))?;
        let stand = Self {
            program,
            folder: folder.to_owned(),
            _temporary: temporary,
        };
        for folder in [stand.project(), stand.state_home(), stand.home()] {
            fs::create_dir_all(&folder).map_err(Failure::file("make", &folder))?;
        }
        for (name, text) in files {
            let path = stand.project().join(name);
            fs::write(&path, text).map_err(Failure::file("write", &path))?;
        }
        // A repository of its own: otherwise the project would be the one that we lie in.
        succeed(
            stand
                .at_home("git")
                .args(["init", "--quiet", "--template="]),
        )?;
        Ok(stand)
    }

    /// The same with a program of its own, which tells the processes of this stand from all others, and
    /// which nobody builds anew meanwhile.
    pub(crate) fn with_own_program(
        program: &Path,
        files: &[(&str, &str)],
    ) -> Result<Self, Failure> {
        let stand = Self::new(program, files)?;
        let own = stand.path("gatewright");
        let made = fs::hard_link(&stand.program, &own);
        made.or_else(|_| fs::copy(&stand.program, &own).map(drop))
            .map_err(Failure::file("make", &own))?;
        let own = own.canonicalize().map_err(Failure::file("find", &own))?;
        Ok(Self {
            program: own,
            ..stand
        })
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// A name that no other stand has.
    pub(crate) fn name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The folder that all of it lies in.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Has git do something in the project.
    pub(crate) fn git(&self, arguments: &[&str]) -> Result<(), Failure> {
        succeed(&mut self.git_command(arguments))
    }

    pub(crate) fn git_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.at_home("git");
        command.args(arguments);
        command
    }

    pub(crate) fn state_home(&self) -> PathBuf {
        self.folder.join("live/state")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.join("live/project")
    }

    fn home(&self) -> PathBuf {
        self.folder.join("live/home")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The program with these arguments, as a command.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.under(&[], arguments)
    }

    /// The same, started by another program (strace, valgrind) with its own arguments.
    pub(crate) fn under(&self, starter: &[&str], arguments: &[&str]) -> Command {
        let mut command = match starter.split_first() {
            None => self.at_home(&self.program),
            Some((starter, options)) => {
                let mut command = self.at_home(starter);
                command.args(options).arg(&self.program);
                command
            }
        };
        command.args(arguments);
        command
    }

    /// A command in the project that sees the stand's home and nothing of ours.
    fn at_home(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .stdin(Stdio::null())
            .env_clear();
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
            .env("HOME", self.home())
            .env("XDG_STATE_HOME", self.state_home());
        command.env("USER", "battery");
        command
    }

    /// Runs the program and hands back what it printed; another exit code than this is a failure.
    pub(crate) fn take(&self, arguments: &[&str], exits: i32) -> Result<String, Failure> {
        let output = self.output(&mut self.command(arguments))?;
        if output.status.code() == Some(exits) {
            return Ok(text(&output.stdout));
        }
        let (status, said) = (output.status, text(&output.stderr));
        let line = arguments.join(" ");
        Err(Failure::no(format!(
            "gatewright {line}: {status}: {}",
            said.trim_end()
        )))
    }

    /// The same with the exit code of success.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<String, Failure> {
        self.take(arguments, 0)
    }

    /// Runs the program for facts.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Result<Value, Failure> {
        let answer = self.run(&[arguments, &["--json"]].concat())?;
        let parsed = serde_json::from_str(&answer);
        parsed.map_err(|problem| Failure::no(format!("{} --json: {problem}", arguments.join(" "))))
    }

    pub(crate) fn output(&self, command: &mut Command) -> Result<Output, Failure> {
        command
            .output()
            .map_err(Failure::program("the program under test"))
    }

    /// A person types this line of shell at a terminal, and then one of these lines for each question.
    pub(crate) fn person(&self, line: &str, typed: &str) -> Result<(), Failure> {
        let mut command = self.at_home("script");
        command.args(["-q", "-e", "-c", line, "/dev/null"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let failed = Failure::program("script (of util-linux)");
        let mut child = command.spawn().map_err(failed)?;
        let mut shown = Vec::new();
        // The keyboard stays there until the end: taking it away would be a key of its own.
        let keyboard = child.stdin.take();
        if let (Some(keyboard), Some(screen)) = (&keyboard, child.stdout.take()) {
            shown = converse(screen, keyboard, typed);
        }
        let status = child.wait().map_err(Failure::program("script"))?;
        if status.success() {
            return Ok(());
        }
        let shown = text(&shown);
        Err(Failure::no(format!("{line}: {status}: {shown}")))
    }

    /// Removes everything from the program's state folder but what has this name.
    pub(crate) fn forget_all_but(&self, name: &str) -> Result<(), Failure> {
        let folder = self.state_home().join("gatewright");
        for entry in fs::read_dir(&folder).map_err(Failure::file("list", &folder))? {
            let path = entry.map_err(Failure::file("list", &folder))?.path();
            let removed = match path.is_dir() {
                _ if path.ends_with(name) => Ok(()),
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(Failure::file("remove", &path))?;
        }
        Ok(())
    }

    /// Keeps everything as it is now, for `put_back`.
    pub(crate) fn keep(&self) -> Result<(), Failure> {
        self.keep_as("kept")
    }

    /// Keeps everything as it is now, to look at it later.
    pub(crate) fn keep_as(&self, name: &str) -> Result<(), Failure> {
        copy(&self.path("live"), &self.path(name))
    }

    /// Puts everything back as it was kept, at the same paths: a project is known by its path.
    pub(crate) fn put_back(&self) -> Result<(), Failure> {
        let live = self.path("live");
        fs::remove_dir_all(&live).map_err(Failure::file("remove", &live))?;
        copy(&self.path("kept"), &live)
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Copies a folder with its modes. The state folder must stay private, or the program refuses it.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to).map_err(Failure::file("make", to))?;
    for entry in fs::read_dir(from).map_err(Failure::file("list", from))? {
        let entry = entry.map_err(Failure::file("list", from))?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to)?;
        } else {
            fs::copy(&from, &to).map_err(Failure::file("copy", &from))?;
        }
    }
    let modes = fs::metadata(from)
        .map_err(Failure::file("look at", from))?
        .permissions();
    fs::set_permissions(to, modes).map_err(Failure::file("set the mode of", to))
}

#[cfg(test)]
mod tests {
    use super::Stand;

    #[test]
    fn a_person_types_one_line_for_each_question_and_ends_what_asks_for_more() {
        let stand = Stand::new("/bin/sh".as_ref(), &[]).unwrap();
        let asks = |times: usize, end: &str| {
            format!(
                "n=0; while [ $n -lt 9 ] && printf 'again{end}' && read x && [ $x = yes ]; do n=$((n+1)); done; test $n = {times}"
            )
        };
        for (typed, times) in [("yes\n", 1), ("yes\nyes\n", 2), ("", 0)] {
            for end in [": ", "? ", "> ", "] "] {
                stand.person(&asks(times, end), typed).unwrap();
            }
        }
    }
}
