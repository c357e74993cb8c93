/** Webhooks, callbacks and their deliveries. A callback is a webhook of one run. */
export const statements: ReadonlyArray<string> = [
  // No reference to the run: pending deliveries outlive it.
  `CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    process_id TEXT REFERENCES process (id) ON DELETE CASCADE,
    process_run_id TEXT,
    endpoint TEXT NOT NULL,
    events TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    secret TEXT NOT NULL,
    previous_secret TEXT,
    previous_until TEXT,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX webhook_by_workspace ON webhook (workspace_id, id) WHERE process_run_id IS NULL`,
  `CREATE INDEX webhook_by_process ON webhook (process_id) WHERE process_id IS NOT NULL`,
  `CREATE INDEX webhook_by_run ON webhook (process_run_id) WHERE process_run_id IS NOT NULL`,
  `CREATE TABLE webhook_delivery (
    id TEXT PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    event_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    process_run_id TEXT,
    endpoint TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    last_attempt_at TEXT,
    next_attempt_at TEXT,
    response_status INTEGER,
    error TEXT,
    body TEXT NOT NULL,
    claim TEXT,
    claimed_until TEXT
  )`,
  `CREATE INDEX webhook_delivery_by_webhook ON webhook_delivery (webhook_id, id)`,
  `CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint, next_attempt_at, id) WHERE state = 'pending'`,
  `CREATE INDEX webhook_delivery_claimed ON webhook_delivery (endpoint) WHERE claim IS NOT NULL`,
  `CREATE INDEX webhook_delivery_by_age ON webhook_delivery (created_at)`,
  `CREATE INDEX webhook_delivery_by_state ON webhook_delivery (webhook_id, state, id)`,
  `CREATE INDEX webhook_delivery_retried ON webhook_delivery (webhook_id, state, last_attempt_at)
    WHERE state = 'pending' AND attempts > 0`
]
