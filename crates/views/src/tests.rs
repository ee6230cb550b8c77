//! Tables and stories: what every view shows of one pipeline that has every kind of stage.

mod asked_about;
mod briefings;
mod causes;
mod chart_pictures;
mod diagrams;
pub(crate) mod example;
pub(crate) mod facts;
mod gantts;
mod hostile;
mod lines;
mod metrics;
mod nexts;
mod pictures;
mod plans;
pub(crate) mod play;
mod progresses;
mod reports;
pub(crate) mod runs;
mod standings;
mod stories;
mod timelines;
mod view_files;
