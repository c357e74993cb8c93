/** A message that some receivers have got is sent again to the others alone. */
export const statements: ReadonlyArray<string> = [
  // JSON (`Receivers`); null: it goes to all receivers of the channel.
  `ALTER TABLE alert_message ADD COLUMN receivers TEXT`
]
