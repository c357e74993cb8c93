/** The report of an import: one line for each resource, and how many there are of each kind of line. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { columns } from "../connection/Connection.ts"
import type { Gap } from "./Gaps.ts"
import { json as jsonOf, shown } from "./Shown.ts"
import type { ImportStep } from "./Step.ts"

/** What becomes, or became, of a resource. */
export type Status = "create" | "replace" | "created" | "replaced" | "equal" | "different" | "not to be had"

const marks: Readonly<Record<Status, string>> = {
  create: "+",
  created: "+",
  replace: "~",
  replaced: "~",
  equal: "=",
  different: "≠",
  "not to be had": "!"
}

export interface Line {
  readonly status: Status
  readonly kind: string
  readonly name: string
  readonly detail: string
}

/** The line of a step that is only planned. */
export const planned = ({ action, detail, kind, name }: ImportStep, replace: boolean): Line => {
  const changed = replace ? "replace" : "different"
  const status = { create: "create", change: changed, unchanged: "equal", different: "different" } as const
  return { status: status[action], kind, name, detail }
}

export const ofGap = ({ kind, name, why }: Gap): Line => ({ status: "not to be had", kind, name, detail: why })

export const print = (lines: ReadonlyArray<Line>, json: boolean) =>
  Effect.forEach(
    lines,
    ({ detail, kind, name, status }) =>
      Console.log(
        json
          ? jsonOf({ status, kind, name, detail })
          : columns(
              [marks[status], 1],
              [status, 13],
              [kind, 13],
              [shown(name), 0],
              [detail === "" ? "" : `(${shown(detail)})`, 0]
            )
      ),
    { discard: true }
  )

const order: ReadonlyArray<Status> = ["create", "created", "replace", "replaced", "equal", "different", "not to be had"]

/** Such as `3 created, 2 equal, 1 not to be had`. */
export const summary = (lines: ReadonlyArray<Line>): string =>
  order
    .map((status) => ({ status, count: lines.filter((line) => line.status === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ count, status }) => `${count} ${status === "create" || status === "replace" ? `to ${status}` : status}`)
    .join(", ") || "nothing"
