/** `signalbox package`: what becomes a task package, and what is refused. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import * as NodeServices from "@signalbox/platform/NodeServices"
import * as TaskPackage from "@signalbox/task-package/TaskPackage"
import * as Effect from "effect/Effect"
import { signalbox, succeed, temporaryFolder } from "../support/Cli.ts"
import * as Projects from "../support/Projects.ts"

const { folder, remove } = temporaryFolder("tasks-package")
afterAll(remove)

/** Packages a project, and returns what the command prints for programs. */
const packaged = async (project: string, out = join(project, "out.zip")) =>
  JSON.parse((await succeed(["package", join(project, "tasks.ts"), "--out", out, "--json"])).stdout)

/** What is in a zip, in a folder beside it. */
const unpacked = async (zip: string) => {
  const target = `${zip}.unpacked`
  await Effect.runPromise(Effect.provide(TaskPackage.unpack(zip, target), NodeServices.layer))
  return target
}

const text = (...path: ReadonlyArray<string>) => readFileSync(join(...path), "utf8")

/** A package that the tasks file of a project imports. */
const dependency = (name: string, files: Projects.Files) =>
  Object.fromEntries(Object.entries(files).map(([file, body]) => [`node_modules/${name}/${file}`, body]))

const greeter = (manifest: object, more: Projects.Files = {}) => ({
  "tasks.ts": Projects.tasks("${hello}", 'import hello from "greeter"\n'),
  ...dependency("greeter", {
    "package.json": JSON.stringify({ name: "greeter", version: "1.2.3", main: "index.js", ...manifest }),
    "index.js": "module.exports = 'Hello'\n",
    ...more
  })
})

describe("signalbox package", () => {
  it("makes a zip with a robot.yaml that has a command for each task, and one module with all the code", async () => {
    const project = Projects.make(join(folder, "parts"))
    const printed = await packaged(project)
    assert.deepStrictEqual(printed.tasks, ["greet"])
    assert.strictEqual(printed.node, ">=22.19.0")
    const zip = readFileSync(join(project, "out.zip"))
    assert.strictEqual(printed.size, zip.length)
    assert.strictEqual(printed.digest, `sha256:${createHash("sha256").update(zip).digest("hex")}`)
    const target = await unpacked(join(project, "out.zip"))
    assert.deepStrictEqual(readdirSync(target).toSorted(), [
      "LICENSES",
      "package.json",
      "robot.mjs",
      "robot.yaml",
      "tasks.mjs"
    ])
    assert.include(text(target, "robot.yaml"), '"greet":\n    command: ["node","robot.mjs","greet"]')
    assert.notInclude(text(target, "tasks.mjs"), folder)
    const usage = execFileSync(process.execPath, ["robot.mjs", "--help"], { cwd: target, encoding: "utf8" })
    assert.include(usage, "Tasks:\n  greet")
  })

  it("gives the same bytes in another folder, and others when a task changes", async () => {
    const first = await packaged(Projects.make(join(folder, "one")))
    const second = await packaged(Projects.make(join(folder, "deeper", "and", "deeper", "two")))
    assert.strictEqual(second.digest, first.digest)
    const third = await packaged(Projects.make(join(folder, "three"), { "tasks.ts": Projects.tasks("Good day") }))
    assert.notStrictEqual(third.digest, first.digest)
  })

  it("is named after its project, without --out, and says for people what it has made", async () => {
    const project = Projects.make(join(folder, "named"))
    const { stdout } = await succeed(["package"], { cwd: project })
    assert.match(stdout, /^file {6}greetings\.zip\ntasks {5}greet\nsize {6}\d+ kB\ndigest {4}sha256:[0-9a-f]{64}\n/)
    assert.isTrue(existsSync(join(project, "greetings.zip")))
  })

  it("has the licences of the packages that it bundles, and names those that state none", async () => {
    const stated = Projects.make(
      join(folder, "stated"),
      greeter({ license: "ISC" }, { "LICENSE.md": "Copyright Ada\n" })
    )
    const { packages } = await packaged(stated)
    assert.deepInclude(packages, { name: "greeter", version: "1.2.3", license: "ISC" })
    assert.includeMembers(
      packages.map(({ name }: { readonly name: string }) => name),
      ["@signalbox/worker", "effect"]
    )
    const licenses = text(await unpacked(join(stated, "out.zip")), "LICENSES")
    assert.match(licenses, /^greeter 1\.2\.3: ISC$/m)
    assert.include(licenses, "---- greeter 1.2.3 ----\n\nCopyright Ada\n")

    const unstated = Projects.make(join(folder, "unstated"), greeter({}))
    const { stderr } = await succeed(["package", join(unstated, "tasks.ts"), "--out", join(unstated, "out.zip")])
    assert.strictEqual(stderr, "No licence is stated by greeter 1.2.3: review it before you deliver the package\n")
    const target = await unpacked(join(unstated, "out.zip"))
    assert.match(text(target, "LICENSES"), /^greeter 1\.2\.3: no licence in package\.json$/m)

    const older = Projects.make(join(folder, "older"), greeter({ licenses: [{ type: "MIT" }, { type: "Apache-2.0" }] }))
    const { packages: ofOlder } = await packaged(older)
    assert.deepInclude(ofOlder, { name: "greeter", version: "1.2.3", license: "MIT OR Apache-2.0" })
  })

  it("states the Node that its project needs, and says at the start that another one is too old", async () => {
    const newest = JSON.stringify({ name: "newest", type: "module", engines: { node: ">=99.1" } })
    const project = Projects.make(join(folder, "newest"), { "package.json": newest })
    assert.strictEqual((await packaged(project)).node, ">=99.1.0")
    const target = await unpacked(join(project, "out.zip"))
    assert.strictEqual(JSON.parse(text(target, "package.json")).engines.node, ">=99.1.0")
    const { status, stderr } = spawnSync(process.execPath, ["robot.mjs", "greet"], { cwd: target, encoding: "utf8" })
    assert.strictEqual(status, 1)
    assert.strictEqual(
      stderr,
      `this task package needs Node >=99.1.0, this is ${process.versions.node}; update Node on the machine of the worker\n`
    )
  })

  it("takes the project of a package.json without a name, as npm writes it, and not one above it", async () => {
    const above = JSON.stringify({ name: "above", version: "1.0.0", engines: { node: ">=99" } })
    Projects.write(join(folder, "above"), { "package.json": above })
    const nameless = JSON.stringify({ type: "module", engines: { node: ">=23" } })
    const project = Projects.make(join(folder, "above", "nameless"), { "package.json": nameless })
    Projects.write(project, { "src/tasks.ts": Projects.tasks("Hello") })
    const { stdout } = await succeed(["package", "src/tasks.ts", "--json"], { cwd: project })
    const { file, node, packages } = JSON.parse(stdout)
    assert.deepStrictEqual([file, node], ["nameless.zip", ">=23.0.0"])
    assert.notInclude(stdout, "above")
    assert.isAbove(packages.length, 1)
  })

  const refused: ReadonlyArray<readonly [name: string, files: Projects.Files, message: RegExp]> = [
    [
      "a file that exports no tasks",
      { "tasks.ts": "export const greet = 1\n" },
      /tasks\.ts must export `tasks`, an array/
    ],
    ["a file with an empty list", { "tasks.ts": "export const tasks = []\n" }, /tasks\.ts has no tasks; add one to/],
    [
      "two tasks of one name",
      { "tasks.ts": Projects.tasks("Hello").replace("[greet]", "[greet, greet]") },
      /tasks\.ts has two tasks named "greet"; give each a unique name/
    ],
    [
      "a package that is compiled when it is installed",
      greeter({}, { "binding.gyp": "{}" }),
      /greeter has a native part \(binding\.gyp\).*worker start --tasks/
    ],
    [
      "a package that installs a compiled part for each platform",
      greeter({ optionalDependencies: { "@greeter/greeter-linux-x64": "1.2.3", other: "1.0.0" } }),
      /greeter has a native part \(@greeter\/greeter-linux-x64\)/
    ],
    [
      "a package that fetches a compiled part",
      greeter({ binary: { napi_versions: [7] } }),
      /greeter has a native part \(binary\)/
    ],
    [
      "a compiled file that a package loads",
      greeter(
        {},
        {
          "index.js":
            "let name\ntry { name = require('./build/hello.node') } catch { name = 'Hello' }\nmodule.exports = name\n",
          "build/hello.node": ""
        }
      ),
      /greeter has a native part \(build\/hello\.node\)/
    ],
    [
      "an import that only this process can load",
      { "tasks.ts": Projects.tasks("Hello", 'if (process.env["NEVER"]) await import("nowhere/at-all")\n') },
      /cannot bundle tasks\.ts: nowhere\/at-all is not installed in its project; install it with `npm install nowhere`/
    ]
  ]
  for (const [name, files, message] of refused) {
    it(`refuses ${name}, and writes nothing`, async () => {
      const project = Projects.make(join(folder, name.replaceAll(" ", "-")), files)
      const out = join(project, "out.zip")
      const { status, stderr } = await signalbox(["package", join(project, "tasks.ts"), "--out", out])
      assert.strictEqual(status, 1, stderr)
      assert.match(stderr, message)
      assert.isFalse(existsSync(out))
    })
  }

  it("says how a project gets the bundler that it does not have", async () => {
    const project = Projects.make(join(folder, "without-bundler"), {}, ["@signalbox/worker", "effect"])
    // A process that has no NODE_PATH, in which pnpm names all packages of the repository.
    const { status, stderr } = await signalbox(["package"], { cwd: project })
    assert.strictEqual(status, 1)
    assert.strictEqual(
      stderr,
      "signalbox: cannot bundle tasks.ts: rolldown is not installed in its project; install it with `npm install --save-dev rolldown`\n"
    )
  })

  it("refuses a file that is not there, and a target that cannot be written", async () => {
    const missing = await signalbox(["package", join(folder, "none.ts")])
    assert.match(missing.stderr, /cannot load .*none\.ts: the file does not exist/)
    const project = Projects.make(join(folder, "target"))
    const target = await signalbox(["package", join(project, "tasks.ts"), "--out", join(folder, "none", "out.zip")])
    assert.match(target.stderr, /--out: cannot write .*out\.zip/)
  })
})
