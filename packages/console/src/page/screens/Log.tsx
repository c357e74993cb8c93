/** The log of a step run: its end at first, any part of it by scrolling, and what is written as it comes. */
import { useEffect, useReducer, useRef, useState } from "preact/hooks"
import { type LogPage, LogReader } from "../../internal/logs/LogReader.ts"
import { LogWindow } from "../../internal/logs/LogWindow.ts"
import { call, reasonOf } from "../action.ts"
import { Button, Empty, Problem, Skeleton } from "../kit/Basics.tsx"
import { onHint } from "../live.ts"
import { Lines } from "./log/Lines.tsx"
import * as text from "../text/text.ts"

interface Parts {
  readonly ended: AbortController
  readonly reader: LogReader
  readonly sight: LogWindow
}

const open = (stepRun: string): Parts => {
  const ended = new AbortController()
  const path = `step-runs/${stepRun}/console-messages`
  const fetch = (position: number, count: number) =>
    call<LogPage>("GET", path, { query: { position, count }, signal: ended.signal })
  return { ended, reader: new LogReader(fetch), sight: new LogWindow() }
}

export const Log = ({ stepRun }: { readonly stepRun: string }) => {
  const [{ ended, reader, sight }] = useState(() => open(stepRun))
  const [isOpen, setOpen] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const [wanted, setWanted] = useState("")
  const [found, setFound] = useState<number | null>(null)
  const [said, setSaid] = useState("")
  const [, redraw] = useReducer((times: number) => times + 1, 0)
  const isReading = useRef(false)
  const isStale = useRef(true)
  const search = useRef(new AbortController())

  /** Reads what is in sight, and what was written since, one page at a time. */
  const fill = async () => {
    if (isReading.current) return
    isReading.current = true
    try {
      for (;;) {
        if (isStale.current) {
          isStale.current = false
          await (reader.total === 0 ? reader.open() : reader.grow())
        } else if (!(await reader.load(...sight.seen))) break
        if (ended.signal.aborted) return
        sight.grow(reader.total)
        setOpen(true)
        setError(null)
        redraw(undefined)
      }
    } catch (failure) {
      if (!ended.signal.aborted) setError(reasonOf(failure))
    } finally {
      isReading.current = false
    }
  }

  const moved = () => {
    redraw(undefined)
    void fill()
  }

  useEffect(() => {
    void fill()
    const forget = onHint((hint) => {
      if (hint !== null && (hint.topic !== "logs" || (hint.id !== null && hint.id !== stepRun))) return
      isStale.current = true
      void fill()
    })
    return () => {
      forget()
      ended.abort()
      search.current.abort()
    }
  }, [])

  const goTo = (row: number) => {
    setFound(null)
    setSaid("")
    sight.goTo(row)
    moved()
  }

  const find = async () => {
    if (wanted === "") return
    search.current.abort()
    const { signal } = (search.current = new AbortController())
    const progress = (lines: number) => {
      if (!signal.aborted) setSaid(text.runs.searching(lines))
    }
    try {
      const hit = await reader.find(wanted, found === null ? sight.seen[0] : found + 1, { progress, signal })
      if (signal.aborted) return
      setSaid(hit === null ? text.runs.notFound : "")
      if (hit === null) return
      setFound(hit)
      sight.centre(hit)
      moved()
    } catch (failure) {
      if (!signal.aborted) setError(reasonOf(failure))
    }
  }

  if (!isOpen) return error === null ? <Skeleton /> : <Problem message={error} />
  const [first, last] = sight.seen
  const isBusy = error === null && last > first && [first, last - 1].some((row) => reader.line(row) === undefined)
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
          {text.runs.searchLog}
        </label>
        <input
          id="find"
          type="search"
          placeholder={text.runs.searchFromHere}
          value={wanted}
          onInput={(event) => {
            setWanted(event.currentTarget.value)
            setFound(null)
          }}
        />
        <Button type="submit">{text.runs.search}</Button>
        <Button onClick={() => goTo(0)}>{text.runs.toStart}</Button>
        <Button aria-pressed={sight.isFollowing} title={text.runs.toEndHint} onClick={() => goTo(reader.total)}>
          {text.runs.toEnd}
        </Button>
        <span class="quiet">{reader.total === 0 ? "" : text.runs.linesOf(first + 1, last, reader.total)}</span>
        <span class="quiet" role="status">
          {said}
        </span>
      </form>
      {reader.total === 0 ? (
        <Empty title={text.runs.noLines}>{text.runs.noLinesHint}</Empty>
      ) : (
        <Lines found={found} isBusy={isBusy} onMove={moved} reader={reader} sight={sight} />
      )}
    </>
  )
}
