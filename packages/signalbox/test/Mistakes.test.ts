/**
 * Usual mistakes: each is one sentence on standard error that names the remedy, nothing on standard output, and an exit code.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { freePort } from "@signalbox/testkit/FreePort"
import { mkdirSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { systemError } from "effect/PlatformError"
import { lineOf } from "../src/internal/output/Problem.ts"
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
    what: "the name of a variable that is not set",
    line: here("processes show "),
    status: 1,
    problem: /no process has the name or id ""/,
    remedy: /see `signalbox processes list`/
  },
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
    remedy: /create a key with it: `signalbox keys create --permission/
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
    remedy: /check that SIGNALBOX_BASE_URL is the address of a control room/
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
    problem: /--tasks: cannot load .*missing\.ts: the file does not exist/,
    remedy: /give its path relative to this folder/
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
    remedy: /`signalbox runs list` lists/
  },
  {
    what: "a payload that is no JSON",
    line: here("run greeting --payload {name:Ada}"),
    status: 1,
    problem: /--payload: Expected JSON/,
    remedy: /put text in quotes/
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
    remedy: /add --yes/
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
  },
  {
    what: "a number out of its bounds",
    line: here("runs list --limit 0"),
    status: 2,
    problem: /--limit cannot be "0"/,
    remedy: /greater than or equal to 1; see `signalbox runs list --help`/
  },
  {
    what: "a number that is none",
    line: here("worker start --capacity NaN"),
    status: 2,
    problem: /--capacity cannot be "NaN"/,
    remedy: /see `signalbox worker start --help`/
  },
  {
    what: "a schedule without a time",
    line: here("schedules create nightly greeting"),
    status: 1,
    problem: /the schedule never runs/,
    remedy: /Expected one of cron, every and at/
  },
  {
    what: "a schedule in a zone that does not exist",
    line: here("schedules create nightly greeting --cron @daily --zone Europe/Wien"),
    status: 1,
    problem: /zone: invalid time zone "Europe\/Wien"/,
    remedy: /such as Europe\/Vienna/
  },
  {
    what: "a trigger that nothing starts",
    line: here("triggers create hook greeting"),
    status: 1,
    problem: /has no condition/,
    remedy: /use --at-least or --oldest-seconds, or --webhook/
  },
  {
    what: "a trigger whose secret is not set",
    line: here("triggers create hook greeting --webhook --secret-env NOT_SET_HERE"),
    status: 1,
    problem: /--secret-env: .*NOT_SET_HERE/,
    remedy: /is not set: set it, or name another/
  },
  {
    what: "an alert of a rule that does not exist",
    line: here("alerts create failed run_unresolvd --channel team"),
    status: 2,
    problem: /<rule> cannot be "run_unresolvd"/,
    remedy: /did you mean run_unresolved\?/
  },
  {
    what: "an alert to a channel that does not exist",
    line: here("alerts create failed run_unresolved --channel team"),
    status: 1,
    problem: /no alert channel has the name or id team/,
    remedy: /see `signalbox alert-channels list`/
  },
  {
    what: "an alert that is muted for no time",
    line: here("alerts mute failed --for soon"),
    status: 2,
    problem: /--for cannot be "soon"/,
    remedy: /such as "10 minutes"; see `signalbox alerts mute --help`/
  },
  {
    what: "a channel without its address",
    line: here("alert-channels create team webhook"),
    status: 1,
    problem: /type webhook/,
    remedy: /--url: needed/
  },
  {
    what: "a channel whose address is none",
    line: here("alert-channels create team webhook --url team"),
    status: 1,
    problem: /type webhook/,
    remedy: /--url: Expected an absolute http or https address/
  },
  {
    what: "a group of failures that is unknown",
    line: here("failures retry 4be1"),
    status: 1,
    problem: /no failure 4be1/,
    remedy: /`signalbox failures list` lists/
  },
  {
    what: "a bulk operation on everything by mistake",
    line: here("bulk create retry"),
    status: 1,
    problem: /add a filter/,
    remedy: /--process or --state, or --everything/
  },
  {
    what: "a bulk operation that is unknown",
    line: here("bulk show nothing"),
    status: 1,
    problem: /no bulk operation nothing/,
    remedy: /`signalbox bulk list` lists/
  },
  {
    what: "a backup over a file that exists",
    line: () => `backup ${file("taken.backup", "mine")} --data ${data}`,
    status: 1,
    problem: /taken\.backup exists/,
    remedy: /choose another name, or replace it with --force/
  },
  {
    what: "a backup into a folder that is missing",
    line: () => `backup ${path("nowhere/room.backup")} --data ${data}`,
    status: 1,
    problem: /cannot write in .*nowhere/,
    remedy: /give a FILE in a folder that exists/
  },
  {
    what: "a restore of a file that is missing",
    line: () => `restore ${path("missing.backup")} --data ${path("restored")}`,
    status: 1,
    problem: /missing\.backup does not exist/,
    remedy: /give the file of a backup/
  },
  {
    what: "a restore of something else",
    line: () => `restore ${file("no.backup", "text")} --data ${path("restored")}`,
    status: 1,
    problem: /no\.backup is cut off/,
    remedy: /take another backup/
  },
  {
    what: "a restore over a control room",
    line: () => `restore ${file("no.backup", "text")} --data ${data}`,
    status: 1,
    problem: /is not empty/,
    remedy: /give a folder that is empty or does not exist/
  },
  {
    what: "the console of a control room that does not run",
    line: fixed("open --print"),
    env: () => connection({ SIGNALBOX_BASE_URL: `http://127.0.0.1:${unused}` }),
    status: 1,
    problem: /Unreachable/,
    remedy: /start it with `signalbox up`/
  }
]

describe("a usual mistake", () => {
  // Tests run as a user to whom nothing is refused.
  it("the folder of another user, or of a disk that is read-only: what is refused, and the remedy", () => {
    const refused = { module: "FileSystem", method: "makeDirectory", pathOrDescriptor: "data/files" }
    assert.match(lineOf(systemError({ _tag: "NotFound", ...refused })), /\(data\/files\); check the path/)
    assert.strictEqual(
      lineOf(systemError({ _tag: "PermissionDenied", ...refused })),
      "data/files: permission denied (makeDirectory); give this user access to it, or choose another folder"
    )
  })

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
