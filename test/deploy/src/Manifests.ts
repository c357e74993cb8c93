/** What is wrong with manifests of Kubernetes: by the schemas of its objects, by their types, and by what a room needs. */
import { ScaledObject } from "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject"
import { TriggerAuthentication } from "@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication"
import { Deployment } from "kubernetes-models/apps/v1/Deployment"
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget"
import { PersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim"
import { Service } from "kubernetes-models/v1/Service"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root, run } from "./Files.ts"

interface Model {
  readonly validate: () => void
}

/** The models of each kind, and the module of its type. */
const kinds: Readonly<Record<string, readonly [module: string, create: (data: never) => Model]>> = {
  "apps/v1/Deployment": ["kubernetes-models", (data) => new Deployment(data)],
  "networking.k8s.io/v1/Ingress": ["kubernetes-models", (data) => new Ingress(data)],
  "policy/v1/PodDisruptionBudget": ["kubernetes-models", (data) => new PodDisruptionBudget(data)],
  "v1/PersistentVolumeClaim": ["kubernetes-models", (data) => new PersistentVolumeClaim(data)],
  "v1/Service": ["kubernetes-models", (data) => new Service(data)],
  "keda.sh/v1alpha1/ScaledObject": ["@kubernetes-models/keda", (data) => new ScaledObject(data)],
  "keda.sh/v1alpha1/TriggerAuthentication": ["@kubernetes-models/keda", (data) => new TriggerAuthentication(data)]
}

const kindOf = (document: unknown): string =>
  typeof document === "object" && document !== null && "apiVersion" in document && "kind" in document
    ? `${String(document.apiVersion)}/${String(document.kind)}`
    : "neither apiVersion nor kind"

/** Fields that no schema refuses, since the schemas allow unknown ones: the types do not. */
const unknownFields = (documents: ReadonlyArray<unknown>): string => {
  const folder = mkdtempSync(join(import.meta.dirname, "..", ".generated-"))
  try {
    const imports = [...new Set(documents.map(kindOf))].map((path) => {
      const name = path.split("/").at(-1)
      return `import type { I${name} } from "${kinds[path]?.[0]}/${path}"`
    })
    const values = documents.map(
      (document, index) =>
        `export const x${index}: I${kindOf(document).split("/").at(-1)} = ${JSON.stringify(document, null, 2)}`
    )
    writeFileSync(join(folder, "manifests.ts"), [...imports, ...values].join("\n"))
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"]
    const tsc = join(root, "node_modules", ".bin", "tsc")
    const ran = run(tsc, [...options, "--ignoreConfig", join(folder, "manifests.ts")])
    if (ran === null) throw new Error(`${tsc} cannot be run: install the repository first`)
    return ran.status === 0 ? "" : ran.output
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns what is wrong, in lines; empty when nothing is. */
export const problemsOf = (documents: ReadonlyArray<unknown>): ReadonlyArray<string> => {
  const unknown = documents.map(kindOf).filter((kind) => kinds[kind] === undefined)
  if (unknown.length > 0) return unknown.map((kind) => `no schema is known for ${kind}`)
  const invalid = documents.flatMap((document) => {
    try {
      // A cast to what each takes: whether it is that is what is found out here.
      kinds[kindOf(document)]?.[1](document as never).validate()
      return []
    } catch (error) {
      return [`${kindOf(document)}: ${error instanceof Error ? error.message : String(error)}`]
    }
  })
  const fields = unknownFields(documents)
  return fields === "" ? invalid : [...invalid, fields]
}
