/** Lists as tables. */
import type { ComponentChildren } from "preact"
import { useRef, useState } from "preact/hooks"
import { call, useAction } from "../action.ts"
import { cursorOf, type Page, type Query } from "../api.ts"
import { useResource } from "../load.ts"
import { Button, Empty, Problem, Skeleton } from "./Basics.tsx"
import * as text from "../text/text.ts"

export interface Column<A> {
  readonly title: string
  readonly cell: (row: A) => ComponentChildren
  readonly isNumber?: boolean
}

/** The rows that are chosen, by their ids. */
export interface Selection {
  readonly chosen: ReadonlySet<string>
  readonly choose: (chosen: ReadonlySet<string>) => void
}

/** A box before each row, and one in the head for all that are shown. With shift, all from the last one to this. */
const useBoxes = (rows: ReadonlyArray<{ readonly id: string }>, selection: Selection | undefined) => {
  const last = useRef<string | null>(null)
  if (selection === undefined) return null
  const { choose, chosen } = selection
  const all = rows.filter(({ id }) => chosen.has(id)).length
  return {
    isChosen: (id: string) => chosen.has(id),
    head: (
      <th scope="col" class="choose">
        <input
          type="checkbox"
          aria-label={text.kit.selectAll}
          checked={all > 0 && all === rows.length}
          indeterminate={all > 0 && all < rows.length}
          onChange={(event) => choose(new Set(event.currentTarget.checked ? rows.map(({ id }) => id) : []))}
        />
      </th>
    ),
    cell: (id: string) => (
      <td class="choose">
        <input
          type="checkbox"
          aria-label={text.kit.selectRow}
          checked={chosen.has(id)}
          onClick={(event) => {
            const ids = rows.map((row) => row.id)
            const from = event.shiftKey && last.current !== null ? ids.indexOf(last.current) : -1
            const to = ids.indexOf(id)
            const range = from === -1 ? [id] : ids.slice(Math.min(from, to), Math.max(from, to) + 1)
            const next = new Set(chosen)
            for (const one of range) {
              if (event.currentTarget.checked) next.add(one)
              else next.delete(one)
            }
            last.current = id
            choose(next)
          }}
        />
      </td>
    )
  }
}

export const Table = <A extends { readonly id: string }>({
  columns,
  label,
  rows,
  selection
}: {
  readonly label: string
  readonly columns: ReadonlyArray<Column<A>>
  readonly rows: ReadonlyArray<A>
  readonly selection?: Selection | undefined
}) => {
  const boxes = useBoxes(rows, selection)
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {boxes?.head}
            {columns.map(({ isNumber, title }) => (
              <th key={title} scope="col" class={isNumber === true ? "number" : ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} class={boxes?.isChosen(row.id) === true ? "chosen" : ""}>
              {boxes?.cell(row.id)}
              {columns.map(({ cell, isNumber, title }) => (
                <td key={title} class={isNumber === true ? "number" : ""}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What is done with the rows that are chosen: how many they are, and buttons. Below them, so that no row moves when it comes. */
const BulkBar = ({ selection, children }: { readonly selection: Selection; readonly children: ComponentChildren }) => (
  <div class="bulk">
    <b role="status">{text.kit.selectedRows(selection.chosen.size)}</b>
    {children}
    <Button onClick={() => selection.choose(new Set())}>{text.kit.clearSelection}</Button>
  </div>
)

/** Rows that are in the page at the most, whatever the length of the list. */
const most = 2000

/** A list of the workspace: its first page again and again, and more pages when asked for. */
export const List = <A extends { readonly id: string }>({
  columns,
  empty,
  label,
  path,
  query = {},
  bulk
}: {
  readonly label: string
  readonly path: string
  readonly query?: Query
  readonly columns: ReadonlyArray<Column<A>>
  readonly empty: ComponentChildren
  /** Buttons for the rows that are chosen, whose ids it gets; `done` is called when they are dealt with. */
  readonly bulk?: ((chosen: ReadonlyArray<string>, done: () => void) => ComponentChildren) | undefined
}) => {
  const first = useResource<Page<A>>(path, { limit: 50, ...query })
  const key = JSON.stringify([path, query])
  const [more, setMore] = useState<{ readonly of: string; readonly pages: ReadonlyArray<Page<A>> }>({
    of: key,
    pages: []
  })
  const [chosenOf, setChosen] = useState<{ readonly of: string; readonly ids: ReadonlySet<string> }>({
    of: key,
    ids: new Set()
  })
  const loading = useAction()
  const pages = more.of === key ? more.pages : []
  const last = pages.at(-1) ?? first.data
  const seen = new Set<string>()
  const rows = [...(first.data?.data ?? []), ...pages.flatMap(({ data }) => data)].filter(
    ({ id }) => !seen.has(id) && seen.add(id)
  )
  // What has left the list is not chosen any more.
  const chosen = rows.map(({ id }) => id).filter((id) => chosenOf.of === key && chosenOf.ids.has(id))
  const selection = { chosen: new Set(chosen), choose: (ids: ReadonlySet<string>) => setChosen({ of: key, ids }) }
  const settled = () => {
    selection.choose(new Set())
    setMore({ of: key, pages: [] })
    first.reload()
  }
  const loadMore = async () => {
    const cursor = last === undefined ? undefined : cursorOf(last)
    if (cursor === undefined) return
    const page = await call<Page<A>>("GET", path, { query: { limit: 100, ...query, cursor } })
    setMore({ of: key, pages: [...pages, page] })
  }
  return (
    <>
      <Problem message={first.error ?? loading.error} />
      {first.data === undefined ? (
        first.error === null ? (
          <Skeleton />
        ) : null
      ) : rows.length === 0 ? (
        <>{empty}</>
      ) : (
        <>
          <Table label={label} columns={columns} rows={rows} selection={bulk === undefined ? undefined : selection} />
          {bulk === undefined || chosen.length === 0 ? null : (
            <BulkBar selection={selection}>{bulk(chosen, settled)}</BulkBar>
          )}
        </>
      )}
      {last?.has_more === true && rows.length < most ? (
        <div class="empty">
          <Button disabled={loading.isBusy} onClick={() => void loading.run(loadMore)}>
            {text.kit.more}
          </Button>
        </div>
      ) : null}
      {last?.has_more === true && rows.length >= most ? (
        <Empty title={text.kit.tooMany}>{text.kit.tooManyHint}</Empty>
      ) : null}
    </>
  )
}
