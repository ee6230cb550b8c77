//! `sessions`: every session that held the run or worked for it, one a line.

use engine::{Fact, SessionId};

use crate::file::Material;

pub fn sessions(material: &Material<'_>) -> String {
    let mut seen: Vec<&SessionId> = Vec::new();
    for (_, entry) in material.entries {
        let session = match &entry.fact {
            Fact::Started(started) => started.session.as_ref(),
            Fact::Attached { session, .. } => Some(session),
            Fact::Admitted { dispatch } => dispatch.session.as_ref(),
            _ => None,
        };
        match session {
            Some(session) if !seen.contains(&session) => seen.push(session),
            Some(_) | None => {}
        }
    }
    seen.iter().map(|session| format!("{session}\n")).collect()
}
