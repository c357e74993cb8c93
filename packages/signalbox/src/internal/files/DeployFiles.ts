/** The deployment files of this version: which kinds there are, and their texts. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import packageJson from "../../../package.json" with { type: "json" }
import { deployFolders } from "./PackageFiles.ts"
import { word } from "../text/ShellWord.ts"

/** The files cannot be written, or would replace files that differ. */
export class DeployFilesError extends TaggedError<DeployFilesError>()("DeployFilesError", {
  message: Schema.String
}) {}

interface Kind {
  /** Below `deploy`. */
  readonly source: string
  /** The commands that come next, given the folder as a word of a shell. */
  readonly next: (folder: string) => ReadonlyArray<string>
}

/** Each kind of files. Its name is the default folder. */
const kinds = {
  systemd: {
    source: "systemd",
    next: (folder) => [
      `sudo install -m 0644 ${folder}/signalbox.service /etc/systemd/system/`,
      "sudo systemctl enable --now signalbox"
    ]
  },
  compose: {
    source: "container",
    next: (folder) => [
      `docker compose --file ${folder}/compose.yaml up --detach    # see its first lines for the contents of ${folder}/.env`
    ]
  },
  helm: {
    source: "helm/signalbox",
    next: (folder) => [`helm install signalbox ${folder} --values ${folder}/examples/one-node.yaml`]
  },
  kubernetes: { source: "kubernetes", next: (folder) => [`kubectl apply --filename ${folder}/one-node.yaml`] },
  nginx: {
    source: "nginx",
    next: (folder) => [
      `sudo install -m 0644 ${folder}/signalbox.conf /etc/nginx/conf.d/`,
      "sudo nginx -t && sudo systemctl reload nginx"
    ]
  },
  caddy: { source: "caddy", next: (folder) => [`caddy run --config ${folder}/Caddyfile`] },
  prometheus: { source: "prometheus", next: (folder) => [`promtool check config ${folder}/prometheus.yml`] }
} satisfies Record<string, Kind>

export type DeployKind = keyof typeof kinds

// A cast: the keys of an object literal are those of its type.
export const deployKinds = Object.keys(kinds) as ReadonlyArray<DeployKind>

export const nextCommands = (kind: DeployKind, folder: string) => kinds[kind].next(word(folder))

/** Where files name the version: of the package that images install, of images, and of the chart. */
const versioned: ReadonlyArray<RegExp> = [
  /(?<=^ARG SIGNALBOX=signalbox)$/gm,
  /(?<=\/signalbox(?:-worker)?:)\d+\.\d+\.\d+\S*/g,
  /(?<=^version: )\d\S*$/gm
]

/** The text with the version of this command wherever it names one. */
export const stamped = (text: string, version: string): string =>
  versioned.reduce((text, place) => text.replace(place, (found) => (found === "" ? `@${version}` : version)), text)

/** Reads the files of a kind, by their paths in its folder. */
export const read = Effect.fn("DeployFiles.read")(function* (kind: DeployKind) {
  const fs = yield* FileSystem.FileSystem
  const deploy = yield* Effect.findFirst(deployFolders, (folder) => fs.exists(folder))
  if (deploy._tag === "None") {
    return yield* new DeployFilesError({
      message: `the deployment files are not where this command is installed (${deployFolders[0]}): install signalbox again`
    })
  }
  const source = join(deploy.value, kinds[kind].source)
  const paths = yield* fs.readDirectory(source, { recursive: true })
  const files = yield* Effect.filter(paths.toSorted(), (path) =>
    Effect.map(fs.stat(join(source, path)), ({ type }) => type === "File")
  )
  return yield* Effect.forEach(files, (path) =>
    Effect.map(fs.readFileString(join(source, path)), (text) => ({ path, text: stamped(text, packageJson.version) }))
  )
})
