// Certificates that a server makes for itself: an authority and a serving certificate, made at the first start and used again later.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Identity } from '../api/identity.js'
import type { Authority, KeyPair } from '../net/issue-certificate.js'
import { isUnspecified } from './advertised.js'
import { readOptionalFile, type WriteFile, writePrivateFile } from './private-files.js'
import { StartError } from './start-failure.js'

export interface ServingCertificate extends KeyPair {
  /** What clients must trust. */
  readonly caPem: string
  /** The server's own authority. */
  readonly authority: KeyPair
}

export interface CertificateNeeds {
  /** Left out: nothing is read or written, the certificates live as long as the process. */
  readonly folder: string | undefined
  /** Every name and address by which clients may call the server. */
  readonly hosts: readonly string[]
  readonly commonName: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** How files are written; left out: they are durable at once. */
  readonly write?: WriteFile
}

const dayMs = 86_400_000
const authorityDays = 3650
/** Some clients refuse server certificates that are valid for longer than 825 days. */
const servingDays = 800
/** Renewed at a start so that it does not expire soon after. */
const renewDays = 30

export const pkiFolder = (dataDir: string): string => join(dataDir, 'pki')
/** In the folder of the certificates. */
export const caFile = (folder: string): string => join(folder, 'ca.crt')

/** The names of this machine and of the API's own service, beside the address that the server binds to. */
export function servingHosts(identity: Identity, bindAddress: string): readonly string[] {
  const isWildcard = isUnspecified(bindAddress)
  const addresses = isWildcard
    ? Object.values(networkInterfaces()).flatMap((list) =>
        (list ?? []).filter((entry) => !entry.address.startsWith('fe80:')).map((entry) => entry.address),
      )
    : [bindAddress]
  const service = `${identity.self}.default`
  const ownNames = [identity.self, service, `${service}.svc`, `${service}.svc.cluster.local`]
  return [...new Set(['localhost', '127.0.0.1', '::1', ...addresses, hostname().toLowerCase(), ...ownNames])]
}

/** What is in the data folder when it still serves, otherwise a new one, kept there for the next start. */
export async function ensureServingCertificate(needs: CertificateNeeds): Promise<ServingCertificate> {
  const { folder } = needs
  const authority = await ensureAuthority(needs)
  const kept = folder === undefined ? undefined : readPair(folder, 'serving')
  if (kept !== undefined && serves(kept.certificate, authority, needs))
    return { cert: kept.cert, key: kept.key, caPem: authority.cert, authority }
  const serving = await issueServing(needs, authority)
  if (folder !== undefined) writePair(folder, 'serving', serving, needs.write)
  return { ...serving, caPem: authority.cert, authority }
}

/** The authority of the data folder, made when there is none that is in force. */
export async function ensureAuthority(needs: Omit<CertificateNeeds, 'hosts'>): Promise<KeyPair> {
  const { folder, now } = needs
  if (folder === undefined) return issueAuthority(needs)
  const kept = readPair(folder, 'ca')
  if (kept !== undefined && isInForce(kept.certificate, now)) return { cert: kept.cert, key: kept.key }
  const authority = await issueAuthority(needs)
  writePair(folder, 'ca', authority, needs.write)
  return authority
}

async function issueAuthority({ commonName, now }: Omit<CertificateNeeds, 'hosts'>): Promise<KeyPair> {
  const { issueCertificate } = await import('../net/issue-certificate.js')
  return issueCertificate({ commonName: authorityName(commonName), use: 'authority', ...validity(now, authorityDays) })
}

async function issueServing({ commonName, hosts, now }: CertificateNeeds, authority: KeyPair): Promise<KeyPair> {
  const { issueCertificate } = await import('../net/issue-certificate.js')
  return issueCertificate({ commonName, hosts, use: 'server', ...validity(now, servingDays) }, signerOf(authority))
}

/** An authority under the name that its certificate has. */
export const signerOf = (authority: KeyPair): Authority => ({
  ...authority,
  commonName: /^CN=(.*)$/m.exec(new X509Certificate(authority.cert).subject)?.[1] ?? '',
})

const authorityName = (commonName: string): string => `${commonName}-ca`

/** From an hour ago, for clients whose clock is behind. */
const validity = (now: number, days: number): { readonly notBefore: number; readonly notAfter: number } => ({
  notBefore: now - 3_600_000,
  notAfter: now + days * dayMs,
})

const isInForce = (certificate: X509Certificate, now: number): boolean => Date.parse(certificate.validTo) - now > renewDays * dayMs

function serves(certificate: X509Certificate, authority: KeyPair, { hosts, now }: CertificateNeeds): boolean {
  if (!isInForce(certificate, now) || !certificate.verify(new X509Certificate(authority.cert).publicKey)) return false
  return hosts.every((host) => (isAddress(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined)
}

/** To ask the platform whether a name is an address of version 6 compiles a pattern that takes longer than all the rest here. */
const isAddress = (host: string): boolean => host.includes(':') || isIPv4(host)

interface KeptPair extends KeyPair {
  readonly certificate: X509Certificate
}

/** Undefined when one of the two files is missing; what is there and cannot be read as a pair is the operator's to decide on. */
function readPair(folder: string, name: string): KeptPair | undefined {
  const path = (ending: string): string => join(folder, `${name}.${ending}`)
  const cert = readOptionalFile(path('crt'))
  const key = readOptionalFile(path('key'))
  if (cert === undefined || key === undefined) return undefined
  try {
    const certificate = new X509Certificate(cert)
    if (certificate.checkPrivateKey(createPrivateKey(key))) return { cert, key, certificate }
  } catch {
    // Falls through to the same sentence as a key that does not belong to the certificate.
  }
  throw new StartError(`${path('crt')} and ${path('key')} are not a certificate and its key; remove both to have new ones made`)
}

function writePair(folder: string, name: string, pair: KeyPair, write: WriteFile = writePrivateFile): void {
  write(join(folder, `${name}.key`), pair.key)
  write(join(folder, `${name}.crt`), pair.cert)
}
