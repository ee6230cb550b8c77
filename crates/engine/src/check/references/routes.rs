//! Routes name parameters and stages, and there are not too many of them.

use alloc::format;

use super::Names;
use crate::place;
use crate::problem::CheckRule;
use crate::route::RouteWork;
use crate::stage::{Stage, Work};

/// The graph has a node for each set of routes that a run may have taken.
const MOST_ROUTES: usize = 6;

impl Names<'_> {
    pub(super) fn routes(&mut self) {
        let stages = self.definition.stages.iter();
        let routes = stages.filter(|stage| matches!(stage.work, Work::Route(_)));
        let found = routes.count();
        if found > MOST_ROUTES {
            let message = format!("{found} routes are too many");
            let hint = format!("a pipeline has at most {MOST_ROUTES} routes");
            self.add(CheckRule::TooMany, place!["stages"], message, hint);
        }
    }

    pub(super) fn route(&mut self, stage: &Stage, work: &RouteWork) {
        let place = || place!["stages", stage.name, "route"];
        for rule in &work.rules {
            for param in rule.params.keys() {
                self.param(param, place());
            }
            for told in rule.verdicts.keys() {
                self.stage(told, place());
            }
        }
    }
}
