-- Format 1 of a Periplus journal. docs/journal-format.md explains every column and the exact bytes that are hashed.
-- application_id ("PERI") and user_version (the format) are set by the program that runs this, in the same transaction.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- One fact. Rows are only ever inserted, seq by seq.
CREATE TABLE event (
  seq    INTEGER PRIMARY KEY,
  time   INTEGER NOT NULL, -- ms since the epoch
  source TEXT    NOT NULL,
  kind   TEXT    NOT NULL,
  body   TEXT    NOT NULL, -- canonical JSON without kind and source, private values sealed
  sums   BLOB    NOT NULL, -- crc32 of time, source, kind and body: tells which column was changed
  hash   BLOB    NOT NULL  -- sha256, chained
) STRICT;

-- A row here makes its segments a snapshot; segments without one are what an interrupted write left.
CREATE TABLE snapshot (
  seq      INTEGER PRIMARY KEY,
  format   INTEGER NOT NULL,
  time     INTEGER NOT NULL,
  facts    INTEGER NOT NULL,
  segments INTEGER NOT NULL,
  chain    BLOB    NOT NULL, -- event.hash at seq
  hash     BLOB    NOT NULL
) STRICT;

CREATE TABLE snapshot_segment (
  seq    INTEGER NOT NULL,
  number INTEGER NOT NULL, -- from 1
  body   TEXT    NOT NULL, -- JSON array of {"fact":…,"source":…}, private values sealed; deflated, in base64
  hash   BLOB    NOT NULL, -- sha256 of body
  PRIMARY KEY (seq, number)
) STRICT;
