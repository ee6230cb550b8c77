//! The pictures of one pipeline, whole.

use engine::Pipeline;
use expect_test::expect;

use super::example::{definition, pipeline, run_in};
use crate::diagram::{dot, mermaid, text};
use crate::layout::width;

#[test]
fn a_drawing_for_the_terminal() {
    expect![[r#"
        showcase
        Every kind of stage in one pipeline.
        14 stages · a command starts a run · enforced · ▶ start · ■ end · ↺ goes back

        ▶ gathering   open    any of gatherer, language
                              gatherer leaves context
            ├ finish         → planning
            └ after gatherer → planning

          planning    agent   planner (by claude, opus)
                              reads context?, answers? · leaves plan · when unclear leaves questions
            ├ done    → approving
            └ unclear → clarifying

          clarifying  ask     “The planner has questions.”
                              questions of questions.open
                              leaves answers
            └ answered ↺ planning · counts replans, past 3 → escalate

          approving   ask     “Is this the plan?”
            ├ no  ↺ planning · counts replans, past 3 → escalate
            └ yes → building · approves plan

          building    steps   steps of plan.steps
                              by language
                              ≤ 2 at once
                              reads plan · each leaves built
            ├ done   → validating
            └ failed → escalate

          validating  agent   validator
                              reads plan, fixed? · leaves validated
            ├ failed → debugging · counts fixes, past 2 → escalate
            └ passed → linting

          debugging   agent   debugger (same conversation)
                              reads validated · leaves fixed
            └ done ↺ validating

          linting     check   $ ansible-lint {target}
                              $ yamllint .
                              shown as validating
            ├ failed ↺ debugging · counts fixes, past 2 → escalate
            └ passed → reviewing

          reviewing   review  code-reviewer, then codex-reviewer (the last word, by codex) judge the tree
                              debugger fixes, ≤ 3 rounds
                              reads plan · a fix leaves fixed
            ├ approved            → tidying
            ├ exceeded            → escalate
            └ needs_clarification → escalate

          tidying     agent   the session itself
            └ done → complete or abandoned (by {finish})

          escalate    ask     “It does not get better. Continue, or stop?”
            ├ continue ↺ back to where it was going: planning or building or debugging or reviewing ·
            │     resets fixes
            ├ give-up  → broken
            └ stop     → abandoned

        ■ complete    end     completed
            └ after gatherer ↺ planning

        ■ abandoned   end     cancelled

        ■ broken      end     failed

        group   language: bash-*, python-*
        proved  nothing completes unreviewed
    "#]].assert_eq(&text(&pipeline(), None));
}

#[test]
fn a_mermaid_flowchart() {
    expect![[r#"
        ---
        title: "showcase"
        ---
        flowchart TD
          begin((start))
          s0(["gathering · open<br/>any of gatherer, language"])
          s1["planning · agent<br/>planner (by claude, opus)"]
          s2[/"clarifying · ask<br/>“The planner has questions.”<br/>questions of questions.open"/]
          s3[/"approving · ask<br/>“Is this the plan?”"/]
          s4[("building · steps<br/>steps of plan.steps<br/>by language<br/>≤ 2 at once")]
          s5["validating · agent<br/>validator"]
          s6["debugging · agent<br/>debugger (same conversation)"]
          s7{{"linting · check<br/>#36; ansible-lint {target}<br/>#36; yamllint ."}}
          s8[["reviewing · review<br/>code-reviewer, then codex-reviewer<br/>(the last word, by codex) judge the<br/>tree<br/>debugger fixes, ≤ 3 rounds"]]
          s9["tidying · agent<br/>the session itself"]
          s10[/"escalate · ask<br/>“It does not get better. Continue,<br/>or stop?”"/]
          s11((("complete · end<br/>completed")))
          s12((("abandoned · end<br/>cancelled")))
          s13((("broken · end<br/>failed")))
          begin --> s0
          s0 -->|"finish"| s1
          s0 -->|"after gatherer"| s1
          s1 -->|"done"| s3
          s1 -->|"unclear"| s2
          s2 -->|"answered · replans ≤ 3"| s1
          s2 -.->|"replans #62; 3"| s10
          s3 -->|"no · replans ≤ 3"| s1
          s3 -->|"yes · approves plan"| s4
          s3 -.->|"replans #62; 3"| s10
          s4 -->|"done"| s5
          s4 -->|"failed"| s10
          s5 -->|"failed · fixes ≤ 2"| s6
          s5 -->|"passed"| s7
          s5 -.->|"fixes #62; 2"| s10
          s6 -->|"done"| s5
          s7 -->|"failed · fixes ≤ 2"| s6
          s7 -->|"passed"| s8
          s7 -.->|"fixes #62; 2"| s10
          s8 -->|"approved"| s9
          s8 -->|"exceeded"| s10
          s8 -->|"needs_clarification"| s10
          s9 -->|"done · finish = complete"| s11
          s9 -->|"done · finish = abandoned"| s12
          s10 -.->|"continue · resets fixes · #64;interrupted"| s1
          s10 -.->|"continue · resets fixes · #64;interrupted"| s4
          s10 -.->|"continue · resets fixes · #64;interrupted"| s6
          s10 -.->|"continue · resets fixes · #64;interrupted"| s8
          s10 -->|"give-up"| s13
          s10 -->|"stop"| s12
          s11 -->|"after gatherer"| s1
          classDef person stroke-dasharray:4 3
          classDef completed stroke:#2e7d32,stroke-width:2px
          classDef failed stroke:#c62828,stroke-width:2px
          classDef cancelled stroke:#757575,stroke-width:2px
          classDef here stroke:#ef6c00,stroke-width:4px
          class s2 person
          class s3 person
          class s10 person
          class s11 completed
          class s12 cancelled
          class s13 failed
    "#]].assert_eq(&mermaid(&pipeline(), None));
}

#[test]
fn a_graphviz_graph() {
    expect![[r##"
        digraph "showcase" {
          node [fontname="sans-serif"];
          edge [fontname="sans-serif", fontsize=10];
          begin [shape=point, width=0.2, xlabel="start"];
          s0 [label="gathering · open\nany of gatherer, language", shape=box, style=rounded];
          s1 [label="planning · agent\nplanner (by claude, opus)", shape=box];
          s2 [label="clarifying · ask\n“The planner has questions.”\nquestions of questions.open", shape=parallelogram];
          s3 [label="approving · ask\n“Is this the plan?”", shape=parallelogram];
          s4 [label="building · steps\nsteps of plan.steps\nby language\n≤ 2 at once", shape=box3d];
          s5 [label="validating · agent\nvalidator", shape=box];
          s6 [label="debugging · agent\ndebugger (same conversation)", shape=box];
          s7 [label="linting · check\n$ ansible-lint {target}\n$ yamllint .", shape=hexagon];
          s8 [label="reviewing · review\ncode-reviewer, then codex-reviewer\n(the last word, by codex) judge the\ntree\ndebugger fixes, ≤ 3 rounds", shape=box, peripheries=2];
          s9 [label="tidying · agent\nthe session itself", shape=box];
          s10 [label="escalate · ask\n“It does not get better. Continue,\nor stop?”", shape=parallelogram];
          s11 [label="complete · end\ncompleted", shape=doubleoctagon, color="#2e7d32"];
          s12 [label="abandoned · end\ncancelled", shape=doubleoctagon, color="#757575"];
          s13 [label="broken · end\nfailed", shape=doubleoctagon, color="#c62828"];
          begin -> s0;
          s0 -> s1 [label="finish"];
          s0 -> s1 [label="after gatherer"];
          s1 -> s3 [label="done"];
          s1 -> s2 [label="unclear"];
          s2 -> s1 [label="answered · replans ≤ 3"];
          s2 -> s10 [label="replans > 3", style=dashed];
          s3 -> s1 [label="no · replans ≤ 3"];
          s3 -> s4 [label="yes · approves plan"];
          s3 -> s10 [label="replans > 3", style=dashed];
          s4 -> s5 [label="done"];
          s4 -> s10 [label="failed"];
          s5 -> s6 [label="failed · fixes ≤ 2"];
          s5 -> s7 [label="passed"];
          s5 -> s10 [label="fixes > 2", style=dashed];
          s6 -> s5 [label="done"];
          s7 -> s6 [label="failed · fixes ≤ 2"];
          s7 -> s8 [label="passed"];
          s7 -> s10 [label="fixes > 2", style=dashed];
          s8 -> s9 [label="approved"];
          s8 -> s10 [label="exceeded"];
          s8 -> s10 [label="needs_clarification"];
          s9 -> s11 [label="done · finish = complete"];
          s9 -> s12 [label="done · finish = abandoned"];
          s10 -> s1 [label="continue · resets fixes · @interrupted", style=dashed];
          s10 -> s4 [label="continue · resets fixes · @interrupted", style=dashed];
          s10 -> s6 [label="continue · resets fixes · @interrupted", style=dashed];
          s10 -> s8 [label="continue · resets fixes · @interrupted", style=dashed];
          s10 -> s13 [label="give-up"];
          s10 -> s12 [label="stop"];
          s11 -> s1 [label="after gatherer"];
        }
    "##]].assert_eq(&dot(&pipeline(), None));
}

#[test]
fn the_present_stage_is_marked_once_in_every_picture() {
    let run = run_in("linting");
    for picture in [
        text(&pipeline(), Some(&run)),
        mermaid(&pipeline(), Some(&run)),
        dot(&pipeline(), Some(&run)),
    ] {
        let marked: Vec<_> = picture
            .lines()
            .filter(|line| line.contains("◀ here"))
            .collect();
        assert_eq!(marked.len(), 1, "{picture}");
        assert!(marked[0].contains("linting"), "{picture}");
    }
}

#[test]
fn a_run_fills_in_what_its_parameters_say() {
    let mut run = run_in("linting");
    run.params
        .insert(super::example::param_name("limit"), "7".to_owned());
    run.params
        .insert(super::example::param_name("finish"), "abandoned".to_owned());
    let drawing = text(&pipeline(), Some(&run));
    assert!(
        drawing.contains("counts replans, past 7 → escalate"),
        "{drawing}"
    );
    assert!(
        drawing.contains("done → abandoned (by {finish})"),
        "{drawing}"
    );
}

#[test]
fn long_names_do_not_make_a_drawing_wider_than_a_screen() {
    let mut definition = definition();
    let long = "n".repeat(64);
    definition.about = "many words ".repeat(30);
    for stage in &mut definition.stages {
        if let engine::Work::Agent(work) = &mut stage.work {
            work.worker = engine::Worker::Agent(super::example::agent_name(&long));
        }
    }
    let renamed = super::example::stage_name(&long);
    definition.stages[1].name = renamed.clone();
    let run = run_in(&long);
    let drawing = text(&Pipeline::from_cache(definition), Some(&run));
    for line in drawing.lines() {
        assert!(width(line) <= 100, "{line}");
    }
}

#[test]
fn the_other_beginning_is_drawn_where_steps_may_be_given() {
    let mut definition = definition();
    let pictures = |definition: &engine::Definition| {
        let pipeline = Pipeline::from_cache(definition.clone());
        [
            mermaid(&pipeline, None),
            dot(&pipeline, None),
            text(&pipeline, None),
        ]
    };
    for picture in pictures(&definition) {
        assert!(!picture.contains("with steps") && !picture.contains("given at start"));
    }
    for stage in &mut definition.stages {
        if let engine::Work::Steps(work) = &mut stage.work
            && let Some(field) = work.source.field().cloned()
        {
            work.source = engine::StepsSource::ArtifactOrStart(field);
        }
    }
    let [mermaid, dot, text] = pictures(&definition);
    assert!(
        mermaid.contains("  begin -->|\"with steps\"| s"),
        "{mermaid}"
    );
    assert!(dot.contains(" [label=\"with steps\"];\n"), "{dot}");
    assert!(
        text.contains("steps of plan.steps, or given at start"),
        "{text}"
    );
}
