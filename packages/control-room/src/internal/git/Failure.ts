/** Translates a failure of git into a message with the remedy, without confidential parts of its input. */
import * as Data from "effect/Data"

/** A repository could not be read; nothing was changed. */
export class GitFailure extends Data.TaggedError("GitFailure")<{ readonly message: string }> {}

/** The first pattern that matches git's output wins. */
const meanings: ReadonlyArray<readonly [says: RegExp, meaning: string]> = [
  [
    /returned error: 30\d|redirect/i,
    "the address of the repository redirects, and redirects are not followed; set `repository` to the address that it leads to"
  ],
  [
    /could not read (?:username|password)|authentication failed|returned error: 40[13]/i,
    "the repository refuses access; check the items `username` and `password` of the secret that `credentials_secret` names, and what they may read"
  ],
  [
    /returned error: 404|repository .*not found/i,
    "no repository exists at this address, or these credentials may not see it; check `repository` and `credentials_secret`"
  ],
  [
    /not our ref|unadvertised object|couldn't find remote ref/i,
    "the repository has no such commit; give the whole hash, or the name of a branch or tag"
  ],
  [
    /is this a git repository|not valid|protocol error|bad line length|dumb http/i,
    "no git repository at this address speaks the smart protocol; check `repository`"
  ],
  [/certificate|SSL|TLS/, "the certificate of the repository's host is not trusted by the machine of the control room"],
  [
    /could not resolve|failed to connect|couldn't connect|connection (?:refused|reset|timed out)|timed out|timeout|too slow|empty reply/i,
    "the host of the repository cannot be reached, or does not respond; check `repository`"
  ],
  [/no space left/i, "the disk of the control room is full"]
]

/** `confidential`: texts that must not appear in the message. */
export const failureOf = (code: number, stderr: string, confidential: ReadonlyArray<string>): GitFailure => {
  const known = meanings.find(([says]) => says.test(stderr))
  if (known !== undefined) return new GitFailure({ message: known[1] })
  const line = stderr.split("\n").find((text) => /^(?:fatal|error): /.test(text)) ?? ""
  const clean = confidential.reduce((text, hidden) => (hidden === "" ? text : text.replaceAll(hidden, "…")), line)
  const said = clean === "" ? "" : `: ${clean.slice(0, 200)}`
  return new GitFailure({ message: `git could not read the repository (exit code ${code}${said})` })
}
