/**
 * Task packages with the versions that are needed: the current one, and those that steps name. Versions get other numbers;
 * the same version is the one with the same content.
 */
import type { TaskPackage } from "@signalbox/api/contract/TaskPackages"
import { TaskPackageVersion } from "@signalbox/api/contract/TaskPackageVersions"
import type { TaskPackageId } from "@signalbox/api/contract/Ids"
import * as Assistants from "@signalbox/api/Assistants"
import * as Processes from "@signalbox/api/Processes"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Inspected from "@signalbox/task-package/TaskPackage"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { idOf, type Ids } from "../apply/Step.ts"
import { bounds } from "./Bounds.ts"
import type { Gaps } from "./Gaps.ts"
import { type Downloaded, Source, SourceError } from "./Source.ts"
import type { ImportStep } from "./Step.ts"

/** A version at the source, with its content once that is needed. */
interface Version {
  /** Null: from a source without versions. */
  readonly version: number | null
  readonly digest: string
  readonly note: string | null
  readonly isCurrent: boolean
  readonly url: string
  readonly file: Downloaded | null
}

/** Downloads a zip and checks it as the service checks uploads. */
const fetched = Effect.fnUntraced(function* (url: string, digest: string | null) {
  const file = yield* Effect.flatMap(Source, ({ download }) => download(url, bounds.zip))
  const refuse = (message: string) => new SourceError({ kind: "refused", message })
  if (digest !== null && digest !== `sha256:${file.digest}`) {
    return yield* refuse("the content is another one than its digest says")
  }
  yield* Effect.mapError(Inspected.inspect(file.path), ({ message }) => refuse(`the zip is refused: ${message}`))
  return file
})

const versionsOf = Effect.fnUntraced(function* (found: TaskPackage, pinned: ReadonlyArray<number>, gaps: Gaps) {
  const { get } = yield* Source
  const { current, download, id, name } = found
  if (download === null) return []
  if (current === null) {
    const file = yield* gaps.orNull("package", name, fetched(download.url, null))
    const digest = `sha256:${file?.digest}`
    return file === null ? null : [{ version: null, digest, note: null, isCurrent: true, url: download.url, file }]
  }
  const numbers = [...new Set([...pinned.toSorted((a, b) => a - b), current.version])]
  const versions: Array<Version> = []
  for (const number of numbers) {
    const read = get(["task-packages", id, "versions", String(number)], TaskPackageVersion)
    const one = yield* gaps.orNull("package", `${name}, version ${number}`, read, "not found")
    if (one === null) continue
    const isCurrent = number === current.version
    versions.push({ version: number, digest: one.digest, note: one.note, isCurrent, url: one.download.url, file: null })
  }
  // The current one is uploaded last, so that it is current.
  return versions.toSorted((a, b) => Number(a.isCurrent) - Number(b.isCurrent))
})

/** The versions that a package of the target has, by their content. */
const knownOf = Effect.fnUntraced(function* (name: string, ids: Ids) {
  const id = ids.packages.get(name)
  if (id === undefined) return null
  const target = yield* TaskPackages.get(id)
  const all = yield* Stream.runCollect(TaskPackages.streamVersions(id, { limit: 100 }))
  return { target, versions: new Map(all.toReversed().map(({ digest, version }) => [digest, version])) }
})

/** Uploads in order, and checks that the versions have the numbers that processes name. */
const upload = (name: string, versions: ReadonlyArray<Version>, numbers: ReadonlyMap<string, number>, ids: Ids) =>
  Effect.gen(function* () {
    const id = ids.packages.get(name) ?? (yield* TaskPackages.create(name)).id
    ids.packages.set(name, id)
    for (const { digest, file, note } of versions) {
      if (file === null) continue
      yield* TaskPackages.upload(id, file.path, { note: note ?? undefined })
      const { current } = yield* TaskPackages.get(id)
      if (current !== null && current.version !== numbers.get(digest)) {
        return yield* new SourceError({ kind: "refused", message: "somebody else changed it meanwhile; import again" })
      }
    }
    const last = versions.findLast(({ isCurrent }) => isCurrent)
    const { current } = yield* TaskPackages.get(yield* idOf(ids.packages, name))
    const number = last === undefined ? undefined : numbers.get(last.digest)
    if (number !== undefined && current !== null && current.digest !== last?.digest) {
      yield* TaskPackages.promote(id, number)
    }
  })

/** Whether a process or an assistant of the workspace names a package. */
const isUsed = Effect.fnUntraced(function* (id: TaskPackageId) {
  const assistants = yield* Stream.runCollect(Assistants.stream({ limit: 500 }))
  if (assistants.some(({ task }) => task.package_id === id)) return true
  const processes = yield* Stream.runCollect(Processes.stream({ limit: 500 }))
  const definitions = yield* Effect.forEach(processes, (process) => Processes.getDefinition(process.id))
  return definitions.some(({ steps }) => steps.some(({ task }) => task.package_id === id))
})

/** Plans one package; null when it cannot be had. */
const planOne = Effect.fnUntraced(function* (found: TaskPackage, pinned: ReadonlyArray<number>, ids: Ids, gaps: Gaps) {
  const { git, name } = found
  const wanted = yield* versionsOf(found, pinned, gaps)
  if (wanted === null) return null
  const known = yield* knownOf(name, ids)
  if (git !== null) {
    gaps.add("package", name, `that it follows ${git.repository}: its content is imported; configure git with apply`)
  }
  const numbers = new Map(known?.versions)
  let newest = known?.target.current?.newest ?? 0
  const versions: Array<Version> = []
  for (const version of wanted) {
    if (numbers.has(version.digest)) {
      versions.push({ ...version, file: null })
      continue
    }
    const label = version.isCurrent ? name : `${name}, version ${version.version}`
    const file =
      version.file ??
      (yield* gaps.orNull("package", label, fetched(version.url, version.digest), "the zip is not found"))
    if (file === null && version.isCurrent) return null
    if (file === null) continue
    numbers.set(version.digest, ++newest)
    versions.push({ ...version, file })
  }
  const missing = versions.filter(({ file }) => file !== null)
  const current = versions.find(({ isCurrent }) => isCurrent)
  const isSame = missing.length === 0 && known?.target.current?.digest === current?.digest
  const isElsewhere = known !== null && known.target.git !== null
  const isWanted = new Set(wanted.map(({ digest }) => digest))
  const isOwn = known !== null && !isElsewhere && [...known.versions.keys()].every((digest) => isWanted.has(digest))
  // An import that was killed has begun it: it has nothing else, and nothing names it yet.
  const isBegun = isOwn && !isSame && !(yield* isUsed(known.target.id))
  const step: ImportStep = {
    kind: "package",
    name,
    action: known === null || isBegun ? "create" : isSame ? "unchanged" : isElsewhere ? "different" : "change",
    detail: isSame
      ? ""
      : isElsewhere
        ? "the package of the workspace takes its content from git"
        : `${missing.length} ${missing.length === 1 ? "version" : "versions"}`,
    run: upload(name, versions, numbers, ids)
  }
  const versionOf = (number: number) => {
    const version = versions.find((one) => one.version === number)
    return version === undefined ? null : (numbers.get(version.digest) ?? null)
  }
  return { step, versionOf }
})

/** `pinned` has the versions that steps name, by the name of their package. */
export const plan = Effect.fnUntraced(function* (
  packages: ReadonlyArray<TaskPackage>,
  pinned: ReadonlyMap<string, ReadonlyArray<number>>,
  ids: Ids,
  gaps: Gaps
) {
  const steps: Array<ImportStep> = []
  const versions = new Map<string, (version: number) => number | null>()
  for (const found of packages) {
    const planned = yield* planOne(found, pinned.get(found.name) ?? [], ids, gaps)
    if (planned === null) continue
    steps.push(planned.step)
    versions.set(found.name, planned.versionOf)
  }
  return { steps, versionOf: (name: string, version: number) => versions.get(name)?.(version) ?? null }
})
