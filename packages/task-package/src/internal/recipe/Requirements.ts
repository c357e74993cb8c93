/**
 * Lists of what pip installs: `pip:` of a `conda.yaml`, and `requirements.txt` with the files that it includes.
 */
import * as Effect from "effect/Effect"
import type { InvalidRecipe } from "../../InvalidRecipe.ts"
import { invalid, type Located } from "./Located.ts"

/** The text of a file of the package, null where there is none. */
export type ReadText<E, R> = (path: string) => Effect.Effect<string | null, E, R>

/** Options of pip that may stand in a list. */
const options =
  /^(-i|-f|--index-url|--extra-index-url|--find-links|--pre|--prefer-binary|--only-binary|--no-binary|--no-index|--trusted-host|--require-hashes|--use-feature)([= ]|$)/
const includes = /^(?:-r|--requirement)(?:[= ]\s*|(?=[^-\s]))(.+)$/
const constraints = /^(-c|--constraint)([= ]|$)/
const editable = /^(-e|--editable)([= ]|$)/
const credentials = /:\/\/[^\s/@:]+:[^\s/@]+@/
const local = /^(\.{0,2}[/\\]|~|[A-Za-z]:[/\\]|file:)|^[^@\s]+\s*@\s*file:/
const requirement = /^[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[^\]]*\])?\s*([<>=!~;@(\s].*)?$/
const address = /^[a-z][a-z0-9+.-]*:\/\//

/** What is wrong with a line, and what to do about it. The first that holds is said. */
const faults: ReadonlyArray<readonly [isThere: (text: string) => boolean, what: string]> = [
  [(text) => credentials.test(text), "contains a password; configure the index on the worker, and remove the password"],
  [
    (text) => editable.test(text) || local.test(text),
    "is a path, which an environment that several runs share cannot install; name its folder under PYTHONPATH of robot.yaml, or build a wheel of it"
  ],
  [(text) => constraints.test(text), "names a file of constraints; write the versions into the list itself"],
  [
    (text) => (text.startsWith("-") ? !options.test(text) : !requirement.test(text) && !address.test(text)),
    "is not installable by pip; write a name and a version, as requests==2.32.3"
  ]
]

const checked = (entry: Located) => {
  const fault = faults.find(([isThere]) => isThere(entry.text))
  if (fault === undefined) return Effect.succeed(entry.text.replaceAll(/\s+/g, " "))
  return Effect.fail(invalid(entry, `${JSON.stringify(shownOf(entry.text))} ${fault[1]}`))
}

/** Without what could be a password. */
const shownOf = (text: string) => text.replaceAll(/:\/\/[^\s/@]+@/g, "://…@")

/** The lines of a file: continued ones joined, comments left out. */
const linesOf = (file: string, text: string): ReadonlyArray<Located> => {
  const found: Array<Located> = []
  let before = ""
  let begin = 1
  for (const [index, raw] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    if (before === "") begin = index + 1
    const line = raw.replace(/(^|\s)#.*$/, "")
    if (line.endsWith("\\")) {
      before += `${line.slice(0, -1)} `
      continue
    }
    const whole = `${before}${line}`.trim()
    before = ""
    if (whole !== "") found.push({ text: whole, file, line: begin })
  }
  if (before.trim() !== "") found.push({ text: before.trim(), file, line: begin })
  return found
}

const join = (from: string, path: string) => {
  const parts = from.split("/").slice(0, -1)
  for (const part of path.replaceAll("\\", "/").split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return null
    } else if (part !== "." && part !== "") parts.push(part)
  }
  return path.startsWith("/") ? null : parts.join("/")
}

/** Checks entries, and puts the files that they include in their place. `seen` are those on the way here. */
export const read = <E, R>(
  entries: ReadonlyArray<Located>,
  text: ReadText<E, R>,
  seen: ReadonlyArray<string> = []
): Effect.Effect<ReadonlyArray<string>, InvalidRecipe | E, R> =>
  Effect.map(
    Effect.forEach(entries, (entry) => {
      const included = includes.exec(entry.text)?.[1]?.trim()
      return included === undefined
        ? Effect.map(checked(entry), (line) => [line])
        : include(entry, included, text, seen)
    }),
    (all) => [...new Set(all.flat())]
  )

const include = Effect.fnUntraced(function* <E, R>(
  entry: Located,
  included: string,
  text: ReadText<E, R>,
  seen: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<string>, InvalidRecipe | E, R> {
  const path = join(entry.file, included)
  if (path === null) return yield* invalid(entry, `${included} is not inside the package; move it there`)
  if (seen.includes(path)) return yield* invalid(entry, `${included} includes itself; remove the line`)
  const content = yield* text(path)
  if (content === null) return yield* invalid(entry, `${path} does not exist in the package`)
  return yield* read(linesOf(path, content), text, [...seen, path])
})

/** Reads a file of requirements. */
export const readFile = <E, R>(file: string, content: string, text: ReadText<E, R>) =>
  read(linesOf(file, content), text, [file])
