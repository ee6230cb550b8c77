//! All statements, so that a test can ask SQLite for their query plans.

pub(super) const RUN: &str = "
    SELECT number, version, head, state, project, worktree, pipeline, definition
    FROM runs WHERE id = ?1";
pub(super) const ENTRY_HASH: &str = "SELECT hash FROM entries WHERE place = ?1";
/// The end of a run's journal, with the hash of the entry at its head.
pub(super) const TIP: &str = "
    SELECT r.number, r.version, r.head, e.hash
    FROM runs r LEFT JOIN entries e ON e.place = (r.number << 32) + r.version
    WHERE r.id = ?1";
pub(super) const NUMBER: &str = "SELECT number FROM runs WHERE id = ?1";
pub(super) const BEGUN_BY: &str = "SELECT id FROM runs WHERE project = ?1 AND begun_by = ?2";
pub(super) const KEYED: &str = "SELECT place FROM entries WHERE run = ?1 AND key = ?2";
pub(super) const LINES: &str = "
    SELECT place, decision, key, entry, previous, hash
    FROM entries WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
pub(super) const DEFINITION: &str = "SELECT number, main FROM definitions WHERE hash = ?1";
pub(super) const COMPILED: &str = "SELECT compiled FROM definitions WHERE hash = ?1";
pub(super) const DEFINITION_OF_RUN: &str =
    "SELECT hash, compiled FROM definitions WHERE number = ?1";
pub(super) const FILES: &str = "SELECT path, bytes FROM files WHERE definition = ?1";
pub(super) const CONTENT: &str = "SELECT bytes FROM contents WHERE hash = ?1";
pub(super) const HELD: &str = "
    SELECT c.hash FROM holds h JOIN contents c ON c.number = h.content WHERE h.run = ?1";
pub(super) const LEASE: &str = "SELECT last_fence, holder, until FROM leases WHERE run = ?1";

macro_rules! columns {
    ($rest:literal) => {
        concat!(
            "SELECT id, project, worktree, pipeline, task, stage, status, reason, driver,
                overridden, started_at, updated_at, version FROM runs ",
            $rest
        )
    };
}
pub(super) const RUNS: &str = columns!("ORDER BY started_at DESC, number DESC");
/// A store with many runs has few of these: the others are not read.
pub(super) const ACTIVE_RUNS: &str = columns!(
    "WHERE status NOT IN ('completed', 'failed', 'cancelled') ORDER BY started_at DESC, number DESC"
);
pub(super) const RUNS_OF_PROJECT: &str =
    columns!("WHERE project = ?1 ORDER BY started_at DESC, number DESC");
pub(super) const COLUMNS: &str = columns!("WHERE id = ?1");

pub(super) const ADD_RUN: &str = "
    INSERT INTO runs (id, project, worktree, pipeline, definition, begun_by, task, driver,
        started_at, stage, status, reason, overridden, updated_at, version, head, state)
    VALUES (?1, ?2, ?3, ?4, (SELECT number FROM definitions WHERE hash = ?5), ?6, ?7, ?8,
        ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
pub(super) const SET_RUN: &str = "
    UPDATE runs SET stage = ?2, status = ?3, reason = ?4, overridden = ?5, updated_at = ?6,
        version = ?7, head = ?8, state = ?9, task = ?10
    WHERE number = ?1";
pub(super) const ADD_LINE: &str = "
    INSERT INTO entries (place, decision, key, entry, previous, hash)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
pub(super) const ADD_DEFINITION: &str = "
    INSERT INTO definitions (hash, main, compiled) VALUES (?1, ?2, ?3)
    ON CONFLICT (hash) DO NOTHING";
pub(super) const ADD_FILE: &str = "INSERT INTO files (definition, path, bytes) VALUES (?1, ?2, ?3)";
pub(super) const SET_COMPILED: &str = "UPDATE definitions SET compiled = ?2 WHERE hash = ?1";
pub(super) const ADD_CONTENT: &str = "
    INSERT INTO contents (hash, added_at, bytes) VALUES (?1, ?2, ?3)
    ON CONFLICT (hash) DO UPDATE SET added_at = ?2 WHERE added_at < ?2";
/// A run holds a content only if it exists: most hashes in entries are those of trees.
pub(super) const HOLD: &str = "
    INSERT OR IGNORE INTO holds (run, content) SELECT ?1, number FROM contents WHERE hash = ?2";
pub(super) const SET_LEASE: &str = "
    INSERT INTO leases (run, last_fence, holder, until) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (run) DO UPDATE SET last_fence = ?2, holder = ?3, until = ?4";

/// The statements of a hook or an advance: none of them may scan more than its own rows.
#[cfg(test)]
pub(super) const HOT: &[&str] = &[
    RUN,
    ENTRY_HASH,
    TIP,
    NUMBER,
    BEGUN_BY,
    KEYED,
    LINES,
    DEFINITION,
    COMPILED,
    DEFINITION_OF_RUN,
    FILES,
    CONTENT,
    HELD,
    LEASE,
    COLUMNS,
    RUNS_OF_PROJECT,
    ADD_RUN,
    SET_RUN,
    ADD_LINE,
    ADD_DEFINITION,
    ADD_FILE,
    SET_COMPILED,
    ADD_CONTENT,
    HOLD,
    SET_LEASE,
];
