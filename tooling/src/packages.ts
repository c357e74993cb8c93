/**
 * Whether each package is right once it is packed: what publint and "are the types wrong" find, which files it has, and its size.
 */
import { checkPackage, createPackageFromTarballData, type Problem } from "@arethetypeswrong/core"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import budgets from "../budgets.json" with { type: "json" }
import { type Manifest, pack, root, type Tarball } from "./tarballs.ts"

const required = ["package.json", "README.md", "LICENSE"]
const needed = ["description", "keywords", "license", "repository", "engines", "exports"]

/** Packages are ES modules for resolution by `exports`: what `require` of older Node and TypeScript's `node10` find is no matter. */
const isOurs = (problem: Problem): boolean =>
  problem.kind !== "CJSResolvesToESM" && !("resolutionKind" in problem && /node10|cjs/.test(problem.resolutionKind))

const describe = (problem: Problem): string =>
  [
    problem.kind,
    "entrypoint" in problem ? problem.entrypoint : "",
    "resolutionKind" in problem ? problem.resolutionKind : ""
  ].join(" ")

const sizes: ReadonlyMap<string, readonly [packed: number, unpacked: number]> = new Map(
  Object.entries(budgets).map(([name, { packed, unpacked }]) => [name, [packed, unpacked]])
)

/**
 * Modules of Node whose types declarations may name, by package: of servers that the user creates with them, and so has their types.
 * All other programs compile without `@types/node`.
 */
const namedOfNode: Readonly<Record<string, RegExp>> = {
  "@signalbox/control-room":
    /^dist\/(?:(?:Mounted|NodeServer)\.d\.ts node:http|internal\/delivery\/(?:Delivery|Mail)Sender\.d\.ts node:net)$/,
  "@signalbox/flows": /^dist\/Flow(?:Callbacks|Management)\.d\.ts node:http$/,
  // Of the servers and clients of Node themselves.
  "@signalbox/platform": /^dist\/NodeHttp(?:Client|Server|ServerRequest)\.d\.ts node:\w+$/,
  signalbox: /^dist\/Mounted\.d\.ts node:http$/
}

/** What the types of a package name that its users may not have: packages that it does not bring, and modules and globals of Node. */
const foreignTypes = (files: ReadonlyArray<string>, read: (path: string) => string, manifest: Manifest) => {
  const brought = new Set([manifest.name, ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })])
  return files
    .filter((path) => path.endsWith(".d.ts"))
    .flatMap((path) => {
      const types = read(path).replace(/\/\*[^]*?\*\//g, "")
      const packages = [
        ...types.matchAll(/(?:\bfrom |\bimport |\bimport\()"((?:@[^/"]+\/)?[^./"][^/"]*)(?:\/[^"]*)?"/g)
      ]
        .map(([, name = ""]) => name)
        .filter((name) => !brought.has(name) && namedOfNode[manifest.name]?.test(`${path} ${name}`) !== true)
      const globals = [...types.matchAll(/\b(?:Buffer(?=[<;,)\]>|& ])|NodeJS\.\w+)/g)].map(([name]) => name)
      const imported = /import .*\bBuffer\b/.test(types) ? [] : globals
      return [...new Set([...packages, ...imported])].map(
        (name) => `${path} names ${name}, which is not there for users`
      )
    })
}

const check = async ({ file, manifest: { name } }: Tarball): Promise<ReadonlyArray<string>> => {
  const bytes = readFileSync(file)
  const data = new Uint8Array(bytes)
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  const [lint, contents] = [await publint({ strict: true, pack: { tarball } }), createPackageFromTarballData(data)]
  const inside = `/node_modules/${name}/`
  const files = contents.listFiles(inside).map((path) => path.slice(inside.length))
  const manifest: Manifest = JSON.parse(contents.readFile(`${inside}package.json`))
  const types = await checkPackage(contents)
  const unpacked = files.reduce((sum, path) => sum + Buffer.byteLength(contents.readFile(inside + path)), 0)
  const [packedBudget, unpackedBudget] = sizes.get(name) ?? [0, 0]
  console.log(`${name}: ${files.length} files, ${bytes.length} bytes packed, ${unpacked} unpacked`)
  return [
    ...lint.messages.map((message) => `publint: ${formatMessage(message, lint.pkg) ?? message.code}`),
    ...(types.types === false
      ? ["no types"]
      : types.problems.filter(isOurs).map((problem) => `types: ${describe(problem)}`)),
    ...foreignTypes(files, (path) => contents.readFile(inside + path), manifest),
    ...required.filter((path) => !files.includes(path)).map((path) => `${path} is missing`),
    ...needed.filter((field) => !(field in manifest)).map((field) => `package.json has no ${field}`),
    ...files
      // Templates have the tests of the projects that they become.
      .filter((path) => path.startsWith("src/") || (path.includes(".test.") && !path.startsWith("dist/templates/")))
      .map((path) => `${path} is no part of it`),
    ...(JSON.stringify(manifest).includes("workspace:") ? ["package.json names the workspace"] : []),
    ...(bytes.length > packedBudget ? [`${bytes.length} bytes packed, the budget is ${packedBudget}`] : []),
    ...(unpacked > unpackedBudget ? [`${unpacked} bytes unpacked, the budget is ${unpackedBudget}`] : [])
  ].map((problem) => `${name}: ${problem}`)
}

const problems: Array<string> = []
for (const tarball of pack(join(root, "node_modules/.cache/packages"))) problems.push(...(await check(tarball)))
for (const problem of problems) console.error(problem)
if (problems.length > 0) {
  console.error("budgets of sizes are in tooling/budgets.json")
  process.exitCode = 1
}
