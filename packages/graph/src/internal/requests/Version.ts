/** Written with each release by `tooling/src/versions.ts`: a program in a browser has no package.json to read. */
export const version = "0.1.0"
