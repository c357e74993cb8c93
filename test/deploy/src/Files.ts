/** The files that are checked, and the tools that may be there. */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { parseAllDocuments } from "yaml"

export const root = join(import.meta.dirname, "..", "..", "..")

export const textOf = (path: string) => readFileSync(join(root, path), "utf8")

/** The paths of all files below a folder of the repository. */
export const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))

/** The documents of a YAML text, as Kubernetes reads them: in YAML 1.1 `off` is false. An empty one is left out. */
export const documentsOf = (text: string): ReadonlyArray<unknown> =>
  parseAllDocuments(text, { version: "1.1" }).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(String(document.errors[0]))
    const value: unknown = document.toJS()
    return value === null ? [] : [value]
  })

export interface Ran {
  readonly status: number | null
  readonly output: string
}

/** With the folders of programs that Debian gives root alone. */
const PATH = [process.env["PATH"], "/usr/sbin", "/sbin"].join(delimiter)

/** Runs a program to its end; null when the machine does not have it. */
export const run = (program: string, args: ReadonlyArray<string>): Ran | null => {
  const env = { ...process.env, PATH }
  const { error, status, stderr, stdout } = spawnSync(program, args, { encoding: "utf8", cwd: root, env })
  return error === undefined ? { status, output: `${stdout}${stderr}` } : null
}

/** Why tests that need these programs are skipped; on GitHub they are not, and fail. */
export const missing = (...programs: ReadonlyArray<string>): string | false => {
  const absent = programs.filter((program) => run("sh", ["-c", `command -v ${program}`])?.status !== 0)
  return absent.length === 0 || (process.env["GITHUB_ACTIONS"] ?? "") !== ""
    ? false
    : `this machine has no ${absent.join(" or ")}; .ci/tools installs it`
}
