// CAs of client certificates (--client-ca-file, by default the server's own CA) and of front proxies (--requestheader-client-ca-file);
// changed files are reloaded.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { CertificateTrust } from '../../auth/client-certificates.js'
import { checkCertificates } from '../../options/files/flag-files.js'
import type { AuthenticationSettings } from '../../options/settings.js'
import { ReloadingFile } from '../reloading-file.js'

export class ClientTrust {
  readonly clients: CertificateTrust
  readonly proxies: CertificateTrust | undefined
  readonly #settings: AuthenticationSettings
  readonly #files: ReloadingFile[] = []
  readonly #listeners = new Set<() => void>()

  /** `ownCa`: PEM, used without --client-ca-file. */
  constructor(settings: AuthenticationSettings, ownCa: string, logger: Logger) {
    const { clientCa, clientCaFile, requestHeader } = settings
    this.#settings = settings
    this.clients = new CertificateTrust(clientCa ?? ownCa)
    this.proxies = requestHeader && new CertificateTrust(requestHeader.ca)
    if (clientCaFile !== undefined) this.#follow(this.clients, clientCaFile, logger)
    if (requestHeader !== undefined && this.proxies !== undefined) this.#follow(this.proxies, requestHeader.caFile, logger)
  }

  /** All CAs, for TLS, which does not distinguish their purpose. */
  get pem(): string {
    return `${this.clients.pem}\n${this.proxies?.pem ?? ''}`
  }

  /** Content of the ConfigMap from which extension API servers read these CAs. */
  get published(): { readonly [name: string]: string } {
    const { requestHeader } = this.#settings
    return {
      'client-ca-file': this.clients.pem,
      ...(requestHeader === undefined
        ? {}
        : {
            'requestheader-allowed-names': JSON.stringify(requestHeader.allowedNames),
            'requestheader-client-ca-file': this.proxies?.pem ?? requestHeader.ca,
            'requestheader-extra-headers-prefix': JSON.stringify(requestHeader.extraHeaderPrefixes),
            'requestheader-group-headers': JSON.stringify(requestHeader.groupHeaders),
            'requestheader-username-headers': JSON.stringify(requestHeader.usernameHeaders),
          }),
    }
  }

  /** Calls back when a CA changes. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    for (const file of this.#files) file.close()
  }

  #follow(trust: CertificateTrust, path: string, logger: Logger): void {
    const apply = (text: string): void => {
      checkCertificates(text)
      trust.replace(text)
      for (const listener of this.#listeners) listener()
    }
    this.#files.push(new ReloadingFile({ path, text: trust.pem, apply, logger }))
  }
}
