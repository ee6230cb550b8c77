//! The control: after a night without damage, damage is planted piece by piece, and the look must find each.

use std::process::{Command, Stdio};

use super::belongings::Belongings;
use super::damage::{self, Damage};
use super::plan::{Incident, Plan};
use super::scene::{Scene, Told};
use crate::failure::Failure;

/// A piece of damage, and the word under which the look must report it.
struct Plant {
    name: &'static str,
    word: &'static str,
    /// Done to the repository or to the summaries.
    act: fn(&Scene, &str, &mut Told) -> Result<(), Failure>,
}

const PLANTS: [Plant; 9] = [
    Plant {
        name: "a branch is gone",
        word: "lost",
        act: |scene, branch, _| {
            scene
                .git(&format!("update-ref -d refs/heads/{branch}"))
                .map(drop)
        },
    },
    Plant {
        name: "a branch has no commit",
        word: "lost",
        act: |scene, branch, _| {
            let base = &scene.base;
            scene
                .git(&format!("update-ref refs/heads/{branch} {base}"))
                .map(drop)
        },
    },
    Plant {
        name: "a branch has more than the work of its run",
        word: "lost",
        act: |scene, branch, _| {
            let message = scene.git(&format!("log -1 --format=%B {branch}"))?;
            let (tree, full) = ("main^{tree}", format!("refs/heads/{branch}"));
            let words = ["commit-tree", tree, "-p", &full, "-m", &message];
            let commit = scene.git_words(&words)?;
            scene.git(&format!("update-ref {full} {commit}")).map(drop)
        },
    },
    Plant {
        name: "the index is touched",
        word: "touched",
        act: |scene, _, _| scene.git("add edited.txt").map(drop),
    },
    Plant {
        name: "a file is touched",
        word: "touched",
        act: |scene, _, _| scene.write("new.txt", "another\n"),
    },
    Plant {
        name: "the stash is gone",
        word: "touched",
        act: |scene, _, _| scene.git("stash drop --quiet").map(drop),
    },
    Plant {
        name: "a branch of the person's is moved",
        word: "touched",
        act: |scene, _, _| scene.git("branch --force topic main").map(drop),
    },
    Plant {
        name: "a run is not in the summary",
        word: "untold",
        act: |_, _, told| {
            told.pop_first();
            Ok(())
        },
    },
    Plant {
        name: "a lock is left",
        word: "litter",
        act: |scene, branch, _| scene.write(&format!(".git/refs/heads/{branch}.lock"), ""),
    },
];

/// Plants each piece on a copy of the night, and takes it away again. Returns how many there were.
pub(super) fn run(
    scene: &Scene,
    plan: &Plan,
    told: &Told,
    persons: &Belongings,
) -> Result<usize, Failure> {
    let mut plain = plan.tasks.iter();
    let plain = plain.find(|task| task.incident == Incident::Nothing);
    let run = plain.map(|task| task.run.as_str()).unwrap_or_default();
    let shown = scene.stand.ask(&["status", run])?;
    let branch = shown["place"]["branch"].as_str().unwrap_or_default();
    scene.stand.keep()?;
    for plant in &PLANTS {
        let mut planted = told.clone();
        (plant.act)(scene, branch, &mut planted)?;
        let found = damage::look(scene, plan, &planted, persons)?;
        insist(plant.name, plant.word, &found)?;
        scene.stand.put_back()?;
    }
    orphan(scene, plan, told, persons)?;
    Ok(PLANTS.len() + 1)
}

/// A process that outlives the night.
fn orphan(scene: &Scene, plan: &Plan, told: &Told, persons: &Belongings) -> Result<(), Failure> {
    let mut command = Command::new("sleep");
    let command = command.arg("600").current_dir(scene.stand.project());
    let child = command.stdin(Stdio::null()).spawn();
    let mut child = child.map_err(Failure::program("sleep"))?;
    let found = damage::look(scene, plan, told, persons);
    let _ = child.kill();
    let _ = child.wait();
    insist("a process is left", "orphans", &found?)
}

fn insist(name: &str, word: &str, found: &[Damage]) -> Result<(), Failure> {
    let words: Vec<&str> = found.iter().map(Damage::word).collect();
    if words == [word] {
        Ok(())
    } else {
        Err(Failure::no(format!(
            "the control: {name} is {word}, and the look found {words:?}"
        )))
    }
}
