/** What pages that are followed share, and following one of them: with npm, or with pnpm, which lets a program import only what is installed. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, delimiter, join } from "node:path"
import { root } from "../../tooling/src/tarballs.ts"
import type { Consumer } from "./consumer.ts"
import { followed, isReference, withServices } from "./followed.ts"
import { type Door, isolated } from "./network.ts"
import { follow, type Installing } from "./pages.ts"
import { optional, typesOf } from "./pageTypes.ts"
import { pageOf, references } from "./reference.ts"
import { startRegistry } from "./registry.ts"
import { startServices } from "./services.ts"

export const managers = ["npm", "pnpm"] as const

export type Manager = (typeof managers)[number]

/** Where pages install from, and what they share; nothing of it is above a page. */
export interface Pages {
  readonly consumer: Consumer
  readonly place: string
  /** A folder of `PATH`, with the packed command. */
  readonly commands: string
  /** Has the types of Node, which no program imports, and no others. */
  readonly types: string
  /** The command `tsc` before TypeScript 7, which has one too. */
  readonly olderCompiler: string
  readonly door: Door
  readonly installing: (manager: Manager) => Installing
  readonly close: () => Promise<void>
}

export const startPages = async (consumer: Consumer, isKept: boolean): Promise<Pages> => {
  const { binary, folder, sh, tarballs } = consumer
  const place = mkdtempSync(join(tmpdir(), "signalbox-pages-"))
  const commands = join(place, "commands")
  mkdirSync(commands)
  symlinkSync(binary, join(commands, "signalbox"))
  const types = join(place, "types")
  mkdirSync(types)
  symlinkSync(join(folder, "node_modules/@types/node"), join(types, "node"))
  const tools = join(place, "tools")
  const quiet = ["--no-audit", "--no-fund", "--prefer-offline"]
  await sh("npm", ["install", "--prefix", tools, ...quiet, "pnpm@12", "typescript@5.9.3"])
  // The path of a socket is short.
  const socket = join(place, "registry")
  const upstream = (await sh("npm", ["config", "get", "registry"])).trim()
  const registry = await startRegistry(tarballs, upstream, socket)
  return {
    consumer,
    place,
    commands,
    types,
    olderCompiler: join(tools, "node_modules/.bin/tsc"),
    door: { name: "packages.example", port: 80, to: [socket] },
    installing: (manager) => ({
      manager: manager === "npm" ? "npm" : join(tools, "node_modules/.bin/pnpm"),
      registry: isolated ? "http://packages.example/" : `${registry.url}/`,
      store: join(place, "installed")
    }),
    close: async () => {
      await registry.close()
      if (isKept) console.log(place)
      else rmSync(place, { recursive: true, force: true })
    }
  }
}

/** Follows a text with one of the managers, in a folder of its own, which `check` gets before it is removed. */
export const followText = async (
  name: string,
  text: string,
  manager: Manager,
  of: Pages,
  check: (place: string) => Promise<unknown>,
  given: {
    readonly copies?: Readonly<Record<string, string>>
    readonly doors?: ReadonlyArray<Door>
    readonly env?: Readonly<Record<string, string>>
  } = {}
) => {
  const { copies = {}, doors = [], env = {} } = given
  const place = join(of.place, manager, name.replaceAll("/", "-"))
  const variables = {
    ...of.consumer.environment,
    ...env,
    PATH: [of.commands, of.consumer.environment["PATH"]].join(delimiter)
  }
  const files = Object.fromEntries(Object.entries(copies).map(([to, from]) => [to, join(root, from)]))
  await follow(name, text, place, variables, files, [of.door, ...doors], of.installing(manager))
  await check(place)
  rmSync(place, { recursive: true, force: true })
}

const fileOf = (name: string) => readFileSync(join(root, `${name}.md`), "utf8")

/** Whether a page has its reader install something. */
const installs = (name: string) =>
  /^\$ npm install/m.test(isReference(name) ? (references[basename(name)]?.before ?? "") : fileOf(name))

const textOf = (name: string, { binary, sh }: Consumer) =>
  isReference(name)
    ? pageOf(basename(name), (...path) => sh(process.execPath, [binary, ...path, "--help"]))
    : fileOf(name)

/** Follows a page of the documentation, and checks the types of its programs where it says what they need. */
const followPage = async (name: string, manager: Manager, of: Pages) => {
  const copies = followed[name] ?? {}
  const text = await textOf(name, of.consumer)
  const [whole, types] = installs(name)
    ? [text + optional(text), (place: string) => typesOf(text, place, manager, of)]
    : [text, async () => undefined]
  if (!withServices.includes(name)) return followText(name, whole, manager, of, types, { copies })
  if (!isolated) return console.log(`  ${name} is not followed: this machine lets nobody have a network of their own`)
  // The path of a socket is short.
  const sockets = mkdtempSync(join(tmpdir(), "signalbox-services-"))
  const services = await startServices(sockets)
  try {
    await followText(name, whole, manager, of, types, { copies, ...services })
  } finally {
    await services.close()
    rmSync(sockets, { recursive: true, force: true })
  }
}

/** A check of each page that is followed, with each manager where it installs something. */
export const pageChecks: Readonly<Record<string, (of: Pages) => Promise<unknown>>> = Object.fromEntries(
  Object.keys(followed).flatMap((name) =>
    managers
      .filter((manager) => manager === "npm" || installs(name))
      .map((manager) => [
        manager === "npm" ? `page ${name}` : `page ${name}, with pnpm`,
        (of: Pages) => followPage(name, manager, of)
      ])
  )
)
