// Encryption providers of a collection, in order: the first one encrypts, all of them decrypt.

import { isEncrypted } from '../storage.js'
import type { Cipher } from './ciphers.js'

/** `undefined`: the provider `identity`, which does not encrypt. */
export type Provider = Cipher | undefined

/** By collection, the part of a key before its first slash: `secrets`, `deployments.apps`. */
export type EncryptionRules = ReadonlyMap<string, readonly Provider[]>

/** The configuration has no key for a stored value. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError'
}

export function encryptWith(providers: readonly Provider[], key: string, plaintext: Buffer): Buffer {
  const [first] = providers
  return first === undefined ? plaintext : first.encrypt(plaintext, key)
}

/** Keys of several providers may have the same name: each is tried. */
export function decryptWith(providers: readonly Provider[], key: string, value: Buffer): Buffer {
  let failure: unknown
  for (const provider of providers) {
    if (!isEncryptedBy(provider, value)) continue
    if (provider === undefined) return value
    try {
      return provider.decrypt(value, key)
    } catch (thrown) {
      failure ??= thrown
    }
  }
  throw new DecryptionError(`the stored value of ${key} cannot be decrypted${problemOf(value, failure)}`)
}

function problemOf(value: Buffer, failure: unknown): string {
  if (failure !== undefined) return ` with ${describe(value)}: ${failure instanceof Error ? failure.message : failure}`
  return isEncrypted(value) ? `: there is no key for ${describe(value)}` : ': it is not encrypted, and identity is not among the providers'
}

export const isEncryptedBy = (provider: Provider, value: Buffer): boolean =>
  provider === undefined ? !isEncrypted(value) : provider.prefix.equals(value.subarray(0, provider.prefix.length))

function describe(value: Buffer): string {
  const [, method = '', , name = ''] = value.toString('latin1', 0, 300).split(':')
  return `${method} key ${JSON.stringify(name)}`
}
