// Creates keys with a certificate request or a self-signed certificate, by openssl.

import { execFileSync } from 'node:child_process'

interface OpensslRequest {
  readonly keyFile: string
  readonly outFile: string
  /** Subject in the syntax of openssl: `/O=devs/CN=dave`. */
  readonly subject: string
  /** Names in the syntax of openssl: `DNS:a,IP:127.0.0.1`. */
  readonly hosts?: string | undefined
  /** Key type with its options. */
  readonly keyType?: readonly string[]
  /** Undefined: creates a request that a CA signs. */
  readonly selfSignedDays?: number
}

const defaultKeyType = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']

export function makeWithOpenssl({ keyFile, outFile, subject, hosts, keyType = defaultKeyType, selfSignedDays }: OpensslRequest): void {
  const kindFlags = selfSignedDays === undefined ? ['-new'] : ['-x509', '-days', String(selfSignedDays)]
  const names = hosts === undefined ? [] : ['-addext', `subjectAltName=${hosts}`]
  const args = ['req', ...kindFlags, '-newkey', ...keyType, '-nodes', '-keyout', keyFile, '-out', outFile, '-subj', subject, ...names]
  execFileSync('openssl', args, { stdio: 'ignore' })
}
