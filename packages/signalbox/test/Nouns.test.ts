/**
 * The commands that every kind of resource has: list, show, create, delete.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { table } from "../src/internal/text/Table.ts"
import * as Cli from "./support/Cli.ts"

const { folder, remove } = Cli.temporaryFolder("nouns")
const data = join(folder, "data")
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const receiver = createServer((request, response) => request.resume().on("end", () => response.end()))
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
const address = receiver.address()
const hook = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/hook`

let room: Cli.RoomHere
beforeAll(async () => {
  room = await Cli.upHere(data, ["--workers", "2"])
})
afterAll(async () => {
  await room.end()
  receiver.close()
  remove()
})

const signalbox = (line: string, env: Cli.Env = {}) => Cli.signalbox([...line.split(" "), "--data", data], { env })
const succeed = async (line: string, env: Cli.Env = {}) => {
  const ended = await signalbox(line, env)
  assert.strictEqual(ended.status, 0, `${line}: ${ended.stderr}`)
  return ended
}
const objects = ({ stdout }: Cli.Ended): ReadonlyArray<Record<string, unknown>> =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

interface Kind {
  readonly noun: string
  readonly create: string
  readonly name: string
  readonly env?: Cli.Env
  readonly keys: ReadonlyArray<string>
  /** False: the service deletes none. */
  readonly deleted?: false
}

mkdirSync(join(folder, "robot"))
file("robot/robot.yaml", "tasks: { hello: { shell: echo hello } }\n")

const kinds: ReadonlyArray<Kind> = [
  {
    noun: "packages",
    create: `create letters ${join(folder, "robot")}`,
    name: "letters",
    keys: ["id", "name", "type"]
  },
  { noun: "groups", create: "create linux", name: "linux", keys: ["id", "name", "paused"] },
  {
    noun: "processes",
    create: "create greeting --task greet --group linux",
    name: "greeting",
    keys: ["id", "name", "created_at", "paused"]
  },
  {
    noun: "assets",
    create: `create prices ${file("prices.csv", "lamp,1\n")} --content-type text/csv`,
    name: "prices",
    keys: ["id", "name"]
  },
  {
    noun: "secrets",
    create: "create shop --env password=SHOP_PASSWORD --description mail",
    name: "shop",
    env: { SHOP_PASSWORD: "sesame" },
    keys: ["name", "description", "hosts"]
  },
  {
    noun: "webhooks",
    create: `create ${hook} --event process_run.completed --process greeting`,
    name: hook,
    keys: ["id", "process", "enabled_events", "endpoint", "enabled"]
  },
  {
    noun: "schedules",
    create: "create nightly greeting --at 2999-01-01T00:00:00Z --zone Europe/Vienna",
    name: "nightly",
    keys: [
      "id",
      "name",
      "process",
      "created_at",
      "cron",
      "every",
      "anchor",
      "at",
      "zone",
      "from",
      "until",
      "calendar",
      "jitter",
      "missed",
      "overlap",
      "queue",
      "paused",
      "next_at",
      "waiting"
    ]
  },
  {
    noun: "triggers",
    create:
      "create pushes greeting --at-least 1000 --webhook --secret-env HOOK_SECRET --signature-header X-Sig --payload a=/b",
    name: "pushes",
    env: { HOOK_SECRET: "sesame" },
    keys: ["id", "name", "process", "created_at", "enabled", "start", "webhook", "problem", "refused_requests"]
  },
  {
    noun: "alert-channels",
    create: "create team slack --url-env SLACK_URL",
    name: "team",
    env: { SLACK_URL: "http://127.0.0.1:9/services/sesame" },
    keys: ["id", "name", "type", "target", "email", "created_at", "last_sent_at", "last_failed_at", "last_error"]
  },
  {
    noun: "alerts",
    create: "create stuck item_waits --set process=greeting --set seconds=600 --channel team",
    name: "stuck",
    keys: [
      "id",
      "name",
      "created_at",
      "enabled",
      "rule",
      "channels",
      "repeat_seconds",
      "gather_seconds",
      "quiet",
      "since",
      "muted",
      "firing"
    ]
  },
  {
    noun: "assistants",
    create: "create reader --package letters --task hello",
    name: "reader",
    keys: ["id", "name", "task", "created_at"],
    deleted: false
  }
]

// One story over one room: what is made is shown, used and deleted.
describe("a kind of resource", { shuffle: false }, () => {
  for (const { create, env = {}, keys, name, noun } of kinds) {
    it(`${noun} can be made, listed and shown by name`, async () => {
      const none = await succeed(`${noun} list`)
      assert.strictEqual(none.stdout, "")
      assert.match(none.stderr, /^No .* yet: .*`signalbox /)
      assert.strictEqual((await succeed(`${noun} list --json`)).stdout, "")

      await succeed(`${noun} ${create}`, env)
      const [listed = {}] = objects(await succeed(`${noun} list --json`))
      assert.sameMembers(Object.keys(listed), [...keys])
      assert.include((await succeed(`${noun} list`)).lines.at(-1) ?? "", name)
      const [shown = {}] = objects(await succeed(`${noun} show ${name} --json`))
      assert.includeMembers(Object.keys(shown), [...keys])
      assert.include((await succeed(`${noun} show ${name}`)).stdout, name)
    })
  }

  it("secrets show has name and description of a service without that operation, as the hosted one", async () => {
    const listed = { name: "shop", description: "back office", hosts: [] }
    const hosted = createServer((request, response) => {
      const isList = /\/secrets(\?|$)/.test(request.url ?? "")
      response.writeHead(isList ? 200 : 405, { "content-type": "application/json" })
      response.end(isList ? JSON.stringify({ data: [listed], has_more: false, next: null }) : "{}")
    })
    await new Promise<void>((resolve) => hosted.listen(0, "127.0.0.1", resolve))
    const at = hosted.address()
    const port = typeof at === "object" && at !== null ? at.port : 0
    const shown = await Cli.signalbox(["secrets", "show", "shop", "--json"], {
      env: {
        SIGNALBOX_BASE_URL: `http://127.0.0.1:${port}/api/v1`,
        SIGNALBOX_API_KEY: "key",
        SIGNALBOX_WORKSPACE_ID: "w"
      }
    })
    hosted.close()
    assert.strictEqual(shown.status, 0, shown.stderr)
    assert.deepStrictEqual(objects(shown), [listed])
  })

  it("prints no value of a secret, and no secret of a webhook that was made before", async () => {
    for (const line of ["secrets list", "secrets show shop", "webhooks list --json", `webhooks show ${hook}`]) {
      assert.notMatch((await succeed(line)).stdout, /sesame|whsec_/, line)
    }
  })

  it("that is named wrongly is an error that says which was meant, or which there are", async () => {
    const near = await signalbox("processes show greetng")
    assert.strictEqual(near.status, 1)
    assert.strictEqual(
      near.stderr,
      "signalbox: no process has the name or id greetng: did you mean greeting?; see `signalbox processes list`\n"
    )
    assert.match((await signalbox("groups delete nowhere")).stderr, /nowhere: expected linux; see/)
    assert.match((await signalbox("run nobody")).stderr, /no process has the name or id nobody: expected greeting;/)
  })

  it("whose name two of them have is asked for by id", async () => {
    await succeed("workers rename local-2 twin")
    await succeed("workers rename local-1 twin")
    const both = await signalbox("workers show twin")
    assert.strictEqual(both.status, 1)
    const [, first = ""] = /2 workers have the name twin: give an id, (\S+) or \S+\n/.exec(both.stderr) ?? []
    await succeed(`workers rename ${first} desk`)
    await succeed("groups add linux desk")
    await succeed("groups remove linux desk")
  })

  it("that is a process shows what waits for its limits", async () => {
    assert.strictEqual((await succeed("processes limits greeting")).stdout, "")
  })

  it("that can be paused is, with a note that its list shows, until it is resumed", async () => {
    for (const [noun, name] of [
      ["processes", "greeting"],
      ["workers", "desk"],
      ["groups", "linux"]
    ]) {
      await succeed(`${noun} pause ${name} --note maintenance`)
      assert.match((await succeed(`${noun} list`)).stdout, /paused: maintenance/)
      await succeed(`${noun} resume ${name}`)
      assert.notMatch((await succeed(`${noun} list`)).stdout, /maintenance/)
    }
    const [step = {}] = objects(await succeed("processes show greeting --json")).flatMap(
      ({ steps }) => steps as ReadonlyArray<Record<string, unknown>>
    )
    await succeed(`processes pause greeting --step ${String(step["id"])}`)
    await succeed(`processes resume greeting --step ${String(step["id"])}`)
    assert.match(
      (await signalbox("processes pause greeting --step nowhere")).stderr,
      /--step: the process greeting has no step nowhere/
    )
  })

  it("what wants a worker is counted, of a process, a group and labels", async () => {
    await succeed("processes create counted --task nobody")
    const [run = {}] = objects(await succeed("run counted --json"))
    const counts = async (flags: string) => objects(await succeed(`queue ${flags} --json`))
    assert.deepStrictEqual(await counts("--process counted"), [{ waiting: 1, assigned: 0, total: 1 }])
    assert.deepInclude((await counts("--process counted --group none --label none"))[0], { total: 1 })
    assert.deepInclude((await counts("--process counted --group linux"))[0], { total: 0 })
    assert.deepInclude((await counts("--process counted --label gpu"))[0], { total: 0 })
    await succeed(`runs stop ${String(run["id"])}`)
    await succeed("processes delete counted")
  })

  it("packages have versions, which are made current and named by steps", async () => {
    const robot = join(folder, "robot")
    file("robot/tasks.py", "print(2)\n")
    const [second = {}] = objects(await succeed(`packages upload letters ${robot} --note new-form --json`))
    assert.deepInclude(second["current"], { version: 2, newest: 2 })
    assert.match((await succeed("packages versions letters")).stdout, /^2 +current .*new-form *$/m)
    const [back = {}] = objects(await succeed("packages rollback letters --json"))
    assert.deepInclude(back, { version: 1, state: "current" })
    const none = await signalbox("packages rollback letters")
    assert.strictEqual(none.status, 1)
    assert.match(none.stderr, /no version before 1/)
    assert.match((await signalbox("packages promote letters 9")).stderr, /has no version 9/)
    const [again = {}] = objects(await succeed("packages promote letters 2 --json"))
    assert.strictEqual(again["state"], "current")
    const versions = objects(await succeed("packages versions letters --json"))
    assert.deepStrictEqual(
      versions.map(({ state, version }) => [version, state]),
      [
        [2, "current"],
        [1, "available"]
      ]
    )

    await succeed("processes create mailing --task hello --package letters")
    const pinOf = async () => {
      const [shown = {}] = objects(await succeed("processes show mailing --json"))
      return JSON.stringify(shown["definition"])
    }
    await succeed("processes pin mailing hello 1")
    assert.include(await pinOf(), '"task_package_version":1')
    assert.match((await signalbox("processes pin mailing hello 9")).stderr, /steps\.0\.task_package_version/)
    assert.match((await signalbox("processes pin mailing helo 1")).stderr, /no step helo: did you mean hello/)
    await succeed("processes unpin mailing hello")
    assert.include(await pinOf(), '"task_package_version":null')
    await succeed("processes delete mailing")
  })

  it("items are made with an order, once for a reference, and found by it", async () => {
    const flags = "--priority 50 --due 2020-01-01T00:00:00Z --tag express --reference o-1"
    const [made = {}] = objects(await succeed(`items create greeting ${flags} --json`))
    assert.match((await signalbox(`items create greeting ${flags}`)).stderr, new RegExp(String(made["id"])))
    const [joined = {}] = objects(await succeed(`items create greeting ${flags} --when-reference-exists join --json`))
    assert.strictEqual(joined["id"], made["id"])
    for (const filter of ["--reference o-1", "--tag express", "--due late", "--process greeting --tag express"]) {
      const found = objects(await succeed(`items list ${filter} --json`))
      assert.deepStrictEqual(
        found.map(({ id, priority }) => [id, priority]),
        [[made["id"], 50]]
      )
    }
    assert.match((await signalbox("items list --process greetin")).stderr, /did you mean greeting/)
    assert.match((await signalbox("items create greeting --priority 101")).stderr, /priority/)
    await succeed(`items delete ${String(made["id"])}`)
  })

  it("a trigger with the handshake of Slack verifies its signatures", async () => {
    const create = "triggers create chat greeting --webhook --secret-env HOOK_SECRET"
    for (const [handshake, type] of [
      ["slack", "slack"],
      ["microsoft-graph", "standard_webhooks"]
    ]) {
      await succeed(`${create} --handshake ${handshake}`, { HOOK_SECRET: "sesame" })
      const [shown = {}] = objects(await succeed("triggers show chat --json"))
      assert.deepNestedInclude(shown, { "webhook.signature": { type, header: null, prefix: null } })
      await succeed("triggers delete chat")
    }
  })

  it("an asset is downloaded byte by byte", async () => {
    const path = join(folder, "copy.csv")
    await succeed(`assets download prices ${path}`)
    assert.strictEqual(readFileSync(path, "utf8"), "lamp,1\n")
  })

  it("deliveries of a webhook are listed, and sent again", async () => {
    const [sent = {}] = objects(await succeed(`webhooks test ${hook} --json`))
    const deliveries = async () => objects(await succeed(`webhooks deliveries ${hook} --json`))
    while ((await deliveries())[0]?.["state"] === "pending") await setTimeout(50)
    const [listed = {}] = await deliveries()
    assert.deepInclude(listed, { id: sent["id"], state: "delivered" })
    await succeed(`webhooks redeliver ${hook} ${listed["id"]}`)
    assert.match((await succeed(`webhooks deliveries ${hook}`)).stdout, /process_run\.test/)
  })

  it("several are deleted only with --yes where there is no terminal, and it says in which control room", async () => {
    await succeed("groups create one")
    await succeed("groups create two")
    const refused = await signalbox("groups delete one two")
    assert.deepStrictEqual([refused.status, refused.stdout], [1, ""])
    assert.match(
      refused.stderr,
      /^signalbox: nothing was changed: add --yes to delete 2 worker groups \(workspace \S+ at http:\S+, of the folder .*data\), since there is no terminal to ask for confirmation\n$/
    )
    assert.deepStrictEqual((await succeed("groups delete one two --yes")).lines, [
      "deleted worker group one",
      "deleted worker group two"
    ])
  })

  it("that is in use is not deleted, and says by what", async () => {
    const refused = await signalbox("groups delete linux")
    assert.strictEqual(refused.status, 1)
    assert.match(refused.stderr, /greeting/)
  })

  for (const { deleted = true, name, noun } of kinds.toReversed()) {
    if (!deleted) continue
    it(`${noun} can be deleted by name`, async () => {
      if (noun === "packages") {
        assert.match((await signalbox("packages delete letters")).stderr, /reader/)
        return
      }
      const [gone = {}] = objects(await succeed(`${noun} delete ${name} --json`))
      assert.deepInclude(gone, { name, deleted: true })
      assert.strictEqual((await succeed(`${noun} list --json`)).stdout, "")
    })
  }
})

describe("a table", () => {
  const rows = [
    ["0199a1b2-0000", "ready", "a name that takes more room than there is"],
    ["0199a1b3-0000", "failed", "short"]
  ]

  it("fits the terminal by cutting its widest column, and never the ids", () => {
    const lines = table(["id", "state", "name"], rows, { width: 40 }).split("\n")
    for (const line of lines) assert.isAtMost(line.length, 40)
    assert.match(lines[1] ?? "", /^0199a1b2-0000 {2}ready {3}a name that take…$/)
  })

  it("fits 80 columns with five of them, and a terminal that is too narrow for them ends its lines after the id", () => {
    const head = ["id", "state", "created at", "duration", "process"]
    const row = ["01a2066b-1858-7064-9dec-cd438b31668b", "completed", "2026-11-23T03:20:11.608Z", "0.076 s", "greeting"]
    for (const width of [80, 50]) {
      for (const line of table(head, [row], { width }).split("\n")) assert.isAtMost(line.length, width)
    }
    assert.include(table(head, [row], { width: 10 }), row[0] ?? "")
  })

  it("is whole and without colors where there is no terminal", () => {
    assert.include(table(["id", "state", "name"], rows), "a name that takes more room than there is")
    assert.notInclude(table(["id"], [["1"]]), "\u001B")
    assert.include(table(["id"], [["1"]], { color: true }), "\u001B[1mid\u001B[0m")
  })
})
