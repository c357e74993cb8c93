/** The files that are checked, and the tools that may be there. */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseAllDocuments } from "yaml"

export const root = join(import.meta.dirname, "..", "..", "..")

export const textOf = (path: string) => readFileSync(join(root, path), "utf8")

/** The paths of all files below a folder of the repository. */
export const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))

/** The documents of a YAML text; an empty one is left out. */
export const documentsOf = (text: string): ReadonlyArray<unknown> =>
  parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(String(document.errors[0]))
    const value: unknown = document.toJS()
    return value === null ? [] : [value]
  })

export interface Ran {
  readonly status: number | null
  readonly output: string
}

/** Runs a program to its end; null when the machine does not have it. */
export const run = (program: string, args: ReadonlyArray<string>): Ran | null => {
  const { error, status, stderr, stdout } = spawnSync(program, args, { encoding: "utf8", cwd: root })
  return error === undefined ? { status, output: `${stdout}${stderr}` } : null
}
