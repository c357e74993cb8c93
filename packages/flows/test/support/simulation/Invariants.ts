/**
 * What must hold of an execution once it is over, by its record and by what was done outside.
 */
import type { Entry, History } from "../../../src/internal/model/Execution.ts"
import { outcomePath } from "../../../src/internal/model/Replay.ts"
import { isLate } from "../../../src/internal/model/When.ts"
import { canonical } from "../../../src/internal/model/Values.ts"
import type { Begun } from "./Database.ts"
import * as Oracle from "./Oracle.ts"
import type { Node } from "./Programs.ts"
import type { Effected } from "./Room.ts"

export interface Over {
  readonly history: History
  readonly aside: ReadonlyArray<Entry>
  readonly root: Node
  readonly effects: ReadonlyArray<Effected>
}

/** Limits that more have begun and not ended than they admit, whatever has happened. */
export const exceeded = (concurrencies: ReadonlyArray<number>, begun: ReadonlyArray<Begun>): ReadonlyArray<string> =>
  concurrencies.flatMap((most, index) =>
    [...Map.groupBy(begun, ({ limits }) => limits[index] ?? null)]
      .filter(([, { length }]) => length > most)
      .map(
        ([key, all]) => `${all.length} of ${key ?? "the flow"} have begun at limit ${index}: ${all.map(({ id }) => id)}`
      )
  )

const doneOf = (entry: Entry): { readonly n: number; readonly key: string } | null => {
  const { value } = entry
  if (typeof value !== "object" || value === null || !("n" in value) || !("key" in value)) return null
  const { key, n } = value
  return typeof n === "number" && typeof key === "string" ? { n, key } : null
}

export const check = ({ aside, effects, history, root }: Over): ReadonlyArray<string> => {
  const { entries, execution, undos } = history
  const { chapter, id, state } = execution
  const found: Array<string> = []
  const wrong = (what: string) => void found.push(`${id} (${state}): ${what}`)
  const terminated = execution.failure?.message.startsWith("terminated") === true
  const latest = new Map<string, Entry>()
  for (const entry of entries) if ((latest.get(entry.path)?.attempt ?? 0) < entry.attempt) latest.set(entry.path, entry)
  const undone = new Map<number, ReadonlyArray<Effected>>()
  for (const effect of effects) {
    if (effect.undoes !== null) undone.set(effect.undoes, [...(undone.get(effect.undoes) ?? []), effect])
  }
  const origin = chapter === 0 ? id : `${id}:${chapter}`
  const keyOf = ({ path, redo }: Pick<Entry, "path" | "redo">) => `${origin}/${path}${redo === 0 ? "" : `~${redo}`}/1`

  // What is recorded was done, under the key of its step.
  for (const entry of [...entries, ...aside]) {
    if (entry.kind !== "step" || entry.state !== "succeeded") continue
    const done = doneOf(entry)
    const effect = done === null ? undefined : effects[done.n - 1]
    if (done === null || effect?.key !== done.key) wrong(`${entry.path} recorded what was not done`)
  }
  for (const entry of latest.values()) {
    const done = entry.state === "succeeded" && entry.kind === "step" ? doneOf(entry) : null
    if (done === null || /\/once(#\d+)?$|^once(#\d+)?$/.test(entry.path)) continue
    if (done.key !== keyOf(entry)) wrong(`${entry.path} (redo ${entry.redo}) has the key ${done.key}`)
  }
  // A step is done again under another key only after it had succeeded.
  for (const { key } of effects) {
    const [, path, redo] = /^[^/]*\/(.*)~(\d+)\/1$/.exec(key) ?? []
    // The steps of an undo follow what they undo.
    if (path === undefined || path.includes("/undo/") || !key.startsWith(`${origin}/`)) continue
    const before = Number(redo) - 1
    if (aside.some((entry) => entry.path === path && entry.redo === before && entry.state === "succeeded")) continue
    wrong(`${path} was done under ${key}, and had not succeeded before`)
  }
  // A repeated call keeps the key of the failed one before it, so one success is done once.
  const isMine = ({ key }: Effected) => key.startsWith(`${origin}/`)
  for (const [effect, undoings] of undone) {
    if (undoings.length > 1 && undoings.some(isMine)) {
      wrong(`the effect ${effect} was undone by ${undoings.map(({ key }) => key).join(" and ")}`)
    }
  }
  if (terminated) return found

  // Undos.
  for (const undo of undos) {
    const own = latest.get(undo.path)
    const done = own === undefined ? null : doneOf(own)
    if (done === null) {
      wrong(`an undo is recorded for ${undo.path}, which has not succeeded`)
      continue
    }
    const times = undone.get(done.n)?.length ?? 0
    if (undo.state === "done" && times !== 1) wrong(`${undo.path} is recorded as undone, and was undone ${times} times`)
    // A step whose response was lost has failed in the journal.
    const perhaps = aside.some(({ path, state }) => state !== "succeeded" && path.startsWith(`${undo.path}/undo/`))
    if (undo.state === "pending" && times > 0 && !perhaps) wrong(`${undo.path} was undone, and its undo is pending`)
    if (undo.state === "pending" && state !== "completed") wrong(`${undo.path} was not undone`)
    if (undo.state === "failed") wrong(`the undo of ${undo.path} failed, and the execution ended`)
  }
  const reading = Oracle.read(root, history)
  if (!reading.isSure) return found
  const isRecorded = new Set(undos.map(({ path }) => path))
  for (const { path } of reading.compensated) {
    if (!isRecorded.has(path)) wrong(`${path} succeeded under compensate, and no undo is recorded`)
  }
  for (const path of reading.torn) wrong(`${path} succeeded, and the call of compensate that it is in has no end`)
  for (const { prefix } of reading.losers) {
    for (const undo of undos) {
      if (undo.path.startsWith(prefix) && undo.state !== "done")
        wrong(`${undo.path} is in a branch that lost: not undone`)
    }
  }
  // An interrupted compensated step has done nothing.
  for (const path of Oracle.stepsOf(root).compensated) {
    const entry = latest.get(path)
    if (entry === undefined || (entry.state !== "interrupted" && entry.ended !== null)) continue
    // The effect of an attempt that was discarded before its end is unknown, and of a failed one, whose response may be lost.
    const before = aside.filter((one) => one.path === path && one.redo === entry.redo)
    if (before.some(({ ended, state }) => ended === null || state === "failed")) continue
    const did = effects.find(({ key }) => key === keyOf(entry))
    if (did !== undefined) wrong(`${path} was cut off (${entry.state}), and had done ${did.n}`)
  }
  // The last one first.
  const outcome = latest.get(outcomePath)
  const failedUndos = aside.some(({ path }) => path.includes("/undo/"))
  if (outcome !== undefined && !failedUndos) {
    let before = 0
    for (const undo of [...undos].sort((one, other) => other.position - one.position)) {
      const own = [...latest.values()].filter(({ path }) => path.startsWith(`${undo.path}/undo/`))
      if (own.length === 0 || own.some(({ begun }) => begun < outcome.begun)) continue
      const begun = Math.min(...own.map((entry) => entry.begun))
      if (begun < before) wrong(`${undo.path} was undone before what was done after it`)
      before = Math.max(...own.map(({ ended }) => ended ?? Infinity))
    }
  }

  // What the body used is what is recorded.
  const { end } = reading
  const says = end === null ? "has not ended" : `${end.ok ? "completed with" : "failed with"} ${canonical(end.value)}`
  if (state === "completed" && (end === null || !end.ok || canonical(end.value) !== canonical(execution.result))) {
    wrong(`its result is ${canonical(execution.result)}; by the record it ${says}`)
  }
  if (
    state === "failed" &&
    !isLate(execution) &&
    (end === null || end.ok || canonical(end.value) !== canonical(execution.error))
  ) {
    wrong(`its error is ${canonical(execution.error)}; by the record it ${says}`)
  }
  return found
}
