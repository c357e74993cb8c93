/**
 * The client with promises, against the sandbox, and where it must be against a scripted server.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  Closed,
  connectGraph,
  driveOf,
  FolderIncomplete,
  Forbidden,
  type GraphClient,
  type GraphOptions,
  GraphRequestError,
  InvalidRequest,
  me,
  NamesRefused,
  NotAFile,
  NotFound,
  OutcomeUnknown,
  path,
  root,
  Throttled,
  Timeout,
  UnexpectedFields,
  UploadFolderIncomplete
} from "../src/Promise.ts"
import * as Users from "../src/Users.ts"
import { all, rejection } from "./support/Promises.ts"
import { failure, json, make, type Server } from "./support/Server.ts"
import { asked, askedOfFiles, faults, GraphSandbox, inSandbox, someBytes } from "./support/Sandbox.ts"

/** Runs with a client of a sandbox. */
const withGraph = (body: (graph: GraphClient, folder: string) => Promise<void>) =>
  inSandbox(
    Effect.gen(function* () {
      const { accessToken, origin } = yield* GraphSandbox
      const token = yield* accessToken()
      const folder = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "promise-"))),
        (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
      )
      yield* Effect.promise(async () => {
        await using graph = connectGraph({ token, graphUrl: origin, loginUrl: origin, policy: { baseMillis: 1 } })
        await body(graph, folder)
      })
    })
  )

/** Runs with a client of a scripted server. */
const withServer = (body: (graph: GraphClient, server: Server) => Promise<void>, options: GraphOptions = {}) =>
  Effect.gen(function* () {
    const server = yield* make
    yield* Effect.promise(async () => {
      await using graph = connectGraph({
        token: "TOKEN-1",
        graphUrl: server.origin,
        policy: { attempts: 2, baseMillis: 1 },
        ...options
      })
      await body(graph, server)
    })
  }).pipe(Effect.scoped)

describe("the modules", () => {
  it.live("people, sites and lists", () =>
    withGraph(async (graph) => {
      assert.strictEqual((await graph.users.me()).displayName, "Ann Lee")
      assert.strictEqual((await graph.users.get("joan@contoso.test", { select: ["mail"] })).mail, "joan@contoso.test")
      assert.lengthOf(await all(graph.users.search("Ann")), 1)
      const site = await graph.sites.get(["contoso.sharepoint.test", "/sites/team"])
      assert.lengthOf(await all(graph.sites.drives(site.id)), 2)
      await graph.lists.create(site.id, { displayName: "Books", columns: [{ name: "Pages", number: {} }] })
      const rows = [{ Title: "one", Pages: 1 }, { Nothing: 1 }, { Title: "three" }]
      const results = await graph.lists.createItems(site.id, "Books", rows)
      assert.deepStrictEqual(
        results.map(({ outcome }) => outcome),
        ["done", "refused", "done"]
      )
      const [first, second] = results
      assert.strictEqual(first?.outcome === "done" ? first.value.fields?.["Title"] : "", "one")
      assert.instanceOf(second !== undefined && "error" in second ? second.error : undefined, InvalidRequest)
      const items = await all(graph.lists.items(site.id, "Books", { filter: "fields/Pages eq 1" }))
      assert.lengthOf(items, 1)
    })
  )

  it.live("drives, bytes and changes", () =>
    withGraph(async (graph) => {
      const names = (await all(graph.drives.children(me, { path: "/Docs" }))).map(({ name }) => name)
      assert.include(names, "a #1%.txt")
      const bytes = someBytes(5_000_000)
      const sent: Array<number> = []
      const file = new File([Uint8Array.from(bytes)], "big.bin")
      const item = await graph.uploads.upload(me, { path: "/Up/big.bin" }, file, {
        fragmentBytes: 10 * 327_680,
        onProgress: (progress) => void sent.push(progress.sent)
      })
      assert.deepStrictEqual(sent, [3_276_800, 5_000_000])
      assert.deepStrictEqual(await graph.downloads.bytes(me, item), bytes)
      let size = 0
      for await (const chunk of graph.downloads.stream(me, item)) size += chunk.length
      assert.strictEqual(size, bytes.length)
      const { link } = await graph.delta.changes(me)
      await graph.drives.remove(me, item)
      const { items } = await graph.delta.changes(me, { from: link ?? "" })
      assert.isTrue(items.some(({ deleted }) => deleted !== undefined))
      const shared = await graph.sharing.createLink(me, { path: "/Docs" })
      assert.isString(shared.link?.webUrl)
    })
  )

  it.live("local files", () =>
    withGraph(async (graph, folder) => {
      const { path } = await graph.files.download(me, { path: "/Docs/a #1%.txt" }, { to: folder })
      assert.strictEqual(await readFile(path, "utf8"), "hello world")
      await graph.files.upload(me, { path: "/Copy.txt" }, path)
      assert.strictEqual((await graph.drives.item(me, { path: "/Copy.txt" })).size, 11)
      const report = await graph.files.downloadFolder(me, { path: "/Docs" }, { to: join(folder, "docs") })
      assert.strictEqual(report.files, 3)
      const done: Array<string> = []
      const onProgress = ({ path }: { readonly path: string }) => void done.push(path)
      const sent = await graph.files.uploadFolder(me, { path: "/Up" }, join(folder, "docs"), { onProgress })
      assert.deepStrictEqual([sent.files, done.length], [3, 3])
      const again = await graph.files.uploadFolder(me, { path: "/Up" }, join(folder, "docs"))
      assert.strictEqual(again.present, 3)
    })
  )

  it.live("batches, raw calls and effects", () =>
    withGraph(async (graph) => {
      const { me, none } = await graph.batch.send({ me: { path: "/me" }, none: { path: path`/users/${"no one"}` } })
      assert.strictEqual(me.outcome, "done")
      assert.instanceOf("error" in none ? none.error : undefined, NotFound)
      const results = await graph.batch.all(["ann", "joan"], (name) => ({
        path: path`/users/${`${name}@contoso.test`}`
      }))
      assert.isTrue(results.every(({ outcome }) => outcome === "done"))
      assert.strictEqual((await graph.raw.send({ path: "/me" })).status, 200)
      assert.strictEqual((await graph.run(Users.me())).displayName, "Ann Lee")
    })
  )
})

describe("an error", () => {
  it.live("is a class of its kind, with the facts of the request, and stands where it was called", () =>
    withServer(async (graph, server) => {
      server.script(failure(404, "itemNotFound"))
      const whereItIsCalled = () => graph.drives.item(me, { path: "/none" })
      const error = await rejection(whereItIsCalled())
      assert.instanceOf(error, NotFound)
      assert.isTrue(error instanceof GraphRequestError)
      const { attempts, code, operation, requestId, status } = error
      assert.deepStrictEqual(
        { attempts, code, operation, requestId, status },
        { attempts: 1, code: "itemNotFound", operation: "drives.item", requestId: "r-1", status: 404 }
      )
      assert.match(error.stack?.split("\n")[1] ?? "", /whereItIsCalled/)
      assert.match(error.message, /told to fail, on drives\.item \(404 itemNotFound, request r-1\)/)
      assert.strictEqual((error.cause as { readonly _tag: string })._tag, "GraphError")
    })
  )

  it.live("says when to come back, and how often it was tried", () =>
    withServer(async (graph, server) => {
      server.script(failure(429, "TooManyRequests", { "retry-after": "0.01" }))
      const error = await rejection(graph.users.me())
      assert.instanceOf(error, Throttled)
      assert.strictEqual(error.attempts, 2)
      assert.strictEqual(error.retryAfterMillis, 10)
    })
  )

  it.live("of an iteration stands where it was made", () =>
    withServer(async (graph, server) => {
      server.script(failure(403, "accessDenied"))
      const whereItIsListed = () => graph.users.stream()
      const error = await rejection(all(whereItIsListed()))
      assert.instanceOf(error, Forbidden)
      assert.strictEqual(error.operation, "users.stream")
      assert.match(error.stack ?? "", /whereItIsListed/)
    })
  )

  it.live("of a transfer is a class as well", () =>
    withGraph(async (graph, folder) => {
      assert.instanceOf(await rejection(graph.downloads.bytes(me, { path: "/Docs" })), NotAFile)
      const error = await rejection(graph.files.downloadFolder(driveOf({ user: "nobody" }), root, { to: folder }))
      assert.instanceOf(error, NotFound)
      assert.isFunction(FolderIncomplete)
    })
  )

  it.live("of a folder that goes up has its report, or the names that are refused", () =>
    withGraph(async (graph, folder) => {
      await writeFile(join(folder, "a.txt"), "a")
      const taken = graph.files.uploadFolder(me, { path: "/Docs" }, folder, { conflict: "fail" })
      assert.strictEqual((await taken).files, 1)
      await writeFile(join(folder, "a.txt"), "b")
      const incomplete = await rejection(graph.files.uploadFolder(me, { path: "/Docs" }, folder, { conflict: "fail" }))
      assert.instanceOf(incomplete, UploadFolderIncomplete)
      assert.deepStrictEqual(
        incomplete.report.failures.map(({ path }) => path),
        ["/a.txt"]
      )
      await writeFile(join(folder, "b."), "b")
      const refused = await rejection(graph.files.uploadFolder(me, { path: "/Docs" }, folder))
      assert.instanceOf(refused, NamesRefused)
      assert.strictEqual(refused.names[0]?.path, "/b.")
    })
  )

  it.live("of a write in a batch whose connection broke says that nobody knows", () =>
    withServer(async (graph, server) => {
      server.script("reset")
      const [result] = await graph.batch.all([1], (n) => ({ method: "POST", path: "/x", json: { n } }))
      assert.strictEqual(result?.outcome, "unknown")
      assert.instanceOf(result !== undefined && "error" in result ? result.error : undefined, OutcomeUnknown)
    })
  )
})

describe("a call ends", () => {
  it.live("by a signal, with its reason, and sends no more", () =>
    inSandbox(
      Effect.gen(function* () {
        const { accessToken, origin } = yield* GraphSandbox
        const token = yield* accessToken()
        yield* faults()
        yield* Effect.promise(async () => {
          await using graph = connectGraph({ token, graphUrl: origin })
          const controller = new AbortController()
          const reason = new Error("no more")
          const upload = graph.withSignal(controller.signal).uploads.upload(me, { path: "/b" }, someBytes(5_000_000), {
            fragmentBytes: 327_680,
            onProgress: ({ sent }) => {
              if (sent > 600_000) controller.abort(reason)
            }
          })
          assert.strictEqual(await rejection(upload), reason)
        })
        const methods = (yield* askedOfFiles).map(({ method }) => method)
        assert.isAtMost(methods.filter((method) => method === "PUT").length, 3)
        assert.strictEqual(methods.at(-1), "DELETE")
      })
    )
  )

  it.live("with what onProgress rejects with, and the session is cancelled", () =>
    inSandbox(
      Effect.gen(function* () {
        const { accessToken, origin } = yield* GraphSandbox
        const token = yield* accessToken()
        yield* faults()
        yield* Effect.promise(async () => {
          await using graph = connectGraph({ token, graphUrl: origin })
          const upload = graph.uploads.upload(me, { path: "/b" }, new Blob([Uint8Array.from(someBytes(5_000_000))]), {
            onProgress: () => Promise.reject(new RangeError("full")),
            fragmentBytes: 327_680
          })
          assert.instanceOf(await rejection(upload), RangeError)
        })
        assert.deepStrictEqual(
          (yield* askedOfFiles).map(({ method }) => method),
          ["PUT", "DELETE"]
        )
      })
    )
  )

  it.live("by its timeout", () =>
    withServer(async (graph, server) => {
      server.script("hang")
      const error = await rejection(graph.users.me({}, { timeout: 20 }))
      assert.instanceOf(error, Timeout)
      assert.strictEqual(error.operation, "users.me")
    })
  )

  it.live("when the client is closed, and later calls reject", () =>
    withServer(async (graph, server) => {
      server.script("hang")
      const active = rejection(graph.users.me())
      const iterating = rejection(all(graph.users.stream()))
      while (server.received().length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
      await graph.close()
      for (const error of [await active, await iterating, await rejection(graph.users.me())]) {
        assert.instanceOf(error, Closed)
      }
      await graph.close()
    })
  )

  it.live("early, when an iteration is left", () =>
    withServer(async (graph, server) => {
      const next = `${server.origin}/v1.0/users?$skiptoken=2`
      server.script(json({ value: [{ id: "a" }, { id: "b" }], "@odata.nextLink": next }), "hang")
      for await (const user of graph.users.stream()) {
        assert.strictEqual(user.id, "a")
        break
      }
      assert.lengthOf(server.received(), 1)
    })
  )

  it.live("before it begins, with options that nobody knows", () =>
    withServer(async (graph, server) => {
      const options: object = { timeot: 5 }
      const error = await rejection(graph.users.me({}, options))
      assert.instanceOf(error, InvalidRequest)
      assert.include(error.message, "timeot")
      assert.lengthOf(server.received(), 0)
    })
  )
})

it.live("a download that was aborted continues where it stopped", () =>
  withGraph(async (graph, folder) => {
    const large = someBytes(5 * 1024 * 1024)
    const target = { path: "/large.bin" }
    await graph.uploads.upload(me, target, large)
    const stop = new AbortController()
    const onProgress = (bytes: number) => void (bytes > 2_000_000 && stop.abort(new Error("stopped")))
    const options = { to: folder, resume: true }
    const error = await rejection(graph.files.download(me, target, { ...options, onProgress }, { signal: stop.signal }))
    assert.include(error, { message: "stopped" })
    const first: Array<number> = []
    const { path } = await graph.files.download(me, target, { ...options, onProgress: (n) => void first.push(n) })
    assert.isAbove(first[0] ?? 0, 1_000_000)
    assert.isTrue((await readFile(path)).equals(large))
  })
)

describe("lists", () => {
  const list = "A/B #1"
  const title: StandardSchemaV1<unknown, { readonly title: string }> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) =>
        typeof value === "object" && value !== null && "Page_x0020_Count" in value && "Title" in value
          ? { value: { title: String(value.Title) } }
          : { issues: [{ message: "Required", path: ["Page_x0020_Count"] }] }
    }
  }

  it.live("fields have the type of a schema, and what does not fit is a class of its own", () =>
    withGraph(async (graph) => {
      const site = await graph.sites.get(["contoso.sharepoint.test", "/sites/team"])
      const titles: Array<string> = []
      for await (const { fields } of graph.lists.items(site.id, list, { schema: title })) titles.push(fields.title)
      assert.deepStrictEqual(titles, ["one", "two"])
      const { id } = await graph.lists.createItem(site.id, list, { Title: "three" })
      const error = await rejection(graph.lists.item(site.id, list, id, { schema: title }))
      assert.instanceOf(error, UnexpectedFields)
      assert.include(error, { id, path: "Page_x0020_Count", expected: "Required", operation: "lists.item" })
      assert.include(error instanceof Error ? error.stack : "", "Promise.test.ts")
    })
  )

  it.live("columns change, and changes of items come since the last look", () =>
    withGraph(async (graph) => {
      const site = await graph.sites.get(["contoso.sharepoint.test", "/sites/team"])
      const column = (await all(graph.lists.columns(site.id, list))).find(({ name }) => name === "Page_x0020_Count")
      const changed = await graph.lists.updateColumn(site.id, list, column?.id ?? "", { displayName: "Pages" })
      assert.strictEqual(changed.displayName, "Pages")
      await graph.lists.removeColumn(site.id, list, changed.id)
      const { link } = await graph.delta.listItemChanges(site.id, list, { from: "latest" })
      await graph.lists.removeItem(site.id, list, "1")
      const { items } = await graph.delta.listItemChanges(site.id, list, { from: link ?? "" })
      assert.deepStrictEqual(
        items.map(({ deleted, id }) => [id, deleted?.state]),
        [["1", "deleted"]]
      )
      assert.lengthOf(await all(graph.delta.listItems(site.id, list, { fields: ["Title"] })), 1)
    })
  )
})

describe("who calls", () => {
  it.live("the app itself, by its secret", () =>
    inSandbox(
      Effect.gen(function* () {
        const { origin } = yield* GraphSandbox
        const credentials = {
          tenant: "contoso.test",
          clientId: "5a9db0c5-0000-4000-8000-000000000001",
          clientSecret: "sandbox-secret"
        }
        yield* Effect.promise(async () => {
          await using graph = connectGraph({ credentials, graphUrl: origin, loginUrl: origin })
          assert.strictEqual((await graph.users.get("ann@contoso.test")).displayName, "Ann Lee")
          assert.strictEqual((await graph.sites.get("root")).displayName, "Communication site")
        })
        const tokens = (yield* asked).filter(({ url }) => url.endsWith("/token"))
        assert.lengthOf(tokens, 1)
      }),
      { seed: {} }
    )
  )

  it.live("and what is sent for it, a listener hears", () => {
    const heard: Array<string> = []
    return withServer(
      async (graph, server) => {
        server.script(failure(503, "serviceNotAvailable", { "retry-after": "0" }), json({ id: "u1" }))
        await graph.users.me()
        assert.deepStrictEqual(heard, ["users.me 1", "retry", "users.me 2"])
      },
      {
        on: {
          onRequest: ({ attempt, operation }) => void heard.push(`${operation} ${attempt}`),
          onRetry: () => void heard.push("retry")
        }
      }
    )
  })

  it.live("by a function that gives a token, and another one when that is refused", () => {
    const given: Array<string> = []
    const token = () => {
      const next = `TOKEN-${given.length + 1}`
      given.push(next)
      return Promise.resolve(next)
    }
    return withServer(
      async (graph, server) => {
        server.respond(({ headers }) =>
          headers.authorization === "Bearer TOKEN-2" ? json({ id: "u1" }) : failure(401, "InvalidAuthenticationToken")
        )
        assert.strictEqual((await graph.users.me()).id, "u1")
      },
      { token }
    )
  })

  it.live("events say what was called, by the name of it with promises", () => {
    const seen = new Set<string>()
    return withServer(
      async (graph, server) => {
        server.respond(() => json({ id: "u1", value: [] }))
        await graph.users.me()
        await all(graph.users.stream())
        await graph.run(Users.me())
        assert.deepStrictEqual([...seen], ["users.me", "users.stream", "Users.me"])
      },
      { on: { onRequest: ({ operation }) => seen.add(operation) } }
    )
  })

  it.each([
    ["token", { token: "" }],
    ["credentials", { token: "a", credentials: { getToken: () => Promise.resolve(null) } }],
    ["graphUrl", { token: "a", graphUrl: "nowhere" }],
    ["policy.attempts", { token: "a", policy: { attempts: 0 } }],
    ["proxy", { token: "a", httpClient: FetchHttpClient.layer, proxy: "http://proxy.example:3128" }],
    ["ca", { token: "a", httpClient: FetchHttpClient.layer, ca: "-----BEGIN CERTIFICATE-----" }]
  ] as ReadonlyArray<readonly [string, GraphOptions]>)(
    "options that cannot be are refused by name: %s",
    (name, options) => {
      assert.throws(() => connectGraph(options), RangeError, name)
    }
  )
})
