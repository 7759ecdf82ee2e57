// Client certificate and key from files that are rotated one after the other: keeps the old pair until both match.

import { createSecureContext } from 'node:tls'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { CredentialError } from '../errors.js'
import type { Credential } from '../transport/transport.js'

export type KeyPair = NonNullable<Credential['certificate']>

const rereadMs = 60_000
/** Interval of reading the files again after a failure, such as a certificate that does not match the key. */
const mismatchRereadMs = 1000

/** Returns why TLS cannot use the pair, or undefined if the pair is valid. */
export function keyPairProblem(pair: KeyPair): string | undefined {
  try {
    // An empty `ca` skips loading the system's certificates.
    createSecureContext({ ...pair, ca: [] })
    return undefined
  } catch (thrown) {
    if ((thrown as { readonly code?: unknown }).code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH')
      return 'the key belongs to another certificate'
    return errorMessage(thrown)
  }
}

interface KeyPairSources {
  cert(): string
  key(): string
  readonly where: string
  readonly now?: () => number
}

export class KeyPairFiles {
  private readonly sources: KeyPairSources
  private readonly now: () => number
  private pair: KeyPair | undefined
  private rereadAtMs = Number.NEGATIVE_INFINITY

  constructor(sources: KeyPairSources) {
    this.sources = sources
    this.now = sources.now ?? (() => performance.now())
  }

  current(): KeyPair {
    const { pair } = this
    return pair !== undefined && this.now() < this.rereadAtMs ? pair : this.renew()
  }

  private renew(): KeyPair {
    const { pair: current } = this
    try {
      this.pair = this.read(current)
      this.rereadAtMs = this.now() + rereadMs
      return this.pair
    } catch (thrown) {
      if (current === undefined) throw thrown
      this.rereadAtMs = this.now() + mismatchRereadMs
      return current
    }
  }

  private read(current: KeyPair | undefined): KeyPair {
    const { sources } = this
    const pair = { cert: sources.cert(), key: sources.key() }
    if (current !== undefined && pair.cert === current.cert && pair.key === current.key) return current
    const problem = keyPairProblem(pair)
    if (problem !== undefined) throw new CredentialError(`${sources.where}: client-certificate and client-key cannot be used: ${problem}`)
    return pair
  }
}
