/**
 * The JSON Schema of the payloads that a process takes, and whether other payloads are refused. Processes from before have none.
 */
export const statements: ReadonlyArray<string> = [
  `ALTER TABLE process ADD COLUMN input_schema TEXT`,
  `ALTER TABLE process ADD COLUMN check_payloads INTEGER NOT NULL DEFAULT 0`
]
