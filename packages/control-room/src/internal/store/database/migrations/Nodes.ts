/** The nodes that use this database. An SQLite one is used by one process, which holds a lock on it, and has none. */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE node (
    id TEXT PRIMARY KEY,
    version TEXT NOT NULL,
    schema_known TEXT NOT NULL,
    last_seen_at TEXT NOT NULL
  )`
]
