/**
 * A module as the file that `signalbox apply` takes: processes as code, and the other sections as in YAML, each an export.
 */
import * as Process from "@signalbox/api/Process"
import * as Effect from "effect/Effect"
import * as ModuleFile from "../files/ModuleFile.ts"
import { ApplyFileError, check, Document } from "./Document.ts"

const sections = Object.keys(Document.fields).filter((section) => section !== "processes")

/** All processes that a module exports, alone or in arrays, each once. */
const processesOf = (exports: Readonly<Record<string, unknown>>) => [
  ...new Set(
    Object.values(exports)
      .flatMap((value) => (Array.isArray(value) ? value : [value]))
      .filter(Process.isProcess)
  )
]

/** Imports and checks a module. Exports that are neither processes nor sections are left alone. */
export const load = Effect.fn("apply.loadModule")(function* (path: string) {
  const exports = yield* Effect.mapError(ModuleFile.load(path), ({ message }) => new ApplyFileError({ message }))
  const code = new Map<string, Process.Process>()
  const definitions: Array<readonly [string, object]> = []
  for (const process of processesOf(exports)) {
    if (code.has(process.name)) {
      return yield* new ApplyFileError({ message: `${path}: two processes have the name "${process.name}"` })
    }
    code.set(process.name, process)
    // The schemas of the process are behind its `codec`, functions of the copy of `effect` that its file imports.
    const { name, ...definition } = yield* Effect.mapError(
      Process.definition(process),
      ({ message }) => new ApplyFileError({ message: `${path}: process "${process.name}": ${message}` })
    )
    definitions.push([name, definition])
  }
  const others = sections.flatMap((section) => (section in exports ? [[section, exports[section]] as const] : []))
  const processes = definitions.length === 0 ? {} : { processes: Object.fromEntries(definitions) }
  const document = yield* check(path, { ...Object.fromEntries(others), ...processes })
  if (Object.keys(document).length === 0) {
    return yield* new ApplyFileError({
      message: `${path}: the module exports neither a process nor one of ${sections.join(", ")}`
    })
  }
  return { document, code }
})
