//! A plugin for Claude Code in a folder of its own, made from a pipeline.

use std::path::Path;

use hosts::claude::plugin::{self, Plugin};
use runtime::failure::Failure;

use super::host::PLUGIN;
use super::pipeline::PipelineToInstall;
use super::plan::{Change, Plan};
use super::record::FileKind;

/// Plans a plugin's files. The folder is new or empty, or holds a plugin of ours.
pub fn plan(folder: &Path, chosen: &PipelineToInstall) -> Result<Plan, Failure> {
    let mut plan = Plan::new(folder);
    refuse_others(folder)?;
    let name = &chosen.definition.name;
    let about = format!(
        "Gatewright's gates for Claude Code. {}",
        chosen.definition.about
    );
    let readme = readme(chosen);
    let described = Plugin {
        name: PLUGIN,
        version: env!("CARGO_PKG_VERSION"),
        about: &about,
        readme: &readme,
    };
    for (path, bytes) in plugin::files(&described, &chosen.given()) {
        plan.push(Change {
            before: plan.base.read(&path)?,
            path,
            kind: FileKind::Made,
            after: Some(bytes),
        });
    }
    plan.note(format!(
        "each machine needs gatewright on its PATH, and each project `gatewright init {name}`"
    ));
    Ok(plan)
}

fn refuse_others(folder: &Path) -> Result<(), Failure> {
    let listed = match std::fs::read_dir(folder) {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(Failure::file("look into", folder)(cause)),
        Ok(mut listed) => listed.next(),
    };
    let manifest = std::fs::read_to_string(folder.join(plugin::MANIFEST)).unwrap_or_default();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap_or_default();
    if listed.is_none() || manifest.get("name").is_some_and(|name| name == PLUGIN) {
        Ok(())
    } else {
        let message = format!(
            "{} is not empty and not a plugin of Gatewright",
            folder.display()
        );
        Err(Failure::refused(message).hint("choose a new folder"))
    }
}

fn readme(chosen: &PipelineToInstall) -> String {
    let name = &chosen.definition.name;
    let about = &chosen.definition.about;
    format!(
        "# Gatewright: {name}\n\n{about}\n\n\
         This plugin puts Gatewright into the hooks of Claude Code. In a project in which a pipeline is \
         installed, each agent is admitted when its turn has come, what it leaves is checked, and the \
         session does not stop before the work is done. Elsewhere the hooks say nothing.\n\n\
         Gatewright itself is a program of its own. Install it so that `gatewright` is found on the \
         PATH; where it is not, the hooks do nothing. Then type `gatewright init {name}` in your \
         project, and `gatewright doctor` to see that it works.\n"
    )
}
