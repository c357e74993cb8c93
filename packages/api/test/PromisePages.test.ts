/** Pages with promises: each gets the one after it. */
import { deepStrictEqual } from "node:assert"
import { assert, describe, it } from "vitest"
import { type Client, connect, type ListPage } from "../src/Promise.ts"
import { answer, type FaultServer } from "./support/FaultServer.ts"
import { optionsOf, withRoom } from "./support/PromiseRoom.ts"

const page = (next: string | null) => answer(200, { data: [], has_more: next !== null, next })

const sent = (server: FaultServer) =>
  server.received().map(({ path }) => Object.fromEntries(new URL(path, server.origin).searchParams))

/** Each list of a client, with a parent where it takes one. */
const listsOf = (room: Client) =>
  Object.entries(room).flatMap(([module, functions]: readonly [string, object]) =>
    Object.entries(functions).flatMap(([name, list]) =>
      name.startsWith("list") ? [{ name: `${module}.${name}`, list }] : []
    )
  )

const ofParent = new Set(["outputs.list", "stepRuns.list", "taskPackages.listVersions", "users.listSessions"])

describe("a page with promises", () => {
  it("reads the one after it with the same filter, size and options, until there is none", () =>
    withRoom(async (room, server) => {
      server.script([page("https://elsewhere.example/list?cursor=c1"), page("/list?cursor=c2"), page(null)])
      const first = await room.workItems.list({ state: "failed", limit: 2 }, { headers: { "x-case": "1" } })
      const second = await first.nextPage()
      const third = await second?.nextPage()
      assert.isNull(await third?.nextPage())
      const query = { state: "failed", limit: "2" }
      assert.deepStrictEqual(sent(server), [query, { ...query, cursor: "c1" }, { ...query, cursor: "c2" }])
      assert.deepStrictEqual(
        server.received().map(({ headers }) => headers["x-case"]),
        ["1", "1", "1"]
      )
    }))

  it("takes options of the call itself", () =>
    withRoom(async (room, server) => {
      server.script([page("/list?cursor=c1"), page(null)])
      const first = await room.processes.list(undefined, { headers: { "x-case": "1" } })
      await first.nextPage({ headers: { "x-case": "2" } })
      assert.deepStrictEqual(
        server.received().map(({ headers }) => headers["x-case"]),
        ["1", "2"]
      )
    }))

  it("is the JSON of the service, and equal to it", () =>
    withRoom(async (room, server) => {
      server.script([page("/list?cursor=c1")])
      const first = await room.processes.list()
      const json = { data: [], has_more: true, next: "/list?cursor=c1" }
      deepStrictEqual(first, json)
      assert.strictEqual(JSON.stringify(first), JSON.stringify(json))
      assert.deepStrictEqual(Object.keys(structuredClone(first)), ["data", "has_more", "next"])
    }))

  const lists = listsOf(connect({ baseUrl: "http://127.0.0.1", apiKey: "key", workspaceId: "workspace" }))

  for (const { name } of lists) {
    it(`of ${name} has it`, () =>
      withRoom(async (_, server) => {
        server.script([page("/list?cursor=c1"), page(null)])
        await using room = connect(optionsOf(server))
        const list = listsOf(room).find((one) => one.name === name)?.list as (
          ...args: ReadonlyArray<unknown>
        ) => Promise<ListPage<unknown>>
        const first = await (ofParent.has(name) ? list("parent") : list())
        const second = await first.nextPage()
        assert.isNull(second?.next)
        assert.strictEqual(sent(server)[1]?.["cursor"], "c1")
      }))
  }

  it("is one of all lists", () => assert.isAtLeast(lists.length, 16))
})
