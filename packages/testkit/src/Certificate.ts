/**
 * A certificate of an app and its key, made when the tests run.
 */
import { generate } from "selfsigned"

const made = await generate([{ name: "commonName", value: "app of a test" }], {
  keyType: "rsa",
  keySize: 2048,
  algorithm: "sha256"
})

export const certificate = made.cert
export const privateKey = made.private
export const publicKey = made.public
