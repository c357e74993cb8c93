/**
 * Document libraries of sites, which rewrite Office files as they store them: a difference there is told, and is no failure.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Logger from "effect/Logger"
import { GraphLibrary } from "../src/Compat.ts"
import * as Downloads from "../src/Downloads.ts"
import * as Drive from "../src/Drive.ts"
import * as Files from "../src/Files.ts"
import * as Sites from "../src/Sites.ts"
import * as Uploads from "../src/Uploads.ts"
import { connect, json, make, type Server } from "./support/Server.ts"
import { asked, faults, GraphSandbox, inSandbox, someBytes } from "./support/Sandbox.ts"

const host = "contoso.sharepoint.example"
const seed = {
  users: [{ userPrincipalName: "ann@contoso.test", displayName: "Ann Lee" }],
  sites: [{ path: "/sites/team", host, displayName: "Team" }]
}

/** Runs with a sandbox that rewrites Office files, and what was logged there. */
const inRewriting = <A, E>(effect: (logged: ReadonlyArray<string>) => Parameters<typeof inSandbox<A, E>>[0]) => {
  const logged: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    logged.push(`${logLevel} ${String(message)}`)
  })
  return inSandbox(effect(logged), { seed, rewriteOffice: true }).pipe(Effect.provide(Logger.layer([logger])))
}

const library = Effect.map(Sites.get([host, "/sites/team"]), ({ id }) => Drive.of({ site: id }))
const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

describe("an upload into a document library", () => {
  for (const [how, size] of [
    ["in one request", 1000],
    ["in fragments", 4 * 1024 * 1024 + 1]
  ] as const) {
    it.live(`of an Office file ${how} succeeds, and tells how what is stored differs`, () =>
      inRewriting((logged) =>
        Effect.gen(function* () {
          const bytes = someBytes(size)
          const { difference, ...item } = yield* Uploads.upload(yield* library, { path: "/Plan.xlsx" }, bytes)
          assert.deepStrictEqual(difference, { of: "size", here: size, there: item.size ?? 0 })
          assert.isAbove(item.size ?? 0, size)
          assert.lengthOf(logged, 1)
          assert.include(logged[0], `Warn Plan.xlsx: the stored file has ${item.size} bytes, ${size} were sent`)
        })
      )
    )
  }

  it.live("tells nothing of what is stored as it was sent, or not to be compared", () =>
    inRewriting((logged) =>
      Effect.gen(function* () {
        const drive = yield* library
        const same = yield* Uploads.upload(drive, { path: "/a.txt" }, someBytes(10))
        const unchecked = yield* Uploads.upload(drive, { path: "/a.docx" }, someBytes(10), { verify: false })
        assert.deepStrictEqual([same.difference, unchecked.difference], [null, null])
        assert.deepStrictEqual(logged, [])
      })
    )
  )

  it.live("through Compat has the difference in its result", () =>
    inSandbox(
      Effect.gen(function* () {
        const { accessToken, origin } = yield* GraphSandbox
        const token = { access_token: yield* accessToken(), expires_at: 9e9 }
        const local = yield* folder
        yield* (yield* FileSystem.FileSystem).writeFile(`${local}/Plan.xlsx`, someBytes(100))
        yield* Effect.promise(async () => {
          const place = { graphUrl: origin, loginUrl: origin }
          await using graph = new GraphLibrary({ token, file_backend_path: local }, place)
          const site = await graph.get_site(host, "/sites/team")
          const [drive] = await graph.list_site_drives(site)
          const into = drive === undefined ? {} : { drive }
          const told = await graph.upload_file_to_drive(`${local}/Plan.xlsx`, into)
          assert.strictEqual(told.difference?.here, 100)
          const silent = await graph.upload_file_to_drive(`${local}/Plan.xlsx`, { ...into, verify: false })
          assert.isNull(silent.difference)
        })
      }),
      { seed, rewriteOffice: true }
    )
  )
})

/** A file whose metadata say another size than what comes, in a drive of this type; `later`: what holds when it is read again. */
const lying = (server: Server, reference: object, later: object = {}) => {
  let reads = 0
  const item = { id: "01F", name: "Plan.xlsx", size: 12, cTag: "c1", file: { hashes: {} }, parentReference: reference }
  server.respond(({ url }) => {
    if (url.startsWith("/contents")) return { status: 200, body: "0123456789" }
    if (url.includes("/content")) return { status: 302, headers: { location: `${server.origin}/contents` } }
    if (url.includes("/children")) return json({ value: [item] })
    if (url.endsWith("/drives/b?$select=id%2CdriveType")) return json({ id: "b", driveType: "documentLibrary" })
    if (url.endsWith("/items/01P")) return json({ id: "01P", name: "Plans", folder: {}, parentReference: reference })
    return json({ ...item, ...(reads++ === 0 ? {} : later) })
  })
}

const told: Downloads.Difference = { of: "size", here: 10, there: 12 }

const against = <A, E, R>(call: (server: Server) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(make, (server) => Effect.provide(call(server), connect(server)))

const ofType = (driveType: string) => ({ driveId: "b", driveType })

describe("a download", () => {
  for (const [where, reference] of [
    ["from a document library", ofType("documentLibrary")],
    ["whose item does not say what kind of drive it is in", { driveId: "b" }]
  ] as const) {
    it.live(`${where} comes whole, and tells the difference`, () =>
      against((server) =>
        Effect.gen(function* () {
          lying(server, reference)
          const differences: Array<Downloads.Difference> = []
          const bytes = yield* Downloads.bytes(
            Drive.me,
            { id: "01F" },
            {
              onDifference: (difference) => Effect.sync(() => differences.push(difference))
            }
          )
          assert.strictEqual(new TextDecoder().decode(bytes), "0123456789")
          assert.deepStrictEqual(differences, [told])
        })
      )
    )
  }

  it.live("from another drive fails as a Mismatch, unless it is not to be compared", () =>
    against((server) =>
      Effect.gen(function* () {
        lying(server, ofType("business"))
        const error = yield* Effect.flip(Downloads.bytes(Drive.me, { id: "01F" }))
        assert.strictEqual(error.reason._tag, "Mismatch")
        assert.include(error.message, "10 bytes arrived, the file has 12")
        assert.lengthOf(yield* Downloads.bytes(Drive.me, { id: "01F" }, { verify: false }), 10)
      })
    )
  )

  it.live("of a file that changed since its item was read is Changed, wherever it is", () =>
    against((server) =>
      Effect.gen(function* () {
        lying(server, ofType("documentLibrary"), { cTag: "c2" })
        const error = yield* Effect.flip(Downloads.bytes(Drive.me, { id: "01F" }))
        assert.strictEqual(error.reason._tag, "Changed")
      })
    )
  )

  it.live("that is what the file is by now is good", () =>
    against((server) =>
      Effect.gen(function* () {
        lying(server, ofType("business"), { cTag: "c2", size: 10 })
        assert.lengthOf(yield* Downloads.bytes(Drive.me, { id: "01F" }), 10)
      })
    )
  )

  it.live("to a file has the difference in its result, and one of a folder in its report", () =>
    inSandbox(
      Effect.gen(function* () {
        const to = yield* folder
        const server = yield* make
        yield* Effect.gen(function* () {
          lying(server, ofType("documentLibrary"))
          const { difference } = yield* Files.download(Drive.me, { id: "01F" }, { to })
          assert.deepStrictEqual(difference, told)
          const report = yield* Files.downloadFolder(Drive.me, { id: "01P" }, { to: `${to}/all` })
          assert.deepStrictEqual(report.differing, [{ path: "/Plan.xlsx", difference: told }])
          assert.strictEqual(report.files, 1)
        }).pipe(Effect.provide(connect(server)))
      })
    )
  )

  it.live("whose item fits costs no further request", () =>
    inRewriting(() =>
      Effect.gen(function* () {
        const drive = yield* library
        const item = yield* Uploads.upload(drive, { path: "/Plan.xlsx" }, someBytes(100))
        yield* faults()
        yield* Downloads.bytes(drive, item)
        assert.lengthOf(yield* asked, 1)
      })
    )
  )
})
