/** Lists as tables. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { cursorOf, type Page, type Query, send, addressOf } from "../api.ts"
import { useResource } from "../load.ts"
import { session, say } from "../state.ts"
import { Button, Empty, Problem } from "./Basics.tsx"

export interface Column<A> {
  readonly title: string
  readonly cell: (row: A) => ComponentChildren
  readonly isNumber?: boolean
}

export const Table = <A extends { readonly id: string }>({
  columns,
  label,
  rows
}: {
  readonly label: string
  readonly columns: ReadonlyArray<Column<A>>
  readonly rows: ReadonlyArray<A>
}) => (
  <div class="scroll" tabIndex={0} role="region" aria-label={label}>
    <table>
      <thead>
        <tr>
          {columns.map(({ isNumber, title }) => (
            <th key={title} scope="col" class={isNumber === true ? "number" : ""}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
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

/** Rows that are in the page at the most, whatever the length of the list. */
const most = 2000

/** A list of the workspace: its first page again and again, and more pages when asked for. */
export const List = <A extends { readonly id: string }>({
  columns,
  empty,
  label,
  path,
  query = {}
}: {
  readonly label: string
  readonly path: string
  readonly query?: Query
  readonly columns: ReadonlyArray<Column<A>>
  readonly empty: ComponentChildren
}) => {
  const first = useResource<Page<A>>(path, { limit: 50, ...query })
  const key = JSON.stringify([path, query])
  const [more, setMore] = useState<{ readonly of: string; readonly pages: ReadonlyArray<Page<A>> }>({
    of: key,
    pages: []
  })
  const [isLoading, setLoading] = useState(false)
  const pages = more.of === key ? more.pages : []
  const last = pages.at(-1) ?? first.data
  const seen = new Set<string>()
  const rows = [...(first.data?.data ?? []), ...pages.flatMap(({ data }) => data)].filter(
    ({ id }) => !seen.has(id) && seen.add(id)
  )
  const loadMore = async () => {
    const cursor = last === undefined ? undefined : cursorOf(last)
    if (cursor === undefined || session.value == null) return
    setLoading(true)
    try {
      // As in `useResource`.
      const page = (await send("GET", addressOf(session.value, path, { limit: 100, ...query, cursor }))) as Page<A>
      setMore({ of: key, pages: [...pages, page] })
    } catch (error) {
      say(String(error), "failed")
    }
    setLoading(false)
  }
  return (
    <>
      <Problem message={first.error} />
      {first.data === undefined ? (
        first.error === null ? (
          <p class="empty">Loading…</p>
        ) : null
      ) : rows.length === 0 ? (
        <>{empty}</>
      ) : (
        <Table label={label} columns={columns} rows={rows} />
      )}
      {last?.has_more === true && rows.length < most ? (
        <div class="empty">
          <Button disabled={isLoading} onClick={() => void loadMore()}>
            Show more
          </Button>
        </div>
      ) : null}
      {last?.has_more === true && rows.length >= most ? (
        <Empty title="There are more than can be shown at once">Narrow the list by its filters.</Empty>
      ) : null}
    </>
  )
}
