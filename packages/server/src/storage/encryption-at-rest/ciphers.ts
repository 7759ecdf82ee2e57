// AES-GCM and AES-CBC ciphers. A value names its method and key, so that old values stay readable:
//   `enc:<method>:v1:<key name>:` [initialization vector] [ciphertext] [AES-GCM: tag]
// AES-GCM authenticates the storage key as well: a value copied to another key cannot be decrypted.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { encryptedPrefix } from '../storage.js'

export interface Key {
  readonly name: string
  /** 16, 24 or 32 bytes. */
  readonly secret: Buffer
}

export type Method = 'aesgcm' | 'aescbc'

export interface Cipher {
  readonly prefix: Buffer
  encrypt(plaintext: Uint8Array, storageKey: string): Buffer
  /** Throws if the value was not encrypted with this key; AES-CBC detects that only by invalid padding. */
  decrypt(encrypted: Buffer, storageKey: string): Buffer
}

export const cipherOf = (method: Method, key: Key): Cipher => {
  const prefix = Buffer.from(`${encryptedPrefix}${method}:v1:${key.name}:`)
  return method === 'aesgcm' ? gcm(prefix, key.secret) : cbc(prefix, key.secret)
}

const keyBits = (secret: Buffer): 128 | 192 | 256 => (secret.length * 8) as 128 | 192 | 256
const nonceBytes = 12
const tagBytes = 16
const blockBytes = 16

const gcm = (prefix: Buffer, secret: Buffer): Cipher => ({
  prefix,
  encrypt: (plaintext, storageKey) => {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(`aes-${keyBits(secret)}-gcm`, secret, nonce).setAAD(Buffer.from(storageKey))
    return Buffer.concat([prefix, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  },
  decrypt: (encrypted, storageKey) => {
    const ciphertextStart = prefix.length + nonceBytes
    const tagStart = encrypted.length - tagBytes
    if (tagStart < ciphertextStart) throw new Error('it is truncated')
    const decipher = createDecipheriv(`aes-${keyBits(secret)}-gcm`, secret, encrypted.subarray(prefix.length, ciphertextStart), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(Buffer.from(storageKey)).setAuthTag(encrypted.subarray(tagStart))
    return Buffer.concat([decipher.update(encrypted.subarray(ciphertextStart, tagStart)), decipher.final()])
  },
})

const cbc = (prefix: Buffer, secret: Buffer): Cipher => ({
  prefix,
  encrypt: (plaintext) => {
    const vector = randomBytes(blockBytes)
    const cipher = createCipheriv(`aes-${keyBits(secret)}-cbc`, secret, vector)
    return Buffer.concat([prefix, vector, cipher.update(plaintext), cipher.final()])
  },
  decrypt: (encrypted) => {
    const start = prefix.length + blockBytes
    const decipher = createDecipheriv(`aes-${keyBits(secret)}-cbc`, secret, encrypted.subarray(prefix.length, start))
    return Buffer.concat([decipher.update(encrypted.subarray(start)), decipher.final()])
  },
})
