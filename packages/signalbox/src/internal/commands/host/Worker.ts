/** `signalbox worker`: a worker for a control room that runs elsewhere. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as NodeTransport from "@signalbox/transport/node"
import * as Workers from "@signalbox/api/Workers"
import * as Home from "@signalbox/worker/Home"
import * as WorkerAgent from "@signalbox/worker/Worker"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { hostname } from "node:os"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import * as EnvironmentSettings from "../../settings/Environments.ts"
import { flagsOf, read, SettingsError } from "../../settings/Setting.ts"
import { exitCodes } from "../../process/ExitCodes.ts"
import { drain } from "../../resources/Workers.ts"
import * as SecondSignal from "../../process/SecondSignal.ts"
import * as TasksFile from "../../files/TasksFile.ts"
import * as WorkerSettings from "../../settings/Worker.ts"
import * as Umask from "../../process/Umask.ts"
import { doctor, environments, prepare } from "./WorkerEnvironments.ts"
import * as FlagValues from "../../settings/FlagValues.ts"

/** The step run of `--once` did not complete. */
export class StepRunEnded extends TaggedError<StepRunEnded>()("StepRunEnded", {
  message: Schema.String,
  exitCode: Schema.Finite
}) {}

/** Fails with the code that says how the step run ended. */
const reportOnce = (ended: WorkerAgent.Ended) => {
  if (ended === null) {
    return new StepRunEnded({
      message: "the worker was drained before it received a step run",
      exitCode: exitCodes.notStarted
    })
  }
  const { error, id } = ended
  if (error === null) return Console.error(`The step run ${id} has completed`)
  const wasStopped = error === "lost" || error.code === "TERMINATED"
  const why = error === "lost" ? "the service ended it" : `${error.code}: ${error.message}`
  const exitCode = wasStopped ? exitCodes.stopped : exitCodes.stepRunFailed
  return new StepRunEnded({ message: `the step run ${id} did not complete: ${why}`, exitCode })
}

/** The address without the path of the interface, which users may have copied too. */
const originOf = Effect.fnUntraced(function* (url: string | null) {
  const origin = url?.replace(/\/+$/, "").replace(/\/api\/v1$/, "")
  if (origin !== undefined && /^https?:\/\/[^\s/]+(\/\S*)?$/i.test(origin) && URL.canParse(origin)) return origin
  return yield* new SettingsError({
    message: "--url: expected the address of the control room, such as http://127.0.0.1:4700; or set SIGNALBOX_BASE_URL"
  })
})

const start = Command.make(
  "start",
  {
    settings: flagsOf(WorkerSettings.worker),
    limits: flagsOf(WorkerSettings.limits),
    name: Flag.String("name").pipe(
      Flag.withDescription("The name of the worker at the control room; default: the name of this machine"),
      Flag.withDefault(hostname())
    ),
    capacity: FlagValues.whole("capacity", 1, 1000).pipe(
      Flag.withDescription("How many step runs may run concurrently, 1 to 1,000"),
      Flag.withDefault(1)
    ),
    once: Flag.Boolean("once").pipe(
      Flag.withDescription("Run one step run and exit: 0 completed, 3 stopped, 4 no step run, 5 failed"),
      Flag.withDefault(false)
    ),
    unlink: Flag.Boolean("unlink").pipe(
      Flag.withDescription("Remove the worker from the workspace when it ends, as for a disposable container"),
      Flag.withDefault(false)
    ),
    environments: flagsOf(EnvironmentSettings.environments)
  },
  Effect.fnUntraced(
    function* (given) {
      const { capacity, name, once } = given
      const settings = yield* read(WorkerSettings.worker, given.settings)
      const { drainSeconds, labels, linkToken } = settings
      const origin = yield* originOf(settings.url)
      const limits = yield* read(WorkerSettings.limits, given.limits)
      const environments = yield* EnvironmentSettings.read(given.environments)
      const tasks = yield* TasksFile.load(settings.tasks)
      const home = yield* Home.open({ folder: settings.data, service: origin, environments, limits })
      if (linkToken === null && (yield* home.linked) === null) {
        return yield* new SettingsError({
          message: `--link-token: the worker in ${home.folder} is not linked yet; create a token with \`signalbox worker link-token\` and pass it once, or set SIGNALBOX_LINK_TOKEN`
        })
      }
      if (given.unlink) {
        yield* Effect.addFinalizer(() =>
          home.linked.pipe(
            Effect.flatMap((linked) => (linked === null ? Effect.void : WorkerAgent.unlink(home))),
            Effect.ignoreCause({ log: "Warn", message: "the worker was not unlinked" })
          )
        )
      }
      const hurry = yield* SecondSignal.make
      yield* Umask.own
      const howTo = "Ctrl-C stops it after its step runs have finished; a second Ctrl-C stops it immediately"
      yield* Console.error(`The worker "${name}" runs for ${origin}; ${howTo}`)
      const ended = yield* WorkerAgent.run({
        origin,
        name,
        capacity,
        tasks,
        home,
        labels,
        once,
        drain: drainSeconds === null ? "Infinity" : Duration.seconds(drainSeconds),
        hurry,
        linkToken: linkToken ?? undefined
      })
      if (once) return yield* reportOnce(ended)
      yield* Console.error(`The worker "${name}" was drained and has ended`)
    },
    Effect.scoped,
    Effect.provide(NodeTransport.layer)
  )
).pipe(
  Command.withDescription("Runs task packages and tasks of a file until the worker is stopped or drained"),
  Command.withExamples([
    {
      command: "signalbox worker start --url https://room.example.com --link-token sbl_…",
      description: "Link and start the worker; later starts need only --url"
    },
    {
      command: "signalbox worker start --url http://127.0.0.1:4700 --data /srv/worker --capacity 4 --tasks tasks.ts",
      description: "Run four step runs concurrently, with the tasks of a file"
    },
    {
      command: "signalbox worker start --url https://room.example.com --label gpu --limit-memory 4GB --once",
      description: "In a container: run one step run, which may require the label `gpu`, and exit with its code"
    }
  ])
)

const unlink = Command.make(
  "unlink",
  { settings: flagsOf(WorkerSettings.home), json: connectionFlags.json },
  Effect.fnUntraced(
    function* (given) {
      const { data } = yield* read(WorkerSettings.home, given.settings)
      const home = yield* Home.open({ folder: data, service: null })
      yield* WorkerAgent.unlink(home)
      yield* print(
        given.json,
        { folder: home.folder, unlinked: true },
        () => `The worker in ${home.folder} is unlinked`
      )
    },
    Effect.scoped,
    Effect.provide(NodeTransport.layer)
  )
).pipe(
  Command.withDescription("Removes the worker of a folder from its workspace; stop the worker first"),
  Command.withExamples([
    {
      command: "signalbox worker unlink --data /srv/worker",
      description: "Remove the worker; its token is refused immediately"
    }
  ])
)

const linkToken = Command.make(
  "link-token",
  connectionFlags,
  Effect.fnUntraced(function* (given) {
    const token = yield* connected(given.data)(Workers.createLinkToken())
    yield* print(given.json, token, ({ link_token }) => link_token)
    if (!given.json) yield* Console.error(`It links one worker, until ${token.expires_at}`)
  })
).pipe(
  Command.withDescription("Creates and prints a token that links one worker"),
  Command.withExamples([
    {
      command: "SIGNALBOX_LINK_TOKEN=$(signalbox worker link-token) signalbox worker start --url http://127.0.0.1:4700",
      description: "Start another worker on the machine of the control room"
    }
  ])
)

export const worker = Command.make("worker").pipe(
  Command.withDescription("Starts and links workers, on the machine of the control room or another"),
  Command.withSubcommands([start, drain, unlink, linkToken, prepare, doctor, environments])
)
