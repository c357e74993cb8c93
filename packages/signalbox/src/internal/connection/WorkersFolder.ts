import { hostname } from "node:os"
import { join } from "node:path"

/** The folder of local workers. Nodes on other machines may share the data folder of a database. */
export const workersFolder = ({ data, database }: { readonly data: string; readonly database?: unknown }) =>
  database === undefined ? join(data, "workers") : join(data, "workers", hostname())
