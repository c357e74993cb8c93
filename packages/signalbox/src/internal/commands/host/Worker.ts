/** `signalbox worker`: a worker for a control room that runs elsewhere. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as NodeTransport from "@signalbox/transport/node"
import * as Workers from "@signalbox/api/Workers"
import * as Home from "@signalbox/worker/Home"
import * as WorkerAgent from "@signalbox/worker/Worker"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { hostname } from "node:os"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"
import { orVariable } from "../../settings/FlagValues.ts"
import { environmentFlags, settingsOf } from "../../settings/EnvironmentFlags.ts"
import { exitCodes } from "../../process/ExitCodes.ts"
import { drain } from "../../resources/Workers.ts"
import * as SecondSignal from "../../process/SecondSignal.ts"
import * as TasksFile from "../../files/TasksFile.ts"
import {
  drainOf,
  endingFlags,
  labelFlag,
  labelsOf,
  limitFlags,
  limitsOf,
  WorkerFlagError
} from "../../settings/WorkerFlags.ts"
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
      message: "the worker was drained before it had a step run",
      exitCode: exitCodes.notStarted
    })
  }
  const { error, id } = ended
  if (error === null) return Console.error(`The step run ${id} has completed`)
  const wasStopped = error === "lost" || error.code === "TERMINATED"
  const why = error === "lost" ? "the service had ended it" : `${error.code}: ${error.message}`
  const exitCode = wasStopped ? exitCodes.stopped : exitCodes.stepRunFailed
  return new StepRunEnded({ message: `the step run ${id} did not complete: ${why}`, exitCode })
}

const data = Flag.String("data").pipe(
  Flag.withDescription(
    "The worker's own folder: its identity, and the task packages that it runs; default: SIGNALBOX_WORKER_DATA, else .signalbox-worker"
  ),
  Flag.optional
)

const folderOf = (flag: Option.Option<string>) =>
  Effect.map(orVariable(flag, "SIGNALBOX_WORKER_DATA"), (folder) => folder ?? ".signalbox-worker")

/** The address without the path of the interface, which users may have copied too. */
const originOf = Effect.fnUntraced(function* (url: string | null) {
  const origin = url?.replace(/\/+$/, "").replace(/\/api\/v1$/, "")
  if (origin !== undefined && /^https?:\/\/[^\s/]+(\/\S*)?$/i.test(origin) && URL.canParse(origin)) return origin
  return yield* new WorkerFlagError({
    message: "--url: expected the address of the control room, such as http://127.0.0.1:4700; or set SIGNALBOX_BASE_URL"
  })
})

const start = Command.make(
  "start",
  {
    url: Flag.String("url").pipe(
      Flag.withDescription("The address of the control room; default: SIGNALBOX_BASE_URL"),
      Flag.optional
    ),
    linkToken: Flag.String("link-token").pipe(
      Flag.withDescription(
        "Links the worker, once; better from SIGNALBOX_LINK_TOKEN, since other users can see flags. Not needed again"
      ),
      Flag.optional
    ),
    data,
    name: Flag.String("name").pipe(
      Flag.withDescription("The name of the worker at the control room; default: the name of this machine"),
      Flag.withDefault(hostname())
    ),
    capacity: FlagValues.whole("capacity", 1, 1000).pipe(
      Flag.withDescription("How many step runs may run concurrently, 1 to 1,000"),
      Flag.withDefault(1)
    ),
    tasks: Flag.String("tasks").pipe(
      Flag.withDescription(
        "A TypeScript or JavaScript file that exports `tasks` of this worker; default: SIGNALBOX_TASKS"
      ),
      Flag.optional
    ),
    label: labelFlag,
    ...endingFlags,
    ...limitFlags,
    ...environmentFlags
  },
  Effect.fnUntraced(
    function* (given) {
      const { capacity, name, once } = given
      const origin = yield* originOf(yield* orVariable(given.url, "SIGNALBOX_BASE_URL"))
      if (capacity < 1 || capacity > 1000) {
        return yield* new WorkerFlagError({ message: `--capacity: expected 1 to 1000, got ${capacity}` })
      }
      const labels = yield* labelsOf(given.label)
      const drain = yield* drainOf(given)
      const limits = yield* limitsOf(given)
      const tasks = yield* TasksFile.load(yield* orVariable(given.tasks, "SIGNALBOX_TASKS"))
      // A token from a file, such as a secret of a cluster, often ends with a line break.
      const linkToken = (yield* orVariable(given.linkToken, "SIGNALBOX_LINK_TOKEN"))?.trim() ?? null
      const home = yield* Home.open({
        folder: yield* folderOf(given.data),
        service: origin,
        environments: yield* settingsOf(given),
        limits
      })
      if (linkToken === null && (yield* home.linked) === null) {
        return yield* new WorkerFlagError({
          message: `--link-token: the worker in ${home.folder} is not linked yet; create a token with \`signalbox worker link-token\` and give it once, or set SIGNALBOX_LINK_TOKEN`
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
      const howTo = "Ctrl-C lets it finish its step runs, a second one ends them immediately"
      yield* Console.error(`The worker "${name}" works for ${origin}; ${howTo}`)
      const ended = yield* WorkerAgent.run({
        origin,
        name,
        capacity,
        tasks,
        home,
        labels,
        once,
        drain,
        hurry,
        ...(linkToken === null ? {} : { linkToken: Redacted.make(linkToken) })
      })
      if (once) return yield* reportOnce(ended)
      yield* Console.error(`The worker "${name}" was drained and has ended`)
    },
    Effect.scoped,
    Effect.provide(NodeTransport.layer)
  )
).pipe(
  Command.withDescription("Runs task packages, and its own tasks, until it is stopped or drained"),
  Command.withExamples([
    {
      command: "signalbox worker start --url https://room.example.com --link-token sbl_…",
      description: "The first start links the worker; later ones need only --url"
    },
    {
      command: "signalbox worker start --url http://127.0.0.1:4700 --data /srv/worker --capacity 4 --tasks tasks.ts",
      description: "Four concurrent step runs, with its own tasks"
    },
    {
      command: "signalbox worker start --url https://room.example.com --label gpu --limit-memory 4GB --once",
      description: "In a container: one step run that may ask for `gpu`, and then the end, with its exit code"
    }
  ])
)

const unlink = Command.make(
  "unlink",
  { data, json: connectionFlags.json },
  Effect.fnUntraced(
    function* (given) {
      const home = yield* Home.open({ folder: yield* folderOf(given.data), service: null })
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
  Command.withDescription("Removes the worker of a folder from its workspace; the worker must be stopped"),
  Command.withExamples([
    { command: "signalbox worker unlink --data /srv/worker", description: "Its token is then refused" }
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
  Command.withDescription("Creates a token with which one worker links itself, and prints it"),
  Command.withExamples([
    {
      command: "SIGNALBOX_LINK_TOKEN=$(signalbox worker link-token) signalbox worker start --url http://127.0.0.1:4700",
      description: "One more worker on the machine of the control room"
    }
  ])
)

export const worker = Command.make("worker").pipe(
  Command.withDescription("Workers that run beside, or far from, their control room"),
  Command.withSubcommands([start, drain, unlink, linkToken, prepare, doctor, environments])
)
