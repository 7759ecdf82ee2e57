// Certificates by SNI host name (--tls-sni-cert-key): exact names before wildcards; the default certificate if none matches.

import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { KeyPair } from './issue-certificate.js'
import { type CertificateFiles, ReloadingCertificate, type ReloadOptions } from './reloading-certificate.js'

interface SniFiles {
  readonly files: CertificateFiles
  /** Host names and wildcards (`*.`); default: the names of the certificate. */
  readonly names: readonly string[]
}

export interface SniOptions extends Omit<ReloadOptions, 'onChange'> {
  /** Client certificates are verified in the TLS context of the SNI name. */
  readonly clientCa?: string | undefined
}

/** Reloads the files until `close`. */
export class SniCertificates {
  #clientCa: string | undefined
  readonly #configuredNames: readonly (readonly string[])[]
  readonly #readers: readonly ReloadingCertificate[]
  readonly #contexts = new Map<string, SecureContext>()
  readonly #names: (readonly string[])[] = []

  /** Throws if a key does not match its certificate. The first of two entries with the same name wins. */
  constructor(entries: readonly SniFiles[], { clientCa, ...reload }: SniOptions) {
    this.#clientCa = clientCa
    this.#configuredNames = entries.map(({ names }) => names)
    this.#readers = entries.map(
      ({ files, names }, i) => new ReloadingCertificate(files, { ...reload, onChange: (pair) => this.#apply(i, pair, names) }),
    )
    for (const [i, { names }] of entries.entries()) this.#apply(i, (this.#readers[i] as ReloadingCertificate).current, names)
  }

  find(servername: string): SecureContext | undefined {
    const name = servername.toLowerCase()
    const dot = name.indexOf('.')
    return this.#contexts.get(name) ?? (dot < 0 ? undefined : this.#contexts.get(`*${name.slice(dot)}`))
  }

  setClientCa(clientCa: string): void {
    this.#clientCa = clientCa
    for (const [i, reader] of this.#readers.entries()) this.#apply(i, reader.current, this.#configuredNames[i] ?? [])
  }

  close(): void {
    for (const reader of this.#readers) reader.close()
  }

  #apply(index: number, pair: KeyPair, configured: readonly string[]): void {
    const trusted = this.#clientCa === undefined ? {} : { ca: this.#clientCa }
    const context = createSecureContext({ cert: pair.cert, key: pair.key, ...trusted })
    for (const name of this.#names[index] ?? []) this.#contexts.delete(name)
    const taken = new Set(this.#names.flatMap((names, i) => (i === index ? [] : names)))
    const names = (configured.length > 0 ? configured : namesOf(pair)).filter((name) => !taken.has(name))
    this.#names[index] = names
    for (const name of names) this.#contexts.set(name, context)
  }
}

function namesOf({ cert }: KeyPair): readonly string[] {
  const { subjectAltName, subject } = new X509Certificate(cert)
  const names = (subjectAltName ?? '')
    .split(', ')
    .flatMap((part) => (part.startsWith('DNS:') ? [part.slice('DNS:'.length).toLowerCase()] : []))
  return names.length > 0 ? names : [(/^CN=(.*)$/m.exec(subject)?.[1] ?? '').toLowerCase()]
}
