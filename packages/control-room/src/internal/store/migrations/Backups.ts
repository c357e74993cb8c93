/** Whether the room acts, and who keeps blobs from being removed. */
export const statements: ReadonlyArray<string> = [
  // The row is missing in a restored room: backups leave it out, so that however one is restored, it is paused.
  `CREATE TABLE room_running (
    id INTEGER PRIMARY KEY,
    resumed_at TEXT,
    resumed_by TEXT
  )`,
  `INSERT INTO room_running (id) VALUES (1)`,
  `CREATE TABLE blob_hold (
    id TEXT PRIMARY KEY,
    expires_at TEXT NOT NULL
  )`
]
