/** The trace that a run belongs to. */
export const statements: ReadonlyArray<string> = [
  // A `traceparent` of W3C Trace Context; null when whoever started the run was not traced.
  `ALTER TABLE process_run ADD COLUMN trace TEXT`
]
