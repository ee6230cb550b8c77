//! The hooks of plugins that are switched on: the host calls them beside ours.

use std::path::{Path, PathBuf};

use hosts::claude::plugin;
use hosts::settings::Settings;
use runtime::environment::Environment;

use super::settings_files::{self, HostSettingsFile};

/// Every readable file with hooks of a plugin that one of these settings files switches on.
pub(crate) fn look(
    environment: &Environment,
    places: &[HostSettingsFile],
) -> Vec<(PathBuf, Settings)> {
    let settings = places.iter().filter_map(HostSettingsFile::settings);
    let mut enabled: Vec<&str> = settings.flat_map(Settings::enabled_plugins).collect();
    enabled.sort_unstable();
    enabled.dedup();
    let Some(folder) = environment
        .settings_folder()
        .filter(|_| !enabled.is_empty())
    else {
        return Vec::new();
    };
    let list = read(&folder.join(plugin::INSTALLED));
    let folders = enabled
        .iter()
        .flat_map(|name| plugin::folders(&list, name))
        .map(PathBuf::from);
    folders.flat_map(|folder| in_plugin(&folder)).collect()
}

fn in_plugin(folder: &Path) -> Vec<(PathBuf, Settings)> {
    let files = plugin::hook_files(&read(&folder.join(plugin::MANIFEST)));
    let files = files.into_iter().map(|file| folder.join(file));
    let read = files.filter_map(|path| Some((Settings::parse(&read(&path)).ok()?, path)));
    read.map(|(settings, path)| (path, settings)).collect()
}

/// What cannot be read has no hooks for the host either.
fn read(path: &Path) -> Vec<u8> {
    settings_files::read(path)
        .ok()
        .flatten()
        .unwrap_or_default()
}
