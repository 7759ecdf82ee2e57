// Temporary CAs, client certificates and flag files for tests.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CertificateRequest, issueCertificate, type KeyPair } from '../../src/net/tls/issue-certificate.js'

const dayMs = 86_400_000

type Authority = KeyPair & { readonly commonName: string }

const validity = () => ({ notBefore: Date.now() - dayMs, notAfter: Date.now() + dayMs })

export const newAuthority = (commonName: string, issuer?: Authority): Authority => ({
  ...issueCertificate({ commonName, use: 'authority', ...validity() }, issuer),
  commonName,
})

export const newClient = (issuer: Authority, commonName: string, more: Partial<CertificateRequest> = {}): KeyPair =>
  issueCertificate({ commonName, use: 'client', ...validity(), ...more }, issuer)

/** Temporary files that flags refer to. */
export class FlagFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), 'security-'))

  write(name: string, text: string): string {
    const path = join(this.#folder, name)
    writeFileSync(path, text)
    return path
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
