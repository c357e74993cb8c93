import { assert, layer as withLayer } from "@effect/vitest"
import * as Audit from "@signalbox/api/Audit"
import * as Secrets from "@signalbox/api/Secrets"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Zip from "effect/encoding/Zip"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { UploadCompletion } from "../../src/internal/transfers/UploadCompletion.ts"
import { TargetGuard } from "../../src/internal/delivery/TargetGuard.ts"
import { Git, GitLimits } from "../../src/internal/git/Git.ts"
import { GitPackages } from "../../src/internal/git/GitPackages.ts"
import { TaskPackages as Store } from "../../src/internal/store/packages/TaskPackages.ts"
import { gitServer } from "@signalbox/testkit/GitServer"
import { bodyAs, errorOf, multipart, send } from "../support/Http.ts"
import { layer, movedBy, Service } from "../support/Service.ts"

const open = TargetGuard.layerOf(true)

/** The same code as in the service, polled when the test decides. */
const gitPackages = (guard: Layer.Layer<TargetGuard>, limits?: Context.Service.Shape<typeof GitLimits>) =>
  Layer.fresh(GitPackages.layer).pipe(
    Layer.provide(Layer.fresh(Git.layer)),
    Layer.provide(limits === undefined ? Layer.empty : Layer.succeed(GitLimits, limits)),
    Layer.provide(UploadCompletion.layer),
    Layer.provide(guard)
  )

class Repositories extends Context.Service<Repositories, Effect.Success<typeof gitServer>>()("test/Repositories") {
  static readonly layer = Layer.effect(Repositories, gitServer)
}

const world = Layer.merge(gitPackages(open), Repositories.layer).pipe(Layer.provideMerge(layer))

/** A poll as if this many minutes had passed. */
const lookIn = Effect.fnUntraced(function* (minutes: number) {
  const clock = yield* Clock.Clock
  const { tick } = yield* GitPackages
  yield* Effect.provideService(tick, Clock.Clock, movedBy(clock, minutes * 60_000))
})

const tasksOf = (id: TaskPackages.TaskPackage["id"]) =>
  Effect.map(TaskPackages.get(id), ({ tasks }) => tasks.map(({ name }) => name))

const namesIn = (id: TaskPackages.TaskPackage["id"]) =>
  TaskPackages.download(id).pipe(
    Stream.pipeThroughChannel(Zip.decode()),
    Stream.map(({ header }) => header.path),
    Stream.runCollect
  )

const withRobot = (...tasks: ReadonlyArray<string>) => ({ "robot.yaml": robotYaml(...tasks), "tasks.py": "print(1)\n" })

withLayer(world, { excludeTestServices: true, timeout: "4 minutes" })("task packages from git", (it) => {
  it.effect("follow their branch: a poll deploys what was pushed, also by force, and otherwise changes nothing", () =>
    Effect.gen(function* () {
      const { repository } = yield* Repositories
      const repo = repository("followed", { files: withRobot("One") })
      const { id } = yield* TaskPackages.create("followed")
      const answer = yield* TaskPackages.configureGit(id, "github", {
        mode: "attached",
        branch: "main",
        automatic_deployment: true,
        repository: repo.url
      })
      assert.deepStrictEqual(answer, { id, name: "followed", type: "github" })
      const made = yield* TaskPackages.get(id)
      assert.deepStrictEqual(made.tasks, [{ name: "One" }])
      const first = repo.git("rev-parse", "HEAD")
      assert.deepStrictEqual(
        { ...made.git, fetched_at: "" },
        {
          repository: repo.url,
          directory: null,
          credentials_secret: null,
          mode: "attached",
          reference: "main",
          automatic_deployment: true,
          commit: first,
          fetched_at: "",
          error: null
        }
      )
      assert.deepStrictEqual([...(yield* namesIn(id))], ["robot.yaml", "tasks.py"])

      const second = repo.commit({ files: withRobot("Two") })
      yield* lookIn(0)
      assert.deepStrictEqual(yield* tasksOf(id), ["One"])
      yield* lookIn(1.1)
      assert.deepStrictEqual(yield* tasksOf(id), ["Two"])
      assert.strictEqual((yield* TaskPackages.get(id)).git?.commit, second)

      repo.commit({ after: first, files: withRobot("Forced") })
      yield* lookIn(2.2)
      assert.deepStrictEqual(yield* tasksOf(id), ["Forced"])

      repo.commit({ files: { "robot.yaml": "tasks: {}\n" } })
      yield* lookIn(3.3)
      const kept = yield* TaskPackages.get(id)
      assert.deepStrictEqual(kept.tasks, [{ name: "Forced" }])
      assert.match(kept.git?.error?.message ?? "", /are not a task package: robot\.yaml has no task/)
      assert.isNotEmpty(yield* Stream.mkUint8Array(TaskPackages.download(id)))

      repo.git("push", "--quiet", "origin", "--delete", "main")
      yield* lookIn(4.4)
      assert.match((yield* TaskPackages.get(id)).git?.error?.message ?? "", /no branch "main"/)

      repo.commit({ files: withRobot("Back") })
      yield* lookIn(5.5)
      const back = yield* TaskPackages.get(id)
      assert.deepStrictEqual([back.tasks, back.git?.error], [[{ name: "Back" }], null])
    })
  )

  it.effect("stay rolled back until a commit brings other content", () =>
    Effect.gen(function* () {
      const { repository } = yield* Repositories
      const inFolder = (task: string) => ({ "robot/robot.yaml": robotYaml(task) })
      const repo = repository("rolled", { files: inFolder("Good") })
      const first = repo.git("rev-parse", "HEAD")
      const { id } = yield* TaskPackages.create("rolled")
      const configuration = {
        mode: "attached",
        branch: "main",
        automatic_deployment: true,
        repository: repo.url,
        directory: "robot"
      } as const
      yield* TaskPackages.configureGit(id, "github", configuration)
      const bad = repo.commit({ files: inFolder("Bad") })
      yield* lookIn(1.1)
      assert.deepStrictEqual(yield* tasksOf(id), ["Bad"])
      const [newest, oldest] = (yield* TaskPackages.listVersions(id)).data
      const author = repo.git("show", "--no-patch", "--format=%an", bad)
      const note = repo.git("show", "--no-patch", "--format=%s", bad)
      assert.deepInclude(newest, { version: 2, created_by: { type: "commit", id: bad, name: author }, note })
      assert.strictEqual(oldest?.created_by?.id, first)

      yield* TaskPackages.rollback(id)
      yield* lookIn(2.2)
      assert.deepStrictEqual(yield* tasksOf(id), ["Good"])
      const elsewhere = repo.commit({ files: { "README.md": "another folder" } })
      yield* lookIn(3.3)
      const held = yield* TaskPackages.get(id)
      assert.deepStrictEqual(held.tasks, [{ name: "Good" }])
      assert.strictEqual(held.git?.commit, elsewhere)
      assert.deepInclude(held.current, { version: 1, newest: 2 })

      repo.commit({ files: inFolder("Mended") })
      yield* lookIn(4.4)
      assert.deepStrictEqual(yield* tasksOf(id), ["Mended"])
      assert.deepInclude((yield* TaskPackages.get(id)).current, { version: 3, newest: 3 })
      // Who asks for it gets it, whatever was rolled back.
      yield* TaskPackages.rollback(id)
      assert.deepStrictEqual(yield* tasksOf(id), ["Good"])
      yield* TaskPackages.configureGit(id, "github", configuration)
      assert.deepStrictEqual(yield* tasksOf(id), ["Mended"])
      assert.deepInclude((yield* TaskPackages.get(id)).current, { version: 4, newest: 4 })
    })
  )

  it.effect("are polled once a minute by one of many nodes", () =>
    Effect.gen(function* () {
      const { repository, requests } = yield* Repositories
      const repo = repository("shared", { files: withRobot("One") })
      const { id } = yield* TaskPackages.create("shared")
      const configuration = {
        mode: "attached",
        branch: "main",
        automatic_deployment: true,
        repository: repo.url
      } as const
      yield* TaskPackages.configureGit(id, "gitlab", configuration)
      repo.commit({ files: withRobot("Two") })
      const node = Effect.scoped(
        Effect.flatMap(Layer.build(gitPackages(open)), (context) => Effect.provideContext(lookIn(1.1), context))
      )
      requests.length = 0
      yield* Effect.all([node, node, node], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* tasksOf(id), ["Two"])
      // One request to detect the new commit, one to find it and one to fetch it.
      const conversations = requests.filter((line) => line.includes("/shared.git/info/refs"))
      assert.strictEqual(conversations.length, 3)
    })
  )

  it.effect("stay at their reference when they do not follow", () =>
    Effect.gen(function* () {
      const { repository } = yield* Repositories
      const repo = repository("told", { files: withRobot("First") })
      const first = repo.git("rev-parse", "HEAD")
      repo.git("tag", "--annotate", "--message=release", "v1")
      repo.git("push", "--quiet", "origin", "v1")
      const second = repo.commit({ files: withRobot("Second") })
      const { id } = yield* TaskPackages.create("told")
      const detached = Effect.fnUntraced(function* (reference: string) {
        yield* TaskPackages.configureGit(id, "gitlab", { mode: "detached", reference, repository: repo.url })
        const { git, tasks } = yield* TaskPackages.get(id)
        return [tasks[0]?.name, git?.commit, git?.reference]
      })
      assert.deepStrictEqual(yield* detached("v1"), ["First", first, "v1"])
      assert.deepStrictEqual(yield* detached("main"), ["Second", second, "main"])
      assert.deepStrictEqual(yield* detached(first), ["First", first, first])
      // Fetching takes long, so the entry is written with what it has fetched, not around both.
      const { data } = yield* Audit.list({ resource: id, action: "configureTaskPackage" })
      assert.lengthOf(data, 3)
      const configuration = { mode: "detached", reference: first, repository: repo.url }
      const after = data[0]?.changes.find(({ field }) => field === "configuration")?.after
      assert.deepStrictEqual(after, configuration)
      // A password given once is stored.
      yield* TaskPackages.configureGit(id, "gitlab", { mode: "attached", branch: "main", automatic_deployment: false })
      assert.deepStrictEqual(yield* tasksOf(id), ["Second"])
      repo.commit({ files: withRobot("Third") })
      yield* lookIn(100)
      assert.deepStrictEqual(yield* tasksOf(id), ["Second"])
      yield* TaskPackages.configureGit(id, "gitlab", { mode: "attached", branch: "main", automatic_deployment: false })
      assert.deepStrictEqual(yield* tasksOf(id), ["Third"])
    })
  )

  it.effect("take a folder of the repository, with the modes of programs and without submodules", () =>
    Effect.gen(function* () {
      const { origin, repository } = yield* Repositories
      const repo = repository("folder", { files: { "README.md": "x", "robots/a/run.sh": "#!/bin/sh\n" } })
      const long = `${"deep/".repeat(30)}é ${"x".repeat(120)}.txt`
      for (const [name, content] of Object.entries({ ...withRobot("Deep"), [long]: "x" })) {
        repo.commit({ files: { [`robots/a/${name}`]: content } })
      }
      repo.commit({ files: { "robots/a/.gitmodules": `[submodule "sub"]\n\tpath = sub\n\turl = ${origin}/sub.git\n` } })
      const sub = repo.git("rev-parse", "HEAD")
      repo.git("update-index", "--add", "--cacheinfo", `160000,${sub},robots/a/sub`)
      repo.git("commit", "--quiet", "--message=sub")
      repo.git("push", "--quiet", "origin", "HEAD:main")
      const { id } = yield* TaskPackages.create("folder")
      const configuration = {
        mode: "detached",
        reference: "main",
        repository: repo.url,
        directory: "robots/a"
      } as const
      yield* TaskPackages.configureGit(id, "github", configuration)
      assert.deepStrictEqual(
        [...(yield* namesIn(id))].sort(),
        [".gitmodules", long, "robot.yaml", "run.sh", "tasks.py"].sort()
      )
      const zip = yield* Stream.mkUint8Array(TaskPackages.download(id))
      const listed = Buffer.from(zip).lastIndexOf("run.sh") - 46
      assert.strictEqual(Buffer.from(zip).readUInt32LE(listed + 38) >>> 16, 0o100755)
      // The same files give the same bytes, whatever their commit.
      repo.commit({ files: { "README.md": "y" } })
      yield* TaskPackages.configureGit(id, "github", configuration)
      assert.deepStrictEqual(yield* Stream.mkUint8Array(TaskPackages.download(id)), zip)
    })
  )

  it.effect("refuse what cannot be read, say why, and change nothing", () =>
    Effect.gen(function* () {
      const { raw, rows, blobs } = yield* Service
      const { origin, repository } = yield* Repositories
      const repo = repository("bad", { files: { "no/robot.txt": "x", "file.txt": "x" } })
      repo.commit({ branch: "linked", files: withRobot("A"), links: { secret: "/etc/passwd" } })
      const { id } = yield* TaskPackages.create("bad")
      const configure = (configuration: object) =>
        raw("POST", `task-packages/${id}`, { json: { type: "github", configuration } })
      const detached = { mode: "detached", reference: "main", repository: repo.url }
      const attached = { mode: "attached", branch: "main", automatic_deployment: true, repository: repo.url }
      const cases: ReadonlyArray<readonly [number, object, RegExp]> = [
        [400, { ...detached, repository: undefined }, /configuration\.repository: .*first fetch/],
        [400, { ...detached, repository: "ssh://git@example.com/a/b" }, /repository/],
        [400, { ...detached, repository: "https://user:hush@example.com/a" }, /repository/],
        [400, { ...detached, repository: "file:///etc" }, /repository/],
        [400, { ...detached, repository: "ext::sh -c id" }, /repository/],
        [400, { ...detached, reference: "--upload-pack=id" }, /reference/],
        [400, { ...detached, reference: "a:b" }, /reference/],
        [400, { ...attached, branch: "a..b" }, /branch/],
        [400, { ...attached, branch: "*" }, /branch/],
        [400, { ...detached, directory: "../up" }, /directory/],
        [
          404,
          { ...detached, credentials_secret: "nobody" },
          /configuration\.credentials_secret: this workspace has no secret "nobody"/
        ],
        [409, detached, /are not a task package: robot\.yaml is missing at the root of the zip/],
        [409, { ...detached, directory: "nowhere" }, /directory: the commit [0-9a-f]{40} has no folder "nowhere"/],
        [409, { ...detached, directory: "file.txt" }, /no folder "file\.txt"/],
        [409, { ...detached, reference: "linked" }, /"secret" in the repository is a link/],
        [409, { ...detached, reference: "nothing" }, /no branch, tag or full commit hash "nothing"/],
        [409, { ...detached, reference: "0".repeat(39) + "1" }, /no such commit/],
        [409, { ...attached, branch: "gone" }, /no branch "gone"/],
        [409, { ...detached, repository: `${origin}/nobody.git` }, /no repository exists at this address/],
        [409, { ...detached, repository: "http://127.0.0.1:1/a.git" }, /cannot be reached/],
        [409, { ...detached, repository: "http://nowhere.invalid/a.git" }, /host of the repository cannot be found/]
      ]
      // Other packages may be due for a poll of the service itself, which records its time.
      const state = Effect.gen(function* () {
        const { task_package = [], ...others } = yield* rows
        const ours = task_package.filter((row) => JSON.stringify(row).includes(id))
        assert.lengthOf(ours, 1)
        return { ours, others, blobs: yield* blobs }
      })
      const before = yield* state
      for (const [status, configuration, says] of cases) {
        const answer = yield* configure(configuration)
        assert.strictEqual(answer.status, status, `${JSON.stringify(configuration)}: ${answer.text}`)
        assert.match(errorOf(answer).message, says)
        assert.notInclude(answer.text, "hush")
      }
      assert.deepStrictEqual(yield* state, before)
    })
  )

  it.effect("read private repositories with a secret, which is never shown", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { intercept, repository } = yield* Repositories
      const repo = repository("private", { files: withRobot("Private") })
      const password = "hush-hush-4711"
      const accepted = `Basic ${Buffer.from(`robot:${password}`).toString("base64")}`
      const commands: Array<string> = []
      intercept((request, response) => {
        if (request.url?.startsWith("/private.git") !== true) return false
        commands.push(execFileSync("ps", ["-axo", "args"], { encoding: "utf8" }))
        if (request.headers.authorization === accepted) return false
        response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end(`no: ${request.headers.authorization}`)
        return true
      })
      const { id } = yield* TaskPackages.create("private")
      const configure = Effect.fnUntraced(function* (credentials_secret: string | null) {
        const configuration = { mode: "detached", reference: "main", repository: repo.url, credentials_secret }
        return yield* raw("POST", `task-packages/${id}`, { json: { type: "gitlab", configuration } })
      })
      const hosts = [new URL(repo.url).hostname]
      yield* Secrets.put("right", { items: { username: "robot", password }, hosts })
      yield* Secrets.put("wrong", { items: { password: `${password}!` }, hosts })
      yield* Secrets.put("empty", { items: { token: password }, hosts })
      for (const [secret, says] of [
        [null, /refuses access; check the items/],
        ["wrong", /refuses access; check the items/],
        ["empty", /"empty" needs the item `password`/]
      ] as const) {
        const answer = yield* configure(secret)
        assert.strictEqual(answer.status, 409, answer.text)
        assert.match(errorOf(answer).message, says)
        assert.notInclude(answer.text, password)
      }
      const answer = yield* configure("right")
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(yield* tasksOf(id), ["Private"])
      assert.isTrue(commands.some((list) => list.includes("ls-remote")))
      for (const text of [...commands, (yield* raw("GET", `task-packages/${id}`)).text]) {
        for (const hidden of [password, accepted.slice(6)]) assert.notInclude(text, hidden)
      }
    })
  )

  it.effect("send a secret only where it says, and only for a key that may read it", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const { intercept, repository } = yield* Repositories
      const repo = repository("guarded", { files: withRobot("Guarded") })
      const sent: Array<string | undefined> = []
      intercept((request) => {
        sent.push(request.headers.authorization)
        return false
      })
      const { id } = yield* TaskPackages.create("sends a secret")
      const writes = yield* makeKey(["Tasks.write_task_packages"])
      const at = (key: string | undefined, more: object) => {
        const configuration = { mode: "detached", reference: "main", ...more }
        const json = { type: "gitlab", configuration }
        return raw("POST", `task-packages/${id}`, key === undefined ? { json } : { json, key })
      }
      yield* Secrets.put("elsewhere", { items: { password: "hush" }, hosts: ["git.example.com"] })
      const host = new URL(repo.url).hostname
      const named = { repository: repo.url, credentials_secret: "elsewhere" }
      const refused = yield* at(writes, named)
      assert.strictEqual(refused.status, 403, refused.text)
      assert.include(errorOf(refused).message, "Vault.read_secret_values")
      const notFor = yield* at(undefined, named)
      assert.strictEqual(notFor.status, 409, notFor.text)
      assert.include(errorOf(notFor).message, `the secret "elsewhere" must not be sent to ${host}`)
      assert.deepStrictEqual(sent, [])
      yield* Secrets.put("elsewhere", { items: { password: "hush" }, hosts: ["git.example.com", host] })
      assert.strictEqual((yield* at(undefined, named)).status, 200)
      assert.isNotEmpty(sent.filter(Boolean))
      // What is sent already is sent on; to another repository of the server it would be sent anew.
      assert.strictEqual((yield* at(writes, {})).status, 200)
      const other = repository("other", { files: withRobot("Other") })
      assert.strictEqual((yield* at(writes, { repository: other.url })).status, 403)
    })
  )

  it.effect("are refused while they are packed when they have files of zeros, however git stores them", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { repository } = yield* Repositories
      const megabyte = 1024 * 1024
      const zeros = (megabytes: number, end = "") => {
        const bytes = new Uint8Array(megabytes * megabyte)
        bytes.set(Buffer.from(end), bytes.length - end.length)
        return bytes
      }
      const kinds = {
        one: { "a/zeros": zeros(110) },
        sixfold: Object.fromEntries([1, 2, 3, 4, 5, 6].map((index) => [`a/${index}`, zeros(49)])),
        "near-copies": Object.fromEntries([1, 2, 3, 4].map((index) => [`a/${index}`, zeros(20, `copy ${index}`)]))
      }
      const { id } = yield* TaskPackages.create("hollow")
      for (const [kind, files] of Object.entries(kinds)) {
        const inFolder = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`f/${name}`, bytes]))
        const { url } = repository(kind, {
          files: {
            ...withRobot("A"),
            ...files,
            ...inFolder,
            "f/robot.yaml": robotYaml("A"),
            "p/robot.yaml": robotYaml("B")
          },
          // The end of the archive, which is a refusal of its own, is never reached.
          links: { zz: "/etc/passwd", "f/zz": "/etc/passwd" }
        })
        const at = (more: object) =>
          raw("POST", `task-packages/${id}`, {
            json: { type: "github", configuration: { mode: "detached", reference: "main", repository: url, ...more } }
          })
        for (const directory of [null, "f"]) {
          const refused = yield* at({ directory })
          assert.strictEqual(refused.status, 409, refused.text)
          assert.match(refused.text, /files of the repository that compress to less than a 200th have more than/, kind)
        }
        // Elsewhere in the repository they do no harm.
        const taken = yield* at({ directory: "p" })
        assert.strictEqual(taken.status, 200, taken.text)
      }
    })
  )

  it.effect("leave no folder behind, whether they are taken or refused", () =>
    Effect.gen(function* () {
      const { folder, raw } = yield* Service
      const { repository } = yield* Repositories
      const cases = [
        [200, { files: withRobot("A") }],
        [409, { files: withRobot("A"), links: { secret: "/etc/passwd" } }],
        [409, { files: { ...withRobot("A"), "a\\b": "x" } }],
        [409, { files: { "file.txt": "x" } }]
      ] as const
      const temporary = join(folder, "temporary")
      mkdirSync(temporary)
      const configure = Effect.forEach(cases, ([status, first], index) =>
        Effect.gen(function* () {
          const { url } = repository(`left-${index}`, first)
          const { id } = yield* TaskPackages.create(`left ${index}`)
          const configuration = { mode: "detached", reference: "main", repository: url }
          const answer = yield* raw("POST", `task-packages/${id}`, { json: { type: "github", configuration } })
          assert.strictEqual(answer.status, status, answer.text)
          assert.deepStrictEqual(readdirSync(temporary), [])
        })
      )
      yield* Effect.acquireUseRelease(
        Effect.sync(() => {
          const before = process.env["TMPDIR"]
          process.env["TMPDIR"] = temporary
          return before
        }),
        () => configure,
        (before) =>
          Effect.sync(() => {
            if (before === undefined) delete process.env["TMPDIR"]
            else process.env["TMPDIR"] = before
          })
      )
    })
  )

  it.effect("follow no redirect, so that no other host is asked", () =>
    Effect.gen(function* () {
      const { intercept } = yield* Repositories
      const other = yield* gitServer
      other.repository("elsewhere", { files: withRobot("Elsewhere") })
      intercept((request, response) => {
        if (request.url?.startsWith("/moved.git") !== true) return false
        response.writeHead(302, { location: `${other.origin}${request.url.replace("moved", "elsewhere")}` }).end()
        return true
      })
      const { origin } = yield* Repositories
      const { id } = yield* TaskPackages.create("moved")
      const configuration = { mode: "detached", reference: "main", repository: `${origin}/moved.git` } as const
      const refused = yield* Effect.flip(TaskPackages.configureGit(id, "github", configuration))
      assert.strictEqual(refused._tag, "Conflict")
      assert.match(refused.message, /redirects are not followed; set `repository`/)
      assert.deepStrictEqual(other.requests, [])
    })
  )

  it.effect("are not taken from this machine or a private network, unless that is allowed", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* Service
      const { requests } = yield* Repositories
      const { id } = yield* TaskPackages.create("guarded")
      const stored = yield* Effect.flatMap(Store, (store) => store.get(workspaceId, id))
      if (stored === null) return assert.fail("no package")
      requests.length = 0
      const { port } = new URL((yield* Repositories).origin)
      for (const host of ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "2130706433", "169.254.169.254"]) {
        const repository = `http://${host}:${port}/followed.git`
        const refused = yield* Effect.flatMap(GitPackages, ({ configure }) =>
          Effect.flip(configure(stored, "github", { mode: "detached", reference: "main", repository }))
        ).pipe(Effect.provide(gitPackages(TargetGuard.layerOf(false))))
        assert.strictEqual(refused.code, "INVALID_REQUEST")
        assert.match(
          refused.message,
          /configuration\.repository: the address is .*, to which this service sends no requests/
        )
      }
      assert.deepStrictEqual(requests, [])
    })
  )

  it.effect("are fetched from the address that was checked, whatever the name is by then", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* Service
      const { origin, repository } = yield* Repositories
      repository("named", { files: withRobot("Named") })
      const { id } = yield* TaskPackages.create("named")
      const stored = yield* Effect.flatMap(Store, (store) => store.get(workspaceId, id))
      if (stored === null) return assert.fail("no package")
      // No resolver knows this name but the one of the guard.
      const guard = Layer.succeed(TargetGuard, {
        refuses: () => null,
        lookup: (_host, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }])
      })
      yield* Effect.flatMap(GitPackages, ({ configure }) =>
        configure(stored, "github", {
          mode: "detached",
          reference: "main",
          repository: `http://git.invalid:${new URL(origin).port}/named.git`
        })
      ).pipe(Effect.provide(gitPackages(guard)))
      assert.deepStrictEqual(yield* tasksOf(id), ["Named"])
    })
  )

  it.effect("end a repository that is too large, or that never comes", () =>
    Effect.gen(function* () {
      const { workspaceId, blobs } = yield* Service
      const { intercept, origin, repository } = yield* Repositories
      const repo = repository("huge", { files: { ...withRobot("Huge"), big: randomBytes(8 * 1024 * 1024) } })
      const hungUp = yield* Effect.sync(() => Promise.withResolvers<void>())
      intercept((request) => {
        if (request.url?.startsWith("/hangs.git") !== true) return false
        request.socket.once("close", () => hungUp.resolve())
        return true
      })
      const { id } = yield* TaskPackages.create("huge")
      const stored = yield* Effect.flatMap(Store, (store) => store.get(workspaceId, id))
      if (stored === null) return assert.fail("no package")
      const refused = (repository: string, limits: Context.Service.Shape<typeof GitLimits>) =>
        Effect.flatMap(GitPackages, ({ configure }) =>
          Effect.flip(configure(stored, "github", { mode: "detached", reference: "main", repository }))
        ).pipe(Effect.provide(gitPackages(open, limits)))
      const before = yield* blobs
      const large = yield* refused(repo.url, { bytes: 1024 * 1024, time: "1 minute" })
      assert.match(large.message, /more than the 1048576 bytes/)
      const late = yield* refused(`${origin}/hangs.git`, { bytes: 1024 * 1024, time: "1 second" })
      assert.match(late.message, /could not be read within 1s/)
      // Git was killed, and its connection closed.
      yield* Effect.promise(() => hungUp.promise)
      assert.deepStrictEqual(yield* blobs, before)
    })
  )

  it.effect("need git on the machine, and report it missing", () =>
    Effect.gen(function* () {
      const { workspaceId, folder } = yield* Service
      const { origin } = yield* Repositories
      const { id } = yield* TaskPackages.create("no git")
      const stored = yield* Effect.flatMap(Store, (store) => store.get(workspaceId, id))
      if (stored === null) return assert.fail("no package")
      const refused = Effect.flatMap(GitPackages, ({ configure }) =>
        Effect.flip(configure(stored, "github", { mode: "detached", reference: "main", repository: `${origin}/a.git` }))
      ).pipe(Effect.provide(gitPackages(open, { bytes: 1, time: "1 minute" })))
      const withPath = (path: string) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const before = process.env["PATH"]
            process.env["PATH"] = path
            return before
          }),
          () => refused,
          (before) => Effect.sync(() => (process.env["PATH"] = before))
        )
      assert.match((yield* withPath(folder)).message, /git cannot be run .*; install git 2\.37 or newer/)
      writeFileSync(join(folder, "git"), "#!/bin/sh\necho git version 2.36.9\n", { mode: 0o755 })
      const old = yield* withPath(`${folder}:/bin:/usr/bin`)
      assert.strictEqual(old.code, "CONFLICT")
      assert.match(old.message, /git 2\.36 is too old on the machine of the control room; install git 2\.37/)
    })
  )

  it.effect("take no upload, not even one whose form is older than the repository", () =>
    Effect.gen(function* () {
      const { origin, raw } = yield* Service
      const { repository } = yield* Repositories
      const repo = repository("either", { files: withRobot("Git") })
      const { id } = yield* TaskPackages.create("either")
      const Form = Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })
      const { form_data, url } = bodyAs(Form, yield* raw("GET", `task-packages/${id}/upload`))
      yield* TaskPackages.configureGit(id, "github", { mode: "detached", reference: "main", repository: repo.url })
      const refused = yield* raw("GET", `task-packages/${id}/upload`)
      assert.strictEqual(refused.status, 409)
      assert.match(errorOf(refused).message, /takes its content from a git repository/)
      const fields = Object.entries(form_data).map(([name, value]) => ({ name, value }))
      const file = { name: "file", filename: "p.zip", value: yield* zipOf(withRobot("Zip")) }
      const answer = yield* send(origin, "POST", url.slice(origin.length), multipart([...fields, file]))
      assert.strictEqual(answer.status, 409, answer.text)
      assert.deepStrictEqual(yield* tasksOf(id), ["Git"])
      yield* TaskPackages.remove(id)
    })
  )
})
