/**
 * Python packages of tests: wheels with what a test wants, a simple index on loopback, and pip, which Debian splits off its
 * Python.
 */
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:http"
import { basename, dirname, join } from "node:path"
import * as RawZip from "./RawZip.ts"
import { soak } from "./Soak.ts"

/** Of the Python Packaging Authority, MIT; unchanged. */
export const pipWheel = join(import.meta.dirname, "..", "wheels", "pip-24.2-py3-none-any.whl")

/** What installs as pip does, as far as tests need it, in a fraction of the time: see there. */
const wheelpip = join(import.meta.dirname, "..", "wheels", "wheelpip.py")
/** For programs in Python that import it. */
export const wheelpipFolder = dirname(wheelpip)

/** Writes a wheel of one module into a folder, and returns its path. */
export const write = (
  folder: string,
  name: string,
  version: string,
  options: { readonly source?: string; readonly requires?: ReadonlyArray<string>; readonly size?: number } = {}
) => {
  const { requires = [], size = 0, source = `version = "${version}"\n` } = options
  const info = `${name}-${version}.dist-info`
  const metadata = [
    "Metadata-Version: 2.1",
    `Name: ${name}`,
    `Version: ${version}`,
    ...requires.map((line) => `Requires-Dist: ${line}`)
  ]
  const files = [
    { name: `${name}/__init__.py`, content: source },
    ...(size === 0 ? [] : [{ name: `${name}/data.bin`, content: "x".repeat(size) }]),
    { name: `${info}/METADATA`, content: `${metadata.join("\n")}\n` },
    {
      name: `${info}/WHEEL`,
      content: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    }
  ]
  const record = [...files.map(({ name }) => `${name},,`), `${info}/RECORD,,`].join("\n")
  const path = join(folder, `${name}-${version}-py3-none-any.whl`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, RawZip.make([...files, { name: `${info}/RECORD`, content: `${record}\n` }]))
  return path
}

/** The hash of a file as lists of requirements have it. */
export const hashOf = (path: string) => `sha256:${createHash("sha256").update(readFileSync(path)).digest("hex")}`

/** Writes a program of a shell into a folder. */
export const program = (folder: string, name: string, lines: string) => {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${lines}\n`)
  chmodSync(path, 0o755)
  return path
}

/** Where pip is unpacked and compiled, once for all tests. */
export const pipFolder = (python: string) => {
  const caches = join(import.meta.dirname, "..", "..", "..", "node_modules", ".cache")
  const folder = join(caches, basename(pipWheel, ".whl"))
  if (existsSync(folder)) return folder
  mkdirSync(caches, { recursive: true })
  const temporary = mkdtempSync(`${folder}-`)
  const { status, stderr } = spawnSync(python, ["-m", "zipfile", "-e", pipWheel, temporary])
  if (status !== 0) throw new Error(`cannot unpack pip: ${String(stderr)}`)
  spawnSync(python, ["-m", "compileall", "-q", temporary])
  try {
    renameSync(temporary, folder)
  } catch {
    // Another process was quicker.
    rmSync(temporary, { recursive: true })
  }
  return folder
}

/**
 * The command of a shell that runs pip with a Python. It writes no compiled code: tests end it at any time, and limit the size
 * of its files, which would leave a part of one for all others.
 */
export const runPip = (python: string) => `PYTHONPATH='${pipFolder(python)}' exec '${python}' -B -m pip`

/** The command of a shell that runs `wheelpip` with a Python; without `site`, which is half of its start. */
export const runWheelpip = (python: string) => `exec '${python}' -IS '${wheelpip}'`

/** Writes a program that runs a Python as Debian has it: venv is there, and ensurepip is not. */
export const plainPython = (folder: string, name: string, python: string) => {
  const without = join(folder, "without")
  mkdirSync(without, { recursive: true })
  writeFileSync(join(without, "ensurepip.py"), "raise ImportError('split off')\n")
  return program(folder, name, `PYTHONPATH='${without}' exec '${python}' "$@"`)
}

/**
 * Puts the `python3` of this machine into a folder for `PATH` as Debian has it, without `ensurepip`, which takes ten times as
 * long as all else; and a `pip3`: pip itself in
 * the long form, which takes seconds.
 */
export const python = (bin: string, installer = soak ? runPip : runWheelpip) => {
  const found = spawnSync("python3", ["-c", "import sys; print(sys.executable)"]).stdout.toString().trim()
  plainPython(bin, "python3", found)
  program(bin, "pip3", `${installer(found)} "$@"`)
}

/**
 * Serves a folder of wheels as a simple index until the scope closes. With `user` and `password` others are refused; `status` is
 * the answer to all, as of one that is overloaded.
 */
export const index = (
  folder: string,
  credentials?: { readonly user: string; readonly password: string },
  status?: number
) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly requests: ReadonlyArray<string>; readonly close: () => void }>(
      (resume) => {
        const requests: Array<string> = []
        const basic = credentials && Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64")
        const server = createServer((request, response) => {
          const url = request.url ?? "/"
          requests.push(url)
          if (status !== undefined) return response.writeHead(status).end()
          if (basic !== undefined && request.headers.authorization !== `Basic ${basic}`) {
            return response.writeHead(401, { "www-authenticate": "Basic" }).end()
          }
          const file = /^\/files\/([^/]+)$/.exec(url)?.[1]
          if (file !== undefined) return response.writeHead(200).end(readFileSync(join(folder, file)))
          const name = /^\/simple\/([^/]+)\/$/.exec(url)?.[1]
          const found = readdirSync(folder).filter((file) => file.toLowerCase().startsWith(`${name}-`))
          if (found.length === 0) return response.writeHead(404).end()
          const links = found.map((file) => `<a href="/files/${file}">${file}</a>`)
          return response.writeHead(200, { "content-type": "text/html" }).end(links.join("\n"))
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          const close = () => {
            server.closeAllConnections()
            server.close()
          }
          resume(Effect.succeed({ url: `http://127.0.0.1:${port}/simple`, requests, close }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )
