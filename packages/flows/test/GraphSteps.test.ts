/** The graph steps against the sandbox: its HTTP, its files, its lists. */
import { assert, describe, expectTypeOf, layer } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Faults } from "@signalbox/graph-sandbox/Faults"
import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import { AccessTokens } from "@signalbox/graph/AccessTokens"
import { Graph } from "@signalbox/graph/Graph"
import { GraphError } from "@signalbox/graph/GraphError"
import type { SiteId } from "@signalbox/graph/model/Common"
import { defaultPolicy, GraphPolicy } from "@signalbox/graph/Policy"
import type { TransferError } from "@signalbox/graph/TransferError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as Steps from "../src/graph/GraphSteps.ts"

const team = "contoso.sharepoint.test:/sites/team"

const sandbox = GraphSandbox.layer({
  rewriteOffice: true,
  seed: {
    host: "contoso.sharepoint.test",
    users: [
      {
        userPrincipalName: "ann@contoso.test",
        displayName: "Ann Lee",
        drive: {
          "Reports/May #1.txt": "42 orders",
          "Reports/Old/April.txt": "17 orders",
          "Plan of Joan.txt": { shared: { from: "joan@contoso.test", path: "Plans/Plan.txt" } }
        }
      },
      { userPrincipalName: "joan@contoso.test", displayName: "Joan", drive: { "Plans/Plan.txt": "the plan" } }
    ],
    sites: [
      {
        path: "/sites/team",
        displayName: "Team",
        drives: { Documents: {} },
        lists: [
          {
            displayName: "Orders",
            columns: [{ name: "Total", number: {} }],
            items: [
              { Title: "O'Brien", Total: 3 },
              { Title: "Lee", Total: 5 }
            ]
          },
          {
            displayName: "Large",
            columns: [{ name: "Text", text: {} }],
            items: Array.from({ length: 120 }, (_, n) => ({ Title: `${n}`, Text: "x".repeat(10_000) }))
          }
        ]
      }
    ]
  }
})

const connection = Layer.unwrap(
  Effect.gen(function* () {
    const { accessToken, origin } = yield* GraphSandbox
    const token = Redacted.make(yield* accessToken("ann@contoso.test"))
    return Graph.layerHttpClient({ graphUrl: origin, loginUrl: origin }).pipe(
      Layer.provide(AccessTokens.layerFixed(token)),
      Layer.provide(NodeHttpClient.layerUndici)
    )
  })
)

const once = Layer.succeed(GraphPolicy, { ...defaultPolicy, attempts: 1 })

const world = Layer.mergeAll(Layer.provideMerge(connection, sandbox), NodeServices.layer, once)

const AnyError = Schema.Union([...Steps.downloadFile.error.members])

type Needs = Graph | FileSystem.FileSystem | Path.Path

/** A flow of one call, whose results are whatever they are. */
const flowOf = (name: string, body: () => Effect.Effect<unknown, typeof AnyError.Type, Flow.FlowContext<Needs>>) =>
  Flow.make(name, {
    version: 1,
    input: Schema.Void,
    success: Schema.Json,
    error: AnyError,
    idempotencyKey: () => name,
    // Results of steps are JSON, by their schemas.
    run: () => Effect.map(body(), (result) => result as Schema.Json)
  })

const plainly = <A>(step: Effect.Effect<A, typeof AnyError.Type, Flow.FlowContext<Needs>>) =>
  // The flow hands on what the step gave.
  Effect.map(
    Flow.run(
      flowOf("plain", () => step),
      undefined
    ).pipe(Effect.catchTag("InvalidInput", Effect.die)),
    (result) => result as A
  )

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const requestsTo = (text: string) =>
  Effect.map(
    Effect.flatMap(GraphSandbox, ({ requests }) => requests),
    (all) => all.filter(({ url }) => url.includes(text))
  )

const reasonOf = (error: typeof AnyError.Type) => error.reason._tag

layer(world, { excludeTestServices: true })("the graph steps", (it) => {
  describe("their types", () => {
    it("they need the graph, and where files are at hand the file system", () => {
      type Requirement<F> = F extends (...args: never) => Effect.Effect<infer _A, infer _E, Flow.FlowContext<infer R>>
        ? R
        : never
      expectTypeOf<Requirement<typeof Steps.listItems>>().toEqualTypeOf<Graph>()
      expectTypeOf<Requirement<typeof Steps.downloadFile>>().toEqualTypeOf<Needs>()
      expectTypeOf<typeof Steps.uploadFile.error.Type>().toEqualTypeOf<GraphError | TransferError>()
    })
  })

  describe("files", () => {
    it.effect("findFiles returns files, and the targets of shortcuts", () =>
      Effect.gen(function* () {
        const orders = yield* plainly(Steps.findFiles({ text: "orders", within: { path: "/Reports" } }))
        assert.sameMembers(
          orders.map(({ name }) => name),
          ["May #1.txt", "April.txt"]
        )
        assert.isTrue(orders.every(({ kind }) => kind === "file"))
        const [plan] = yield* plainly(Steps.findFiles({ text: "Plan of Joan" }))
        const joans = yield* plainly(
          Steps.listFolder({ folder: { path: "/Plans" }, drive: { user: "joan@contoso.test" } })
        )
        assert.strictEqual(plan?.id, joans[0]?.id)
        assert.strictEqual(plan?.drive, joans[0]?.drive)
      })
    )

    it.effect("listFolder returns files and folders, and downloadFile accepts them", () =>
      Effect.gen(function* () {
        const items = yield* plainly(Steps.listFolder({ folder: { path: "Reports" } }))
        assert.sameDeepMembers(
          items.map(({ kind, name }) => [kind, name]),
          [
            ["file", "May #1.txt"],
            ["folder", "Old"]
          ]
        )
        const may = items.find(({ kind }) => kind === "file")
        if (may === undefined) return assert.fail("there is no file")
        const to = `${yield* folder}/deep/er`
        const local = yield* plainly(Steps.downloadFile({ item: may, to }))
        assert.deepStrictEqual(local, { path: `${to}/May #1.txt`, name: "May #1.txt", size: 9 })
        const fs = yield* FileSystem.FileSystem
        assert.strictEqual(yield* fs.readFileString(local.path), "42 orders")
        const named = yield* plainly(Steps.downloadFile({ item: { path: "/Reports/May #1.txt" }, to, name: "may.txt" }))
        assert.deepStrictEqual(named, { path: `${to}/may.txt`, name: "may.txt", size: 9 })
      })
    )

    it.effect("downloadFile says what it cannot download", () =>
      Effect.gen(function* () {
        const to = yield* folder
        const isFolder = yield* Effect.flip(plainly(Steps.downloadFile({ item: { path: "/Reports" }, to })))
        assert.strictEqual(reasonOf(isFolder), "NotAFile")
        const isNowhere = yield* Effect.flip(plainly(Steps.downloadFile({ item: { path: "/nowhere" }, to })))
        assert.strictEqual(reasonOf(isNowhere), "NotFound")
      })
    )

    it.effect("uploadFile replaces, or fails where other bytes are; the same bytes twice are one upload", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const file = `${yield* folder}/out.txt`
        const item = { path: "/Out/50% #1.txt" }
        const upload = (conflict: "replace" | "fail") => plainly(Steps.uploadFile({ file, item, conflict }))
        yield* fs.writeFileString(file, "one")
        const first = yield* upload("fail")
        assert.deepStrictEqual([first.name, first.kind, first.size], ["50% #1.txt", "file", 3])
        assert.strictEqual((yield* upload("fail")).id, first.id)
        yield* fs.writeFileString(file, "two")
        assert.strictEqual(reasonOf(yield* Effect.flip(upload("fail"))), "NameAlreadyExists")
        assert.strictEqual((yield* upload("replace")).id, first.id)
        const to = yield* folder
        const { path } = yield* plainly(Steps.downloadFile({ item: first, to }))
        assert.strictEqual(yield* fs.readFileString(path), "two")
        yield* fs.remove(file)
        const missing = yield* Effect.flip(upload("replace"))
        assert.strictEqual(reasonOf(missing), "LocalFailed")
        assert.include(missing.message, file)
      })
    )
  })

  describe("Office files in a library of a site", () => {
    it.effect("uploadFile tells how the stored file differs, unless it is not to be compared", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const file = `${yield* folder}/Plan.xlsx`
        yield* fs.writeFileString(file, "a plan")
        const site = yield* plainly(Steps.findSite({ site: team }))
        const upload = { file, drive: { site }, item: { path: "/Plan.xlsx" } }
        const { difference, size } = yield* plainly(Steps.uploadFile(upload))
        assert.deepStrictEqual(difference, { of: "size", here: 6, there: size ?? 0 })
        assert.notProperty(yield* plainly(Steps.uploadFile({ ...upload, verify: false })), "difference")
        const local = yield* plainly(
          Steps.downloadFile({ item: upload.item, drive: { site }, to: yield* folder, verify: false })
        )
        assert.strictEqual(local.size, size)
      })
    )
  })

  describe("lists", () => {
    it.effect("listItems returns the requested fields, filtered and in order", () =>
      Effect.gen(function* () {
        const site = yield* plainly(Steps.findSite({ site: team }))
        const rows = yield* plainly(
          Steps.listItems({
            site,
            list: "Orders",
            fields: ["Title"],
            filter: "fields/Total gt 2",
            orderBy: "fields/Total desc"
          })
        )
        assert.deepStrictEqual(
          rows.map(({ fields }) => fields["Title"]),
          ["Lee", "O'Brien"]
        )
      })
    )

    it.effect("more than 1 MB of items is a defect that says what to do", () =>
      Effect.gen(function* () {
        const site = yield* plainly(Steps.findSite({ site: team }))
        const exit = yield* Effect.exit(plainly(Steps.listItems({ site, list: "Large" })))
        const defect = Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : ""
        assert.match(defect, /the items of the list Large are more than 1000000 bytes.*stream them with Lists\.items/)
      })
    )

    it.effect("createListItem makes one each time; with a key column, the one that is there stays", () =>
      Effect.gen(function* () {
        const site = yield* plainly(Steps.findSite({ site: team }))
        const create = (fields: Steps.ListRow["fields"], key?: string) =>
          plainly(Steps.createListItem({ site, list: "Orders", fields, ...(key === undefined ? {} : { key }) }))
        const first = yield* create({ Title: "D'Arcy & co", Total: 1 }, "Title")
        assert.isTrue(first.created)
        const again = yield* create({ Title: "D'Arcy & co", Total: 2 }, "Title")
        assert.deepStrictEqual(again, { id: first.id, created: false })
        const other = yield* create({ Title: "D'Arcy & co", Total: 2 })
        assert.notStrictEqual(other.id, first.id)
        assert.isFalse((yield* create({ Title: "by number", Total: 2 }, "Total")).created)
        const refused = yield* Effect.flip(create({ Total: 4 }, "Title"))
        assert.instanceOf(refused, GraphError)
        assert.match(refused.message, /InvalidRequest: fields: the key column Title has no text/)
      })
    )
  })

  describe("durably", () => {
    it.effect("a lost response causes neither a second item nor a second search: the step is retried", () =>
      Effect.gen(function* () {
        const { forgetRequests, setFaults } = yield* GraphSandbox
        const to = yield* folder
        const flow = flowOf(
          "durable",
          Effect.fnUntraced(function* () {
            const site: SiteId = yield* Steps.findSite({ site: team })
            const [may] = yield* Steps.listFolder({ folder: { path: "/Reports" } })
            if (may === undefined) return null
            const file = yield* Steps.downloadFile({ item: may, to })
            const copy = yield* Steps.uploadFile({ file: file.path, drive: { site }, item: { path: "May.txt" } })
            const fields = { Title: copy.id, Total: 1 }
            return yield* Steps.createListItem({ site, list: "Orders", fields, key: "Title" })
          })
        )
        yield* Effect.gen(function* () {
          yield* forgetRequests
          yield* setFaults({ rules: [{ fault: "drop", when: "after", method: "POST", path: "/items$", times: 1 }] })
          const result = yield* Flow.execute(flow, undefined)
          assert.propertyVal(result, "created", false)
          assert.strictEqual((yield* requestsTo("/Reports:/children")).length, 1)
          assert.strictEqual((yield* requestsTo("May.txt:/content")).length, 1)
          assert.strictEqual(
            (yield* requestsTo("/lists/Orders/items")).filter(({ method }) => method === "POST").length,
            1
          )
        }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), Layer.fresh(FlowEngine.layerMemory))))
      })
    )

    const durably = (name: string, body: Parameters<typeof flowOf>[1], faults: Faults) =>
      Effect.gen(function* () {
        const { clearFaults, forgetRequests, setFaults } = yield* GraphSandbox
        const flow = flowOf(name, body)
        yield* forgetRequests
        yield* setFaults(faults)
        return yield* Effect.exit(Flow.execute(flow, undefined)).pipe(
          Effect.ensuring(clearFaults),
          Effect.provide(Layer.provideMerge(Flow.layer(flow), Layer.fresh(FlowEngine.layerMemory)))
        )
      })
    const failureOf = (exit: Exit.Exit<unknown, unknown>) =>
      Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "no failure"
    const make = (title: string) =>
      Effect.flatMap(Steps.findSite({ site: team }), (site) =>
        Steps.createListItem({ site, list: "Orders", fields: { Title: title } })
      )
    const posts = Effect.map(requestsTo("/lists/Orders/items"), (all) => all.filter(({ method }) => method === "POST"))

    it.effect("calls of an unavailable or overloaded service are retried until it responds", () =>
      Effect.gen(function* () {
        const exit = yield* durably("away", () => Steps.findSite({ site: team }), {
          rules: [
            { fault: "drop", path: "/sites/", times: 1 },
            { fault: "status", path: "/sites/", skip: 1, times: 1, status: 502 },
            { fault: "throttle", path: "/sites/", skip: 2, times: 1, retryAfter: "decimal", seconds: 0.05 }
          ]
        })
        assert.isTrue(Exit.isSuccess(exit), failureOf(exit))
        assert.strictEqual((yield* requestsTo("/sites/")).length, 4)
      })
    )

    it.effect("createListItem without a key is tried again when nothing was made", () =>
      Effect.gen(function* () {
        const exit = yield* durably("refused", () => make("refused once"), {
          rules: [{ fault: "throttle", method: "POST", times: 1, retryAfter: "decimal", seconds: 0.05 }]
        })
        assert.isTrue(Exit.isSuccess(exit), failureOf(exit))
        assert.strictEqual((yield* posts).length, 2)
      })
    )

    it.effect("createListItem without a key fails when the item may have been made", () =>
      Effect.gen(function* () {
        const exit = yield* durably("lost", () => make("lost"), {
          rules: [{ fault: "drop", when: "after", method: "POST", times: 1 }]
        })
        assert.match(failureOf(exit), /Unreachable/)
        assert.strictEqual((yield* posts).length, 1)
      })
    )

    it.effect("errors that are not transient fail immediately", () =>
      Effect.gen(function* () {
        const exit = yield* durably("nowhere", () => Steps.listFolder({ folder: { path: "/nowhere" } }), { rules: [] })
        assert.match(failureOf(exit), /NotFound/)
        assert.strictEqual((yield* requestsTo("/nowhere")).length, 1)
      })
    )
  })
})
