/** A log in parts: wherever it is read, and as it grows, no line is missing or comes twice. */
import { assert, describe, it } from "@effect/vitest"
import { type LogPage, LogReader, rowOf } from "../src/internal/logs/LogReader.ts"
import { visible } from "../src/internal/logs/visible.ts"
import { LogWindow, type Range } from "../src/internal/logs/LogWindow.ts"

/** A service with a log, as its interface describes it. `page`: how many lines fit into one. */
const service = (length: number, page = 1000) => {
  let total = length
  const asked: Array<number> = []
  const read = async (position: number, limit: number): Promise<LogPage> => {
    asked.push(position)
    const start = Math.max(0, Math.min(position < 0 ? total + position : position, total))
    const data = Array.from({ length: Math.min(page, limit, total - start) }, (_, n) => ({
      timestamp: "2026-01-01T00:00:00.000Z",
      message: `line ${start + n}`
    }))
    return { data, position: start, total }
  }
  const add = (count: number) => {
    total += count
  }
  return { add, asked, read }
}

/** The lines in sight, once all are there. */
const seen = async (reader: LogReader, sight: LogWindow) => {
  let reads = 0
  while (await reader.load(...sight.seen)) if (++reads > 1000) assert.fail("reads the same again and again")
  const [first, last] = sight.seen
  return Array.from({ length: last - first }, (_, n) => reader.line(first + n)?.message)
}
const lines = ([first, last]: readonly [number, number]) =>
  Array.from({ length: last - first }, (_, n) => `line ${first + n}`)

const opened = async (read: ReturnType<typeof service>["read"]) => {
  const reader = new LogReader(read)
  const sight = new LogWindow()
  sight.resize(540, 20)
  await reader.open()
  sight.grow(reader.total)
  return { reader, sight }
}

describe("a log that is looked at", () => {
  it("begins with its end, which is one page", async () => {
    const { asked, read } = service(1_000_000)
    const { reader, sight } = await opened(read)
    assert.deepStrictEqual(sight.seen, [999_973, 1_000_000])
    assert.strictEqual(reader.line(999_973)?.message, "line 999973")
    assert.deepStrictEqual(asked, [-40])
  })

  it.each([1000, 7])("has each line in its place, by wheel, by bar and at its ends, in pages of %i", async (page) => {
    const { read } = service(1_000_000, page)
    const { reader, sight } = await opened(read)
    const places = [0, 130, 9000, 4_000_000, 7_999_000, 8_000_000 - 540, 5_123_456, 0]
    for (const scroll of places) {
      sight.scrolled(scroll)
      assert.deepStrictEqual(await seen(reader, sight), lines(sight.seen))
      for (let wheel = 0; wheel < 12; wheel++) {
        const [first] = sight.seen
        sight.scrolled(Math.min(sight.scroll + 200, 8_000_000 - 540))
        if (wheel === 5) sight.settle()
        assert.isAtMost(sight.seen[0] - first, 10)
        assert.deepStrictEqual(await seen(reader, sight), lines(sight.seen))
      }
    }
    sight.scrolled(8_000_000 - 540)
    assert.deepStrictEqual(sight.seen, [999_973, 1_000_000])
    sight.scrolled(0)
    assert.deepStrictEqual(sight.seen, [0, 27])
  })

  it("reads what is in sight first where a page has few lines, since these are long", async () => {
    const { asked, read } = service(100_000, 7)
    const { reader, sight } = await opened(read)
    sight.goTo(50_000)
    asked.length = 0
    while (reader.line(50_000) === undefined || reader.line(50_026) === undefined) await reader.load(...sight.seen)
    assert.isAtMost(asked.length, 6)
  })

  it("is read in few pages when it is scrolled through, and forgets what is far away", async () => {
    const { asked, read } = service(30_000)
    const { reader, sight } = await opened(read)
    for (let row = 29_980; row >= 0; row -= 20) {
      sight.goTo(row)
      await seen(reader, sight)
    }
    assert.isAtMost(asked.length, 40)
    assert.isUndefined(reader.line(29_000))
    let kept = 0
    for (let row = 0; row < 30_000; row++) if (reader.line(row) !== undefined) kept++
    assert.isAtMost(kept, 11_000)
  })

  it("follows what is written while its end is in sight, and else stays where it is", async () => {
    const { add, read } = service(1500)
    const { reader, sight } = await opened(read)
    for (const count of [1, 400, 0, 999, 3000]) {
      add(count)
      await reader.grow()
      sight.grow(reader.total)
      assert.strictEqual((await seen(reader, sight)).at(-1), `line ${reader.total - 1}`)
    }
    sight.scrolled(sight.scroll - 300)
    const [before, { top }] = [sight.seen, sight.rows([])]
    add(1_000_000)
    await reader.grow()
    sight.grow(reader.total)
    assert.deepStrictEqual([sight.seen, sight.rows([]).top], [before, top])
    sight.goTo(reader.total)
    assert.isTrue(sight.isFollowing)
    assert.deepStrictEqual(await seen(reader, sight), lines([1_005_873, 1_005_900]))
  })

  it("has few rows in the page, however much is selected, and those that are selected when they are far away", async () => {
    const { read } = service(1_000_000)
    const { sight } = await opened(read)
    const rows = (...held: ReadonlyArray<Range>) => sight.rows(held).rows.map(({ index }) => index)
    assert.deepStrictEqual(rows([3, 5]).slice(0, 3), [3, 4, 999_953])
    assert.deepStrictEqual(
      rows([999_000, 999_960]),
      lines([999_000, 1_000_000]).map((_, n) => 999_000 + n)
    )
    assert.isAtMost(rows([0, 1_000_000]).length, 100)
  })

  it("has the rows in sight at one place, whatever is held", async () => {
    const { read } = service(1000)
    const { sight } = await opened(read)
    sight.goTo(500)
    const placeOf = (wanted: number, ...held: ReadonlyArray<Range>) => {
      let { rows, top } = sight.rows(held)
      for (const { gap, index } of rows) {
        top += gap
        if (index === wanted) return top
        top += 20
      }
      return assert.fail(`${wanted} is not there`)
    }
    for (const held of [
      [],
      [[3, 5]],
      [
        [3, 5],
        [100, 101]
      ],
      [[470, 490]],
      [[900, 910]],
      [
        [490, 500],
        [2, 3]
      ]
    ] as const) {
      assert.strictEqual(placeOf(500, ...held), 10_000)
    }
    assert.strictEqual(placeOf(3, [3, 5]), 60)
    assert.strictEqual(placeOf(901, [900, 910]), 18_020)
  })

  it("begins empty where nothing is written yet, and is empty again when it was deleted", async () => {
    const { add, read } = service(0)
    const { reader, sight } = await opened(read)
    assert.deepStrictEqual(await seen(reader, sight), [])
    add(2)
    await reader.open()
    sight.grow(reader.total)
    assert.deepStrictEqual(await seen(reader, sight), ["line 0", "line 1"])
    add(-2)
    await reader.grow()
    assert.strictEqual(reader.total, 0)
  })

  it("is searched to its end, and no further when the search is given up", async () => {
    const { asked, read } = service(10_000)
    const { reader } = await opened(read)
    const progress = () => {}
    const { signal } = new AbortController()
    assert.strictEqual(await reader.find("LINE 4321", 0, { progress, signal }), 4321)
    assert.strictEqual(await reader.find("line 99", 4321, { progress, signal }), 9900)
    assert.isNull(await reader.find("line 4321", 4322, { progress, signal }))
    asked.length = 0
    assert.isNull(await reader.find("line 4321", 0, { progress, signal: AbortSignal.abort() }))
    assert.deepStrictEqual(asked, [])
  })

  it("has text that changes nothing around it", () => {
    assert.strictEqual(visible("\u001b[1;31mred\u001b[0m\u001b]8;;http://x\u0007 link\r\n"), "red link\n")
    assert.strictEqual(visible("a\u202egnp.exe\u0007\u0000\u007f"), "a[U+202E]gnp.exe␇␀␡")
    assert.strictEqual(visible("\u200bpay\u00adroll\ufeff"), "[U+200B]pay[U+00AD]roll[U+FEFF]")
    assert.strictEqual(visible("<img src=x onerror=alert(1)>"), "<img src=x onerror=alert(1)>")
  })

  it("shows of a message what fits into one row", () => {
    assert.deepStrictEqual(rowOf("short\n"), { text: "short", isWhole: true })
    assert.deepStrictEqual(rowOf("one\ntwo"), { text: "one ↵ two", isWhole: false })
    const long = rowOf(`${"x".repeat(499)}😀`)
    assert.deepStrictEqual([long.text.length, long.isWhole], [499, false])
  })
})
