/** What is checked in the folder of the consumer, besides pages. */
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { startServer } from "../../packages/testkit/src/Postgres.ts"
import { root, type Tarball } from "../../tooling/src/tarballs.ts"
import { allModules, compile, documentation } from "./compile.ts"
import { closure, type Consumer, expected } from "./consumer.ts"
import * as container from "./container.ts"
import { everywhere, graphEverywhere } from "./everywhere.ts"
import { figure, problems } from "./followed.ts"
import { checkpointed, documented, greet, up } from "./rooms.ts"
import * as userFiles from "./userFiles.ts"

/** Of what `npm i signalbox` brings, in megabytes. */
const installBudget = 87

const sqlPg = "@effect/sql-pg@4.0.5"

const versions = {
  "@effect/platform-node": "4.1.0",
  "@effect/vitest": "4.0.5",
  "@hono/node-server": "2.1.8",
  "@types/express": "5.0.6",
  "@types/node": "24.19.2",
  bun: "1.4.5",
  deno: "2.9.6",
  express: "5.3.0",
  fastify: "5.12.8",
  hono: "4.13.19",
  node22: "npm:node@22.23.3",
  rolldown: "1.2.19",
  typescript: "7.0.2",
  vitest: "5.1.1",
  workerd: "1.20261117.1"
}

/** Without these nothing else can work. */
export const installs = ["npm i signalbox", "what the rest needs", "npm i all packages"]

const files = (packages: ReadonlyArray<Tarball>) => packages.map(({ file }) => `file:${file}`)

/** Every page with commands is followed, or has a reason; so has every answer. */
const rule = async () => {
  const found = problems()
  if (found.length > 0) throw new Error(found.join("\n"))
  console.log(`  ${figure()}`)
}

/** In this order: the later ones need what the first ones install. */
export const checksOf = (consumer: Consumer): Readonly<Record<string, () => Promise<unknown>>> => {
  const { bin, binary, environment, folder, npm, sh, tarballs } = consumer
  const node22 = join(folder, "node_modules/node22/bin/node")
  const user = { folder, env: environment, command: binary }
  return {
    "npm i signalbox": () => npm(...files(closure(tarballs, "signalbox"))),
    "npm i signalbox is light": async () => {
      const size = Number(execFileSync("du", ["-sm", "node_modules"], { cwd: folder, encoding: "utf8" }).split("\t")[0])
      console.log(`  ${size} MB`)
      if (size > installBudget) throw new Error(`it brings ${size} MB, the budget is ${installBudget}`)
      for (const name of ["redis", "@redis", "@effect/sql-pg", "pg"]) {
        expected(`node_modules/${name}`, existsSync(join(folder, "node_modules", name)), false)
      }
    },
    "signalbox --version": async () => {
      const version = tarballs.find(({ manifest }) => manifest.name === "signalbox")?.manifest.version
      const printed = (await sh("npx", ["signalbox", "--version"])).trim()
      expected("what `npx signalbox --version` prints", printed, `signalbox v${version}`)
    },
    "an old Node is told so in one sentence": async () => {
      const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.11.0" } })`
      const module = `data:text/javascript,${encodeURIComponent(old)}`
      const said = await sh(process.execPath, ["--import", module, binary, "up"]).catch(String)
      if (!said.includes("signalbox: needs Node >=22.19, this is 20.11.0; update Node"))
        throw new Error(`it says ${said}`)
    },
    "signalbox --help, which loads every command": () => sh("npx", ["signalbox", "--help"]),
    "npx signalbox up, with tasks in TypeScript": () =>
      up(consumer, "npx", ["signalbox"], async (room) => {
        await greet(consumer, process.execPath)(room)
        await documented(room)
      }),
    "npx signalbox up on Postgres, with nothing else installed": async () => {
      const postgres = await startServer()
      const settings = {
        SIGNALBOX_DATABASE_URL: postgres.url,
        SIGNALBOX_MASTER_KEY: randomBytes(32).toString("base64")
      }
      const client = greet(consumer, process.execPath)
      await up(consumer, "npx", ["signalbox"], client, settings).finally(postgres.remove)
    },
    "a control room in a program": () => sh(process.execPath, ["embedded.mjs"]),
    "Postgres without its driver": async () => {
      const program =
        'import * as Embedded from "signalbox/Embedded"; import { Effect, Redacted } from "effect"; ' +
        'await Effect.runPromise(Effect.provide(Effect.void, Embedded.layer({ data: "none", port: 0, database: { url: Redacted.make("postgres://localhost/none") }, masterKey: Redacted.make("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=") })))'
      const error = await sh(process.execPath, ["--input-type=module", "-e", program]).catch(String)
      if (!error.includes("npm install @effect/sql-pg")) throw new Error(`it says ${error}`)
    },
    "what the rest needs": () =>
      npm("--save-dev", ...Object.entries(versions).map(([name, version]) => `${name}@${version}`)),
    "types of programs": () => compile(consumer, "programs", ["tasks.ts", "hello.test.ts"]),
    "the steps of the image of a control room": () =>
      container.start(
        join(root, "deploy/container/Dockerfile"),
        folder,
        files(closure(tarballs, "signalbox")),
        environment
      ),
    "a test with signalbox/Testing": () => sh(bin("vitest"), ["run"]),
    "types of the files that commands load": () =>
      compile(
        consumer,
        "loaded",
        ["program", "changed", "workspace"].map((name) => `checked/${name}.ts`)
      ),
    "signalbox flows check: flows of both kinds, unchanged and changed": () => userFiles.flowsCheck(user),
    "signalbox up --tasks, apply FILE.ts and apply --check": () =>
      up(consumer, process.execPath, [binary], (_, data) => userFiles.applied(user, data)),
    "the rule of pages": rule,
    "Express, Fastify and Hono": () => sh(process.execPath, ["mounts.mjs"]),
    // Node 22 warns in each thread that opens a database.
    "Node 22: up": () =>
      up(consumer, node22, [binary], async (room, data) => {
        await greet(consumer, node22)(room)
        await checkpointed(data)
      }),
    "Node 22: a control room in a program": () => sh(node22, ["embedded.mjs"]),
    "Node, Deno, Bun, Workers and a browser: the client": () => everywhere(consumer, versions),
    "Bun: up": () => up(consumer, bin("bun"), [binary], greet(consumer, bin("bun"))),
    "Bun: a control room in a program": () => sh(bin("bun"), ["embedded.mjs"]),
    "Deno: up": () => up(consumer, bin("deno"), ["run", "-A", binary], greet(consumer, bin("deno"), "run", "-A")),
    "Deno: a control room in a program": () => sh(bin("deno"), ["run", "-A", "embedded.mjs"]),
    "npm i all packages": () => npm(...files(tarballs), sqlPg),
    "Node, Deno, Bun and Workers: the client of the graph": () => graphEverywhere(consumer),
    "types of all packages, and of programs for every runtime": () =>
      allModules(
        consumer,
        ["main", "worker", "page", "graph", "graphWorker"].map((name) => `everywhere/${name}.ts`)
      ),
    "types of the programs of the documentation": () => documentation(consumer)
  }
}
