/**
 * A log of any length, of which some lines are in memory: those around what is shown, and those that were read last. Lines
 * are fetched by their position, which never changes, so that none is missing or comes twice.
 */
import { visible } from "./visible.ts"
import type { ConsoleMessage } from "@signalbox/api/contract/StepRuns"

/** A page as the service sends it; it has fewer lines than were asked for where these are long. */
export interface LogPage {
  readonly data: ReadonlyArray<ConsoleMessage>
  /** Of the first line. */
  readonly position: number | null
  /** Lines of the whole log. */
  readonly total: number | null
}

/** Reads at most `count` lines from a position on, or with a negative one from that many before the end. */
type Fetch = (position: number, count: number) => Promise<LogPage>

/** Lines of a page. */
const full = 1000
/** Lines that are read at first: more than a view has, and few where each is long. */
const atFirst = 40
/** Characters that a page may have: what a browser reads without a pause. */
const light = 1_000_000
/** Lines that are read before they come in sight. */
const margin = 300
/** Lines and characters from which on those far from what is shown are forgotten. */
const most = { lines: 10_000, characters: 16_000_000 }

export class LogReader {
  private readonly lines = new Map<number, ConsoleMessage>()
  private characters = 0
  private known = 0
  private tried = -1
  private readonly fetch: Fetch

  constructor(fetch: Fetch) {
    this.fetch = fetch
  }

  /** Lines of the whole log, as far as it is known. */
  get total(): number {
    return this.known
  }

  /** A line, from 0; undefined while it is not in memory. */
  line(index: number): ConsoleMessage | undefined {
    return this.lines.get(index)
  }

  /** Reads the end of the log. */
  open(): Promise<void> {
    return this.read(-atFirst)
  }

  /** Reads what was written since. */
  grow(): Promise<void> {
    return this.read(this.known)
  }

  /**
   * Reads some of the lines from `first` to before `last` that are not in memory, or of those near them. Returns false when there
   * are none.
   */
  async load(first: number, last: number): Promise<boolean> {
    const at = this.missing(first, last) ?? this.missing(first - margin, last + margin)
    if (at === null) return false
    // A page of long lines may end before those that are wanted.
    await this.read(this.tried === at ? at : this.startOf(at))
    this.tried = at
    this.forget(first - margin, last + margin)
    return true
  }

  /** The first line from `from` on that has the text, not regarding case; null when none has, or it is no longer wanted. */
  async find(
    text: string,
    from: number,
    { progress, signal }: { readonly progress: (lines: number) => void; readonly signal: AbortSignal }
  ): Promise<number | null> {
    const wanted = text.toLowerCase()
    const has = ({ message }: ConsoleMessage) => visible(message).toLowerCase().includes(wanted)
    for (let at = from; at < this.known && !signal.aborted;) {
      const known = this.lines.get(at)
      const part = known === undefined ? (await this.fetch(at, this.count)).data : [known]
      const hit = part.findIndex(has)
      if (hit >= 0) return at + hit
      if (part.length === 0) return null
      at += part.length
      if (known === undefined) progress(at - from)
    }
    return null
  }

  /** Lines of a page, so that it is light if they are as long as those that are known. */
  private get count(): number {
    if (this.lines.size === 0) return atFirst
    return Math.min(full, Math.max(atFirst, Math.round((light * this.lines.size) / Math.max(1, this.characters))))
  }

  private missing(first: number, last: number): number | null {
    for (let at = Math.max(0, first); at < Math.min(last, this.known); at++) if (!this.lines.has(at)) return at
    return null
  }

  /** Where a page begins that has this line and as many as possible of those around it that are missing. */
  private startOf(at: number): number {
    const { count } = this
    let end = at
    while (end < at + count && end < this.known && !this.lines.has(end)) end++
    const least = Math.max(0, end === at + count ? at - Math.min(margin, count >> 1) : end - count)
    let start = at
    while (start > least && !this.lines.has(start - 1)) start--
    return start
  }

  private async read(position: number): Promise<void> {
    const page = await this.fetch(position, this.count)
    const start = page.position ?? 0
    for (const [index, line] of page.data.entries()) {
      this.drop(start + index)
      this.lines.set(start + index, line)
      this.characters += line.message.length
    }
    const total = page.total ?? start + page.data.length
    // It grows, or is deleted as a whole.
    this.known = page.data.length === 0 && total < this.known ? total : Math.max(this.known, total)
  }

  private drop(index: number): void {
    this.characters -= this.lines.get(index)?.message.length ?? 0
    this.lines.delete(index)
  }

  private forget(first: number, last: number): void {
    if (this.lines.size <= most.lines && this.characters <= most.characters) return
    for (const index of this.lines.keys()) if (index < first || index >= last) this.drop(index)
  }
}

/** Characters of a message that its row shows. */
const cut = 500

/** A message as one row, and whether that is all of it. */
export const rowOf = (message: string): { readonly text: string; readonly isWhole: boolean } => {
  const text = visible(message.slice(0, cut).replace(/[\ud800-\udbff]$/, "")).trimEnd()
  return { text: text.replaceAll("\n", " ↵ "), isWhole: message.length <= cut && !text.includes("\n") }
}
