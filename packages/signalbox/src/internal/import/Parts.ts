/** Parts of the document of `apply`, each resource on its own: one that is not possible keeps no other from coming. */
import type { CallError } from "@signalbox/api/ControlRoomError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ApplyFileError, check, type Document } from "../apply/Document.ts"
import type { Section } from "../apply/Step.ts"
import type { Gaps, ImportKind } from "./Gaps.ts"
import type { ImportStep } from "./Step.ts"

type Entry = readonly [name: string, wanted: unknown]

/** What a resource names, and whether that is in the workspace or will be. */
export interface Need {
  readonly what: string
  readonly name: string
  readonly isThere: boolean
}

const place = "not possible here"

/** Whether the document accepts a part with this alone. */
const isPossible = (kind: ImportKind, name: string, part: unknown, gaps: Gaps) =>
  check(place, part).pipe(
    Effect.as(true),
    Effect.catch(({ message }) =>
      Effect.sync(() => {
        gaps.add(kind, name, message)
        return false
      })
    )
  )

/** The entries that the document accepts, as its section has them. */
export const accepted = Effect.fnUntraced(function* <K extends keyof Document>(
  kind: ImportKind,
  section: K,
  entries: ReadonlyArray<Entry>,
  gaps: Gaps
) {
  const possible = yield* Effect.filter(entries, ([name, wanted]) =>
    isPossible(kind, name, { [section]: { [name]: wanted } }, gaps)
  )
  // Each was accepted.
  const document: Document = yield* Effect.orDie(check(place, { [section]: Object.fromEntries(possible) }))
  return document[section]
})

/** The same, of a section that is a list; names are for the report. */
export const acceptedList = Effect.fnUntraced(function* <K extends "webhooks" | "worker_groups">(
  kind: ImportKind,
  section: K,
  entries: ReadonlyArray<Entry>,
  gaps: Gaps
) {
  const possible = yield* Effect.filter(entries, ([name, wanted]) =>
    isPossible(kind, name, { [section]: [wanted] }, gaps)
  )
  const document: Document = yield* Effect.orDie(check(place, { [section]: possible.map(([, wanted]) => wanted) }))
  return document[section] ?? []
})

/** The entries of which all needs are there. */
export const withNeeds = <A extends readonly [name: string, ...rest: ReadonlyArray<unknown>]>(
  kind: ImportKind,
  entries: ReadonlyArray<A>,
  needs: (entry: A) => ReadonlyArray<Need>,
  gaps: Gaps
): ReadonlyArray<A> =>
  entries.filter((entry) => {
    const missing = needs(entry).find(({ isThere }) => !isThere)
    if (missing !== undefined)
      gaps.add(kind, entry[0], `it needs the ${missing.what} ${missing.name}, which cannot be had`)
    return missing === undefined
  })

/** No section deletes what it is asked for. */
export const importSteps = ({ steps }: Section): ReadonlyArray<ImportStep> =>
  steps.flatMap(({ action, ...step }) => (action === "delete" ? [] : [{ ...step, action }]))

/** Steps of a section; where it refuses a resource, those of the others. */
export const stepsOf = Effect.fnUntraced(function* <A, R>(
  kind: ImportKind,
  wanted: Readonly<Record<string, A>>,
  plan: (wanted: Readonly<Record<string, A>>) => Effect.Effect<Section, CallError | ApplyFileError, R>,
  gaps: Gaps
) {
  const entries = Object.entries(wanted)
  if (entries.length === 0) return []
  const planned = (some: Readonly<Record<string, A>>) => Effect.result(plan(some))
  const together = yield* planned(wanted)
  if (Result.isSuccess(together)) return importSteps(together.success)
  if (together.failure._tag !== "ApplyFileError") return yield* together.failure
  const steps: Array<ImportStep> = []
  for (const [name, one] of entries) {
    const alone = yield* planned({ [name]: one })
    if (Result.isSuccess(alone)) steps.push(...importSteps(alone.success))
    else if (alone.failure._tag !== "ApplyFileError") return yield* alone.failure
    else gaps.add(kind, name, alone.failure.message)
  }
  return steps
})
