/** How environments of task packages are built: the settings of every command that builds some. */
import * as Environments from "@signalbox/worker/Environments"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { delimiter, resolve } from "node:path"
import * as Setting from "./Setting.ts"
import { list, Secret, separatedBy, setting, Switch, words } from "./Setting.ts"

const Index = Schema.String.check(
  Schema.makeFilter((url) => {
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      return "Expected an address that begins with http:// or https://"
    }
    return new URL(url).password === ""
      ? undefined
      : "omit user and password, and set SIGNALBOX_INDEX_USERNAME and SIGNALBOX_INDEX_PASSWORD"
  })
)

const Path = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: (path) => resolve(path), encode: (path) => path })
  )
)

export const environments = {
  provider: setting({
    flag: "environments",
    variable: "SIGNALBOX_ENVIRONMENTS",
    description: `The tool that builds environments: ${Environments.choices.join(", ")}`,
    help: "default: SIGNALBOX_ENVIRONMENTS, else auto: the first suitable one on PATH",
    schema: Schema.Literals(Environments.choices),
    default: undefined,
    fallback: "auto: the first suitable one"
  }),
  indexUrl: setting({
    flag: "index-url",
    variable: "SIGNALBOX_INDEX_URL",
    description: "An index of Python packages (simple API)",
    help: "default: SIGNALBOX_INDEX_URL. User and password: SIGNALBOX_INDEX_USERNAME, SIGNALBOX_INDEX_PASSWORD",
    schema: Index,
    default: undefined,
    fallback: "the public index"
  }),
  indexUsername: setting({
    variable: "SIGNALBOX_INDEX_USERNAME",
    description: "The user of the index",
    schema: Schema.String,
    default: "",
    fallback: "none"
  }),
  indexPassword: setting({
    variable: "SIGNALBOX_INDEX_PASSWORD",
    description:
      "The password of the index. With a password, only wheels are installed, unless source builds are allowed",
    schema: Secret,
    default: undefined,
    fallback: "none"
  }),
  extraIndexUrls: setting({
    flag: "extra-index-url",
    variable: "SIGNALBOX_EXTRA_INDEX_URLS",
    description: "An additional index",
    help: "default: SIGNALBOX_EXTRA_INDEX_URLS, separated by spaces",
    takes: "texts",
    metavar: "URL",
    schema: list(Schema.String, words),
    default: [],
    fallback: "none"
  }),
  channels: setting({
    flag: "channel",
    variable: "SIGNALBOX_CHANNELS",
    description: "An additional conda channel",
    help: "default: SIGNALBOX_CHANNELS, separated by spaces",
    takes: "texts",
    metavar: "NAME",
    schema: list(Schema.String, words),
    default: [],
    fallback: "none"
  }),
  wheels: setting({
    flag: "wheels",
    variable: "SIGNALBOX_WHEELS",
    description: "A folder of wheels as the only source of packages",
    help: "default: SIGNALBOX_WHEELS",
    schema: Path,
    default: undefined,
    fallback: "none"
  }),
  allowEnvironments: setting({
    flag: "allow-environment",
    variable: "SIGNALBOX_ALLOW_ENVIRONMENTS",
    description: "A folder whose existing environments steps may use",
    help: `default: SIGNALBOX_ALLOW_ENVIRONMENTS, separated by ${delimiter}`,
    takes: "texts",
    metavar: "FOLDER",
    schema: list(Schema.String, separatedBy(delimiter)),
    default: [],
    fallback: "none"
  }),
  caFile: setting({
    flag: "ca-file",
    variable: "SIGNALBOX_CA_FILE",
    description: "Certificates that tools trust, PEM",
    help: "default: SIGNALBOX_CA_FILE",
    schema: Path,
    default: undefined,
    fallback: "the certificates of the tool"
  }),
  allowSourceBuilds: setting({
    flag: "allow-source-builds",
    description: "Build packages from source even with the password of an index, which build scripts can then read",
    takes: "boolean",
    schema: Switch,
    default: false
  }),
  uv: setting({
    variable: "SIGNALBOX_UV",
    description: "The path of uv, if it is not on PATH",
    schema: Schema.String,
    default: undefined,
    fallback: "from PATH"
  }),
  micromamba: setting({
    variable: "SIGNALBOX_MICROMAMBA",
    description: "The path of micromamba, if it is not on PATH",
    schema: Schema.String,
    default: undefined,
    fallback: "from PATH"
  }),
  python: setting({
    variable: "SIGNALBOX_PYTHON",
    description: "The path of python, if it is not on PATH",
    schema: Schema.String,
    default: undefined,
    fallback: "from PATH"
  })
}

/** How environments are built, by the flags of a command. */
export const read = Effect.fnUntraced(function* (given: Setting.AllGiven) {
  const { indexPassword, indexUsername, micromamba, python, uv, ...settings } = yield* Setting.read(environments, given)
  const credentials = indexPassword === undefined ? undefined : { username: indexUsername, password: indexPassword }
  return { ...settings, credentials, tools: { uv, micromamba, python } } satisfies Environments.Settings
})
