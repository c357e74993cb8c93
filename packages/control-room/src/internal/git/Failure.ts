/**
 * What a failed git says, in words of ours: with the remedy, and without what it was told in confidence.
 */
import * as Data from "effect/Data"

/** A repository could not be read; nothing was changed. */
export class GitFailure extends Data.TaggedError("GitFailure")<{ readonly message: string }> {}

/** The first that git's words match counts. */
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
    "there is no repository at this address, or none that may be seen; check `repository` and `credentials_secret`"
  ],
  [
    /not our ref|unadvertised object|couldn't find remote ref/i,
    "there is no such commit in the repository; give the whole hash, or the name of a branch or tag"
  ],
  [
    /is this a git repository|not valid|protocol error|bad line length|dumb http/i,
    "at this address there is no git repository that speaks the smart protocol; check `repository`"
  ],
  [/certificate|SSL|TLS/, "the certificate of the repository's host is not trusted by the machine of the control room"],
  [
    /could not resolve|failed to connect|couldn't connect|connection (?:refused|reset|timed out)|timed out|timeout|too slow|empty reply/i,
    "the host of the repository cannot be reached, or does not answer; check `repository`"
  ],
  [/no space left/i, "the disk of the control room is full"]
]

/** `confidential`: texts that must not appear, whoever said them. */
export const failureOf = (code: number, stderr: string, confidential: ReadonlyArray<string>): GitFailure => {
  const known = meanings.find(([says]) => says.test(stderr))
  if (known !== undefined) return new GitFailure({ message: known[1] })
  const line = stderr.split("\n").find((text) => /^(?:fatal|error): /.test(text)) ?? ""
  const clean = confidential.reduce((text, hidden) => (hidden === "" ? text : text.replaceAll(hidden, "…")), line)
  const said = clean === "" ? "" : `: ${clean.slice(0, 200)}`
  return new GitFailure({ message: `git could not read the repository (exit code ${code}${said})` })
}
