// Which collections are encrypted and how: for each an ordered list of ciphers. The first one writes, all of them read.

import { type Cipher, isSealed } from './ciphers.js'

/** `undefined` stands for plain values: written so where it is first, and readable so wherever it is. */
export type Provider = Cipher | undefined

/** By collection, which is the beginning of a key up to its first slash: `secrets`, `deployments.apps`. */
export type EncryptionRules = ReadonlyMap<string, readonly Provider[]>

/** A stored value that the configuration has no key for. Nothing is wrong with the request that met it. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError'
}

export function sealWith(providers: readonly Provider[], key: string, plain: Buffer): Buffer {
  const [first] = providers
  return first === undefined ? plain : first.seal(plain, key)
}

/** Keys of several providers may have one name: each is tried. */
export function openWith(providers: readonly Provider[], key: string, value: Buffer): Buffer {
  let failure: unknown
  for (const provider of providers) {
    if (!isOf(provider, value)) continue
    if (provider === undefined) return value
    try {
      return provider.open(value, key)
    } catch (thrown) {
      failure ??= thrown
    }
  }
  throw new DecryptionError(`the stored value of ${key} cannot be decrypted${problemOf(value, failure)}`)
}

function problemOf(value: Buffer, failure: unknown): string {
  if (failure !== undefined) return ` with ${describe(value)}: ${failure instanceof Error ? failure.message : failure}`
  return isSealed(value) ? `: there is no key for ${describe(value)}` : ': it is not encrypted, and identity is not among the providers'
}

/** Whether a stored value was written by a provider. */
export const isOf = (provider: Provider, value: Buffer): boolean =>
  provider === undefined ? !isSealed(value) : provider.prefix.equals(value.subarray(0, provider.prefix.length))

/** The method and the name of the key that a value names. */
function describe(value: Buffer): string {
  const [, method = '', , name = ''] = value.toString('latin1', 0, 300).split(':')
  return `${method} key ${JSON.stringify(name)}`
}
