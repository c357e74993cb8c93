/**
 * A log of any length, of which a few pages are in memory: read from its end or its start, in both directions, and as it
 * grows. Every page is named by a cursor, so that no line is missing or comes twice.
 */
import type { ConsoleMessage } from "@signalbox/api/contract/StepRuns"

/** The query of a page. */
export type LogQuery = { readonly cursor?: string; readonly order?: "newest_first" }

/** A page as the service sends it. */
export interface LogPage {
  readonly data: ReadonlyArray<ConsoleMessage>
  readonly next: string | null
  readonly newer: string | null
}

type Fetch = (query: LogQuery) => Promise<LogPage>

/** Messages of a chunk, and of a page of the service. */
const full = 1000
/** Chunks that are shown at once. */
const shown = 2

/** A part of the log that was read before, with its messages while it is shown. */
export interface Chunk {
  readonly key: number
  /** How it is read again; null: it stays in memory. */
  readonly query: LogQuery | null
  readonly count: number
  readonly rows: ReadonlyArray<ConsoleMessage> | null
}

const queryOf = (url: string): LogQuery => {
  const found = new URL(url, "http://localhost").searchParams
  const cursor = found.get("cursor")
  return {
    ...(cursor === null ? {} : { cursor }),
    ...(found.get("order") === "newest_first" ? { order: "newest_first" as const } : {})
  }
}

const inOrder = (page: LogPage, query: LogQuery) =>
  query.order === "newest_first" ? page.data.toReversed() : page.data

export class LogReader {
  private chunks: ReadonlyArray<Chunk> = []
  private top = 0
  private older: LogQuery | null = null
  private newer: LogQuery = {}
  private isEnd = false
  private keys = 0
  private readonly fetch: Fetch

  constructor(fetch: Fetch) {
    this.fetch = fetch
  }

  /** The chunks that are shown, oldest first. */
  get window(): ReadonlyArray<Chunk> {
    return this.chunks.slice(this.top, this.top + shown)
  }

  get hasOlder(): boolean {
    return this.top > 0 || this.older !== null
  }

  /** Whether the newest line that is known is shown. */
  get isAtEnd(): boolean {
    return this.isEnd && this.top + shown >= this.chunks.length
  }

  private chunk(query: LogQuery | null, rows: ReadonlyArray<ConsoleMessage>, key = ++this.keys): Chunk {
    return { key, query, count: rows.length, rows }
  }

  /** Reads the end of the log, or its start. */
  async open(at: "end" | "start"): Promise<void> {
    const query: LogQuery = at === "end" ? { order: "newest_first" } : {}
    const page = await this.fetch(query)
    // The newest page is another one later, so it is kept.
    this.chunks = [this.chunk(at === "end" ? null : query, inOrder(page, query))]
    this.top = 0
    this.older = at === "end" && page.next !== null ? queryOf(page.next) : null
    this.newer = page.newer === null ? query : queryOf(page.newer)
    this.isEnd = at === "end" || page.next === null
    if (at === "end") await this.showOlder()
  }

  /** Shows the chunk before those that are shown. */
  async showOlder(): Promise<void> {
    if (this.top === 0) {
      if (this.older === null) return
      const query = this.older
      const page = await this.fetch(query)
      this.older = page.next === null ? null : queryOf(page.next)
      this.chunks = [this.chunk(query, inOrder(page, query)), ...this.chunks]
      this.top = 1
    }
    await this.move(this.top - 1)
  }

  /** Shows the chunk after those that are shown; at the end, what was written since. */
  async showNewer(): Promise<void> {
    if (this.top + shown < this.chunks.length) return this.move(this.top + 1)
    const query = this.newer
    const page = await this.fetch(query)
    this.isEnd = page.next === null
    if (page.newer !== null) this.newer = queryOf(page.newer)
    if (page.data.length === 0) return
    const last = this.chunks.at(-1)
    if (last !== undefined && last.rows !== null && last.count + page.data.length <= full) {
      this.chunks = [...this.chunks.slice(0, -1), this.chunk(last.query, [...last.rows, ...page.data], last.key)]
      return
    }
    this.chunks = [...this.chunks, this.chunk(query, page.data)]
    await this.move(Math.max(0, this.chunks.length - shown))
  }

  /** Shows the chunks from this one on; others are forgotten, and read again when they are needed. */
  private async move(top: number): Promise<void> {
    const wanted = new Set(this.chunks.slice(top, top + shown).map(({ key }) => key))
    const chunks: Array<Chunk> = []
    for (const one of this.chunks) {
      if (wanted.has(one.key)) chunks.push(one.rows === null ? await this.again(one) : one)
      else chunks.push(one.query === null ? one : { ...one, rows: null })
    }
    this.chunks = chunks
    this.top = top
  }

  private async again(one: Chunk): Promise<Chunk> {
    if (one.query === null) return one
    const rows = inOrder(await this.fetch(one.query), one.query)
    // It may have grown since: what follows is in the next chunk.
    return { ...one, rows: one.query.order === "newest_first" ? rows : rows.slice(0, one.count) }
  }
}

// oxlint-disable-next-line no-control-regex
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g
const marks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** A message as text that changes nothing around it: without colours, with its control characters and marks to be seen. */
export const visible = (message: string): string =>
  message
    .replace(/\r\n/g, "\n")
    .replace(escapes, "")
    .replace(controls, (char) => String.fromCharCode(0x2400 + (char === "\u007f" ? 0x21 : char.charCodeAt(0))))
    .replace(marks, (char) => `[U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`)
