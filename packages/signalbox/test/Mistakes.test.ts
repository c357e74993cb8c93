/**
 * Usual mistakes: each is one sentence on standard error that names the remedy, nothing on standard output, and an exit code.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { freePort } from "@signalbox/testkit/FreePort"
import { mkdirSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Cli from "./support/Cli.ts"

const { folder, remove } = Cli.temporaryFolder("mistakes")
const data = join(folder, "data")
const path = (name: string) => join(folder, name)
const file = (name: string, text: string) => {
  writeFileSync(path(name), text)
  return path(name)
}

let room: Cli.RoomHere
let keyWithoutPermission = ""
let unused = 0
beforeAll(async () => {
  room = await Cli.upHere(data, ["--tasks", Cli.tasksFile])
  const here = ["--data", data]
  await Cli.succeed(["groups", "create", "linux", ...here])
  await Cli.succeed(["processes", "create", "greeting", "--task", "greet", "--group", "linux", ...here])
  const args = ["keys", "create", "--name", "reader", "--permission", "Processes.read_processes"]
  keyWithoutPermission = (await Cli.succeed([...args, ...here])).stdout.trim()
  unused = await freePort()
  file("huge.bin", "")
  truncateSync(path("huge.bin"), 6_000_000_000)
  mkdirSync(path("old"))
  file("old/credentials.json", '{"baseUrl":"http://127.0.0.1:4700","apiKey":"k"}\n')
})
afterAll(async () => {
  await room.end()
  remove()
})

interface Mistake {
  readonly what: string
  /** Words are separated by a space. */
  readonly line: () => string
  readonly env?: () => Cli.Env
  /** In a process of its own: what a test runner loads, it reads itself. */
  readonly apart?: true
  readonly status: 1 | 2
  /** What is wrong. */
  readonly problem: RegExp
  readonly remedy: RegExp
}

const connection = (changed: Cli.Env): Cli.Env => ({
  SIGNALBOX_BASE_URL: room.ready.base_url,
  SIGNALBOX_API_KEY: room.ready.api_key,
  SIGNALBOX_WORKSPACE_ID: room.ready.workspace_id,
  ...changed
})
const here = (line: string) => () => `${line} --data ${data}`
const fixed = (line: string) => () => line

const mistakes: ReadonlyArray<Mistake> = [
  {
    what: "a wrong key",
    line: fixed("runs list"),
    env: () => connection({ SIGNALBOX_API_KEY: "sbk_wrong" }),
    status: 1,
    problem: /key/,
    remedy: /check SIGNALBOX_API_KEY/
  },
  {
    what: "a wrong workspace",
    line: fixed("runs list"),
    env: () => connection({ SIGNALBOX_WORKSPACE_ID: "0199a1b2-0000-7000-8000-000000000000" }),
    status: 1,
    problem: /workspace/,
    remedy: /check .*SIGNALBOX_WORKSPACE_ID/
  },
  {
    what: "a key without the permission",
    line: fixed("runs list"),
    env: () => connection({ SIGNALBOX_API_KEY: keyWithoutPermission }),
    status: 1,
    problem: /Processes\.read_runs/,
    remedy: /create one that has it with `signalbox keys create --permission/
  },
  {
    what: "a control room that does not run",
    line: fixed("runs list"),
    env: () => connection({ SIGNALBOX_BASE_URL: `http://127.0.0.1:${unused}` }),
    status: 1,
    problem: /Unreachable/,
    remedy: /start it with `signalbox up`/
  },
  {
    what: "an address that leads to something else",
    line: fixed("runs list"),
    env: () => connection({ SIGNALBOX_BASE_URL: room.ready.docs_url }),
    status: 1,
    problem: /nothing exists at/,
    remedy: /check that SIGNALBOX_BASE_URL leads to a control room/
  },
  {
    what: "half a connection",
    line: () => `apply ${file("workspace.yaml", "processes: {}\n")} --prune`,
    env: () => ({ SIGNALBOX_BASE_URL: room.ready.base_url }),
    status: 1,
    problem: /SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID are not set/,
    remedy: /set all three, or none/
  },
  {
    what: "a folder without a control room",
    line: () => `runs list --data ${path("nowhere")}`,
    status: 1,
    problem: /no usable .*credentials\.json/,
    remedy: /start a control room there with `signalbox up --data/
  },
  {
    what: "an old credentials file",
    line: () => `runs list --data ${path("old")}`,
    status: 1,
    problem: /no usable .*old\/credentials\.json/,
    remedy: /start a control room there with `signalbox up --data/
  },
  {
    what: "a port that is in use",
    line: () => `up --port ${new URL(room.ready.base_url).port} --data ${path("second")}`,
    status: 1,
    problem: /port \d+ on 127\.0\.0\.1 is in use/,
    remedy: /choose another with --port/
  },
  {
    what: "a port that is none",
    line: () => `up --port 99999 --data ${path("second")}`,
    status: 1,
    problem: /--port or SIGNALBOX_PORT/,
    remedy: /Expected a value between 0 and 65535/
  },
  {
    what: "a data folder that is in use",
    line: here("up --port 0"),
    status: 1,
    problem: /another process uses/,
    remedy: /stop it first, or choose another data folder/
  },
  {
    what: "a tasks file that is missing",
    line: () => `up --port 0 --data ${path("third")} --tasks ${path("missing.ts")}`,
    status: 1,
    problem: /--tasks: cannot load .*missing\.ts: there is no such file/,
    remedy: /give its path from this folder/
  },
  {
    what: "a tasks file without tasks",
    line: () => `up --port 0 --data ${path("third")} --tasks ${file("none.ts", "export const task = 1\n")}`,
    status: 1,
    problem: /--tasks: .*none\.ts/,
    remedy: /must export `tasks`, an array of tasks created with Task\.make/
  },
  {
    what: "a tasks file with an error of syntax",
    line: () =>
      `up --port 0 --data ${path("third")} --tasks ${file("syntax.ts", "export const one = 1\nexport const tasks = ]\n")}`,
    apart: true,
    status: 1,
    problem: /--tasks: cannot load .*syntax\.ts: .*/,
    remedy: /syntax\.ts:2\); correct the syntax/
  },
  {
    what: "a process that is unknown",
    line: here("run greetin"),
    status: 1,
    problem: /no process has the name or id greetin/,
    remedy: /did you mean greeting\?/
  },
  {
    what: "a run that is unknown",
    line: here("runs show nothing"),
    status: 1,
    problem: /no process run nothing/,
    remedy: /`signalbox runs list` shows/
  },
  {
    what: "a payload that is no JSON",
    line: here("run greeting --payload {name:Ada}"),
    status: 1,
    problem: /--payload: Expected JSON/,
    remedy: /a text is JSON in quotes/
  },
  {
    what: "a file that is missing",
    line: () => `run greeting --file ${path("missing.csv")} --data ${data}`,
    status: 1,
    problem: /cannot read .*missing\.csv/,
    remedy: /check the path/
  },
  {
    what: "a file that is too large",
    line: () => `run greeting --file ${path("huge.bin")} --data ${data}`,
    status: 1,
    problem: /6000000000/,
    remedy: /more than the 1073741824 allowed/
  },
  {
    what: "a state that does not exist",
    line: here("runs list --state complete"),
    status: 2,
    problem: /--state cannot be "complete"/,
    remedy: /did you mean completed\?; see `signalbox runs list --help`/
  },
  {
    what: "an option that does not exist",
    line: here("runs list --stat failed"),
    status: 2,
    problem: /unknown option --stat/,
    remedy: /did you mean --state\?; see `signalbox runs list --help`/
  },
  {
    what: "a command that does not exist",
    line: fixed("proceses list"),
    status: 2,
    problem: /Unknown subcommand "proceses"/,
    remedy: /did you mean processes\?; see `signalbox --help`/
  },
  {
    what: "an argument that is missing",
    line: fixed("run"),
    status: 2,
    problem: /Missing required argument: process/,
    remedy: /see `signalbox run --help`/
  },
  {
    what: "a duration that is none",
    line: here("run greeting --wait --timeout soon"),
    status: 2,
    problem: /--timeout cannot be "soon"/,
    remedy: /such as "10 minutes"; see `signalbox run --help`/
  },
  {
    what: "a permission that does not exist",
    line: here("keys create --name ci --permission Processes.read_run"),
    status: 2,
    problem: /--permission cannot be "Processes\.read_run"/,
    remedy: /did you mean Processes\.read_runs\?/
  },
  {
    what: "deleting what is in use",
    line: here("groups delete linux"),
    status: 1,
    problem: /greeting/,
    remedy: /remove it there first/
  },
  {
    what: "deleting several without --yes",
    line: here("items delete one two"),
    status: 1,
    problem: /nothing was changed/,
    remedy: /give --yes/
  },
  {
    what: "a name that is taken",
    line: here("processes create greeting --task greet"),
    status: 1,
    problem: /greeting/,
    remedy: /choose another name or change that one/
  },
  {
    what: "a workspace file with an unknown key",
    line: () => `apply ${file("unknown.yaml", "proceses: {}\n")} --data ${data}`,
    status: 1,
    problem: /proceses/,
    remedy: /check its spelling, or remove it/
  },
  {
    what: "a tasks file that imports a package that is not installed",
    line: () => `up --port 0 --data ${path("third")} --tasks ${file("lonely.ts", 'import "absent-package"\n')}`,
    apart: true,
    status: 1,
    problem: /cannot load .*lonely\.ts: Cannot find package 'absent-package'/,
    remedy: /install the package that it imports/
  },
  {
    what: "a context that is unknown",
    line: fixed("runs list --context staging"),
    env: () => ({ XDG_CONFIG_HOME: path("config") }),
    status: 1,
    problem: /no context has the name staging/,
    remedy: /create it with `signalbox login staging`/
  },
  {
    what: "a worker without the address of a control room",
    line: () => `worker start --data ${path("worker")}`,
    status: 1,
    problem: /--url: expected the address of the control room/,
    remedy: /or set SIGNALBOX_BASE_URL/
  }
]

describe("a usual mistake", () => {
  for (const { apart = false, env = () => ({}), line, problem, remedy, status, what } of mistakes) {
    it(`${what}: one sentence with the remedy, and exit code ${status}`, async () => {
      const ended = await Cli.signalbox(line().split(" "), { env: env(), ...(apart ? { cwd: folder } : {}) })
      const said = ended.stderr.trim()
      assert.strictEqual(said.split("\n").length, 1, said)
      assert.match(said, /^signalbox: /)
      assert.match(said, problem)
      assert.match(said, remedy)
      assert.strictEqual(ended.status, status)
      assert.strictEqual(ended.stdout, "")
      assert.notInclude(said, room.ready.api_key)
    })
  }
})
