//! Refs that moved, with every kind of evidence.

use super::*;
use std::collections::BTreeMap;

/// The evidence of one story; nothing is known unless it is said.
#[derive(Default)]
struct Scene {
    elsewhere: Vec<LogLine>,
    own: Vec<LogLine>,
    commands: Vec<&'static str>,
    appeared: BTreeSet<String>,
    last: Option<LogLine>,
    in_project: bool,
}

fn line(new: &str, at: u64) -> LogLine {
    LogLine {
        new: new.to_owned(),
        at,
    }
}

fn state(refs: &[(&str, &str)]) -> RefState {
    let refs = refs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    RefState {
        refs: refs.collect::<BTreeMap<_, _>>(),
        stash: BTreeSet::new(),
        head: Some("refs/heads/main".to_owned()),
    }
}

/// Commands in the step's own worktree, or elsewhere after `@`.
fn command(line: &str) -> GitCommand {
    let (line, worktree) = line.split_once(" @").unwrap_or((line, "/own"));
    let words: Vec<&str> = line.split(' ').collect();
    let events = [
        serde_json::json!({ "event": "start", "argv": words }),
        serde_json::json!({ "event": "cmd_name", "name": words[1] }),
        serde_json::json!({ "event": "def_repo", "worktree": worktree }),
    ];
    GitCommand::of_events(&events)
}

impl Scene {
    fn judge(&self, before: &RefState, now: &RefState) -> Vec<RefDifference> {
        let last = self.last.clone();
        let evidence = RefEvidence {
            workplace: if self.in_project {
                Workplace::Project
            } else {
                Workplace::Own(vec![PathBuf::from("/own")])
            },
            elsewhere: self.elsewhere.clone(),
            own: self.own.clone(),
            commands: self.commands.iter().map(|line| command(line)).collect(),
            appeared: &self.appeared,
            last_line: &|_| last.clone(),
        };
        differences(before, now, &evidence)
    }

    /// The verdict on `topic`, moved from `a` to `b`.
    fn moved(&self) -> Option<(Author, Act)> {
        self.verdict(Some("b"))
    }

    fn verdict(&self, after: Option<&str>) -> Option<(Author, Act)> {
        let before = state(&[("refs/heads/topic", "a")]);
        let now: Vec<_> = after
            .map(|after| ("refs/heads/topic", after))
            .into_iter()
            .collect();
        let found = self.judge(&before, &state(&now));
        assert!(found.len() <= 1);
        found.first().map(|found| (found.author, found.act))
    }
}

#[test]
fn what_a_step_s_own_git_moved_is_put_back() {
    let put_back = Some((Author::Worker, Act::PutBack));
    let by_command = Scene {
        commands: vec!["git branch -f topic HEAD"],
        last: Some(line("b", 100)),
        ..Scene::default()
    };
    assert_eq!(by_command.moved(), put_back);
    let made_here = Scene {
        own: vec![line("b", 100)],
        ..Scene::default()
    };
    assert_eq!(made_here.moved(), put_back);
    let deleted = Scene {
        commands: vec!["git branch -D topic"],
        ..Scene::default()
    };
    assert_eq!(deleted.verdict(None), put_back);
}

#[test]
fn what_was_written_past_git_is_put_back() {
    let put_back = Some((Author::Worker, Act::PutBack));
    let raw = Scene {
        last: Some(line("a", 100)),
        ..Scene::default()
    };
    assert_eq!(raw.moved(), put_back);
    assert_eq!(raw.verdict(None), put_back);
}

#[test]
fn what_a_person_did_in_a_checkout_of_theirs_is_left_and_not_recorded() {
    let commits = Scene {
        elsewhere: vec![line("b", 100)],
        last: Some(line("b", 100)),
        // The step's own commit moves no branch.
        commands: vec!["git commit -m x"],
        ..Scene::default()
    };
    assert_eq!(commits.moved(), None);
    // Without a log of the ref, the log of HEAD is enough.
    let unlogged = Scene {
        last: None,
        ..commits
    };
    assert_eq!(unlogged.moved(), None);
}

#[test]
fn a_person_s_commit_on_top_of_a_step_s_move_stays() {
    let story = Scene {
        elsewhere: vec![line("b", 100)],
        last: Some(line("b", 100)),
        commands: vec!["git branch -f topic HEAD"],
        ..Scene::default()
    };
    assert_eq!(story.moved(), None);
}

#[test]
fn a_value_that_a_person_had_earlier_does_not_make_a_step_s_move_theirs() {
    let story = Scene {
        elsewhere: vec![line("b", 100)],
        last: Some(line("b", 160)),
        commands: vec!["git branch -f topic main"],
        ..Scene::default()
    };
    assert_eq!(story.moved(), Some((Author::Worker, Act::PutBack)));
}

#[test]
fn what_nobody_shows_is_left_and_recorded() {
    let unknown = Some((Author::Unknown, Act::Leave));
    let story = Scene {
        last: Some(line("b", 100)),
        commands: vec!["git commit -m x", "git branch -D other"],
        ..Scene::default()
    };
    assert_eq!(story.moved(), unknown);
    assert_eq!(Scene::default().verdict(None), unknown);
}

#[test]
fn a_step_in_the_person_s_checkout_is_named_and_nothing_is_undone() {
    let story = Scene {
        elsewhere: vec![line("b", 100)],
        last: Some(line("b", 100)),
        commands: vec!["git commit -m x @/project"],
        ..Scene::default()
    };
    assert_eq!(story.moved(), Some((Author::Worker, Act::Leave)));
}

#[test]
fn refs_that_appear_are_the_workers_own() {
    let story = Scene {
        appeared: BTreeSet::from(["refs/heads/topic".to_owned()]),
        commands: vec!["git branch -f topic HEAD"],
        ..Scene::default()
    };
    assert_eq!(story.moved(), None);
    let new = Scene::default().judge(&state(&[]), &state(&[("refs/heads/mine", "a")]));
    assert_eq!(new, []);
}

#[test]
fn a_worker_in_the_project_is_recorded_and_nothing_is_undone() {
    let story = Scene {
        in_project: true,
        commands: vec!["git branch -D topic"],
        ..Scene::default()
    };
    assert_eq!(story.verdict(None), Some((Author::Worker, Act::Leave)));
    let mut now = state(&[]);
    now.head = Some("refs/heads/new".to_owned());
    assert_eq!(story.judge(&state(&[]), &now), []);
}

#[test]
fn another_branch_in_the_project_is_recorded() {
    let mut now = state(&[]);
    now.head = Some("refs/heads/other".to_owned());
    let found = Scene::default().judge(&state(&[]), &now);
    let found: Vec<_> = found
        .iter()
        .map(|it| (it.name.as_str(), it.author, it.act))
        .collect();
    assert_eq!(found, [("HEAD", Author::Unknown, Act::Leave)]);
}

#[test]
fn only_what_workers_did_to_the_stash_counts() {
    let stash = |entries: &[&str]| RefState {
        stash: entries.iter().map(|entry| (*entry).to_owned()).collect(),
        ..state(&[])
    };
    let (before, now) = (stash(&["a", "b"]), stash(&["b", "c"]));
    assert_eq!(Scene::default().judge(&before, &now), []);
    let story = Scene {
        commands: vec!["git stash drop stash@{1}", "git stash push"],
        ..Scene::default()
    };
    let found = story.judge(&before, &now);
    let found: Vec<_> = found
        .iter()
        .map(|it| (it.before.as_deref(), it.after.as_deref(), it.act))
        .collect();
    assert_eq!(
        found,
        [
            (Some("a"), None, Act::PutBack),
            (None, Some("c"), Act::Leave)
        ]
    );
}
