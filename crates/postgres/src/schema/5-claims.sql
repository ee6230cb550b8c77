-- What counts for one claim of a run: its lease, its spending, and how its worker lets go of the run. What machines and
-- their workers tell about themselves, and about the guarded runs that they ship.
--
-- Who changes both rows of a run locks that of `runs` first, and then looks at fence and claim: an UPDATE that waits for
-- a row of `queue` would see the other row as it was before.

-- Takes the first queued run that this worker may take, as before, and none of those that it drives already.
DROP FUNCTION gatewright.claim_queued(text, text[], bigint, integer);
CREATE FUNCTION gatewright.claim_queued(
    in_holder text, in_labels text[], in_term bigint, in_most_tries integer, in_driven text[] DEFAULT '{}',
    OUT run text, OUT holder text, OUT fence bigint, OUT claim bytea, OUT until bigint, OUT settings text,
    OUT tree text)
LANGUAGE plpgsql AS $$
DECLARE
    candidate record;
    now_is bigint := gatewright.now_ms();
BEGIN
    PERFORM gatewright.durably();
    FOR candidate IN
        SELECT q.run, q.account, q.tries FROM gatewright.queue_now q
        WHERE q.set_aside IS NULL AND q.labels <@ in_labels AND q.driven_by IS NULL AND NOT q.is_left
            AND q.not_before <= now_is AND NOT q.is_account_full AND q.capped_by IS NULL
            AND q.run <> ALL (in_driven)
        ORDER BY q.driven_of_project, q.place
    LOOP
        -- It may have been taken since, or somebody is just taking it.
        PERFORM 1 FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run
            WHERE q.run = candidate.run AND q.set_aside IS NULL
                AND (r.lease_holder IS NULL OR r.lease_until <= now_is)
            FOR UPDATE OF q, r SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        IF candidate.account IS NOT NULL THEN
            -- One claimer at a time counts the runs of an account; the others look at other runs meanwhile.
            PERFORM 1 FROM gatewright.accounts WHERE name = candidate.account FOR UPDATE SKIP LOCKED;
            CONTINUE WHEN NOT FOUND;
            CONTINUE WHEN NOT gatewright.has_room(candidate.account, now_is);
        END IF;
        IF candidate.tries >= in_most_tries THEN
            UPDATE gatewright.queue SET set_aside = candidate.tries || ' workers took it, and none could drive it'
                    || coalesce(': ' || last_failure, '')
                WHERE gatewright.queue.run = candidate.run;
            CONTINUE;
        END IF;
        UPDATE gatewright.queue SET tries = tries + 1 WHERE gatewright.queue.run = candidate.run
            RETURNING gatewright.queue.settings, gatewright.queue.tree
            INTO claim_queued.settings, claim_queued.tree;
        UPDATE gatewright.runs SET last_fence = last_fence + 1, last_claim = gatewright.new_claim(),
                lease_holder = in_holder, lease_until = now_is + in_term
            WHERE id = candidate.run
            RETURNING id, lease_holder, last_fence, last_claim, lease_until INTO run, holder, fence, claim, until;
        RETURN;
    END LOOP;
END $$;

-- Locks a run, and says whether nobody has claimed it since.
CREATE FUNCTION gatewright.is_last_claim(in_run text, in_fence bigint, in_claim bytea) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    present record;
BEGIN
    SELECT last_fence, last_claim INTO present FROM gatewright.runs WHERE id = in_run FOR UPDATE;
    RETURN FOUND AND present.last_fence = in_fence AND present.last_claim = in_claim;
END $$;

-- A worker lets go of a run and of its lease, unless somebody has claimed it since. `in_tries` says what becomes of its
-- tries: they are `forgotten` or `kept`, or the last one is `not counted`. The worker may say when to look again.
DROP FUNCTION gatewright.leave_queued(text, text, bigint, bigint, text);
CREATE FUNCTION gatewright.leave_queued(
    in_run text, in_fence bigint, in_claim bytea, in_left_at bigint, in_delay bigint, in_tries text, in_failure text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gatewright.durably();
    IF NOT gatewright.is_last_claim(in_run, in_fence, in_claim) THEN
        RETURN false;
    END IF;
    UPDATE gatewright.runs SET lease_holder = NULL, lease_until = NULL
        WHERE id = in_run AND lease_holder IS NOT NULL;
    UPDATE gatewright.queue SET tries = CASE in_tries WHEN 'forgotten' THEN 0 WHEN 'kept' THEN tries
                ELSE greatest(tries - 1, 0) END,
            left_at = in_left_at, not_before = gatewright.now_ms() + in_delay, last_failure = in_failure
        WHERE run = in_run;
    PERFORM pg_notify('gatewright_queue', in_run);
    RETURN true;
END $$;

-- A worker has delivered a run that is over: it leaves the queue, unless somebody has claimed it since. A replica that
-- was behind and took over may not know that it is over; then it stays queued, and whoever takes it ends it again.
CREATE FUNCTION gatewright.end_queued(in_run text, in_fence bigint, in_claim bytea) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gatewright.durably();
    IF NOT gatewright.is_last_claim(in_run, in_fence, in_claim) THEN
        RETURN false;
    END IF;
    DELETE FROM gatewright.queue q USING gatewright.runs r
        WHERE q.run = in_run AND r.id = in_run AND r.status IN ('completed', 'failed', 'cancelled');
    UPDATE gatewright.runs SET lease_holder = NULL, lease_until = NULL
        WHERE id = in_run AND lease_holder IS NOT NULL;
    RETURN true;
END $$;

-- Notes the commit with the run's present tree, unless somebody else has the lease now.
CREATE OR REPLACE FUNCTION gatewright.keep_tree(in_run text, in_fence bigint, in_claim bytea, in_commit text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gatewright.durably();
    IF NOT gatewright.is_last_claim(in_run, in_fence, in_claim)
            OR NOT EXISTS (SELECT 1 FROM gatewright.runs WHERE id = in_run AND lease_holder IS NOT NULL) THEN
        RETURN false;
    END IF;
    UPDATE gatewright.queue SET tree = in_commit WHERE run = in_run;
    RETURN FOUND;
END $$;

-- What each claim of a run has used on each day.
ALTER TABLE gatewright.spending ADD COLUMN claim bytea NOT NULL DEFAULT '';
ALTER TABLE gatewright.spending DROP CONSTRAINT spending_pkey;
ALTER TABLE gatewright.spending ADD PRIMARY KEY (day, run, claim);

-- A user has one name, with and without a terminal.
UPDATE gatewright.queue SET person = regexp_replace(person, ' \(unattended\)$', '') WHERE person LIKE '% (unattended)';
UPDATE gatewright.spending SET person = regexp_replace(person, ' \(unattended\)$', '') WHERE person LIKE '% (unattended)';

-- What the run had used, as its claim first told.
CREATE TABLE gatewright.spending_before (
    run    text NOT NULL REFERENCES gatewright.runs (id) ON DELETE CASCADE,
    claim  bytea NOT NULL,
    cost   bigint NOT NULL,
    tokens bigint NOT NULL,
    PRIMARY KEY (run, claim)
);

-- Notes what a run has used so far, as this claim knows it; what is new counts for today. While work goes on its cost is
-- estimated, so the holder of the lease may correct downwards what its own claim noted, and nothing else: what a dead
-- machine spent stays spent, also what never got into the journal. A late one can only add.
CREATE OR REPLACE FUNCTION gatewright.note_spending(
    in_run text, in_cost bigint, in_tokens bigint, in_fence bigint DEFAULT NULL, in_claim bytea DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    -- One at a time, so that nothing is counted twice.
    is_holder boolean := coalesce(gatewright.is_last_claim(in_run, in_fence, in_claim), false);
    of_claim bytea := coalesce(in_claim, '');
    queued record;
    before record;
    noted record;
    more_cost bigint;
    more_tokens bigint;
    earlier record;
BEGIN
    SELECT q.person, r.project, coalesce(q.account, '') AS account INTO queued
        FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run WHERE q.run = in_run;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- All that was noted before this claim counts already.
    INSERT INTO gatewright.spending_before (run, claim, cost, tokens)
        SELECT in_run, of_claim, CASE WHEN coalesce(sum(cost), 0) < in_cost THEN coalesce(sum(cost), 0) ELSE in_cost END,
            CASE WHEN coalesce(sum(tokens), 0) < in_tokens THEN coalesce(sum(tokens), 0) ELSE in_tokens END
        FROM gatewright.spending WHERE run = in_run
        ON CONFLICT DO NOTHING;
    SELECT cost, tokens INTO before FROM gatewright.spending_before WHERE run = in_run AND claim = of_claim;
    SELECT coalesce(sum(cost), 0) AS cost, coalesce(sum(tokens), 0) AS tokens INTO noted
        FROM gatewright.spending WHERE run = in_run AND claim = of_claim;
    more_cost := greatest(in_cost - before.cost, 0) - noted.cost;
    more_tokens := greatest(in_tokens - before.tokens, 0) - noted.tokens;
    IF NOT is_holder THEN
        more_cost := greatest(more_cost, 0);
        more_tokens := greatest(more_tokens, 0);
    END IF;
    IF more_cost > 0 OR more_tokens > 0 THEN
        INSERT INTO gatewright.spending AS s (day, run, claim, person, project, account, cost, tokens)
            VALUES (gatewright.today(), in_run, of_claim, queued.person, queued.project, queued.account,
                greatest(more_cost, 0), greatest(more_tokens, 0))
            ON CONFLICT (day, run, claim) DO UPDATE SET cost = s.cost + EXCLUDED.cost, tokens = s.tokens + EXCLUDED.tokens;
    END IF;
    -- A correction lowers the latest day first, and no day below nothing.
    FOR earlier IN SELECT day, cost, tokens FROM gatewright.spending WHERE run = in_run AND claim = of_claim
            ORDER BY day DESC LOOP
        EXIT WHEN more_cost >= 0 AND more_tokens >= 0;
        UPDATE gatewright.spending SET cost = cost - least(cost, greatest(-more_cost, 0)),
                tokens = tokens - least(tokens, greatest(-more_tokens, 0))
            WHERE day = earlier.day AND run = in_run AND claim = of_claim;
        more_cost := more_cost + least(earlier.cost, greatest(-more_cost, 0));
        more_tokens := more_tokens + least(earlier.tokens, greatest(-more_tokens, 0));
    END LOOP;
END $$;

-- A worker that is silent for so long is lost; what it had is kept for a day, so that people see it.
CREATE FUNCTION gatewright.worker_is_live(in_seen_at bigint) RETURNS boolean LANGUAGE sql VOLATILE AS
    $$ SELECT in_seen_at > gatewright.now_ms() - 30000 $$;

-- How many workers with these labels are there now.
CREATE FUNCTION gatewright.workers_with(in_labels text[]) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT count(*) FROM gatewright.workers w WHERE in_labels <@ w.labels AND gatewright.worker_is_live(w.seen_at)
$$;

-- How many machines may take a run with these labels: a worker there has them, or the machine has, and was seen within
-- a day.
CREATE FUNCTION gatewright.machines_with(in_labels text[]) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT count(*) FROM gatewright.machines m
    WHERE in_labels <@ m.labels AND m.seen_at > gatewright.now_ms() - 86400000
        OR EXISTS (SELECT 1 FROM gatewright.workers w WHERE w.machine = m.id AND in_labels <@ w.labels
            AND gatewright.worker_is_live(w.seen_at))
$$;

-- A worker is there, and so is its machine, with this version and a clock that is so far ahead.
CREATE FUNCTION gatewright.worker_is_there(
    in_machine text, in_process text, in_version text, in_labels text[], in_skew bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    now_is bigint := gatewright.now_ms();
BEGIN
    INSERT INTO gatewright.workers (machine, process, version, labels, started_at, seen_at)
        VALUES (in_machine, in_process, in_version, in_labels, now_is, now_is)
        ON CONFLICT (machine, process) DO UPDATE SET seen_at = EXCLUDED.seen_at, labels = EXCLUDED.labels,
            version = EXCLUDED.version;
    UPDATE gatewright.machines SET seen_at = now_is, version = in_version, skew = coalesce(in_skew, skew)
        WHERE id = in_machine;
    DELETE FROM gatewright.workers WHERE seen_at < now_is - 86400000;
END $$;

-- How a guarded run stands that a machine ships, as that machine says. It proves nothing: the lines of the copy do.
CREATE TABLE gatewright.shipped_now (
    machine    text NOT NULL,
    run        text NOT NULL,
    pipeline   text NOT NULL,
    task       text NOT NULL,
    stage      text NOT NULL,
    status     text NOT NULL,
    reason     text,
    driver     text NOT NULL,
    overridden boolean NOT NULL,
    started_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version    bigint NOT NULL,
    PRIMARY KEY (machine, run),
    FOREIGN KEY (machine, run) REFERENCES gatewright.shipped_runs (machine, run)
);

CREATE FUNCTION gatewright.tell_run(
    in_machine text, in_run text, in_pipeline text, in_task text, in_stage text, in_status text, in_reason text,
    in_driver text, in_overridden boolean, in_started_at bigint, in_updated_at bigint, in_version bigint)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = gatewright, pg_temp AS $$
BEGIN
    INSERT INTO gatewright.shipped_now AS n (machine, run, pipeline, task, stage, status, reason, driver, overridden,
            started_at, updated_at, version)
        SELECT in_machine, in_run, in_pipeline, in_task, in_stage, in_status, in_reason, in_driver, in_overridden,
            in_started_at, in_updated_at, in_version
        FROM gatewright.shipped_runs r WHERE r.machine = in_machine AND r.run = in_run
        ON CONFLICT (machine, run) DO UPDATE SET pipeline = EXCLUDED.pipeline, task = EXCLUDED.task,
            stage = EXCLUDED.stage, status = EXCLUDED.status, reason = EXCLUDED.reason, driver = EXCLUDED.driver,
            overridden = EXCLUDED.overridden, started_at = EXCLUDED.started_at, updated_at = EXCLUDED.updated_at,
            version = EXCLUDED.version
        WHERE n.version <= EXCLUDED.version;
END $$;
