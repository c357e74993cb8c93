/** The log of a step run: its end at first, as much as is looked at in the page, and what is written as it comes. */
import type { ConsoleMessage } from "@signalbox/api/contract/StepRuns"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { call, reasonOf } from "../action.ts"
import { Button, Empty, Problem } from "../kit/Basics.tsx"
import { onHint } from "../live.ts"
import { type Chunk, type LogPage, LogReader, visible } from "../../internal/LogReader.ts"
import { clockOf, count } from "../words.ts"

/** Characters of a message that are shown at first. */
const cut = 4000
/** How close to an end of what is shown the next part is read, in pixels. */
const near = 600

const Row = ({ isFound, message, timestamp }: ConsoleMessage & { readonly isFound: boolean }) => {
  const [isWhole, setWhole] = useState(false)
  const isLong = message.length > cut && !isWhole
  return (
    <div class={isFound ? "row found" : "row"}>
      <time dateTime={timestamp}>{clockOf(timestamp)}</time>
      <span dir="ltr">{visible(isLong ? message.slice(0, cut) : message)}</span>
      {isLong ? <Button onClick={() => setWhole(true)}>Show all {count(message.length)} characters</Button> : null}
    </div>
  )
}

interface Found {
  readonly chunk: number
  readonly row: number
}

const rowsOf = (chunk: Chunk) => chunk.rows ?? []

/** The first message with a text after a place in what is shown. */
const findIn = (chunks: ReadonlyArray<Chunk>, text: string, after: Found | null): Found | null => {
  const wanted = text.toLowerCase()
  const begin =
    after === null
      ? 0
      : Math.max(
          0,
          chunks.findIndex(({ key }) => key === after.chunk)
        )
  for (const chunk of chunks.slice(begin)) {
    const from = chunk.key === after?.chunk ? after.row + 1 : 0
    const row = rowsOf(chunk).findIndex(
      ({ message }, index) => index >= from && visible(message).toLowerCase().includes(wanted)
    )
    if (row >= 0) return { chunk: chunk.key, row }
  }
  return null
}

export const Log = ({ stepRun }: { readonly stepRun: string }) => {
  const reader = useRef<LogReader | null>(null)
  const box = useRef<HTMLDivElement>(null)
  const [chunks, setChunks] = useState<ReadonlyArray<Chunk> | null>(null)
  const [error, setError] = useState<string | null>(null)
  const [wraps, setWraps] = useState(true)
  const [text, setText] = useState("")
  const [found, setFound] = useState<Found | null>(null)
  const [said, setSaid] = useState("")
  const isBusy = useRef(false)
  const isStale = useRef(false)
  /** The end of the log is looked at, and stays so as it grows. */
  const isFollowing = useRef(true)
  const anchor = useRef<{ readonly key: number; readonly top: number } | null>(null)

  /** One read at a time; what is looked at stays where it is. */
  const read = async (work: (reader: LogReader) => Promise<void>) => {
    if (isBusy.current || reader.current === null) return false
    isBusy.current = true
    try {
      await work(reader.current)
      // The chunk at the top of what is seen, before others come or go.
      const view = box.current
      const seen = [...(view?.querySelectorAll<HTMLElement>("[data-chunk]") ?? [])].find(
        (element) => view !== null && element.getBoundingClientRect().bottom > view.getBoundingClientRect().top
      )
      anchor.current =
        seen === undefined ? null : { key: Number(seen.dataset["chunk"]), top: seen.getBoundingClientRect().top }
      setChunks(reader.current.window)
      setError(null)
      return true
    } catch (failure) {
      setError(reasonOf(failure))
      return false
    } finally {
      isBusy.current = false
    }
  }

  const grow = async () => {
    isStale.current = true
    while (isStale.current && isFollowing.current && !isBusy.current) {
      isStale.current = false
      const isRead = await read(async (log) => {
        do await log.showNewer()
        while (!log.isAtEnd)
      })
      if (!isRead) return
    }
  }

  const open = (at: "end" | "start") => {
    isFollowing.current = at === "end"
    setFound(null)
    setSaid("")
    void read((log) => log.open(at)).then(() => {
      if (at === "start") box.current?.scrollTo(0, 0)
    })
  }

  useEffect(() => {
    reader.current = new LogReader((query) => call<LogPage>("GET", `step-runs/${stepRun}/console-messages`, { query }))
    open("end")
    return onHint((hint) => {
      if (hint === null || (hint.topic === "logs" && (hint.id === null || hint.id === stepRun))) void grow()
    })
  }, [stepRun])

  useLayoutEffect(() => {
    const view = box.current
    if (view === null) return
    if (isFollowing.current) view.scrollTop = view.scrollHeight
    else if (anchor.current !== null) {
      const same = view.querySelector(`[data-chunk="${anchor.current.key}"]`)
      if (same !== null) view.scrollTop += same.getBoundingClientRect().top - anchor.current.top
    }
  }, [chunks])

  useLayoutEffect(() => {
    if (found !== null) box.current?.querySelector(".found")?.scrollIntoView({ block: "center" })
  }, [found])

  const scrolled = () => {
    const view = box.current
    const log = reader.current
    if (view === null || log === null || isBusy.current) return
    const below = view.scrollHeight - view.scrollTop - view.clientHeight
    isFollowing.current = below < 40 && log.isAtEnd
    if (view.scrollTop < near && log.hasOlder) void read((log) => log.showOlder())
    else if (below < near && !log.isAtEnd) void read((log) => log.showNewer())
    else if (isFollowing.current && isStale.current) void grow()
  }

  const find = async () => {
    if (text === "" || reader.current === null) return
    isFollowing.current = false
    for (let after = found, parts = 0; ; parts++) {
      const hit = findIn(reader.current.window, text, after)
      if (hit !== null) {
        setSaid("")
        return setFound(hit)
      }
      if (reader.current.isAtEnd) return setSaid("Not found from here to the end.")
      setSaid(`Looking… ${count(parts * 1000)} lines`)
      after = null
      if (!(await read((log) => log.showNewer()))) return
    }
  }

  if (chunks === null) return <Problem message={error} />
  const isEmpty = chunks.every(({ count }) => count === 0)
  return (
    <>
      <Problem message={error} />
      <form
        class="log-tools"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          void find()
        }}
      >
        <label class="hidden" for="find">
          Find in the log
        </label>
        <input
          id="find"
          type="search"
          placeholder="Find from here on"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setFound(null)
          }}
        />
        <Button type="submit">Find</Button>
        <Button onClick={() => open("start")}>Start</Button>
        <Button onClick={() => open("end")}>End</Button>
        <Button aria-pressed={wraps} onClick={() => setWraps(!wraps)}>
          Wrap lines
        </Button>
        <span class="quiet" role="status">
          {said}
        </span>
      </form>
      {isEmpty ? (
        <Empty title="Nothing written yet">Lines appear here as the robot writes them.</Empty>
      ) : (
        <div
          class={wraps ? "log" : "log long"}
          ref={box}
          onScroll={scrolled}
          tabIndex={0}
          role="region"
          aria-label="Log"
        >
          {chunks.map((chunk) => (
            <div key={chunk.key} data-chunk={chunk.key}>
              {rowsOf(chunk).map((row, index) => (
                <Row key={index} {...row} isFound={found?.chunk === chunk.key && found.row === index} />
              ))}
            </div>
          ))}
        </div>
      )}
    </>
  )
}
