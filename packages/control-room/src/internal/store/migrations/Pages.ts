/**
 * An index for each way to filter a list, with the order of the list: a page costs the same however many rows there are.
 */
export const statements: ReadonlyArray<string> = [
  `CREATE INDEX process_by_workspace ON process (workspace_id, id)`,
  `CREATE INDEX process_run_by_process_state ON process_run (process_id, state, id)`,
  `CREATE INDEX webhook_delivery_by_state ON webhook_delivery (webhook_id, state, id)`
]
