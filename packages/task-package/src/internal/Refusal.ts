/**
 * How refusals of zips are worded.
 */
import * as PlatformError from "effect/PlatformError"
import { InvalidZip } from "../InvalidZip.ts"

/** A refusal of a zip that a tool may have broken, or somebody who wants two readers to see different files. */
export const damaged = (what: string) =>
  new InvalidZip({ message: `not a usable zip: ${what}; make the zip again, with another tool if need be` })

/** A name as a message shows it. */
export const shown = (name: string) => JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name)

/** Tells a file that cannot be read from one that holds no good zip. `part` is the part that is read. */
export const failureOf =
  (path: string, part = "") =>
  (error: unknown): InvalidZip | PlatformError.PlatformError => {
    if (!(error instanceof Error)) return damaged("it cannot be read")
    return "syscall" in error
      ? PlatformError.systemError({
          _tag: "Unknown",
          module: "TaskPackage",
          method: "read",
          pathOrDescriptor: path,
          description: error.message,
          cause: error
        })
      : damaged(`${part}${error.message.replace(/\.$/, "")}`)
  }
