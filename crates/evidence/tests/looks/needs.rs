//! Questions and steps of captured artifacts, as the engine asks for them.

use engine::{FieldOf, Format, Hash, Input, Needs};
use evidence::Error;

use crate::world::{World, artifact_name, needs_artifact};

fn field(name: &str) -> FieldOf {
    FieldOf {
        artifact: artifact_name("signal"),
        field: String::from(name),
    }
}

fn world() -> World {
    let mut world = World::new();
    world.declare("signal", ".task/signal.json", Format::Json { schema: None });
    world
}

#[test]
fn the_captured_copy_is_read_and_not_the_file() {
    let mut world = world();
    world.write(".task/signal.json", r#"{"questions": ["A forged one?"]}"#);
    let hash = world.capture("signal", r#"{"questions": ["Which one?"], "steps": []}"#);
    let needs = Needs {
        questions: Some((field("questions"), hash)),
        steps: Some((field("steps"), hash)),
        ..Needs::default()
    };
    let evidence = world.look(&needs).unwrap().evidence;
    assert_eq!(evidence.questions.unwrap().unwrap()[0].text, "Which one?");
    assert!(evidence.steps.unwrap().unwrap_err().contains("empty list"));
}

#[test]
fn what_was_captured_just_now_is_read_too() {
    let world = world();
    let written = r#"{"questions": ["Which one?"]}"#;
    world.write(".task/signal.json", written);
    let needs = Needs {
        artifacts: vec![engine::ArtifactNeed {
            artifact: artifact_name("signal"),
            step: None,
            agent: None,
        }],
        questions: Some((field("questions"), evidence::hash(written.as_bytes()))),
        ..Needs::default()
    };
    assert!(
        world
            .look(&needs)
            .unwrap()
            .evidence
            .questions
            .unwrap()
            .is_ok()
    );
}

#[test]
fn content_that_is_lost_or_altered_is_an_error() {
    let mut world = world();
    let hash = Hash([7; 32]);
    let needs = Needs {
        questions: Some((field("questions"), hash)),
        ..Needs::default()
    };
    let lost = |world: &World| matches!(world.look(&needs), Err(Error::ContentLost { .. }));
    assert!(lost(&world));
    world
        .contents
        .insert(hash, br#"{"questions": ["Altered?"]}"#.to_vec());
    assert!(lost(&world));
}

#[test]
fn nothing_is_looked_at_that_nobody_needs() {
    let looked = world().look(&Needs::default()).unwrap();
    assert_eq!(looked, evidence::Looked::default());
}

#[test]
fn a_file_is_compared_with_what_was_captured_of_it() {
    let world = world();
    let path = ".task/signal.json";
    let captured =
        r#"{"questions": ["Which one?"], "key": "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"}"#;
    world.write(path, captured);
    let seen = world.look(&needs_artifact("signal")).unwrap();
    let content = seen.evidence.artifacts[&artifact_name("signal")].content();
    let input = Input {
        artifact: artifact_name("signal"),
        step: None,
        content: content.unwrap(),
    };
    let needs = Needs {
        inputs: vec![input.clone()],
        ..Needs::default()
    };
    let altered = |world: &World| world.look(&needs).unwrap().evidence.altered;
    // What was redacted is compared as it was kept.
    assert_eq!(altered(&world), []);
    for changed in [r#"{"questions": ["A forged one?"]}"#, "", "no JSON"] {
        world.write(path, changed);
        assert_eq!(altered(&world), std::slice::from_ref(&input), "{changed}");
    }
    world.write(path, captured);
    assert_eq!(altered(&world), []);
    std::fs::remove_file(world.root().join(path)).unwrap();
    assert_eq!(altered(&world), std::slice::from_ref(&input));
    // Something in its place that cannot be read is not it either.
    std::fs::create_dir(world.root().join(path)).unwrap();
    assert_eq!(altered(&world), [input]);
}
