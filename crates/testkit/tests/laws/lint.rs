//! Definitions that would break a promise, each with the rule that refuses it, and a sound neighbour.
#![expect(clippy::panic, reason = "a test says by panicking what is wrong")]

use std::collections::BTreeMap;

use language::{SourceFile, Sources, compile};

/// The ends that every definition here has.
const ENDS: &str = "[stages.complete]\nend = \"completed\"\n[stages.failed]\nend = \"failed\"\n";

const STORY: &str = "[artifacts.story]\npath = \"story.json\"\nformat = \"json\"\n";

const ASKING: &str =
    "[stages.asking]\nask = \"Good?\"\non.yes = \"complete\"\non.no = \"failed\"\n";

const VERDICT: &str = "[artifacts.verdict]\npath = \"verdict.json\"\nformat = \"json\"\n\
    outcome = { field = \"status\", values = [\"approved\", \"rejected\"] }\n";

fn codes(start: &str, body: &str) -> Vec<&'static str> {
    let text = format!(
        "name = \"small\"\nabout = \"A table's row.\"\nstart = \"{start}\"\n{body}\n{ENDS}"
    );
    let main = SourceFile {
        name: "small.toml".into(),
        bytes: text.into_bytes(),
    };
    match compile(&Sources {
        main,
        files: BTreeMap::new(),
    }) {
        Ok(_) => Vec::new(),
        Err(problems) => {
            let errors = problems
                .iter()
                .filter(|it| it.severity == engine::Severity::Error);
            errors.map(|problem| problem.code).collect()
        }
    }
}

/// The first definition is refused by this rule alone, and the second passes.
#[track_caller]
fn check(code: &str, start: &str, refused: &str, passes: &str) {
    let found = codes(start, refused);
    if found.is_empty() || found.iter().any(|other| *other != code) {
        panic!("wanted {code}, found {found:?} in\n{refused}");
    }
    let found = codes(start, passes);
    if !found.is_empty() {
        panic!("wanted nothing, found {found:?} in\n{passes}");
    }
}

#[test]
fn only_a_persons_answer_approves() {
    let rest = "[stages.testing]\ncheck = { from = \"story.commands\" }\n\
        on.passed = \"complete\"\non.failed = \"failed\"\n";
    let by_agent = format!(
        "{STORY}[stages.writing]\nagent = \"writer\"\nleaves = [\"story\"]\n\
         on.done = {{ to = \"testing\", approves = [\"story\"] }}\n{rest}"
    );
    let by_person = format!(
        "{STORY}[stages.writing]\nagent = \"writer\"\nleaves = [\"story\"]\non.done = \"asking\"\n\
         [stages.asking]\nask = \"Good?\"\non.yes = {{ to = \"testing\", approves = [\"story\"] }}\n\
         on.no = \"failed\"\n{rest}"
    );
    check("GW-L254", "writing", &by_agent, &by_person);
}

#[test]
fn a_rejected_work_has_passed_nothing() {
    let body = |ship: &str| {
        format!(
            "{VERDICT}[stages.reviewing]\nagent = \"reader\"\nleaves = [\"verdict\"]\nwrites = []\n\
             on.approved = \"complete\"\non.rejected = \"asking\"\n\
             [stages.asking]\nask = \"Ship it?\"\non.ship = \"{ship}\"\non.stop = \"failed\"\n\
             [[prove]]\nname = \"all is reviewed\"\nbefore = \"complete\"\nthrough = [\"reviewing\"]\n"
        )
    };
    check(
        "GW-L260",
        "reviewing",
        &body("complete"),
        &body("reviewing"),
    );
}

#[test]
fn a_promise_about_the_start_is_not_true_of_itself() {
    let body = |before: &str| {
        format!(
            "[stages.deploying]\nagent = \"deployer\"\non.done = \"testing\"\n\
             [stages.testing]\ncheck = [\"test -e x\"]\non.passed = \"complete\"\non.failed = \"failed\"\n\
             [[prove]]\nname = \"tested first\"\nbefore = \"{before}\"\nthrough = [\"testing\"]\n"
        )
    };
    check(
        "GW-L260",
        "deploying",
        &body("deploying"),
        &body("complete"),
    );
}

#[test]
fn a_group_that_shares_an_edge_proves_nothing_of_one_member() {
    let body = |planners: &str| {
        format!(
            "[groups]\nplanners = [{planners}]\n[stages.planning]\nallow = [\"planners\"]\n\
             after.planners = \"working\"\n[stages.working]\nallow = [\"coder\"]\non.finish = \"asking\"\n\
             {ASKING}[[prove]]\nname = \"planned first\"\nagent = \"coder\"\nonly_after = \"planner\"\n"
        )
    };
    let (shared, alone) = (body("\"planner\", \"Explore\""), body("\"planner\""));
    check("GW-L261", "planning", &shared, &alone);
}

#[test]
fn what_steps_and_open_agents_leave_means_done_or_failed() {
    let body = |values: &str| {
        format!(
            "[artifacts.note]\npath = \"note.json\"\nformat = \"json\"\n\
             outcome = {{ field = \"status\", values = {values} }}\n\
             [stages.open]\nallow = [\"worker\"]\nleaves.worker = [\"note\"]\nafter.worker = \"asking\"\n\
             {ASKING}"
        )
    };
    check(
        "GW-L255",
        "open",
        &body("{ OK = \"done\", NO = \"rejected\" }"),
        &body("{ OK = \"done\", NO = \"failed\" }"),
    );
}

#[test]
fn what_changes_the_tree_after_a_gate_is_looked_at_again() {
    let body = |writes: &str| {
        format!(
            "[stages.testing]\ncheck = [\"test -e x\"]\non.passed = \"releasing\"\non.failed = \"failed\"\n\
             [stages.releasing]\nagent = \"releaser\"\n{writes}on.done = \"complete\"\n"
        )
    };
    check("GW-L231", "testing", &body(""), &body("writes = []\n"));
}

#[test]
fn a_promised_gate_can_pass_on_what_completes() {
    let body = |writes: &str| {
        format!(
            "[stages.testing]\ncheck = [\"test -e x\"]\non.passed = \"noting\"\non.failed = \"failed\"\n\
             [stages.noting]\nagent = \"noter\"\n{writes}on.done = \"linting\"\n\
             [stages.linting]\ncheck = [\"test -e y\"]\non.passed = \"complete\"\non.failed = \"failed\"\n\
             [[prove]]\nname = \"what completes is tested\"\nbefore = \"complete\"\nthrough = \"testing\"\n"
        )
    };
    check("GW-L231", "testing", &body(""), &body("writes = []\n"));
}

#[test]
fn a_question_can_be_answered() {
    let nobody = format!(
        "[stages.first]\nask = \"And?\"\ntimeout = \"1h\"\non.timeout = \"asking\"\n{ASKING}"
    );
    let somebody = format!("[stages.first]\nask = \"And?\"\non.so = \"asking\"\n{ASKING}");
    check("GW-L224", "first", &nobody, &somebody);
}

#[test]
fn two_spellings_of_one_path_are_refused() {
    let body = |path: &str| {
        format!(
            "{STORY}[artifacts.other]\npath = \"{path}\"\nformat = \"json\"\n\
             [stages.writing]\nagent = \"writer\"\nleaves = [\"story\", \"other\"]\non.done = \"asking\"\n\
             {ASKING}"
        )
    };
    check(
        "GW-L250",
        "writing",
        &body("./story.json"),
        &body("other.json"),
    );
}

#[test]
fn an_after_behind_a_wider_one_never_fires() {
    let body = |first: &str, second: &str| {
        format!(
            "[stages.open]\nallow = [\"x*\"]\nafter.{first} = \"asking\"\nafter.{second} = \"failed\"\n\
             {ASKING}"
        )
    };
    check(
        "GW-L232",
        "open",
        &body("\"x*\"", "xa"),
        &body("xa", "\"x*\""),
    );
}

#[test]
fn an_escalation_does_not_return_into_another() {
    let body = |boss: &str| {
        format!(
            "[stages.working]\nagent = \"worker\"\non.done = \"asking\"\non.crashed = \"escalate\"\n{ASKING}\
             [stages.escalate]\nask = \"Go on?\"\non.continue = \"@interrupted\"\non.boss = \"boss\"\n\
             [stages.boss]\nask = \"Boss?\"\non.yes = \"{boss}\"\non.no = \"failed\"\n"
        )
    };
    check(
        "GW-L233",
        "working",
        &body("@interrupted"),
        &body("working"),
    );
}

#[test]
fn a_loop_whose_counter_is_set_back_is_shown_with_the_way_that_does_it() {
    let body = |reset: &str| {
        format!(
            "[counters]\nagain = {{ max = 2, then = \"failed\" }}\n[stages.a]\ncheck = [\"test -e x\"]\n\
             on.passed = \"b\"\non.failed = {{ to = \"a\", count = \"again\" }}\n\
             [stages.b]\ncheck = [\"test -e y\"]\non.passed = \"complete\"\n\
             on.failed = {{ to = \"a\", count = \"again\"{reset} }}\n"
        )
    };
    check("GW-L223", "a", &body(", reset = [\"again\"]"), &body(""));
}

#[test]
fn what_a_field_must_say_names_only_what_is_known() {
    let story = |equals: &str| {
        format!(
            "{STORY}equals = {equals}\n[stages.writing]\nagent = \"writer\"\n\
             leaves = [\"story\"]\non.done = \"complete\"\non.crashed = \"failed\"\n"
        )
    };
    check(
        "GW-L204",
        "writing",
        &story("{ phase = \"{stages}\" }"),
        &story("{ phase = \"{stage}\", by = \"{agent}-*\", run = \"{run}\" }"),
    );
    let plain = story("{ phase = \"{stage}\" }");
    check(
        "GW-L253",
        "writing",
        &plain.replace("\"json\"", "\"text\""),
        &plain,
    );
}

#[test]
fn who_starts_a_run_says_strict_or_advisory_and_nothing_else() {
    let body = |choices: &str, more: &str| {
        format!(
            "[params]\nbundles = {{ about = \"how strict\", default = \"strict\", choices = [{choices}] }}\n\
             [artifacts.note]\npath = \"note.json\"\nformat = \"json\"\nstrict = \"{{bundles}}\"\n{more}\
             [stages.writing]\nagent = \"writer\"\nleaves = [\"note\"]\non.done = \"asking\"\n{ASKING}"
        )
    };
    let good = body("\"strict\", \"advisory\"", "");
    check(
        "GW-L256",
        "writing",
        &body("\"strict\", \"lax\"", ""),
        &good,
    );
    check("GW-L256", "writing", &body("", ""), &good);
    let verdict = "outcome = { field = \"status\", values = { OK = \"done\" } }\n";
    let tells = body("\"strict\", \"advisory\"", verdict);
    check("GW-L241", "writing", &tells, &good);
    let unknown = good.replace("{bundles}", "{bundels}");
    check("GW-L204", "writing", &unknown, &good);
}

#[test]
fn what_may_be_missing_is_read_only_if_it_is_there() {
    let body = |reads: &str| {
        format!(
            "[params]\nbundles = {{ default = \"strict\", choices = [\"strict\", \"advisory\"] }}\n\
             [artifacts.note]\npath = \"note.json\"\nformat = \"json\"\nstrict = \"{{bundles}}\"\n\
             [stages.writing]\nagent = \"writer\"\nleaves = [\"note\"]\non.done = \"reading\"\n\
             [stages.reading]\nagent = \"reader\"\nreads = [\"{reads}\"]\non.done = \"asking\"\n{ASKING}"
        )
    };
    check("GW-L243", "writing", &body("note"), &body("note?"));
}

/// A plan, the stage that carries it out, and what comes after.
fn planned(source: &str, then: &str) -> String {
    format!(
        "[artifacts.plan]\npath = \"plan.json\"\nformat = \"json\"\n\
         [stages.planning]\nagent = \"planner\"\nleaves = [\"plan\"]\non.done = \"working\"\n\
         [stages.working]\nsteps = {source}\non.done = \"reading\"\non.failed = \"failed\"\n\
         [stages.reading]\nagent = \"reader\"\n{then}\nwrites = []\non.done = \"complete\"\n"
    )
}

const EITHER: &str = "{ from = \"plan.steps\", or = \"start\" }";

#[test]
fn a_run_that_is_given_its_steps_has_no_plan_of_an_agent() {
    check(
        "GW-L243",
        "planning",
        &planned(EITHER, "reads = [\"plan\"]"),
        &planned(EITHER, "reads = [\"plan?\"]"),
    );
    // Without steps, nobody has planned where this one begins.
    let first = planned(EITHER, "on.crashed = \"failed\"")
        .replace("on.done = \"working\"", "on.done = \"reading\"")
        .replace("on.failed = \"failed\"", "on.failed = \"planning\"");
    check(
        "GW-L243",
        "working",
        &first,
        &first.replace(EITHER, "\"start\""),
    );
}

#[test]
fn a_promise_holds_from_both_beginnings() {
    let promise = |through: &str| {
        let body = planned(EITHER, "");
        format!("{body}[[prove]]\nname = \"p\"\nbefore = \"complete\"\nthrough = [\"{through}\"]\n")
    };
    check(
        "GW-L260",
        "planning",
        &promise("planning"),
        &promise("working"),
    );
}

#[test]
fn one_stage_takes_the_steps_that_are_given() {
    let two = |other: &str| {
        planned(EITHER, "").replace("on.done = \"reading\"", "on.done = \"more\"")
            + &format!(
                "[stages.more]\nsteps = {other}\non.done = \"reading\"\non.failed = \"failed\"\n"
            )
    };
    for other in ["\"start\"", EITHER] {
        let found = codes("planning", &two(other));
        assert!(found.contains(&"GW-L251"), "{found:?}");
    }
    let fixed = two("[{ id = \"a\", title = \"a\", agent = \"x\" }]");
    assert_eq!(codes("planning", &fixed), Vec::<&str>::new());
}

#[test]
fn commands_that_work_adds_lead_to_a_question_that_approves_them() {
    let plan = "[artifacts.plan]\npath = \"plan.json\"\nformat = \"json\"\n\
        approved = { field = \"commands\", then = \"asking\" }\n";
    let planning = "[stages.planning]\nagent = \"planner\"\nleaves = [\"plan\"]\n\
        on.done = \"testing\"\n";
    let testing = "[stages.testing]\ncheck = { from = [\"plan.commands\"] }\n\
        on.passed = \"complete\"\non.failed = \"failed\"\n";
    let asking = |yes: &str, no: &str| {
        format!("[stages.asking]\nask = \"Good?\"\non.yes = {yes}\non.no = {no}\n")
    };
    let approves = "{ to = \"@interrupted\", approves = [\"plan\"] }";
    let all = |asking: &str| format!("{plan}{planning}{testing}{asking}");
    let sound = all(&asking(approves, "\"planning\""));
    let nobody = all(&asking("\"@interrupted\"", "\"planning\""));
    check("GW-L257", "planning", &nobody, &sound);
    // An answer that goes on without approving leaves a way to unapproved commands.
    let around = all(&asking(approves, "\"@interrupted\""));
    check("GW-L244", "planning", &around, &sound);
    let steps = sound.replace(
        "agent = \"planner\"",
        "steps = [{ id = \"a\", title = \"t\", agent = \"x\" }]",
    );
    let steps = steps.replace("plan.json", "{step}.json");
    let steps = steps.replace("on.done", "on.failed = \"failed\"\non.done");
    check("GW-L257", "planning", &steps, &sound);
    check(
        "GW-L201",
        "planning",
        &sound.replace("then = \"asking\"", "then = \"askign\""),
        &sound,
    );
}

/// A route between two ways, with these rules and this default.
fn routed(rules: &str, default: &str) -> String {
    format!(
        "[params.size]\nabout = \"size\"\nchoices = [\"full\", \"small\"]\ndefault = \"full\"\n{VERDICT}\
         [stages.triage]\nagent = \"judge\"\nleaves = [\"verdict\"]\non.approved = \"sizing\"\non.rejected = \"sizing\"\n\
         [stages.sizing]\nroute = [{rules}]\non.small = \"quick\"\n{default}\
         [stages.quick]\nagent = \"coder\"\non.done = \"complete\"\n\
         [stages.slow]\nask = \"Well?\"\non.yes = \"complete\"\non.no = \"failed\"\n"
    )
}

/// The first rules of a route are refused with this code, the others are sound.
#[track_caller]
fn check_rules(code: &str, bad: &str, sound: &str) {
    check(code, "triage", &routed(bad, SLOW), &routed(sound, SLOW));
}

const SMALL: &str = "{ outcome = \"small\", files = 3 }";
const SLOW: &str = "on.otherwise = \"slow\"\n";

#[test]
fn a_route_has_a_default() {
    // Without one the longer way is not reached either.
    let without = routed(SMALL, "").replace("[stages.quick]", "on.slow = \"slow\"\n[stages.quick]");
    let found = codes("triage", &without);
    assert!(found.contains(&"GW-L235"), "{found:?}");
    let returns = "on.otherwise = \"@interrupted\"\n";
    let found = codes("triage", &routed(SMALL, returns));
    assert!(found.contains(&"GW-L235"), "{found:?}");
    assert_eq!(codes("triage", &routed(SMALL, SLOW)), Vec::<&str>::new());
}

#[test]
fn a_route_leads_to_stages_and_asks_for_what_there_is() {
    let unknown = routed(SMALL, "on.otherwise = \"slowly\"\n");
    assert!(codes("triage", &unknown).contains(&"GW-L201"));
    let param = "{ outcome = \"small\", params = { length = \"small\" } }";
    assert_eq!(codes("triage", &routed(param, SLOW)), ["GW-L204"]);
    let stage = "{ outcome = \"small\", files = 1, verdicts = { sorting = \"approved\" } }";
    assert_eq!(codes("triage", &routed(stage, SLOW)), ["GW-L201"]);
}

#[test]
fn every_rule_of_a_route_can_be_reached_and_can_hold() {
    let two = |first: &str, second: &str| {
        let rules =
            format!("{{ outcome = \"wide\", {first} }}, {{ outcome = \"small\", {second} }}");
        let default = format!("on.wide = \"quick\"\n{SLOW}");
        routed(&rules, &default)
    };
    for (first, second) in [
        ("files = 3", "files = 2"),
        ("files = 3", "files = 3, lines = 10"),
        (
            "params = { size = \"small\" }",
            "params = { size = \"small\" }, files = 1",
        ),
        ("avoids = [\"a/**\"]", "avoids = [\"a/**\", \"b/**\"]"),
    ] {
        check(
            "GW-L236",
            "triage",
            &two(first, second),
            &two(second, first),
        );
    }
    let always = "{ outcome = \"small\" }";
    check_rules("GW-L236", always, SMALL);
    let never = "{ outcome = \"small\", params = { size = \"huge\" } }";
    let holds = "{ outcome = \"small\", params = { size = \"small\" } }";
    check_rules("GW-L236", never, holds);
    let never = "{ outcome = \"small\", files = 1, verdicts = { triage = \"done\" } }";
    let holds = "{ outcome = \"small\", files = 1, verdicts = { triage = \"approved\" } }";
    check_rules("GW-L236", never, holds);
}

#[test]
fn an_agent_alone_does_not_decide_a_route() {
    let believed = "{ outcome = \"small\", verdicts = { triage = \"approved\" } }";
    let overruled = "{ outcome = \"small\", lines = 9, verdicts = { triage = \"approved\" } }";
    check_rules("GW-L237", believed, overruled);
    // Nor does a parameter beside it.
    let asked = "{ outcome = \"small\", params = { size = \"small\" }, verdicts = { triage = \"approved\" } }";
    check_rules("GW-L237", asked, overruled);
}

/// An agent can write the file of a setting, and would choose the shorter way for the next run.
#[test]
fn a_parameter_that_decides_a_route_has_no_setting() {
    let asked = "{ outcome = \"small\", params = { size = \"small\" }, files = 3 }";
    let set = |rules: &str| {
        let default = "default = \"full\"\n";
        let with_setting = format!("{default}setting = \"work.size\"\n");
        routed(rules, SLOW).replacen(default, &with_setting, 1)
    };
    check("GW-L238", "triage", &set(asked), &routed(asked, SLOW));
    // A setting for what no route asks for is nobody's shorter way.
    check("GW-L238", "triage", &set(asked), &set(SMALL));
}

#[test]
fn a_proof_sees_every_branch_and_the_way_of_what_has_grown() {
    let body = |through: &str| {
        let promise =
            format!("[[prove]]\nname = \"p\"\nbefore = \"complete\"\nthrough = [\"{through}\"]\n");
        routed(SMALL, SLOW) + &promise
    };
    check("GW-L260", "triage", &body("quick"), &body("sizing"));
    // What was tried and has grown must be tried again on the longer way.
    let grown = |longer: &str| {
        format!(
            "[stages.sizing]\nroute = [{SMALL}]\non.small = \"quick\"\non.otherwise = \"slow\"\n\
             [stages.quick]\nagent = \"coder\"\non.done = \"trying\"\n\
             [stages.trying]\ncheck = [\"make test\"]\non.passed = \"complete\"\non.failed = \"failed\"\n\
             [stages.slow]\nask = \"Well?\"\non.yes = \"{longer}\"\non.no = \"failed\"\n\
             [[prove]]\nname = \"p\"\nafter = \"quick\"\nbefore = \"complete\"\nthrough = [\"trying\"]\n"
        )
    };
    check("GW-L260", "sizing", &grown("complete"), &grown("trying"));
}
