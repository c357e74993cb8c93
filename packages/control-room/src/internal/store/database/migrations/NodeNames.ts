/** The machines on which nodes run, so that people find the one that gives no sign of life. */
export const statements: ReadonlyArray<string> = [`ALTER TABLE node ADD COLUMN name TEXT NOT NULL DEFAULT ''`]
