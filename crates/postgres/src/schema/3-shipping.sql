-- Shipping: what a copy of a journal needs besides its lines, one statement for a batch of lines, and the adoption of
-- a run by another machine. Nothing here is ever changed or deleted.

CREATE TABLE gatewright.shipped_definitions (
    hash bytea PRIMARY KEY,
    main text NOT NULL
);

CREATE TABLE gatewright.shipped_files (
    definition bytea NOT NULL REFERENCES gatewright.shipped_definitions (hash),
    path       text NOT NULL,
    bytes      bytea NOT NULL,
    PRIMARY KEY (definition, path)
);

CREATE TABLE gatewright.shipped_contents (
    hash  bytea PRIMARY KEY CHECK (hash = sha256(bytes)),
    bytes bytea NOT NULL
);

-- A run whose lines a machine ships.
CREATE TABLE gatewright.shipped_runs (
    machine      text NOT NULL,
    run          text NOT NULL,
    project      text NOT NULL,
    definition   bytea NOT NULL REFERENCES gatewright.shipped_definitions (hash),
    announced_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (machine, run)
);

-- Another machine goes on with the run, from this line of this machine's copy.
CREATE TABLE gatewright.adoptions (
    machine      text NOT NULL,
    run          text NOT NULL,
    number       bigint NOT NULL,
    hash         bytea NOT NULL,
    adopter      text NOT NULL,
    adopter_name text NOT NULL,
    person       text NOT NULL,
    adopted_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (machine, run, adopter)
);

DO $$
DECLARE
    kept text;
BEGIN
    FOREACH kept IN ARRAY ARRAY['shipped_definitions', 'shipped_files', 'shipped_contents', 'shipped_runs', 'adoptions']
    LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON gatewright.%I '
            'EXECUTE FUNCTION gatewright.refuse(%L)', kept || '_stays', kept, 'what was shipped is never changed');
    END LOOP;
END $$;

-- A machine that only ships joins as well.
ALTER FUNCTION gatewright.join_machine(text, text, text[], text, bigint)
    SECURITY DEFINER SET search_path = gatewright, pg_temp;

CREATE OR REPLACE FUNCTION gatewright.continues_its_chain() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = gatewright, pg_temp AS $$
DECLARE
    expected bytea := sha256(convert_to(NEW.run, 'UTF8'));
BEGIN
    IF EXISTS (SELECT 1 FROM gatewright.adoptions a WHERE a.machine = NEW.machine AND a.run = NEW.run) THEN
        RAISE EXCEPTION 'another machine has adopted run %', NEW.run USING ERRCODE = 'integrity_constraint_violation';
    END IF;
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

-- A machine is there, and ships.
CREATE FUNCTION gatewright.machine_is_there(in_machine text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = gatewright, pg_temp AS
    $$ UPDATE gatewright.machines SET seen_at = gatewright.now_ms() WHERE id = in_machine $$;

-- Tells which run the next lines are about, with the files of its definition.
CREATE FUNCTION gatewright.announce(
    in_machine text, in_run text, in_project text, in_definition bytea, in_main text, in_paths text[], in_files bytea[])
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = gatewright, pg_temp AS $$
DECLARE
    found_hash bytea;
BEGIN
    PERFORM gatewright.durably();
    SELECT sha256(gatewright.sized(convert_to(in_main, 'UTF8')) || string_agg(
            gatewright.sized(convert_to(given.path, 'UTF8')) || gatewright.sized(given.bytes), ''::bytea
            ORDER BY given.path COLLATE "C"))
        INTO found_hash FROM unnest(in_paths, in_files) AS given (path, bytes);
    IF found_hash IS DISTINCT FROM in_definition THEN
        RAISE EXCEPTION 'the files of the definition of run % have another hash', in_run
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    INSERT INTO gatewright.shipped_definitions (hash, main) VALUES (in_definition, in_main) ON CONFLICT DO NOTHING;
    INSERT INTO gatewright.shipped_files (definition, path, bytes)
        SELECT in_definition, given.path, given.bytes FROM unnest(in_paths, in_files) AS given (path, bytes)
        ON CONFLICT DO NOTHING;
    INSERT INTO gatewright.shipped_runs (machine, run, project, definition)
        VALUES (in_machine, in_run, in_project, in_definition) ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION gatewright.ship_content(in_hash bytea, in_bytes bytea) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = gatewright, pg_temp AS
    $$ INSERT INTO gatewright.shipped_contents (hash, bytes) VALUES (in_hash, in_bytes) ON CONFLICT DO NOTHING $$;

-- Adds lines to a copy. The answer is `stored`; `unknown` if the run was not announced; `gap` with the last line that
-- is there; `differs` with the first line that is there with another hash; or `adopted`. The same lines again are stored.
CREATE FUNCTION gatewright.ship(
    in_machine text, in_run text, in_first bigint, in_previous bytea,
    in_decisions bigint[], in_keys text[], in_entries text[], in_hashes bytea[],
    OUT answer text, OUT at bigint, OUT adopter text, OUT person text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = gatewright, pg_temp AS $$
DECLARE
    tip_number bigint;
    tip_hash bytea;
BEGIN
    PERFORM gatewright.durably();
    PERFORM gatewright.machine_is_there(in_machine);
    -- One at a time: two who ship, or one who ships and one who adopts.
    PERFORM 1 FROM gatewright.shipped_runs r WHERE r.machine = in_machine AND r.run = in_run FOR UPDATE;
    IF NOT FOUND THEN
        answer := 'unknown';
        RETURN;
    END IF;
    SELECT a.number, a.adopter_name, a.person INTO at, adopter, person FROM gatewright.adoptions a
        WHERE a.machine = in_machine AND a.run = in_run ORDER BY a.adopted_at DESC LIMIT 1;
    IF FOUND THEN
        answer := 'adopted';
        RETURN;
    END IF;
    SELECT t.number, t.hash INTO tip_number, tip_hash FROM gatewright.shipped_tip(in_machine, in_run) t;
    tip_number := coalesce(tip_number, 0);
    IF in_first > tip_number + 1 THEN
        answer := 'gap';
        at := tip_number;
        RETURN;
    END IF;
    SELECT min(s.number) INTO at FROM gatewright.shipped s
        WHERE s.machine = in_machine AND s.run = in_run AND s.number >= in_first
            AND s.number < in_first + cardinality(in_hashes) AND s.hash <> in_hashes[s.number - in_first + 1];
    IF at IS NULL AND in_first > 1 AND in_first = tip_number + 1 AND in_previous IS DISTINCT FROM tip_hash THEN
        at := tip_number;
    END IF;
    IF at IS NOT NULL THEN
        answer := 'differs';
        RETURN;
    END IF;
    INSERT INTO gatewright.shipped (machine, run, number, decision, key, entry, previous, hash)
        SELECT in_machine, in_run, in_first + i - 1, in_decisions[i], in_keys[i], in_entries[i],
            CASE WHEN i = 1 THEN in_previous ELSE in_hashes[i - 1] END, in_hashes[i]
        FROM generate_subscripts(in_entries, 1) AS i WHERE in_first + i - 1 > tip_number ORDER BY i;
    answer := 'stored';
END $$;

-- How far the copies of these runs are, and who has adopted them: a user that ships may not read, and must know this much.
CREATE FUNCTION gatewright.shipped_tips(in_machine text, in_runs text[])
RETURNS TABLE (run text, number bigint, hash bytea, adopted_at bigint, adopter text, person text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = gatewright, pg_temp AS $$
    SELECT asked.run, tip.number, tip.hash, taken.number, taken.adopter_name, taken.person
    FROM unnest(in_runs) AS asked (run)
    LEFT JOIN LATERAL (
        SELECT s.number, s.hash FROM gatewright.shipped s WHERE s.machine = in_machine AND s.run = asked.run
        ORDER BY s.number DESC LIMIT 1) AS tip ON true
    LEFT JOIN LATERAL (
        SELECT a.number, a.adopter_name, a.person FROM gatewright.adoptions a
        WHERE a.machine = in_machine AND a.run = asked.run ORDER BY a.adopted_at DESC LIMIT 1) AS taken ON true
$$;

-- Lets a machine go on with the run of another one, from the last line of its copy. The answer is `adopted`,
-- `unknown`, `moved` if lines have arrived since, or `taken` if a third machine was faster. `in_again` says that the
-- person knows of an earlier adoption.
CREATE FUNCTION gatewright.adopt(
    in_machine text, in_run text, in_number bigint, in_hash bytea, in_adopter text, in_adopter_name text,
    in_person text, in_again boolean, OUT answer text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = gatewright, pg_temp AS $$
BEGIN
    PERFORM gatewright.durably();
    PERFORM 1 FROM gatewright.shipped_runs r WHERE r.machine = in_machine AND r.run = in_run FOR UPDATE;
    answer := CASE
        WHEN NOT FOUND THEN 'unknown'
        WHEN NOT EXISTS (SELECT 1 FROM gatewright.shipped_tip(in_machine, in_run) t
            WHERE t.number = in_number AND t.hash = in_hash) THEN 'moved'
        WHEN NOT in_again AND EXISTS (SELECT 1 FROM gatewright.adoptions a
            WHERE a.machine = in_machine AND a.run = in_run AND a.adopter <> in_adopter) THEN 'taken'
        ELSE 'adopted'
    END;
    IF answer = 'adopted' THEN
        INSERT INTO gatewright.adoptions (machine, run, number, hash, adopter, adopter_name, person)
            VALUES (in_machine, in_run, in_number, in_hash, in_adopter, in_adopter_name, in_person)
            ON CONFLICT DO NOTHING;
    END IF;
END $$;
