//! Paths that are ours, by every name that a tool or a shell's text gives them.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// A person's home with a project, our state, and a folder of a worker's own in that.
pub(super) struct TestHome {
    _folder: tempfile::TempDir,
    pub(super) root: PathBuf,
    pub(super) environment: Environment,
}

impl TestHome {
    pub(super) fn new() -> Self {
        // Not where temporary files are: real scripts remove `/tmp` and `/dev`, which is then refused with right.
        let program = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in [
            "project/.claude/agents",
            "project/.gatewright",
            "project/sub/.claude",
            "project/tpl",
            "project/tpl2",
            ".claude",
            ".local/state/gatewright/trees/r-1/a/src",
            ".local/state/gatewright/trees/r-1/b",
            ".local/state/gatewright/heads",
            "other/.claude",
        ] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        for file in [
            "project/.claude/settings.json",
            "project/.claude/settings.local.json",
            "project/.gatewright/mine.toml",
            "project/a.md",
            "project/x.bak",
            "project/tpl/a.md",
            "project/tpl2/settings.json",
            ".claude/settings.json",
            ".local/state/gatewright/store.db",
        ] {
            fs::write(root.join(file), "").unwrap();
        }
        symlink(root.join("project/.claude"), root.join("project/link")).unwrap();
        let home = root.clone().into_os_string();
        Self {
            _folder: folder,
            environment: Environment::new([("HOME".into(), home)]),
            root,
        }
    }

    fn state(&self) -> State {
        State::new(self.root.join(".local/state/gatewright"))
    }

    /// What a shell's text in a folder changes of our places.
    pub(super) fn changed(&self, folder: &str, command: &str) -> Option<ProtectedPath> {
        let resolver = Resolver::default();
        let project = self.root.join("project");
        let state = self.state();
        let places = Places::new(&resolver, &self.environment, Some(&state), &[&project]);
        let folder = self.root.join(folder);
        let shell = Shell::new(&self.environment, &resolver, &folder);
        let writes = ShellText::read(command).writes();
        let changed = places.changed(&shell, &[], &writes);
        changed.into_iter().next()
    }
}

#[test]
fn our_own_places_are_known_by_any_name() {
    let machine = TestHome::new();
    let (root, state) = (&machine.root, machine.state());
    let project = root.join("project");
    let (resolver, environment) = (Resolver::default(), Environment::default());
    let places = Places::new(&resolver, &environment, Some(&state), &[&project]);
    for (path, expected) in [
        (
            ".local/state/gatewright/store.db",
            &[ProtectedPath::State][..],
        ),
        ("project/.claude/settings.json", &[ProtectedPath::Settings]),
        (
            "project/link/settings.local.json",
            &[ProtectedPath::Settings],
        ),
        ("project/.claude/agents/x.md", &[]),
        (
            "project/.gatewright/mine.toml",
            &[ProtectedPath::Definition],
        ),
        ("project/src/main.rs", &[]),
    ] {
        let path = resolver.resolved(&root.join(path));
        assert_eq!(places.touched(&path), expected, "{path:?}");
    }
}

#[test]
fn the_folder_of_a_worker_is_its_own_wherever_it_lies() {
    let machine = TestHome::new();
    let state = machine.state();
    let own = state.folder().join("trees/r-1/a");
    let (resolver, environment) = (Resolver::default(), Environment::default());
    let places = Places::new(&resolver, &environment, Some(&state), &[&own]);
    let places = places.with_own(own.clone());
    let shell = Shell::new(&environment, &resolver, &own);
    fs::create_dir(own.join(".gatewright")).unwrap();
    fs::write(own.join(".gatewright/mine.toml"), "").unwrap();
    for (path, expected) in [
        ("src/main.rs", &[][..]),
        (".gatewright/mine.toml", &[ProtectedPath::Definition]),
        (".claude/settings.json", &[ProtectedPath::Settings]),
        ("../b/main.rs", &[ProtectedPath::State]),
        ("../../../heads/r-1", &[ProtectedPath::State]),
        ("../../../working/new", &[ProtectedPath::State]),
    ] {
        let found = places.touched(&resolver.resolved(&own.join(path)));
        assert_eq!(found, expected, "{path}");
    }
    for (command, expected) in [
        ("echo x > main.rs", None),
        ("rm -r src", None),
        ("rm .gatewright/mine.toml", Some(ProtectedPath::Definition)),
        ("echo x > ../b/main.rs", Some(ProtectedPath::State)),
        ("rm -r ../../../heads", Some(ProtectedPath::State)),
        ("rm -r ../../..", Some(ProtectedPath::State)),
        ("ls ../../../heads", None),
    ] {
        let writes = ShellText::read(command).writes();
        let changed = places.changed(&shell, &[], &writes);
        assert_eq!(changed.into_iter().next(), expected, "{command}");
    }
}

#[test]
fn a_plain_change_of_a_protected_path_is_found() {
    let machine = TestHome::new();
    for command in [
        "echo '{}' > .claude/settings.local.json",
        "cat > .claude/settings.local.json <<'EOF'\n{}\nEOF",
        "echo x > \"$HOME/.claude/settings.json\"",
        "echo x > ~/.claude/settings.json",
        "echo x > ${HOME}/.claude/settings.json",
        "echo x | tee .claude/settings.local.json",
        "rm -f ./.claude/settings.local.json",
        "rm .claude/../.claude//settings.local.json",
        "rm link/settings.json",
        "rm l*/settings.json",
        "rm .claude/*.json",
        "rm .c*/settings.json",
        "rm .claude/settings{,.local}.json",
        "rm .claude/settings.[l]ocal.json",
        "rm -rf .claude",
        "rm -rf .claude/",
        "rm -rf ~/.local/state",
        "rm -rf ~/.local/state/gate*",
        "rm -rf ~",
        "cd sub && rm ../.claude/settings.local.json",
        "cd ~/.local/state && rm -r gatewright",
        "cd ..; cd project/.claude; echo x > settings.local.json",
        "mv .claude .claude.off",
        "mv /tmp/x .claude/settings.local.json",
        "cp x.json .claude/settings.local.json",
        "cp tpl2/settings.json .claude/",
        "cp tpl2/* .claude",
        "ln -sf /dev/null .claude/settings.local.json",
        "dd if=/dev/zero of=.claude/settings.local.json",
        "chmod -R 000 .claude",
        "sed -i.bak -e s/a/b/ .claude/settings.local.json",
        "find ~/.local/state/gatewright -type f -delete",
        "git checkout HEAD -- .claude/settings.local.json",
        "git rm -r .gatewright",
        "git restore --source HEAD~1 --staged --worktree .claude/settings.json",
        "git clean -fdx .claude",
        "git clean -fdx -e node_modules .claude",
        "git clean -fdx -- .claude",
        "echo x > .gatewright/new.toml",
        "bash -c 'rm .claude/settings.local.json'",
        "true && nohup rm .claude/settings.local.json &",
    ] {
        assert!(machine.changed("project", command).is_some(), "{command}");
    }
    for (folder, command) in [
        ("", "rm -rf project"),
        ("project/.claude", "rm settings.json"),
        ("project/sub", "rm ../.claude/settings.json"),
        ("other", "rm -rf ../project"),
    ] {
        assert!(machine.changed(folder, command).is_some(), "{command}");
    }
}

#[test]
fn reading_and_the_files_of_others_stay_free() {
    let machine = TestHome::new();
    for command in [
        "python3 -c \"print(2 * 3 > 5)\"",
        "python3 -c 'from math import *; print(pi > 3)'",
        "node -e 'console.log(2 * 3 > 5)'",
        "perl -e 'print 2 * 3 > 5'",
        "awk 'BEGIN { if (2 * 3 > 5) print \"* \" }'",
        "psql -c 'select * from users where id > 3'",
        "echo '0 9 * * * backup' > crontab.txt",
        "printf '* a bullet\\n' >> notes.md",
        "find . -name '*.bak' -exec rm {} \\;",
        "find . -name '*.bak' -delete",
        "rm -rf {dist,build}",
        "cp -r tpl/* .",
        "touch *",
        "rm *",
        "rm -f *.bak",
        "python3 -c \"open('.claude/settings.local.json').read()\"",
        "grep -rn '.claude/settings.json' . > found.txt",
        "cat .claude/settings.local.json > /tmp/copy",
        "jq .hooks .claude/settings.local.json > hooks.json",
        "cp .claude/settings.local.json backup.json",
        "ln -s .claude/settings.json shortcut",
        "sqlite3 ~/.local/state/gatewright/store.db .tables",
        "git add .gatewright",
        "git rm --cached .claude/settings.local.json",
        "git restore --staged .claude/settings.json",
        "git checkout -- .",
        "git checkout main",
        "git stash",
        "git clean -fdx -e .claude",
        "git clean -fdx -e .claude -e .gatewright",
        "git clean -fdxe .claude .",
        "git clean -fdx --exclude .claude --exclude=.gatewright",
        "git clean -fdx -e.claude src",
        "chmod -R u+w .",
        "mv a.md b.md",
        "mv tpl/* .",
        "echo x > settings.json",
        "echo x > sub/.claude/settings.json",
        "rm -rf ../other/.claude",
        "rm -rf node_modules target",
        "echo x > .claude/agents/a.md",
        "mkdir -p .claude/skills",
        "rm -rf \"$BUILD_DIR\"",
        "rm -rf $(mktemp -d)",
        "HOME=/tmp/h; rm -rf $HOME/.claude",
        "(cd .claude && ls); rm -f settings.json",
        "cargo test 2>&1 | tee /tmp/log",
        "",
    ] {
        let found = machine.changed("project", command);
        assert_eq!(found, None, "{command}");
    }
    for (folder, command) in [
        ("project/sub", "rm .claude/settings.json"),
        ("other", "rm -rf .gatewright .claude"),
    ] {
        assert_eq!(machine.changed(folder, command), None, "{command}");
    }
}
