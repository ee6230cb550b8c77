//! Tables and stories: what every view shows of one pipeline that has every kind of stage.

mod briefings;
mod diagrams;
mod example;
mod facts;
mod hostile;
mod lines;
mod metrics;
mod nexts;
mod plans;
mod progresses;
mod runs;
mod standings;
mod stories;
