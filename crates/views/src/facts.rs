//! The facts of a run and of all runs that every screen shows: liveness, inbox, the way through the stages, evidence.
//!
//! `StatusView` is the model of one run and `list::RunRow` that of one of many. Both are filled from the types
//! here, so that text, JSON and pictures cannot disagree.

mod evidence;
mod inbox;
mod json;
mod liveness;
mod remark;
mod spine;
mod timeline;
mod ways;
mod worker_sign;

pub use crate::rest::{Rest, RestCause, RestKeeper};
pub use crate::undelivered::Undelivered;
pub use evidence::{CommandEvidence, FailedCheck, GateEvidence, GateState, ReviewEvidence, gates};
pub use inbox::{Inbox, InboxEntry};
pub(crate) use json::{gate_json, remark_json, visit_json};
pub use liveness::{Liveness, LostReason, OwnerSign, QUIET_AFTER, QuietReason, Signs};
pub use remark::{Remark, RemarkKind};
pub use spine::{LoopUse, SpineStage, StagePlace, spine};
pub use timeline::{Attempt, AttemptEnd, CheckAttempt, Left, RunSpan, Timeline, Visit, WaitSpan};
pub use ways::WayCounts;
pub use worker_sign::WorkerSign;
