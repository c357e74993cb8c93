/**
 * The pages of the site in the order of its navigation. Their texts stand where a code host shows them too: in `docs/` and
 * in the packages.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"

export const root = join(import.meta.dirname, "..", "..")

/** Where what is generated goes, and where the site builder looks for pages. */
export const generated = join(import.meta.dirname, "content", "docs")

export interface Section {
  readonly label: string
  /** Files of the repository, below its root. */
  readonly files: ReadonlyArray<string>
  /** Slugs of pages that are generated, after those. */
  readonly slugs?: ReadonlyArray<string>
  /** Folders of generated pages, by their labels. */
  readonly folders?: Readonly<Record<string, string>>
}

const inDocs = (...names: ReadonlyArray<string>) => names.map((name) => `docs/${name}.md`)

const decisions = readdirSync(join(root, "docs/decisions"))
  .filter((name) => /^\d/.test(name))
  .map((name) => `docs/decisions/${name}`)

/** The packages that people install, the first one first. */
export const packages = [
  "signalbox",
  "api",
  "flows",
  "worker",
  "control-room",
  "console",
  "graph",
  "graph-sandbox",
  "schedule",
  "task-package"
]

export const sections: ReadonlyArray<Section> = [
  {
    label: "Start",
    files: inDocs("README", "start/script", "start/ship", "start/backend", "start/ci", "start/operator", "start/robots")
  },
  { label: "Concepts", files: inDocs("concepts"), slugs: ["states"] },
  {
    label: "Guides",
    files: inDocs(
      "durable-flows",
      "flow-symptoms",
      "errors-and-retries",
      "without-effect",
      "robots",
      "packages",
      "triggers",
      "order-and-pause",
      "failures",
      "alerts",
      "graph"
    )
  },
  {
    label: "Operating",
    files: inDocs(
      "console",
      "operate/deploy",
      "operate/kubernetes",
      "operate/nodes",
      "backup",
      "operate/upgrade",
      "operate/people",
      "operate/providers",
      "secret-fields",
      "operate/keys",
      "operate/watch",
      "operate/capacity",
      "performance",
      "operate/security"
    )
  },
  {
    label: "Reference",
    files: inDocs("compatibility", "compare-clients", "older-interface"),
    folders: { Commands: "reference/commands", Exports: "reference/exports" }
  },
  {
    label: "Coming from",
    files: inDocs(
      "coming-from/hosted",
      "coming-from/uipath",
      "coming-from/openorchestrator",
      "coming-from/temporal",
      "coming-from/dbos",
      "coming-from/restate"
    )
  },
  { label: "Packages", files: packages.map((name) => `packages/${name}/README.md`) },
  { label: "Project", files: [...inDocs("architecture"), ...decisions], slugs: ["changelog"] }
]

/** Where a file of the repository is on the site, without slashes at its ends. */
export const slugOf = (file: string): string =>
  file
    .replace(/^docs\/README\.md$/, "index")
    .replace(/^docs\//, "")
    .replace(/\/README\.md$/, "")
    .replace(/\.md$/, "")
