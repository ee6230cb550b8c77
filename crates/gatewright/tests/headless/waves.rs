//! Task graphs in waves: each worker in a worktree of its own, and what it did comes back in order.

use testkit::{Project, pipelines};

use super::fixture::{PROGRAM, World, says, until};

/// Four steps in two waves, and a failure that a person hears of.
fn graph() -> String {
    let steps = r#"    { id = "left", title = "The left side", agent = "builder" },
    { id = "right", title = "The right side", agent = "builder" },
    { id = "roof", title = "The roof", agent = "builder", needs = ["left", "right"] },
    { id = "door", title = "The door", agent = "builder", needs = ["left"] },
"#;
    let deciding = r#"[stages.deciding]
ask      = "Once more?"
on.again = "@interrupted"
on.stop  = "stopped"
"#;
    let graph = pipelines::graph(steps).replace("= \"stopped\"", "= \"deciding\"");
    format!("{graph}\n{deciding}")
}

/// Builds its part and says so.
const BUILDS: &str = r#"
mkdir -p parts
pwd >> "$here/folders"
echo "$GATEWRIGHT_STEP" > "$GATEWRIGHT_STEP.txt"
echo "{\"status\": \"done\", \"by\": $count}" > "parts/$GATEWRIGHT_STEP.json"
"#;

/// Waits until this many are at work at once.
fn together(number: u32) -> String {
    format!(
        r#"
mkdir -p "$here/at-work"; touch "$here/at-work/$GATEWRIGHT_STEP"
turns=0
while [ "$(ls "$here/at-work" | wc -l)" -lt {number} ]; do
    sleep 0.05
    turns=$((turns + 1))
    [ "$turns" -lt 600 ] || exit 7
done
"#
    )
}

/// No worktree and no branch of ours is left.
fn is_tidy(world: &World) {
    let worktrees = world
        .project
        .git(["worktree", "list", "--porcelain"])
        .stdout;
    assert_eq!(worktrees.matches("worktree ").count(), 1, "{worktrees}");
    let branches = world.project.git(["branch", "--list"]).stdout;
    assert_eq!(branches.lines().count(), 1, "{branches}");
}

/// The refs under which work is kept that was not merged.
fn kept(world: &World) -> Vec<String> {
    let refs = ["for-each-ref", "--format=%(refname)"];
    let refs = world.project.git(refs).stdout;
    let ours = refs.lines().filter(|name| name.contains("gatewright"));
    ours.map(str::to_owned).collect()
}

#[test]
fn steps_of_one_wave_work_at_once_in_folders_of_their_own() {
    // The first wave goes on only when both are there.
    let first = format!(
        "case $GATEWRIGHT_STEP in left | right) {}\n;; esac",
        together(2)
    );
    let world = World::with(&graph(), &format!("{first}{BUILDS}"));
    world.run("").succeeds();
    let mut steps = world.starts();
    steps[..2].sort();
    steps[2..].sort();
    assert_eq!(
        steps,
        [
            "building/left",
            "building/right",
            "building/door",
            "building/roof"
        ]
    );
    for step in ["left", "right", "roof", "door"] {
        assert_eq!(
            world.project.read(format!("{step}.txt")),
            format!("{step}\n")
        );
    }
    let folders = world.noted("folders");
    let project = world.project.path();
    assert!(
        folders
            .iter()
            .all(|folder| *folder != project.to_string_lossy()),
        "{folders:?}"
    );
    is_tidy(&world);
}

#[test]
fn a_conflict_is_an_outcome_and_the_work_is_done_again_on_what_is_there() {
    let conflict = format!(
        r#"
case $GATEWRIGHT_STEP in
left | right)
{}
    cat house.txt >> "$here/saw.$GATEWRIGHT_STEP"
    echo "$GATEWRIGHT_STEP" > house.txt
    ;;
esac
{BUILDS}"#,
        together(2)
    );
    let world = World::with(&graph(), &conflict);
    world.project.write("house.txt", "nothing\n");
    world.project.git(["add", "house.txt"]);
    world.project.git(["commit", "--quiet", "--message=house"]);
    let ran = world.run("").succeeds();
    says(&ran.stderr, "conflict: ");
    says(&ran.stderr, "house.txt");
    // The graph's order decides whose comes first; the other one sees it and works on it.
    assert_eq!(world.project.read("house.txt"), "right\n");
    let retried = world.history("step_retried");
    assert_eq!(retried.len(), 1, "{retried:?}");
    assert_eq!(retried[0]["fact"]["step"], "right");
    assert_eq!(world.noted("saw.right"), ["nothing", "left"]);
    // The history counts as the briefing does, step by step.
    for (step, attempts) in [("right", vec![1, 2]), ("left", vec![1]), ("roof", vec![1])] {
        let admitted = world.history("admitted").into_iter();
        let mut told = admitted.filter(|entry| entry["fact"]["duty"].to_string().contains(step));
        for attempt in attempts {
            let entry = told.next().expect("it was admitted");
            says(&entry["text"].to_string(), &format!(", attempt {attempt}"));
        }
        assert_eq!(told.next(), None);
    }
    let told = (1..=5).map(|count| world.prompt(count));
    let again: Vec<String> = told.filter(|told| told.contains("attempt 2")).collect();
    assert_eq!(again.len(), 1);
    says(&again[0], "`right`");
    says(&again[0], "house.txt");
    says(&again[0], "nothing of the last attempt is here");
    says(&again[0], "refs/gatewright/r-test/right-");
    let first = world.prompt(1);
    says(&first, "Do only this step");
    assert!(!first.contains("last attempt"), "{first}");
    is_tidy(&world);
}

#[test]
fn a_step_that_fails_leaves_the_work_of_the_others_and_goes_again_when_a_person_says_so() {
    let script = format!(
        r#"{BUILDS}
[ "$GATEWRIGHT_STEP" != right ] || [ -e "$here/mended" ] || echo '{{"status": "failed"}}' > parts/right.json"#
    );
    let world = World::with(&graph(), &script);
    let ran = world.run("").exits(6);
    says(&ran.stdout, "Once more?");
    assert_eq!(world.project.read("left.txt"), "left\n");
    assert_eq!(world.project.read("door.txt"), "door\n");
    assert!(!world.is_there("roof.txt"), "it needs what failed");
    std::fs::write(world.programs().join("mended"), "").unwrap();
    world.gatewright("answer r-test again").succeeds();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.project.read("roof.txt"), "roof\n");
    let left = world
        .starts()
        .into_iter()
        .filter(|at| at == "building/left");
    assert_eq!(left.count(), 1, "what is done stays done");
    is_tidy(&world);
}

#[test]
fn of_four_steps_one_conflicts_and_one_fails_and_no_work_is_lost() {
    let script = format!(
        r#"
case $GATEWRIGHT_STEP in
left | right)
{}
    echo "$GATEWRIGHT_STEP" > house.txt
    ;;
esac
{BUILDS}
[ "$GATEWRIGHT_STEP" != door ] || [ -e "$here/mended" ] || echo '{{"status": "failed"}}' > parts/door.json"#,
        together(2)
    );
    let world = World::with(&graph(), &script);
    world.project.write("house.txt", "nothing\n");
    let ran = world.run("").exits(6);
    says(&ran.stdout, "Once more?");
    says(&ran.stderr, "conflict: ");
    // Who came second worked again on what the first had left; nobody else did.
    assert_eq!(world.project.read("house.txt"), "right\n");
    let mut again = world.history("step_retried");
    again.retain(|entry| entry["fact"]["fault"] == "conflict");
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!(again[0]["fact"]["step"], "right");
    // What the others did is there, and what came of the failure is kept beside it.
    for step in ["left", "right", "roof"] {
        let text = format!("{step}\n");
        assert_eq!(world.project.read(format!("{step}.txt")), text);
    }
    assert!(!world.is_there("door.txt"));
    let holds = |name: &String| {
        let shown = format!("{name}:parts/door.json");
        world
            .project
            .git(["show", &shown])
            .stdout
            .contains("failed")
    };
    assert!(kept(&world).iter().any(holds), "{:?}", kept(&world));
    std::fs::write(world.programs().join("mended"), "").unwrap();
    world.gatewright("answer r-test again").succeeds();
    world.gatewright("resume r-test").succeeds();
    let starts = world.starts();
    for (step, times) in [("left", 1), ("right", 2), ("roof", 1)] {
        let at = format!("building/{step}");
        let begun = starts.iter().filter(|start| **start == at);
        assert_eq!(begun.count(), times, "{step}: {starts:?}");
    }
    is_tidy(&world);
}

#[test]
fn what_an_ended_worker_did_and_was_not_merged_is_kept() {
    // It crashes after it has changed something.
    let script = r#"mkdir -p parts; echo precious > work.txt; exit 1"#;
    let graph = graph().replace("leaves       =", "retry        = 0\nleaves       =");
    let world = World::with(&graph, script);
    world.run("").exits(6);
    assert!(!world.is_there("work.txt"));
    let kept = kept(&world);
    assert!(!kept.is_empty());
    let work = world
        .project
        .git(["show", &format!("{}:work.txt", kept[0])])
        .stdout;
    assert_eq!(work, "precious\n");
}

#[test]
fn no_more_work_at_once_than_the_stage_allows() {
    // Who comes first waits until as many are there as may be; then there is time for one too many.
    let script = format!(
        r#"
mkdir -p "$here/now"; touch "$here/now/$count"
ls "$here/now" | wc -l >> "$here/at-once"
turns=0
while [ "$(sort -n "$here/at-once" | tail -1)" -lt "$(cat "$here/most")" ] && [ "$turns" -lt 600 ]; do
    sleep 0.05
    turns=$((turns + 1))
done
sleep 0.3
{BUILDS}
rm "$here/now/$count""#
    );
    // All four could begin at once.
    let free = graph().replace(", needs = [\"left\", \"right\"]", "");
    let free = free.replace(", needs = [\"left\"]", "");
    for most in ["1", "2"] {
        let graph = free.replace("max_parallel = 9", &format!("max_parallel = {most}"));
        let world = World::with(&graph, &script);
        std::fs::write(world.programs().join("most"), most).unwrap();
        world.run("").succeeds();
        let at_once = world.noted("at-once");
        assert_eq!(at_once.len(), 4);
        assert_eq!(at_once.iter().max().map(String::as_str), Some(most));
    }
}

#[test]
fn without_git_steps_work_one_after_another_in_the_project() {
    // An absence has no sign: the pause is the time for one too many.
    let script = format!(
        r#"
mkdir "$here/alone" || echo "$GATEWRIGHT_STEP" >> "$here/together"
sleep 0.2
{BUILDS}
rmdir "$here/alone""#
    );
    let world = World::new(Project::new(PROGRAM), &script);
    world.pipeline(&graph());
    world.run("").succeeds();
    assert_eq!(world.noted("together"), Vec::<String>::new());
    let project = world.project.path();
    let project = project.to_string_lossy();
    assert!(
        world
            .noted("folders")
            .iter()
            .all(|folder| *folder == project)
    );
    assert_eq!(world.project.read("roof.txt"), "roof\n");
}

#[test]
fn what_was_not_committed_is_there_for_every_worker_and_stays() {
    let script = format!("cat draft.txt >> \"$here/seen\"\n{BUILDS}");
    let world = World::with(&graph(), &script);
    world.project.write("draft.txt", "a draft\n");
    world.project.write("tracked.txt", "one\n");
    world.project.git(["add", "tracked.txt"]);
    world.project.write("tracked.txt", "two\n");
    world.run("").succeeds();
    assert_eq!(world.noted("seen"), ["a draft"; 4]);
    assert_eq!(world.project.read("draft.txt"), "a draft\n");
    assert_eq!(world.project.read("tracked.txt"), "two\n");
    let status = world
        .project
        .git(["status", "--porcelain", "tracked.txt"])
        .stdout;
    assert_eq!(status, "AM tracked.txt\n", "the index is the person's");
    is_tidy(&world);
}

#[test]
fn a_kill_in_the_middle_of_a_wave_loses_nothing() {
    let script = format!(
        r#"case $GATEWRIGHT_STEP in right) echo $$ >> "$here/waits"; while [ ! -e "$here/go" ]; do sleep 0.05; done ;; esac
{BUILDS}"#
    );
    let world = World::with(&graph(), &script);
    let run = world.begin(&world.line(""));
    until("the left side is built and the right one is not", || {
        world.is_there("left.txt") && !world.noted("waits").is_empty()
    });
    run.kill();
    std::fs::write(world.programs().join("go"), "").unwrap();
    world.gatewright("resume r-test").succeeds();
    for step in ["left", "right", "roof", "door"] {
        assert_eq!(
            world.project.read(format!("{step}.txt")),
            format!("{step}\n")
        );
    }
    let left = world
        .starts()
        .into_iter()
        .filter(|at| at == "building/left");
    assert_eq!(left.count(), 1, "what is done stays done");
    is_tidy(&world);
}
