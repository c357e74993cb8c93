/** Checks the audit: that no entry was altered, removed, put in or cut off. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { AuditEntry } from "@signalbox/api/contract/Audit"
import { AuditReading, type ChainHead, type ReadEntry } from "../store/audit/AuditReading.ts"
import { isLinked, sealOf } from "../vault/AuditMac.ts"

/** Entries that are read at once. */
const stepSize = 500

/** Problems that are listed of a chain: one change of its middle is one, and a chain that was written anew has as many as entries. */
const most = 5

/** What was found in the chains, or in a file. */
export interface AuditFinding {
  readonly entries: number
  readonly problems: ReadonlyArray<string>
}

const Removed = Schema.Struct({ field: Schema.Literal("through"), after: Schema.Finite })
const removedThrough = ({ entry }: ReadEntry): number | null => {
  const found = entry.changes.flatMap((change) => Option.toArray(Schema.decodeUnknownOption(Removed)(change)))
  return found[0]?.after ?? null
}

/** Whether the service has written an entry, which need not be linked yet. */
const isOwn = (key: Uint8Array, workspace: string, { entry, mac }: ReadEntry) =>
  entry.number === null ? mac === sealOf(key, workspace, entry) : isLinked(key, workspace, entry)

const range = (from: number, to: number) => (from === to ? `entry ${from} is` : `entries ${from} to ${to} are`)

/** Checks one chain up to its end. */
const checkChain = Effect.fnUntraced(function* (key: Uint8Array, head: ChainHead) {
  const reading = yield* AuditReading
  const { workspace_id: workspace } = head
  const problems: Array<string> = []
  const removals = yield* reading.removals(workspace, stepSize)
  const removed = new Set(removals.filter((one) => isOwn(key, workspace, one)).map(removedThrough))
  let count = 0
  let last: { readonly number: number; readonly mac: string | null } = { number: 0, mac: null }
  for (;;) {
    const rows = yield* reading.linked(workspace, last.number, stepSize)
    for (const { entry } of rows) {
      const number = entry.number ?? 0
      const isNext = number === last.number + 1
      // Deleted by their age, from the front.
      if (!isNext && !removed.has(number - 1)) problems.push(`${range(last.number + 1, number - 1)} gone`)
      if (!isLinked(key, workspace, entry)) problems.push(`entry ${number} is not what was written (${entry.id})`)
      else if (isNext && entry.previous_mac !== last.mac)
        problems.push(`entry ${number} does not follow its predecessor`)
      last = { number, mac: entry.mac }
    }
    count += rows.length
    if (rows.length < stepSize) break
    yield* Effect.yieldNow
  }
  if (head.number > last.number && !removed.has(head.number)) {
    problems.push(`${range(last.number + 1, head.number)} cut off`)
  }
  if (head.number === last.number && head.mac !== (last.mac ?? "")) problems.push("its end was altered")
  for (const waiting of yield* reading.unlinked(workspace, stepSize)) {
    if (!isOwn(key, workspace, waiting)) problems.push(`the service has not written the entry ${waiting.entry.id}`)
    else count++
  }
  return { count, problems, removed, last }
})

/** Compares the chain with its end as it was stored elsewhere. */
const compare = Effect.fnUntraced(function* (known: ChainHead, removed: ReadonlySet<number | null>, last: number) {
  const { at } = yield* AuditReading
  if (known.number === 0 || Math.max(0, ...[...removed].map(Number)) >= known.number) return []
  if (known.number > last) return [`${range(last + 1, known.number)} cut off: the given end has number ${known.number}`]
  const found = yield* at(known.workspace_id, known.number)
  return found === null || found.entry.mac === known.mac ? [] : [`entry ${known.number} is not that of the given end`]
})

/** Checks all chains. `known`: their ends at an earlier time, from outside of the room. */
export const checkChains = Effect.fnUntraced(function* (key: Uint8Array, known: ReadonlyArray<ChainHead>) {
  const { heads } = yield* AuditReading
  const problems: Array<string> = []
  let entries = 0
  const found = yield* heads
  const gone = known.filter(({ workspace_id }) => !found.some((head) => head.workspace_id === workspace_id))
  for (const { number, workspace_id } of gone) {
    if (number > 0) problems.push(`${workspace_id}: all entries are gone`)
  }
  for (const head of found) {
    const chain = yield* checkChain(key, head)
    const given = known.filter(({ workspace_id }) => workspace_id === head.workspace_id)
    const cut = yield* Effect.forEach(given, (one) => compare(one, chain.removed, chain.last.number))
    const all = [...chain.problems, ...cut.flat()]
    const more = all.length > most ? [`and ${all.length - most} more`] : []
    problems.push(...[...all.slice(0, most), ...more].map((problem) => `${head.workspace_id}: ${problem}`))
    entries += chain.count
  }
  const finding: AuditFinding = { entries, problems }
  return finding
})

const decodeLine = Schema.decodeUnknownOption(Schema.fromJsonString(AuditEntry))

/** Checks the lines of an export, in which filters may have left out entries. */
export const checkLines = Effect.fnUntraced(function* (key: Uint8Array, lines: ReadonlyArray<string>) {
  const { heads } = yield* AuditReading
  const workspaces = (yield* heads).map(({ workspace_id }) => workspace_id)
  const problems: Array<string> = []
  let workspace: string | undefined
  let before: AuditEntry | null = null
  for (const [index, line] of lines.entries()) {
    const entry: AuditEntry | null = Option.getOrNull(decodeLine(line))
    if (entry === null) {
      problems.push(`line ${index + 1} is not an entry of an audit`)
      continue
    }
    workspace ??= workspaces.find((one) => isLinked(key, one, entry))
    if (workspace === undefined || !isLinked(key, workspace, entry)) {
      problems.push(`line ${index + 1}: entry ${entry.number} is not what was written`)
    } else if (before !== null && entry.number !== null && entry.number <= (before.number ?? 0)) {
      problems.push(`line ${index + 1}: entry ${entry.number} is not in its place`)
    } else if (before !== null && entry.number === (before.number ?? 0) + 1 && entry.previous_mac !== before.mac) {
      problems.push(`line ${index + 1}: entry ${entry.number} does not follow its predecessor`)
    }
    before = entry
  }
  const finding: AuditFinding = { entries: lines.length, problems }
  return finding
})
