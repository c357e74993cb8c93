/**
 * Where packages come from, as variables of the environment of each tool. Command lines have nothing of it, so that no list of
 * processes shows a password.
 */
import type { Recipe } from "@signalbox/task-package/Recipe"
import type { Command } from "@signalbox/task-package/RobotYaml"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { devNull } from "node:os"
import { join } from "node:path"
import type { Variables } from "./Variables.ts"
import { BuildFailure, type Site } from "./Provider.ts"
import type { Settings } from "./Settings.ts"

/** The address of the index with user and password. */
const indexOf = ({ credentials, indexUrl }: Settings): string | null => {
  if (indexUrl === undefined) return null
  if (credentials === undefined || !URL.canParse(indexUrl)) return indexUrl
  const url = new URL(indexUrl)
  url.username = encodeURIComponent(credentials.username)
  url.password = encodeURIComponent(Redacted.value(credentials.password))
  return url.href
}

const optional = (name: string, value: string | null | undefined): Variables =>
  value === undefined || value === null || value === "" ? {} : { [name]: value }

const binariesOnly = ({ allowSourceBuilds, credentials }: Settings) =>
  credentials !== undefined && allowSourceBuilds !== true

/** What is published later is not installed; a folder of wheels has what its owner chose, and no times. */
const newest = (name: string, settings: Settings, { excludeNewer }: Pick<Recipe, "excludeNewer">): Variables =>
  settings.wheels === undefined ? optional(name, excludeNewer) : {}

/** Why pip of a version cannot leave out what was published later; null when it can, or need not. */
export const pipRefusal = (settings: Settings, { excludeNewer }: Recipe, version: string | null): string | null => {
  if (excludeNewer === null || settings.wheels !== undefined) return null
  const major = Number(/^pip (\d+)\./.exec(version ?? "")?.[1] ?? Number.NaN)
  if (major >= 26) return null
  return `excludeNewer of robot.yaml needs uv, or pip 26.0 and later on PATH${version === null ? "" : `, not ${version}`}; install one`
}

/** For pip; `caches` is a folder. */
export const ofPip = (settings: Settings, caches: string, recipe: Recipe): Variables => ({
  ...newest("PIP_UPLOADED_PRIOR_TO", settings, recipe),
  PIP_CONFIG_FILE: devNull,
  PIP_NO_INPUT: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PIP_PROGRESS_BAR: "off",
  PIP_ROOT_USER_ACTION: "ignore",
  PIP_CACHE_DIR: join(caches, "pip"),
  PYTHONUNBUFFERED: "1",
  PYTHONNOUSERSITE: "1",
  ...optional("PIP_INDEX_URL", indexOf(settings)),
  ...optional("PIP_EXTRA_INDEX_URL", settings.extraIndexUrls?.join(" ")),
  ...optional("PIP_CERT", settings.caFile),
  ...defined({
    PIP_NO_INDEX: settings.wheels === undefined ? undefined : "1",
    PIP_FIND_LINKS: settings.wheels,
    PIP_ONLY_BINARY: binariesOnly(settings) ? ":all:" : undefined
  })
})

/** For uv. */
export const ofUv = (settings: Settings, caches: string, recipe: Recipe): Variables => ({
  ...newest("UV_EXCLUDE_NEWER", settings, recipe),
  UV_NO_CONFIG: "1",
  UV_NO_PROGRESS: "1",
  // Files are made read-only after the build: those of the cache must be others.
  UV_LINK_MODE: "copy",
  UV_CACHE_DIR: join(caches, "uv"),
  UV_PYTHON_INSTALL_DIR: join(caches, "python"),
  NO_COLOR: "1",
  ...optional("UV_DEFAULT_INDEX", indexOf(settings)),
  ...optional("UV_INDEX", settings.extraIndexUrls?.join(" ")),
  ...optional("SSL_CERT_FILE", settings.caFile),
  ...optional("UV_FIND_LINKS", settings.wheels),
  ...defined({
    UV_OFFLINE: settings.wheels === undefined ? undefined : "1",
    UV_NO_BUILD: binariesOnly(settings) ? "1" : undefined
  })
})

/** For micromamba, which runs pip itself. */
export const ofMicromamba = (settings: Settings, caches: string, recipe: Recipe): Variables => ({
  ...ofPip(settings, caches, recipe),
  MAMBA_NO_BANNER: "1",
  MAMBA_ALWAYS_COPY: "true",
  NO_COLOR: "1",
  ...optional("MAMBA_SSL_VERIFY", settings.caFile)
})

/** What is part of the digest: other sources may have other packages under the same versions. */
export const contextOf = (settings: Settings): ReadonlyArray<string> => [
  `index ${settings.indexUrl ?? ""}`,
  `extra ${(settings.extraIndexUrls ?? []).join(" ")}`,
  `channels ${(settings.channels ?? []).join(" ")}`,
  `wheels ${settings.wheels ?? ""}`
]

/** Requirements that are fetched from where they say, and links that are followed also where no index is asked. */
const isAddress = (line: string) => line.includes("://") && (!line.startsWith("-") || /^(-f|--find-links)/.test(line))

/** Why a recipe must not be built: for what it would fetch from elsewhere, or run beside a password; null when it may. */
export const refusalOf = (settings: Settings, { pip }: Recipe): string | null => {
  const elsewhere = settings.wheels === undefined ? undefined : pip.find(isAddress)
  if (elsewhere !== undefined) {
    return `${JSON.stringify(elsewhere)} is fetched from its own address, and this worker installs from a folder of wheels alone; add its wheel to the folder and list its name and version`
  }
  if (!binariesOnly(settings)) return null
  const isSource = (line: string) => isAddress(line) && !line.startsWith("-") && !/\.whl(\b|$)/.test(line)
  const line = pip.find((line) => line.startsWith("--no-binary") || isSource(line))
  return line === undefined
    ? null
    : `${JSON.stringify(line)} is built from source, which is disabled with the password of an index; build a wheel of it, or allow source builds`
}

/** What pip's log says of indexes that did not answer; by default it shows only that nothing was found. */
const silences = (log: string): ReadonlyArray<string> => {
  const found = [...log.matchAll(/Could not fetch URL (\S+): (.+) - skipping/g)]
  const lines = found.flatMap(([, url = "", why = ""]) => {
    // That a project is not there is no failure of the index.
    return /\b404 (Client )?Error/i.test(why) ? [] : [`the index at ${url} did not respond: ${why.slice(0, 300)}`]
  })
  return [...new Set(lines)].slice(0, 3)
}

/** Runs what runs pip, with these variables, so that a failure says whether an index did not answer. */
export const runPip = (site: Site, command: Command, variables: Variables): Effect.Effect<void, BuildFailure> => {
  const log = "pip.log"
  const run = site.run(command, { ...variables, PIP_LOG: join(site.work, log) })
  return Effect.catch(run, (error) =>
    Effect.flatMap(site.read(log), (text) => {
      const lines = silences(text)
      return Effect.fail(
        lines.length === 0 ? error : new BuildFailure({ message: [error.message, ...lines].join("\n") })
      )
    })
  )
}

/** Hides the password wherever a tool shows it. */
export const redactor = ({ credentials }: Settings): ((line: string) => string) => {
  if (credentials === undefined) return (line) => line
  const password = Redacted.value(credentials.password)
  const forms = [...new Set([password, encodeURIComponent(password), encodeURI(password)])].filter(
    (form) => form !== ""
  )
  return (line) => forms.reduce((text, form) => text.replaceAll(form, "****"), line)
}
