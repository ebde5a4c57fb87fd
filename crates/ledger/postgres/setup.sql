-- A ledger in a PostgreSQL database: run once in a database of its own, as its owner.
--
--   createdb ledger && psql -v ON_ERROR_STOP=1 -d ledger -f setup.sql
--
-- Then give the roles to whoever needs them:
--   CREATE ROLE survey LOGIN PASSWORD '…' IN ROLE odometry_writer_ledger;   -- a program that launches
--   CREATE ROLE auditor LOGIN PASSWORD '…' IN ROLE odometry_reader_ledger;  -- whoever looks at it and verifies it
-- The owner is neither: it can delete records. Nothing that runs every day should log in as the owner.

BEGIN;

-- Roles belong to the whole server, and a server may have several ledgers: so their names end in the name of the database.
DO $$
DECLARE
  called text;
BEGIN
  FOREACH called IN ARRAY ARRAY['odometry_writer_', 'odometry_reader_'] LOOP
    called := called || current_database();
    IF octet_length(called) > 63 THEN
      RAISE 'the name of this database is too long for the roles of its ledger: 47 bytes are the most';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = called) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', called);
    END IF;
  END LOOP;
END
$$;

CREATE SCHEMA odometry;

-- The last record. Whoever writes locks this row: writers take turns on it.
CREATE TABLE odometry.head (
  one     boolean PRIMARY KEY DEFAULT true CHECK (one),
  version integer NOT NULL,
  seq     bigint  NOT NULL CHECK (seq >= -1),
  hash    bytea   NOT NULL CHECK (octet_length(hash) = 32)
);

-- Nothing yet: the first program that connects writes the first record.
INSERT INTO odometry.head (version, seq, hash) VALUES (1, -1, decode(repeat('00', 32), 'hex'));

CREATE TABLE odometry.records (
  seq        bigint  PRIMARY KEY CHECK (seq >= 0),
  key        bytea   CHECK (octet_length(key) > 0),
  checkpoint boolean NOT NULL,
  bytes      bytea   NOT NULL,
  -- Random, for each commit: two processes that launch the same would write the same bytes, and whoever lost its connection at
  -- COMMIT has to know whose they are. It is no part of the chain.
  commit_id  bytea   NOT NULL CHECK (octet_length(commit_id) = 16)
);

-- Keys can be longer than what an index takes.
CREATE UNIQUE INDEX records_key ON odometry.records (sha256(key)) WHERE key IS NOT NULL;
CREATE INDEX records_checkpoint ON odometry.records (seq) WHERE checkpoint;

REVOKE ALL ON SCHEMA odometry FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA odometry FROM PUBLIC;
DO $$
DECLARE
  writer text := format('%I', 'odometry_writer_' || current_database());
  reader text := format('%I', 'odometry_reader_' || current_database());
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA odometry TO %s, %s', writer, reader);
  EXECUTE format('GRANT SELECT ON odometry.head, odometry.records TO %s, %s', writer, reader);
  -- The writer may add records and move the head. It can neither change nor delete a record.
  EXECUTE format('GRANT INSERT ON odometry.records TO %s', writer);
  EXECUTE format('GRANT UPDATE (seq, hash) ON odometry.head TO %s', writer);
END
$$;

COMMIT;
