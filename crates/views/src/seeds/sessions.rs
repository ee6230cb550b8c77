//! `sessions`: every session that held the run or worked for it, one a line.

use crate::file::Material;

pub fn sessions(material: &Material<'_>) -> String {
    let sessions = material.chronicle.sessions.iter();
    sessions.map(|session| format!("{session}\n")).collect()
}
