/**
 * What `signalbox deploy files` writes: the files of the repository but for their versions, so that the other checks hold for them, and
 * where there is a version, by the tools again.
 */
import dockerfile from "dockerfile-utils"
import assert from "node:assert/strict"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, it } from "node:test"
import { hasHelm } from "./Chart.ts"
import { documentsOf, filesIn, missing, root, run, textOf } from "./Files.ts"
import { problemsOf } from "./Manifests.ts"

/** The kinds, and the folders of the repository that they are copies of. */
const kinds = {
  systemd: "deploy/systemd",
  compose: "deploy/container",
  helm: "deploy/helm/signalbox",
  kubernetes: "deploy/kubernetes",
  nginx: "deploy/nginx",
  caddy: "deploy/caddy",
  prometheus: "deploy/prometheus"
}

const folder = mkdtempSync(join(tmpdir(), "signalbox-written-"))
after(() => rmSync(folder, { recursive: true, force: true }))

const { version }: { readonly version: string } = JSON.parse(textOf("packages/signalbox/package.json"))
const bin = join(root, "packages/signalbox/src/bin.ts")
for (const kind of Object.keys(kinds)) {
  const ran = run(process.execPath, [bin, "deploy", "files", kind, "--out", join(folder, kind)])
  assert.equal(ran?.status, 0, ran?.output)
}
const written = (path: string) => readFileSync(join(folder, path), "utf8")
const writtenIn = (kind: string) =>
  readdirSync(join(folder, kind), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

describe("the files that the command writes", () => {
  it("are all of deploy but the dashboard of Grafana, each once", () => {
    const copied = Object.entries(kinds).flatMap(([kind, source]) =>
      writtenIn(kind).map((path) => path.replace(kind, source))
    )
    const expected = filesIn("deploy").filter((path) => !path.startsWith("deploy/grafana/"))
    assert.deepEqual(copied.toSorted(), expected.toSorted())
  })

  it("are those of the repository but for their versions", () => {
    const bare = (text: string) => text.replace(/@?\d+\.\d+\.\d+\S*$/gm, "")
    for (const [kind, source] of Object.entries(kinds)) {
      for (const path of writtenIn(kind)) {
        assert.equal(bare(written(path)), bare(textOf(path.replace(kind, source))), path)
      }
    }
  })

  for (const path of ["compose/Dockerfile", "compose/worker/Dockerfile"]) {
    it(`${path} has no instruction that is wrong, and installs this version`, () => {
      assert.deepEqual(dockerfile.validate(written(path)), [])
      assert.match(written(path), new RegExp(`^ARG SIGNALBOX=signalbox@${version.replaceAll(".", "\\.")}$`, "m"))
    })
  }

  it("are manifests that fit the schemas of their kinds", () => {
    for (const path of writtenIn("kubernetes")) assert.deepEqual(problemsOf(documentsOf(written(path))), [], path)
  })

  it("are a chart that Helm takes", { skip: hasHelm ? false : "this machine has no Helm" }, () => {
    const ran = run("helm", ["lint", join(folder, "helm"), "--values", join(folder, "helm/examples/one-node.yaml")])
    assert.equal(ran?.status, 0, ran?.output)
  })

  it("are rules that Prometheus takes", { skip: missing("promtool") }, () => {
    const ran = run("promtool", ["check", "config", join(folder, "prometheus/prometheus.yml")])
    assert.equal(ran?.status, 0, ran?.output)
  })
})
