// Detects and counts server certificates without subject alternative names or with SHA-1 signatures, as kube-apiserver does.

import type { X509Certificate } from 'node:crypto'
import { checkServerIdentity, type PeerCertificate, type TLSSocket } from 'node:tls'
import { issuersOf } from './peer-certificate.js'

interface CertificateFlaws {
  readonly lacksNames: boolean
  /** The certificate or one of its issuers, except a self-signed root, is signed with SHA-1. */
  readonly isSha1: boolean
}

const noFlaws: CertificateFlaws = { lacksNames: false, isSha1: false }

interface CertificateCounts {
  readonly lackedNames: number
  readonly wereSha1: number
}

/** Counts each response over a connection with such a certificate, and each handshake that failed because of it. */
export class CertificateCounter {
  lackedNames = 0
  wereSha1 = 0

  /** Returns the counts since the last call. */
  take(): CertificateCounts {
    const { lackedNames, wereSha1 } = this
    this.lackedNames = 0
    this.wereSha1 = 0
    return { lackedNames, wereSha1 }
  }

  add({ lackedNames, wereSha1 }: CertificateCounts): void {
    this.lackedNames += lackedNames
    this.wereSha1 += wereSha1
  }
}

export type CertificateFlaw = keyof CertificateFlaws

/** Counts the flaws of one server's certificate. */
export class CertificateFlawCounter {
  readonly #counter: CertificateCounter
  #last = noFlaws

  constructor(counter: CertificateCounter) {
    this.#counter = counter
  }

  countResponse(socket: object | undefined, onFlaw?: (flaw: CertificateFlaw) => void): void {
    // A resumed session has no certificate: the flaws of the previous handshake apply.
    if (socket !== undefined) this.#last = flawsOf(socket as TLSSocket) ?? this.#last
    if (this.#last.lacksNames) this.#count('lacksNames', onFlaw)
    if (this.#last.isSha1) this.#count('isSha1', onFlaw)
  }

  countFailure(thrown: unknown, onFlaw?: (flaw: CertificateFlaw) => void): void {
    const { code, message } = thrown as NodeJS.ErrnoException
    if (code === legacyNameCode) this.#count('lacksNames', onFlaw)
    // Node.js has no error code for weak signatures.
    else if (typeof message === 'string' && /signature digest algorithm too weak/i.test(message)) this.#count('isSha1', onFlaw)
  }

  #count(flaw: CertificateFlaw, onFlaw: ((flaw: CertificateFlaw) => void) | undefined): void {
    this.#counter[flaw === 'lacksNames' ? 'lackedNames' : 'wereSha1']++
    onFlaw?.(flaw)
  }
}

const legacyNameCode = 'CERT_LEGACY_NAME'

/** Like Node.js, but refuses certificates that have only a common name, as kube-apiserver does. */
export function checkServerName(host: string, certificate: PeerCertificate): Error | undefined {
  const error = checkServerIdentity(host, certificate)
  if (error !== undefined || certificate.subjectaltname !== undefined) return error
  return Object.assign(new Error('x509: certificate relies on legacy Common Name field, use SANs instead'), { code: legacyNameCode })
}

const cache = new WeakMap<object, CertificateFlaws>()

function flawsOf(socket: TLSSocket): CertificateFlaws | undefined {
  const found = cache.get(socket)
  if (found !== undefined) return found
  const certificate = socket.getPeerX509Certificate?.()
  if (certificate === undefined) return undefined
  const signed = [certificate, ...issuersOf(certificate)].filter(({ issuer, subject }) => issuer !== subject)
  const flaws = { lacksNames: certificate.subjectAltName === undefined, isSha1: signed.some(isSignedWithSha1) }
  cache.set(socket, flaws)
  return flaws
}

/** OBJECT IDENTIFIERs of sha1WithRSAEncryption and ecdsa-with-SHA1. */
const sha1Algorithms = ['2a864886f70d010105', '2a8648ce3d0401']

/** The signature algorithm follows the signed part (RFC 5280). */
function isSignedWithSha1({ raw }: Pick<X509Certificate, 'raw'>): boolean {
  const signed = contentRange(raw, contentRange(raw, 0).start)
  const algorithm = contentRange(raw, signed.end)
  const id = contentRange(raw, algorithm.start)
  return sha1Algorithms.includes(raw.subarray(id.start, id.end).toString('hex'))
}

/** Certificates of later versions begin with their version number, with the tag [0]. */
export const isVersion1 = ({ raw }: Pick<X509Certificate, 'raw'>): boolean =>
  raw[contentRange(raw, contentRange(raw, 0).start).start] !== 0xa0

/** Start and end of the content of the DER value at an offset. */
function contentRange(der: Buffer, offset: number): { readonly start: number; readonly end: number } {
  const lengthByte = der[offset + 1] ?? 0
  if (lengthByte < 0x80) return { start: offset + 2, end: offset + 2 + lengthByte }
  const bytes = lengthByte & 0x7f
  const start = offset + 2 + bytes
  return { start, end: start + der.readUIntBE(offset + 2, Math.min(bytes, 6)) }
}
