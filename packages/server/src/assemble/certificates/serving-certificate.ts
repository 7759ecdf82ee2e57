// The serving certificate: from --tls-cert-file or --cert-dir, reloaded on changes, or generated with a CA of its own at the first start.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { type Authority, issueCertificate, type KeyPair } from '../../net/tls/issue-certificate.js'
import { type CertificateFiles, ReloadingCertificate } from '../../net/tls/reloading-certificate.js'
import { isUnspecified } from '../../options/advertise-address.js'
import { readOptionalFile, writePrivateFile } from '../../options/files/private-files.js'
import type { Settings } from '../../options/settings.js'
import { StartupError } from '../../options/startup-error.js'

interface ServingCertificate extends KeyPair {
  readonly caPem: string
  readonly authority: KeyPair
}

export interface CertificateOptions {
  /** Folder of the certificate; undefined: the certificate is not saved. */
  readonly folder: string | undefined
  /** Name of the files of the pair; default: `serving`. */
  readonly pairName?: string
  /** Names and addresses of the certificate. */
  readonly hosts: readonly string[]
  readonly commonName: string
  readonly now: number
  /** Uses the files as they are. Several processes that renew them at the same time would mix their files. */
  readonly neverRenews?: boolean
}

const dayMs = 86_400_000
const caDays = 3650
/** Some clients reject serving certificates with a lifetime of more than 825 days. */
const servingDays = 800
/** A start renews certificates that expire within this time. */
const renewBeforeDays = 30

export const pkiFolder = (dataDir: string): string => join(dataDir, 'pki')
export const caFile = (folder: string): string => join(folder, 'ca.crt')

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

/** Reuses a valid certificate of the folder, or issues a new one and saves it if there is a folder. */
export async function ensureServingCertificate(options: CertificateOptions): Promise<ServingCertificate> {
  const { folder, pairName = ownPairName } = options
  const authority = await ensureCa(options)
  const existing = folder === undefined ? undefined : readPair(folder, pairName)
  if (existing !== undefined && (options.neverRenews === true || coversHosts(existing.certificate, authority, options)))
    return { cert: existing.cert, key: existing.key, caPem: authority.cert, authority }
  const serving = await issueServing(options, authority)
  if (folder !== undefined) writePair(folder, pairName, serving)
  return { ...serving, caPem: authority.cert, authority }
}

/** Reuses a valid CA of the folder, or issues a new one. */
async function ensureCa(options: Omit<CertificateOptions, 'hosts'>): Promise<KeyPair> {
  const { folder, now, neverRenews } = options
  if (folder === undefined) return issueCa(options)
  const existing = readPair(folder, 'ca')
  if (existing !== undefined && (neverRenews === true || isValid(existing.certificate, now)))
    return { cert: existing.cert, key: existing.key }
  const authority = await issueCa(options)
  writePair(folder, 'ca', authority)
  return authority
}

async function issueCa({ commonName, now }: Omit<CertificateOptions, 'hosts'>): Promise<KeyPair> {
  return issueCertificate({ commonName: caName(commonName), use: 'authority', ...validity(now, caDays) })
}

async function issueServing({ commonName, hosts, now }: CertificateOptions, authority: KeyPair): Promise<KeyPair> {
  return issueCertificate({ commonName, hosts, use: 'server', ...validity(now, servingDays) }, signerOf(authority))
}

export const signerOf = (authority: KeyPair): Authority => ({
  ...authority,
  commonName: /^CN=(.*)$/m.exec(new X509Certificate(authority.cert).subject)?.[1] ?? '',
})

const caName = (commonName: string): string => `${commonName}-ca`

/** Backdated by an hour, for clients whose clock is behind. */
const validity = (now: number, days: number): { readonly notBefore: number; readonly notAfter: number } => ({
  notBefore: now - 3_600_000,
  notAfter: now + days * dayMs,
})

const isValid = (certificate: X509Certificate, now: number): boolean => Date.parse(certificate.validTo) - now > renewBeforeDays * dayMs

function coversHosts(certificate: X509Certificate, authority: KeyPair, { hosts, now }: CertificateOptions): boolean {
  if (!isValid(certificate, now) || !certificate.verify(new X509Certificate(authority.cert).publicKey)) return false
  return hosts.every((host) => (isAddress(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined)
}

/** `isIPv6` compiles a regular expression, which is slow at the start. */
const isAddress = (host: string): boolean => host.includes(':') || isIPv4(host)

interface LoadedPair extends KeyPair {
  readonly certificate: X509Certificate
}

/** Undefined if a file is missing. Throws for a mismatched pair, which the operator must resolve. */
function readPair(folder: string, name: string): LoadedPair | undefined {
  const path = (ending: string): string => join(folder, `${name}.${ending}`)
  const cert = readOptionalFile(path('crt'))
  const key = readOptionalFile(path('key'))
  if (cert === undefined || key === undefined) return undefined
  try {
    const certificate = new X509Certificate(cert)
    if (certificate.checkPrivateKey(createPrivateKey(key))) return { cert, key, certificate }
  } catch {
    // Not a certificate or not a key: reported below.
  }
  throw new StartupError(`${path('crt')} and ${path('key')} are not a certificate and its key; remove both to generate new ones`)
}

/** Names of the pair in the data folder, and in --cert-dir as in kube-apiserver. */
const ownPairName = 'serving'
const certDirPairName = 'apiserver'

/** Files of the CA and the serving certificate that a start generates if they are missing. */
export function generatedCertificateFiles({ dataDir, tls, serving: { certDir } }: Settings): readonly string[] {
  const folder = certDir ?? (dataDir && pkiFolder(dataDir))
  if (folder === undefined) return []
  const pair = certDir === undefined ? ownPairName : certDirPairName
  return ['ca', ...(tls.files === undefined ? [pair] : [])].flatMap((name) => [join(folder, `${name}.crt`), join(folder, `${name}.key`)])
}

/** The pair in --cert-dir, unless the CA in --cert-dir issued the pair, which the server then renews. */
function operatorPair(certDir: string): CertificateFiles | undefined {
  const pair = readPair(certDir, certDirPairName)
  const ca = pair && readPair(certDir, 'ca')
  if (pair === undefined || (ca !== undefined && pair.certificate.verify(ca.certificate.publicKey))) return undefined
  return { certFile: join(certDir, `${certDirPairName}.crt`), keyFile: join(certDir, `${certDirPairName}.key`) }
}

function writePair(folder: string, name: string, pair: KeyPair): void {
  writePrivateFile(join(folder, `${name}.key`), pair.key)
  writePrivateFile(join(folder, `${name}.crt`), pair.cert)
}

export interface ReloadableCertificate extends ServingCertificate {
  /** CA for clients of this server; follows the files, unlike `caPem`. */
  readonly rootPem: string
  /** Calls back after the files have changed. Returns the function that unsubscribes. */
  onChange(listener: (pair: KeyPair) => void): () => void
  close(): void
}

/** True if the certificate is generated and not saved. */
export const isGenerated = ({ dataDir, tls, serving }: Settings): boolean =>
  dataDir === undefined && tls.files === undefined && serving.certDir === undefined

export async function servingCertificate(
  { identity, dataDir, bindAddress, tls, serving }: Settings,
  logger: Logger,
  { neverRenews = false }: Pick<CertificateOptions, 'neverRenews'> = {},
): Promise<ReloadableCertificate> {
  const { certDir } = serving
  const options = {
    ...(certDir === undefined ? {} : { pairName: certDirPairName }),
    folder: certDir ?? (dataDir === undefined ? undefined : pkiFolder(dataDir)),
    hosts: [...servingHosts(identity, bindAddress), ...(serving.externalHostname === undefined ? [] : [serving.externalHostname])],
    commonName: identity.prefixed('apiserver'),
    now: systemClock.now(),
    neverRenews,
  }
  const files = tls.files ?? (certDir === undefined ? undefined : operatorPair(certDir))
  if (files === undefined) {
    const generated = await ensureServingCertificate(options)
    return { ...generated, rootPem: generated.caPem, onChange: () => () => undefined, close: () => undefined }
  }
  const authority = await ensureCa(options)
  const listeners = new Set<(pair: KeyPair) => void>()
  const reloading = new ReloadingCertificate(files, {
    logger,
    onChange: (pair) => {
      for (const listener of listeners) listener(pair)
    },
  })
  return {
    ...reloading.current,
    caPem: reloading.current.cert,
    authority,
    get rootPem() {
      return reloading.current.cert
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => reloading.close(),
  }
}
