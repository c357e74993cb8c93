/**
 * What a program comes to by what is recorded of it: the ends of its steps and waits decide everything.
 */
import type * as Schema from "effect/Schema"
import type { Entry, History } from "../../../src/internal/model/Execution.ts"
import { segment } from "../../../src/internal/body/Position.ts"
import { outcomePath } from "../../../src/internal/model/Replay.ts"
import { caughtOf, itemKey, memberKey, type Node } from "./Programs.ts"

/** How a node ended, and its place in the order of ends. */
export interface Ended {
  readonly ok: boolean
  /** The result, or the error. */
  readonly value: Schema.Json
  readonly at: number
}

export interface Loser {
  readonly prefix: string
  readonly decidedAt: number
}

/** A call of `Flow.compensate` that succeeded. */
export interface Compensated {
  readonly path: string
}

export interface Reading {
  /** Null: it has not ended by the record. */
  readonly end: Ended | null
  /** Whether the record says all. */
  readonly isSure: boolean
  /** The members of races that lost. */
  readonly losers: ReadonlyArray<Loser>
  readonly compensated: ReadonlyArray<Compensated>
  /** The first steps of calls of `Flow.compensate` that had begun to have effects, and have no end. */
  readonly torn: ReadonlyArray<string>
}

type Members = ReadonlyArray<{ readonly prefix: string; readonly end: Ended | null }>

const first = (ends: Members, counts: (end: Ended) => boolean) => {
  let least: { readonly prefix: string; readonly end: Ended } | null = null
  for (const { end, prefix } of ends) {
    if (end !== null && counts(end) && (least === null || end.at < least.end.at)) least = { prefix, end }
  }
  return least
}

export const read = (root: Node, { entries }: Pick<History, "entries">): Reading => {
  const latest = new Map<string, Entry>()
  for (const entry of entries) {
    const before = latest.get(entry.path)
    if (before === undefined || before.attempt < entry.attempt) latest.set(entry.path, entry)
  }
  // What is undone at the end decides nothing any more.
  const outcomeAt = latest.get(outcomePath)?.begun ?? Infinity
  const losers: Array<Loser> = []
  const compensated: Array<Compensated> = []
  const torn: Array<string> = []
  const counts = new Map<string, number>()
  let isSure = true

  /** The path of a name that is called once more in its place. */
  const numbered = (base: string): string => {
    const count = (counts.get(base) ?? 0) + 1
    counts.set(base, count)
    return count === 1 ? base : `${base}#${count}`
  }
  const ended = (path: string): Ended | null => {
    const entry = latest.get(path)
    if (entry === undefined || entry.ended === null || entry.state === "interrupted") return null
    return { ok: entry.state === "succeeded", value: entry.value, at: entry.ended }
  }
  const succeeded = (path: string, value: Schema.Json): Ended | null => {
    const end = ended(path)
    return end === null ? null : { ...end, value }
  }
  const { inRegion } = stepsOf(root)
  /** Returns when everything below a prefix had ended, without interrupted entries, or `at` if there is nothing later. */
  const over = (prefix: string, at: number): number => {
    let last = at
    for (const { begun, ended, path, state } of latest.values()) {
      if (begun >= outcomeAt || state === "interrupted" || !path.startsWith(prefix)) continue
      if (inRegion.has(path) || path.includes("/undo/")) last = Math.max(last, ended ?? Infinity)
    }
    return last
  }
  const raced = (base: string, ends: Members, others: ReadonlyArray<string>): Ended | null => {
    const won = first(ends, () => true)
    if (won === null) return null
    for (const prefix of others) if (prefix !== won.prefix) losers.push({ prefix, decidedAt: won.end.at })
    return { ...won.end, at: over(base, won.end.at) }
  }

  const evaluate = (node: Node, prefix: string): Ended | null => {
    switch (node._tag) {
      case "Step":
        return ended(prefix + segment(node.manner, node.key))
      case "Again":
        for (let left = node.times; ; left--) {
          const end = ended(numbered(`${prefix}once`))
          if (end === null || end.ok || left <= 1) return end
        }
      case "Sleep":
        return succeeded(prefix + node.name, null)
      case "Signal":
        return ended(numbered(prefix + segment("go", node.key)))
      case "Inbox":
        return ended(numbered(`${prefix}box`))
      case "Patched":
        // An execution that is run again takes the old way where its record goes on, and records nothing of that; so does
        // one that left the memory with ends that its body had not reached.
        if (!latest.has(prefix + node.name)) isSure = false
        return succeeded(prefix + node.name, true)
      case "Sequence": {
        const values: Array<Schema.Json> = []
        let at = 0
        for (const one of node.nodes) {
          const end = evaluate(one, prefix)
          if (end === null || !end.ok) return end
          values.push(end.value)
          at = Math.max(at, end.at)
        }
        return { ok: true, value: values, at }
      }
      case "All":
      case "ForEach": {
        const keyed = node._tag === "All"
        const keys = keyed
          ? node.nodes.map((_, index) => memberKey(index))
          : Array.from({ length: node.items }, (_, index) => itemKey(index))
        const ends = keys.map((key, index) => {
          const inner = `${prefix}${segment(node.name, key)}/`
          const one = keyed ? node.nodes[index] : node.node
          return { prefix: inner, end: one === undefined ? null : evaluate(one, inner) }
        })
        const failed = first(ends, ({ ok }) => !ok)
        const base = `${prefix}${node.name}[`
        if (failed !== null) return { ...failed.end, at: over(base, failed.end.at) }
        const values: Array<Schema.Json> = []
        let at = 0
        for (const { end } of ends) {
          if (end === null) return null
          values.push(end.value)
          at = Math.max(at, end.at)
        }
        const value = keyed ? Object.fromEntries(values.map((value, index) => [memberKey(index), value])) : values
        return { ok: true, value, at }
      }
      case "Race": {
        const ends = node.nodes.map((one, index) => {
          const inner = `${prefix}${segment(node.name, memberKey(index))}/`
          return { prefix: inner, end: evaluate(one, inner) }
        })
        return raced(
          `${prefix}${node.name}[`,
          ends,
          ends.map((one) => one.prefix)
        )
      }
      case "Timeout": {
        const path = prefix + node.name
        const inner = `${path}/`
        const limit = ended(path)
        const value = { _tag: "FlowTimeout", path, afterMillis: node.millis }
        const timedOut = limit === null ? null : { ok: false, value, at: limit.at }
        return raced(
          inner,
          [
            { prefix: inner, end: evaluate(node.node, inner) },
            { prefix: path, end: timedOut }
          ],
          [inner]
        )
      }
      case "Call":
        return evaluate(node.node, `${prefix}${segment("part", node.key)}/`)
      case "Caught": {
        const end = evaluate(node.node, prefix)
        return end === null || end.ok ? end : { ...end, ok: true, value: caughtOf(end.value) }
      }
      case "Compensate": {
        const path = prefix + segment(node.step.manner, node.step.key)
        const own = ended(path)
        const end = own !== null && own.ok && node.rest !== null ? evaluate(node.rest, prefix) : own
        if (end !== null && end.ok) compensated.push({ path })
        if (own !== null && end === null) torn.push(path)
        return end
      }
    }
  }
  const end = evaluate(root, "")
  return { end, isSure, losers, compensated, torn }
}

export interface Steps {
  /** Those whose calls have an undo. */
  readonly compensated: ReadonlyArray<string>
  /** All in such calls, which come to their end before their branch does. */
  readonly inRegion: ReadonlySet<string>
}

/** The paths of steps that are under `Flow.compensate`. */
export const stepsOf = (root: Node): Steps => {
  const compensated: Array<string> = []
  const inRegion = new Set<string>()
  const walk = (node: Node, prefix: string, isIn: boolean): void => {
    switch (node._tag) {
      case "Step":
        if (isIn) inRegion.add(prefix + segment(node.manner, node.key))
        return
      case "Again":
        if (isIn)
          for (let count = 1; count < 20; count++) inRegion.add(`${prefix}once${count === 1 ? "" : `#${count}`}`)
        return
      case "Sequence":
        for (const one of node.nodes) walk(one, prefix, isIn)
        return
      case "All":
      case "Race":
        for (const [index, one] of node.nodes.entries()) {
          walk(one, `${prefix}${segment(node.name, memberKey(index))}/`, isIn)
        }
        return
      case "ForEach":
        for (let index = 0; index < node.items; index++) {
          walk(node.node, `${prefix}${segment(node.name, itemKey(index))}/`, isIn)
        }
        return
      case "Timeout":
        return walk(node.node, `${prefix}${node.name}/`, isIn)
      case "Call":
        return walk(node.node, `${prefix}${segment("part", node.key)}/`, isIn)
      case "Caught":
        return walk(node.node, prefix, isIn)
      case "Compensate":
        compensated.push(prefix + segment(node.step.manner, node.step.key))
        walk(node.step, prefix, true)
        if (node.rest !== null) walk(node.rest, prefix, true)
        return
      default:
    }
  }
  walk(root, "", false)
  return { compensated, inRegion }
}
