/**
 * A certificate for a name, signed by itself and made on the spot, so that none in a file can expire.
 */
import { generateKeyPairSync, sign } from "node:crypto"

export interface Certificate {
  readonly key: string
  readonly cert: string
}

const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const body = Buffer.concat(parts)
  const size = body.length < 128
    ? [body.length]
    : body.length < 256
    ? [0x81, body.length]
    : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

const bytes = (hex: string): Buffer => Buffer.from(hex, "hex")

const sequence = (...parts: ReadonlyArray<Uint8Array>): Buffer => der(0x30, ...parts)

/** The bytes of an object identifier: ecdsa-with-SHA256, commonName, subjectAltName. */
const identifiers = { signature: "2a8648ce3d040302", name: "550403", alternatives: "551d11" }

const object = (id: keyof typeof identifiers): Buffer => der(0x06, bytes(identifiers[id]))

const text = (value: string): Buffer => der(0x0c, Buffer.from(value))

export const make = (name: string): Certificate => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const algorithm = sequence(object("signature"))
  const named = sequence(der(0x31, sequence(object("name"), text(name))))
  const alternatives = sequence(der(0x82, Buffer.from(name)))
  const signed = sequence(
    der(0xa0, der(0x02, bytes("02"))),
    der(0x02, bytes("01")),
    algorithm,
    named,
    sequence(der(0x17, Buffer.from("200101000000Z")), der(0x17, Buffer.from("491231235959Z"))),
    named,
    publicKey.export({ format: "der", type: "spki" }),
    der(0xa3, sequence(sequence(object("alternatives"), der(0x04, alternatives))))
  )
  const signature = der(0x03, bytes("00"), sign("sha256", signed, privateKey))
  const body = sequence(signed, algorithm, signature).toString("base64").match(/.{1,64}/g)?.join("\n")
  return {
    key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`
  }
}
