-- The three roles. A person's or a machine's user becomes a member of one of them.

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['gatewright_drive', 'gatewright_ship', 'gatewright_read'] LOOP
        BEGIN
            IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = wanted) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            END IF;
        -- Roles belong to the whole server: somebody else may set up another database of it.
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END LOOP;
END $$;

GRANT USAGE ON SCHEMA gatewright TO gatewright_drive, gatewright_ship, gatewright_read;
GRANT SELECT ON ALL TABLES IN SCHEMA gatewright TO gatewright_drive, gatewright_read;
GRANT SELECT ON gatewright.versions TO gatewright_ship;

GRANT INSERT ON gatewright.definitions, gatewright.definition_files, gatewright.runs, gatewright.entries,
    gatewright.contents, gatewright.holds, gatewright.machines, gatewright.workers, gatewright.queue,
    gatewright.accounts, gatewright.spending, gatewright.spending_before, gatewright.reservations, gatewright.caps,
    gatewright.worker_output TO gatewright_drive;
GRANT UPDATE ON gatewright.definitions, gatewright.runs, gatewright.contents, gatewright.machines,
    gatewright.workers, gatewright.queue, gatewright.accounts, gatewright.spending, gatewright.reservations,
    gatewright.caps TO gatewright_drive;
GRANT DELETE ON gatewright.definitions, gatewright.definition_files, gatewright.runs, gatewright.contents,
    gatewright.holds, gatewright.machines, gatewright.workers, gatewright.queue, gatewright.caps TO gatewright_drive;

GRANT INSERT ON gatewright.shipped TO gatewright_ship, gatewright_drive;

-- These act with the rights of the owner, so each is only for those who need it.
REVOKE EXECUTE ON FUNCTION
    gatewright.join_machine(text, text, text[], text, bigint),
    gatewright.machine_is_there(text),
    gatewright.announce(text, text, text, bytea, text, text[], bytea[]),
    gatewright.ship_content(bytea, bytea),
    gatewright.ship(text, text, bigint, bytea, bigint[], text[], text[], bytea[]),
    gatewright.tell_run(text, text, text, text, text, text, text, text, boolean, bigint, bigint, bigint),
    gatewright.shipped_tip(text, text),
    gatewright.shipped_tips(text, text[]),
    gatewright.adopt(text, text, bigint, bytea, text, text, text, boolean)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    gatewright.join_machine(text, text, text[], text, bigint),
    gatewright.machine_is_there(text),
    gatewright.announce(text, text, text, bytea, text, text[], bytea[]),
    gatewright.ship_content(bytea, bytea),
    gatewright.ship(text, text, bigint, bytea, bigint[], text[], text[], bytea[]),
    gatewright.tell_run(text, text, text, text, text, text, text, text, boolean, bigint, bigint, bigint)
    TO gatewright_ship, gatewright_drive;
GRANT EXECUTE ON FUNCTION gatewright.shipped_tip(text, text), gatewright.shipped_tips(text, text[])
    TO gatewright_ship, gatewright_drive, gatewright_read;
GRANT EXECUTE ON FUNCTION gatewright.adopt(text, text, bigint, bytea, text, text, text, boolean) TO gatewright_drive;
