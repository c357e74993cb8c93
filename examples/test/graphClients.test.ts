/**
 * The programs of examples/clients/graph in both styles, each against a sandbox of its own, over HTTP.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Rule } from "@signalbox/graph-sandbox/Faults"
import { GraphSandbox, type Sandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import type { Seed } from "@signalbox/graph-sandbox/Seed"
import { AccessTokens } from "@signalbox/graph/AccessTokens"
import type { Graph } from "@signalbox/graph/Graph"
import { layer as layerGraph } from "@signalbox/graph/node"
import { defaultPolicy, GraphPolicy } from "@signalbox/graph/Policy"
import { connectGraph, type GraphOptions, me } from "@signalbox/graph/promise"
import { certificate, privateKey } from "@signalbox/testkit/Certificate"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import { readdirSync, readFileSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import * as appOnlyEffect from "../clients/graph/app-only.effect.ts"
import * as appOnlyPromise from "../clients/graph/app-only.promise.ts"
import * as batchReadsEffect from "../clients/graph/batch-reads.effect.ts"
import * as batchReadsPromise from "../clients/graph/batch-reads.promise.ts"
import * as changesEffect from "../clients/graph/changes.effect.ts"
import * as changesPromise from "../clients/graph/changes.promise.ts"
import * as createItemsEffect from "../clients/graph/create-items.effect.ts"
import * as createItemsPromise from "../clients/graph/create-items.promise.ts"
import * as downloadFileEffect from "../clients/graph/download-file.effect.ts"
import * as downloadFilePromise from "../clients/graph/download-file.promise.ts"
import * as downloadFolderEffect from "../clients/graph/download-folder.effect.ts"
import * as downloadFolderPromise from "../clients/graph/download-folder.promise.ts"
import * as listFolderEffect from "../clients/graph/list-folder.effect.ts"
import * as listFolderPromise from "../clients/graph/list-folder.promise.ts"
import * as readListEffect from "../clients/graph/read-list.effect.ts"
import * as readListPromise from "../clients/graph/read-list.promise.ts"
import * as searchAndMoveEffect from "../clients/graph/search-and-move.effect.ts"
import * as searchAndMovePromise from "../clients/graph/search-and-move.promise.ts"
import * as shareLinkEffect from "../clients/graph/share-link.effect.ts"
import * as shareLinkPromise from "../clients/graph/share-link.promise.ts"
import * as throttlingEffect from "../clients/graph/throttling.effect.ts"
import * as throttlingPromise from "../clients/graph/throttling.promise.ts"
import * as uploadFileEffect from "../clients/graph/upload-file.effect.ts"
import * as uploadFilePromise from "../clients/graph/upload-file.promise.ts"
import * as whoAmIEffect from "../clients/graph/who-am-i.effect.ts"
import * as whoAmIPromise from "../clients/graph/who-am-i.promise.ts"

const clientId = "app-1"
const team = "https://contoso.sharepoint.test/sites/team"
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

const seed: Seed = {
  apps: [{ clientId, platform: "web", redirectUris: [], certificates: [certificate] }],
  users: [
    {
      userPrincipalName: "ann@contoso.test",
      displayName: "Ann Lee",
      mail: "ann@contoso.test",
      drive: {
        "Inbox/May.txt": "invoice 1",
        "Inbox/Deep/May.txt": "invoice 2",
        "Inbox/Empty/": "",
        ...Object.fromEntries(numbers(250).map((n) => [`Many/${n}.txt`, "x".repeat(n)])),
        "Big.txt": "0123456789".repeat(50_000)
      }
    },
    ...numbers(19).map((n) => ({ userPrincipalName: `p${n}@contoso.test`, displayName: `Pat ${n}` }))
  ],
  sites: [
    {
      path: "/sites/team",
      displayName: "Team",
      lists: [
        {
          displayName: "Books",
          columns: [
            { name: "Author0", text: {} },
            { name: "Pages", number: {} },
            { name: "Read", dateTime: {} }
          ],
          items: [
            { Title: "Kidnapped", Author0: "R. L. Stevenson", Pages: 240 },
            { Title: "Ulysses", Author0: "Flann O'Brien", Pages: 730 }
          ]
        }
      ]
    }
  ]
}

type Services = Graph | FileSystem.FileSystem | Path.Path

/** What a test has besides the program. */
interface World {
  /** Runs the program in the style of the test; `options` are those of promises. */
  readonly run: <A, E>(
    promise: (options: GraphOptions) => Promise<A>,
    effect: Effect.Effect<A, E, Services>
  ) => Promise<A>
  readonly folder: string
  readonly sandbox: Sandbox
  /** How to reach the sandbox. */
  readonly place: { readonly graphUrl: string; readonly loginUrl: string }
  readonly faults: (...rules: ReadonlyArray<Rule>) => Promise<void>
  /** The requests so far to one of its hosts, as `GET /v1.0/me 200`. */
  readonly asked: (host: "graph" | "files") => Promise<ReadonlyArray<string>>
  /** What is in a folder of the drive. */
  readonly names: (path: string) => Promise<ReadonlyArray<string>>
}

const policy = { ...defaultPolicy, baseMillis: 1, capMillis: 5 }

const inStyle = (style: "promise" | "effect", body: (world: World) => Promise<void>) =>
  Effect.gen(function* () {
    const sandbox = yield* GraphSandbox
    const token = yield* sandbox.accessToken()
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "graph-clients-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
    )
    const place = { graphUrl: sandbox.origin, loginUrl: sandbox.origin }
    const layer = Layer.provide(layerGraph(place), AccessTokens.layerFixed(Redacted.make(token)))
    const world: World = {
      run: (promise, effect) =>
        style === "promise"
          ? promise({ token, ...place, policy })
          : Effect.runPromise(effect.pipe(Effect.provideService(GraphPolicy, policy), Effect.provide(layer))),
      folder,
      sandbox,
      place,
      faults: (...rules) => Effect.runPromise(sandbox.setFaults({ rules })),
      asked: async (host) =>
        (await Effect.runPromise(sandbox.requests))
          .filter((request) => request.host === host)
          .map(({ method, status, url }) => `${method} ${url.split("?")[0]} ${status}`),
      names: async (path) => {
        await using graph = connectGraph({ token, ...place })
        const names: Array<string> = []
        for await (const { name } of graph.drives.children(me, { path })) names.push(name ?? "")
        return names
      }
    }
    yield* Effect.promise(() => body(world))
  }).pipe(Effect.scoped, Effect.provide(GraphSandbox.layer({ seed })))

/** What each program does, whichever its style. */
const programs: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "who-am-i says who is signed in, and how full the drive is": async ({ run }) =>
    assert.match(
      await run(whoAmIPromise.main, whoAmIEffect.main),
      /^Ann Lee <ann@contoso\.test>, business drive, \d+ bytes used$/
    ),

  "list-folder lists the files of three pages": async ({ asked, run }) => {
    const lines = await run((options) => listFolderPromise.main("/Many", options), listFolderEffect.main("/Many"))
    assert.lengthOf(lines, 250)
    assert.include(lines, "7.txt 7")
    assert.lengthOf(await asked("graph"), 3)
  },

  "upload-file sends fragments, and says how far it is": async ({ folder, names, run }) => {
    const file = join(folder, "big.bin")
    await writeFile(file, new Uint8Array(12_000_000))
    const said = vi.spyOn(console, "log").mockImplementation(() => {})
    try {
      const size = await run(
        (options) => uploadFilePromise.main(file, "/Up/big.bin", options),
        uploadFileEffect.main(file, "/Up/big.bin")
      )
      assert.strictEqual(size, 12_000_000)
      assert.deepStrictEqual(
        said.mock.calls.map(([line]) => line),
        ["87 %", "100 %"]
      )
    } finally {
      said.mockRestore()
    }
    assert.deepStrictEqual(await names("/Up"), ["big.bin"])
  },

  "download-file goes on where the connection broke": async ({ asked, faults, folder, run }) => {
    await faults({ fault: "truncate", host: "files", bytes: 200_000, times: 1 })
    const path = await run(
      (options) => downloadFilePromise.main("/Big.txt", folder, options),
      downloadFileEffect.main("/Big.txt", folder)
    )
    assert.strictEqual(await readFile(path, "utf8"), "0123456789".repeat(50_000))
    assert.deepStrictEqual(
      (await asked("files")).map((line) => line.split(" ").at(-1)),
      ["200", "206"]
    )
  },

  "download-folder names what did not come, and gets only that the next time": async ({ faults, folder, run }) => {
    const download = () =>
      run(
        (options) => downloadFolderPromise.main("/Inbox", folder, options),
        downloadFolderEffect.main("/Inbox", folder)
      )
    await faults({ fault: "status", status: 403, host: "files", times: 1 })
    const first = await download()
    assert.strictEqual(first.files + first.failed.length, 2)
    await faults()
    assert.deepStrictEqual(await download(), { files: 2 - first.files, present: first.files, failed: [] })
    assert.strictEqual(await readFile(join(folder, "Deep", "May.txt"), "utf8"), "invoice 2")
  },

  "search-and-move moves what is found, under names of their own": async ({ names, run }) => {
    const moved = await run(
      (options) => searchAndMovePromise.main("May", "/Archive/2030", options),
      searchAndMoveEffect.main("May", "/Archive/2030")
    )
    assert.sameMembers([...moved], ["May.txt", "May 1.txt"])
    assert.sameMembers([...(await names("/Archive/2030"))], [...moved])
  },

  "share-link returns a link": async ({ run }) => {
    const { refused, url } = await run(
      (options) => shareLinkPromise.main("/Inbox/May.txt", "p1@contoso.test", options),
      shareLinkEffect.main("/Inbox/May.txt", "p1@contoso.test")
    )
    assert.match(url ?? "", /^https:/)
    assert.deepStrictEqual(refused, [])
  },

  "read-list reads what a filter picks, whatever is in its text": async ({ run }) =>
    assert.deepStrictEqual(
      await run(
        (options) => readListPromise.main(team, "Flann O'Brien", options),
        readListEffect.main(team, "Flann O'Brien")
      ),
      ["Ulysses, 730 pages"]
    ),

  "create-items has a result for each row": async ({ run }) => {
    const row = { Title: "Emma", Pages: 474, Read: new Date("2030-05-01T00:00:00Z") }
    const wrong = { Title: "Persuasion", Nothing: 1 }
    const rows = [row, wrong, { Title: "Lady Susan" }]
    assert.deepStrictEqual(
      await run((options) => createItemsPromise.main(team, rows, options), createItemsEffect.main(team, rows)),
      ["3", "InvalidRequest", "4"]
    )
  },

  "changes says what changed since the last time": async ({ folder, place, run, sandbox }) => {
    const file = join(folder, "state.txt")
    const look = () => run((options) => changesPromise.main(file, options), changesEffect.main(file))
    assert.include(await look(), "Big.txt")
    await using graph = connectGraph({ token: await Effect.runPromise(sandbox.accessToken()), ...place })
    const { id } = await graph.drives.item(me, { path: "/Big.txt" })
    await graph.drives.remove(me, { id })
    await graph.uploads.upload(me, { path: "/New.txt" }, new TextEncoder().encode("new"))
    assert.includeMembers([...(await look())], ["New.txt", `${id} has gone`])
    assert.deepStrictEqual(await look(), [])
  },

  "batch-reads needs one request": async ({ asked, run }) => {
    const people = [...numbers(19).map((n) => `p${n}@contoso.test`), "nobody@contoso.test"]
    assert.deepStrictEqual(
      await run((options) => batchReadsPromise.main(people, options), batchReadsEffect.main(people)),
      ["nobody@contoso.test"]
    )
    assert.strictEqual((await asked("graph")).filter((line) => line === "POST /v1.0/$batch 200").length, 1)
  },

  "app-only reads the drive of a person": async ({ place, run }) => {
    const app = { tenant: "contoso.test", clientId, certificate }
    assert.sameMembers(
      [
        ...(await run(
          ({ token: _, ...options }) => appOnlyPromise.main("ann@contoso.test", { ...app, privateKey }, options),
          appOnlyEffect.main("ann@contoso.test", { ...app, ...place, privateKey: Redacted.make(privateKey) })
        ))
      ],
      ["Inbox", "Many", "Big.txt"]
    )
  },

  "throttling tells of pauses and retries": async ({ faults, run }) => {
    await faults({ fault: "throttle", path: "Big", times: 1, retryAfter: "decimal", seconds: 0.01 })
    assert.deepStrictEqual(
      await run(
        (options) => throttlingPromise.main("/Big.txt", 60_000, options),
        throttlingEffect.main("/Big.txt", 60_000)
      ),
      ["attempt 2 after 429", "Drives.item waits: rateLimit", "Big.txt"]
    )
  },

  "throttling gives up a call that takes too long": async ({ faults, run }) => {
    await faults({ fault: "stall", path: "Big" })
    assert.deepStrictEqual(
      await run((options) => throttlingPromise.main("/Big.txt", 20, options), throttlingEffect.main("/Big.txt", 20)),
      ["given up"]
    )
  }
}

for (const style of ["promise", "effect"] as const) {
  describe(`with ${style}`, () => {
    for (const [name, body] of Object.entries(programs)) it.live(name, () => inStyle(style, body))
  })
}

describe("beside other clients", () => {
  const root = join(import.meta.dirname, "..", "..")
  const linesOf = (path: string) =>
    readFileSync(join(root, path), "utf8")
      .split("\n")
      .filter((line) => !/^\s*(\/?\*|$)/.test(line)).length
  const page = readFileSync(join(root, "docs", "compare-clients.md"), "utf8")
  const theirs = "packages/graph-sandbox/test/slow/clients/programs"
  const compared = [...new Set(readdirSync(join(root, theirs)).map((file) => file.split(".")[0] ?? ""))]

  it("three programs are compared", () => assert.lengthOf(compared, 3))

  for (const program of compared) {
    it(`${program} is no longer than theirs, and the page says how long they are`, () => {
      const own = ["promise", "effect"].map((style) => linesOf(`examples/clients/graph/${program}.${style}.ts`))
      const others = ["graph-client", "pnp"].map((client) => linesOf(`${theirs}/${program}.${client}.ts`))
      assert.isAtMost(Math.max(...own), Math.min(...others))
      const row = page.split("\n").find((line) => line.startsWith(`| \`${program}\``)) ?? ""
      assert.deepStrictEqual(row.match(/\d+/g)?.map(Number), [...own, ...others])
    })
  }

  it("the folder's page names every program", () => {
    const readme = readFileSync(join(root, "examples/clients/graph/README.md"), "utf8")
    const files = readdirSync(join(root, "examples/clients/graph")).filter((file) => file.endsWith(".promise.ts"))
    for (const file of files) assert.include(readme, `| \`${file.replace(".promise.ts", "")}\``)
  })
})
