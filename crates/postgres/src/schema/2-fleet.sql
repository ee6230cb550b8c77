-- The machines of the fleet, the queue of runs, and the copies of journals that machines ship.

CREATE TABLE gatewright.machines (
    id        text PRIMARY KEY,
    name      text NOT NULL UNIQUE,
    labels    text[] NOT NULL,
    version   text NOT NULL,
    joined_at bigint NOT NULL,
    seen_at   bigint NOT NULL,
    -- How far the machine's clock is ahead of the database's.
    skew      bigint NOT NULL
);

CREATE TABLE gatewright.workers (
    machine    text NOT NULL REFERENCES gatewright.machines (id) ON DELETE CASCADE,
    process    text NOT NULL,
    version    text NOT NULL,
    labels     text[] NOT NULL,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL,
    PRIMARY KEY (machine, process)
);

-- Registers a machine, or renews what is known about it, and returns its name. A name that another machine
-- has gets the beginning of this machine's id.
CREATE FUNCTION gatewright.join_machine(
    in_id text, in_name text, in_labels text[], in_version text, in_skew bigint, OUT given_name text)
LANGUAGE plpgsql AS $$
DECLARE
    now_is bigint := gatewright.now_ms();
BEGIN
    PERFORM gatewright.durably();
    given_name := in_name;
    FOR digits IN 4 .. length(in_id) LOOP
        BEGIN
            INSERT INTO gatewright.machines (id, name, labels, version, joined_at, seen_at, skew)
                VALUES (in_id, given_name, in_labels, in_version, now_is, now_is, in_skew)
                ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, labels = EXCLUDED.labels,
                    version = EXCLUDED.version, seen_at = EXCLUDED.seen_at, skew = EXCLUDED.skew;
            RETURN;
        EXCEPTION WHEN unique_violation THEN
            given_name := in_name || '-' || left(in_id, digits);
        END;
    END LOOP;
    RAISE EXCEPTION 'no name is free for the machine %', in_id;
END $$;

-- Headless runs that any machine with fitting labels may take.
CREATE TABLE gatewright.queue (
    run       text PRIMARY KEY REFERENCES gatewright.runs (id) ON DELETE CASCADE,
    place     bigint GENERATED ALWAYS AS IDENTITY,
    labels    text[] NOT NULL,
    account   text,
    queued_at bigint NOT NULL,
    tries     integer NOT NULL DEFAULT 0,
    set_aside text
);
CREATE INDEX queue_by_place ON gatewright.queue (place);

-- How many runs may be driven at once under one concurrency key.
CREATE TABLE gatewright.accounts (
    name    text PRIMARY KEY,
    at_most integer NOT NULL CHECK (at_most > 0)
);

-- May one more run of this account be driven?
CREATE FUNCTION gatewright.has_room(in_account text, in_now bigint) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT (SELECT count(*) FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run
            WHERE q.account = in_account AND r.lease_holder IS NOT NULL AND r.lease_until > in_now)
        < (SELECT at_most FROM gatewright.accounts WHERE name = in_account)
$$;

-- The copies of journals that decide elsewhere. Whoever ships may add a line that continues its chain, and
-- change nothing.
CREATE TABLE gatewright.shipped (
    machine     text NOT NULL,
    run         text NOT NULL,
    number      bigint NOT NULL,
    decision    bigint NOT NULL,
    key         text,
    entry       text NOT NULL,
    previous    bytea NOT NULL,
    hash        bytea NOT NULL,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (machine, run, number)
);

CREATE FUNCTION gatewright.sized(in_bytes bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS
    $$ SELECT int8send(length(in_bytes)) || in_bytes $$;

-- The hash that a line must have, as every store computes it.
CREATE FUNCTION gatewright.line_hash(
    in_previous bytea, in_run text, in_number bigint, in_decision bigint, in_key text, in_entry text)
RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(in_previous || gatewright.sized(convert_to(in_run, 'UTF8')) || int8send(in_number)
        || int8send(in_decision) || gatewright.sized(convert_to(coalesce(in_key, ''), 'UTF8'))
        || gatewright.sized(convert_to(in_entry, 'UTF8')))
$$;

-- The last line that arrived: whoever ships may not read, and must know where to go on.
CREATE FUNCTION gatewright.shipped_tip(in_machine text, in_run text, OUT number bigint, OUT hash bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = gatewright, pg_temp AS $$
    SELECT s.number, s.hash FROM gatewright.shipped s WHERE s.machine = in_machine AND s.run = in_run
    ORDER BY s.number DESC LIMIT 1
$$;

CREATE FUNCTION gatewright.continues_its_chain() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = gatewright, pg_temp AS $$
DECLARE
    expected bytea := sha256(convert_to(NEW.run, 'UTF8'));
BEGIN
    IF NEW.number > 1 THEN
        SELECT s.hash INTO expected FROM gatewright.shipped s
            WHERE s.machine = NEW.machine AND s.run = NEW.run AND s.number = NEW.number - 1;
    END IF;
    IF NEW.number < 1 OR NEW.previous IS DISTINCT FROM expected OR NEW.hash <> gatewright.line_hash(
            NEW.previous, NEW.run, NEW.number, NEW.decision, NEW.key, NEW.entry) THEN
        RAISE EXCEPTION 'entry % of run % does not continue its chain', NEW.number, NEW.run
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    NEW.received_at := clock_timestamp();
    RETURN NEW;
END $$;
CREATE TRIGGER shipped_continues BEFORE INSERT ON gatewright.shipped
    FOR EACH ROW EXECUTE FUNCTION gatewright.continues_its_chain();
CREATE TRIGGER shipped_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON gatewright.shipped
    EXECUTE FUNCTION gatewright.refuse('a shipped entry is never changed');
