/** `signalbox apply`: the example of the README, and invalid files. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type RoomHere, signalbox, succeed, temporaryFolder, upHere } from "./support/Cli.ts"
import { gitServer } from "@signalbox/testkit/GitServer"

/** A task package with these tasks. */
const robotZip = (...tasks: ReadonlyArray<string>) => zipOf({ "robot.yaml": robotYaml(...tasks) })

/** The modes and names in the directory of a zip. */
const namesOf = (zip: Buffer) => {
  const names: Array<string> = []
  for (let at = zip.readUInt32LE(zip.length - 6); zip.readUInt32LE(at) === 0x02014b50;) {
    const [name, extra, comment] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32)]
    names.push(`${(zip.readUInt32LE(at + 38) >>> 16).toString(8)} ${zip.toString("utf8", at + 46, at + 46 + name)}`)
    at += 46 + name + extra + comment
  }
  return names
}

const { folder, remove } = temporaryFolder("apply")
const password = "hush-hush-4711"
const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"
const env = { SHOP_PASSWORD: password }
const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8")
const example = /```yaml\n([^]*?)```/.exec(readme)?.[1] ?? ""

const robot = join(folder, "robots", "invoices")

let room: RoomHere
let data = ""

beforeAll(async () => {
  data = join(folder, "data")
  room = await upHere(data)
  mkdirSync(join(folder, "dist"))
  writeFileSync(join(folder, "workspace.yaml"), example)
  writeFileSync(join(folder, "shop.pem"), `${certificate}\n`)
  writeFileSync(join(folder, "prices.csv"), "item,price\na,1\n")
  writeFileSync(join(folder, "dist", "letters.zip"), await Effect.runPromise(robotZip("Write letters")))
  mkdirSync(robot, { recursive: true })
  writeFileSync(join(robot, "robot.yaml"), `${robotYaml("Read orders")}ignoreFiles: [.gitignore]\n`)
  writeFileSync(join(robot, ".gitignore"), "*.log\n/output\nnode_modules/\n!keep.log\n")
  writeFileSync(join(robot, "tasks.py"), "print(1)\n")
})

afterAll(async () => {
  await room.end()
  remove()
})

const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

interface Line {
  readonly action: string
  readonly kind: string
  readonly name: string
  readonly detail: string
  readonly status: string
}

const applied = async (path: string, ...flags: ReadonlyArray<string>) => {
  const { stderr, stdout } = await succeed(["apply", path, "--json", "--data", data, ...flags], { env })
  for (const text of [stdout, stderr]) for (const secret of [password, "MIIB"]) assert.notInclude(text, secret)
  const lines: ReadonlyArray<Line> = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
  return lines
}

const facts = (lines: ReadonlyArray<Line>) =>
  lines.map(({ action, kind, name, status }) => `${status}: ${action} ${kind} ${name}`)
const worked = (lines: ReadonlyArray<Line>) => lines.filter(({ status }) => status !== "unchanged")

const read = async (path: string, key = room.ready.api_key): Promise<unknown> => {
  const response = await fetch(`${room.ready.base_url}/workspaces/${room.ready.workspace_id}/${path}`, {
    headers: { authorization: `RC-WSKEY ${key}` }
  })
  assert.strictEqual(response.status, 200)
  return response.json()
}

const everything = async () =>
  JSON.stringify(
    await Promise.all(
      [
        "roles",
        "secrets",
        "task-packages",
        "worker-groups",
        "assets",
        "processes",
        "assistants",
        "webhooks",
        "schedules",
        "triggers",
        "alert-channels",
        "alerts"
      ].map((path) => read(path))
    )
  )

const refusedSchedule = `schedules:
  never:
    process: orders
    cron: 0 0 30 2 *
`

// One story over one room, since each room is a process.
describe("signalbox apply", { shuffle: false }, () => {
  it("plans and changes nothing with --dry-run", async () => {
    const before = await everything()
    const lines = await applied(join(folder, "workspace.yaml"), "--dry-run")
    assert.deepStrictEqual(facts(lines), [
      "planned: create secret shop",
      "planned: create package invoices",
      "planned: create package letters",
      "planned: create worker group linux",
      "planned: create asset prices",
      "planned: create asset currency",
      "planned: create asset limits",
      "planned: create process orders",
      "planned: create assistant reader",
      "planned: create webhook https://example.com/hook (orders)",
      "planned: create schedule nightly orders",
      "planned: create trigger new orders",
      "planned: create alert channel operations",
      "planned: create alert orders stand still"
    ])
    assert.strictEqual(await everything(), before)
  })

  it("applies the example of the README, and finds nothing to do after that", async () => {
    const lines = await applied(join(folder, "workspace.yaml"))
    assert.deepStrictEqual([...new Set(lines.map(({ status }) => status))], ["done"])
    assert.strictEqual(lines.length, 14)

    const listed = await everything()
    for (const name of [
      "shop",
      "invoices",
      "letters",
      "linux",
      "prices",
      "currency",
      "limits",
      "orders",
      "reader",
      "https://example.com/hook",
      "nightly orders",
      "new orders",
      "operations",
      "orders stand still"
    ]) {
      assert.include(listed, `"${name}"`)
    }
    const id = (text: string, kind: string) => new RegExp(`"id":"([^"]+)","name":"${kind}"`).exec(text)?.[1] ?? ""
    const definition = JSON.stringify(await read(`processes/${id(listed, "orders")}/definition`))
    assert.include(definition, `"package_id":"${id(listed, "invoices")}"`)
    assert.include(definition, `"worker_group":{"id":"${id(listed, "linux")}"}`)
    assert.include(definition, '"max_parallel":4')
    assert.include(definition, '"start_after":"previous_step"')
    assert.include(definition, '"default_work_item":{"payload":{"day":"today"}}')
    assert.include(
      JSON.stringify(await read(`task-packages/${id(listed, "invoices")}`)),
      '"tasks":[{"name":"Read orders"}]'
    )
    assert.include(JSON.stringify(await read(`assets/${id(listed, "prices")}`)), '"content_type":"text/csv"')

    const again = await applied(join(folder, "workspace.yaml"))
    assert.deepStrictEqual([...new Set(again.map(({ status }) => status))], ["unchanged"])
    const told = await succeed(["apply", join(folder, "workspace.yaml"), "--data", data])
    assert.match(told.stdout, /Plan: 0 to create, 0 to change, 0 to delete, 14 unchanged\.\nNo changes\.\n$/)
    assert.strictEqual(await everything(), listed)
  })

  it("refuses an alert with a field that is wrong, before anything changes", async () => {
    const before = await everything()
    const wrong = file(
      "alert.yaml",
      `alerts:\n  stuck:\n    rule: { type: item_waits, process: orders, seconds: soon }\n    channels: [operations]\n`
    )
    const { stderr } = await signalbox(["apply", wrong, "--data", data])
    assert.match(stderr, /alerts\.stuck: .*seconds/s)
    const nobody = file(
      "nobody.yaml",
      `alerts:\n  stuck:\n    rule: { type: disk_above, percent: 90 }\n    channels: [nobody]\n`
    )
    const unknown = await signalbox(["apply", nobody, "--data", data])
    assert.match(
      unknown.stderr,
      /alerts\.stuck\.channels\.0: not found in the file or the workspace: the alert channel "nobody"/
    )
    assert.strictEqual(await everything(), before)
  })

  it("refuses a schedule that never comes, before anything changes", async () => {
    const before = await everything()
    const { stderr } = await signalbox(["apply", file("never.yaml", refusedSchedule), "--data", data])
    assert.match(stderr, /schedules\.never\.cron: no year has such a day/)
    assert.strictEqual(await everything(), before)
  })

  it("changes what differs and nothing else, by its parts", async () => {
    writeFileSync(join(folder, "prices.csv"), "item,price\na,2\n")
    const changed = example
      .replace("Reads the orders of a day", "Reads all orders")
      .replace("text: EUR", "text: EUR, content_type: text/html")
      .replace("[process_run.completed, process_run.unresolved]", "[process_run.unresolved]")
      .replace("The shop's back office", "The back office")
      .replace("30 2 * * mon-fri", "30 3 * * mon-fri")
      .replace("at_least: 50", "at_least: 60")
      .replace("to: [operations@example.com]", "to: [night@example.com]")
      .replace("seconds: 14400", "seconds: 7200")
    const lines = worked(await applied(file("workspace.yaml", changed)))
    assert.deepStrictEqual(
      lines.map(({ action, detail, name, status }) => [status, action, name, detail]),
      [
        ["done", "change", "shop", "description, values"],
        ["done", "change", "prices", "content"],
        ["done", "change", "currency", "content type"],
        ["done", "change", "orders", "description"],
        ["done", "change", "https://example.com/hook (orders)", "events"],
        ["done", "change", "nightly orders", "times"],
        ["done", "change", "new orders", "start"],
        ["done", "change", "operations", "e-mail"],
        ["done", "change", "orders stand still", "rule"]
      ]
    )
    assert.deepStrictEqual(worked(await applied(join(folder, "workspace.yaml"))), [])
    const zip = await Effect.runPromise(robotZip("Write letters", "Other"))
    writeFileSync(join(folder, "dist", "letters.zip"), zip)
    assert.deepStrictEqual(facts(worked(await applied(join(folder, "workspace.yaml")))), [
      "done: change package letters"
    ])
  })

  it("zips the files of a folder, whatever their times, without what its ignoreFiles leave out", async () => {
    const path = join(folder, "workspace.yaml")
    for (const name of [".git/HEAD", "node_modules/a/a.js", "output/out.txt", "a.log", "lib/b.log", "lib/.git"]) {
      mkdirSync(join(robot, name, ".."), { recursive: true })
      writeFileSync(join(robot, name), "left out")
    }
    for (const name of ["robot.yaml", "tasks.py"]) utimesSync(join(robot, name), 1, 1)
    assert.deepStrictEqual(worked(await applied(path)), [])

    for (const name of ["lib/keep.log", "lib/output/in.txt", "lib/é.txt", "B.txt"]) {
      mkdirSync(join(robot, name, ".."), { recursive: true })
      writeFileSync(join(robot, name), name)
    }
    writeFileSync(join(robot, "run.sh"), "#!/bin/sh\n")
    chmodSync(join(robot, "run.sh"), 0o700)
    assert.deepStrictEqual(facts(worked(await applied(path))), ["done: change package invoices"])
    assert.deepStrictEqual(worked(await applied(path)), [])

    const id = /"id":"([^"]+)","name":"invoices"/.exec(JSON.stringify(await read("task-packages")))?.[1]
    const url = /"url":"([^"]+)"/.exec(JSON.stringify(await read(`task-packages/${id}`)))?.[1] ?? ""
    assert.deepStrictEqual(namesOf(Buffer.from(await (await fetch(url)).arrayBuffer())), [
      "100644 .gitignore",
      "100644 B.txt",
      "100644 lib/keep.log",
      "100644 lib/output/in.txt",
      "100644 lib/é.txt",
      "100644 robot.yaml",
      "100755 run.sh",
      "100644 tasks.py"
    ])
  })

  it("leaves a package at the version that somebody went back to, until its content is new", async () => {
    const path = join(folder, "workspace.yaml")
    const signalboxHere = (...args: ReadonlyArray<string>) => succeed([...args, "--data", data])
    await signalboxHere("packages", "rollback", "invoices")
    const held = (await applied(path)).find(({ name }) => name === "invoices")
    assert.strictEqual(held?.status, "unchanged")
    assert.match(
      held?.detail ?? "",
      /^version 2 has this content, but version 1 is current; change that with `signalbox packages promote invoices 2`$/
    )
    writeFileSync(join(robot, "tasks.py"), "print(2)\n")
    assert.deepStrictEqual(facts(worked(await applied(path))), ["done: change package invoices"])
    assert.deepStrictEqual(worked(await applied(path)), [])
    assert.match((await signalboxHere("packages", "versions", "invoices")).stdout, /^3 +current [^]*\n2 +rolled_back/m)
  })

  it("has steps name versions of packages, and says when they do not", async () => {
    const pinned = (version: number | null) =>
      file(
        "pinned.json",
        JSON.stringify({
          processes: {
            pinned: {
              steps: [{ name: "s", task: { name: "Read orders", package: "invoices" }, task_package_version: version }]
            }
          }
        })
      )
    assert.deepStrictEqual(facts(worked(await applied(pinned(1)))), ["done: create process pinned"])
    assert.deepStrictEqual(worked(await applied(pinned(1))), [])
    assert.deepStrictEqual(facts(worked(await applied(pinned(2)))), ["done: change process pinned"])
    const refused = await signalbox(["apply", pinned(9), "--data", data])
    assert.strictEqual(refused.status, 1)
    assert.match(refused.stderr, /steps\.0\.task_package_version: the package has no version 9/)
    assert.deepStrictEqual(facts(worked(await applied(pinned(null)))), ["done: change process pinned"])
    await succeed(["processes", "delete", "pinned", "--data", data])
  })

  it("refuses a folder with a link in it, without robot.yaml or with an ignore file that is not there", async () => {
    const plan = async () => {
      const { status, stderr } = await signalbox(["apply", path, "--data", data])
      assert.strictEqual(status, 1)
      return stderr
    }
    const bad = join(folder, "bad")
    const path = file("bad.yaml", "packages: { bad: { folder: bad } }\n")
    assert.match(await plan(), /^signalbox: packages\.bad\.folder: robot\.yaml is missing in \S+bad; .+\n$/)
    mkdirSync(bad)
    writeFileSync(join(bad, "robot.yaml"), `${robotYaml("a")}ignoreFiles: [.robotignore]\n`)
    assert.match(
      await plan(),
      /packages\.bad\.folder: robot\.yaml: ignoreFiles: cannot read \S+\.robotignore; create it/
    )
    writeFileSync(join(bad, ".robotignore"), "hidden\n")
    symlinkSync("/etc/hostname", join(bad, "link"))
    symlinkSync("/etc", join(bad, "hidden"))
    assert.match(
      await plan(),
      /packages\.bad\.folder: \S+link is a link or a special file.*; put the file itself there/
    )
    writeFileSync(join(bad, "robot.yaml"), "tasks: [")
    assert.match(await plan(), /packages\.bad\.folder: \S+robot\.yaml is not valid YAML/)
    assert.notInclude(await everything(), '"bad"')

    writeFileSync(join(bad, "robot.yaml"), `${robotYaml("a")}ignoreFiles: [.robotignore]\n`)
    rmSync(join(bad, "link"))
    assert.deepStrictEqual(facts(await applied(path)), ["done: create package bad"])
  })

  it("takes packages from git, once, and again when what the file says of them differs or the last look failed", () =>
    Effect.gen(function* () {
      const server = yield* gitServer
      const files = { "robots/a/robot.yaml": robotYaml("From git") }
      const repo = server.repository("packages", { files })
      repo.commit({ branch: "other", files: { "robots/a/robot.yaml": robotYaml("Other") } })
      const git = { type: "github", repository: repo.url, branch: "main", directory: "robots/a" }
      const run = (source: object) =>
        Effect.promise(() => applied(file("git.json", JSON.stringify({ packages: { fetched: source } }))))
      const detail = (lines: ReadonlyArray<Line>) => lines.map(({ action, detail }) => [action, detail])
      assert.deepStrictEqual(facts(yield* run({ git })), ["done: create package fetched"])
      assert.deepStrictEqual(facts(yield* run({ git })), ["unchanged: unchanged package fetched"])
      const other = { ...git, branch: "other", automatic_deployment: false }
      assert.deepStrictEqual(detail(yield* run({ git: other })), [["change", "reference, automatic_deployment"]])
      assert.deepStrictEqual(facts(yield* run({ git: other })), ["unchanged: unchanged package fetched"])
      const packages = JSON.stringify(yield* Effect.promise(() => read("task-packages")))
      const id = /"id":"([^"]+)","name":"fetched","type":"github"/.exec(packages)?.[1]
      const found = JSON.stringify(yield* Effect.promise(() => read(`task-packages/${id}`)))
      assert.include(found, '"tasks":[{"name":"Other"}]')

      const refused = (source: object) =>
        Effect.promise(() =>
          signalbox(["apply", file("git.json", JSON.stringify({ packages: { fetched: source } })), "--data", data])
        )
      const gone = yield* refused({ git: { ...git, branch: "gone" } })
      assert.match(gone.stderr, /change package fetched failed: .*the repository has no branch "gone"/)
      const zip = yield* refused({ folder: "robots/invoices" })
      assert.match(
        zip.stderr,
        /packages\.fetched: the package takes its content from a git repository.*; delete the package first/
      )
    }).pipe(Effect.scoped, Effect.runPromise))

  it("writes values of secrets that are there only when asked, and asks for what they come from only then", async () => {
    const path = join(folder, "workspace.yaml")
    assert.strictEqual((await signalbox(["apply", path, "--data", data])).status, 0)
    assert.deepStrictEqual(facts(worked(await applied(path, "--rewrite-secrets"))), [
      "done: change secret shop",
      "done: change trigger new orders",
      "done: change alert channel operations"
    ])
    const without = await signalbox(["apply", path, "--rewrite-secrets", "--data", data])
    assert.strictEqual(without.status, 1)
    assert.match(
      without.stderr,
      /^signalbox: secrets\.shop\.items\.password: the environment variable SHOP_PASSWORD is not set\n$/
    )
  })

  it("refuses a file that names a process or a schedule which --prune would delete", async () => {
    const before = await everything()
    const prune = async (text: string) => {
      const { status, stderr } = await signalbox(["apply", file("gone.yaml", text), "--prune", "--yes", "--data", data])
      assert.strictEqual(status, 1)
      return stderr
    }
    assert.match(
      await prune("processes: {}\nschedules: { nightly orders: { process: orders, cron: 30 2 * * * } }\n"),
      /schedules\.nightly orders\.process: --prune deletes the process "orders", which the file does not have; add it/
    )
    const rule = "{ type: schedule_missed, schedule: nightly orders }"
    assert.match(
      await prune(`schedules: {}\nalerts: { missed: { rule: ${rule}, channels: [operations] } }\n`),
      /alerts\.missed\.rule\.schedule: --prune deletes the schedule "nightly orders", which the file does not have/
    )
    assert.strictEqual(await everything(), before)
  })

  it("finds no change in crons, days, channels and receivers that are written in another way", async () => {
    const hours = (days: string, except: string) =>
      `{ zone: Europe/Vienna, from: "08:00", to: "18:00", weekdays: [${days}], except: [${except}] }`
    const written = (forms: Readonly<Record<"cron" | "days" | "dates" | "to" | "channels" | "url", string>>) =>
      file(
        "forms.yaml",
        `schedules:
  forms: { process: orders, cron: "${forms.cron}", calendar: { weekdays: [${forms.days}], dates: [${forms.dates}] } }
alert_channels:
  mail: { type: email, host: smtp.example.com, port: 587, from: a@example.com, to: [${forms.to}] }
  hook: { type: webhook, url: "${forms.url}" }
alerts:
  forms:
    rule: { type: nothing_completed, process: orders, seconds: 60, hours: ${hours(forms.days, forms.dates)} }
    channels: [${forms.channels}]
    quiet: ${hours(forms.days, forms.dates)}
`
      )
    const dates = ["2026-12-25", "2026-12-26"].map((date) => `"${date}"`)
    const one = written({
      cron: "30 2 * * mon-fri",
      days: "sat, sun",
      dates: dates.join(),
      to: "b@example.com, c@example.com",
      channels: "mail, hook",
      url: "https://example.com"
    })
    assert.strictEqual(worked(await applied(one)).length, 4)
    const other = written({
      cron: "30 02 * * 5,1-4",
      days: "sun, sat",
      dates: dates.toReversed().join(),
      to: "c@example.com, b@example.com",
      channels: "hook, mail, hook",
      url: "https://EXAMPLE.com/"
    })
    assert.deepStrictEqual(worked(await applied(other)), [])
    const differs = written({
      cron: "30 3 * * 5,1-4",
      days: "sun",
      dates: dates.join(),
      to: "c@example.com",
      channels: "hook",
      url: "https://example.com/other"
    })
    assert.deepStrictEqual(
      worked(await applied(differs)).map(({ detail, kind, name }) => `${kind} ${name}: ${detail}`),
      [
        "schedule forms: times",
        "alert channel mail: e-mail",
        "alert channel hook: target",
        "alert forms: rule, channels, quiet"
      ]
    )
    await succeed(["alerts", "delete", "forms", "--data", data])
    await succeed(["schedules", "delete", "forms", "--data", data])
    await succeed(["alert-channels", "delete", "mail", "hook", "--yes", "--data", data])
  })

  it("deletes what the file does not name with --prune alone, in the sections that it has", async () => {
    const path = file("less.yaml", "worker_groups: [windows]\nassets: {}\n")
    const kept = await succeed(["apply", path, "--data", data])
    assert.match(kept.stdout, /4 more in the workspace are not in the file; --prune deletes them\./)
    const refused = await signalbox(["apply", path, "--prune", "--data", data])
    assert.strictEqual(refused.status, 1)
    assert.match(
      refused.stderr,
      /nothing was changed: add --yes to apply this, and delete \d that the file does not name/
    )
    // A step still names this group: its deletion is refused, and said.
    const stuck = await signalbox(["apply", path, "--prune", "--yes", "--data", data])
    assert.strictEqual(stuck.status, 1)
    assert.match(
      stuck.stderr,
      /^signalbox: delete worker group linux failed: .*; done: delete asset .*; not done: nothing; apply again to continue\n$/
    )
    const rest = await read("assets")
    assert.deepStrictEqual(rest, { data: [], has_more: false, next: null })

    assert.include(JSON.stringify(await read("secrets")), '"shop"')
  })

  it("brings roles by their names, and takes none away from who has it", async () => {
    const roles = (text: string) => file("roles.yaml", `roles:\n${text}`)
    const clerk = "  clerk: { permissions: [Processes.read_runs, Processes.trigger_processes] }\n"
    const auditor = "  auditor: { permissions: [Audit.read_audit] }\n"
    assert.deepStrictEqual(facts(await applied(roles(clerk + auditor))), [
      "done: create role clerk",
      "done: create role auditor"
    ])
    const again = await applied(
      roles(`  clerk: { permissions: [Processes.trigger_processes, Processes.read_work_items] }\n${auditor}`)
    )
    assert.deepStrictEqual(
      again.map(({ detail, status }) => [status, detail]),
      [
        ["unchanged", ""],
        ["done", "+Processes.read_work_items, -Processes.read_runs"]
      ]
    )
    await succeed(["users", "create", "carl", "--role", "clerk", "--data", data])
    const pruned = await applied(roles("  other: { permissions: [Audit.read_audit] }\n"), "--prune", "--yes")
    assert.deepStrictEqual(facts(pruned), [
      "unchanged: unchanged role clerk",
      "done: create role other",
      "done: delete role auditor"
    ])
    const built = await signalbox(["apply", roles("  admin: { permissions: [Audit.read_audit] }\n"), "--data", data])
    assert.match(built.stderr, /every workspace has the role admin/)
    await succeed(["users", "remove", "carl", "--data", data])
  })

  it("refuses to prune a process with what depends on it, unless --with-dependents has it in the plan", async () => {
    const text = "webhooks: []\nprocesses: {}\nworker_groups: [windows]\n"
    const none = file("none.yaml", text)
    const before = await everything()
    const list =
      "schedule nightly orders (of process orders), trigger new orders (of process orders, has an address that other systems may call), alert orders stand still (its rule names process orders)"
    const refused = await signalbox(["apply", none, "--prune", "--yes", "--data", data])
    assert.strictEqual(refused.status, 1)
    assert.include(refused.stderr, `: ${list}; add --with-dependents to delete these too, or add the processes to`)
    const told = await succeed(["apply", none, "--dry-run", "--data", data])
    assert.include(told.stdout, `--prune also needs --with-dependents: these depend on deleted processes: ${list}.\n`)
    const alone = await signalbox(["apply", none, "--with-dependents", "--data", data])
    assert.match(alone.stderr, /^signalbox: --with-dependents: needs --prune/)
    assert.strictEqual(await everything(), before)

    const all = file("neither.yaml", "processes: {}\nworker_groups: [windows]\n")
    const planned = facts(worked(await applied(all, "--prune", "--with-dependents", "--dry-run")))
    assert.deepStrictEqual(planned, [
      "planned: delete alert orders stand still",
      "planned: delete trigger new orders",
      "planned: delete schedule nightly orders",
      "planned: delete webhook https://example.com/hook (orders)",
      "planned: delete process orders",
      "planned: delete worker group linux"
    ])
    const lines = worked(await applied(all, "--prune", "--with-dependents", "--yes"))
    assert.deepStrictEqual(
      facts(lines),
      planned.map((line) => line.replace("planned", "done"))
    )
    const rest = await everything()
    for (const name of ["nightly orders", "new orders", "orders stand still", "https://example.com/hook"]) {
      assert.notInclude(rest, name)
    }
  })

  it("reports what was done and what was not when a step fails, and continues there", async () => {
    const bad = file("broken.zip", "no zip at all")
    const text = `worker_groups: [late]\npackages: { first: { zip: dist/letters.zip }, broken: { zip: ${bad} } }\n`
    const failed = await signalbox(["apply", file("half.yaml", text), "--json", "--data", data])
    assert.strictEqual(failed.status, 1)
    const statuses = failed.lines.map((line) => JSON.parse(line)).map(({ name, status }) => [name, status])
    assert.deepStrictEqual(statuses, [
      ["first", "done"],
      ["broken", "failed"],
      ["late", "not done"]
    ])
    assert.match(
      failed.stderr,
      /create package broken failed: .*; done: create package first; not done: create worker group late; apply again to continue/
    )
    writeFileSync(bad, await Effect.runPromise(robotZip("a")))
    assert.deepStrictEqual(facts(await applied(join(folder, "half.yaml"))), [
      "unchanged: unchanged package first",
      "done: change package broken",
      "done: create worker group late"
    ])
  })

  const files: ReadonlyArray<readonly [what: string, name: string, text: string, message: RegExp]> = [
    ["an unknown section", "a.yaml", "process: {}\n", /process: unknown key/],
    [
      "an unknown key of a step",
      "b.yaml",
      "processes: { a: { steps: [{ name: s, task: { name: t }, retries: 3 }] } }",
      /processes\.a\.steps\.0\.retries: unknown key/
    ],
    [
      "a missing task",
      "c.json",
      '{"processes":{"a":{"steps":[{"name":"s"}]}}}',
      /processes\.a\.steps\.0\.task: Missing key/
    ],
    [
      "an unknown event",
      "d.yaml",
      "webhooks: [{ endpoint: 'https://a.example', events: [done] }]",
      /webhooks\.0\.events\.0: Expected .*process_run\.completed/
    ],
    ["a wrong name of a secret", "e.yaml", "secrets: { 'a b': { items: {} } }", /secrets\.a b/],
    [
      "a value of a secret of the wrong kind",
      "f.yaml",
      `secrets: { a: { items: { password: [${password}] } } }`,
      /secrets\.a\.items\.password/
    ],
    ["no YAML", "g.yaml", "assets: [\n", /g\.yaml: not YAML/],
    ["no JSON", "h.json", "{", /h\.json: not JSON/],
    [
      "an unknown package",
      "i.yaml",
      "assistants: { a: { task: { name: t, package: nowhere } } }",
      /assistants\.a\.task\.package: not found in the file or the workspace: the package "nowhere"/
    ],
    [
      "an unknown process",
      "j.yaml",
      "webhooks: [{ endpoint: 'https://a.example', events: [process_run.started], process: gone }]",
      /webhooks\.0\.process: not found in the file or the workspace: the process "gone"/
    ],
    [
      "a file that is not there",
      "k.yaml",
      "packages: { a: { zip: nowhere.zip } }",
      /packages\.a\.zip: cannot read .*nowhere\.zip; paths are relative to the file/
    ],
    [
      "a package of two sources",
      "m.yaml",
      "packages: { a: { zip: a.zip, folder: a } }",
      /packages\.a: Expected one of zip, folder, tasks and git/
    ],
    [
      "a package of no source",
      "n.yaml",
      "packages: { a: {} }",
      /packages\.a: Expected one of zip, folder, tasks and git/
    ],
    [
      "a repository without a branch",
      "o.yaml",
      "packages: { a: { git: { type: gitlab, repository: 'https://a.example/b' } } }",
      /packages\.a\.git: Expected either a branch to follow or a reference to stay at/
    ],
    [
      "a repository with its credentials",
      "p.yaml",
      `packages: { a: { git: { type: gitlab, repository: 'https://x:${password}@a.example/b', branch: main } } }`,
      /packages\.a\.git\.repository: Expected an http or https address without credentials/
    ],
    [
      "an assistant that would change",
      "l.yaml",
      "assistants: { reader: { task: { name: Other, package: invoices } } }",
      /assistants\.reader\.task: .*cannot be changed/
    ]
  ]
  it("names the field and the remedy of a file that cannot be applied, and changes nothing", async () => {
    const before = await everything()
    await Promise.all(
      files.map(async ([what, name, text, message]) => {
        const { status, stderr, stdout } = await signalbox(["apply", file(name, text), "--data", data], { env })
        assert.strictEqual(status, 1, what)
        assert.match(stderr, message, what)
        assert.strictEqual(stderr.trim().split("\n").length, 1, what)
        assert.notInclude(stderr + stdout, password, what)
      })
    )
    assert.strictEqual(await everything(), before)
  })
})
