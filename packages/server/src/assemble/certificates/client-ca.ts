// Whose client certificates are believed: authorities of the operator's files, which may change while the server runs, or the server's own.

import { CertificateTrust } from '../auth/certificate-trust.js'
import type { Logger } from '../base/logger.js'
import { trustedOf } from './advertised.js'
import { FollowedFile } from './followed-file.js'
import { checkCertificates } from './options/flag-files.js'
import type { AuthenticationSettings } from './options/settings.js'

export class ClientTrust {
  /** Users. */
  readonly clients: CertificateTrust
  /** Authenticating proxies. */
  readonly proxies: CertificateTrust | undefined
  readonly #settings: AuthenticationSettings
  readonly #followed: FollowedFile[] = []
  readonly #listeners = new Set<() => void>()

  /** `ownCa`: PEM, believed where the operator named nobody else. */
  constructor(settings: AuthenticationSettings, ownCa: string, logger: Logger) {
    const { clientCa, clientCaFile, requestHeader } = settings
    this.#settings = settings
    this.clients = new CertificateTrust(clientCa ?? ownCa)
    this.proxies = requestHeader && new CertificateTrust(requestHeader.ca)
    if (clientCaFile !== undefined) this.#follow(this.clients, clientCaFile, logger)
    if (requestHeader !== undefined && this.proxies !== undefined) this.#follow(this.proxies, requestHeader.caFile, logger)
  }

  /** All authorities, for TLS, which does not know what each is for. */
  get pem(): string {
    return `${this.clients.pem}\n${this.proxies?.pem ?? ''}`
  }

  /** What extension servers are told. */
  get published(): { readonly [name: string]: string } {
    const { requestHeader } = this.#settings
    return trustedOf({
      clientCa: this.clients.pem,
      requestHeader: requestHeader && { ...requestHeader, ca: this.proxies?.pem ?? requestHeader.ca },
    })
  }

  /** Tells of other authorities until the function that it returns is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    for (const file of this.#followed) file.close()
  }

  #follow(trust: CertificateTrust, path: string, logger: Logger): void {
    const take = (text: string): void => {
      checkCertificates(text)
      trust.replace(text)
      for (const listener of this.#listeners) listener()
    }
    this.#followed.push(new FollowedFile({ path, text: trust.pem, take, logger }))
  }
}
