/** Messages of an alert to one channel are sent as one, and not too often. */
export const statements: ReadonlyArray<string> = [
  `ALTER TABLE alert ADD COLUMN gather_seconds INTEGER NOT NULL DEFAULT 300`,
  // When the last message of the alert was delivered to the channel.
  `ALTER TABLE alert_target ADD COLUMN last_sent_at TEXT`,
  // The message that says this one too.
  `ALTER TABLE alert_message ADD COLUMN sent_with TEXT`,
  `CREATE INDEX alert_message_sent_with ON alert_message (workspace_id, sent_with) WHERE sent_with IS NOT NULL`,
  // A channel that asked for time is sent nothing before.
  `ALTER TABLE alert_channel ADD COLUMN wait_until TEXT`
]
