/**
 * What users, sites and lists send, and what they make of the answers.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Graph } from "../src/Graph.ts"
import type { GraphError } from "../src/GraphError.ts"
import * as Lists from "../src/Lists.ts"
import { ListItemId, SiteId } from "../src/model/Common.ts"
import { odataText } from "../src/Path.ts"
import * as Sites from "../src/Sites.ts"
import * as Users from "../src/Users.ts"
import { fixtures } from "./support/Fixtures.ts"
import { connect, failure, json, make, type Reply, settle } from "./support/Server.ts"

const answer = (name: keyof typeof fixtures, status = 200) => json(JSON.parse(fixtures[name]), status)
const page = (...names: ReadonlyArray<keyof typeof fixtures>) =>
  json({ value: names.map((name) => JSON.parse(fixtures[name])) })

/** What a call sends and gives when it is answered so. */
const run = <A>(call: Effect.Effect<A, GraphError, Graph>, ...replies: ReadonlyArray<Reply>) =>
  Effect.gen(function* () {
    const server = yield* make
    server.script(...replies)
    const result = yield* settle(server, Effect.result(Effect.provide(call, connect(server))))
    const received = server.received()
    return { result, received, first: received[0], value: result._tag === "Success" ? result.success : undefined }
  })

const collect = <A>(stream: Stream.Stream<A, GraphError, Graph>) => Stream.runCollect(stream)

const site = SiteId.make("contoso.example,g1,g2")

describe("users", () => {
  it.effect("me is one request; selected fields come with the id", () =>
    Effect.gen(function* () {
      const plain = yield* run(Users.me(), answer("me"))
      assert.strictEqual(plain.first?.url, "/v1.0/me")
      assert.strictEqual(plain.value?.displayName, "Ann Lee")
      assert.isNull(plain.value?.jobTitle)
      const selected = yield* run(Users.me({ select: ["aboutMe", "mail"] }), answer("me"))
      assert.strictEqual(selected.first?.url, "/v1.0/me?$select=id%2CaboutMe%2Cmail")
    })
  )

  it.effect("get takes an id or a principal name", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        (yield* run(Users.get("ann@contoso.example"), answer("me"))).first?.url,
        "/v1.0/users/ann@contoso.example"
      )
      assert.strictEqual((yield* run(Users.get("a#b@x"), answer("me"))).first?.url, "/v1.0/users/a%23b@x")
    })
  )

  it.effect("B3: a search follows every page, and each of them asks for the consistency", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond((_, index) =>
        json({
          value: Array.from({ length: 100 }, (_, n) => ({ id: `u${index * 100 + n}` })),
          ...(index < 2 ? { "@odata.nextLink": `${server.origin}/v1.0/users?$skiptoken=m~AQ%27${index}` } : {})
        })
      )
      const users = yield* settle(server, Effect.provide(collect(Users.search("Jo")), connect(server)))
      assert.lengthOf(users, 300)
      assert.strictEqual(users[299]?.id, "u299")
      for (const { headers } of server.received()) assert.strictEqual(headers["consistencylevel"], "eventual")
      assert.strictEqual(
        new URL(server.received()[0]?.url ?? "", server.origin).searchParams.get("$search"),
        '"displayName:Jo"'
      )
    })
  )

  it.effect("B5: a text to search for stays a text", () =>
    Effect.gen(function* () {
      const text = 'a "b" \\ O\'Brien & co/x#?%'
      const { first } = yield* run(collect(Users.search(text)), page())
      const url = new URL(first?.url ?? "", "http://h")
      assert.strictEqual(url.pathname, "/v1.0/users")
      assert.strictEqual(url.searchParams.get("$search"), '"displayName:a \\"b\\" \\\\ O\'Brien & co/x#?%"')
      const start = yield* run(collect(Users.search(text, { mode: "startsWith", field: "surname" })), page())
      assert.strictEqual(
        new URL(start.first?.url ?? "", "http://h").searchParams.get("$filter"),
        `startswith(surname,'a "b" \\ O''Brien & co/x#?%')`
      )
    })
  )

  it.effect("B11: the header of a search that failed is not on the next call", () =>
    Effect.gen(function* () {
      const both = Effect.andThen(Effect.exit(collect(Users.search("Jo"))), Users.me())
      const { received } = yield* run(both, failure(400, "Request_UnsupportedQuery"), answer("me"))
      assert.strictEqual(received[0]?.headers["consistencylevel"], "eventual")
      assert.isUndefined(received[1]?.headers["consistencylevel"])
    })
  )

  it.effect("B17: the options of one list are not those of the next", () =>
    Effect.gen(function* () {
      const both = Effect.andThen(
        collect(Users.stream({ filter: "accountEnabled eq true", pageSize: 5 })),
        collect(Users.stream())
      )
      const { received } = yield* run(both, page("me"))
      assert.strictEqual(received[0]?.url, "/v1.0/users?$filter=accountEnabled%20eq%20true&$top=5")
      assert.strictEqual(received[1]?.url, "/v1.0/users")
    })
  )

  it.effect("a search elsewhere, with members that are no users", () =>
    Effect.gen(function* () {
      const members = json({ value: [{ "@odata.type": "#microsoft.graph.group", id: "g2", displayName: "Sub" }] })
      const { first, value } = yield* run(collect(Users.search("S", { resource: "groups/g1/members" })), members)
      assert.isTrue(first?.url.startsWith("/v1.0/groups/g1/members?"))
      assert.strictEqual(value?.[0]?.["@odata.type"], "#microsoft.graph.group")
    })
  )

  it.effect("an answer that the service breaks off is an error, not a short list", () =>
    Effect.gen(function* () {
      const body = '{"value":[{"id":"u1"},{"error":{"code":"InternalServerError","message":"x"}}]}'
      const { result } = yield* run(collect(Users.search("Jo")), { status: 200, body })
      assert.strictEqual(result._tag === "Failure" ? result.failure.code : "", "InternalServerError")
    })
  )

  it.effect("a photo is bytes", () =>
    Effect.gen(function* () {
      const { first, value } = yield* run(Users.photo("u1"), { status: 200, body: "abc" })
      assert.strictEqual(first?.url, "/v1.0/users/u1/photo/$value")
      assert.deepStrictEqual([...(value ?? [])], [97, 98, 99])
    })
  )
})

describe("sites", () => {
  const forms: ReadonlyArray<readonly [string, Sites.SiteAddress, string]> = [
    ["root", "root", "/sites/root"],
    ["a host", "contoso.example", "/sites/contoso.example"],
    ["an id", "contoso.example,g1,g2", "/sites/contoso.example,g1,g2"],
    ["an id with blanks", "contoso.example, g1, g2", "/sites/contoso.example,g1,g2"],
    ["the parts of an id", ["contoso.example", " g1", "g2 "], "/sites/contoso.example,g1,g2"],
    ["a host and a path", ["contoso.example", "/sites/team"], "/sites/contoso.example:/sites/team:"],
    ["a path without its slash", ["contoso.example", "sites/My Team"], "/sites/contoso.example:/sites/My%20Team:"],
    ["a host and its root", ["contoso.example", "/"], "/sites/contoso.example"],
    ["a host and a path in one", "contoso.example:/sites/My Team:", "/sites/contoso.example:/sites/My%20Team:"],
    ["an address", "https://contoso.example/sites/My%20Team", "/sites/contoso.example:/sites/My%20Team:"],
    [
      "the address of a page",
      "https://contoso.example/sites/t/SitePages/Home.aspx?x=1",
      "/sites/contoso.example:/sites/t:"
    ],
    ["the address of a host", "https://contoso.example/", "/sites/contoso.example"]
  ]
  it.effect.each(forms)("get by %s", ([, address, url]) =>
    Effect.gen(function* () {
      const { first, value } = yield* run(Sites.get(address), answer("site"))
      // B16: one slash, wherever parts meet.
      assert.strictEqual(first?.url, `/v1.0${url}`)
      assert.strictEqual(value?.displayName, "Team")
    })
  )

  it.effect("get the root of a group", () =>
    Effect.gen(function* () {
      const { first } = yield* run(Sites.get("root", { resource: "groups/g1" }), answer("site"))
      assert.strictEqual(first?.url, "/v1.0/groups/g1/sites/root")
    })
  )

  it.effect("B6: the libraries come from every page", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond((_, index) =>
        json({
          value: [{ id: `d${index}`, driveType: "documentLibrary" }],
          ...(index < 3 ? { "@odata.nextLink": `${server.origin}/v1.0/sites/s/drives?p=${index}` } : {})
        })
      )
      const drives = yield* settle(server, Effect.provide(collect(Sites.drives(site)), connect(server)))
      assert.deepStrictEqual(
        drives.map(({ id }) => String(id)),
        ["d0", "d1", "d2", "d3"]
      )
      assert.strictEqual(server.received()[0]?.url, "/v1.0/sites/contoso.example,g1,g2/drives")
    })
  )

  const others: ReadonlyArray<readonly [string, Effect.Effect<unknown, GraphError, Graph>, string]> = [
    ["search", collect(Sites.search("a&b")), "/sites?search=a%26b"],
    ["subsites", collect(Sites.subsites(site)), "/sites/contoso.example,g1,g2/sites"],
    ["followed", collect(Sites.followed), "/me/followedSites"]
  ]
  it.effect.each(others)("%s", ([, call, url]) =>
    Effect.gen(function* () {
      const { first, result } = yield* run(call, page("site"))
      assert.strictEqual(first?.url, `/v1.0${url}`)
      assert.strictEqual(result._tag, "Success")
    })
  )
})

describe("lists", () => {
  const base = "/v1.0/sites/contoso.example,g1,g2/lists"

  it.effect("create sends what it is given, once", () =>
    Effect.gen(function* () {
      const data = { displayName: "Books", columns: [{ name: "PageCount", number: {} }] }
      const made = yield* run(Lists.create(site, data), answer("list", 201))
      assert.strictEqual(made.first?.url, base)
      assert.deepStrictEqual(JSON.parse(made.first?.body ?? ""), { list: { template: "genericList" }, ...data })
      assert.strictEqual(made.value?.list?.template, "genericList")
      const own = yield* run(
        Lists.create(site, { ...data, list: { template: "documentLibrary" } }),
        answer("list", 201)
      )
      assert.strictEqual(JSON.parse(own.first?.body ?? "").list.template, "documentLibrary")
      const failed = yield* run(Lists.create(site, data), failure(503, "serviceNotAvailable"))
      assert.lengthOf(failed.received, 1)
    })
  )

  it.effect("B5: the name of a list is one segment", () =>
    Effect.gen(function* () {
      const { first } = yield* run(Lists.get(site, "A/B #1"), answer("list"))
      assert.strictEqual(first?.url, `${base}/A%2FB%20%231`)
    })
  )

  it.effect("columns have two names each", () =>
    Effect.gen(function* () {
      const columns = json({
        value: [
          JSON.parse(fixtures.titleColumn),
          JSON.parse(fixtures.numberColumn),
          { id: "c3", name: "Modified", displayName: "Modified", readOnly: true },
          { id: "c4", name: "Page0", displayName: "Page Count" }
        ]
      })
      const { first, value } = yield* run(Lists.columnNames(site, "Books"), columns)
      assert.strictEqual(first?.url, `${base}/Books/columns`)
      assert.deepStrictEqual(
        [...(value?.internalOf ?? [])],
        [
          ["Title", "Title"],
          ["Page Count", "Page_x0020_Count"]
        ]
      )
      assert.strictEqual(value?.displayOf.get("Page0"), "Page Count")
      assert.isFalse(value?.displayOf.has("Modified"))
    })
  )

  it.effect("items come with their fields", () =>
    Effect.gen(function* () {
      const { first, value } = yield* run(collect(Lists.items(site, "Books")), page("listItem"))
      assert.strictEqual(first?.url, `${base}/Books/items?$expand=fields&$top=999`)
      assert.isUndefined(first?.headers["prefer"])
      assert.strictEqual(value?.[0]?.fields?.["Page_x0020_Count"], 3)
    })
  )

  it.effect("a filter carries the header without which it may be refused, on every page", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.respond((_, index) =>
        json({ value: [], ...(index === 0 ? { "@odata.nextLink": `${server.origin}/v1.0/x` } : {}) })
      )
      const filter = `fields/Author eq ${odataText("Le Guin's")}`
      yield* settle(
        server,
        Effect.provide(collect(Lists.items(site, "Books", { fields: ["Title"], filter })), connect(server))
      )
      const [first] = server.received()
      const query = new URL(first?.url ?? "", "http://h").searchParams
      assert.strictEqual(query.get("$filter"), "fields/Author eq 'Le Guin''s'")
      assert.strictEqual(query.get("$expand"), "fields($select=Title)")
      for (const { headers } of server.received()) {
        assert.strictEqual(headers["prefer"], "HonorNonIndexedQueriesWarningMayFailRandomly")
      }
      const strict = yield* run(collect(Lists.items(site, "Books", { filter, unindexed: false })), page())
      assert.isUndefined(strict.first?.headers["prefer"])
    })
  )

  it.effect("the fields of an item are those of any interface, with dates and what is undefined", () =>
    Effect.gen(function* () {
      interface Book {
        readonly Title: string
        readonly Read: Date
        readonly Pages?: number | undefined
      }
      const book: Book = { Title: "one", Read: new Date(0), Pages: undefined }
      const made = yield* run(Lists.createItem(site, "Books", book), answer("listItem", 201))
      assert.strictEqual(made.first?.body, '{"fields":{"Title":"one","Read":"1970-01-01T00:00:00.000Z"}}')
      // @ts-expect-error A function is no value of a column.
      assert.isDefined(Lists.createItem(site, "Books", { Title: () => "one" }))
    })
  )

  it.effect("an item is made, changed when it is as it was read, and deleted", () =>
    Effect.gen(function* () {
      const id = ListItemId.make("7")
      const made = yield* run(Lists.createItem(site, "Books", { Title: "one" }), answer("listItem", 201))
      assert.deepStrictEqual([made.first?.method, made.first?.body], ["POST", '{"fields":{"Title":"one"}}'])
      const changed = yield* run(
        Lists.updateItem(site, "Books", id, { Title: "two" }, { ifMatch: '"e,1"' }),
        failure(412, "resourceModified")
      )
      assert.deepStrictEqual(
        [changed.first?.method, changed.first?.url, changed.first?.headers["if-match"], changed.first?.body],
        ["PATCH", `${base}/Books/items/7/fields`, '"e,1"', '{"Title":"two"}']
      )
      assert.strictEqual(
        changed.result._tag === "Failure" ? changed.result.failure.reason._tag : "",
        "PreconditionFailed"
      )
      const gone = yield* run(Lists.removeItem(site, "Books", id), { status: 204 })
      assert.strictEqual(gone.first?.method, "DELETE")
    })
  )

  it.effect("a DELETE whose answer was lost has done its work; one of nothing is NotFound", () =>
    Effect.gen(function* () {
      const remove = Lists.remove(site, "Books")
      assert.strictEqual((yield* run(remove, "reset", failure(404, "itemNotFound"))).result._tag, "Success")
      const { result } = yield* run(remove, failure(404, "itemNotFound"))
      assert.strictEqual(result._tag === "Failure" ? result.failure.reason._tag : "", "NotFound")
    })
  )

  it.effect("an answer of another shape says where, and not what was there", () =>
    Effect.gen(function* () {
      const { result } = yield* run(Lists.get(site, "Books"), json({ id: "l", list: { hidden: "ANSWERSECRET" } }))
      const error = result._tag === "Failure" ? result.failure : undefined
      assert.strictEqual(error?.reason._tag, "Malformed")
      assert.include(error?.message, "list.hidden")
      assert.notInclude(`${error?.message}${JSON.stringify(error)}`, "ANSWERSECRET")
    })
  )
})
