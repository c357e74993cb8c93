/**
 * The columns of a list.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "../requests/Address.ts"
import * as Failure from "../model/Failure.ts"
import { created, dispatch, type GraphRequest, nameOf, noContent, ok } from "../requests/GraphRequest.ts"
import * as ListModel from "../world/ListModel.ts"
import type { Column, List } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"

const all = (list: List, request: GraphRequest) =>
  Pages.page(request, { of: "columns", rows: list.columns, view: (column) => column, size: 999, max: 999 })

const add = Effect.fnUntraced(function* (list: List, request: GraphRequest) {
  const body = yield* request.json
  const name = yield* nameOf(body, "name")
  return created(yield* Effect.fromResult(ListModel.addColumn(list, { ...body, name })))
})

interface In {
  readonly list: List
  readonly column: Column
}

const get = ({ column }: In, request: GraphRequest) => Effect.succeed(Pages.one(request, "columns", column))

const patch = Effect.fnUntraced(function* ({ column, list }: In, request: GraphRequest) {
  return ok(yield* Effect.fromResult(ListModel.updateColumn(list, column, yield* request.json)))
})

const remove = Effect.fnUntraced(function* ({ column, list }: In) {
  yield* Effect.fromResult(ListModel.removeColumn(list, column))
  return noContent
})

/** What follows `columns` of a list in an address. */
export const columns = Effect.fnUntraced(function* (list: List, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key] = rest
  if (key === undefined) return yield* dispatch({ GET: all, POST: add }, list, request)
  const column = list.columns.find(({ id, name }) => id === key.text || name === key.text)
  if (column === undefined) return yield* Failure.itemNotFound("The specified column was not found")
  return yield* dispatch({ GET: get, PATCH: patch, DELETE: remove }, { list, column }, request)
})
