/**
 * What users get: the packed packages, installed by npm into an empty folder outside of the repository, and what its README shows,
 * run there. Ends with 1 when something does not work.
 *
 * `npx -y pnpm@12 test:consumer [--keep] [name ...]`: only the checks whose names contain one of these; `--keep` leaves the folder.
 */
import { execFile, execFileSync, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { parseArgs, promisify } from "node:util"
import { startServer } from "../../packages/testkit/src/Postgres.ts"
import { pack, root, type Tarball } from "../../tooling/src/tarballs.ts"
import * as backend from "./backend.ts"
import * as container from "./container.ts"
import { firstProgram } from "./firstProgram.ts"
import { figure, followed, isReference, problems, withServices } from "./followed.ts"
import { type Door, isolated } from "./network.ts"
import { fences, follow } from "./pages.ts"
import { pageOf } from "./reference.ts"
import { startServices } from "./services.ts"
import * as userFiles from "./userFiles.ts"

const { positionals, values } = parseArgs({ allowPositionals: true, options: { keep: { type: "boolean" } } })

/** Of what `npm i signalbox` brings, in megabytes. */
const installBudget = 82

const versions = {
  "@effect/platform-node": "4.1.0",
  "@effect/sql-pg": "4.0.5",
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
  vitest: "5.1.1"
}

/** Of the programs that the pages about coming from elsewhere show beside ours. */
const peers = ["@dbos-inc/dbos-sdk@5.3.0", "@temporalio/workflow@1.24.0", "@types/pg@8.23.1"]

const folder = mkdtempSync(join(tmpdir(), "signalbox-consumer-"))
const home = join(folder, "home")

/** Of a user: nothing of the repository, of pnpm or of this machine's settings of Signalbox. */
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_(?!config_registry)|pnpm_|SIGNALBOX_|NODE_(OPTIONS|PATH|COMPILE_CACHE)|INIT_CWD)/i.test(name)
    )
  ),
  PATH: [
    dirname(process.execPath),
    ...(process.env["PATH"] ?? "").split(delimiter).filter((path) => !path.startsWith(root))
  ].join(delimiter),
  XDG_CACHE_HOME: home
}

const run = promisify(execFile)

/** Runs a program to its end, and returns what it printed; rejects with all of it when it fails. */
const sh = async (
  file: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  cwd: string = folder
) => {
  const options = { cwd, env: { ...environment, ...env }, timeout: 120_000, maxBuffer: 1 << 26 }
  const { stdout } = await run(file, args, options).catch((error: Error & { stdout?: string; stderr?: string }) => {
    throw new Error(`${error.message}\n${error.stdout ?? ""}${error.stderr ?? ""}`)
  })
  return stdout
}

const expected = (what: string, actual: unknown, wanted: unknown) => {
  if (actual !== wanted) throw new Error(`${what} is ${String(actual)}, expected ${String(wanted)}`)
}

const npm = (...packages: ReadonlyArray<string>) =>
  sh("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", ...packages])

const bin = (name: string) => join(folder, "node_modules", ".bin", name)

/** A package and those of ours that it needs. */
const closure = (tarballs: ReadonlyArray<Tarball>, name: string): ReadonlyArray<Tarball> => {
  const found = new Map<string, Tarball>()
  const add = (name: string) => {
    const tarball = tarballs.find(({ manifest }) => manifest.name === name)
    if (tarball === undefined || found.has(name)) return
    found.set(name, tarball)
    for (const dependency of Object.keys(tarball.manifest.dependencies ?? {})) add(dependency)
  }
  add(name)
  return [...found.values()]
}

/** Waits until nothing listens at an address any more. */
const closed = async ({ hostname, port }: URL) => {
  const limit = performance.now() + 30_000
  while (performance.now() < limit) {
    const refused = await new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(false))
      socket.once("error", () => resolve(true)).once("connect", () => socket.destroy())
    })
    if (refused) return
    await setTimeout(200)
  }
  throw new Error(`something still listens on port ${port} after \`up\` was stopped`)
}

/** Starts `signalbox up` by a command line, runs a client against it, and stops it by SIGTERM. */
const up = async (
  file: string,
  args: ReadonlyArray<string>,
  client: (room: string, data: string) => Promise<unknown>,
  env: Readonly<Record<string, string>> = {}
) => {
  const data = mkdtempSync(join(folder, "up-"))
  const child = spawn(file, [...args, "up", "--json", "--port=0", `--data=${data}`, "--tasks=tasks.ts"], {
    cwd: folder,
    env: { ...environment, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let said = ""
  let room = ""
  child.stderr.on("data", (chunk) => (said += String(chunk)))
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
  try {
    const line = new Promise<string>((resolve) => createInterface(child.stdout).once("line", resolve))
    const first = await Promise.race([line, exited])
    if (typeof first !== "string") throw new Error(`up ended with ${String(first)}: ${said}`)
    room = first
    await client(first, data)
  } finally {
    child.kill("SIGTERM")
  }
  const code = await exited
  // npm's runner ends by the signal itself.
  if (file !== "npx") expected("the exit code of `up` after SIGTERM", code, 0)
  expected("a warning of `up`", said.match(/\w*Warning.*/)?.[0], undefined)
  await closed(new URL(JSON.parse(room).base_url))
}

/** Waits until the thread of checkpoints has copied the log into the database, whose file has one page until then. */
const checkpointed = async (data: string) => {
  const { size: empty } = statSync(join(data, "control-room.db"))
  while (statSync(join(data, "control-room.db")).size === empty) await setTimeout(50)
}

/** The page of the documentation is the one part of the command that is not in its bundle. */
const documented = async (room: string) => {
  const response = await fetch(JSON.parse(room).docs_url)
  if (!response.ok || !(await response.text()).includes("scalar")) throw new Error(`/docs is ${response.status}`)
}

const greet =
  (file: string, ...args: ReadonlyArray<string>) =>
  (room: string) =>
    sh(file, [...args, "client.mjs"], { ROOM: room })

/** Waits for a line of output that contains a text. */
const line = (stream: NodeJS.ReadableStream, text: string, ended: Promise<unknown>) =>
  Promise.race([
    new Promise<string>((resolve) =>
      createInterface(stream).on("line", (said) => (said.includes(text) ? resolve(said) : undefined))
    ),
    ended.then((code) => Promise.reject(new Error(`it ended with ${String(code)} and never said ${text}`)))
  ])

/** Each form of `signalbox init`: its folder and its flags. */
const forms: Readonly<Record<string, ReadonlyArray<string>>> = {
  fresh: [],
  "fresh-python": ["--python"],
  "fresh-fastify": ["--durable"],
  "fresh-express": ["--durable", "--server", "express"],
  "fresh-hono": ["--durable", "--server", "hono"]
}

/** The version before TypeScript 7, in a folder of its own, since both have a command `tsc`. */
const olderTypeScript = "5.9.3"

/** What each form of `signalbox init` makes, as it stands: its tests, and its types under both versions of TypeScript. */
const madeProjects = async (names: ReadonlyArray<string>) => {
  const older = join(folder, "older-typescript")
  await sh("npm", ["install", "--prefix", older, "--no-audit", "--no-fund", `typescript@${olderTypeScript}`])
  for (const name of names) {
    const project = join(folder, name)
    await sh("npx", ["signalbox", "init", name, ...(forms[name] ?? [])])
    symlinkSync(join(folder, "node_modules"), join(project, "node_modules"))
    await sh("npm", ["test"], {}, project)
    await sh("npm", ["run", "types"], {}, project)
    await sh(join(older, "node_modules/.bin/tsc"), ["-p", "tsconfig.json"], {}, project)
  }
}

/** What `signalbox init` makes, as its user goes on: a control room that loads changed tasks, its flow, and what is there. */
const firstMinutes = async () => {
  await madeProjects(["fresh", "fresh-python"])
  const fresh = join(folder, "fresh")
  const child = spawn(process.execPath, [binary, "dev", "--json", "--port=0"], {
    cwd: fresh,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
  try {
    await Promise.all([line(child.stdout, "base_url", exited), line(child.stderr, "Loaded tasks.ts: greet", exited)])
    const flow = (name: string) => sh("npm", ["run", "flow", name], {}, fresh)
    const first = await flow("Ada")
    if (!first.includes("Hello, Ada")) throw new Error(`the flow prints ${first}`)
    const tasks = join(fresh, "tasks.ts")
    const again = line(child.stderr, "Loaded tasks.ts: greet", exited)
    writeFileSync(tasks, readFileSync(tasks, "utf8").replace("Hello, ", "Good day, "))
    await again
    const second = await flow("Grace")
    if (!second.includes("Good day, Grace")) throw new Error(`after a change of its task the flow prints ${second}`)
    const nouns = ["processes", "workers", "runs"].map(async (noun) => {
      const printed = await sh(process.execPath, [binary, noun, "list", "--json"], {}, fresh)
      const rows = printed
        .trim()
        .split("\n")
        .map((row) => JSON.parse(row))
      expected(`the number of ${noun}`, rows.length, noun === "runs" ? 2 : 1)
      expected(`the id of one of the ${noun}`, typeof rows[0].id, "string")
    })
    await Promise.all(nouns)
  } finally {
    child.kill("SIGTERM")
  }
  expected("the exit code of `dev` after SIGTERM", await exited, 0)
}

/** The backends that `signalbox init --durable` makes. */
const backends = async () => {
  const names = ["fresh-fastify", "fresh-express", "fresh-hono"]
  await madeProjects(names)
  for (const name of names) {
    const project = join(folder, name)
    await backend.walk(project, {
      command: binary,
      env: environment,
      sh: (file, args, env) => sh(file, args, env, project)
    })
  }
}

/** Every page with commands is followed, or has a reason; so has every answer. */
const rule = async () => {
  const found = problems()
  if (found.length > 0) throw new Error(found.join("\n"))
  console.log(`  ${figure()}`)
}

/** The page of the reference that has the help of a command. */
const referenceOf = (name: string) =>
  pageOf(basename(name), (...path) => sh(process.execPath, [binary, ...path, "--help"]))

/** Follows a page of the documentation. */
const page = async (name: string, copies: Readonly<Record<string, string>>) => {
  const place = join(folder, "pages", name.replaceAll("/", "-"))
  const path = [dirname(bin("signalbox")), environment.PATH].join(delimiter)
  const files = Object.fromEntries(Object.entries(copies).map(([to, from]) => [to, join(root, from)]))
  const text = isReference(name) ? await referenceOf(name) : readFileSync(join(root, `${name}.md`), "utf8")
  const followed = (doors: ReadonlyArray<Door>, env: Readonly<Record<string, string>>) =>
    follow(name, text, place, { ...environment, ...env, PATH: path }, files, doors)
  if (!withServices.includes(name)) return followed([], {})
  if (!isolated) return console.log(`  ${name} is not followed: this machine lets nobody have a network of their own`)
  // The path of a socket is short.
  const sockets = mkdtempSync(join(tmpdir(), "signalbox-services-"))
  const services = await startServices(sockets)
  try {
    await followed(services.doors, services.env)
  } finally {
    await services.close()
    rmSync(sockets, { recursive: true, force: true })
  }
}

/** Every module that a package exports, with patterns resolved by the files that are there. */
const modulesOf = ({ manifest: { name } }: Tarball): ReadonlyArray<string> => {
  const installed = join(folder, "node_modules", name)
  const { exports }: { exports: Readonly<Record<string, unknown>> } = JSON.parse(
    readFileSync(join(installed, "package.json"), "utf8")
  )
  const files = execFileSync("find", ["dist", "-name", "*.d.ts", "-not", "-path", "dist/internal/*"], {
    cwd: installed,
    encoding: "utf8"
  }).split("\n")
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target !== "object" || target === null || !("types" in target)) return []
    const [before = "", after] = String(target.types).slice(2).split("*")
    if (after === undefined) return [name + path.slice(1)]
    return files
      .filter((file) => file.startsWith(before) && !file.slice(before.length, -after.length).includes("/"))
      .map((file) => name + path.slice(1).replace("*", file.slice(before.length, -after.length)))
  })
}

const tsconfig = (name: string, module: "nodenext" | "bundler", files: ReadonlyArray<string>, skipLibCheck: boolean) =>
  writeFileSync(
    join(folder, `tsconfig.${name}.json`),
    JSON.stringify({
      files,
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck,
        noEmit: true,
        target: "es2024",
        lib: ["es2024", "esnext.disposable", "dom", "dom.iterable", "dom.asynciterable"],
        types: ["node"],
        allowImportingTsExtensions: true,
        module: module === "nodenext" ? "nodenext" : "preserve",
        moduleResolution: module
      }
    })
  )

const compile = async (name: string, files: ReadonlyArray<string>, skipLibCheck = false) => {
  await Promise.all(
    (["nodenext", "bundler"] as const).map((module) => {
      tsconfig(`${name}.${module}`, module, files, skipLibCheck)
      return sh(bin("tsc"), ["-p", `tsconfig.${name}.${module}.json`])
    })
  )
}

/**
 * The programs of the documentation, each in a file of its own, as a user of the packages saves them. Those in `typescript` fences
 * are of other libraries, whose own types need not compile.
 */
const documentation = async () => {
  const pages = globSync(["README.md", "docs/**/*.md", "packages/*/README.md"], {
    cwd: root,
    exclude: ["docs/decisions/**"]
  })
  const programs = (of: string) =>
    pages.flatMap((page) =>
      fences(readFileSync(join(root, page), "utf8")).flatMap(({ body, language, title }, index) => {
        if (language !== of) return []
        const file = join("documentation", page, title ?? `${index}.ts`)
        mkdirSync(dirname(join(folder, file)), { recursive: true })
        writeFileSync(join(folder, file), body)
        return [file]
      })
    )
  const [ours, others] = [programs("ts"), programs("typescript")]
  console.log(`  ${ours.length} programs, and ${others.length} of other libraries`)
  await compile("documentation", ours)
  await npm("--save-dev", ...peers)
  await compile("others", others, true)
}

/** The first program of the README. */
const readme = () => {
  const program = /```ts title="hello.mts"\n([^]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8"))?.[1]
  if (program === undefined) throw new Error("README.md has no program")
  writeFileSync(join(folder, "readme.ts"), program)
}

const megabytes = () =>
  Number(execFileSync("du", ["-sm", "node_modules"], { cwd: folder, encoding: "utf8" }).split("\t")[0])

const tarballs = pack(join(root, "node_modules/.cache/packages"))
const node22 = join(folder, "node_modules/node22/bin/node")
const binary = join(folder, "node_modules/signalbox/dist/bin.js")
const files = (packages: ReadonlyArray<Tarball>) => packages.map(({ file }) => `file:${file}`)
const user = { folder, env: environment, command: binary }
const hello = /greeting: 'Hello, Ada'/

/** In this order: the later ones need what the first ones install. */
const checks: Readonly<Record<string, () => Promise<unknown>>> = {
  "npm i signalbox": () => npm(...files(closure(tarballs, "signalbox"))),
  "npm i signalbox is light": async () => {
    const size = megabytes()
    console.log(`  ${size} MB`)
    if (size > installBudget) throw new Error(`it brings ${size} MB, the budget is ${installBudget}`)
    for (const name of ["redis", "@redis", "@effect/sql-pg", "pg"]) {
      expected(`node_modules/${name}`, existsSync(join(folder, "node_modules", name)), false)
    }
  },
  "signalbox --version": async () => {
    const [{ manifest: { version } } = { manifest: { version: "" } }] = closure(tarballs, "signalbox")
    expected(
      "what `npx signalbox --version` prints",
      (await sh("npx", ["signalbox", "--version"])).trim(),
      `signalbox v${version}`
    )
  },
  "an old Node is told so in one sentence": async () => {
    const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.11.0" } })`
    const said = await sh(process.execPath, [
      "--import",
      `data:text/javascript,${encodeURIComponent(old)}`,
      binary,
      "up"
    ]).catch(String)
    if (!said.includes("signalbox: needs Node >=22.19, this is 20.11.0; update Node"))
      throw new Error(`it says ${said}`)
  },
  "signalbox --help, which loads every command": () => sh("npx", ["signalbox", "--help"]),
  "npx signalbox up, with tasks in TypeScript": () =>
    up("npx", ["signalbox"], async (room) => {
      await greet(process.execPath)(room)
      await documented(room)
    }),
  "npx signalbox up on Postgres, with nothing else installed": async () => {
    const postgres = await startServer()
    const settings = {
      SIGNALBOX_DATABASE_URL: postgres.url,
      SIGNALBOX_MASTER_KEY: randomBytes(32).toString("base64")
    }
    await up("npx", ["signalbox"], greet(process.execPath), settings).finally(postgres.remove)
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
    npm(
      "--save-dev",
      ...Object.entries(versions)
        .filter(([name]) => name !== "@effect/sql-pg")
        .map(([name, version]) => `${name}@${version}`)
    ),
  "types of programs": async () => {
    readme()
    await compile("programs", ["readme.ts", "tasks.ts", "hello.test.ts"])
  },
  "the program of the README": async () => {
    const printed = await sh(process.execPath, ["readme.ts"])
    if (!hello.test(printed)) throw new Error(`it prints ${printed}`)
  },
  "the program of the README, installed by its own line: npm": () => firstProgram(tarballs, "npm", environment),
  "the program of the README, installed by its own line: pnpm": () => firstProgram(tarballs, "pnpm", environment),
  "the steps of the image of a control room": () =>
    container.start(
      join(root, "deploy/container/Dockerfile"),
      folder,
      files(closure(tarballs, "signalbox")),
      environment
    ),
  "a test with signalbox/Testing": () => sh(bin("vitest"), ["run"]),
  "signalbox init: each form with its tests and types, its flow, its tasks changed under `signalbox dev`, and nouns":
    firstMinutes,
  "signalbox init --durable: a backend on each server, with its tests and types, killed in the middle": backends,
  "types of the files that commands load": () =>
    compile(
      "loaded",
      ["program", "changed", "workspace"].map((name) => `checked/${name}.ts`)
    ),
  "signalbox flows check: flows of both kinds, unchanged and changed": () => userFiles.flowsCheck(user),
  "signalbox up --tasks, apply FILE.ts and apply --check": () =>
    up(process.execPath, [binary], (_, data) => userFiles.applied(user, data)),
  "the rule of pages": rule,
  "Express, Fastify and Hono": () => sh(process.execPath, ["mounts.mjs"]),
  // Node 22 warns in each thread that opens a database.
  "Node 22: up": () =>
    up(node22, [binary], async (room, data) => {
      await greet(node22)(room)
      await checkpointed(data)
    }),
  "Node 22: a control room in a program": () => sh(node22, ["embedded.mjs"]),
  "Bun: the client": () => up(process.execPath, [binary], greet(bin("bun"))),
  "Bun: up": () => up(bin("bun"), [binary], greet(bin("bun"))),
  "Bun: a control room in a program": () => sh(bin("bun"), ["embedded.mjs"]),
  "Deno: up": () => up(bin("deno"), ["run", "-A", binary], greet(bin("deno"), "run", "-A")),
  "Deno: a control room in a program": () => sh(bin("deno"), ["run", "-A", "embedded.mjs"]),
  "npm i all packages": () => npm(...files(tarballs), `@effect/sql-pg@${versions["@effect/sql-pg"]}`),
  "types of all packages": async () => {
    const modules = tarballs.flatMap(modulesOf)
    writeFileSync(
      join(folder, "modules.ts"),
      modules.map((name, index) => `export * as m${index} from "${name}"`).join("\n")
    )
    await compile("modules", ["modules.ts"])
    await sh(process.execPath, ["-e", modules.map((name) => `await import("${name}")`).join("\n")])
  },
  "types of the programs of the documentation": documentation
}

cpSync(join(import.meta.dirname, "project"), folder, { recursive: true })
writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))

/** Without these nothing else can work. */
const installs = ["npm i signalbox", "what the rest needs", "npm i all packages"]

/** These need no other, and may run at the same time. */
const pages: Readonly<Record<string, () => Promise<unknown>>> = Object.fromEntries(
  Object.entries(followed).map(([name, copies]) => [`page ${name}`, () => page(name, copies)])
)

const wanted = (name: string) => positionals.length === 0 || positionals.some((part) => name.includes(part))

let failed = 0
const checked = async (name: string, check: () => Promise<unknown>) => {
  const begun = performance.now()
  const time = () => `${name} (${Math.round(performance.now() - begun)} ms)`
  try {
    await check()
    console.log(`✓ ${time()}`)
    return true
  } catch (error) {
    failed++
    console.error(`✗ ${time()}\n${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}
const following = async () => {
  const left = Object.entries(pages).filter(([name]) => wanted(name))
  const next = async (): Promise<void> => {
    const entry = left.shift()
    if (entry === undefined) return
    await checked(...entry)
    return next()
  }
  await Promise.all(Array.from({ length: isolated ? 3 : 1 }, next))
}

for (const [name, check] of Object.entries(checks)) {
  if (!installs.includes(name) && !wanted(name)) continue
  if (!(await checked(name, check)) && installs.includes(name)) break
}
await following()
if (values.keep === true) console.log(folder)
else rmSync(folder, { recursive: true, force: true })
console.log(failed === 0 ? "all passed" : `${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
