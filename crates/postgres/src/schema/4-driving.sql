-- What a machine needs to drive a queued run of another one: settings, the last tree, and when it may be taken.

ALTER TABLE gatewright.queue
    -- How the run is driven, as its starter chose.
    ADD COLUMN settings   text NOT NULL DEFAULT '{}',
    -- Who queued it.
    ADD COLUMN person     text NOT NULL DEFAULT '',
    -- The commit with the last tree that the holder of the lease kept.
    ADD COLUMN tree       text,
    ADD COLUMN not_before bigint NOT NULL DEFAULT 0,
    -- The version at which a worker left it, because a person must act.
    ADD COLUMN left_at    bigint,
    -- Why it could not be driven the last time.
    ADD COLUMN last_failure text;

CREATE INDEX runs_with_lease ON gatewright.runs (project, lease_until) WHERE lease_holder IS NOT NULL;

-- What each run has used on each day, by the database's clock.
CREATE TABLE gatewright.spending (
    day     date NOT NULL,
    run     text NOT NULL,
    person  text NOT NULL,
    project text NOT NULL,
    account text NOT NULL,
    -- In cents.
    cost    bigint NOT NULL,
    tokens  bigint NOT NULL,
    PRIMARY KEY (day, run)
);
CREATE INDEX spending_of_run ON gatewright.spending (run);

-- The most that may be spent on one day: by everybody, or by one user, project or model account.
CREATE TABLE gatewright.caps (
    kind text NOT NULL CHECK (kind IN ('all', 'user', 'project', 'account')),
    name text NOT NULL,
    cost bigint NOT NULL CHECK (cost > 0),
    PRIMARY KEY (kind, name)
);

CREATE FUNCTION gatewright.today() RETURNS date LANGUAGE sql VOLATILE AS
    $$ SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date $$;

-- The caps that today's spending has reached.
CREATE VIEW gatewright.reached_caps AS
    SELECT c.kind, c.name, c.cost, sum(s.cost)::bigint AS spent
    FROM gatewright.caps c JOIN gatewright.spending s ON s.day = gatewright.today()
        AND (c.kind = 'all' OR c.kind = 'user' AND s.person = c.name OR c.kind = 'project' AND s.project = c.name
            OR c.kind = 'account' AND s.account = c.name)
    GROUP BY c.kind, c.name, c.cost HAVING sum(s.cost) >= c.cost;

DROP FUNCTION IF EXISTS gatewright.enqueue(text, text[], text, integer);
CREATE FUNCTION gatewright.enqueue(
    in_run text, in_labels text[], in_account text, in_at_most integer, in_settings text DEFAULT '{}',
    in_person text DEFAULT '', in_delay bigint DEFAULT 0)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gatewright.durably();
    IF in_account IS NOT NULL THEN
        INSERT INTO gatewright.accounts (name, at_most) VALUES (in_account, in_at_most)
            ON CONFLICT (name) DO UPDATE SET at_most = EXCLUDED.at_most;
    END IF;
    INSERT INTO gatewright.queue (run, labels, account, queued_at, settings, person, not_before)
        VALUES (in_run, in_labels, in_account, gatewright.now_ms(), in_settings, in_person,
            gatewright.now_ms() + in_delay)
        ON CONFLICT (run) DO NOTHING;
    -- A hint after the commit; a waiting worker also looks by itself.
    PERFORM pg_notify('gatewright_queue', in_run);
END $$;

-- Whether anybody may take a queued run now, and what keeps them from it.
CREATE VIEW gatewright.queue_now AS
    WITH live AS (
        SELECT r.project, q.account FROM gatewright.runs r LEFT JOIN gatewright.queue q ON q.run = r.id
        WHERE r.lease_holder IS NOT NULL AND r.lease_until > gatewright.now_ms()
    ), busy AS (
        SELECT project, count(*) AS driven FROM live GROUP BY project
    ), full_accounts AS (
        SELECT a.name FROM gatewright.accounts a JOIN live ON live.account = a.name
        GROUP BY a.name, a.at_most HAVING count(*) >= a.at_most
    ), reached AS MATERIALIZED (
        SELECT kind, name FROM gatewright.reached_caps
    )
    SELECT q.run, q.place, q.labels, q.account, q.person, q.tries, q.set_aside, q.not_before, q.tree,
        r.project, r.task, r.stage, r.status, r.version, r.last_fence,
        CASE WHEN r.lease_until > gatewright.now_ms() THEN r.lease_holder END AS driven_by,
        coalesce(busy.driven, 0) AS driven_of_project,
        coalesce(q.left_at = r.version, false) AS is_left,
        q.account IN (SELECT name FROM full_accounts) IS TRUE AS is_account_full,
        (SELECT c.kind || ' ' || c.name FROM reached c
            WHERE c.kind = 'all' OR c.kind = 'user' AND c.name = q.person OR c.kind = 'project' AND c.name = r.project
                OR c.kind = 'account' AND c.name = q.account LIMIT 1) AS capped_by
    FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run LEFT JOIN busy ON busy.project = r.project;

-- Takes the first queued run that this worker may take: projects with fewer driven runs first, then by place.
-- A run that is over stays in the queue until a worker has delivered it.
-- Nobody waits for a run that somebody else is just taking.
DROP FUNCTION IF EXISTS gatewright.claim_queued(text, text[], bigint, integer);
CREATE FUNCTION gatewright.claim_queued(
    in_holder text, in_labels text[], in_term bigint, in_most_tries integer,
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

-- A worker lets go of a run, unless somebody else has it now. Unless it failed, its tries are forgotten; the worker may
-- say when to look again.
CREATE FUNCTION gatewright.leave_queued(
    in_run text, in_holder text, in_left_at bigint, in_delay bigint, in_failure text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE gatewright.queue SET tries = CASE WHEN in_failure IS NULL THEN 0 ELSE tries END,
            left_at = in_left_at, not_before = gatewright.now_ms() + in_delay, last_failure = in_failure
        WHERE run = in_run AND NOT EXISTS (SELECT 1 FROM gatewright.runs r WHERE r.id = in_run
            AND r.lease_holder <> in_holder AND r.lease_until > gatewright.now_ms());
    PERFORM pg_notify('gatewright_queue', in_run);
END $$;

-- Between the end of a lease and the word of its worker, what is to become of the run, nobody takes it. A worker
-- that dies in between holds it up only for a moment.
CREATE FUNCTION gatewright.await_word() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE gatewright.queue SET not_before = greatest(not_before, gatewright.now_ms() + 5000) WHERE run = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER lease_ends AFTER UPDATE OF lease_holder ON gatewright.runs FOR EACH ROW
    WHEN (OLD.lease_holder IS NOT NULL AND NEW.lease_holder IS NULL)
    EXECUTE FUNCTION gatewright.await_word();

-- Notes the commit with the run's present tree, unless somebody else has the lease now.
CREATE FUNCTION gatewright.keep_tree(in_run text, in_fence bigint, in_claim bytea, in_commit text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gatewright.durably();
    UPDATE gatewright.queue q SET tree = in_commit FROM gatewright.runs r
        WHERE q.run = in_run AND r.id = in_run AND r.lease_holder IS NOT NULL AND r.last_fence = in_fence
            AND r.last_claim = in_claim;
    RETURN FOUND;
END $$;

-- The cap that a queued run has reached, and when the day ends.
CREATE FUNCTION gatewright.cap_of(in_run text, OUT kind text, OUT name text, OUT cost bigint, OUT spent bigint, OUT until bigint)
LANGUAGE sql STABLE AS $$
    SELECT c.kind, c.name, c.cost, c.spent, (extract(epoch FROM gatewright.today() + 1) * 1000)::bigint
    FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run JOIN gatewright.reached_caps c
        ON c.kind = 'all' OR c.kind = 'user' AND c.name = q.person OR c.kind = 'project' AND c.name = r.project
            OR c.kind = 'account' AND c.name = q.account
    WHERE q.run = in_run ORDER BY c.kind, c.name LIMIT 1
$$;

-- Notes what a run has used so far; what is new counts for today. While work goes on its cost is estimated, so the
-- holder of the lease may also correct it downwards. A late one can only add.
CREATE FUNCTION gatewright.note_spending(
    in_run text, in_cost bigint, in_tokens bigint, in_fence bigint DEFAULT NULL, in_claim bytea DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    queued record;
    before record;
    is_holder boolean;
BEGIN
    -- One at a time, so that nothing is counted twice.
    SELECT q.person, r.project, coalesce(q.account, '') AS account, r.last_fence, r.last_claim INTO queued
        FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run WHERE q.run = in_run FOR UPDATE OF q;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT coalesce(sum(cost), 0) AS cost, coalesce(sum(tokens), 0) AS tokens INTO before
        FROM gatewright.spending WHERE run = in_run;
    is_holder := coalesce(queued.last_fence = in_fence AND queued.last_claim = in_claim, false);
    IF in_cost = before.cost AND in_tokens = before.tokens
            OR NOT is_holder AND in_cost <= before.cost AND in_tokens <= before.tokens THEN
        RETURN;
    END IF;
    INSERT INTO gatewright.spending AS s (day, run, person, project, account, cost, tokens)
        VALUES (gatewright.today(), in_run, queued.person, queued.project, queued.account,
            CASE WHEN is_holder THEN in_cost - before.cost ELSE greatest(in_cost - before.cost, 0) END,
            CASE WHEN is_holder THEN in_tokens - before.tokens ELSE greatest(in_tokens - before.tokens, 0) END)
        ON CONFLICT (day, run) DO UPDATE SET cost = s.cost + EXCLUDED.cost, tokens = s.tokens + EXCLUDED.tokens;
END $$;

-- What workers printed, in pieces, for people on other machines.
CREATE TABLE gatewright.worker_output (
    run      text NOT NULL REFERENCES gatewright.runs (id) ON DELETE CASCADE,
    dispatch bigint NOT NULL,
    -- How many bytes were before it.
    place    bigint NOT NULL,
    bytes    bytea NOT NULL,
    PRIMARY KEY (run, dispatch, place)
);
