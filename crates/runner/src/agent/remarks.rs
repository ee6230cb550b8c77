//! What a person should read in the history about a process that has ended.

use engine::{Happening, SessionEvent, Who};
use runtime::failure::Failure;
use runtime::transact;
use runtime::workspace::OpenRun;

use super::listener::{ProcessReport, WorkerUpdate};
use super::work::Work;

impl Work<'_, '_> {
    pub(super) fn remark(
        &mut self,
        opened: &OpenRun,
        report: &ProcessReport,
    ) -> Result<(), Failure> {
        for message in self
            .refused_tools(report)
            .into_iter()
            .chain(self.fleet_cap(report))
        {
            (self.setup.updates)(WorkerUpdate::Void(message.clone()));
            let opened = self.workspace.read(&opened.run().id)?;
            let remarked = Happening::Session(SessionEvent::Remarked { message });
            transact::try_once(self.workspace, opened, &Who::Engine, remarked)?;
        }
        Ok(())
    }

    /// A program may refuse tools to its own agent. The person hears that, and not only what is missing then.
    fn refused_tools(&self, report: &ProcessReport) -> Option<String> {
        let tools = report.agent_output.refused_tools()?;
        let (program, dispatch) = (self.spec.runner.word(), &self.dispatch);
        Some(format!(
            "{program} did not allow {} '{}' to use {tools}: see its permission settings",
            dispatch.id, dispatch.agent
        ))
    }

    /// Why a turn ended in the middle.
    fn fleet_cap(&self, report: &ProcessReport) -> Option<String> {
        let (cap, dispatch) = (report.fleet_cap.as_ref()?, &self.dispatch);
        Some(format!("{} '{}' rests: {cap}", dispatch.id, dispatch.agent))
    }
}
