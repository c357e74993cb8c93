/** One task in every place where it may run: in a worker, over HTTP, on local files, with the same results. */
import { assert, describe, it } from "@effect/vitest"
import * as Robot from "@signalbox/worker/Robot"
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Inspectable from "effect/Inspectable"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { places, type Setup, type Work } from "./support/RobotPlaces.ts"

const json = { input: Schema.Json, output: Schema.Json }
const bytes = (text: string) => new TextEncoder().encode(text)
const payloads = (items: ReadonlyArray<{ readonly payload: Schema.Json }>) => items.map(({ payload }) => payload)

for (const place of places) {
  describe(place.name, () => {
    it.live(
      "passes on the outputs of items that complete or fail as declared, with their files, and drops those of others",
      () =>
        Effect.gen(function* () {
          const ends = {
            no: Stream.empty,
            declared: Stream.fail(new Task.BusinessFailure({ code: "BAD", message: "it should fail" })),
            bug: Stream.die(new Error("a bug"))
          }
          const split = Task.make("split", {
            input: Schema.Struct({
              parts: Schema.Array(Schema.String),
              fail: Schema.Literals(["no", "declared", "bug"])
            }),
            output: Schema.Struct({ part: Schema.String }),
            run: ({ payload: { fail, parts } }) =>
              Stream.concat(
                Stream.map(Stream.fromIterable(parts), (part) =>
                  Task.output({ part }, { files: [{ name: "part.txt", bytes: bytes(`${part}\n`) }] })
                ),
                ends[fail]
              )
          })
          const outcome = yield* place.runTask(split, {
            items: [
              { payload: { parts: ["a", "b"], fail: "no" } },
              { payload: { parts: ["c"], fail: "declared" } },
              { payload: { parts: "no list", fail: "no" } },
              { payload: { parts: ["dropped"], fail: "bug" } },
              { payload: { parts: ["d"], fail: "no" } }
            ]
          })
          assert.deepStrictEqual(
            outcome.outputs,
            ["a", "b", "c", "d"].map((part) => ({ payload: { part }, files: { "part.txt": `${part}\n` } }))
          )
          assert.deepStrictEqual(outcome.failures, [
            "business BAD: it should fail",
            "business INVALID_INPUT: payload.parts: Expected array",
            "application UNEXPECTED: a bug"
          ])
        })
    )

    it.live("fails items as APPLICATION with the tag of the error, and continues after a defect", () =>
      Effect.gen(function* () {
        const errors: ReadonlyArray<Effect.Effect<never, unknown>> = [
          Effect.fail(new Task.ApplicationFailure({ code: "DOWN", message: "the shop is down" })),
          Effect.fail({ _tag: "Odd", message: "odd" }),
          Effect.die(new Error("a bug"))
        ]
        const failing = Task.make("failing", {
          input: Schema.Int,
          output: Schema.Json,
          run: ({ payload }) => errors[payload] ?? Effect.succeed("done")
        })
        const outcome = yield* place.runTask(failing, { items: [0, 1, 2, 3].map((payload) => ({ payload })) })
        assert.deepStrictEqual(payloads(outcome.outputs), ["done"])
        assert.deepStrictEqual(
          outcome.failures.map((failure) => failure.split(":")[0]),
          ["application DOWN", "application Odd", "application UNEXPECTED"]
        )
      })
    )

    it.live("reads, saves, attaches and removes files, and replaces the payload", () =>
      Effect.gen(function* () {
        const edit = Task.make("edit", {
          ...json,
          run: Effect.fnUntraced(function* (item) {
            const path = yield* (yield* FileSystem.FileSystem).makeTempFileScoped()
            yield* item.saveFile("in.txt", path)
            const saved = readFileSync(path, "utf8")
            const text = yield* item.readText("in.txt")
            yield* item.attachFile({ name: "new.txt", bytes: bytes("first") })
            yield* item.attachFile({ name: "new.txt", bytes: bytes("second") })
            const attached = yield* item.readText("new.txt")
            yield* item.removeFile("in.txt")
            yield* item.setPayload({ seen: true })
            const missing = yield* Effect.flip(item.readText("in.txt"))
            return [
              saved,
              text,
              attached,
              item.files.map(({ name, size }) => `${name} ${size}`).toSorted(),
              missing._tag
            ]
          }, Effect.scoped)
        })
        const outcome = yield* place.runTask(edit, {
          items: [{ payload: null, files: { "in.txt": "ä text", "other.txt": "stays" } }]
        })
        assert.deepStrictEqual(payloads(outcome.outputs), [
          ["ä text", "ä text", "second", ["new.txt 6", "other.txt 5"], "FileMissing"]
        ])
        assert.deepStrictEqual(outcome.inputs, [
          { payload: { seen: true }, files: { "new.txt": "second", "other.txt": "stays" } }
        ])
      })
    )

    it.live("takes files by their paths", () =>
      Effect.gen(function* () {
        const folder = mkdtempSync(join(tmpdir(), "signalbox-paths-"))
        yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
        const path = join(folder, "sent.txt")
        writeFileSync(path, "by path")
        const send = Task.make("send", {
          ...json,
          run: Effect.fnUntraced(function* (item) {
            yield* Robot.saveArtifact(path)
            yield* item.attachFile(path)
            const name = yield* item.readText("sent.txt")
            const missing = yield* Effect.flip(item.attachFile(`${path}.not`))
            return Task.output([name, missing._tag], { files: [path] })
          })
        })
        const outcome = yield* place.runTask(send, { items: [{ payload: null }] })
        assert.deepStrictEqual(outcome.outputs, [
          { payload: ["by path", "UploadSourceError"], files: { "sent.txt": "by path" } }
        ])
        assert.deepStrictEqual(outcome.artifacts, { "sent.txt": "by path" })
      })
    )

    it.live("reads secrets, which do not show", () =>
      Effect.gen(function* () {
        const login = Task.make("login", {
          ...json,
          run: Effect.fnUntraced(function* () {
            const items = yield* Robot.secret("shop")
            const password = yield* Robot.secretItem("shop", "password")
            const unknown = [
              yield* Effect.flip(Robot.secretItem("shop", "pin")),
              yield* Effect.flip(Robot.secret("nowhere"))
            ]
            const shown = Inspectable.toStringUnknown([items, password, unknown]) + String(password)
            return {
              values: Object.fromEntries(Object.entries(items).map(([name, item]) => [name, Redacted.value(item)])),
              password: Redacted.value(password),
              missing: unknown.map(({ _tag }) => _tag),
              message: unknown[0]?.message ?? "",
              leaks: shown.includes("hunter2")
            }
          })
        })
        const { outputs } = yield* place.runTask(login, {
          items: [{ payload: null }],
          secrets: { shop: { user: "robot", password: "hunter2", tries: 3 } }
        })
        assert.deepStrictEqual(payloads(outputs), [
          {
            values: { user: "robot", password: "hunter2", tries: "3" },
            password: "hunter2",
            missing: ["SecretMissing", "SecretMissing"],
            message: 'the secret "shop" has no item "pin"; its items: "user", "password", "tries"',
            leaks: false
          }
        ])
      })
    )

    it.live("reads and writes assets", () =>
      Effect.gen(function* () {
        const config = Task.make("config", {
          ...json,
          run: Effect.fnUntraced(function* () {
            const text = yield* Robot.assetText("config/eu.json")
            const { limit } = yield* Robot.assetJson("config/eu.json", Schema.Struct({ limit: Schema.Int }))
            const wrong = yield* Effect.flip(
              Robot.assetJson("config/eu.json", Schema.Struct({ limit: Schema.Struct({ day: Schema.Int }) }))
            )
            const missing = yield* Effect.flip(Robot.assetText("nowhere"))
            yield* Robot.setAssetJson("config/eu.json", { limit: limit + 1 })
            yield* Robot.setAsset("report.txt", "made")
            return [text, limit, wrong.message, missing._tag]
          })
        })
        const outcome = yield* place.runTask(config, {
          items: [{ payload: null }],
          assets: { "config/eu.json": '{"limit":1}' }
        })
        assert.deepStrictEqual(payloads(outcome.outputs), [
          ['{"limit":1}', 1, 'the asset "config/eu.json": limit: Expected object', "AssetMissing"]
        ])
        assert.deepStrictEqual(outcome.assets, { "config/eu.json": '{"limit":2}', "report.txt": "made" })
      })
    )

    it.live("stores artifacts", () =>
      Effect.gen(function* () {
        const shoot = Task.make("shoot", {
          ...json,
          run: () =>
            Effect.andThen(
              Robot.saveArtifact({ name: "shots/first.txt", bytes: bytes("a picture") }),
              Robot.saveArtifact({ name: "log.txt", size: 2, stream: Stream.make(bytes("o"), bytes("k")) })
            )
        })
        const { artifacts } = yield* place.runTask(shoot, { items: [{ payload: null }] })
        assert.deepStrictEqual(artifacts, { "shots/first.txt": "a picture", "log.txt": "ok" })
      })
    )

    const { runProgram } = place
    if (runProgram === undefined) {
      it.live("refuses a task that asks for items, for it has its own", () =>
        Effect.gen(function* () {
          const greedy = Task.make("greedy", { ...json, run: () => Stream.runDrain(Robot.inputs) })
          const { failures } = yield* place.runTask(greedy, { items: [{ payload: null }] })
          assert.match(failures[0] ?? "", /^application UNEXPECTED: a task gets its item as the argument/)
        })
      )
      return
    }

    /** A program over the items, with the robot of its environment. */
    const observed = (work: Effect.Effect<unknown, unknown, Robot.Robot>, setup: Setup) => {
      const program: Work = Effect.provide(work, Robot.layer)
      return runProgram(program, setup)
    }
    const three: Setup = { items: [1, 2, 3].map((payload) => ({ payload })) }

    it.live("emits items as a stream, and releases each when the next is pulled", () =>
      Effect.gen(function* () {
        const work = Stream.runForEach(Robot.inputs, (item) =>
          item.payload === 2
            ? item.fail(new Task.BusinessFailure({ code: "TWO", message: "no twos" }))
            : item.createOutput({ got: item.payload }, { files: [{ name: "o.txt", bytes: bytes("o") }] })
        )
        const outcome = yield* observed(work, three)
        assert.deepStrictEqual(outcome.outputs, [
          { payload: { got: 1 }, files: { "o.txt": "o" } },
          { payload: { got: 3 }, files: { "o.txt": "o" } }
        ])
        assert.deepStrictEqual(outcome.failures, ["business TWO: no twos"])
      })
    )

    it.live("fails the reserved item when the consumer of the stream fails", () =>
      Effect.gen(function* () {
        const work = Stream.runForEach(Robot.inputs, (item) =>
          Effect.andThen(
            item.createOutput(item.payload),
            item.payload === 2 ? Effect.die(new Error("a crash")) : Effect.void
          )
        )
        const outcome = yield* observed(work, { items: three.items.slice(0, 2) })
        assert.deepStrictEqual(payloads(outcome.outputs), [1])
        assert.deepStrictEqual(outcome.failures, ["application UNEXPECTED: a crash"])
      })
    )

    it.live("completes the reserved item when no more are pulled", () =>
      Effect.gen(function* () {
        const work = Robot.inputs.pipe(
          Stream.take(2),
          Stream.runForEach((item) => item.createOutput(item.payload))
        )
        const outcome = yield* observed(work, { items: three.items.slice(0, 2) })
        assert.deepStrictEqual(payloads(outcome.outputs), [1, 2])
        assert.deepStrictEqual(outcome.failures, [])
      })
    )

    it.live("counts what forEachInput did", () =>
      Effect.gen(function* () {
        let counts: Robot.Counts | undefined
        const work = Robot.forEachInput((item) => {
          if (item.payload === 1) return item.fail(new Task.ApplicationFailure({ code: "ONE", message: "no ones" }))
          return item.payload === 2 ? Effect.die(new Error("a bug")) : item.createOutput("done")
        }).pipe(
          Effect.tap((done) =>
            Effect.sync(() => {
              counts = done
            })
          )
        )
        const outcome = yield* observed(work, three)
        assert.deepStrictEqual(counts, { completed: 1, failed: 2, unexpected: 1 })
        assert.deepStrictEqual(payloads(outcome.outputs), ["done"])
        assert.deepStrictEqual(outcome.failures, ["application ONE: no ones", "application UNEXPECTED: a bug"])
      })
    )
  })
}
