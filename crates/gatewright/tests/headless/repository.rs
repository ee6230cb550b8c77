//! Steps share the person's repository: what they do to its refs and objects.

use super::fixture::World;

/// These steps, each with what it needs.
fn graph(steps: &[(&str, &str)]) -> String {
    let line = |(id, needs): &(&str, &str)| {
        format!(
            "    {{ id = \"{id}\", title = \"{id}\", agent = \"builder\", needs = [{needs}] }},\n"
        )
    };
    let lines: String = steps.iter().map(line).collect();
    format!(
        r#"
name  = "graph"
about = "Work through a graph."
start = "building"

[artifacts.part]
path    = "parts/{{step}}.json"
format  = "json"
outcome = {{ field = "status", values = ["done", "failed"] }}

[stages.building]
steps = [
{lines}]
max_parallel = 9
leaves       = ["part"]
on.done      = "complete"
on.failed    = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#
    )
}

/// Builds its part and says so.
const BUILDS: &str = r#"
mkdir -p parts
echo "$GATEWRIGHT_STEP" > "$GATEWRIGHT_STEP.txt"
echo "{\"status\": \"done\", \"by\": $count}" > "parts/$GATEWRIGHT_STEP.json"
"#;

#[test]
fn a_step_that_collects_garbage_breaks_no_work() {
    // The others end while it is at it, and more begin.
    let script = format!(
        r#"
case $GATEWRIGHT_STEP in
sweep)
    while [ "$(ls "$here/done" 2>/dev/null | wc -l)" -lt 6 ]; do
        git reflog expire --expire=now --all
        git gc --quiet --prune=now >> "$here/gc" 2>&1
        echo x >> "$here/swept"
    done ;;
*)
    while [ ! -e "$here/swept" ]; do sleep 0.02; done
    seq 1 200 > "$GATEWRIGHT_STEP-list"; mkdir -p "$here/done"; touch "$here/done/$GATEWRIGHT_STEP" ;;
esac
{BUILDS}"#
    );
    let steps = [
        ("a", ""),
        ("b", ""),
        ("c", ""),
        ("d", "\"a\""),
        ("e", "\"d\""),
        ("f", "\"e\""),
        ("sweep", ""),
    ];
    let world = World::with(&graph(&steps), &script);
    world.run("").succeeds();
    for (step, _) in steps {
        assert_eq!(
            world.project.read(format!("{step}.txt")),
            format!("{step}\n")
        );
    }
    world
        .project
        .git(["fsck", "--connectivity-only"])
        .succeeds();
}
