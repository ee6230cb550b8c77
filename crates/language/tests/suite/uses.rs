//! Definitions that take over from others: the whole by `extends`, stages by `use`.

use std::collections::BTreeMap;

use engine::{Definition, Work};
use language::{Diagnostic, SourceFile, Sources, compile, files_beside, gather, given_files};

/// The definition with all that belongs to it, where these files lie next to it.
fn gathered(text: &str, beside: &[(&str, &str)]) -> Sources {
    let main = SourceFile {
        name: "mine.toml".into(),
        bytes: text.into(),
    };
    let beside: BTreeMap<&str, &str> = beside.iter().copied().collect();
    let read = |path: &str| Ok::<_, ()>(beside.get(path).map(|text| Vec::from(*text)));
    gather(main, read).expect("nothing fails")
}

fn definition(text: &str, beside: &[(&str, &str)]) -> Definition {
    let compiled = compile(&gathered(text, beside)).expect("it has no problem");
    assert_eq!(compiled.warnings, [], "{text}");
    compiled.pipeline.definition().clone()
}

fn problems(text: &str, beside: &[(&str, &str)]) -> Vec<Diagnostic> {
    match compile(&gathered(text, beside)) {
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    }
}

/// The codes of the problems, each with the text that is underlined.
fn check(text: &str, beside: &[(&str, &str)], expected: &[(&str, &str)]) {
    let problems = problems(text, beside);
    let place = |problem: &Diagnostic| problem.span.clone().map_or("", |span| &text[span]);
    let found: Vec<_> = problems.iter().map(|it| (it.code, place(it))).collect();
    assert_eq!(found, expected, "{text}\n{problems:#?}");
}

fn stages(definition: &Definition) -> Vec<&str> {
    definition
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect()
}

/// A definition of which others use the review and the check.
const QUALITY: &str = r#"
name     = "quality"
about    = "Review and test."
start    = "fix"
settings = "quality.json"
gives    = ["agents/critic.md", "agents/fixer.md", "skills/lint/SKILL.md", "commands/quality.md"]
litter   = ["lint-report/"]

[params]
suite  = { about = "the tests", default = "all", setting = "suite" }
rounds = { about = "rounds of review", default = 3 }
next   = { about = "what follows a review", choices = ["tested", "done"], default = "tested" }
unused = { about = "of the work alone", default = "x" }

[counters]
again = { max = 2, then = "lost" }

[groups]
thinkers = ["critic", "sage-*"]

[artifacts.work]
path   = "work.md"
format = "text"

[artifacts.verdict]
path    = "verdict.json"
format  = "json"
outcome = { field = "status", values = ["approved", "needs_changes"] }

[artifacts.note]
path   = "{unused}.md"
format = "text"

[stages.fix]
agent   = "fixer"
leaves  = ["work", "note"]
on.done = "review"

[stages.review]
review      = "fixer"
of          = "work"
panel       = [{ agent = "critic", leaves = "verdict" }]
rounds      = "{rounds}"
reads       = ["work?"]
on.approved = "{next}"
on.exceeded = "think"

[stages.think]
allow          = ["thinkers"]
writes         = []
after.thinkers = "tested"

[stages.tested]
check     = [["make", "test", "{suite}"]]
on.passed = "stamped"
on.failed = { to = "think", count = "again" }

[stages.stamped]
check     = ["make stamp"]
on.passed = "done"
on.failed = { to = "think", count = "again" }

[stages.done]
end = "completed"

[stages.lost]
end = "failed"

[[prove]]
name    = "a review comes after the work"
before  = "review"
through = "fix"

[[prove]]
name    = "nothing untested is stamped"
before  = "stamped"
through = "tested"
"#;

const QUALITY_FILES: [(&str, &str); 5] = [
    ("quality.toml", QUALITY),
    ("agents/critic.md", "critic"),
    ("agents/fixer.md", "fixer"),
    ("skills/lint/SKILL.md", "lint"),
    ("commands/quality.md", "quality"),
];

const USER: &str = r#"
name  = "mine"
about = "Write, then the quality of somebody else."
start = "write"

[use.qa]
from   = "quality.toml"
stages = ["review", "think", "tested", "stamped", "lost"]
with   = { work = "text", done = "over", suite = "suite" }

[params]
suite = { about = "our tests", default = "quick" }

[artifacts.text]
path   = "text.md"
format = "text"

[stages.write]
agent   = "writer"
leaves  = ["text"]
on.done = "qa-review"

[stages.qa-tested]
timeout = "10m"

[stages.over]
end = "completed"

[[prove]]
name    = "nothing is reviewed unwritten"
before  = "qa-review"
through = "write"
"#;

#[test]
fn a_project_changes_a_built_in_without_copying_it() {
    let text = r#"
        name    = "ours"
        extends = "multi-ai"
        without = ["commands.multi-ai"]
        gives   = ["commands/ours.md"]

        [commands]
        ours = "start"

        [params]
        code_rounds = { default = 4 }

        [stages.implementing_loop]
        model = "opus"

        [stages.code_reviewing]
        panel = [{ agent = "code-reviewer", model = "opus", leaves = "code_opus" }]

        [stages.testing]
        check = ["make check"]
    "#;
    let beside = [("commands/ours.md", "ours")];
    let sources = gathered(text, &beside);
    let compiled = compile(&sources).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let ours = compiled.pipeline.definition();
    let builtin = language::builtin::find("multi-ai").expect("it is built in");
    let theirs = compile(&builtin.sources()).expect("it compiles");
    let theirs = theirs.pipeline.definition();

    assert_eq!(ours.name.as_str(), "ours");
    assert_eq!((&ours.about, &ours.start), (&theirs.about, &theirs.start));
    assert_eq!(stages(ours), stages(theirs));
    assert_eq!(ours.proofs, theirs.proofs, "its promises are kept");
    let commands: Vec<_> = ours.commands.keys().map(|name| name.as_str()).collect();
    assert_eq!(commands, ["cancel-loop", "multi-ai-answer", "ours"]);
    let rounds = ours
        .params
        .iter()
        .find(|(name, _)| name.as_str() == "code_rounds");
    let rounds = rounds.expect("it is taken over").1;
    assert_eq!(rounds.default.as_deref(), Some("4"));
    assert_eq!(rounds.settings, ["autonomy.codeReviewLoopLimit"]);
    let stage = |name: &str| {
        ours.stages
            .iter()
            .find(|it| it.name.as_str() == name)
            .expect("it is there")
    };
    let Work::Agent(work) = &stage("implementing_loop").work else {
        panic!("an agent works there");
    };
    assert_eq!(work.settings.model.as_deref(), Some("opus"));
    let Work::Review(work) = &stage("code_reviewing").work else {
        panic!("it is a review");
    };
    assert_eq!(work.panel.len(), 1, "a list takes the place of a list");

    let given: Vec<_> = given_files(&sources)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert!(given.contains(&"commands/ours.md") && given.contains(&"agents/planner.md"));
    assert_eq!(files_beside(&sources), [("commands/ours.md", &b"ours"[..])]);
}

#[test]
fn a_promise_that_is_taken_over_still_has_to_hold() {
    let text =
        "name = 'fast'\nextends = 'multi-ai'\n[stages.code_reviewing]\non.exceeded = 'testing'\n";
    let problems = problems(text, &[]);
    let broken: Vec<_> = problems.iter().filter(|it| it.code == "GW-L260").collect();
    assert!(!broken.is_empty(), "{problems:#?}");
    for problem in broken {
        assert_eq!(
            &text[problem.span.clone().expect("it has a place")],
            "'multi-ai'"
        );
    }
}

#[test]
fn stages_come_with_what_they_need_under_a_prefix() {
    let mine = definition(USER, &QUALITY_FILES);
    assert_eq!(
        stages(&mine),
        [
            "qa-review",
            "qa-think",
            "qa-tested",
            "qa-stamped",
            "qa-lost",
            "write",
            "over"
        ]
    );
    let artifacts: Vec<_> = mine.artifacts.keys().map(|name| name.as_str()).collect();
    assert_eq!(artifacts, ["qa-verdict", "text"]);
    let counters: Vec<_> = mine
        .counters
        .iter()
        .map(|(name, it)| (name.as_str(), it.then.as_str()))
        .collect();
    assert_eq!(counters, [("qa-again", "qa-lost")]);
    let params: Vec<_> = mine.params.keys().map(|name| name.as_str()).collect();
    assert_eq!(params, ["qa-next", "qa-rounds", "suite"]);
    let choices = &mine
        .params
        .iter()
        .find(|(name, _)| name.as_str() == "qa-next")
        .expect("it is there")
        .1
        .choices;
    assert_eq!(choices, &["qa-tested", "over"]);
    let groups: Vec<_> = mine.groups.keys().map(|name| name.as_str()).collect();
    assert_eq!(groups, ["qa-thinkers"]);
    let promises: Vec<_> = mine
        .proofs
        .iter()
        .map(|proof| proof.name.as_str())
        .collect();
    assert_eq!(
        promises,
        [
            "qa: nothing untested is stamped",
            "nothing is reviewed unwritten"
        ]
    );
    let Work::Review(review) = &mine.stages[0].work else {
        panic!("it is a review");
    };
    assert_eq!(review.of.as_ref().map(|name| name.as_str()), Some("text"));
    assert!(
        mine.stages[2].timeout.is_some(),
        "a brought stage may be changed"
    );
    assert_eq!(mine.settings.as_deref(), Some("quality.json"));
    assert_eq!(mine.litter.len(), 1);

    let sources = gathered(USER, &QUALITY_FILES);
    let given: Vec<_> = given_files(&sources)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(
        given,
        [
            "agents/critic.md",
            "agents/fixer.md",
            "skills/lint/SKILL.md"
        ]
    );
}

#[test]
fn a_route_comes_with_its_parameters_and_the_stages_that_it_asks() {
    let sized = "name = 'sized'\nabout = 'x'\nstart = 'triage'\n\
                 params.size = { about = 'x', choices = ['full', 'small'], default = 'full' }\n\
                 params.kind = { about = 'x', default = 'any' }\n\
                 stages.triage = { agent = 'sorter', on.done = 'sizing' }\n\
                 stages.over = { end = 'completed' }\n\
                 [stages.sizing]\n\
                 route = [{ outcome = 'small', files = 2, params = { size = 'small', kind = 'text' }, verdicts = { triage = 'done' } }]\n\
                 on.small = 'over'\non.otherwise = 'over'\n";
    let text = "name = 'mine'\nabout = 'x'\nstart = 's-triage'\n\
                params.sort = { about = 'x', default = 'any' }\n\
                [use.s]\nfrom = 'sized.toml'\nwith = { kind = 'sort' }\n\
                [[prove]]\nname = 'all is sized'\nbefore = 's-over'\nthrough = ['s-sizing']\n";
    let mine = definition(text, &[("sized.toml", sized)]);
    let params: Vec<_> = mine.params.keys().map(|name| name.as_str()).collect();
    assert_eq!(params, ["s-size", "sort"]);
    let mut stages = mine.stages.iter();
    let route = stages.find_map(|stage| stage.work.as_route());
    let rule = &route.expect("a route").rules[0];
    let asked: Vec<_> = rule.params.keys().map(|name| name.as_str()).collect();
    assert_eq!(asked, ["s-size", "sort"]);
    let told: Vec<_> = rule.verdicts.keys().map(|name| name.as_str()).collect();
    assert_eq!(told, ["s-triage"]);
}

#[test]
fn all_stages_come_along_unless_some_are_named() {
    let text = "name = 'mine'\nabout = 'x'\nstart = 'a'\nuse.q = 'quality.toml'\n\
                stages.a = { agent = 'writer', on.done = 'q-fix' }\n";
    let mine = definition(text, &QUALITY_FILES);
    assert_eq!(
        stages(&mine),
        [
            "q-fix",
            "q-review",
            "q-think",
            "q-tested",
            "q-stamped",
            "q-done",
            "q-lost",
            "a"
        ]
    );
    let promises: Vec<_> = mine
        .proofs
        .iter()
        .map(|proof| proof.name.as_str())
        .collect();
    assert_eq!(
        promises,
        [
            "q: a review comes after the work",
            "q: nothing untested is stamped"
        ]
    );
}

#[test]
fn one_definition_may_be_used_twice_and_through_another() {
    let text = "name = 'mine'\nabout = 'x'\nstart = 'b-fix'\n\
                use.a = { from = 'quality.toml' }\n\
                params.a-next.choices = ['a-tested']\n\
                use.b = { from = 'middle.toml', with = { done = 'a-fix', work = 'a-work', note = 'a-note', verdict = 'a-verdict' } }\n";
    let middle = "name = 'middle'\nextends = 'quality.toml'\nwithout = ['stages.think.after']\n\
                  stages.think.after = { critic = 'tested' }\n";
    let beside = [&QUALITY_FILES[..], &[("middle.toml", middle)]].concat();
    let compiled =
        compile(&gathered(text, &beside)).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let stages = stages(compiled.pipeline.definition()).join(" ");
    assert_eq!(
        stages,
        "a-fix a-review a-think a-tested a-stamped a-done a-lost b-fix b-review b-think b-tested b-stamped b-lost"
    );
}

/// Everything that a definition takes over is among the files that a run is pinned to.
#[test]
fn what_is_used_is_pinned_with_the_definition() {
    let sources = gathered("name = 'ours'\nextends = 'ansible'\n", &[]);
    let builtin = language::builtin::find("ansible").expect("it is built in");
    assert_eq!(sources.files["built-in:ansible"], builtin.text.as_bytes());
    let mut other = sources.clone();
    let text = builtin
        .text
        .replace("rounds of", "turns of")
        .replacen("max = ", "max = 1", 1);
    other.files.insert("built-in:ansible".into(), text.into());
    let pinned = |sources: &Sources| {
        compile(sources)
            .map(|it| it.pipeline.definition().counters.clone())
            .ok()
    };
    assert_ne!(
        pinned(&sources),
        pinned(&other),
        "the pinned bytes count, not the program's"
    );
}

const HEAD: &str = "name = 'mine'\nabout = 'x'\nstart = 'a'\nstages.a = { end = 'completed' }\n";

#[test]
fn a_pipeline_that_is_missing_is_named_at_its_place() {
    for (word, hint) in [
        ("multi-iai", "multi-ai"),
        ("base.toml", "next to"),
        ("../base.toml", "without a folder"),
        ("shared/base.toml", "without a folder"),
        ("zzzzzzzz", "context-first"),
    ] {
        let text = format!("extends = '{word}'\n{HEAD}");
        let beside = [("shared/base.toml", QUALITY), ("../base.toml", QUALITY)];
        check(&text, &beside, &[("GW-L140", &format!("'{word}'"))]);
        assert!(problems(&text, &beside)[0].hint.contains(hint), "{word}");
    }
    let text = format!("use.b = {{ from = 'gone.toml' }}\n{HEAD}");
    check(&text, &[], &[("GW-L140", "'gone.toml'")]);
}

#[test]
fn pipelines_that_use_one_another_are_refused() {
    let itself = ("mine.toml", "name = 'mine'\nextends = 'mine.toml'\n");
    check(itself.1, &[itself], &[("GW-L141", "'mine.toml'")]);
    let (a, b) = (
        "name = 'a'\nextends = 'b.toml'\n",
        "name = 'b'\nuse.x = 'a.toml'\n",
    );
    let beside = [("a.toml", a), ("b.toml", b)];
    check(a, &beside, &[("GW-L141", "'b.toml'")]);
    let chain: Vec<(String, String)> = (0..30)
        .map(|level| {
            (
                format!("c{level}.toml"),
                format!("name = 'c'\nextends = 'c{}.toml'\n", level + 1),
            )
        })
        .collect();
    let chain: Vec<(&str, &str)> = chain
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    check(
        "name = 'c'\nextends = 'c0.toml'\n",
        &chain,
        &[("GW-L141", "'c0.toml'")],
    );
}

#[test]
fn a_used_pipeline_with_problems_is_not_used() {
    for bad in [
        "[[[",
        "name = 'base'\n",
        "name = 'base'\nabout = 'x'\nstart = 's'\nstages.s = { agent = 'a', on.done = 't' }\n",
    ] {
        let text = format!("extends = 'base.toml'\n{HEAD}");
        check(&text, &[("base.toml", bad)], &[("GW-L142", "'base.toml'")]);
        let hint = &problems(&text, &[("base.toml", bad)])[0].hint;
        assert!(hint.contains("gatewright lint base.toml"), "{hint}");
    }
}

#[test]
fn what_the_used_pipeline_does_not_have_is_refused() {
    let of = |part: &str| format!("{part}\n{HEAD}");
    for (part, code, place) in [
        (
            "use.q = { from = 'quality.toml', stages = ['reviews'] }",
            "GW-L143",
            "'reviews'",
        ),
        (
            "use.q = { from = 'quality.toml', with = { doen = 'a' } }",
            "GW-L143",
            "'a'",
        ),
        (
            "use.q = { from = 'quality.toml', stages = ['review'] }",
            "GW-L144",
            "q",
        ),
        (
            "use.q = { from = 'quality.toml', stages = ['think', 'tested'] }",
            "GW-L144",
            "q",
        ),
        (
            "extends = 'quality.toml'\nwithout = ['stages.reviews']",
            "GW-L143",
            "'stages.reviews'",
        ),
        (
            "without = ['stages.reviews']",
            "GW-L143",
            "'stages.reviews'",
        ),
        ("extends = 3", "GW-L113", "3"),
        ("use = 'quality.toml'", "GW-L113", "'quality.toml'"),
        (
            "use.q = { stages = ['review'] }",
            "GW-L112",
            "{ stages = ['review'] }",
        ),
        (
            "use.q = { from = 'quality.toml', only = ['review'] }",
            "GW-L110",
            "only",
        ),
    ] {
        check(&of(part), &QUALITY_FILES, &[(code, place)]);
    }
}

#[test]
fn a_pipeline_has_a_name_of_its_own() {
    let problems = problems("extends = 'multi-ai'\n", &[]);
    let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["GW-L112"]);
}
