/** The messages of refused zips. */
import * as PlatformError from "effect/PlatformError"
import { InvalidZip } from "../../InvalidZip.ts"

/** The refusal of a zip that a tool may have broken, or that was made so that two readers see different files. */
export const damaged = (what: string) =>
  new InvalidZip({ message: `not a usable zip: ${what}; create the zip again, if necessary with another tool` })

/** A name in the form for messages. */
export const shown = (name: string) => JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name)

/** Distinguishes a file that cannot be read from an invalid zip. `part` is the part that is read. */
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
