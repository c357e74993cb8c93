/** `signalbox flows check` against a program with durable flows. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import { freePort } from "@signalbox/testkit/FreePort"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { payment, refund } from "../support/checked/deployed.ts"
import { signalbox, succeed, temporaryFolder } from "../support/Cli.ts"

const token = "a token of some length"

const program = HttpRouter.serve(FlowManagement.layerRoutes({ token: Redacted.make(token) }), {
  disableLogger: true,
  disableListenLog: true
}).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(Layer.merge(Flow.layer(payment), Flow.layer(refund))),
  Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory))
)

const environment = Effect.map(HttpServer.HttpServer, ({ address }) => ({
  SIGNALBOX_FLOWS_URL: HttpServer.formatAddress(address),
  SIGNALBOX_FLOWS_TOKEN: token
}))

const file = (name: string) => join(import.meta.dirname, "..", "support", "checked", `${name}.ts`)

const check = Effect.fnUntraced(function* (name: string, ...args: ReadonlyArray<string>) {
  const env = yield* environment
  return yield* Effect.promise(() => signalbox(["flows", "check", file(name), ...args], { env }))
})

const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (holds) =>
    holds ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(condition))
  )
const rests = (id: string) =>
  until(
    Effect.map(FlowExecutions.inspect(id), ({ now }) => now.some(({ kind }) => kind === "signal" || kind === "sleep"))
  )

/** Two payments that wait, one of them suspended, one that has ended, and a refund that sleeps. */
const underWay = Effect.gen(function* () {
  const small = yield* Flow.submit(payment, 1)
  const large = yield* Flow.submit(payment, 500)
  const ended = yield* Flow.submit(payment, 700)
  const asleep = yield* Flow.submit(refund, 5)
  yield* Effect.forEach([small, large, ended, asleep], rests)
  yield* FlowExecutions.cancel(ended)
  yield* FlowExecutions.suspend(large)
  yield* until(Effect.map(FlowExecutions.get(large), ({ state }) => state === "suspended"))
  yield* until(Effect.map(FlowExecutions.get(ended), ({ state }) => state === "cancelled"))
  return { small, large, asleep }
})

const head = "version    checked  fit  differ  unreadable  recorded step\n"
const fitting = `${head}payment@3  2        2    0       0\nrefund@1   1        1    0       0\n`

describe("signalbox flows check", () => {
  it.live("says that all fit when a step is added after what is recorded", () =>
    Effect.gen(function* () {
      yield* underWay
      const { status, stdout } = yield* check("added")
      assert.deepStrictEqual([status, stdout], [0, fitting])
    }).pipe(Effect.provide(program))
  )

  it.live("says which do not fit, what is recorded and what was reached, and exits with 1", () =>
    Effect.gen(function* () {
      const { asleep, large } = yield* underWay
      const plain = yield* check("changed")
      assert.strictEqual(plain.status, 1)
      assert.match(
        plain.stdout,
        new RegExp(
          `^${large}  suspended  payment@3 +the body of payment.* reached verify before the recorded step check`,
          "m"
        )
      )
      assert.match(
        plain.stdout,
        new RegExp(`^${asleep}  \\w+ +refund@1 +.* exports no version 1 of refund: export it`, "m")
      )
      assert.match(plain.stdout, /^payment@3 +2 +1 +1 +0 +check, reached verify \(1\)$/m)
      assert.match(plain.stdout, /^refund@1 +1 +0 +1 +0$/m)
      assert.match(plain.stderr, /incompatible executions with .*changed.ts: 2; raise the version of a changed flow/)

      const { lines, status } = yield* check("changed", "--json", "--flow", "payment")
      assert.strictEqual(status, 1)
      const [misfit, tally, ...rest] = lines.map((line): unknown => JSON.parse(line))
      assert.deepInclude(misfit, {
        execution: large,
        flow: "payment",
        version: 3,
        state: "suspended",
        tag: "FlowChanged",
        recorded: "check",
        reached: "verify"
      })
      const differences = [{ recorded: "check", reached: "verify", count: 1 }]
      const counts = { checked: 2, fit: 1, unfit: 1, unreadable: 0, differences }
      assert.deepStrictEqual([tally, rest], [{ flow: "payment", version: 3, ...counts }, []])
    }).pipe(Effect.provide(program))
  )

  it.live("as it is published, replays flows with the packages that their file imports", () =>
    Effect.gen(function* () {
      yield* underWay
      const env = yield* environment
      const published = (name: string) =>
        Effect.promise(() => signalbox(["flows", "check", file(name)], { env, cwd: import.meta.dirname }))
      const added = yield* published("added")
      assert.deepStrictEqual([added.status, added.stdout], [0, fitting])
      const changed = yield* published("changed")
      assert.deepInclude(changed, { status: 1 })
      assert.match(changed.stdout, /payment.* reached verify before the recorded step check/)
    }).pipe(Effect.provide(program))
  )

  it.live("names the package that the file does not have", () =>
    Effect.gen(function* () {
      const env = yield* environment
      const { folder, remove } = temporaryFolder("flows-check")
      writeFileSync(join(folder, "flows.mjs"), "export const flow = 1")
      const { status, stderr } = yield* Effect.promise(() =>
        signalbox(["flows", "check", "flows.mjs"], { env, cwd: folder })
      ).pipe(Effect.ensuring(Effect.sync(remove)))
      assert.strictEqual(status, 2)
      assert.match(
        stderr,
        /cannot find @signalbox\/flows from flows\.mjs; install it in the folder of the file: npm install @signalbox\/flows/
      )
    }).pipe(Effect.provide(program))
  )

  it.live("checks those of one flow and state, and of all pages", () =>
    Effect.gen(function* () {
      yield* underWay
      assert.match(
        (yield* check("changed", "--state", "waiting", "--flow", "payment")).stdout,
        /^payment@3 +1 +1 +0 +0$/m
      )
      yield* Effect.forEach(
        Array.from({ length: 120 }, (_, n) => 1_000 + n),
        (amount) => Flow.submit(payment, amount),
        { discard: true }
      )
      const { status, stdout } = yield* check("added", "--flow", "payment")
      assert.strictEqual(status, 0)
      assert.match(stdout, /^payment@3 +122 +122 +0 +0$/m)
    }).pipe(Effect.provide(program))
  )

  it.live("says what is wrong with the file, the flags, the token and the address", () =>
    Effect.gen(function* () {
      const table: ReadonlyArray<readonly [ReadonlyArray<string>, number, RegExp]> = [
        [[file("absent")], 2, /cannot load .*absent\.ts/],
        [[file("broken")], 2, /cannot load .*broken\.ts: Error: no database here/],
        [
          [join(import.meta.dirname, "..", "support", "tasks.ts")],
          2,
          /tasks\.ts exports no flow: export what Flow\.make/
        ],
        [[file("twice")], 2, /twice\.ts exports two flows payment, version 3: raise the version of one/],
        [[file("added"), "--flow", "typo"], 2, /--flow: .* exports no flow typo; expected one of payment, refund/],
        [[file("added"), "--state", "completed"], 2, /state/]
      ]
      const env = yield* environment
      for (const [args, status, expected] of table) {
        const ended = yield* Effect.promise(() => signalbox(["flows", "check", ...args], { env }))
        assert.strictEqual(ended.status, status, ended.stderr)
        assert.match(ended.stderr, expected)
      }
      const away = `http://127.0.0.1:${yield* Effect.promise(freePort)}`
      const unreachable = yield* check("added", "--url", away)
      assert.strictEqual(unreachable.status, 2)
      assert.match(unreachable.stderr, /cannot reach .*: check the address, and that the program runs/)
      const wrong = { ...env, SIGNALBOX_FLOWS_TOKEN: "wrong-secret" }
      const refused = yield* Effect.promise(() => signalbox(["flows", "check", file("added")], { env: wrong }))
      assert.strictEqual(refused.status, 2)
      assert.match(refused.stderr, /Expected a token of this program/)
      assert.notInclude(refused.stderr, "wrong-secret")
    }).pipe(Effect.provide(program))
  )

  it.live("replays exported histories of a folder, without a program", () =>
    Effect.gen(function* () {
      const { large, small } = yield* underWay
      const env = yield* environment
      const { folder, remove } = temporaryFolder("flows-histories")
      yield* Effect.gen(function* () {
        const to = join(folder, "histories")
        const exported = yield* Effect.promise(() => succeed(["flows", "export", "--all", "--to", to], { env }))
        assert.strictEqual(exported.stdout, `4 histories written to ${to}\n`)
        const offline = (name: string, path: string) =>
          Effect.promise(() => signalbox(["flows", "check", file(name), "--histories", path]))
        const added = yield* offline("added", to)
        assert.strictEqual(added.status, 0, added.stderr)
        // The ended one is replayed too.
        assert.match(added.stdout, /^payment@3 +3 +3 +0 +0$/m)
        const changed = yield* offline("changed", join(to, `${large}.json`))
        assert.strictEqual(changed.status, 1)
        assert.match(changed.stdout, /^payment@3 +1 +0 +1 +0 +check, reached verify \(1\)$/m)

        const lines = yield* Effect.promise(() => succeed(["flows", "export", "--key", "1"], { env }))
        writeFileSync(join(folder, "lines.jsonl"), lines.stdout.repeat(2))
        assert.match((yield* offline("added", join(folder, "lines.jsonl"))).stdout, /^payment@3 +2 +2 /m)
        const one = yield* Effect.promise(() => succeed(["flows", "export", small], { env }))
        assert.strictEqual(one.stdout, lines.stdout)

        writeFileSync(join(to, "other.json"), '{"format":2}')
        mkdirSync(join(folder, "empty"))
        const table = [
          [to, /other\.json: not a history of an execution in format 1/],
          [join(folder, "empty"), /has no JSON files/],
          [join(folder, "absent"), /the file or folder does not exist/]
        ] as const
        for (const [path, expected] of table) {
          const { status, stderr } = yield* offline("added", path)
          assert.strictEqual(status, 2)
          assert.match(stderr, expected)
        }
      }).pipe(Effect.ensuring(Effect.sync(remove)))
    }).pipe(Effect.provide(program))
  )

  it.live("counts those with a value that the schemas do not accept as unreadable", () =>
    Effect.gen(function* () {
      yield* underWay
      const { status, stdout } = yield* check("unreadable")
      assert.strictEqual(status, 1)
      assert.match(stdout, /^payment@3 +2 +0 +0 +2$/m)
    }).pipe(Effect.provide(program))
  )

  it.live("is in the help", () =>
    Effect.gen(function* () {
      const { stdout } = yield* Effect.promise(() => succeed(["flows", "check", "--help"]))
      assert.match(stdout, /before you deploy it/)
    })
  )
})
