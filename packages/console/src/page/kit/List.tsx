/** Lists as tables. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { call, useAction } from "../action.ts"
import { cursorOf, type Page, type Query } from "../api.ts"
import { useResource } from "../load.ts"
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
  const loading = useAction()
  const pages = more.of === key ? more.pages : []
  const last = pages.at(-1) ?? first.data
  const seen = new Set<string>()
  const rows = [...(first.data?.data ?? []), ...pages.flatMap(({ data }) => data)].filter(
    ({ id }) => !seen.has(id) && seen.add(id)
  )
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
          <p class="empty">Loading…</p>
        ) : null
      ) : rows.length === 0 ? (
        <>{empty}</>
      ) : (
        <Table label={label} columns={columns} rows={rows} />
      )}
      {last?.has_more === true && rows.length < most ? (
        <div class="empty">
          <Button disabled={loading.isBusy} onClick={() => void loading.run(loadMore)}>
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
