// Throw-away authorities and certificates.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CertificateRequest, issueCertificate, type KeyPair } from '../../src/net/issue-certificate.js'

const dayMs = 86_400_000

export type Authority = KeyPair & { readonly commonName: string }

const times = () => ({ notBefore: Date.now() - dayMs, notAfter: Date.now() + dayMs })

export const newAuthority = (commonName: string, by?: Authority): Authority => ({
  ...issueCertificate({ commonName, use: 'authority', ...times() }, by),
  commonName,
})

export const newClient = (by: Authority, commonName: string, more: Partial<CertificateRequest> = {}): KeyPair =>
  issueCertificate({ commonName, use: 'client', ...times(), ...more }, by)

/** A folder for files that flags name. */
export class FlagFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), 'security-'))

  /** Gives the path. */
  write(name: string, text: string): string {
    const path = join(this.#folder, name)
    writeFileSync(path, text)
    return path
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
