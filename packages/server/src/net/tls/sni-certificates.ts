// Certificates by the name that a client asks for in the TLS handshake: exact names before patterns, and none leaves the usual one.

import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { KeyPair } from './issue-certificate.js'
import { type CertificateFiles, ReloadingCertificate, type ReloadOptions } from './reloading-certificate.js'

export interface NamedFiles {
  readonly files: CertificateFiles
  /** Host names, or patterns with `*.` in front; none: those of the certificate. */
  readonly names: readonly string[]
}

export interface NamedOptions extends Omit<ReloadOptions, 'onChange'> {
  /** That of the listener: client certificates are verified with the context of the name that was asked for. */
  readonly clientCa?: string | undefined
}

/** Lives until `close`; its files are read again when they change. */
export class NamedCertificates {
  #clientCa: string | undefined
  readonly #given: readonly (readonly string[])[]
  readonly #readers: readonly ReloadingCertificate[]
  readonly #contexts = new Map<string, SecureContext>()
  /** The names of each pair that are in the map now. */
  readonly #names: (readonly string[])[] = []

  /** Throws one sentence when files are not a pair now. Of two with the same name the first one counts. */
  constructor(named: readonly NamedFiles[], { clientCa, ...reload }: NamedOptions) {
    this.#clientCa = clientCa
    this.#given = named.map(({ names }) => names)
    this.#readers = named.map(
      ({ files, names }, i) => new ReloadingCertificate(files, { ...reload, onChange: (pair) => this.#take(i, pair, names) }),
    )
    for (const [i, { names }] of named.entries()) this.#take(i, (this.#readers[i] as ReloadingCertificate).current, names)
  }

  /** What to show to a client who asked for a name. */
  find(servername: string): SecureContext | undefined {
    const name = servername.toLowerCase()
    const dot = name.indexOf('.')
    return this.#contexts.get(name) ?? (dot < 0 ? undefined : this.#contexts.get(`*${name.slice(dot)}`))
  }

  /** From now on. */
  setClientCa(clientCa: string): void {
    this.#clientCa = clientCa
    for (const [i, reader] of this.#readers.entries()) this.#take(i, reader.current, this.#given[i] ?? [])
  }

  close(): void {
    for (const reader of this.#readers) reader.close()
  }

  #take(index: number, pair: KeyPair, given: readonly string[]): void {
    const trusted = this.#clientCa === undefined ? {} : { ca: this.#clientCa }
    const context = createSecureContext({ cert: pair.cert, key: pair.key, ...trusted })
    for (const name of this.#names[index] ?? []) this.#contexts.delete(name)
    const taken = new Set(this.#names.flatMap((names, i) => (i === index ? [] : names)))
    const names = (given.length > 0 ? given : namesOf(pair)).filter((name) => !taken.has(name))
    this.#names[index] = names
    for (const name of names) this.#contexts.set(name, context)
  }
}

/** The DNS names in a certificate, or where it has none its common name. */
function namesOf({ cert }: KeyPair): readonly string[] {
  const { subjectAltName, subject } = new X509Certificate(cert)
  const names = (subjectAltName ?? '')
    .split(', ')
    .flatMap((part) => (part.startsWith('DNS:') ? [part.slice('DNS:'.length).toLowerCase()] : []))
  return names.length > 0 ? names : [(/^CN=(.*)$/m.exec(subject)?.[1] ?? '').toLowerCase()]
}
