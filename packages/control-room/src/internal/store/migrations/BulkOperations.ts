/** Bulk operations: jobs on many items or runs, which any node continues. */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE bulk_operation (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    id TEXT NOT NULL,
    operation TEXT NOT NULL,
    filter TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    ended_at TEXT,
    total BIGINT NOT NULL,
    done BIGINT NOT NULL DEFAULT 0,
    refused BIGINT NOT NULL DEFAULT 0,
    refusals TEXT NOT NULL DEFAULT '[]',
    position TEXT NOT NULL DEFAULT '',
    claim TEXT,
    claimed_until TEXT,
    PRIMARY KEY (workspace_id, id)
  )`,
  `CREATE INDEX bulk_operation_open ON bulk_operation (updated_at, id) WHERE state IN ('waiting', 'in_progress')`,
  `CREATE INDEX bulk_operation_ended ON bulk_operation (ended_at) WHERE ended_at IS NOT NULL`
]
