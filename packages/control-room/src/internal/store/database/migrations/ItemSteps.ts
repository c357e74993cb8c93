/** The items of one step are read without those of the other steps of its process. */
export const statements: ReadonlyArray<string> = [
  // Without the state, so that an item is written to it once.
  `CREATE INDEX work_item_by_step ON work_item (step_id, id) WHERE step_id IS NOT NULL`
]
