/** Whether the room acts, who keeps blobs from being removed, and the disks of its nodes. */
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
  )`,
  // How full the disk of each node is; a node belongs to no workspace.
  `CREATE TABLE node_disk (
    node TEXT PRIMARY KEY,
    used_percent INTEGER NOT NULL,
    measured_at TEXT NOT NULL
  )`
]
