//! Commands that reach out: `git push`, and what makes a request to merge. They run as the person would run
//! them, with the person's environment and programs.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::RunBranch;
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::outward_git;
use runtime::subprocess::{self, SubprocessError};

/// A push of a large repository takes a while.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The look for a request that was made before.
const LOOK_TIMEOUT: Duration = Duration::from_secs(60);

/// The branch that a request is made against, if the person was on none.
const DEFAULT_BASE: &str = "main";

/// The longest answer of a command that is kept.
const LONGEST_ANSWER: usize = 300;

pub(super) struct Outward<'a> {
    pub folder: &'a Path,
    /// Where a push is typed.
    pub home: &'a Path,
    pub environment: &'a Environment,
    /// A person stops the delivery.
    pub stop: &'a AtomicBool,
}

/// What a request to merge says.
pub(super) struct RequestText<'a> {
    pub title: &'a str,
    pub report: &'a str,
    /// A file with the report.
    pub file: &'a Path,
}

/// What makes a request to merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Gh,
    Glab,
    /// The words of a command, with placeholders.
    Own(Vec<String>),
}

impl Request {
    pub(super) fn parse(words: &[String]) -> Self {
        match words {
            [word] if word == "gh" => Self::Gh,
            [word] if word == "glab" => Self::Glab,
            words => Self::Own(words.to_vec()),
        }
    }

    /// The program that makes it.
    pub(super) fn program(&self) -> Option<String> {
        self.make().into_iter().next()
    }

    /// The command that finds a request which was made before.
    fn find(&self, branch: &str) -> Option<Vec<String>> {
        let words: &[&str] = match self {
            Self::Gh => &["gh", "pr", "view", branch, "--json", "url", "--jq", ".url"],
            Self::Glab => &["glab", "mr", "view", branch, "--output", "json"],
            Self::Own(_) => return None,
        };
        Some(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// The address in the answer of that command.
    fn found(&self, said: &str) -> Option<String> {
        match self {
            Self::Gh | Self::Own(_) => address(said),
            // Its JSON names other addresses, too, such as pictures of people.
            Self::Glab => {
                let found: serde_json::Value = serde_json::from_str(said).ok()?;
                found["web_url"].as_str().map(str::to_owned)
            }
        }
    }

    /// The command that makes the request.
    fn make(&self) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Gh => &[
                "gh",
                "pr",
                "create",
                "--head",
                "{branch}",
                "--base",
                "{base}",
                "--title",
                "{title}",
                "--body-file",
                "{body}",
            ],
            Self::Glab => &[
                "glab",
                "mr",
                "create",
                "--yes",
                "--source-branch",
                "{branch}",
                "--target-branch",
                "{base}",
                "--title",
                "{title}",
                "--description",
                "{text}",
            ],
            Self::Own(words) => return words.clone(),
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

impl Outward<'_> {
    /// Whatever an agent lets the branch name meanwhile, this commit is pushed.
    pub(super) fn push(&self, remote: &str, branch: &str, commit: &str) -> Result<(), Failure> {
        let refspec = format!("{commit}:refs/heads/{branch}");
        let words = outward_git::words(&outward_git::push(remote, &[&refspec]));
        let words = std::iter::once("git").chain(words);
        let words: Vec<String> = words.map(str::to_owned).collect();
        let name = format!("git push {remote}");
        let pushed = self.run_in(self.home, &name, &words, TIMEOUT);
        pushed.map(drop).map_err(|failure| {
            if !is_behind(&failure.message) {
                return failure;
            }
            let delete = ["git", "push", remote, "--delete", branch].map(str::to_owned);
            let delete = self.safe(&views::line(&engine::shell_words(&delete)));
            failure.hint(format!(
                "the remote has a branch {branch} with other commits, and nothing overwrites them: rename it there, or \
                 delete it with `{delete}`"
            ))
        })
    }

    /// Makes the request, unless there is one, and returns what the command said: usually an address.
    pub(super) fn request(
        &self,
        request: &Request,
        branch: &RunBranch,
        says: &RequestText<'_>,
    ) -> Result<String, Failure> {
        if let Some(words) = request.find(&branch.name)
            && let Ok(found) = self.run(&first(&words), &words, LOOK_TIMEOUT)
            && let Some(address) = request.found(&found)
        {
            return Ok(address);
        }
        let body = says.file.to_string_lossy();
        let base = branch.from.as_deref().unwrap_or(DEFAULT_BASE);
        let places = [
            ("{branch}", branch.name.as_str()),
            ("{base}", base),
            ("{title}", says.title),
            ("{body}", &body),
            ("{text}", says.report),
        ];
        let words = request.make().into_iter();
        let words: Vec<String> = words.map(|word| filled(&word, &places)).collect();
        let said = self.run(&first(&words), &words, TIMEOUT)?;
        Ok(address(&said).unwrap_or_else(|| "made".to_owned()))
    }

    fn run(&self, name: &str, words: &[String], timeout: Duration) -> Result<String, Failure> {
        self.run_in(self.folder, name, words, timeout)
    }

    fn run_in(
        &self,
        folder: &Path,
        name: &str,
        words: &[String],
        timeout: Duration,
    ) -> Result<String, Failure> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(Failure::usage("the command for the request is empty").hint("name one"));
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder);
        outward_git::surround(&mut command);
        let name = views::line(name);
        let ended = subprocess::run_stoppable(&mut command, timeout, self.stop)
            .map_err(|error| not_ended(folder, &name, &error))?;
        match ended.success() {
            Ok(said) => Ok(self.safe(&said)),
            Err(why) => Err(Failure::environment(format!(
                "`{name}` failed: {}",
                self.safe(&why)
            ))),
        }
    }

    /// Output without secrets and control characters.
    fn safe(&self, text: &str) -> String {
        views::safe(&engine::redact(text, self.environment.secrets())).to_string()
    }
}

fn not_ended(folder: &Path, name: &str, error: &SubprocessError) -> Failure {
    let failed = Failure::environment(format!("`{name}` failed: {error}"));
    match error {
        SubprocessError::Missing => failed.hint("install it, or deliver in another way"),
        SubprocessError::NotStarted(_) if !folder.is_dir() => {
            let folder = views::line(&folder.to_string_lossy());
            Failure::environment(format!("`{name}` failed: its folder {folder} is gone"))
        }
        SubprocessError::NotStarted(_) | SubprocessError::TooLong(_) | SubprocessError::Stopped => {
            failed
        }
    }
}

/// Did the remote reject a push because its branch has commits that ours has not? Repeating it changes nothing.
fn is_behind(complaint: &str) -> bool {
    complaint.contains("[rejected]")
        && ["(non-fast-forward)", "(fetch first)"]
            .iter()
            .any(|why| complaint.contains(why))
}

/// The beginning of a command, which says what it does.
fn first(words: &[String]) -> String {
    words.iter().take(3).cloned().collect::<Vec<_>>().join(" ")
}

/// Fills the placeholders of a word in one pass, so that a title with braces stays as it is.
fn filled(word: &str, places: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match places.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                out.push_str(value);
                rest = &rest[name.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// The address in the output of a command: the last one that it names, else its last line.
fn address(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '"' | ',' | '<' | '>'));
    let mut addresses =
        words.filter(|word| word.starts_with("https://") || word.starts_with("http://"));
    let found = addresses.next_back().map(str::to_owned);
    let last = || {
        text.lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .map(str::to_owned)
    };
    let found = found.or_else(last)?;
    Some(evidence::text::line(&found, LONGEST_ANSWER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once() {
        let places = [("{title}", "add {branch}"), ("{branch}", "gatewright/r-1")];
        for (word, expected) in [
            ("--title={title}", "--title=add {branch}"),
            ("{branch}:{branch}", "gatewright/r-1:gatewright/r-1"),
            ("{other} {", "{other} {"),
            ("", ""),
        ] {
            assert_eq!(filled(word, &places), expected);
        }
    }

    #[test]
    fn an_address_is_found_in_what_a_command_says() {
        for (text, expected) in [
            ("Creating…\nhttps://host/pr/7\n", Some("https://host/pr/7")),
            (r#"{"url":"http://a/1","x":2}"#, Some("http://a/1")),
            ("done\n\n", Some("done")),
            ("\n", None),
        ] {
            assert_eq!(address(text).as_deref(), expected, "{text}");
        }
    }
}
