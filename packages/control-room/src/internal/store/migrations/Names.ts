/** Workers by name, which is not unique; all other names have an index that makes them so. */
export const statements: ReadonlyArray<string> = [`CREATE INDEX worker_by_name ON worker (workspace_id, name, id)`]
