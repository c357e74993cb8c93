/**
 * `$search` of the directory: clauses as `"displayName:John"`, joined by AND and OR.
 */
import * as Result from "effect/Result"
import * as Failure from "../model/Failure.ts"
import type { Properties } from "../model/Model.ts"

type Test = (row: Properties) => boolean

/** Words as the directory cuts them: at spaces and symbols, between letters and digits, and where upper case begins. */
export const words = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+|\p{Lu}|\d+/gu)].map(([word]) => word.toLowerCase())

/** These are cut into words; all others are compared from their beginning. */
const tokenized = new Set(["displayName", "description"])

const matches = (property: string, wanted: string): Test =>
  tokenized.has(property)
    ? (row) => {
        const there = words(String(row[property] ?? ""))
        const asked = words(wanted)
        return asked.length > 0 && asked.every((word) => there.some((other) => other.startsWith(word)))
      }
    : (row) => typeof row[property] === "string" && row[property].toLowerCase().startsWith(wanted.toLowerCase())

const clause = /^\s*"((?:[^"\\]|\\.)*)"\s*/
const joint = /^(AND|OR)\s+/

/** AND binds closer than OR, as usual. */
export const parse = (source: string): Result.Result<Test, Failure.Failure> => {
  const syntax = Result.fail(
    Failure.directoryRequest(`Syntax error: the search terms must be in double quotes, as in "displayName:text".`)
  )
  const groups: Array<Array<Test>> = [[]]
  for (let rest = source; ;) {
    const found = clause.exec(rest)
    if (found === null) return syntax
    const [property = "", ...value] = (found[1] ?? "").replace(/\\(.)/g, "$1").split(":")
    if (value.length === 0) return syntax
    groups.at(-1)?.push(matches(property, value.join(":")))
    rest = rest.slice(found[0].length)
    if (rest === "") return Result.succeed((row) => groups.some((tests) => tests.every((test) => test(row))))
    const joined = joint.exec(rest)
    if (joined === null) return syntax
    if (joined[1] === "OR") groups.push([])
    rest = rest.slice(joined[0].length)
  }
}
