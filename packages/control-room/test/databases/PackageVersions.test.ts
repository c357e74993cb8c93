/** Versions of task packages: how they are created, and which one is current. */
import { assert, layer as withLayer } from "@effect/vitest"
import type { TaskPackageId } from "@signalbox/api/contract/Ids"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { BlobStore } from "../../src/BlobStore.ts"
import { PackageVersions } from "../../src/internal/store/packages/PackageVersions.ts"
import { Files } from "../../src/internal/store/files/Files.ts"
import { bodyAs, errorOf, multipart, send } from "../support/Http.ts"
import { layer, movedBy, Service } from "../support/Service.ts"
import { releaseInvoices } from "../examples/ReleaseInvoices.ts"
import { zip, digestOf, upload, withVersions } from "../support/PackageVersions.ts"

/** The versions of a package and their states, newest first. */
const states = (id: TaskPackageId) =>
  Effect.map(Stream.runCollect(TaskPackages.streamVersions(id, { limit: 2 })), (all) =>
    all.map(({ state, version }) => `${version} ${state}`)
  )

const currentOf = (id: TaskPackageId) => Effect.map(TaskPackages.get(id), ({ current }) => current?.version ?? null)

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("versions of task packages", (it) => {
  it.effect("are appended by uploads of other content, with who, when, why and what", () =>
    Effect.gen(function* () {
      const { blobs, raw } = yield* Service
      const id = yield* withVersions()
      assert.deepStrictEqual(yield* states(id), [])
      yield* upload(id, "a")
      const kept = (yield* blobs).kept.length
      yield* upload(id, "a", "the same again")
      assert.deepStrictEqual(yield* states(id), ["1 current"])
      assert.strictEqual((yield* blobs).kept.length, kept)
      yield* upload(id, "b", "reads the new form")
      // Content that was there before, and is not current, is new again.
      yield* upload(id, "a")
      assert.deepStrictEqual(yield* states(id), ["3 current", "2 available", "1 available"])
      const { bytes } = yield* zip("b")
      const second = yield* TaskPackages.getVersion(id, 2)
      assert.deepInclude(second, {
        version: 2,
        digest: digestOf(bytes),
        size: bytes.length,
        note: "reads the new form"
      })
      assert.deepInclude(second.created_by, { type: "api_key", name: "test" })
      assert.deepStrictEqual(second.tasks, [{ name: "Run" }])
      const { origin } = yield* Service
      const fetched = yield* send(origin, "GET", second.download.url.slice(origin.length))
      assert.isTrue(fetched.bytes.equals(bytes))
      const { current } = yield* TaskPackages.get(id)
      assert.deepInclude(current, { version: 3, newest: 3, digest: digestOf((yield* zip("a")).bytes) })
      assert.deepStrictEqual(current?.by, second.created_by)
      const long = yield* raw("GET", `task-packages/${id}/upload?note=${"x".repeat(1001)}`)
      assert.strictEqual(long.status, 400)
      assert.include(errorOf(long).message, "note")
    })
  )

  it.effect("are made current in one call, older and newer", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const id = yield* withVersions("a", "b", "c")
      const back = yield* TaskPackages.rollback(id, { from: 3 })
      assert.deepInclude(back, { version: 2, state: "current" })
      assert.deepStrictEqual(yield* states(id), ["3 rolled_back", "2 current", "1 available"])
      assert.deepInclude((yield* TaskPackages.get(id)).current, { version: 2, newest: 3 })
      // Someone else who saw version 3 fail.
      const late = yield* Effect.flip(TaskPackages.rollback(id, { from: 3 }))
      assert.strictEqual(late._tag, "Conflict")
      assert.include(late.message, "version 2")
      // What was rolled back once is no place to go back to.
      yield* upload(id, "d")
      assert.strictEqual((yield* TaskPackages.rollback(id)).version, 2)
      assert.strictEqual((yield* TaskPackages.rollback(id)).version, 1)
      const none = yield* Effect.flip(TaskPackages.rollback(id))
      assert.strictEqual(none._tag, "Conflict")
      assert.match(none.message, /no version before 1/)
      assert.strictEqual((yield* TaskPackages.promote(id, 3)).state, "current")
      assert.deepStrictEqual(yield* states(id), ["4 rolled_back", "3 current", "2 rolled_back", "1 available"])
      yield* TaskPackages.promote(id, 3)
      yield* TaskPackages.promote(id, 1)
      assert.deepStrictEqual(yield* states(id), ["4 rolled_back", "3 rolled_back", "2 rolled_back", "1 current"])

      const path = `task-packages/${id}`
      const reader = yield* makeKey(["Tasks.read_task_packages"])
      const empty = yield* withVersions()
      for (const [status, method, at, key] of [
        [404, "POST", `${path}/versions/5/promote`],
        [404, "GET", `${path}/versions/5`],
        [400, "GET", `${path}/versions/first`],
        [400, "POST", `${path}/versions/0/promote`],
        [404, "POST", "task-packages/nobody/rollback"],
        [404, "GET", "task-packages/nobody/versions"],
        [409, "POST", `task-packages/${empty}/rollback`],
        [403, "POST", `${path}/rollback`, reader],
        [403, "POST", `${path}/versions/4/promote`, reader]
      ] as const) {
        const answer = yield* raw(method, at, key === undefined ? {} : { key })
        assert.strictEqual(answer.status, status, `${method} ${at}: ${answer.text}`)
      }
      assert.strictEqual(yield* currentOf(id), 1)
    })
  )

  it.effect("are released as the example of the documentation does it", () =>
    Effect.gen(function* () {
      const read = (path: string) => readFileSync(join(import.meta.dirname, path), "utf8")
      assert.include(
        read("../../../../docs/packages.md"),
        `\`\`\`ts\n${read("../examples/ReleaseInvoices.ts")}\`\`\`\n`
      )
      assert.deepStrictEqual(yield* releaseInvoices(yield* zip("first"), yield* zip("second")), {
        back: 1,
        states: ["2 rolled_back", "1 current"],
        promoted: 2
      })
    })
  )

  it.effect("get one order from uploads at once", () =>
    Effect.gen(function* () {
      const id = yield* withVersions()
      const contents = Array.from({ length: 6 }, (_, n) => `content ${n}`)
      yield* Effect.forEach(contents, (content) => upload(id, content), { concurrency: "unbounded" })
      const found = yield* Stream.runCollect(TaskPackages.streamVersions(id))
      assert.deepStrictEqual(
        found.map(({ version }) => version),
        [6, 5, 4, 3, 2, 1]
      )
      assert.strictEqual(new Set(found.map(({ digest }) => digest)).size, 6)
      assert.strictEqual(yield* currentOf(id), 6)
      // Nearer to each other than requests can be.
      const { workspaceId } = yield* Service
      const versions = yield* PackageVersions
      const other = yield* withVersions()
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => n),
        (n) => {
          const content = { tasks: ["Run"], digest: `sha256:${n}`, size: 1, blob: crypto.randomUUID() }
          return versions.put(workspaceId, other, { type: "zip", content, by: null, note: null, how: "asked" })
        },
        { concurrency: "unbounded", discard: true }
      )
      assert.strictEqual(yield* currentOf(other), 20)
      // The same at once is one.
      yield* Effect.forEach(contents, () => upload(id, "the same"), { concurrency: "unbounded" })
      assert.strictEqual(yield* currentOf(id), 7)
    })
  )

  it.effect("of which an upload is cut between its bytes and its row are not there, nor are the bytes", () =>
    Effect.gen(function* () {
      const { blobs, origin, raw, rows } = yield* Service
      const id = yield* withVersions("a")
      const before = { rows: yield* rows, blobs: yield* blobs }
      // As a kill leaves it; what no row names is swept at the next start.
      const store = yield* BlobStore
      const { bytes } = yield* zip("killed")
      const cut = yield* Effect.scoped(Effect.flatMap(store.stage(Stream.make(bytes)), ({ commit }) => commit))
      assert.include((yield* blobs).kept, cut)
      const clock = yield* Clock.Clock
      const sweep = store.sweep((yield* Files).referenced)
      yield* Effect.provideService(sweep, Clock.Clock, movedBy(clock, 2 * 86_400_000))
      assert.deepStrictEqual({ rows: yield* rows, blobs: yield* blobs }, before)
      assert.deepStrictEqual(yield* states(id), ["1 current"])
      // A row that cannot be written, as its package is gone.
      const Form = Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })
      const { form_data, url } = bodyAs(Form, yield* raw("GET", `task-packages/${id}/upload`))
      yield* TaskPackages.remove(id)
      const without = { rows: yield* rows, blobs: yield* blobs }
      const fields = Object.entries(form_data).map(([name, value]) => ({ name, value }))
      const file = { name: "file", filename: "p.zip", value: bytes }
      const late = yield* send(origin, "POST", url.slice(origin.length), multipart([...fields, file]))
      assert.strictEqual(late.status, 404, late.text)
      assert.deepStrictEqual({ rows: yield* rows, blobs: yield* blobs }, without)
    })
  )
})
