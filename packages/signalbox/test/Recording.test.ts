/** Calls of a client are recorded against a room, and answered from the file without one. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import * as ConsoleTickets from "@signalbox/api/ConsoleTickets"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ControlRoomError } from "@signalbox/api/ControlRoomError"
import * as Files from "@signalbox/api/Files"
import * as Processes from "@signalbox/api/Processes"
import { record, replay } from "@signalbox/api/recording"
import * as Secrets from "@signalbox/api/Secrets"
import * as Triggers from "@signalbox/api/Triggers"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import * as Embedded from "../src/Embedded.ts"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const test = (name: string, body: (folder: string) => Effect.Effect<void, unknown, Embedded.Embedded>) =>
  it.live(name, () =>
    Effect.flatMap(temporary, (folder) =>
      Effect.provide(body(folder), Embedded.layer({ data: `${folder}/data`, port: 0, workers: 0 }))
    ).pipe(Effect.scoped, Effect.provide(Layer.merge(NodeServices.layer, Logger.layer([]))))
  )

/** Runs a program over a function that sends requests, as one that connects to this address. */
const over = <A, E>(fetch: typeof globalThis.fetch, program: Effect.Effect<A, E, ControlRoom>, at?: string) =>
  Effect.gen(function* () {
    const { credentials, origin } = yield* Embedded.Embedded
    const room = ControlRoom.layer({
      baseUrl: at ?? origin,
      apiKey: Redacted.make(credentials.api_key),
      workspaceId: credentials.workspace_id
    })
    return yield* Effect.provide(program, Layer.fresh(room)).pipe(Effect.provideService(FetchHttpClient.Fetch, fetch))
  })

/** Nobody listens there. */
const nowhere = "http://127.0.0.1:9"

describe("what a client did against a room", () => {
  test("is answered from the file, files and pages included, wherever the room was", (folder) =>
    Effect.gen(function* () {
      const file = `${folder}/recorded/items.json`
      const program = Effect.gen(function* () {
        const { id } = yield* Processes.put({ name: "orders", steps: [{ name: "one", task: { name: "one" } }] })
        const items = yield* WorkItems.createMany({ process: id, payloads: [{ n: 1 }, { n: 2 }, { n: 3 }] })
        const [item] = items
        if (item === undefined) return assert.fail("no item")
        yield* WorkItems.attachFile(item, { name: "a.bin", bytes: new Uint8Array([0, 255, 1]) })
        const listed = yield* Stream.runCollect(WorkItems.stream({ process: id, limit: 2 }))
        const { files } = yield* WorkItems.get(item)
        const [attached] = files
        if (attached === undefined) return assert.fail("no file")
        const bytes = yield* Stream.mkUint8Array(Files.download(attached))
        return { items, listed, bytes }
      })
      const recorder = record(file)
      const before = yield* over(recorder.fetch, program)
      recorder.save()
      const replayer = replay(file)
      const after = yield* over(replayer.fetch, program, nowhere)
      assert.deepStrictEqual(after, before)
      assert.deepStrictEqual(replayer.unused(), [])
    }))

  test("is refused by the file when it is something else, and not tried again", (folder) =>
    Effect.gen(function* () {
      const file = `${folder}/none.json`
      record(file).save()
      const replayer = replay(file)
      const error = yield* Effect.flip(over(replayer.fetch, WorkItems.list(), nowhere))
      assert.instanceOf(error, ControlRoomError)
      assert.include(error.message, "is not in")
      assert.include(error.message, "none.json: record it")
      assert.strictEqual(error.request.attempts, 1)
    }))

  test("has no key and no other secret in its file", (folder) =>
    Effect.gen(function* () {
      const file = `${folder}/secrets.json`
      const { credentials } = yield* Embedded.Embedded
      const program = Effect.gen(function* () {
        const { key } = yield* ApiKeys.create("another", ["Alerts.read_alerts"])
        const group = yield* WorkerGroups.create("group")
        const { link_token } = yield* WorkerGroups.createLinkToken(group.id, { name: "token" })
        const { ticket, url } = yield* ConsoleTickets.create()
        yield* Secrets.put("shop", { items: { user: "augusta", password: Redacted.make("tulips-and-4711") } })
        const process = yield* Processes.put({ name: "p", steps: [{ name: "one", task: { name: "one" } }] })
        const signingSecret = Redacted.make("a-secret-of-signatures")
        const trigger = yield* Triggers.create({
          name: "pushed",
          process: { id: process.id },
          webhook: { signature: { type: "slack", secret: signingSecret } }
        })
        const made = [key, link_token, ticket, url, signingSecret, trigger.url].filter((one) => one !== null)
        return made.map(Redacted.value)
      })
      // As a bucket has it in the form of an upload.
      const form = { url: "http://bucket.example", form_data: { "x-amz-signature": "5f2c91-of-a-form" } }
      const recorder = record(file, {
        fetch: async (input, init) =>
          input instanceof Request && input.url.endsWith("/form") ? Response.json({ upload: form }) : fetch(input, init)
      })
      yield* Effect.promise(() => recorder.fetch("http://room.example/form"))
      const secrets = yield* over(recorder.fetch, program)
      recorder.save()
      const text = readFileSync(file, "utf8")
      assert.include(text, "removed")
      for (const secret of [...secrets, credentials.api_key, "tulips-and-4711", "augusta", "5f2c91-of-a-form"]) {
        assert.notInclude(text, secret)
      }
    }))
})
