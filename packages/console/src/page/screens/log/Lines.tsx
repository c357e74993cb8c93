/** The lines of a log that are in sight, as rows of one height in a box that scrolls over all of it. */
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks"
import { type LogReader, rowOf } from "../../../internal/logs/LogReader.ts"
import { visible } from "../../../internal/logs/visible.ts"
import type { LogWindow, Range } from "../../../internal/logs/LogWindow.ts"
import { Copyable } from "../../kit/Copy.tsx"
import { Dialog } from "../../kit/Dialog.tsx"
import { clockOf, count } from "../../format.ts"
import * as text from "../../text/text.ts"

/** In `rem`, as the style has it. */
const rowHeight = 1.3
/** Milliseconds without a move after which the scroll bar is put where it belongs. */
const pause = 150

const Row = ({
  index,
  isFound,
  onOpen,
  reader,
  gap,
  total
}: {
  readonly index: number
  readonly isFound: boolean
  readonly onOpen: (index: number) => void
  readonly reader: LogReader
  readonly gap: number
  readonly total: number
}) => {
  const line = reader.line(index)
  const row = useMemo(() => (line === undefined ? null : rowOf(line.message)), [line])
  return (
    <div
      class={isFound ? "row found" : "row"}
      style={gap === 0 ? {} : { marginTop: `${gap}px` }}
      data-line={index}
      role="listitem"
      aria-setsize={total}
      aria-posinset={index + 1}
    >
      <i>{count(index + 1)}</i>
      {line === undefined || row === null ? null : (
        <>
          <time dateTime={line.timestamp}>{clockOf(line.timestamp)}</time>
          {row.isWhole ? null : (
            <button
              type="button"
              class="more"
              aria-label={text.runs.showLine(line.message.length, index + 1)}
              onClick={() => onOpen(index)}
            >
              {text.runs.allCharacters(line.message.length)}
            </button>
          )}
          <span dir="ltr">{row.text}</span>
        </>
      )}
    </div>
  )
}

/** Columns of a text; those of other scripts may take two. */
const columnsOf = (text: string) => text.length + text.replace(/[\0-\u10ff]/g, "").length

/** The row of the box that a node is in; null where it is in none. */
const lineOf = (box: HTMLElement | null, node: Node | null | undefined): number | null => {
  if (node == null || box?.contains(node) !== true) return null
  const element = node instanceof Element ? node : node.parentElement
  const line = element?.closest("[data-line]")?.getAttribute("data-line")
  return line == null ? null : Number(line)
}

export const Lines = ({
  found,
  isBusy,
  onMove,
  reader,
  sight
}: {
  /** The row that is marked. */
  readonly found: number | null
  readonly isBusy: boolean
  /** What is in sight has changed. */
  readonly onMove: () => void
  readonly reader: LogReader
  readonly sight: LogWindow
}) => {
  const box = useRef<HTMLDivElement>(null)
  const columns = useRef(0)
  const timer = useRef(0)
  /** Where the scroll bar is, as far as it is known. */
  const scroll = useRef(0)
  const [selected, setSelected] = useState<ReadonlyArray<Range>>([])
  const [focused, setFocused] = useState<ReadonlyArray<Range>>([])
  const [opened, setOpened] = useState<number | null>(null)
  const [, redraw] = useReducer((times: number) => times + 1, 0)

  useLayoutEffect(() => {
    const view = box.current
    if (view === null) return
    const measure = () => {
      const row = Math.round(rowHeight * Number.parseFloat(getComputedStyle(document.documentElement).fontSize))
      view.style.setProperty("--row", `${row}px`)
      sight.resize(view.clientHeight, row)
      redraw(undefined)
      onMove()
    }
    const observer = new ResizeObserver(measure)
    observer.observe(view)
    measure()
    return () => observer.disconnect()
  }, [])

  // Rows that are selected stay in the page when they are out of sight, and so does the one that has the focus.
  useEffect(() => {
    const hold = () => {
      const selection = getSelection()
      const ends = [selection?.anchorNode, selection?.focusNode].flatMap((node) => lineOf(box.current, node) ?? [])
      const isNothing = selection === null || selection.isCollapsed || ends.length === 0
      setSelected(isNothing ? [] : [[Math.min(...ends), Math.max(...ends) + 1]])
    }
    document.addEventListener("selectionchange", hold)
    return () => document.removeEventListener("selectionchange", hold)
  }, [])
  const focus = () => {
    const line = lineOf(box.current, document.activeElement)
    setFocused(line === null ? [] : [[line, line + 1]])
  }

  useEffect(() => () => clearTimeout(timer.current), [])

  useLayoutEffect(() => {
    const view = box.current
    // Where it was moved by hand and no event has said so yet, it stays.
    if (view === null || sight.scroll === scroll.current) return
    view.scrollTop = sight.scroll
    // Browsers round it.
    scroll.current = sight.scroll = view.scrollTop
  })

  const scrolled = () => {
    const view = box.current
    // An event of before it was put elsewhere, which happens when it is drawn.
    if (view === null || sight.scroll !== scroll.current) return
    scroll.current = view.scrollTop
    sight.scrolled(view.scrollTop)
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => {
      sight.settle()
      redraw(undefined)
    }, pause)
    redraw(undefined)
    onMove()
  }

  const { rows, top } = sight.rows([...selected, ...focused])
  for (const { index } of rows) {
    const line = reader.line(index)
    if (line !== undefined) columns.current = Math.max(columns.current, columnsOf(rowOf(line.message).text))
  }
  const line = opened === null ? undefined : reader.line(opened)
  return (
    <>
      <div
        class="log"
        ref={box}
        onScroll={scrolled}
        onFocusIn={focus}
        onFocusOut={focus}
        tabIndex={0}
        role="region"
        aria-label={text.common.log}
        aria-busy={isBusy}
      >
        <div class="all" style={{ height: `${sight.height}px`, width: `${columns.current + 26}ch` }}>
          <div role="list" style={{ top: `${top}px` }}>
            {rows.map(({ gap, index }) => (
              <Row
                key={index}
                index={index}
                isFound={index === found}
                onOpen={setOpened}
                reader={reader}
                gap={gap}
                total={reader.total}
              />
            ))}
          </div>
        </div>
      </div>
      {line === undefined || opened === null ? null : (
        <Dialog title={text.runs.line(opened + 1)} onClose={() => setOpened(null)}>
          <Copyable label={text.runs.wholeLine} text={visible(line.message)} />
          <div class="actions">
            <button type="button" class="button" onClick={() => setOpened(null)}>
              {text.common.close}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}
