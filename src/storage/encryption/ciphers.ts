// How values are encrypted: AES-GCM and AES-CBC of the platform, or not at all. What is written names the method and the key, so that keys can
// change while old values stay readable.
//
//   value = `enc:<method>:v1:<key name>:` [initialization vector] [ciphertext] [AES-GCM: tag]
//
// With AES-GCM the storage key is authenticated, too: a value that somebody copied under another key does not open.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export interface Key {
  readonly name: string
  /** 16, 24 or 32 bytes. */
  readonly secret: Buffer
}

export type Method = 'aesgcm' | 'aescbc'

export interface Cipher {
  /** With what values begin that this one can open. */
  readonly prefix: Buffer
  seal(plain: Uint8Array, storageKey: string): Buffer
  /** Throws when the value was not sealed with this key. */
  open(sealed: Buffer, storageKey: string): Buffer
}

/** With this every encrypted value begins, and no other. */
export const sealedMark = Buffer.from('enc:')

export const isSealed = (value: Uint8Array): boolean => sealedMark.equals(value.subarray(0, sealedMark.length))

export const cipherOf = (method: Method, key: Key): Cipher => {
  const prefix = Buffer.from(`${sealedMark}${method}:v1:${key.name}:`)
  return method === 'aesgcm' ? gcm(prefix, key.secret) : cbc(prefix, key.secret)
}

const bits = (secret: Buffer): 128 | 192 | 256 => (secret.length * 8) as 128 | 192 | 256
const nonceBytes = 12
const tagBytes = 16
const blockBytes = 16

const gcm = (prefix: Buffer, secret: Buffer): Cipher => ({
  prefix,
  seal: (plain, storageKey) => {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(`aes-${bits(secret)}-gcm`, secret, nonce).setAAD(Buffer.from(storageKey))
    return Buffer.concat([prefix, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  },
  open: (sealed, storageKey) => {
    const bodyAt = prefix.length + nonceBytes
    const tagAt = sealed.length - tagBytes
    if (tagAt < bodyAt) throw new Error('it is cut off')
    const decipher = createDecipheriv(`aes-${bits(secret)}-gcm`, secret, sealed.subarray(prefix.length, bodyAt), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(Buffer.from(storageKey)).setAuthTag(sealed.subarray(tagAt))
    return Buffer.concat([decipher.update(sealed.subarray(bodyAt, tagAt)), decipher.final()])
  },
})

const cbc = (prefix: Buffer, secret: Buffer): Cipher => ({
  prefix,
  seal: (plain) => {
    const vector = randomBytes(blockBytes)
    const cipher = createCipheriv(`aes-${bits(secret)}-cbc`, secret, vector)
    return Buffer.concat([prefix, vector, cipher.update(plain), cipher.final()])
  },
  open: (sealed) => {
    const start = prefix.length + blockBytes
    const decipher = createDecipheriv(`aes-${bits(secret)}-cbc`, secret, sealed.subarray(prefix.length, start))
    return Buffer.concat([decipher.update(sealed.subarray(start)), decipher.final()])
  },
})
