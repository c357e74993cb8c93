/**
 * What the workflows of this repository may do: what they use is fixed to its content, and no job that installs what others have
 * published may publish.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Yaml from "effect/encoding/Yaml"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "../..")

const Permissions = Schema.Union([Schema.String, Schema.Record(Schema.String, Schema.String)])
const Job = Schema.Struct({
  permissions: Schema.optionalKey(Permissions),
  steps: Schema.Array(
    Schema.Struct({ uses: Schema.optionalKey(Schema.String), run: Schema.optionalKey(Schema.String) })
  )
})
const Workflow = Schema.Struct({
  permissions: Schema.optionalKey(Permissions),
  jobs: Schema.Record(Schema.String, Job)
})
const decode = Schema.decodeUnknownSync(Workflow)

/** What has a lockfile of its own. */
const workspaces = globSync("{.,*,*/*,packages/*/test/{*,slow/*}}/pnpm-workspace.yaml", {
  cwd: root,
  exclude: (name) => name === "node_modules"
}).map((file) => dirname(file))

const files = globSync(".github/workflows/*.y{a,}ml", { cwd: root })
const jobs = files.flatMap((file) => {
  const workflow = decode(Yaml.parse(readFileSync(join(root, file), "utf8")))
  return Object.entries(workflow.jobs).map(([name, job]) => ({
    name: `${file}: ${name}`,
    // Without any, a job has what the settings of the repository say.
    permissions: job.permissions ?? workflow.permissions ?? "write-all",
    commands: job.steps.map(({ run = "" }) => run).join("\n"),
    uses: job.steps.flatMap(({ uses }) => uses ?? [])
  }))
})

const mayPublish = (permissions: (typeof jobs)[number]["permissions"]) =>
  typeof permissions === "string"
    ? permissions === "write-all"
    : ["contents", "id-token", "packages"].some((right) => permissions[right] === "write")

/** Commands that fetch packages, or run what was fetched. */
const installs = (commands: string) =>
  /\b(pnpm|yarn|bun|npx|node_modules)\b|\bnpm (?!publish\b|view\b)|\bnode (?!-p\b)/.test(commands)

describe("the workflows", () => {
  it("are read", () => {
    assert.isAbove(jobs.length, 4)
    assert.isTrue(jobs.some(({ commands }) => installs(commands)))
    assert.isTrue(jobs.some(({ permissions }) => mayPublish(permissions)))
  })

  for (const { commands, name, permissions, uses } of jobs) {
    it(`${name} uses actions by their digest, with the version beside it`, () => {
      for (const action of uses) assert.match(action, /@[0-9a-f]{40}$/)
    })

    it(`${name} does not both install and publish`, () => {
      assert.isFalse(mayPublish(permissions) && installs(commands))
    })

    it(`${name} names the exact version of the package manager`, () => {
      assert.notMatch(commands, /pnpm@(?!\d+\.\d+\.\d+\b)/)
    })
  }

  it("and examples say which version a digest is", () => {
    const shown = [...files, ...globSync(["actions/*/action.yml", "docs/**/*.md", "README.md"], { cwd: root })]
    for (const file of shown) {
      for (const line of readFileSync(join(root, file), "utf8").split("\n")) {
        const used = /^\s*(?:- )?uses: (\S+)(.*)$/.exec(line)
        // Our own are built for a tag that moves with the releases.
        if (used === null || used[1]?.startsWith("signalbox/") === true) continue
        assert.match(`${used[1]}${used[2]}`, /^\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, `${file}: ${line.trim()}`)
      }
    }
  })

  it("look for advisories of everything that is installed, each week", () => {
    const workflow = readFileSync(join(root, ".github/workflows/advisories.yml"), "utf8")
    assert.match(workflow, /cron: "\d+ \d+ \* \* \d"/)
    for (const folder of workspaces.filter((folder) => folder !== ".")) assert.include(workflow, folder)
  })

  it("and machines install versions that are three days old, in every workspace", () => {
    assert.isAbove(workspaces.length, 5)
    for (const folder of workspaces) {
      const settings = readFileSync(join(root, folder, "pnpm-workspace.yaml"), "utf8")
      assert.include(settings, "minimumReleaseAge: 4320", folder)
    }
  })
})
