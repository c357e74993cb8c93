/**
 * The graph, as rclone uses it, where it is installed. It knows no other addresses than those of the service, so a proxy
 * leads them to the sandbox, whose certificate is not for them.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { startHttpProxy } from "@signalbox/testkit/HttpProxy"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { spawnSync } from "node:child_process"
import { Command, patterned } from "../../support/command.ts"

const isInstalled = spawnSync("rclone", ["version"], { stdio: "ignore" }).status === 0
const title = isInstalled
  ? "rclone, against the command"
  : "rclone, against the command (skipped: it is not on the PATH)"

/** A temporary folder, and rclone with two remotes: `drive:` is Ann's, `library:` that of the site. */
const connected = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const { ann, ask, caFile, client_id, client_secret, port } = yield* Command
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "graph-sandbox-rclone-" })
  const proxy = yield* Effect.acquireRelease(
    Effect.promise(() => startHttpProxy({ hosts: { "graph.microsoft.com": port, "login.microsoftonline.com": port } })),
    (proxy) => Effect.promise(() => proxy.close())
  )
  const token = JSON.stringify({
    access_token: ann.accessToken,
    token_type: "Bearer",
    refresh_token: ann.refreshToken,
    expiry: "2999-01-01T00:00:00Z"
  })
  const remote = Effect.fnUntraced(function* (name: string, path: string) {
    const { driveType, id } = (yield* ask(path)).body
    const options = { type: "onedrive", client_id, client_secret, token, drive_id: id, drive_type: driveType }
    return Object.fromEntries(
      Object.entries(options).map(([option, value]) => [`RCLONE_CONFIG_${name}_${option}`.toUpperCase(), String(value)])
    )
  })
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    HTTPS_PROXY: proxy.url,
    // Where it asks how far a copy is, it does not look at its own options.
    SSL_CERT_FILE: caFile,
    ...(yield* remote("drive", "/me/drive")),
    ...(yield* remote("library", "/sites/contoso.sharepoint.test:/sites/team:/drive"))
  }
  const rclone = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const fixed = ["--no-check-certificate", "--retries", "1", "--low-level-retries", "2", "--config", "rclone.conf"]
    return yield* Effect.scoped(
      Effect.gen(function* () {
        const child = yield* ChildProcess.make("rclone", [...args, ...fixed], { cwd: folder, env, stdin: "ignore" })
        const output = yield* Stream.mkString(Stream.decodeText(child.all))
        return { status: Number(yield* child.exitCode), output }
      })
    )
  })
  const run = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const { output, status } = yield* rclone(...args)
    assert.strictEqual(status, 0, `rclone ${args.join(" ")}: ${output}`)
    return output
  })
  const write = (name: string, contents: Uint8Array) => fs.writeFile(paths.join(folder, name), contents)
  const read = (name: string) => fs.readFile(paths.join(folder, name))
  yield* fs.makeDirectory(paths.join(folder, "up"))
  yield* write("rclone.conf", new Uint8Array())
  return { ask, rclone, read, run, write }
}).pipe(Effect.provide(NodeServices.layer))

// It sends its token along with links to contents, which the service itself refuses.
layer(Command.layer("--token-on-files", "ignore", "--rewrite-office"), { excludeTestServices: true })(title, (it) => {
  const effect = isInstalled ? it.effect : it.effect.skip

  effect("lists, uploads, downloads, checks, moves and deletes", () =>
    Effect.gen(function* () {
      const { read, run, write } = yield* connected
      assert.match(yield* run("lsf", "-R", "drive:"), /^Docs\/\nDocs\/a #1%\.txt\n$/)
      yield* write("up/a.txt", Buffer.from("from rclone"))
      yield* write("up/large.bin", patterned(12_000_000))
      yield* run("copy", "up", "drive:Up")
      assert.match(yield* run("check", "up", "drive:Up"), /0 differences found/)
      yield* run("copy", "drive:Up", "down")
      assert.isTrue(Buffer.from(yield* read("down/large.bin")).equals(patterned(12_000_000)))
      yield* run("moveto", "drive:Up/a.txt", "drive:Moved/b.txt")
      yield* run("copyto", "drive:Moved/b.txt", "drive:Moved/c.txt")
      assert.strictEqual(yield* run("lsf", "drive:Moved"), "b.txt\nc.txt\n")
      assert.strictEqual(yield* run("cat", "drive:Moved/c.txt"), "from rclone")
      yield* run("purge", "drive:Moved")
      assert.strictEqual(yield* run("lsf", "--dirs-only", "drive:"), "Docs/\nUp/\n")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  effect("keeps one version of a file, where it is told so", () =>
    Effect.gen(function* () {
      const { ask, run, write } = yield* connected
      for (const contents of ["one", "three", "fiveteen"]) {
        yield* write("up/v.txt", Buffer.from(contents))
        yield* run("copy", "up", "drive:Versions")
      }
      const versions = "/me/drive/root:/Versions/v.txt:/versions"
      assert.lengthOf((yield* ask(versions)).body.value, 3)
      yield* run("cleanup", "drive:Versions")
      assert.lengthOf((yield* ask(versions)).body.value, 1)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  effect("creates a sharing link, which it makes one to the contents", () =>
    Effect.gen(function* () {
      const { ask, run } = yield* connected
      const link = (yield* run("link", "drive:Docs/a #1%.txt")).trim()
      const { body } = yield* ask("/me/drive/root:/Docs/a%20%231%25.txt:/permissions")
      const [, code] = /\/(E[\w-]+\?e=[\w-]+)$/.exec(body.value[1].link.webUrl) ?? []
      const host = "https://my-contoso.sharepoint.test"
      assert.strictEqual(link, `${host}/personal/ann_contoso_test/_layouts/15/download.aspx?share=${code ?? ""}`)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  effect("stumbles over an Office file that a library rewrites, until it ignores size and hash", () =>
    Effect.gen(function* () {
      const { rclone, run, write } = yield* connected
      yield* write("up/a.xlsx", Buffer.from("not really a workbook"))
      const refused = yield* rclone("copy", "up", "library:Office")
      assert.deepInclude(refused, { status: 1 })
      assert.match(refused.output, /corrupted on transfer: (sizes|.* hash)/)
      yield* run("copy", "--ignore-size", "--ignore-checksum", "up", "library:Office")
      assert.strictEqual(yield* run("lsf", "library:Office"), "a.xlsx\n")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
