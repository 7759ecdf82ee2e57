// Keys with a certificate request, or with a certificate that they signed themselves, made by openssl.

import { execFileSync } from 'node:child_process'

export interface OpensslRequest {
  readonly keyFile: string
  readonly outFile: string
  /** As openssl writes them: `/O=devs/CN=dave`. */
  readonly subject: string
  /** As openssl writes them: `DNS:a,IP:127.0.0.1`. */
  readonly hosts?: string | undefined
  /** With the options that the type needs. */
  readonly keyType?: readonly string[]
  /** Left out: a request that somebody else is to sign. */
  readonly selfSignedDays?: number
}

const usualKey = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']

export function makeWithOpenssl({ keyFile, outFile, subject, hosts, keyType = usualKey, selfSignedDays }: OpensslRequest): void {
  const form = selfSignedDays === undefined ? ['-new'] : ['-x509', '-days', String(selfSignedDays)]
  const names = hosts === undefined ? [] : ['-addext', `subjectAltName=${hosts}`]
  const words = ['req', ...form, '-newkey', ...keyType, '-nodes', '-keyout', keyFile, '-out', outFile, '-subj', subject, ...names]
  execFileSync('openssl', words, { stdio: 'ignore' })
}
