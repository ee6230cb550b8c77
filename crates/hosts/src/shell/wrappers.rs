//! Programs that run another, and how their own arguments look.

use super::Word;

/// A program that runs another.
pub(super) struct Wrapper {
    names: &'static str,
    /// Options of one letter that take a value.
    valued: &'static str,
    /// Long options that take the next word as their value.
    valued_long: &'static str,
    /// The option whose value is a text for a shell.
    code: Option<char>,
    /// How many words come before the command.
    skipped: usize,
}

const WRAPPERS: [Wrapper; 19] = [
    wrapper(
        "nohup setsid builtin command caffeinate unbuffer winpty busybox",
        "",
        "",
    ),
    wrapper("env", "uC", "--unset --chdir").with_code('S'),
    wrapper("exec", "a", ""),
    wrapper("time", "fo", "--format --output"),
    wrapper("nice ionice", "nc", "--adjustment --class --classdata"),
    wrapper("stdbuf", "ioe", "--input --output --error"),
    wrapper("sudo doas", "ugphCDRTUrt", "--user --group --chdir --host"),
    wrapper("timeout gtimeout", "sk", "--signal --kill-after").skipping(1),
    wrapper(
        "xargs gxargs",
        "InPLdEsa",
        "--max-args --max-procs --delimiter --arg-file",
    ),
    wrapper("parallel", "jIN", "--jobs"),
    wrapper("watch", "n", "--interval"),
    wrapper("flock", "wE", "--wait --timeout")
        .with_code('c')
        .skipping(1),
    wrapper("strace ltrace", "oepsuaE", ""),
    wrapper("chroot taskset", "", "").skipping(1),
    wrapper("systemd-run", "pEuM", "--unit --property"),
    wrapper("tmux", "LSfsntcFxyel", "").skipping(1),
    wrapper("screen", "Sceshp", ""),
    wrapper("npx bunx pnpx", "p", "--package").with_code('c'),
    wrapper("uvx", "pw", "--from --with --python"),
];

/// These take nothing but a text for a shell.
const CARRIERS: Wrapper = wrapper("script su runuser", "", "")
    .with_code('c')
    .skipping(usize::MAX);

/// Package managers that run a package's program behind one or two words of their own.
const RUNNERS: [&str; 10] = [
    "npm exec",
    "npm x",
    "pnpm dlx",
    "pnpm exec",
    "yarn dlx",
    "bun x",
    "pipx run",
    "uv tool run",
    "uv run",
    "poetry run",
];

/// An option that carries code is among the first words.
const FIRST_WORDS: usize = 16;

const fn wrapper(names: &'static str, valued: &'static str, valued_long: &'static str) -> Wrapper {
    Wrapper {
        names,
        valued,
        valued_long,
        code: None,
        skipped: 0,
    }
}

impl Wrapper {
    const fn with_code(mut self, letter: char) -> Self {
        self.code = Some(letter);
        self
    }

    const fn skipping(mut self, words: usize) -> Self {
        self.skipped = words;
        self
    }

    pub(super) fn find(name: &str) -> Option<&'static Self> {
        let all = WRAPPERS.iter().chain([&CARRIERS]);
        let mut all = all.filter(|wrapper| has_word(wrapper.names, name));
        all.next()
    }

    /// The text for a shell that it is given.
    pub(super) fn code(&self, words: &[Word]) -> Option<String> {
        code(words, self.code?)
    }

    /// The command that it runs.
    pub(super) fn command<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        let rest = after_options(words, |option| self.takes_next(option));
        let rest = rest.get(self.skipped.min(rest.len())..);
        // Some take options again after their own words, as `tmux new -d` does.
        after_options(rest.unwrap_or_default(), |option| self.takes_next(option))
    }

    /// Does the option take the next word as its value? Not when the value is in the same word.
    fn takes_next(&self, option: &str) -> bool {
        if option.starts_with("--") {
            return has_word(self.valued_long, option);
        }
        let letters = option.trim_start_matches('-');
        let place = letters.find(|letter| self.valued.contains(letter));
        place.is_some_and(|place| place + 1 == letters.len())
    }
}

/// The command of a package manager that runs one.
pub(super) fn run_by_package_manager(words: &[Word]) -> Option<&[Word]> {
    let runner = RUNNERS.iter().find(|runner| {
        let mut given = words.iter();
        let mut parts = runner.split(' ');
        parts.all(|part| given.next().is_some_and(|word| **word == *part))
    })?;
    let rest = words.get(runner.split(' ').count()..)?;
    Some(after_options(rest, |_| false))
}

/// The value of the option that carries a text for a shell. Its letter may stand last in a cluster, as
/// in `-lc`.
pub(super) fn code(words: &[Word], letter: char) -> Option<String> {
    let options = words.iter().take_while(|word| ***word != *"--");
    for (place, word) in options.enumerate().take(FIRST_WORDS) {
        let cluster = word
            .strip_prefix('-')
            .filter(|cluster| !cluster.starts_with('-'));
        if cluster.is_some_and(|cluster| cluster.ends_with(letter)) || **word == *"--command" {
            return words.get(place + 1).map(Word::to_string);
        }
        let mut joined = ["--command=", "--split-string="].iter();
        if let Some(code) = joined.find_map(|option| word.strip_prefix(option)) {
            return Some(code.to_owned());
        }
    }
    None
}

/// The words after the options.
pub(super) fn after_options(words: &[Word], takes_next: impl Fn(&str) -> bool) -> &[Word] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        if **first == *"--" {
            return after;
        }
        if first.len() < 2 || !first.starts_with(['-', '+']) {
            return rest;
        }
        let taken = usize::from(takes_next(first)).min(after.len());
        rest = after.get(taken..).unwrap_or_default();
    }
    rest
}

fn has_word(words: &str, wanted: &str) -> bool {
    // Bytes, because every word of every shell command is looked for in all lists.
    let mut words = words.as_bytes().split(|byte| *byte == b' ');
    words.any(|word| word == wanted.as_bytes())
}
