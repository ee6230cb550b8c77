//! Tables and stories: what every view shows of one pipeline that has every kind of stage.

mod briefings;
mod diagrams;
pub mod example;
pub mod facts;
mod hostile;
mod lines;
mod metrics;
mod nexts;
mod plans;
pub mod play;
mod progresses;
pub mod runs;
mod standings;
mod stories;
mod view_files;
