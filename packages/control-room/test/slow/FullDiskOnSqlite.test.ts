/**
 * A full disk, a damaged file: which error a request gets, the result of `/readyz`, and that the service resumes. The
 * disk is a real file system of a few megabytes.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import * as Child from "../support/Child.ts"
import { type Answer, assertError, bodyAs, multipart, send } from "../support/Http.ts"
import { temporaryFolder } from "../support/Service.ts"

const fill = (folder: string) =>
  Effect.sync(() => {
    const file = openSync(join(folder, "filler"), "a")
    for (const size of [65_536, 512]) {
      const chunk = Buffer.alloc(size)
      try {
        while (writeSync(file, chunk) > 0);
      } catch {
        // Full.
      }
    }
    closeSync(file)
  })

const startOnDisk = Effect.fnUntraced(function* (disk: Child.Disk) {
  const child = yield* Child.start(yield* temporaryFolder, disk)
  const ask = (method: string, path: string, json?: unknown) =>
    send(child.origin, method, path.startsWith("/") ? path : `/api/v1/workspaces/${child.workspaceId}/${path}`, {
      headers: { authorization: `RC-WSKEY ${child.key}`, "content-type": "application/json" },
      ...(json === undefined ? {} : { body: JSON.stringify(json) })
    })
  return { ...child, ask }
})

const Created = Schema.Struct({ id: Schema.String })
const Forms = Schema.Struct({
  upload: Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })
})

describe.skipIf(!Child.disksOfTheirOwn)("on a full disk", () => {
  it.live(
    "requests that write get a 507 that says what to do, those that read are served, and all goes on with room",
    () =>
      Effect.gen(function* () {
        const { ask, folder, origin, output } = yield* startOnDisk({ megabytes: 16 })
        const process = bodyAs(
          Created,
          yield* ask("POST", "processes", { name: "p", steps: [{ name: "a", task: { name: "t" } }] })
        )
        const item = bodyAs(Created, yield* ask("POST", "work-items", { process: { id: process.id } }))
        const file = { file_name: "f.txt", file_size: 300_000 }
        const answer = yield* ask("POST", `work-items/${item.id}/files`, file)
        const { upload } = bodyAs(Forms, answer)
        const sendFile = send(
          origin,
          "POST",
          new URL(upload.url).pathname,
          multipart([
            ...Object.entries(upload.form_data).map(([name, value]) => ({ name, value })),
            { name: "file", filename: "f.txt", value: Buffer.alloc(300_000, 1) }
          ])
        )
        assert.strictEqual((yield* ask("GET", "/readyz")).status, 200)

        yield* fill(folder)
        // What the log of the database has already taken of the disk is still there to be written to.
        const writes: Array<Answer> = []
        while (writes.every(({ status }) => status === 200)) {
          const payload = { text: "a".repeat(20_000) }
          const round = Array.from({ length: 40 }, () =>
            ask("POST", "work-items", { process: { id: process.id }, payload })
          )
          writes.push(...(yield* Effect.all(round, { concurrency: "unbounded" })))
        }
        const refused = writes.filter(({ status }) => status !== 200)
        for (const one of [...refused, yield* sendFile]) {
          assertError(one, 507, "UNAVAILABLE", /the disk is full: free space/)
          assert.strictEqual(one.headers["retry-after"], "10")
        }
        const ready = yield* ask("GET", "/readyz")
        assertError(ready, 503, "UNAVAILABLE", /the disk is full/)
        assert.strictEqual((yield* ask("GET", "/healthz")).status, 200)
        const listed = yield* ask("GET", "work-items?limit=500")
        assert.strictEqual(listed.status, 200)
        const kept = 1 + writes.length - refused.length
        assert.lengthOf(bodyAs(Schema.Struct({ data: Schema.Array(Schema.Unknown) }), listed).data, kept)
        assert.notMatch(output(), /level=ERROR|ERROR \(/)

        rmSync(join(folder, "filler"))
        yield* Effect.repeat(Effect.delay(ask("GET", "/readyz"), "50 millis"), {
          until: ({ status }) => status === 200
        })
        assert.strictEqual((yield* ask("POST", "assets", { name: "room again" })).status, 200)
        assert.strictEqual((yield* sendFile).status, 204)
      }).pipe(Effect.scoped)
  )

  it.live("the service does not start, and says that the disk is full", () =>
    Effect.gen(function* () {
      const { code, output } = yield* Effect.flip(startOnDisk({ megabytes: 4, full: true }))
      assert.strictEqual(code, 1)
      assert.match(output, /disk (failed or )?is full: free space/)
      assert.notMatch(output, /another process/)
    }).pipe(Effect.scoped)
  )
})
