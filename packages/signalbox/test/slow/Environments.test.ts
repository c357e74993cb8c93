/**
 * Environments of robots by the command: from a folder of wheels, without a network.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Wheels from "@signalbox/testkit/Wheels"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { signalbox, temporaryFolder } from "../support/Cli.ts"

const { folder, remove } = temporaryFolder("environments")
afterAll(remove)

const bin = join(folder, "bin")
Wheels.python(bin)
const wheels = join(folder, "wheels")
Wheels.write(wheels, "greeting", "1.0", { source: 'text = "hello"\n' })
const data = join(folder, "worker")
const env = { PATH: `${bin}:${process.env["PATH"] ?? ""}`, SIGNALBOX_WORKER_DATA: data }

const robot = (name: string, environment: string, main: string) => {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, "robot.yaml"), "tasks:\n  Greet:\n    shell: python main.py\ncondaConfigFile: conda.yaml\n")
  writeFileSync(join(path, "conda.yaml"), environment)
  writeFileSync(join(path, "main.py"), main)
  return path
}

const main = `import greeting, json, os
items = json.load(open(os.environ["RC_WORKITEM_INPUT_PATH"])) if "RC_WORKITEM_INPUT_PATH" in os.environ else []
print(greeting.text, [item["payload"] for item in items])
with open(os.environ["RC_WORKITEM_OUTPUT_PATH"], "w") as file:
    json.dump([{"payload": greeting.text}], file)
`
const greeter = robot("greeter", "dependencies: [pip: [greeting==1.0]]", main)
const broken = robot("broken", "dependencies:\n  - pip:\n    - ./lib\n", "")

const run = (...args: ReadonlyArray<string>) => signalbox(args, { cwd: folder, env })

describe("signalbox worker doctor", () => {
  it("says which tools are there, and which would build a package", async () => {
    const plain = await run("worker", "doctor", "--environments", "venv")
    assert.strictEqual(plain.status, 0, plain.stderr)
    assert.match(plain.stdout, /^venv +Python 3\.\d+\.\d+/)
    const { stdout } = await run("worker", "doctor", greeter, "--environments", "venv", "--json")
    const { builder, source, tools } = JSON.parse(stdout)
    assert.deepStrictEqual([builder, source], ["venv", "conda.yaml"])
    assert.lengthOf(tools, 1)
    assert.isFalse(existsSync(join(data, "environments", "1")))
  })

  it("names the flag or the line that cannot be used", async () => {
    const wrong = await run("worker", "doctor", "--environments", "pipenv")
    assert.strictEqual(wrong.status, 1)
    assert.match(
      wrong.stderr,
      /--environments or SIGNALBOX_ENVIRONMENTS: Expected "auto" \| "uv" \| "micromamba" \| "venv" \| "none"/
    )
    const index = await run("worker", "doctor", "--index-url", "https://me:secret@pypi.example.com/simple")
    assert.match(index.stderr, /--index-url or SIGNALBOX_INDEX_URL: omit user and password/)
    assert.notInclude(index.stderr, "secret")
    const line = await run("worker", "doctor", broken)
    assert.match(line.stderr, /conda\.yaml:3: "\.\/lib" is a path/)
  })
})

describe("signalbox worker prepare, and robot run", () => {
  it("build an environment ahead, and run the robot in it with a payload from a file", async () => {
    const how = ["--environments", "venv", "--wheels", wheels]
    const prepared = await run("worker", "prepare", greeter, ...how, "--json")
    assert.strictEqual(prepared.status, 0, prepared.stderr)
    assert.isFalse(JSON.parse(prepared.stdout).environment.cached)
    writeFileSync(join(folder, "item.json"), '{ "day": "2026-11-20" }')
    const ran = await run("robot", "run", greeter, "--item", "item.json", ...how)
    assert.strictEqual(ran.status, 0, ran.stderr)
    assert.match(ran.stdout, /already built\.\nhello \[\{'day': '2026-11-20'\}\]\n$/)
    const output = join(greeter, "output", "work-items-out", "workitems.json")
    assert.deepStrictEqual(JSON.parse(readFileSync(output, "utf8")), [{ payload: "hello" }])
  })

  it("fail with the reason when nothing has the version, and when there is no such task", async () => {
    const missing = robot("missing", "dependencies: [pip: [greeting==7]]", "")
    const how = ["--environments", "venv", "--wheels", wheels]
    const prepared = await run("worker", "prepare", missing, ...how)
    assert.strictEqual(prepared.status, 1)
    assert.match(prepared.stderr, /cannot be built[^]*No matching distribution found for greeting==7/)
    const noTask = await run("robot", "run", greeter, "--task", "Read", ...how)
    assert.strictEqual(noTask.status, 1)
    assert.match(noTask.stderr, /the task "Read" does not exist; its tasks: "Greet"/)
  })
})

describe("signalbox worker environments", () => {
  it("are listed, built anew, and removed unless a step run is in one", async () => {
    const how = ["--environments", "venv", "--wheels", wheels]
    const own = robot("own", "dependencies: [pip: [greeting]]", "")
    const prepared = await run("worker", "prepare", own, ...how, "--json")
    const { digest } = JSON.parse(prepared.stdout).environment
    const begin = digest.slice(0, 12)
    const listed = async () => {
      const { stdout } = await run("worker", "environments", "list", "--json")
      const all = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
      return all.filter((one) => one.digest === digest)
    }
    const [one] = await listed()
    assert.include(one.installed, "greeting==1.0")
    assert.isFalse(one.in_use)

    Wheels.write(wheels, "greeting", "2.0", { source: 'text = "hello again"\n' })
    const rebuilt = await run("worker", "environments", "rebuild", begin, ...how)
    assert.strictEqual(rebuilt.status, 0, rebuilt.stderr)
    assert.match(rebuilt.stdout, new RegExp(`^${begin}: rebuilt by venv in `))
    const [newest] = await listed()
    assert.include(newest.installed, "greeting==2.0")
    const elsewhere = await run("worker", "environments", "rebuild", begin, "--environments", "venv")
    assert.match(elsewhere.stderr, /was built with other tools or sources; use the flags of its worker/)

    const [started, go] = [join(folder, "started"), join(folder, "go")]
    spawnSync("mkfifo", [started, go])
    writeFileSync(join(own, "main.py"), `open("${started}", "w").write("yes")\nopen("${go}").read()\n`)
    const running = run("robot", "run", own, ...how)
    assert.strictEqual(await readFile(started, "utf8"), "yes")
    const used = await run("worker", "environments", "remove", begin)
    assert.strictEqual(used.status, 1)
    assert.match(used.stderr, /cannot be removed: in use by a step run/)
    assert.isTrue((await listed()).some((one) => one.in_use))
    await writeFile(go, "")
    const ran = await running
    assert.strictEqual(ran.status, 0, ran.stderr)
    const removed = await run("worker", "environments", "remove", begin)
    assert.strictEqual(removed.stdout, `${begin}: removed\n`)
    assert.deepStrictEqual(await listed(), [])
    const again = await run("worker", "environments", "remove", begin)
    assert.match(again.stderr, new RegExp(`no environment ${begin}: see .signalbox worker environments list`))
  })
})
