//! Guarantees about contents, definitions, lists, redaction, collection and export.

use std::time::Duration;

use engine::{ArtifactName, Fact, Hash, Status, Time};

use super::test_run::{TestRun, cancelled, decision, note};
use super::{Checked, Open};
use crate::{
    Claim, Collect, Collected, Commit, Content, Error, Files, NewRun, Transacted, content_hash,
    export,
};

pub(super) fn captured(content: Hash) -> Result<Fact, engine::NameError> {
    let artifact = ArtifactName::parse("plan")?;
    Ok(Fact::Captured {
        artifact,
        content,
        dispatch: None,
        step: None,
        commands: Vec::new(),
    })
}

pub(super) fn contents_are_found_by_their_hash(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let bytes = [0, 159, 146, 150];
    let hash = content_hash(&bytes);
    assert_eq!(open().content(hash)?, None);
    let contents = [Content {
        hash,
        bytes: &bytes,
    }];
    let commit = Commit {
        contents: &contents,
        ..test_run.commit(1)
    };
    let fact = captured(hash)?;
    open().transact(&commit, &mut |_| decision(std::slice::from_ref(&fact)))?;
    assert_eq!(open().content(hash)?, Some(bytes.to_vec()));
    // The same bytes are the same content.
    assert_eq!(open().put_content(&bytes, Time(9))?, hash);
    assert_eq!(
        open().content(open().put_content(b"", Time(9))?)?,
        Some(Vec::new())
    );
    Ok(())
}

pub(super) fn content_under_a_wrong_hash_is_refused(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    let contents = [Content {
        hash: content_hash(b"one"),
        bytes: b"another",
    }];
    let new = NewRun {
        contents: &contents,
        ..test_run.new_run()
    };
    let refused = open().begin(&new, &test_run.beginning());
    assert!(
        matches!(refused, Err(Error::WrongHash { .. })),
        "{refused:?}"
    );
    assert_eq!(open().run(&test_run.id)?, None);

    test_run.begin(&mut *open())?;
    let commit = Commit {
        contents: &contents,
        ..test_run.commit(1)
    };
    let refused = open().transact(&commit, &mut |_| decision(&[note("with content")]));
    assert!(
        matches!(refused, Err(Error::WrongHash { .. })),
        "{refused:?}"
    );
    assert_eq!(open().journal(&test_run.id, 1, 100)?.len(), 1);
    assert_eq!(open().content(content_hash(b"one"))?, None);
    Ok(())
}

pub(super) fn definitions_are_found_by_their_hash(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    let hash = test_run.files.hash();
    assert_eq!(open().definition(hash)?, None);
    assert_eq!(open().compiled(hash)?, None);
    test_run.begin(&mut *open())?;
    TestRun::new("r-2")?.begin(&mut *open())?;
    assert_eq!(open().definition(hash)?, Some(test_run.files.clone()));
    assert_eq!(open().compiled(hash)?, Some(test_run.definition.clone()));

    let mut other = test_run.definition.clone();
    other.about = "compiled by another version".to_owned();
    open().put_compiled(hash, &other)?;
    assert_eq!(open().compiled(hash)?, Some(other.clone()));
    let refused = open().put_compiled(content_hash(b"never seen"), &other);
    assert!(
        matches!(refused, Err(Error::UnknownDefinition { .. })),
        "{refused:?}"
    );
    Ok(())
}

pub(super) fn a_run_is_pinned_to_the_bytes_it_names(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    let changed = Files::single("story.toml", b"name = \"another\"");
    let new = NewRun {
        files: &changed,
        ..test_run.new_run()
    };
    let refused = open().begin(&new, &test_run.beginning());
    assert!(
        matches!(refused, Err(Error::WrongHash { .. })),
        "{refused:?}"
    );
    assert_eq!(open().run(&test_run.id)?, None);
    Ok(())
}

pub(super) fn secrets_are_gone_before_anything_is_stored(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let secrets = ["correct horse battery staple".to_owned()];
    let commit = Commit {
        secrets: &secrets,
        ..test_run.commit(1)
    };
    let told = "it printed correct horse battery staple";
    let facts = [
        note(told),
        Fact::OverBudget {
            what: told.to_owned(),
        },
    ];
    let done = open().transact(&commit, &mut |_| decision(&facts))?;
    assert!(!format!("{done:?}").contains("horse"), "{done:?}");
    let mut exported = Vec::new();
    export(open().as_ref(), &test_run.id, &mut exported)?;
    let exported = String::from_utf8(exported)?;
    assert!(exported.contains("it printed"), "{exported}");
    assert!(!exported.contains("horse"), "{exported}");
    let stored = open().run(&test_run.id)?;
    assert!(!format!("{stored:?}").contains("horse"), "{stored:?}");
    assert!(open().verify(&test_run.id)?.intact);
    Ok(())
}

pub(super) fn a_list_shows_how_each_run_stands(open: Open<'_>) -> Checked {
    assert_eq!(open().runs(None)?, []);
    let (first, second) = (TestRun::new("r-1")?, TestRun::new("r-2")?);
    first.begin(&mut *open())?;
    let mut later = second.beginning();
    later
        .entries
        .iter_mut()
        .for_each(|entry| entry.at = Time(5_000));
    let elsewhere = NewRun {
        project: "/other",
        ..second.new_run()
    };
    open().begin(&elsewhere, &later)?;
    first.add(&mut *open(), 1, &[note("one"), cancelled()])?;

    let runs = open().runs(None)?;
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, ["r-2", "r-1"]);
    assert_eq!(open().active_runs()?, runs[..1], "the other is over");
    assert_eq!(open().runs(Some("/nowhere"))?, []);
    let of_project = open().runs(Some("/project"))?;
    let [shown] = of_project.as_slice() else {
        return Err(format!("one run is expected: {of_project:?}").into());
    };
    assert_eq!(shown.task, "the task of r-1");
    assert_eq!(shown.stage, first.definition.start);
    assert_eq!(shown.pipeline, first.definition.name);
    assert_eq!(shown.status, Status::Cancelled);
    assert_eq!(
        (shown.started_at, shown.updated_at),
        (Time(1_000), Time(2_000))
    );
    assert_eq!((shown.version, shown.overridden), (3, false));
    assert_eq!(shown.worktree, "/project/tree");
    Ok(())
}

pub(super) fn only_what_is_over_and_unheld_is_collected(open: Open<'_>) -> Checked {
    let (over, running) = (TestRun::new("r-over")?, TestRun::new("r-running")?);
    let (held, kept_over) = (TestRun::new("r-held")?, TestRun::new("r-kept")?);
    let mut other = TestRun::new("r-other")?;
    other.files = Files::single("other.toml", b"");
    for test_run in [&over, &running, &held, &kept_over, &other] {
        test_run.begin(&mut *open())?;
    }
    let old = open().put_content(b"nobody's", Time(1))?;
    let young = open().put_content(b"young", Time(9_000))?;
    let kept = open().put_content(b"named by a run", Time(1))?;
    running.add(&mut *open(), 1, &[captured(kept)?])?;
    for test_run in [&over, &held, &kept_over, &other] {
        test_run.add(&mut *open(), 1, &[cancelled()])?;
    }
    let acquire = Claim::Acquire {
        holder: "one",
        term: Duration::ZERO,
        dead: None,
    };
    open().claim(&held.id, &acquire)?;
    let collect = |before| {
        let keep = std::slice::from_ref(&kept_over.id);
        open().gc(&Collect {
            before: Time(before),
            keep,
            shrink: before == 5_000,
        })
    };
    let expected = Collected {
        contents: 1,
        ..Collected::default()
    };
    assert_eq!(collect(1_000)?, expected);
    assert_eq!(open().content(old)?, None);
    let expected = Collected {
        runs: 2,
        entries: 4,
        contents: 0,
        definitions: 1,
    };
    assert_eq!(collect(5_000)?, expected);
    for (one, there) in [
        (&over, false),
        (&running, true),
        (&held, true),
        (&kept_over, true),
        (&other, false),
    ] {
        assert_eq!(open().run(&one.id)?.is_some(), there, "{}", one.id);
    }
    assert!(open().content(young)?.is_some() && open().content(kept)?.is_some());
    assert_eq!(open().definition(other.files.hash())?, None);
    assert!(open().definition(over.files.hash())?.is_some());
    assert!(open().verify(&running.id)?.intact);
    over.begin(&mut *open())?;
    Ok(())
}

pub(super) fn an_export_holds_everything_of_a_run(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let hash = open().put_content(b"the plan", Time(1))?;
    let done = test_run.add(&mut *open(), 1, &[captured(hash)?, note("two")])?;
    assert!(matches!(done, Transacted::Done { .. }));
    let mut exported = Vec::new();
    export(open().as_ref(), &test_run.id, &mut exported)?;
    let text = String::from_utf8(exported)?;
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let kinds: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["run", "file", "entry", "entry", "entry", "content"]);
    let run = open().run(&test_run.id)?.ok_or("the run is gone")?;
    assert_eq!(lines[0]["head"], lines[4]["hash"]);
    assert_eq!(
        lines[0]["head"].as_str(),
        Some(run.head.to_string().as_str())
    );
    assert_eq!(lines[5]["text"], "the plan");
    // The entry's bytes are those under the hash.
    let stored = open().journal(&test_run.id, 2, 1)?;
    let entry = stored
        .first()
        .map(|stored| crate::entry_to_json(&stored.entry));
    assert!(text.contains(&entry.ok_or("no entry")?));
    Ok(())
}
