/** The deployment files that the command writes. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import packageJson from "../package.json" with { type: "json" }
import { deployKinds, stamped } from "../src/internal/files/DeployFiles.ts"
import { signalbox, succeed, temporaryFolder } from "./support/Cli.ts"

const { folder, remove } = temporaryFolder("deploy")
afterAll(remove)

const filesIn = (place: string) =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1))
    .toSorted()

/** A file of each kind that its users look for. */
const some: Readonly<Record<(typeof deployKinds)[number], ReadonlyArray<string>>> = {
  systemd: ["signalbox-worker.service", "signalbox.service"],
  compose: ["Dockerfile", "compose.bucket.yaml", "compose.yaml", "worker/Dockerfile"],
  helm: ["Chart.yaml", "templates/room.yaml", "values.schema.json", "values.yaml"],
  kubernetes: ["bucket.yaml", "one-node.yaml", "several-nodes.yaml"],
  nginx: ["signalbox.conf"],
  caddy: ["Caddyfile"],
  prometheus: ["prometheus.yml", "signalbox.rules.yml"]
}

describe("signalbox deploy files", () => {
  for (const kind of deployKinds) {
    it(`${kind}: writes the files, says which and what is next, and changes nothing the second time`, async () => {
      const out = join(folder, kind)
      const { stdout } = await succeed(["deploy", "files", kind, "--out", out])
      const names = filesIn(out)
      assert.includeMembers(names, [...some[kind]])
      for (const name of names) assert.include(stdout, `wrote ${join(out, name)}\n`)
      assert.match(stdout, new RegExp(`Next:\n  .*${out}`))

      const again = await succeed(["deploy", "files", kind, "--out", out])
      assert.notInclude(again.stdout, "wrote")
      assert.include(again.stdout, `${out} already has these files\n`)
    })
  }

  it("names the version of the command in images, manifests and the chart", async () => {
    const { version } = packageJson
    const read = async (kind: string, name: string) => {
      const out = join(folder, `${kind}-versions`)
      await succeed(["deploy", "files", kind, "--out", out])
      return readFileSync(join(out, name), "utf8")
    }
    for (const name of ["Dockerfile", "worker/Dockerfile"]) {
      assert.include(await read("compose", name), `ARG SIGNALBOX=signalbox@${version}\n`)
    }
    assert.include(await read("helm", "Chart.yaml"), `\nversion: ${version}\n`)
    assert.include(await read("kubernetes", "one-node.yaml"), `registry.example.com/signalbox:${version}\n`)
  })

  it("stamps another version in the same places", () => {
    assert.strictEqual(stamped("ARG SIGNALBOX=signalbox\nRUN x\n", "1.2.3"), "ARG SIGNALBOX=signalbox@1.2.3\nRUN x\n")
    assert.strictEqual(
      stamped("image: registry.example.com/signalbox-worker:0.1.0\n", "1.2.3"),
      "image: registry.example.com/signalbox-worker:1.2.3\n"
    )
    assert.strictEqual(stamped("apiVersion: v2\nversion: 0.1.0\n", "1.2.3"), "apiVersion: v2\nversion: 1.2.3\n")
  })

  it("builds every image of compose.yaml from the folder", async () => {
    const out = join(folder, "images")
    await succeed(["deploy", "files", "compose", "--out", out])
    const builds = [...readFileSync(join(out, "compose.yaml"), "utf8").matchAll(/^ +build: (.*)$/gm)]
    assert.isAtLeast(builds.length, 2)
    for (const [, context = ""] of builds)
      assert.include(readFileSync(join(out, context, "Dockerfile"), "utf8"), "FROM")
  })

  it("refuses to replace a file that was changed and writes nothing, unless it is told to", async () => {
    const out = join(folder, "changed")
    mkdirSync(out)
    writeFileSync(join(out, "signalbox.service"), "mine\n")
    const refused = await signalbox(["deploy", "files", "systemd", "--out", out])
    assert.strictEqual(refused.status, 1)
    assert.match(
      refused.stderr,
      /already has different versions of signalbox\.service; .* --out, or replace the files with --force\n$/
    )
    assert.deepStrictEqual(filesIn(out), ["signalbox.service"])
    assert.strictEqual(readFileSync(join(out, "signalbox.service"), "utf8"), "mine\n")

    const { stdout } = await succeed(["deploy", "files", "systemd", "--out", out, "--force"])
    assert.include(stdout, join(out, "signalbox.service"))
    assert.include(readFileSync(join(out, "signalbox.service"), "utf8"), "ExecStart=")
  })

  it("writes to a folder with the name of the kind, from the bundled command too", async () => {
    const here = join(folder, "here")
    mkdirSync(here)
    const { stdout } = await succeed(["deploy", "files", "nginx"], { cwd: here })
    assert.include(stdout, `wrote ${join("nginx", "signalbox.conf")}\n`)
    assert.deepStrictEqual(filesIn(here), [join("nginx", "signalbox.conf")])
  })

  it("names the folder that cannot be written", async () => {
    const file = join(folder, "file")
    writeFileSync(file, "")
    const { status, stderr } = await signalbox(["deploy", "files", "caddy", "--out", join(file, "below")])
    rmSync(file)
    assert.strictEqual(status, 1)
    assert.match(stderr, /cannot write to .*below: .*; check --out and its permissions\n$/)
  })
})
