//! The page on loopback: who may read it, who may act on it, and what it shows.

mod acts;
mod alive;
mod attacks;
mod browser;
mod documentation;
mod fleet;
mod pages;
mod server;
