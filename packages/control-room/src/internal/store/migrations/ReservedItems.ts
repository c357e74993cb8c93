/** The reserved item of a step run is found among its open ones, however many items it has settled. */
export const statements: ReadonlyArray<string> = [
  `CREATE INDEX work_item_in_hand ON work_item (step_run_id)
    WHERE step_run_id IS NOT NULL AND state IN ('pending', 'in_progress')`,
  `DROP INDEX work_item_by_step_run`
]
