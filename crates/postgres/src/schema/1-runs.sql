-- Runs, their journals, leases and contents. Times are milliseconds since 1970 by the clock of whoever acted,
-- except those of leases, machines and the queue: they are the database's.

CREATE SCHEMA gatewright;

CREATE TABLE gatewright.versions (version integer PRIMARY KEY);

CREATE TABLE gatewright.definitions (
    hash     bytea PRIMARY KEY,
    main     text NOT NULL,
    compiled bytea NOT NULL
);

CREATE TABLE gatewright.definition_files (
    definition bytea NOT NULL REFERENCES gatewright.definitions (hash) ON DELETE CASCADE,
    path       text NOT NULL,
    bytes      bytea NOT NULL,
    PRIMARY KEY (definition, path)
);

CREATE TABLE gatewright.runs (
    id           text PRIMARY KEY,
    number       bigint GENERATED ALWAYS AS IDENTITY,
    project      text NOT NULL,
    worktree     text NOT NULL,
    pipeline     text NOT NULL,
    definition   bytea NOT NULL REFERENCES gatewright.definitions (hash),
    begun_by     text,
    task         text NOT NULL,
    driver       text NOT NULL,
    started_at   bigint NOT NULL,
    stage        text NOT NULL,
    status       text NOT NULL,
    reason       text,
    overridden   boolean NOT NULL,
    updated_at   bigint NOT NULL,
    version      bigint NOT NULL,
    head         bytea NOT NULL,
    state        bytea NOT NULL,
    last_fence   bigint NOT NULL DEFAULT 0,
    -- The claim that got this fence. A fence can be given again after a fail-over to a replica that was behind; a claim
    -- cannot.
    last_claim   bytea NOT NULL DEFAULT '',
    lease_holder text,
    lease_until  bigint
);
CREATE INDEX runs_of_project ON gatewright.runs (project);
CREATE UNIQUE INDEX runs_begun_by ON gatewright.runs (project, begun_by) WHERE begun_by IS NOT NULL;

CREATE TABLE gatewright.entries (
    run      text NOT NULL REFERENCES gatewright.runs (id) ON DELETE CASCADE,
    number   bigint NOT NULL,
    decision bigint NOT NULL,
    key      text,
    entry    text NOT NULL,
    previous bytea NOT NULL,
    hash     bytea NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE UNIQUE INDEX entries_by_key ON gatewright.entries (run, key) WHERE key IS NOT NULL;

CREATE TABLE gatewright.contents (
    hash     bytea PRIMARY KEY,
    added_at bigint NOT NULL,
    bytes    bytea NOT NULL
);

CREATE TABLE gatewright.holds (
    run     text NOT NULL REFERENCES gatewright.runs (id) ON DELETE CASCADE,
    content bytea NOT NULL,
    PRIMARY KEY (run, content)
);
CREATE INDEX holds_of_content ON gatewright.holds (content);

CREATE FUNCTION gatewright.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER entries_stay_as_they_are BEFORE UPDATE OR TRUNCATE ON gatewright.entries
    EXECUTE FUNCTION gatewright.refuse('a journal entry is never changed');

CREATE FUNCTION gatewright.entry_goes_with_its_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM gatewright.runs WHERE id = OLD.run) THEN
        RAISE EXCEPTION 'a journal entry goes only with its whole run' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER entries_stay BEFORE DELETE ON gatewright.entries
    FOR EACH ROW EXECUTE FUNCTION gatewright.entry_goes_with_its_run();

CREATE TRIGGER runs_stay BEFORE DELETE ON gatewright.runs FOR EACH ROW
    WHEN (OLD.status NOT IN ('completed', 'failed', 'cancelled') OR OLD.lease_holder IS NOT NULL)
    EXECUTE FUNCTION gatewright.refuse('only a run that is over goes');

-- The database's clock.
CREATE FUNCTION gatewright.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- Acknowledged means durable, whatever the server's default is.
CREATE FUNCTION gatewright.durably() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
END $$;

-- Stores contents and lets the run hold them, with those that its entries name.
CREATE FUNCTION gatewright.hold(in_run text, in_at bigint, in_hashes bytea[], in_bytes bytea[], in_named bytea[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- In one order for everybody, so that two writers cannot wait for each other.
    INSERT INTO gatewright.contents AS c (hash, added_at, bytes)
        SELECT given.hash, in_at, given.bytes FROM unnest(in_hashes, in_bytes) AS given (hash, bytes)
        ORDER BY given.hash
        ON CONFLICT (hash) DO UPDATE SET added_at = greatest(c.added_at, EXCLUDED.added_at);
    INSERT INTO gatewright.holds (run, content)
        SELECT in_run, hash FROM gatewright.contents WHERE hash = ANY (in_named || in_hashes)
        ON CONFLICT DO NOTHING;
END $$;

-- Stores a new run, or says why not: `begun`, `earlier` with the run that the key began, or `exists`.
CREATE FUNCTION gatewright.begin_run(
    in_run text, in_project text, in_worktree text, in_pipeline text, in_key text,
    in_task text, in_driver text, in_started_at bigint, in_stage text, in_status text, in_reason text,
    in_overridden boolean, in_updated_at bigint, in_version bigint, in_head bytea, in_state bytea,
    in_definition bytea, in_main text, in_compiled bytea, in_paths text[], in_files bytea[],
    in_root bytea, in_decisions bigint[], in_keys text[], in_entries text[], in_hashes bytea[],
    in_content_hashes bytea[], in_contents bytea[], in_named bytea[],
    OUT answer text, OUT earlier text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gatewright.durably();
    SELECT id INTO earlier FROM gatewright.runs WHERE project = in_project AND begun_by = in_key;
    IF FOUND THEN
        answer := 'earlier';
        RETURN;
    END IF;
    -- The row is locked, so that nobody collects it before the run refers to it.
    INSERT INTO gatewright.definitions (hash, main, compiled) VALUES (in_definition, in_main, in_compiled)
        ON CONFLICT (hash) DO UPDATE SET main = EXCLUDED.main;
    INSERT INTO gatewright.definition_files (definition, path, bytes)
        SELECT in_definition, given.path, given.bytes FROM unnest(in_paths, in_files) AS given (path, bytes)
        ON CONFLICT DO NOTHING;
    INSERT INTO gatewright.runs (id, project, worktree, pipeline, definition, begun_by, task, driver, started_at,
            stage, status, reason, overridden, updated_at, version, head, state)
        VALUES (in_run, in_project, in_worktree, in_pipeline, in_definition, in_key, in_task, in_driver, in_started_at,
            in_stage, in_status, in_reason, in_overridden, in_updated_at, in_version, in_head, in_state)
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        SELECT id INTO earlier FROM gatewright.runs WHERE project = in_project AND begun_by = in_key;
        answer := CASE WHEN FOUND THEN 'earlier' ELSE 'exists' END;
        RETURN;
    END IF;
    INSERT INTO gatewright.entries (run, number, decision, key, entry, previous, hash)
        SELECT in_run, i, in_decisions[i], in_keys[i], in_entries[i],
            CASE WHEN i = 1 THEN in_root ELSE in_hashes[i - 1] END, in_hashes[i]
        FROM generate_subscripts(in_entries, 1) AS i;
    PERFORM gatewright.hold(in_run, in_updated_at, in_content_hashes, in_contents, in_named);
    answer := 'begun';
END $$;

-- The only way to advance a run: compare-and-set, fence, entries, contents and state in one statement.
-- The answer is `stored`, `repeated`, `fenced`, `moved`, `altered` or `unknown`. `in_again` says that the
-- caller lost the connection and does not know whether it was stored.
CREATE FUNCTION gatewright.append(
    in_run text, in_seen bigint, in_seen_head bytea, in_key text, in_fence bigint, in_claim bytea, in_again boolean,
    in_entries text[], in_hashes bytea[],
    in_task text, in_stage text, in_status text, in_reason text, in_overridden boolean, in_updated_at bigint,
    in_state bytea, in_content_hashes bytea[], in_contents bytea[], in_named bytea[],
    OUT answer text, OUT now_version bigint, OUT now_fence bigint, OUT now_claim bytea)
LANGUAGE plpgsql AS $$
DECLARE
    present gatewright.runs;
    added integer := cardinality(in_entries);
BEGIN
    PERFORM gatewright.durably();
    SELECT * INTO present FROM gatewright.runs WHERE id = in_run FOR UPDATE;
    IF NOT FOUND THEN
        answer := 'unknown';
        RETURN;
    END IF;
    now_version := present.version;
    now_fence := present.last_fence;
    now_claim := present.last_claim;
    answer := CASE
        WHEN in_again AND added > 0 AND EXISTS (SELECT 1 FROM gatewright.entries
            WHERE run = in_run AND number = in_seen + added AND hash = in_hashes[added]) THEN 'stored'
        WHEN EXISTS (SELECT 1 FROM gatewright.entries WHERE run = in_run AND key = in_key) THEN 'repeated'
        WHEN in_fence IS NOT NULL AND (present.lease_holder IS NULL OR present.last_fence <> in_fence
            OR present.last_claim <> in_claim) THEN 'fenced'
        WHEN present.version <> in_seen THEN 'moved'
        WHEN present.head <> in_seen_head THEN 'altered'
        WHEN added = 0 THEN 'stored'
    END;
    IF answer IS NOT NULL THEN
        RETURN;
    END IF;
    INSERT INTO gatewright.entries (run, number, decision, key, entry, previous, hash)
        SELECT in_run, in_seen + i, in_seen + 1, CASE WHEN i = 1 THEN in_key END, in_entries[i],
            CASE WHEN i = 1 THEN in_seen_head ELSE in_hashes[i - 1] END, in_hashes[i]
        FROM generate_subscripts(in_entries, 1) AS i;
    PERFORM gatewright.hold(in_run, in_updated_at, in_content_hashes, in_contents, in_named);
    UPDATE gatewright.runs SET task = in_task, stage = in_stage, status = in_status, reason = in_reason,
            overridden = in_overridden, updated_at = in_updated_at, version = in_seen + added,
            head = in_hashes[added], state = in_state
        WHERE id = in_run;
    now_version := in_seen + added;
    answer := 'stored';
END $$;

-- What no other claim has, in this database or in one that takes over from it.
CREATE FUNCTION gatewright.new_claim() RETURNS bytea LANGUAGE sql VOLATILE AS $$ SELECT uuid_send(gen_random_uuid()) $$;

-- Takes, extends or releases the lease of a run. The answer is `leased`, `held`, `fenced` or `unknown`, with
-- the lease as it is afterwards, or before a release. Fence and claim are those of the lease that the caller has, or
-- whose holder it knows to be dead.
CREATE FUNCTION gatewright.claim(
    in_run text, in_kind text, in_holder text, in_fence bigint, in_claim bytea, in_term bigint,
    OUT answer text, OUT holder text, OUT fence bigint, OUT claim bytea, OUT until bigint, OUT is_expired boolean)
LANGUAGE plpgsql AS $$
DECLARE
    present gatewright.runs;
    now_is bigint;
BEGIN
    PERFORM gatewright.durably();
    SELECT * INTO present FROM gatewright.runs WHERE id = in_run FOR UPDATE;
    IF NOT FOUND THEN
        answer := 'unknown';
        RETURN;
    END IF;
    -- After the lock: whoever waited long is judged by the time at which it is its turn.
    now_is := gatewright.now_ms();
    holder := present.lease_holder;
    fence := present.last_fence;
    claim := present.last_claim;
    until := present.lease_until;
    IF in_kind = 'acquire' THEN
        IF holder IS NOT NULL AND until > now_is AND holder <> in_holder
                AND (in_fence, in_claim) IS DISTINCT FROM (fence, claim) THEN
            answer := 'held';
        ELSE
            holder := in_holder;
            fence := fence + 1;
            claim := gatewright.new_claim();
            until := now_is + in_term;
        END IF;
    ELSIF holder IS NULL OR fence <> in_fence OR claim <> in_claim THEN
        answer := 'fenced';
    ELSIF in_kind = 'renew' THEN
        until := now_is + in_term;
    END IF;
    is_expired := until <= now_is;
    IF answer IS NOT NULL THEN
        RETURN;
    END IF;
    UPDATE gatewright.runs SET last_fence = fence, last_claim = claim,
            lease_holder = CASE WHEN in_kind = 'release' THEN NULL ELSE holder END,
            lease_until = CASE WHEN in_kind = 'release' THEN NULL ELSE until END
        WHERE id = in_run;
    answer := 'leased';
END $$;
