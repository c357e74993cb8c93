/**
 * The ids of every thousandth console message, so that a page at any position of a long log is read without the messages
 * before it. A log written before this has none up to its length then, and is read from its start.
 */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE console_mark (
    step_run_id TEXT NOT NULL REFERENCES step_run (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    message_id TEXT NOT NULL,
    PRIMARY KEY (step_run_id, position)
  )`
]
