//! The page on loopback: runs and questions of every project in a browser, and the acts of a person who has the code.

mod acts;
mod bits;
mod fleet;
mod forms;
mod guard;
mod http;
mod live;
mod markdown;
mod page;
mod pages;
mod prometheus;
mod query;
mod reading;
mod run_list;
mod serve;
mod server;
mod site;
mod stamp;
mod topic;

pub use acts::Resume;
pub use serve::{Served, serve};
pub use server::Listener;
pub use site::Parts;
pub use topic::{HelpPicture, HelpTopic};
