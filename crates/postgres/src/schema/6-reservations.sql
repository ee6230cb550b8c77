-- How much of what runs use is an estimate, and what runs at work may still use of the caps: two machines at once do not
-- get the same rest of a cap.

ALTER TABLE gatewright.spending ADD COLUMN estimated bigint NOT NULL DEFAULT 0;
ALTER TABLE gatewright.spending_before ADD COLUMN estimated bigint NOT NULL DEFAULT 0;

-- What the workers of a run may still use, as the holder of its lease says. It counts while the lease lasts.
CREATE TABLE gatewright.reservations (
    run   text PRIMARY KEY REFERENCES gatewright.runs (id) ON DELETE CASCADE,
    claim bytea NOT NULL,
    cost  bigint NOT NULL
);

CREATE VIEW gatewright.reservations_now AS
    SELECT v.run, q.person, r.project, q.account, v.cost
    FROM gatewright.reservations v JOIN gatewright.runs r ON r.id = v.run AND r.last_claim = v.claim
        AND r.lease_holder IS NOT NULL AND r.lease_until > gatewright.now_ms()
        JOIN gatewright.queue q ON q.run = v.run;

-- Does a cap concern what this person spends in this project with this account?
CREATE FUNCTION gatewright.cap_concerns(
    in_kind text, in_name text, in_person text, in_project text, in_account text)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT in_kind = 'all' OR in_kind = 'user' AND in_name = in_person OR in_kind = 'project' AND in_name = in_project
        OR in_kind = 'account' AND in_name = in_account
$$;

-- The caps, with what was spent today and what runs at work may still use.
CREATE VIEW gatewright.caps_now AS
    SELECT c.kind, c.name, c.cost, s.spent, s.estimated, v.reserved
    FROM gatewright.caps c
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(s.cost), 0)::bigint AS spent, coalesce(sum(s.estimated), 0)::bigint AS estimated
        FROM gatewright.spending s WHERE s.day = gatewright.today()
            AND gatewright.cap_concerns(c.kind, c.name, s.person, s.project, s.account)) AS s
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(v.cost), 0)::bigint AS reserved FROM gatewright.reservations_now v
        WHERE gatewright.cap_concerns(c.kind, c.name, v.person, v.project, v.account)) AS v;

-- The caps of which nothing is free: no run that they concern is taken.
CREATE OR REPLACE VIEW gatewright.reached_caps AS
    SELECT kind, name, cost, spent, estimated, reserved FROM gatewright.caps_now WHERE spent + reserved >= cost;

-- The cap that leaves nothing for one more worker of a queued run, and for how long.
DROP FUNCTION gatewright.cap_of(text);
CREATE FUNCTION gatewright.cap_of(
    in_run text, OUT kind text, OUT name text, OUT cost bigint, OUT spent bigint, OUT estimated bigint,
    OUT reserved bigint, OUT remaining bigint)
LANGUAGE sql VOLATILE AS $$
    SELECT c.kind, c.name, c.cost, c.spent, c.estimated, c.reserved,
        CASE WHEN c.spent >= c.cost
            THEN (extract(epoch FROM gatewright.today() + 1) * 1000)::bigint - gatewright.now_ms()
            ELSE 5000 END
    FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run JOIN gatewright.reached_caps c
        ON gatewright.cap_concerns(c.kind, c.name, q.person, r.project, q.account)
    WHERE q.run = in_run ORDER BY c.spent < c.cost, c.kind, c.name LIMIT 1
$$;

-- Notes what a run has used so far, as this claim knows it, as before; and, if it is told, what its workers may still
-- use.
DROP FUNCTION gatewright.note_spending(text, bigint, bigint, bigint, bytea);
CREATE FUNCTION gatewright.note_spending(
    in_run text, in_cost bigint, in_tokens bigint, in_estimated bigint, in_fence bigint, in_claim bytea,
    in_reserved bigint)
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
    more_estimated bigint;
    earlier record;
BEGIN
    SELECT q.person, r.project, coalesce(q.account, '') AS account INTO queued
        FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run WHERE q.run = in_run;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF is_holder AND in_reserved IS NOT NULL THEN
        INSERT INTO gatewright.reservations AS v (run, claim, cost) VALUES (in_run, in_claim, in_reserved)
            ON CONFLICT (run) DO UPDATE SET claim = EXCLUDED.claim, cost = EXCLUDED.cost
            WHERE (v.claim, v.cost) IS DISTINCT FROM (EXCLUDED.claim, EXCLUDED.cost);
    END IF;
    -- All that was noted before this claim counts already.
    INSERT INTO gatewright.spending_before (run, claim, cost, tokens, estimated)
        SELECT in_run, of_claim, least(coalesce(sum(cost), 0)::bigint, in_cost),
            least(coalesce(sum(tokens), 0)::bigint, in_tokens), least(coalesce(sum(estimated), 0)::bigint, in_estimated)
        FROM gatewright.spending WHERE run = in_run
        ON CONFLICT DO NOTHING;
    SELECT cost, tokens, estimated INTO before
        FROM gatewright.spending_before WHERE run = in_run AND claim = of_claim;
    SELECT coalesce(sum(cost), 0) AS cost, coalesce(sum(tokens), 0) AS tokens, coalesce(sum(estimated), 0) AS estimated
        INTO noted FROM gatewright.spending WHERE run = in_run AND claim = of_claim;
    more_cost := greatest(in_cost - before.cost, 0) - noted.cost;
    more_tokens := greatest(in_tokens - before.tokens, 0) - noted.tokens;
    more_estimated := greatest(in_estimated - before.estimated, 0) - noted.estimated;
    IF NOT is_holder THEN
        more_cost := greatest(more_cost, 0);
        more_tokens := greatest(more_tokens, 0);
        more_estimated := greatest(more_estimated, 0);
    END IF;
    IF more_cost > 0 OR more_tokens > 0 OR more_estimated > 0 THEN
        INSERT INTO gatewright.spending AS s (day, run, claim, person, project, account, cost, tokens, estimated)
            VALUES (gatewright.today(), in_run, of_claim, queued.person, queued.project, queued.account,
                greatest(more_cost, 0), greatest(more_tokens, 0), greatest(more_estimated, 0))
            ON CONFLICT (day, run, claim) DO UPDATE SET cost = s.cost + EXCLUDED.cost,
                tokens = s.tokens + EXCLUDED.tokens, estimated = s.estimated + EXCLUDED.estimated;
    END IF;
    -- A correction lowers the latest day first, and no day below nothing.
    FOR earlier IN SELECT day, cost, tokens, estimated FROM gatewright.spending
            WHERE run = in_run AND claim = of_claim ORDER BY day DESC LOOP
        EXIT WHEN more_cost >= 0 AND more_tokens >= 0 AND more_estimated >= 0;
        UPDATE gatewright.spending SET cost = cost - least(cost, greatest(-more_cost, 0)),
                tokens = tokens - least(tokens, greatest(-more_tokens, 0)),
                estimated = estimated - least(estimated, greatest(-more_estimated, 0))
            WHERE day = earlier.day AND run = in_run AND claim = of_claim;
        more_cost := more_cost + least(earlier.cost, greatest(-more_cost, 0));
        more_tokens := more_tokens + least(earlier.tokens, greatest(-more_tokens, 0));
        more_estimated := more_estimated + least(earlier.estimated, greatest(-more_estimated, 0));
    END LOOP;
END $$;

-- Notes what a run has used, with what its other workers may still use, and reserves for the next process of one more
-- worker: half of what the caps leave free, so that others can begin, but not less than `in_least`, and not more than
-- `in_most`. Nothing is returned if no cap concerns the run.
CREATE FUNCTION gatewright.reserve(
    in_run text, in_cost bigint, in_tokens bigint, in_estimated bigint, in_fence bigint, in_claim bytea,
    in_others bigint, in_least bigint, in_most bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    present record;
    free bigint;
    given bigint;
BEGIN
    PERFORM gatewright.note_spending(in_run, in_cost, in_tokens, in_estimated, in_fence, in_claim, in_others);
    SELECT q.person, r.project, q.account INTO present
        FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run WHERE q.run = in_run;
    -- One at a time under each cap; in one order for everybody.
    PERFORM 1 FROM gatewright.caps c
        WHERE gatewright.cap_concerns(c.kind, c.name, present.person, present.project, present.account)
        ORDER BY c.kind, c.name FOR UPDATE;
    SELECT min(c.cost - c.spent - c.reserved) INTO free FROM gatewright.caps_now c
        WHERE gatewright.cap_concerns(c.kind, c.name, present.person, present.project, present.account);
    IF free IS NULL THEN
        RETURN NULL;
    END IF;
    given := greatest(least(free, greatest((free + 1) / 2, in_least), in_most), 0);
    -- Who lost the run gets nothing.
    UPDATE gatewright.reservations SET cost = in_others + given WHERE run = in_run AND claim = in_claim;
    RETURN CASE WHEN FOUND AND gatewright.is_last_claim(in_run, in_fence, in_claim) THEN given ELSE 0 END;
END $$;
