/**
 * The first minutes: a folder to begin with, tasks that are loaded again when they change, and what `up` says.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Env, machine, signalbox, start, succeed, temporaryFolder, up } from "../support/Cli.ts"

const { folder, remove } = temporaryFolder("first")
afterAll(remove)

/** Gives a folder the packages that this workspace has, as an installation would. */
const install = (project: string) => {
  const modules = join(import.meta.dirname, "..", "..", "node_modules")
  const packages = {
    effect: join(modules, "effect"),
    vitest: join(modules, "vitest"),
    signalbox: join(import.meta.dirname, "..", ".."),
    "@signalbox/api": join(modules, "@signalbox", "api"),
    "@signalbox/flows": join(modules, "@signalbox", "flows"),
    "@signalbox/worker": join(modules, "@signalbox", "worker")
  }
  for (const [name, path] of Object.entries(packages)) {
    const link = join(project, "node_modules", name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(path, link)
  }
}

const init = async (name: string, ...flags: ReadonlyArray<string>) => {
  const project = join(folder, name)
  const { stdout } = await succeed(["init", project, ...flags])
  assert.include(stdout, project.includes(" ") ? `cd '${project}'\n` : `cd ${project}\n`)
  install(project)
  return project
}

const vitest = join(dirname(fileURLToPath(import.meta.resolve("vitest/package.json"))), "vitest.mjs")

/** Runs the tests of a project, which must pass. */
const testProject = (project: string) => {
  const tested = spawnSync(process.execPath, [vitest, "run"], { cwd: project, env: machine })
  assert.strictEqual(tested.status, 0, tested.stdout.toString() + tested.stderr.toString())
  return tested.stdout.toString()
}

/** What the flow of a project prints for these names. */
const flowOf = async (project: string, ...names: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, ["main.ts", ...names], { cwd: project, env: machine })
  let printed = ""
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()))
  await new Promise((resolve) => child.once("close", resolve))
  return printed
}

describe("signalbox init", () => {
  it("writes a folder whose tests pass, whose flow runs against `up`, and whose file can be applied", async () => {
    const project = await init("my greetings")
    assert.strictEqual(JSON.parse(readFileSync(join(project, "package.json"), "utf8")).name, "my-greetings")
    assert.match(readFileSync(join(project, "README.md"), "utf8"), /^# my-greetings\n/)
    assert.strictEqual(readFileSync(join(project, ".gitignore"), "utf8"), "node_modules\n.signalbox\n")
    assert.strictEqual(readFileSync(join(project, ".nvmrc"), "utf8"), "24\n")
    assert.match(testProject(project), /2 passed/)

    const data = join(project, ".signalbox")
    const room = await up(data, ["--tasks", join(project, "tasks.ts")])
    const printed = await flowOf(project, "Ada")
    const { stdout } = await succeed(["apply", join(project, "workspace.ts"), "--check", "--data", data])
    assert.strictEqual(await room.end(), 0)
    assert.include(printed, "Hello, Ada")
    assert.match(stdout, /unchanged +process +greetings/)
  })

  it("--python: adds a robot with robot.py, whose process runs once it is applied", async () => {
    const project = await init("letters", "--python")
    assert.match(testProject(project), /1 passed/)

    const data = join(project, ".signalbox")
    const room = await up(data, ["--tasks", join(project, "tasks.ts")])
    const { stdout } = await succeed(["apply", join(project, "workspace.ts"), "--yes", "--data", data])
    const printed = await flowOf(project, "Ada")
    const outputs = async () => {
      const [run] = (await succeed(["runs", "list", "--json", "--data", data])).lines
      return (await succeed(["outputs", JSON.parse(run ?? "").id, "--data", data])).stdout
    }
    assert.match(stdout, /create +package +letters/)
    assert.include(printed, "Hello, Ada")
    assert.include(await outputs(), "Hello, Ada,\\nwelcome.")
    assert.strictEqual(await room.end(), 0)
  })

  it("--durable: makes a backend whose tests pass, with keys that only its user can read", async () => {
    const project = await init("welcomes", "--durable")
    assert.match(testProject(project), /4 passed/)
    const env = readFileSync(join(project, ".env"), "utf8")
    const keys = [...env.matchAll(/^SIGNALBOX_\w+(?:TOKEN|SECRET)=([\w-]{32})$/gm)].map(([, key]) => key)
    assert.strictEqual(new Set(keys).size, 2, env)
    assert.strictEqual(statSync(join(project, ".env")).mode & 0o077, 0)
    assert.include(readFileSync(join(project, ".gitignore"), "utf8"), ".env\n")
    assert.include(readFileSync(join(project, "server.ts"), "utf8"), 'from "fastify"')
  })

  it("--durable --server: only the server and what is installed for it differ", async () => {
    const contents = await Promise.all(
      ["fastify", "express", "hono"].map(async (server) => {
        const project = await init(`on-${server}`, "--durable", "--server", server)
        const { dependencies } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"))
        assert.include(readFileSync(join(project, "server.ts"), "utf8"), `from "${server}"`)
        assert.deepStrictEqual(
          Object.keys(dependencies).filter((name) => ["fastify", "express", "hono"].includes(name)),
          [server]
        )
        const others = globSync("*.ts", { cwd: project }).filter((name) => name !== "server.ts")
        return others.toSorted().map((name) => [name, readFileSync(join(project, name), "utf8")])
      })
    )
    assert.deepStrictEqual(contents[1], contents[0])
    assert.deepStrictEqual(contents[2], contents[0])
  })

  it("refuses flags that do not fit each other, and writes nothing", async () => {
    const project = join(folder, "refused")
    const both = await signalbox(["init", project, "--durable", "--python"])
    assert.strictEqual(both.status, 1)
    assert.match(both.stderr, /--durable and --python: use one of them/)
    const alone = await signalbox(["init", project, "--server", "hono"])
    assert.strictEqual(alone.status, 1)
    assert.match(alone.stderr, /--server hono: add --durable/)
    assert.isFalse(existsSync(project))
  })

  it("writes a workflow that has no expression in a script", async () => {
    const project = await init("workflow")
    const text = readFileSync(join(project, ".github/workflows/ci.yml"), "utf8")
    const scripts = text.split("\n").filter((line) => /^\s*-? *run:/.test(line))
    assert.isNotEmpty(scripts)
    for (const script of scripts) assert.notInclude(script, "${{")
    for (const [, action = ""] of text.matchAll(/uses: (\S+)/g)) assert.match(action, /@[0-9a-f]{40}$/)
  })

  it("replaces nothing", async () => {
    const project = join(folder, "there")
    mkdirSync(project)
    writeFileSync(join(project, "flow.ts"), "mine")
    const { status, stderr } = await signalbox(["init", project])
    assert.strictEqual(status, 1)
    assert.match(stderr, /already has flow\.ts: choose a new folder, or one without these files\n$/)
    assert.strictEqual(readFileSync(join(project, "flow.ts"), "utf8"), "mine")
  })
})

/** A command in a process of its own, whose output is waited for. */
const running = (args: ReadonlyArray<string>, cwd: string, env: Env = {}) => {
  const child = start(args, env, cwd)
  const output = { stdout: "", stderr: "" }
  let changed = () => {}
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].on("data", (chunk: Buffer) => {
      output[stream] += chunk.toString()
      changed()
    })
  }
  const says = (text: RegExp, stream: keyof typeof output = "stderr") =>
    new Promise<void>((resolve) => {
      changed = () => (text.test(output[stream]) ? resolve() : undefined)
      changed()
    })
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const end = () => {
    child.kill()
    return ended
  }
  return { output, says, end }
}

describe("signalbox dev", () => {
  it("loads the tasks again when a file that they import changes, mended files too, and the service goes on", async () => {
    const project = await init("developed")
    const words = join(project, "words.ts")
    const tasks = readFileSync(join(project, "tasks.ts"), "utf8")
    writeFileSync(words, 'export const hello = "Hello"\n')
    writeFileSync(
      join(project, "tasks.ts"),
      `import { hello } from "./words.ts"\n${tasks.replace("Hello, ${", "${hello}, ${")}`
    )
    const dev = running(["dev", "--port", "0", "--json"], project)
    await dev.says(/Loaded tasks\.ts: greet\n/)
    const ready = JSON.parse(dev.output.stdout)
    const data = ["--data", join(project, ".signalbox")]
    await succeed(["processes", "create", "greeting", "--task", "greet", ...data])
    const greeting = async () => {
      const run = await succeed(["run", "greeting", "--payload", '{"name":"Ada"}', "--wait", "--json", ...data])
      return (await succeed(["outputs", JSON.parse(run.stdout).id, ...data])).stdout
    }
    assert.include(await greeting(), "Hello, Ada")

    writeFileSync(words, "export const hello = \n")
    await dev.says(
      /signalbox: --tasks: cannot load tasks\.ts: .*words\.ts.*; correct the syntax; loading again when the file changes/
    )
    assert.include(await greeting(), "Hello, Ada")

    writeFileSync(words, 'export const hello = "Good day"\n')
    await dev.says(/Loaded[^]*Loaded/)
    assert.include(await greeting(), "Good day, Ada")
    assert.strictEqual((await fetch(ready.docs_url)).status, 200)
    assert.strictEqual((await succeed(["workers", "list", "--json", ...data])).lines.length, 1)
    assert.strictEqual(await dev.end(), 0)
  })

  it("says which tasks its workers have, and how one is run", async () => {
    const project = await init("said")
    const dev = running(["dev", "--port", "0"], project)
    await dev.says(/Stop it with/, "stdout")
    assert.match(dev.output.stdout, /^ {2}workers +1, for task packages and greet$/m)
    assert.match(dev.output.stdout, /processes create greeting --task greet$/m)
    assert.strictEqual(await dev.end(), 0)
  })

  it("waits for a tasks file that is not there yet", async () => {
    const project = await init("early")
    const dev = running(["dev", "--port", "0"], project, { SIGNALBOX_TASKS: "later.ts" })
    await dev.says(
      /cannot load later\.ts: the file does not exist; give its path relative to this folder; loading again when the file changes/
    )
    writeFileSync(join(project, "later.ts"), 'export { tasks } from "./tasks.ts"\n')
    await dev.says(/Loaded later\.ts: greet/)
    assert.strictEqual(await dev.end(), 0)
  })
})

describe("signalbox up", () => {
  it("says what can be done next, in words that work", async () => {
    const project = await init("next")
    const room = running(["up", "--port", "0", "--tasks", "tasks.ts"], project)
    await room.says(/Stop it with/, "stdout")
    const [create = "", run = ""] = [...room.output.stdout.matchAll(/^ {2}signalbox (.*)$/gm)].map(([, line]) => line)
    await succeed(create.split(" "), { cwd: project })
    const args = run.replaceAll("'", "").split(" ")
    assert.match((await succeed(args, { cwd: project })).stdout, /completed/)
    assert.strictEqual(await room.end(), 0)
  })
})
