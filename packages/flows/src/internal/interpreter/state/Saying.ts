/**
 * What the body says of itself, and what of it is not written yet. A body that is run again says the same again, which is recognised by
 * its mark.
 */
import type * as Schema from "effect/Schema"
import {
  type Answer,
  type Mark,
  type NewItem,
  noMark,
  type Said,
  type SaidBefore,
  type SaidWrite,
  type Trim
} from "../../model/Said.ts"

/** A feed, and what it keeps. */
export interface Kept {
  readonly name: string
  /** How many items. */
  readonly count: number
  /** For how long; null: without a limit. */
  readonly ageMillis: number | null
}

interface Batch {
  readonly write: SaidWrite
  /** Called when the journal has refused the write: it is unwritten again. */
  readonly restore: () => void
}

export type Asked = Pick<Answer, "id" | "input" | "name">

/** How many items are collected before those that their feed would not keep are dropped. */
const mostItems = 20_000

const isAfter = (one: Mark, other: Mark) =>
  one.position > other.position || (one.position === other.position && one.ordinal > other.ordinal)

const keyOf = ({ id, name }: Omit<Asked, "input">) => JSON.stringify([name, id])

export type Saying = ReturnType<typeof make>

export const make = (before: SaidBefore) => {
  let { mark, number } = before
  let reached: Mark = noMark
  const last = new Map(before.items)
  /** Requests that the body has received and not answered. */
  const asked = new Map<string, Asked>()

  let isChanged = false
  let states = new Map<string, Said>()
  let items: Array<NewItem> = []
  let trims = new Map<string, Trim>()
  let answers: Array<Answer> = []

  const add = ({ ageMillis, count, name }: Kept, value: Schema.Json, at: number) => {
    const item = (last.get(name) ?? 0) + 1
    last.set(name, item)
    trims.set(name, { name, item: item - count, before: ageMillis === null ? null : at - ageMillis })
    items.push({ kind: "feed", name, number: ++number, value, at, item })
    if (items.length > mostItems) items = items.filter(isKept)
  }

  const isKept = ({ item, name }: NewItem) => item > (trims.get(name)?.item ?? 0)

  return {
    /** Called when the body gets the end at this position. */
    passed: (position: number) => {
      if (position > reached.position) reached = { position, ordinal: 0 }
    },
    /** Counts what the body says; returns whether it says it for the first time. `isLive`: its record has nothing more. */
    isNew: (isLive: boolean): boolean => {
      reached = { ...reached, ordinal: reached.ordinal + 1 }
      if (!isLive || !isAfter(reached, mark)) return false
      mark = reached
      return true
    },
    set: (name: string, value: Schema.Json, at: number) => {
      isChanged = true
      states.delete(name)
      states.set(name, { kind: "state", name, number: ++number, value, at })
    },
    append: (feed: Kept, value: Schema.Json, at: number) => {
      isChanged = true
      add(feed, value, at)
    },
    /** Like `append`, for the code of a step: no write is needed for it before `due` is called. */
    appendLater: add,
    due: () => {
      isChanged ||= items.length > 0
    },
    /** Called when the body has received a request. */
    ask: (one: Asked) => void asked.set(keyOf(one), one),
    /** Begins the answer to a request; returns how it is recorded, or null when it was answered before. */
    answer: (request: Omit<Asked, "input">) => {
      const key = keyOf(request)
      const one = asked.get(key)
      if (one === undefined) return null
      asked.delete(key)
      return (answer: Pick<Answer, "state" | "value">) => {
        isChanged = true
        answers.push({ ...one, ...answer })
      }
    },
    /** Abandons the requests of the chapter that ends, and begins to count its ends anew. */
    leaveChapter: () => {
      for (const one of asked.values()) answers.push({ ...one, state: "abandoned", value: null })
      isChanged ||= answers.length > 0 || number > 0
      asked.clear()
      mark = noMark
    },
    /** Returns what is not written yet as a part of a write, or null when that is nothing. */
    collect: (): Batch | null => {
      if (!isChanged) return null
      const write: SaidWrite = {
        number,
        mark,
        states: [...states.values()],
        items: items.filter(isKept),
        trims: [...trims.values()],
        answers
      }
      const unwritten = { states, items, trims, answers }
      isChanged = false
      states = new Map()
      items = []
      trims = new Map()
      answers = []
      const restore = () => {
        isChanged = true
        for (const [name, state] of states) unwritten.states.set(name, state)
        for (const [name, trim] of trims) unwritten.trims.set(name, trim)
        states = new Map(
          [...unwritten.states.values()]
            .sort((one, other) => one.number - other.number)
            .map((state) => [state.name, state])
        )
        items = [...unwritten.items, ...items]
        trims = unwritten.trims
        answers = [...unwritten.answers, ...answers]
      }
      return { write, restore }
    }
  }
}
