//! An owner that freezes or dies is shown so on an open page, without a reload; a store that vanishes, too.

use std::fs;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use testkit::Project;
use testkit::browser::Browser;
use testkit::pipelines::SCRIPTED;

use super::super::server::Served;
use crate::fixture::{PROGRAM, RUN, started};

/// A process that drives a run. It is killed when this goes.
pub(super) struct Owner(Child);

impl Owner {
    /// Begins a run whose worker takes its time.
    pub(super) fn start(project: &Project, run: &str, task: &str) -> Self {
        project.write("scripted.toml", SCRIPTED);
        project.write("worker.sh", "#!/bin/sh\necho I begin\nsleep 600\n");
        project.trust("scripted.toml");
        let mut command = project.command(["run", "scripted.toml", "--task", task, "--id", run]);
        command.stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.0);
        kill_process(pid, signal).unwrap();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_owner_that_freezes_wakes_up_and_is_killed_is_shown_so_on_an_open_page() {
    let project = Project::with_git(PROGRAM);
    let mut owner = Owner::start(&project, RUN, "take your time");
    let served = Served::start(&project);
    let Served { port, key, .. } = &served;
    let (mut runs, mut run) = (Browser::start(), Browser::start());
    runs.open(&format!("http://127.0.0.1:{port}/{key}/"));
    run.open(&format!("http://127.0.0.1:{port}/{key}/run/{RUN}"));
    // Nobody opens a page again from here on.
    let mut shows = |sign: &str| {
        runs.wait_for(&format!(
            "document.querySelector('#active .{sign}') !== null"
        ));
        run.wait_for(&format!("document.querySelector('#head .{sign}') !== null"));
    };
    shows("is-live");
    owner.signal(Signal::STOP);
    shows("is-quiet");
    owner.signal(Signal::CONT);
    shows("is-live");
    owner.0.kill().unwrap();
    owner.0.wait().unwrap();
    shows("is-lost");
    run.wait_for("document.querySelector('#verdict form[data-act=resume]') !== null");
}

#[test]
fn a_store_that_vanishes_leaves_nothing_of_it_on_an_open_page() {
    let project = started();
    let served = Served::start(&project);
    let Served { port, key, .. } = &served;
    let mut browser = Browser::start();
    browser.open(&format!("http://127.0.0.1:{port}/{key}/run/{RUN}"));
    browser.wait_for("document.querySelector('#verdict') !== null");
    let aside = project.state_home().join("aside");
    fs::rename(project.state(), &aside).unwrap();
    browser.wait_for("document.querySelector('#failure') !== null");
    browser.wait_for("document.querySelector('#verdict') === null");
    fs::rename(&aside, project.state()).unwrap();
    browser.wait_for("document.querySelector('#verdict') !== null");
    browser.wait_for("document.querySelector('#failure') === null");
}
