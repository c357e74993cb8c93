/**
 * Git repositories behind a real HTTP server: git's own CGI program does the work.
 */
import * as Effect from "effect/Effect"
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

const environment = {
  PATH: process.env["PATH"],
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.com"
}

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", args, { cwd, env: environment, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim()

export interface Change {
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  readonly links?: Readonly<Record<string, string>>
  readonly branch?: string
  /** Its parent commit; default: the last of the branch. */
  readonly after?: string
}

const backend = (root: string, request: IncomingMessage, response: ServerResponse) => {
  const url = new URL(request.url ?? "/", "http://host")
  const child = spawn("git", ["http-backend"], {
    env: {
      ...environment,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"],
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? "")
    }
  })
  request.pipe(child.stdin)
  child.stdin.on("error", () => undefined)
  let head: Buffer | null = Buffer.alloc(0)
  child.stdout.on("data", (chunk: Buffer) => {
    if (head === null) return response.write(chunk)
    head = Buffer.concat([head, chunk])
    const end = head.indexOf("\r\n\r\n")
    if (end === -1) return
    const headers = head
      .toString("latin1", 0, end)
      .split("\r\n")
      .map((line) => /^([^:]+): *(.*)$/.exec(line)?.slice(1) ?? [])
    for (const [name = "", value = ""] of headers) {
      if (name === "Status") response.statusCode = Number(value.slice(0, 3))
      else response.setHeader(name, value)
    }
    response.write(head.subarray(end + 4))
    head = null
  })
  child.stdout.on("end", () => response.end())
  response.on("close", () => child.kill())
}

/** Handles requests instead of git; false passes them on. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean

/** Serves repositories until the scope closes. */
export const gitServer = Effect.acquireRelease(
  Effect.callback<{
    readonly origin: string
    readonly requests: Array<string>
    /** Creates a repository of this name with its first commit. */
    readonly repository: (name: string, first: Change) => Repository
    readonly intercept: (handler: Intercept) => void
    readonly close: () => void
  }>((resume) => {
    const root = mkdtempSync(join(tmpdir(), "signalbox-git-server-"))
    const requests: Array<string> = []
    let intercept: Intercept = () => false
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`)
      if (!intercept(request, response)) backend(join(root, "bare"), request, response)
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
      resume(
        Effect.succeed({
          origin,
          requests,
          repository: (name, first) => repository(root, origin, name, first),
          intercept: (handler) => (intercept = handler),
          close: () => {
            server.closeAllConnections()
            server.close()
            rmSync(root, { recursive: true, force: true })
          }
        })
      )
    })
  }),
  ({ close }) => Effect.sync(close)
)

export interface Repository {
  readonly url: string
  /** Adds a commit to a branch, by force, and returns its hash. */
  readonly commit: (change: Change) => string
  readonly git: (...args: ReadonlyArray<string>) => string
}

const repository = (root: string, origin: string, name: string, first: Change): Repository => {
  const bare = join(root, "bare", `${name}.git`)
  const work = join(root, "work", name)
  mkdirSync(bare, { recursive: true })
  mkdirSync(work, { recursive: true })
  git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
  git(bare, "config", "receive.denyDeleteCurrent", "ignore")
  git(work, "init", "--quiet", "--initial-branch=main")
  git(work, "remote", "add", "origin", bare)
  writeFileSync(join(bare, "objects", "info", "alternates"), `${join(work, ".git", "objects")}\n`)
  const commit = ({ after, branch = "main", files = {}, links = {} }: Change) => {
    if (after !== undefined) git(work, "reset", "--quiet", "--hard", after)
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(work, path)), { recursive: true })
      writeFileSync(join(work, path), content, { mode: path.endsWith(".sh") ? 0o755 : 0o644 })
    }
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(work, path))
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--allow-empty", "--message=change")
    const hash = git(work, "rev-parse", "HEAD")
    // As a push by force, whose many processes take most of the time of a test.
    git(bare, "update-ref", `refs/heads/${branch}`, hash)
    return hash
  }
  commit(first)
  return { url: `${origin}/${name}.git`, commit, git: (...args) => git(work, ...args) }
}
