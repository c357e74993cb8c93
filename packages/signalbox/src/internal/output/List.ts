/** How commands print what they have found. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { type Fitting, table } from "../text/Table.ts"

/** Columns of a list: what stands in the head, and the cell of a row. */
export type Columns<A> = Readonly<Record<string, (row: A) => string>>

/** What the terminal can show; nothing is cut or colored for a file or a pipe. */
export const fitting = Effect.gen(function* () {
  const { canAnimate, canColor } = yield* TerminalCapabilities
  if (!canAnimate) return { color: canColor } satisfies Fitting
  const { columns } = yield* Terminal.Terminal
  return { color: canColor, width: yield* columns } satisfies Fitting
})

/** Prints rows as a table. That there are none is said on standard error, so that pipes get nothing. */
export const printTable = Effect.fnUntraced(function* (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  none: string
) {
  if (rows.length === 0) return yield* Console.error(none)
  yield* Console.log(table(head, rows, yield* fitting))
})

/** Prints what a stream emits: with `json` a line of JSON for each as it comes, else a table. */
export const printList = <A, E, R>(
  json: boolean,
  found: Stream.Stream<A, E, R>,
  columns: Columns<A>,
  none: string
): Effect.Effect<void, E, R | Terminal.Terminal> =>
  json
    ? Stream.runForEach(found, (row) => Console.log(JSON.stringify(row)))
    : Effect.flatMap(Stream.runCollect(found), (rows) => {
        const cells = Object.values(columns)
        return printTable(
          Object.keys(columns),
          rows.map((row) => cells.map((cell) => cell(row))),
          none
        )
      })

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isObject(value) && !Redacted.isRedacted(value)

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return "-"
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(textOf).join(", ")
  if (isRecord(value)) {
    const { id, name = id, ...others } = value
    // A reference is an id, of some things with a name.
    return name === id && Object.keys(others).length > 0 ? JSON.stringify(value) : String(name ?? "-")
  }
  return String(value)
}

/** Prints a result with all of its fields: with `json` as JSON, else a line for each field. */
export const printFields = (json: boolean, value: object): Effect.Effect<void> => {
  if (json) return Console.log(JSON.stringify(value))
  const fields = Object.entries(value).map(([name, field]) => [name.replaceAll("_", " "), textOf(field)] as const)
  const width = Math.max(...fields.map(([name]) => name.length))
  return Console.log(fields.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join("\n"))
}
