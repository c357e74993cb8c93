/** Writes the manifests of deploy/kubernetes with Helm: `pnpm --dir test/deploy render`. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { stringify } from "yaml"
import { digestOf, examples, folder, objectsOf, rendered } from "./Chart.ts"
import { root } from "./Files.ts"

const about = {
  "one-node": "A room on SQLite, behind an ingress. Change the image and the names first.",
  "several-nodes": "Three nodes on Postgres, and workers, some scaled by KEDA. Change the images and the names first.",
  bucket: "Three nodes on Postgres, with their files in a bucket. Change the image and the names first."
}

for (const example of examples) {
  const values = `${folder}/examples/${example}.yaml`
  const head = [
    about[example],
    "What it is for, and which secrets it needs, is in docs/operate/kubernetes.md.",
    `Rendered from ${values}; chart ${digestOf(example)}.`
  ]
  // Kubernetes reads YAML 1.1, in which `off` is no text unless it is quoted.
  const documents = [...objectsOf(rendered(values)).values()].map((one) =>
    stringify(one, { lineWidth: 0, version: "1.1" })
  )
  const text = [head.map((line) => `# ${line}\n`).join(""), ...documents].join("---\n")
  writeFileSync(join(root, "deploy/kubernetes", `${example}.yaml`), text)
}
