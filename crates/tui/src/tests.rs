//! The pictures of played runs, at several sizes, and what the keys do.

mod acting;
mod pictures;
mod played;
mod restored;
mod texts;
