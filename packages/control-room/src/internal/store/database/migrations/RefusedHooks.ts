/** Requests to the address of a trigger that were not genuine: how many since it was changed, and the last of them. */
export const statements: ReadonlyArray<string> = [
  `ALTER TABLE "trigger" ADD COLUMN refused_count INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE "trigger" ADD COLUMN refused_at TEXT`,
  `ALTER TABLE "trigger" ADD COLUMN refused_because TEXT`
]
