//! The orchestrator is killed in the middle of real work, and the same conversation goes on.

use testkit::model::{Actor, bash, hold, say};

use crate::world::{World, you_are};

const PIPELINE: &str = r#"
name  = "one"
about = "Have one agent make something."
start = "making"

[artifacts.made]
path   = "made.md"
format = "text"

[stages.making]
agent   = "maker"
leaves  = ["made"]
on.done = "complete"

[stages.complete]
end = "completed"
"#;

#[test]
fn after_a_kill_the_same_conversation_goes_on_and_the_work_is_done_once() {
    for runner in ["claude", "codex", "gemini"] {
        let maker = you_are("maker");
        let turns = [
            bash("echo once >> trace"),
            hold("THINKING", bash("echo text > made.md")),
            say("MADE"),
        ];
        let world = World::with(PIPELINE, [Actor::new(&maker, turns)]);
        let child = world.begin(&["--runner", runner]);
        world.model.wait_until_held("THINKING");
        world.kill(child);
        world.model.release("THINKING");
        let ran = world.resume();
        if runner == "gemini" {
            println!("{ran}");
            for request in world.model.requests_of(&maker) {
                println!("REQUEST");
                for message in request.messages() {
                    println!(
                        "   {}",
                        message.to_string().chars().take(400).collect::<String>()
                    );
                }
            }
        }
        let ran = ran.succeeds();
        let told = "was interrupted: continued in the same conversation";
        assert!(ran.stderr.contains(told), "{runner}\n{ran}");
        assert_eq!(world.began().len(), 1, "{runner}\n{ran}");
        assert_eq!(world.results().len(), 1, "{runner}\n{ran}");
        assert_eq!(world.project.read("trace"), "once\n", "{runner}");
        // It was told that it was interrupted, behind all that was said before.
        let requests = world.model.requests_of(&maker);
        let resumed = &requests[requests.len() - 2];
        assert_eq!(resumed.turns_taken(&maker), 1, "{runner}");
        let news = resumed.news();
        assert!(news.contains("You were interrupted"), "{runner}\n{news}");
        assert_eq!(world.left_over(), Vec::<String>::new(), "{runner}");
    }
}
