/**
 * The changes of an execution that its journal does not have yet. One write takes all of them.
 */
import { defined } from "@signalbox/transport/Defined"
import type * as Schema from "effect/Schema"
import type { Entry, EntryKind, Execution, Undo, Write } from "../../model/Execution.ts"
import { newEntry } from "../calls/Spec.ts"

type Settled = NonNullable<Write["settled"]>[number]

/** The members of the execution that follow from its operations. */
export interface Standing {
  readonly state: Execution["state"]
  readonly wakeAt: number | null
}

export interface Options extends Pick<Write, "begins" | "newChapter" | "said" | "suspends"> {
  /** Writes even if there are no changes. */
  readonly force?: boolean
}

export interface Batch {
  readonly write: Write
  /** Called when the journal has refused the write: the changes are unwritten again. */
  readonly restore: () => void
}

export type Unwritten = ReturnType<typeof make>

const keyOf = ({ attempt, path }: Entry) => `${path} ${attempt}`

/** `end` is the last position of the record. */
export const make = (end: number, { startsAt, state }: Pick<Execution, "startsAt" | "state">) => {
  let entries = new Map<string, Entry>()
  let undos = new Map<string, Undo>()
  let taken: Array<number> = []
  let settled: Array<Settled> = []
  /** As it was written last. */
  let standing: Partial<Standing> = { state }
  /** Whether the record says that it starts later. */
  let isLater = startsAt !== null
  let position = end

  const set = (entry: Entry) => void entries.set(keyOf(entry), entry)

  return {
    /** Returns the next position in the order of starts and ends. */
    nextPosition: () => ++position,
    set,
    unset: (entry: Entry) => void entries.delete(keyOf(entry)),
    /** Records an entry that ends when it begins; returns its position. */
    mark: (path: string, kind: EntryKind, value: Schema.Json, now: number): number => {
      const at = ++position
      set({
        ...newEntry({ path, name: kind, kind, input: null, subject: null }, 0),
        state: "succeeded",
        value,
        begun: at,
        ended: at,
        startedAt: now,
        endedAt: now
      })
      return at
    },
    setUndo: (undo: Undo) => void undos.set(undo.path, undo),
    /** Deletes messages. */
    take: (...seqs: ReadonlyArray<number>) => void taken.push(...seqs),
    /** Deletes a command, and says what becomes of it. */
    settle: (one: Settled) => {
      taken.push(one.seq)
      settled.push(one)
    },
    /** Returns all changes as a write, or null when there are none. */
    collect: (
      current: Standing,
      seen: number,
      more: Write["execution"],
      { begins = false, force = false, newChapter = false, said, suspends = [] }: Options
    ): Batch | null => {
      const execution: Write["execution"] = {
        ...defined({
          state: current.state === standing.state ? undefined : current.state,
          wakeAt: current.wakeAt === standing.wakeAt ? undefined : current.wakeAt,
          startsAt: isLater ? null : undefined
        }),
        ...more
      }
      const isWorth = entries.size + undos.size + taken.length > 0 || Object.keys(execution).length > 0
      if (!isWorth && !newChapter && !force && said === undefined) return null
      const before = { entries, undos, taken, settled, standing, isLater }
      const write: Write = {
        execution,
        entries: [...entries.values()],
        undos: [...undos.values()].map(({ failure, path, position, redo, state }) => ({
          path,
          redo,
          state,
          position,
          failure
        })),
        taken,
        seen,
        settled,
        begins,
        suspends,
        newChapter,
        said
      }
      entries = new Map()
      undos = new Map()
      taken = []
      settled = []
      standing = current
      isLater = false
      const restore = () => {
        for (const [key, entry] of before.entries) entries.set(key, entry)
        for (const [path, undo] of before.undos) undos.set(path, undo)
        taken = before.taken
        settled = before.settled
        standing = before.standing
        isLater = before.isLater
      }
      return { write, restore }
    }
  }
}
