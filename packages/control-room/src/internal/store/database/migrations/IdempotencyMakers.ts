/** Who made a request with an idempotency key, and which permissions it was asked for: its response goes only to who may have it. */
export const statements: ReadonlyArray<string> = [
  `ALTER TABLE idempotency_key ADD COLUMN maker TEXT`,
  `ALTER TABLE idempotency_key ADD COLUMN permissions TEXT NOT NULL DEFAULT '[]'`
]
