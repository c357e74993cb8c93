/**
 * Where packages come from, as variables of the environment of each tool. Command lines have nothing of it, so that no list of
 * processes shows a password.
 */
import type { Recipe } from "@signalbox/task-package/Recipe"
import * as Redacted from "effect/Redacted"
import { devNull } from "node:os"
import { join } from "node:path"
import type { Variables } from "../packages/Environment.ts"
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

/** For pip; `caches` is a folder. */
export const ofPip = (settings: Settings, caches: string): Variables => ({
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
  ...(settings.wheels === undefined ? {} : { PIP_NO_INDEX: "1", PIP_FIND_LINKS: settings.wheels }),
  ...(binariesOnly(settings) ? { PIP_ONLY_BINARY: ":all:" } : {})
})

/** For uv. */
export const ofUv = (settings: Settings, caches: string): Variables => ({
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
  ...(settings.wheels === undefined ? {} : { UV_OFFLINE: "1" }),
  ...(binariesOnly(settings) ? { UV_NO_BUILD: "1" } : {})
})

/** For micromamba, which runs pip itself. */
export const ofMicromamba = (settings: Settings, caches: string): Variables => ({
  ...ofPip(settings, caches),
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

/** Why a recipe must not be built where there is a password that scripts of a package could read; null when it may. */
export const refusalOf = (settings: Settings, { pip }: Recipe): string | null => {
  if (!binariesOnly(settings)) return null
  const isSource = (line: string) => line.includes("://") && !line.startsWith("-") && !/\.whl(\b|$)/.test(line)
  const line = pip.find((line) => line.startsWith("--no-binary") || isSource(line))
  return line === undefined
    ? null
    : `${JSON.stringify(line)} is built from source, which this worker does not do with the password of its index; make a wheel of it, or allow source builds`
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
