/** A log in parts: forwards, backwards, and as it grows, no line is missing or comes twice. */
import { assert, describe, it } from "@effect/vitest"
import { type LogPage, type LogQuery, LogReader, visible } from "../src/internal/LogReader.ts"

/** A service with a log, as its interface describes it; cursors are positions. */
const service = (length: number) => {
  const log = Array.from({ length }, (_, n) => `line ${n}`)
  const asked: Array<LogQuery> = []
  const message = (text: string) => ({ timestamp: "2026-01-01T00:00:00.000Z", message: text })
  const read = async (query: LogQuery): Promise<LogPage> => {
    asked.push(query)
    const newer = (at: number) => `http://elsewhere/x?cursor=${at}`
    if (query.order === "newest_first") {
      const end = query.cursor === undefined ? log.length : Number(query.cursor)
      const start = Math.max(0, end - 1000)
      const data = log.slice(start, end).toReversed().map(message)
      return { data, next: start > 0 ? `${newer(start)}&order=newest_first` : null, newer: newer(end) }
    }
    const start = Number(query.cursor ?? 0)
    const data = log.slice(start, start + 1000).map(message)
    const end = start + data.length
    return { data, next: end < log.length ? newer(end) : null, newer: newer(end) }
  }
  const add = (count: number) => log.push(...Array.from({ length: count }, (_, n) => `line ${log.length + n}`))
  return { add, asked, log, read }
}

const shown = (reader: LogReader) => reader.window.flatMap(({ rows }) => rows ?? []).map(({ message }) => message)

describe("a log that is looked at", () => {
  it("begins with its end, and goes back to its first line and forth to its last, part by part", async () => {
    const { log, read } = service(6543)
    const reader = new LogReader(read)
    await reader.open("end")
    assert.deepStrictEqual(shown(reader), log.slice(4543))
    assert.isTrue(reader.isAtEnd)
    const tops = [log.indexOf(shown(reader)[0] ?? "")]
    while (reader.hasOlder) {
      await reader.showOlder()
      assert.isAtMost(shown(reader).length, 2000)
      const top = log.indexOf(shown(reader)[0] ?? "")
      assert.deepStrictEqual(shown(reader), log.slice(top, top + shown(reader).length))
      tops.push(top)
    }
    assert.deepStrictEqual(tops, [4543, 3543, 2543, 1543, 543, 0])
    while (!reader.isAtEnd) await reader.showNewer()
    assert.deepStrictEqual(shown(reader), log.slice(4543))
  })

  it("grows by what is written, and what was shown before is the same when it is read again", async () => {
    const { add, log, read } = service(1500)
    const reader = new LogReader(read)
    await reader.open("end")
    for (const count of [1, 400, 0, 999, 1, 1000, 3]) {
      add(count)
      do await reader.showNewer()
      while (!reader.isAtEnd)
      assert.strictEqual(shown(reader).at(-1), log.at(-1))
    }
    /** What is shown is a part of the log, without a gap and without a line twice. */
    const assertWhole = () => {
      const top = log.indexOf(shown(reader)[0] ?? "")
      assert.deepStrictEqual(shown(reader), log.slice(top, top + shown(reader).length))
      return top
    }
    while (reader.hasOlder) {
      await reader.showOlder()
      assertWhole()
    }
    assert.strictEqual(assertWhole(), 0)
    while (!reader.isAtEnd) {
      await reader.showNewer()
      assertWhole()
    }
    assert.strictEqual(shown(reader).at(-1), log.at(-1))
  })

  it("is read from its start where it is asked for, one page at a time", async () => {
    const { asked, log, read } = service(1_000_000)
    const reader = new LogReader(read)
    await reader.open("start")
    assert.deepStrictEqual(shown(reader), log.slice(0, 1000))
    assert.isFalse(reader.hasOlder)
    for (let n = 0; n < 3; n++) await reader.showNewer()
    assert.deepStrictEqual(shown(reader), log.slice(2000, 4000))
    assert.lengthOf(asked, 4)
  })

  it("begins empty where nothing is written yet", async () => {
    const { add, read } = service(0)
    const reader = new LogReader(read)
    await reader.open("end")
    assert.deepStrictEqual(shown(reader), [])
    add(2)
    await reader.showNewer()
    assert.deepStrictEqual(shown(reader), ["line 0", "line 1"])
  })

  it("has text that changes nothing around it", () => {
    assert.strictEqual(visible("\u001b[1;31mred\u001b[0m\u001b]8;;http://x\u0007 link\r\n"), "red link\n")
    assert.strictEqual(visible("a\u202egnp.exe\u0007\u0000\u007f"), "a[U+202E]gnp.exe␇␀␡")
    assert.strictEqual(visible("<img src=x onerror=alert(1)>"), "<img src=x onerror=alert(1)>")
  })
})
