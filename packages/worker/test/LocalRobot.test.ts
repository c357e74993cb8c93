/** The robot on local files: valid and invalid environments. The package `signalbox` tests its use over all robots. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as Robot from "../src/Robot.ts"
import { BusinessFailure } from "../src/Task.ts"

type Env = Readonly<Record<string, string>>

const folderWith = (files: Env) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "signalbox-local-"))
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** Paths in `env` that begin with `./` are below the folder. */
const run = <A, E>(effect: Effect.Effect<A, E, Robot.Robot>, folder: string, env: Env) => {
  const placed = Object.entries(env).map(([name, value]) => [name, value.replace(/^\.\//, `${folder}/`)] as const)
  return effect.pipe(
    Effect.provide(Robot.layer.pipe(Layer.provide(Layer.merge(NodeServices.layer, FetchHttpClient.layer)))),
    Effect.provideService(Logger.CurrentLoggers, new Set()),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnvRecord({ ROBOT_ARTIFACTS: join(folder, "output"), ...Object.fromEntries(placed) })
    )
  )
}

const payloads = Stream.runCollect(Stream.map(Robot.inputs, ({ payload }) => payload))

describe("items", () => {
  it.live("are one empty one without an input, and the outputs go to the folder of artifacts", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({})
      const counts = yield* run(
        Robot.forEachInput((item) => item.createOutput([item.payload, item.files.length])),
        folder,
        {}
      )
      assert.strictEqual(counts.completed, 1)
      const made = readFileSync(join(folder, "output/work-items-out/workitems.json"), "utf8")
      assert.deepStrictEqual(JSON.parse(made), [{ payload: [null, 0], files: {} }])
    })
  )

  it.live("come from where existing robots expect them", () =>
    Effect.gen(function* () {
      const list = (payload: string) => JSON.stringify([{ payload }])
      const folder = yield* folderWith({
        "output/work-items-in/workitems.json": list("default"),
        "rc.json": list("rc"),
        "rpa.json": list("rpa")
      })
      const from = (env: Env) => run(payloads, folder, env)
      assert.deepStrictEqual(yield* from({}), ["default"])
      assert.deepStrictEqual(yield* from({ RPA_INPUT_WORKITEM_PATH: "./rpa.json" }), ["rpa"])
      const both = { RPA_INPUT_WORKITEM_PATH: "./rpa.json", RC_WORKITEM_INPUT_PATH: "./rc.json" }
      assert.deepStrictEqual(yield* from(both), ["rc"])
      const adapter = { ...both, RC_WORKSPACE_ID: "w", RC_PROCESS_RUN_ID: "r", RC_ACTIVITY_RUN_ID: "s" }
      assert.deepStrictEqual(yield* from({ ...adapter, RC_WORKITEM_ADAPTER: "robocorp.workitems.FileAdapter" }), ["rc"])
    })
  )

  it.live("of the last run leave no outputs behind, and those that fail no files", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "in.json": '[{"payload":1}]', "out/items.json": '[{"payload":"old"}]' })
      const work = Robot.forEachInput((item) =>
        Effect.andThen(
          item.createOutput(1, { files: [{ name: "a.txt", bytes: new Uint8Array(3) }] }),
          Effect.fail("not declared")
        )
      )
      yield* run(work, folder, { RC_WORKITEM_INPUT_PATH: "./in.json", RC_WORKITEM_OUTPUT_PATH: "./out/items.json" })
      assert.deepStrictEqual(readdirSync(join(folder, "out")), ["items.json"])
      assert.strictEqual(readFileSync(join(folder, "out/items.json"), "utf8"), "[]\n")
    })
  )

  it.live("keep the outputs of an item that fails as the robot declares", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "in.json": '[{"payload":1}]' })
      const work = Robot.forEachInput((item) =>
        Effect.andThen(item.createOutput("report"), new BusinessFailure({ code: "NO", message: "no" }))
      )
      yield* run(work, folder, { RC_WORKITEM_INPUT_PATH: "./in.json", RC_WORKITEM_OUTPUT_PATH: "./out.json" })
      assert.include(readFileSync(join(folder, "out.json"), "utf8"), '"report"')
    })
  )

  const wrong: ReadonlyArray<readonly [string, Env, RegExp]> = [
    [
      "no file",
      { RC_WORKITEM_INPUT_PATH: "./nowhere.json" },
      /NotFound.*nowhere\.json.*; set RC_WORKITEM_INPUT_PATH to/
    ],
    ["no JSON", { RC_WORKITEM_INPUT_PATH: "./text.json" }, /text\.json: expected a list of \{"payload", "files"\}/],
    ["no list", { RC_WORKITEM_INPUT_PATH: "./object.json" }, /object\.json: expected a list of/],
    ["no item", { RC_WORKITEM_INPUT_PATH: "./empty.json" }, /empty\.json: expected at least one item/],
    [
      "the outputs in the same file",
      { RC_WORKITEM_INPUT_PATH: "./one.json", RC_WORKITEM_OUTPUT_PATH: "./one.json" },
      /input and output are the same file; choose another file for the outputs/
    ],
    [
      "an adapter that there is not",
      { RC_WORKITEM_ADAPTER: "my.OwnAdapter" },
      /RC_WORKITEM_ADAPTER .*"my\.OwnAdapter" is not supported .*: FileAdapter, RobocorpAdapter/
    ],
    [
      "a vault without an address",
      { RC_VAULT_SECRET_MANAGER: "RobocorpVault" },
      /^secrets of a service need .* missing: RC_API_SECRET_HOST, RC_API_SECRET_TOKEN, RC_WORKSPACE_ID$/
    ]
  ]
  for (const [what, env, message] of wrong) {
    it.live(`are refused with ${what}, and nothing is written`, () =>
      Effect.gen(function* () {
        const input = {
          "text.json": "secret text",
          "object.json": '{"secret":1}',
          "empty.json": "[]",
          "one.json": "[{}]"
        }
        const folder = yield* folderWith(input)
        const error = yield* Effect.flip(run(payloads, folder, env))
        assert.strictEqual(error._tag, "RobotNotConfigured")
        assert.match(error.message, message)
        assert.notInclude(error.message, "secret text")
        assert.strictEqual(readFileSync(join(folder, "one.json"), "utf8"), "[{}]")
      })
    )
  }

  it.live("whose files are missing fail, and the next continues", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "in.json": '[{"files":{"a.txt":"gone.txt"}},{"payload":2}]' })
      assert.deepStrictEqual(yield* run(payloads, folder, { RC_WORKITEM_INPUT_PATH: "./in.json" }), [2])
    })
  )
})

describe("secrets", () => {
  it.live("come from JSON or YAML, by either name", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "a.json": '{"shop":{"pin":1}}', "b.yaml": "shop:\n  pin: two\n" })
      const pin = Effect.map(Robot.secretItem("shop", "pin"), Redacted.value)
      assert.strictEqual(yield* run(pin, folder, { RPA_SECRET_FILE: "./a.json" }), "1")
      const both = { RPA_SECRET_FILE: "./a.json", RC_VAULT_SECRETS_FILE: "./b.yaml" }
      assert.strictEqual(yield* run(pin, folder, both), "two")
    })
  )

  it.live("that cannot be read say what to do, and never what is there", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "bad.json": '{"shop":"hunter2"}' })
      const missing = yield* Effect.flip(run(Robot.secret("shop"), folder, { RC_VAULT_SECRETS_FILE: "./nowhere.json" }))
      assert.match(missing.message, /no secret "shop": .*nowhere\.json does not exist; set RC_VAULT_SECRETS_FILE/)
      const bad = yield* Effect.flip(run(Robot.secret("shop"), folder, { RC_VAULT_SECRETS_FILE: "./bad.json" }))
      assert.match(bad.message, /bad\.json: expected the items of each secret, by its name$/)
    })
  )
})

describe("assets and artifacts", () => {
  for (const name of ["../outside", "a/../../outside", "/outside", "", "a//b"]) {
    it.live(`do not leave their folder: ${JSON.stringify(name)}`, () =>
      Effect.gen(function* () {
        const folder = yield* folderWith({ "assets/in.txt": "in" })
        const env = { SIGNALBOX_ASSETS: "./assets", ROBOT_ARTIFACTS: "./output" }
        const bytes = new Uint8Array(1)
        for (const effect of [
          Robot.setAsset(name, "x"),
          Robot.assetText(name),
          Robot.saveArtifact({ name, bytes }),
          Robot.forEachInput((item) => item.attachFile({ name, bytes })).pipe(
            Effect.flatMap(({ failed }) =>
              failed === 1 ? Effect.fail({ message: "expected a file name" }) : Effect.void
            )
          )
        ]) {
          const error = yield* Effect.flip(run(Effect.asVoid(effect), folder, env))
          assert.match(error.message, /expected a (relative path|file name)/)
        }
        assert.isFalse(existsSync(join(folder, "outside")) || existsSync(join(dirname(folder), "outside")))
      })
    )
  }
})
