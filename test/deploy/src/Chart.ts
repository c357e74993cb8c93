/** The chart, and the manifests that are rendered from it. */
import { createHash } from "node:crypto"
import { documentsOf, filesIn, run, textOf } from "./Files.ts"

export const folder = "deploy/helm/signalbox"

export const examples = ["one-node", "several-nodes", "bucket"] as const

/** Of everything that a rendering depends on, so that it is noticed where there is no Helm. */
export const digestOf = (example: string): string => {
  const paths = filesIn(folder).filter((path) => !path.includes("/examples/"))
  const hash = createHash("sha256")
  for (const path of [...paths.sort(), `${folder}/examples/${example}.yaml`]) hash.update(`${path}\n${textOf(path)}`)
  return hash.digest("hex").slice(0, 16)
}

/** Whether this machine has Helm 3 or later. */
export const hasHelm = run("helm", ["version", "--short"])?.status === 0

/** What Helm renders, as text. */
export const rendered = (values: string): string => {
  const ran = run("helm", ["template", "signalbox", folder, "--values", values])
  if (ran === null || ran.status !== 0) throw new Error(ran?.output ?? "helm cannot be run: install it")
  return ran.output
}

const nameOf = (document: unknown) => {
  const { kind, metadata } = document as { readonly kind: string; readonly metadata: { readonly name: string } }
  return `${kind}/${metadata.name}`
}

/** Objects by their kinds and names: their order is of no matter. */
export const objectsOf = (text: string): ReadonlyMap<string, unknown> =>
  new Map(
    documentsOf(text)
      .map((document) => [nameOf(document), document] as const)
      .toSorted(([a], [b]) => a.localeCompare(b))
  )
