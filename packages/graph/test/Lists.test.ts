/**
 * Columns, fields by schemas, and what changed in a list, against the sandbox.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as Stream from "effect/Stream"
import * as Batch from "../src/Batch.ts"
import * as Delta from "../src/Delta.ts"
import * as Documents from "../src/Documents.ts"
import * as Drive from "../src/Drive.ts"
import * as Lists from "../src/Lists.ts"
import { ListItemId } from "../src/model/Common.ts"
import * as Sites from "../src/Sites.ts"
import { asked, faults, inSandbox } from "./support/Sandbox.ts"

const team = Effect.map(Sites.get(["contoso.sharepoint.test", "/sites/team"]), ({ id }) => id)
const list = "A/B #1"

/** The id of a column, as the service has it. */
const columnOf = Effect.fnUntraced(function* (name: string) {
  const all = yield* Stream.runCollect(Lists.columns(yield* team, list))
  return all.find((column) => column.name === name)?.id ?? ""
})

describe("columns", () => {
  it.live("are changed, and deleted with what is in them", () =>
    inSandbox(
      Effect.gen(function* () {
        const site = yield* team
        const id = yield* columnOf("Page_x0020_Count")
        const changed = yield* Lists.updateColumn(site, list, id, { displayName: "Pages", indexed: true })
        assert.deepInclude(changed, { id, name: "Page_x0020_Count", displayName: "Pages", indexed: true })
        const refused = yield* Effect.flip(Lists.updateColumn(site, list, id, { text: {} }))
        assert.strictEqual(refused.reason._tag, "InvalidRequest")
        yield* Lists.removeColumn(site, list, id)
        assert.strictEqual(yield* columnOf("Page_x0020_Count"), "")
        const item = yield* Lists.item(site, list, ListItemId.make("1"))
        assert.notProperty(item.fields, "Page_x0020_Count")
        const gone = yield* Effect.flip(Lists.removeColumn(site, list, id))
        assert.strictEqual(gone.reason._tag, "NotFound")
      })
    )
  )
})

describe("changes of a list", () => {
  it.live("are those since the last look, each item once, with the columns of the first look", () =>
    inSandbox(
      Effect.gen(function* () {
        const site = yield* team
        const first = yield* Delta.listItemChanges(site, list, { fields: ["Title"] })
        assert.deepStrictEqual(
          first.items.map(({ fields }) => fields?.["Title"]),
          ["one", "two"]
        )
        assert.notProperty(first.items[0]?.fields, "Page_x0020_Count")
        const added = yield* Lists.createItem(site, list, { Title: "three" })
        yield* Lists.updateItem(site, list, ListItemId.make("2"), { Title: "2" })
        yield* Lists.removeItem(site, list, ListItemId.make("1"))
        const second = yield* Delta.listItemChanges(site, list, { from: first.link ?? "latest" })
        assert.deepStrictEqual(
          second.items.map(({ deleted, fields, id }) => [id, fields?.["Title"] ?? deleted?.state]),
          [
            [added.id, "three"],
            ["2", "2"],
            ["1", "deleted"]
          ]
        )
        assert.isFalse(second.restarted)
      })
    )
  )

  it.live("come page by page, over which faults are retried", () =>
    inSandbox(
      Effect.gen(function* () {
        const site = yield* team
        yield* faults({ fault: "status", status: 503, path: "delta", every: 2, times: 2 })
        const pages = yield* Stream.runCollect(Delta.listItems(site, list, { pageSize: 1 }))
        assert.deepStrictEqual(
          pages.map(({ items, link }) => [items.length, link !== null]),
          [
            [1, false],
            [1, true]
          ]
        )
      })
    )
  )

  it.live("begin again when the service does not know the link any more", () =>
    inSandbox(
      Effect.gen(function* () {
        const site = yield* team
        const { link } = yield* Delta.listItemChanges(site, list, { from: "latest" })
        const stale = Delta.DeltaLink.make((link ?? "").replace(/token=.*/, "token=c3RhbGU"))
        const again = yield* Delta.listItemChanges(site, list, { from: stale })
        assert.deepInclude(again, { restarted: true })
        assert.lengthOf(again.items, 2)
      })
    )
  )

  it.live("of another service are refused, under the function that was called", () =>
    inSandbox(
      Effect.gen(function* () {
        const from = Delta.DeltaLink.make("https://evil.test/v1.0/sites/s/lists/l/items/delta?token=1")
        const error = yield* Effect.flip(Delta.listItemChanges(yield* team, list, { from }))
        assert.strictEqual(error.reason._tag, "InvalidRequest")
        assert.strictEqual(error.request.operation, "Delta.listItems")
      })
    )
  )
})

describe("fields with a schema", () => {
  const schema = Schema.Struct({ Title: Schema.String, Page_x0020_Count: Schema.Finite })

  it.live("have its type", () =>
    inSandbox(
      Effect.gen(function* () {
        const site = yield* team
        const pages = yield* Stream.runFold(
          Lists.items(site, list, { schema }),
          () => 0,
          (sum, { fields }) => sum + fields.Page_x0020_Count
        )
        assert.strictEqual(pages, 8)
        const { fields } = yield* Lists.item(site, list, ListItemId.make("1"), { schema })
        assert.deepStrictEqual(fields, { Title: "one", Page_x0020_Count: 3 })
      })
    )
  )

  it.live("that do not fit name the item and the column", () =>
    inSandbox(
      Effect.gen(function* () {
        const site = yield* team
        yield* Lists.createItem(site, list, { Title: "three" })
        const error = yield* Effect.flip(Stream.runDrain(Lists.items(site, list, { schema })))
        assert.strictEqual(error._tag, "UnexpectedFields")
        assert.include(error, { id: "3", path: "Page_x0020_Count" })
        assert.match(error.message, /^the fields of item 3 do not fit the schema: Page_x0020_Count: /)
      })
    )
  )

  it.live("may be one of another library, also of a file", () =>
    inSandbox(
      Effect.gen(function* () {
        const site = yield* team
        const upper: StandardSchemaV1<unknown, { readonly state: string }> = {
          "~standard": {
            version: 1,
            vendor: "test",
            validate: (value) =>
              typeof value === "object" && value !== null && "State" in value
                ? { value: { state: String(value.State).toUpperCase() } }
                : { issues: [{ message: "Required", path: ["State"] }] }
          }
        }
        yield* Lists.addColumn(site, "Documents", { name: "State", text: {} })
        const file = { path: "/Report.txt" }
        const read = Documents.asListItem(Drive.of({ site }), file, { schema: upper })
        const error = yield* Effect.flip(read)
        assert.include(error, { _tag: "UnexpectedFields", path: "State", expected: "Required" })
        yield* Documents.updateFields(Drive.of({ site }), file, { State: "paid" })
        assert.deepStrictEqual((yield* read).fields, { state: "PAID" })
      })
    )
  )
})

describe("fields that JSON cannot say", () => {
  interface Row {
    readonly Title: string
    readonly Pages?: number
  }
  const circle: { Title: string; self?: object } = { Title: "one" }
  circle.self = circle
  const bad: Row = { Title: "one", Pages: Number.NaN }

  it.live("are refused with their path, before anything is sent", () =>
    inSandbox(
      Effect.gen(function* () {
        const site = yield* team
        const id = ListItemId.make("1")
        yield* faults()
        const messages = yield* Effect.forEach(
          [
            Lists.createItem(site, list, bad),
            Lists.updateItem(site, list, id, bad),
            Documents.updateFields(Drive.of({ site }), { path: "/Report.txt" }, bad),
            // What the compiler refuses in TypeScript.
            Lists.createItem(site, list, circle as object),
            Lists.createItem(site, list, { Title: () => "one" } as object)
          ],
          (call) => Effect.map(Effect.flip(call), ({ message, reason }) => [reason._tag, message.slice(0, 60)] as const)
        )
        assert.deepStrictEqual(
          messages.map(([tag, message]) => [tag, /: (fields\.\w+): /.exec(message)?.[1]]),
          [
            ["InvalidRequest", "fields.Pages"],
            ["InvalidRequest", "fields.Pages"],
            ["InvalidRequest", "fields.Pages"],
            ["InvalidRequest", "fields.self"],
            ["InvalidRequest", "fields.Title"]
          ]
        )
        assert.lengthOf(yield* asked, 0)
      })
    )
  )

  it.live("of one row of many are named by their row, and no row is sent", () =>
    inSandbox(
      Effect.gen(function* () {
        const site = yield* team
        yield* faults()
        const error = yield* Effect.flip(Lists.createItems(site, list, [{ Title: "three" }, bad]))
        assert.match(error.message, /1: fields\.Pages: NaN, which JSON does not have/)
        const of = yield* Effect.flip(
          Batch.send({ a: Batch.raw({ method: "POST", path: "/x", json: { n: [() => 1] } }) })
        )
        assert.match(of.message, /a: n\.0: a function/)
        assert.lengthOf(yield* asked, 0)
      })
    )
  )
})
