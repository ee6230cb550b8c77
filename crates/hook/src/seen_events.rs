//! Which kinds of events have reached a hook, and when: `doctor` reads it.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;

use hosts::Event;
use runtime::state::State;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};

/// This moment, as the system has it.
const NOW: Timestamps = {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    Timestamps {
        last_access: now,
        last_modification: now,
    }
};

/// Leaves a sign of life of this kind of event, which `doctor` reads. Nothing depends on it.
pub(super) fn note(state: &State, event: Event) {
    let folder = state.folder().join("seen");
    let path = folder.join(event.word());
    let touched = utimensat(CWD, &path, &NOW, AtFlags::empty());
    if touched.is_err() {
        let _ = fs::DirBuilder::new().mode(0o700).create(&folder);
        let _ = fs::File::create(&path);
    }
}
