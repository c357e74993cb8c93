/** `signalbox flows`, in separate processes, against a program with durable flows. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { signalbox, succeed, temporaryFolder } from "./support/Cli.ts"

const token = "a token of some length"

class TooMuch extends Schema.TaggedError<TooMuch>()("TooMuch", { message: Schema.String }) {}

let limit = 100
const check = Flow.step("check", {
  input: Schema.Struct({ amount: Schema.Finite }),
  success: Schema.Struct({ amount: Schema.Finite }),
  error: TooMuch,
  run: (input) =>
    input.amount > limit ? Effect.fail(new TooMuch({ message: `more than ${limit}` })) : Effect.succeed(input)
})

const approval = Flow.approval("approval")
const day = Flow.signal("day", Schema.String)

const payment = Flow.make("payment", {
  version: 3,
  input: Schema.Finite,
  success: Schema.String,
  error: TooMuch,
  idempotencyKey: String,
  signals: [approval, day],
  tags: (amount) => (amount > 100 ? ["large"] : []),
  run: Effect.fnUntraced(function* (amount) {
    yield* check({ amount })
    const { approved, by } = yield* approval.receive()
    return `${approved ? "paid" : "refused"} by ${by} on ${yield* day.receive()}`
  })
})

class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String, details: Schema.Json }) {}

const file = Flow.step("file", {
  input: Schema.String,
  success: Schema.String,
  error: Refused,
  run: (text) =>
    text === "empty"
      ? Effect.fail(new Refused({ why: "nothing to file", details: { pages: 0 } }))
      : text === "long"
        ? Effect.fail(new Refused({ why: "too long", details: "x".repeat(10_000) }))
        : Effect.succeed(text)
})
const filing = Flow.make("filing", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Refused,
  idempotencyKey: (text) => text,
  run: (text) => Effect.andThen(file(text), Effect.die(new TypeError("text.pages is not a function")))
})

const rows = Flow.step("rows", {
  input: Schema.String,
  success: Schema.String,
  error: Refused,
  retry: { attempts: 2, delay: "1 hour" },
  run: Effect.fnUntraced(function* () {
    const { record } = yield* Flow.details(Schema.Struct({ row: Schema.Int }))
    yield* record({ row: 7_000 })
    return yield* new Refused({ why: "away", details: null })
  })
})
const importing = Flow.make("importing", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Refused,
  idempotencyKey: (text) => text,
  run: (text) => rows(text)
})

const program = HttpRouter.serve(FlowManagement.layerRoutes({ token: Redacted.make(token) }), {
  disableLogger: true,
  disableListenLog: true
}).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(Layer.mergeAll(Flow.layer(payment), Flow.layer(filing), Flow.layer(importing))),
  Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory))
)

const environment = Effect.map(HttpServer.HttpServer, ({ address }) => ({
  SIGNALBOX_FLOWS_URL: HttpServer.formatAddress(address),
  SIGNALBOX_FLOWS_TOKEN: token
}))

/** Runs a command that must exit with 0, against the program. */
const flows = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const env = yield* environment
  return yield* Effect.promise(() => succeed(["flows", ...args], { env }))
})

const failing = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const env = yield* environment
  const ended = yield* Effect.promise(() => signalbox(["flows", ...args], { env }))
  assert.notStrictEqual(ended.status, 0, ended.stdout)
  return ended
})

const stateOf = (id: string) => Effect.map(FlowExecutions.get(id), ({ state }) => state)
const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (holds) =>
    holds ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(condition))
  )
const awaits = (id: string, path: string) =>
  until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.some((activity) => activity.path === path)))
const isIn = (id: string, state: FlowExecutions.State) => until(Effect.map(stateOf(id), (now) => now === state))

const decodeListed = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ id: Schema.String, state: Schema.String, started_at: Schema.String }))
)

// One story of one program, whose service is away until somebody approves.
describe("signalbox flows", { shuffle: false }, () => {
  it.live("follows a payment from a failure to its end", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(payment, 500)
      yield* isIn(id, "failed")

      const [listed = ""] = (yield* flows("list", "--state", "failed", "--flow", "payment", "--json")).lines
      assert.propertyVal(decodeListed(listed), "id", id)
      assert.match((yield* flows("list")).stdout, new RegExp(`^${id} +failed +\\ds +payment@3 +500 +more than 100`))
      assert.strictEqual((yield* flows("list", "--flow-version", "4")).stdout, "")

      const failed = (yield* flows("show", id)).stdout
      assert.match(failed, /^failed: more than 100$/m)
      assert.match(
        failed,
        /^remedy: fix the cause of the failure, then retry: it begins at check, or at an earlier step that you name$/m
      )
      assert.match(failed, /^step +kind +attempt +state +started +duration +failure$/m)
      assert.match(failed, /^check +step +1 +failed .*more than 100$/m)
      assert.match((yield* flows("show", id, "--step", "check")).stdout, /"input":\{"amount":500\}.*"stack":"TooMuch/)
      assert.match((yield* flows("show", id, "--mermaid")).stdout, /^flowchart TD\n/)

      limit = 1_000
      assert.strictEqual((yield* flows("retry", id, "--json")).stdout, `{"id":"${id}"}\n`)
      yield* awaits(id, "approval")
      const waiting = (yield* flows("show", id)).stdout
      assert.match(waiting, /^waiting: waits for the signal approval, since \d{4}-.*Z$/m)
      assert.match(waiting, /^branch +activity +attempt +since +due +host +last failure$/m)
      assert.match(waiting, /^approval +waits for the signal approval +1 +\d{4}-.*Z \(\ds\)$/m)

      const undecided = yield* failing("signal", id, "approval")
      assert.strictEqual(undecided.status, 2)
      assert.match(undecided.stderr, /expected one of --approve, --reject and --value/)
      assert.match(
        (yield* failing("signal", id, "approval", "--approve")).stderr,
        /value: does not fit the signal approval: [^]*"by"/
      )
      const typo = yield* failing("signal", id, "aproval", "--reject", "--by", "ann")
      assert.match(typo.stderr, /aproval does not exist; expected one of approval, day/)

      yield* flows("signal", id, "approval", "--approve", "--by", "ann", "--comment", "as agreed")
      yield* flows("signal", id, "day", "--value", '"monday"')
      yield* isIn(id, "completed")
      assert.match((yield* flows("show", id)).stdout, /^result "paid by ann on monday"$/m)

      yield* flows("retry", id, "--from", "day")
      yield* isIn(id, "completed")
      const history = JSON.parse((yield* flows("export", id)).stdout)
      assert.deepStrictEqual([history.format, history.execution.round], [1, 2])
      assert.isTrue(history.aside.some(({ path }: { readonly path: string }) => path === "day"))
    }).pipe(Effect.provide(program))
  )

  it.live("shows the members of an error without a message, and not all of a long one", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(filing, "empty")
      yield* isIn(id, "failed")
      const shown = (yield* flows("show", id)).stdout
      const error = '{"_tag":"Refused","why":"nothing to file","details":{"pages":0}}'
      assert.include(shown, `failed: Refused ${error}\n`)
      assert.include(shown, `\nerror ${error}\n`)
      assert.match(shown, /^file +step +1 +failed .*Refused \{"_tag":"Refused","why":"nothing to file"/m)
      const long = yield* Flow.submit(filing, "long")
      yield* isIn(long, "failed")
      const { lines } = yield* flows("show", long)
      assert.isBelow(Math.max(...lines.map((line) => line.length)), 5_000)
      assert.match(lines.join("\n"), /^error .*… \(\d+ characters; --json shows all\)$/m)
    }).pipe(Effect.provide(program))
  )

  it.live("shows what a step has recorded for its next attempt", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(importing, "a")
      yield* until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now[0]?.kind === "pause"))
      const shown = (yield* flows("show", id)).stdout
      assert.match(shown, /^waiting: tries rows again at .*, recorded \{"row":7000\}$/m)
      assert.match(shown, /^rows +retries, recorded \{"row":7000\} +1 /m)
      assert.match(shown, /^rows +step +1 +retrying, recorded \{"row":7000\} /m)
      const attempt = JSON.parse((yield* flows("show", id, "--step", "rows")).stdout)
      assert.deepStrictEqual(attempt.details, { row: 7_000 })
      const { now } = JSON.parse((yield* flows("show", id, "--json")).stdout)
      assert.deepStrictEqual(now[0].details, { row: 7_000 })
    }).pipe(Effect.provide(program))
  )

  it.live("lists and shows when one starts, and its deadline", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(payment, 7, { after: "1 day", priority: 5, deadline: "2 days" })
      const listed = (yield* flows("list", "--state", "queued")).stdout
      assert.match(
        listed,
        new RegExp(`^${id} +queued .* starts at \\d{4}-\\S+Z, priority 5, deadline \\d{4}-\\S+Z$`, "m")
      )
      const shown = (yield* flows("show", id)).stdout
      assert.match(shown, /^queued: starts at \d{4}-\S+Z; deadline \d{4}-\S+Z$/m)
      assert.match(shown, /^key 7, submitted \d{4}-\S+Z \(\ds\)\npriority 5\ndeadline \d{4}-\S+Z$/m)
      const { execution } = JSON.parse((yield* flows("show", id, "--json")).stdout)
      assert.strictEqual(Date.parse(execution.deadline_at) - Date.parse(execution.starts_at), 86_400_000)
      assert.strictEqual(execution.priority, 5)
    }).pipe(Effect.provide(program))
  )

  it.live("shows why one halted, where, and the next thing to do", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(filing, "one")
      yield* isIn(id, "halted")
      const shown = (yield* flows("show", id)).stdout
      assert.match(
        shown,
        /^halt BODY_DEFECT: the body of filing@1 threw after file: TypeError: text.pages is not a function$/m
      )
      assert.match(shown, /^halted \d{4}-\S+Z on \S+, process \S+; last run on \S+: file, \d{4}-\S+Z$/m)
      assert.match(shown, /^remedy: correct the program and start it, then resume the execution; or cancel it/m)
      const json = JSON.parse((yield* flows("show", id, "--json")).stdout)
      assert.deepInclude(json.halt, { code: "BODY_DEFECT", after: "file", recorded: null, reached: null, value: null })
      assert.strictEqual(json.halt.last_run.path, "file")
    }).pipe(Effect.provide(program))
  )

  it.live("starts one, joins it by its key, and waits for its end", () =>
    Effect.gen(function* () {
      const { stdout } = yield* flows("start", "filing", "--input", '"empty"', "--json")
      const { id } = JSON.parse(stdout)
      assert.match((yield* flows("start", "filing", "--input", '"empty"')).stdout, new RegExp(`^${id} `))
      const failed = yield* failing("start", "filing", "--input", '"empty"', "--wait")
      assert.strictEqual(failed.status, 1)
      assert.include(failed.stderr, `the execution ${id} is failed: Refused`)
      const odd = yield* failing("start", "filing", "--input", "{")
      assert.match(odd.stderr, /--input: expected JSON, @FILE/)
      assert.match((yield* failing("start", "filing", "--input", "1")).stderr, /input: Expected string/)
      const later = yield* flows(
        "start",
        "filing",
        "--input",
        '"later"',
        "--after",
        "2 hours",
        "--priority",
        "5",
        "--json"
      )
      assert.propertyVal(yield* FlowExecutions.get(JSON.parse(later.stdout).id), "priority", 5)
      const never = yield* failing("start", "filing", "--input", '"x"', "--after", "soon")
      assert.match(never.stderr, /--after cannot be "soon"/)
      assert.match((yield* failing("start", "none", "--input", "1")).stderr, /flow: none is not registered/)
      yield* Flow.signalWithStart(payment, 7, approval, { approved: true, by: "ann", comment: null })
      yield* Flow.signalWithStart(payment, 7, day, "monday")
      const done = yield* flows("start", "payment", "--input", "7", "--wait")
      assert.strictEqual(done.stdout, '"paid by ann on monday"\n')
    }).pipe(Effect.provide(program))
  )

  it.live("lists what a deployment has halted, and resumes it with one command", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(filing, "one")
      yield* isIn(id, "halted")
      const ids = (lines: ReadonlyArray<string>) => lines.map((line) => line.split(" ")[0])
      assert.deepStrictEqual(ids((yield* flows("list", "--halted-by-deployment")).lines), [id])
      assert.deepStrictEqual(ids((yield* flows("list", "--halt", "BODY_DEFECT")).lines), [id])
      assert.strictEqual((yield* flows("list", "--halt", "UNDO_FAILED")).stdout, "")
      assert.strictEqual((yield* flows("list", "--since", "2999-01-01T00:00:00Z")).stdout, "")
      const since = ["--since", "2020-01-01T00:00:00Z"]
      const resumed = yield* flows("resume", "--halted-by-deployment", ...since, "--yes", "--json")
      assert.strictEqual(resumed.stdout, '{"changed":1,"refused":0}\n')
    }).pipe(Effect.provide(program))
  )

  it.live("forks one from a step, with another input of a file", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(payment, 3)
      yield* awaits(id, "approval")
      const forked = yield* flows("fork", id, "--from", "approval")
      const fork = forked.stdout.split(" ")[0] ?? ""
      assert.strictEqual(forked.stdout, `${fork} runs from approval on, with the results of ${id} before it\n`)
      yield* awaits(fork, "approval")
      const { folder, remove } = temporaryFolder("flows-fork")
      yield* Effect.gen(function* () {
        const file = join(folder, "input.json")
        writeFileSync(file, "4")
        const given = ["--input", file, "--key", "mine", "--json"]
        const other: unknown = JSON.parse((yield* flows("fork", id, "--from", "check", ...given)).stdout)
        const { executions } = yield* FlowExecutions.list({ key: "mine" })
        assert.deepStrictEqual(other, { id: executions[0]?.id })
        assert.strictEqual((yield* FlowExecutions.get(executions[0]?.id ?? "")).input, 4)
        writeFileSync(file, "four")
        const { status, stderr } = yield* failing("fork", id, "--from", "check", "--input", file)
        assert.strictEqual(status, 2)
        assert.match(stderr, /--input: expected a file with JSON/)
      }).pipe(Effect.ensuring(Effect.sync(remove)))
      const other = yield* failing("fork", id, "--from", "approval", "--to-version", "4")
      assert.match(other.stderr, /no running program has registered payment, version 4; registered are 3/)
      const unknown = yield* failing("fork", id, "--from", "pay")
      assert.match(unknown.stderr, /from: the execution \S+ has recorded no step pay/)
    }).pipe(Effect.provide(program))
  )

  it.live("suspends, resumes, cancels and terminates one", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(payment, 1)
      yield* awaits(id, "approval")
      yield* flows("suspend", id)
      yield* isIn(id, "suspended")
      assert.match((yield* flows("show", id)).stdout, /^remedy: resume it$/m)
      yield* flows("resume", id)
      yield* awaits(id, "approval")
      assert.match((yield* failing("retry", id)).stderr, /has not ended \(\w+\): cancel it first/)
      yield* flows("cancel", id)
      yield* isIn(id, "cancelled")
      const again = (yield* flows("cancel", id)).stdout
      assert.strictEqual(again, `${id} has already ended (cancelled); nothing was changed\n`)
      const other = yield* Flow.submit(payment, 2)
      yield* awaits(other, "approval")
      yield* flows("terminate", other)
      yield* isIn(other, "cancelled")
    }).pipe(Effect.provide(program))
  )

  it.live("reschedules what has not begun", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(payment, 1, { after: "2 days" })
      const at = "2099-01-02T03:04:05.000Z"
      const moved = yield* flows("reschedule", id, "--at", at, "--priority", "5", "--deadline", "3 days")
      assert.strictEqual(moved.stdout, `${id} is rescheduled\n`)
      assert.deepInclude(yield* FlowExecutions.get(id), { startsAt: Date.parse(at), priority: 5 })
      const all = yield* flows("reschedule", "--flow", "payment", "--after", "0 seconds", "--yes")
      assert.strictEqual(all.stdout, "1 execution is rescheduled\n")
      yield* awaits(id, "approval")
      assert.match((yield* failing("reschedule", id, "--priority", "1")).stderr, /has begun \(waiting\)/)
      assert.match((yield* failing("reschedule", id)).stderr, /expected --at, --after, --priority or --deadline/)
    }).pipe(Effect.provide(program))
  )

  it.live("lists the versions, what has not ended of each, and which may be deleted from the code", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(payment, 2)
      yield* awaits(id, "approval")
      const { lines } = yield* flows("versions")
      assert.match(lines[0] ?? "", /^version +unended +by state +oldest start +processes +removable$/)
      assert.match(lines[1] ?? "", /^filing@1 +newest +0 +1 on \S+ +yes$/)
      assert.match(lines[2] ?? "", /^importing@1 +newest +0 +1 on \S+ +yes$/)
      assert.match(lines[3] ?? "", /^payment@3 +newest +1 +1 waiting +20\S+ \(\ds\) +1 on \S+ +no$/)
      const one: unknown = JSON.parse((yield* flows("versions", "payment", "--json")).stdout)
      assert.deepInclude(one, { flow: "payment", version: 3, newest: true, unended: 1, removable: false })
      assert.strictEqual((yield* flows("versions", "absent")).stdout, "No versions\n")
    }).pipe(Effect.provide(program))
  )

  it.live("carries out a command for all that match, when that is said", () =>
    Effect.gen(function* () {
      limit = 1_000
      const small = yield* Flow.submit(payment, 1)
      const large = yield* Effect.forEach([101, 102], (amount) => Flow.submit(payment, amount))
      yield* Effect.forEach([small, ...large], (id) => awaits(id, "approval"))
      assert.strictEqual((yield* flows("list", "--tag", "large")).lines.length, 2)
      assert.strictEqual((yield* flows("list", "--started-before", "2020-01-01T00:00:00Z")).stdout, "")

      const table: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
        [["cancel"], /expected the id of an execution; or flags that filter, .* or --all/],
        [
          ["cancel", "--tag", "large"],
          /--yes: needed to cancel all executions that match; list them with `signalbox flows list`/
        ],
        [["cancel", "--all"], /--yes: needed/],
        [["cancel", small, "--tag", "large", "--yes"], /not both/],
        [["terminate", "--state", "odd", "--yes"], /state/]
      ]
      for (const [args, expected] of table) {
        const { status, stderr } = yield* failing(...args)
        assert.strictEqual(status, 2)
        assert.match(stderr, expected)
      }
      assert.strictEqual(yield* stateOf(small), "waiting")

      const cancelled = yield* flows("cancel", "--tag", "large", "--yes", "--json")
      assert.strictEqual(cancelled.stdout, '{"changed":2,"refused":0}\n')
      yield* Effect.forEach(large, (id) => isIn(id, "cancelled"))
      assert.strictEqual(yield* stateOf(small), "waiting")
      assert.match((yield* flows("retry", "--tag", "large", "--yes")).stdout, /^0 executions run again; 2 refused$/m)
      assert.match(
        (yield* flows("terminate", "--all", "--yes")).stdout,
        /^1 execution terminated; nothing was undone$/m
      )
    }).pipe(Effect.provide(program))
  )

  it.live("says what is missing or wrong, without the token", () =>
    Effect.gen(function* () {
      const { SIGNALBOX_FLOWS_URL: url } = yield* environment
      const run = (args: ReadonlyArray<string>, env: Record<string, string>) =>
        Effect.promise(() => signalbox(["flows", ...args], { env }))
      const noUrl = yield* run(["list"], { SIGNALBOX_FLOWS_TOKEN: token })
      assert.strictEqual(noUrl.status, 2)
      assert.match(noUrl.stderr, /--url: expected the address .* or set SIGNALBOX_FLOWS_URL/)
      assert.match((yield* run(["list", "--url", url], {})).stderr, /set SIGNALBOX_FLOWS_TOKEN/)
      const wrong = yield* run(["list", "--url", url], { SIGNALBOX_FLOWS_TOKEN: "wrong-secret" })
      assert.strictEqual(wrong.status, 1)
      assert.match(wrong.stderr, /Expected a token of this program/)
      assert.notInclude(wrong.stderr, "wrong-secret")
      assert.match((yield* failing("show", "nobody")).stderr, /the execution nobody does not exist/)
    }).pipe(Effect.provide(program))
  )
})
