/** `signalbox graph-sandbox`: a local office-suite graph with its identity provider, until it is stopped. */
import { TaggedError } from "@signalbox/transport/Printed"
import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import * as SeedFolder from "@signalbox/graph-sandbox/SeedFolder"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { resolve } from "node:path"
import * as FlagValues from "../../settings/FlagValues.ts"

/** A certificate does not exist, or it cannot be written to the file. */
export class CaFileError extends TaggedError<CaFileError>()("CaFileError", { message: Schema.String }) {}

const announce = (options: { readonly json: boolean; readonly caFile: string | undefined }) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { app, authority, ca, filesOrigin, graphUrl, origin, tenant } = yield* GraphSandbox
      const { caFile, json } = options
      if (ca !== null && caFile !== undefined) {
        const fs = yield* FileSystem.FileSystem
        yield* Effect.mapError(
          fs.writeFileString(caFile, ca),
          (error) => new CaFileError({ message: `--ca-file: cannot write ${caFile}: ${error.message}` })
        )
      }
      const facts = {
        graph_url: graphUrl,
        authority,
        files_url: filesOrigin,
        control_url: `${origin}/sandbox`,
        tenant,
        client_id: app.clientId,
        client_secret: app.secret,
        redirect_uri: app.redirectUri,
        ca_file: ca === null ? null : (caFile ?? null)
      }
      if (json) return yield* Console.log(JSON.stringify(facts))
      yield* Console.log(
        [
          `The graph is at ${graphUrl}`,
          `  authority      ${authority}`,
          `  client id      ${app.clientId}`,
          `  client secret  ${app.secret ?? "none (public app)"}`,
          `  redirect URI   ${app.redirectUri}`,
          `  files          ${filesOrigin}`,
          `  control        ${origin}/sandbox (faults, requests; see the package's README)`,
          ...(ca === null
            ? []
            : caFile === undefined
              ? ["  certificate    created now; give --ca-file FILE to write it for clients"]
              : [`  certificate    ${caFile}; start Node clients with NODE_EXTRA_CA_CERTS=${caFile}`]),
          "Point a client at the graph and the authority instead of the real ones, and sign in as any user.",
          "Stop it with Ctrl-C; nothing is stored."
        ].join("\n")
      )
    })
  )

export const graphSandbox = Command.make(
  "graph-sandbox",
  {
    port: FlagValues.port("port").pipe(
      Flag.withDescription("The port of the graph and the identity provider; 0 picks a free one"),
      Flag.withDefault(4710)
    ),
    filesPort: FlagValues.port("files-port").pipe(
      Flag.withDescription("The port of uploads and downloads; 0 picks a free one"),
      Flag.withDefault(0)
    ),
    seed: Flag.String("seed").pipe(
      Flag.withDescription("A folder with users, sites and files; it is not changed"),
      Flag.optional
    ),
    signInAs: Flag.String("sign-in-as").pipe(
      Flag.withDescription("Sign in this user without a sign-in page"),
      Flag.optional
    ),
    tls: Flag.Boolean("tls").pipe(
      Flag.withDescription("Serve HTTPS with a certificate created at the start"),
      Flag.withDefault(false)
    ),
    caFile: Flag.String("ca-file").pipe(
      Flag.withDescription("Write the certificate here, as PEM; with --tls"),
      Flag.optional
    ),
    tokenOnFiles: Flag.Literals("token-on-files", ["refuse", "ignore"]).pipe(
      Flag.withDescription(
        "How to handle an access token on a request for file contents, which rclone and PnPjs send: the service refuses it"
      ),
      Flag.withDefault("refuse" as const)
    ),
    enforceScopes: Flag.Boolean("enforce-scopes").pipe(
      Flag.withDescription("Refuse requests that the scopes of the token or the roles of the app do not permit"),
      Flag.withDefault(false)
    ),
    rewriteOffice: Flag.Boolean("rewrite-office").pipe(
      Flag.withDescription("Rewrite Office files that are uploaded to document libraries, as SharePoint does"),
      Flag.withDefault(false)
    ),
    json: FlagValues.jsonWhenReady
  },
  Effect.fnUntraced(function* ({
    caFile,
    enforceScopes,
    filesPort,
    json,
    port,
    rewriteOffice,
    seed,
    signInAs,
    tls,
    tokenOnFiles
  }) {
    const given = Option.isNone(seed) ? undefined : yield* SeedFolder.read(resolve(seed.value))
    const sandbox = GraphSandbox.layer({
      port,
      filesPort,
      tls,
      enforceScopes,
      rewriteOffice,
      tokenOnFiles,
      seed: given,
      signInAs: Option.getOrUndefined(signInAs)
    })
    if (Option.isSome(caFile) && !tls) {
      return yield* new CaFileError({ message: "--ca-file: a certificate needs --tls" })
    }
    const path = Option.isNone(caFile) ? undefined : resolve(caFile.value)
    return yield* Layer.launch(Layer.provide(announce({ json, caFile: path }), sandbox))
  })
).pipe(
  Command.withDescription(
    "Starts a local office-suite graph with an identity provider, for tests, examples and offline work"
  ),
  Command.withExamples([
    {
      command: "signalbox graph-sandbox",
      description: "Start with one user, one app, a team's site and the root site on port 4710"
    },
    {
      command: "signalbox graph-sandbox --seed FOLDER --tls --ca-file ca.pem",
      description: "Serve your own files over HTTPS, which some clients require"
    },
    {
      command: "signalbox graph-sandbox --port 0 --json --sign-in-as ann@contoso.test",
      description: "For scripts: use a free port, print one line of JSON, show no sign-in page"
    }
  ])
)
