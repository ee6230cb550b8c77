//! The recipes of `examples`: whole pipelines that people ask for.

use super::{Naming, Template};

/// A file of a recipe, by its path in the folder of the recipe.
macro_rules! file {
    ($recipe:literal, $path:literal) => {
        (
            $path,
            include_str!(concat!("../../../../examples/", $recipe, "/", $path)),
        )
    };
}

/// A recipe, with the files beside its definition.
macro_rules! recipe {
    ($name:literal, $about:literal, $($path:literal),+) => {
        Template {
            name: $name,
            about: $about,
            main: concat!($name, ".toml"),
            text: include_str!(concat!("../../../../examples/", $name, "/", $name, ".toml")),
            files: &[$(file!($name, $path)),+],
            naming: Naming::Whole,
        }
    };
}

pub(super) const ALL: &[Template] = &[
    recipe!(
        "tdd",
        "Write tests that fail, then the code that makes them pass.",
        "agents/coder.md",
        "agents/tester.md",
        "commands/tdd-answer.md",
        "commands/tdd.md"
    ),
    recipe!(
        "plan-first",
        "Plan the work, have a person approve the plan, then write the code and test it.",
        "agents/builder.md",
        "agents/planner.md",
        "commands/plan-first-answer.md",
        "commands/plan-first.md"
    ),
    recipe!(
        "two-vendors",
        "Have the work reviewed by models of two vendors, until both approve it.",
        "agents/author.md",
        "agents/reviewer.md",
        "commands/two-vendors-answer.md",
        "commands/two-vendors.md"
    ),
    recipe!(
        "docs-too",
        "Write the code and its documentation, test them, and have them compared.",
        "agents/comparer.md",
        "agents/developer.md",
        "agents/documenter.md",
        "commands/docs-too-answer.md",
        "commands/docs-too.md"
    ),
    recipe!(
        "small-change",
        "Give small changes a short way and everything else a plan and a review.",
        "agents/small-builder.md",
        "agents/small-planner.md",
        "agents/small-reviewer.md",
        "commands/small-change-answer.md",
        "commands/small-change.md"
    ),
];
