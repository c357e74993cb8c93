/**
 * Completed items that travel on themselves, and how many outputs of an item were passed on: rows of files may share a
 * blob, and outputs are found by their item.
 */
export const statements: ReadonlyArray<string> = [
  `ALTER TABLE process ADD COLUMN forward_done_items INTEGER NOT NULL DEFAULT 0`,
  `CREATE INDEX file_by_blob ON file (blob)`,
  `CREATE INDEX work_item_by_parent ON work_item (parent_id) WHERE parent_id IS NOT NULL`,
  `CREATE INDEX output_passed_on ON output (parent_id) WHERE released = 1`
]
