/** Files that their own tools check, where the machine has them. */
import assert from "node:assert/strict"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "node:test"
import { run, textOf } from "./Files.ts"

const missing = (tool: string, args: ReadonlyArray<string>) =>
  run(tool, args) === null ? `this machine has no ${tool}` : false

const inFolder = (use: (folder: string) => void) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-deploy-"))
  try {
    use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("the file of nginx", () => {
  const skip = missing("nginx", ["-v"]) || missing("openssl", ["version"])

  it("is one that nginx takes", { skip }, () =>
    inFolder((folder) => {
      const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")]
      const subject = ["-subj", "/CN=robots.example.com", "-nodes", "-days", "1"]
      const algorithm = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
      const made = run("openssl", ["req", "-x509", ...algorithm, ...subject, "-keyout", key, "-out", certificate])
      assert.equal(made?.status, 0, made?.output)
      mkdirSync(join(folder, "log"))
      const site = textOf("deploy/nginx/signalbox.conf")
        .replace(/ssl_certificate \S+;/, `ssl_certificate ${certificate};`)
        .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${key};`)
        .replaceAll("/var/log/nginx/", `${folder}/log/`)
      writeFileSync(join(folder, "signalbox.conf"), site)
      writeFileSync(
        join(folder, "nginx.conf"),
        `error_log ${folder}/log/error.log;\npid ${folder}/pid;\nevents {}\nhttp { access_log off; include ${folder}/signalbox.conf; }\n`
      )
      const ran = run("nginx", ["-t", "-p", folder, "-c", join(folder, "nginx.conf")])
      assert.equal(ran?.status, 0, ran?.output)
      assert.doesNotMatch(ran?.output ?? "", /\[warn\]/)
    })
  )
})

describe("the file of Caddy", () => {
  it("is one that Caddy takes", { skip: missing("caddy", ["version"]) }, () => {
    const ran = run("caddy", ["validate", "--config", "deploy/caddy/Caddyfile", "--adapter", "caddyfile"])
    assert.equal(ran?.status, 0, ran?.output)
  })
})

describe("the units of systemd", () => {
  const skip = missing("systemd-analyze", ["--version"])

  for (const unit of ["signalbox", "signalbox-worker"]) {
    it(`${unit} is one that systemd takes`, { skip }, () =>
      inFolder((folder) => {
        const command = join(folder, "command")
        writeFileSync(command, "#!/bin/sh\n")
        chmodSync(command, 0o755)
        const path = join(folder, `${unit}.service`)
        writeFileSync(path, textOf(`deploy/systemd/${unit}.service`).replace("/usr/local/bin/signalbox", command))
        const ran = run("systemd-analyze", ["verify", "--man=no", path])
        assert.equal(ran?.status, 0, ran?.output)
        // Of other units of this machine it may say more.
        const ours = (ran?.output ?? "").split("\n").filter((line) => line.includes(`${unit}.service`))
        assert.deepEqual(ours, [])
      })
    )
  }
})
