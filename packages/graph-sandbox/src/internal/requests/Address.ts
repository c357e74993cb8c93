/**
 * The path of a request, cut where the graph cuts it: keys and functions in parentheses, and between colons a path of
 * names (`root:/A/B.txt:/content`).
 */
import * as Result from "effect/Result"
import * as Failure from "../model/Failure.ts"

export interface Segment {
  readonly text: string
  /** The arguments of a function, as of `search(q='x')`. */
  readonly args: Readonly<Record<string, string>> | null
  /** The names behind a colon. */
  readonly path: ReadonlyArray<string> | null
}

const decode = (part: string): Result.Result<string, Failure.Failure> =>
  Result.mapError(
    Result.try(() => decodeURIComponent(part)),
    () => Failure.badRequest(`The address is not encoded well at '${part}'.`)
  )

/** Some clients encode an address by path as one segment, colons and all. */
const spread = (decoded: string, previous: string | undefined): ReadonlyArray<string> =>
  decoded.includes(":/") && (/^root:/i.test(decoded) || /^(?:items|sites)$/i.test(previous ?? ""))
    ? decoded.split("/")
    : [decoded]

const unquote = (literal: string) => (literal.startsWith("'") ? literal.slice(1, -1).replaceAll("''", "'") : literal)

const literal = "'(?:[^']|'')*'"
const argument = new RegExp(`^\\s*(\\w+)\\s*=\\s*(${literal}|[^',]*)\\s*(?:,|$)`)

const parseArguments = (text: string): Result.Result<Record<string, string>, Failure.Failure> => {
  const args: Record<string, string> = {}
  for (let rest = text; rest !== "";) {
    const match = argument.exec(rest)
    if (match === null) return Result.fail(Failure.badRequest(`Syntax error in the arguments '${text}'.`))
    const [whole, name = "", value = ""] = match
    args[name.toLowerCase()] = unquote(value)
    rest = rest.slice(whole.length)
  }
  return Result.succeed(args)
}

const call = /^(?:microsoft\.graph\.)?(\w+)\((.*)\)$/s
const key = new RegExp(`^${literal}$`)
/** What may be a name with parentheses, and is no function. */
const holdsNames = /^(?:columns|lists|shares|special|tables|worksheets)$/i

/** A segment that is a word and nothing else. */
export const segment = (text: string): Segment => ({ text, args: null, path: null })

const segmentsOf = (
  text: string,
  previous: string | undefined
): Result.Result<ReadonlyArray<Segment>, Failure.Failure> => {
  const match = holdsNames.test(previous ?? "") ? null : call.exec(text)
  if (match === null) return Result.succeed([segment(text.replace(/^microsoft\.graph\./i, ""))])
  const [, name = "", inside = ""] = match
  if (key.test(inside)) return Result.succeed([segment(name), segment(unquote(inside))])
  return Result.map(parseArguments(inside), (args) => [{ text: name, args, path: null }])
}

/** Cuts the path; empty parts are passed over. */
export const parse = (path: string): Result.Result<ReadonlyArray<Segment>, Failure.Failure> =>
  Result.gen(function* () {
    const parts: Array<string> = []
    for (const part of path.split("/")) {
      if (part !== "") parts.push(...spread(yield* decode(part), parts.at(-1)))
    }
    const segments: Array<Segment> = []
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i] ?? ""
      if (!part.endsWith(":")) {
        segments.push(...(yield* segmentsOf(part, parts[i - 1])))
        continue
      }
      const end = parts.findIndex((part, at) => at > i && part.endsWith(":"))
      const names = end === -1 ? parts.slice(i + 1) : [...parts.slice(i + 1, end), (parts[end] ?? "").slice(0, -1)]
      segments.push({ ...segment(part.slice(0, -1)), path: names.filter((name) => name !== "") })
      i = end === -1 ? parts.length : end
    }
    return segments
  })
