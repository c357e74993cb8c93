/**
 * What stands in lists of conda packages, and which of it a plain Python environment covers.
 */
import * as Result from "effect/Result"
import type { InvalidRecipe } from "../../InvalidRecipe.ts"
import { invalid, type Located } from "./Located.ts"

/** What a list of conda packages says. */
export interface CondaPackages {
  /** The version of `python` without its first `=`, such as `3.10.12` or `>=3.9`; null without one. */
  readonly python: string | null
  /** Whether `pip` itself is listed. */
  readonly hasPip: boolean
  /** All but `python`, `pip` and `uv`. */
  readonly rest: ReadonlyArray<string>
  readonly channels: ReadonlyArray<string>
}

const pattern = /^(?:([^\s:[\]]+)::)?([A-Za-z0-9_][A-Za-z0-9._-]*)(\s*[=<>!~[].*|\s+[\d*].*)?$/

/** Of `=3.9.13=build`, `==3.9`, ` 3.9.*` what tells versions apart. */
const pythonVersion = (version: string) => {
  const text = version.trim().replaceAll(/\s+/g, "")
  if (/^[<>!~]/.test(text)) return text
  const plain = (text.replace(/^=+/, "").split("=")[0] ?? "").replace(/(\.\*)+$/, "")
  return plain === "" || plain === "*" ? null : plain
}

/** Names that pip takes for one. */
export const normalized = (name: string) => name.toLowerCase().replaceAll(/[-_.]+/g, "-")

/** The name of a conda package without channel and version. */
export const nameOf = (spec: string) => (pattern.exec(spec)?.[2] ?? spec).toLowerCase()

/** Reads the list; fails at the first that is no package. */
export const read = (specs: ReadonlyArray<Located>): Result.Result<CondaPackages, InvalidRecipe> => {
  let python: string | null = null
  let hasPip = false
  const rest: Array<string> = []
  const channels: Array<string> = []
  for (const spec of specs) {
    const match = pattern.exec(spec.text)
    const name = match?.[2]?.toLowerCase()
    if (name === undefined) {
      return Result.fail(
        invalid(
          spec,
          `${JSON.stringify(spec.text)} is not a conda package; write a name and a version, as numpy=1.26.4`
        )
      )
    }
    if (match?.[1] !== undefined) channels.push(match[1])
    if (name === "python") {
      const version = pythonVersion(match?.[3] ?? "")
      if (version !== null && !/^\d+(\.\d+)*$|^[<>=!~]/.test(version)) {
        return Result.fail(invalid(spec, `${JSON.stringify(spec.text)} has no version of Python; write python=3.11`))
      }
      python = version
    } else if (name === "pip") hasPip = true
    // A provider brings its own installer.
    else if (name !== "uv") rest.push(spec.text.replaceAll(/\s+/g, " "))
  }
  return Result.succeed({ python, hasPip, rest, channels })
}
