import type { TaskPackageId } from "@signalbox/api/contract/Ids"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Packing from "@signalbox/task-package/Packing"
import * as Effect from "effect/Effect"
import { heldOf, isCurrent } from "../package/Delivery.ts"
import * as TasksPackage from "../package/TasksPackage.ts"
import { fileDigest, resolve } from "./Content.ts"
import { ApplyFileError, type Document, type Git } from "./Document.ts"
import { type Ids, type Section, type Step, unchanged } from "./Step.ts"

type Source = NonNullable<Document["packages"]>[string]

/** The action for a package, and its effect once the package exists. */
interface Work {
  readonly detail: string
  readonly isDone: boolean
  /** Why nothing is done although the package has other content. */
  readonly held?: string
  readonly run: (id: TaskPackageId) => Step["run"]
}

const configurationOf = (git: Git): TaskPackages.GitConfiguration => {
  const common = {
    repository: git.repository,
    directory: git.directory ?? null,
    credentials_secret: git.credentials_secret ?? null
  }
  return git.branch === undefined
    ? { mode: "detached", reference: git.reference ?? "", ...common }
    : {
        mode: "attached",
        branch: git.branch,
        automatic_deployment: git.automatic_deployment ?? true,
        ...common
      }
}

/** The parts in which the file and the package differ, and whether the last poll of the repository failed. */
const differencesOf = (git: Git, { git: known, type }: TaskPackages.TaskPackage): ReadonlyArray<string> => {
  if (known === null) return ["from git"]
  const wanted = configurationOf(git)
  const pairs = {
    type: [type, git.type],
    repository: [known.repository, wanted.repository],
    directory: [known.directory, wanted.directory],
    credentials_secret: [known.credentials_secret, wanted.credentials_secret],
    mode: [known.mode, wanted.mode],
    reference: [known.reference, wanted.mode === "attached" ? wanted.branch : wanted.reference],
    automatic_deployment: [known.automatic_deployment, wanted.mode === "attached" && wanted.automatic_deployment]
  }
  const changed = Object.entries(pairs).flatMap(([name, [is, shall]]) => (is === shall ? [] : [name]))
  return known.error === null ? changed : [...changed, `again, as it failed: ${known.error.message}`]
}

const gitWork = (git: Git, known: TaskPackages.TaskPackage | null): Work => {
  const differences = known === null ? [] : differencesOf(git, known)
  return {
    detail: known === null ? git.repository : differences.join(", "),
    isDone: known !== null && differences.length === 0,
    run: (id) => TaskPackages.configureGit(id, git.type, configurationOf(git))
  }
}

/** Returns the path of the zip to upload: a folder is packed, a tasks file is packaged. */
const zipOf = Effect.fnUntraced(function* (field: string, source: Source, folder: string) {
  const refuse = (key: keyof Source) => (error: Error) =>
    new ApplyFileError({ message: `${field}.${key}: ${error.message}` })
  if (source.folder !== undefined) {
    return yield* Effect.mapError(Packing.pack(resolve(folder, source.folder)), refuse("folder"))
  }
  if (source.tasks !== undefined) {
    const made = TasksPackage.make(resolve(folder, source.tasks))
    return (yield* Effect.mapError(made, refuse("tasks"))).zip
  }
  return resolve(folder, source.zip ?? "")
})

const short = (digest: string) => digest.replace("sha256:", "").slice(0, 12)

/** What stands in the plan. Of a tasks file also the digest, which tells whether the content is the one that was tested. */
const detailOf = (source: Source, known: TaskPackages.TaskPackage | null, digest: string) => {
  if (source.tasks === undefined) return source.zip ?? source.folder ?? ""
  const before = known?.current?.digest
  return `${source.tasks}, digest ${before === undefined ? "" : `${short(before)} to `}${short(digest)}`
}

const zipWork = Effect.fnUntraced(function* (
  field: string,
  source: Source,
  folder: string,
  known: TaskPackages.TaskPackage | null
) {
  const path = yield* zipOf(field, source, folder)
  const digest = yield* fileDigest(`${field}.zip`, path)
  if (known !== null && known.git !== null) {
    return yield* new ApplyFileError({
      message: `${field}: the package takes its content from a git repository, not from a file; delete the package first, or choose another name`
    })
  }
  const run: Work["run"] = (id) => TaskPackages.upload(id, path)
  const work = { detail: detailOf(source, known, digest), run }
  if (known === null) return { ...work, isDone: false } satisfies Work
  const held = yield* heldOf(known, digest)
  if (held !== null) return { ...work, isDone: true, held } satisfies Work
  return { ...work, isDone: yield* isCurrent(known, digest) } satisfies Work
})

/** Task packages: a zip or folder with other content is uploaded; a repository with other settings is fetched. */
export const plan = Effect.fnUntraced(function* (wanted: NonNullable<Document["packages"]>, folder: string, ids: Ids) {
  const steps: Array<Step> = []
  for (const [name, source] of Object.entries(wanted)) {
    const id = ids.packages.get(name)
    const known = id === undefined ? null : yield* TaskPackages.get(id)
    const work: Work =
      source.git === undefined ? yield* zipWork(`packages.${name}`, source, folder, known) : gitWork(source.git, known)
    const { detail, held, isDone, run } = work
    if (known === null) {
      const create = Effect.gen(function* () {
        const made = yield* TaskPackages.create(name)
        ids.packages.set(name, made.id)
        yield* run(made.id)
      })
      steps.push({ kind: "package", name, action: "create", detail, run: create })
    } else if (isDone) {
      steps.push(unchanged("package", name, held))
    } else {
      steps.push({ kind: "package", name, action: "change", detail, run: run(known.id) })
    }
  }
  const extra = [...ids.packages]
    .filter(([name]) => !Object.hasOwn(wanted, name))
    .map(([name, id]): Step => ({
      kind: "package",
      name,
      action: "delete",
      detail: "",
      run: TaskPackages.remove(id)
    }))
  const section: Section = { steps, extra }
  return section
})
