// What servers show of themselves that nobody should any more: certificates without names of their own, and signatures of SHA-1. The reference takes
// neither, and counts both, so that whoever runs such a server is found.

import type { X509Certificate } from 'node:crypto'
import { checkServerIdentity, type PeerCertificate, type TLSSocket } from 'node:tls'

export interface CertificateFlaws {
  /** It has no names but the common one. */
  readonly lacksNames: boolean
  /** It, or one of those that signed it, was signed with SHA-1; one that signed itself does not count. */
  readonly isSha1: boolean
}

const none: CertificateFlaws = { lacksNames: false, isSha1: false }

export interface CertificateCounts {
  readonly lackedNames: number
  readonly wereSha1: number
}

/** How often such certificates were shown, by answer: of those that were taken and of those for which nobody was asked. */
export class CertificateTally {
  lackedNames = 0
  wereSha1 = 0

  /** What was counted since it was taken the last time. */
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

/** What one server shows. Whoever asked may want to be told of it, too. */
export class ShownCertificate {
  readonly #tally: CertificateTally
  #last = none

  constructor(tally: CertificateTally) {
    this.#tally = tally
  }

  countAnswer(socket: object | undefined, tell?: (flaw: CertificateFlaw) => void): void {
    // A session that is taken up again comes without a certificate: it is that of the session before.
    if (socket !== undefined) this.#last = flawsOf(socket as TLSSocket) ?? this.#last
    if (this.#last.lacksNames) this.#count('lacksNames', tell)
    if (this.#last.isSha1) this.#count('isSha1', tell)
  }

  countFailure(thrown: unknown, tell?: (flaw: CertificateFlaw) => void): void {
    const { code, message } = thrown as NodeJS.ErrnoException
    if (code === legacyNameCode) this.#count('lacksNames', tell)
    // OpenSSL says it in these words, and has no code for it that Node knows.
    else if (typeof message === 'string' && /signature digest algorithm too weak/i.test(message)) this.#count('isSha1', tell)
  }

  #count(flaw: CertificateFlaw, tell: ((flaw: CertificateFlaw) => void) | undefined): void {
    this.#tally[flaw === 'lacksNames' ? 'lackedNames' : 'wereSha1']++
    tell?.(flaw)
  }
}

const legacyNameCode = 'CERT_LEGACY_NAME'

/** Node takes the common name for a name where there is no other; the reference does not. */
export function checkServerName(host: string, certificate: PeerCertificate): Error | undefined {
  const found = checkServerIdentity(host, certificate)
  if (found !== undefined || certificate.subjectaltname !== undefined) return found
  return Object.assign(new Error('x509: certificate relies on legacy Common Name field, use SANs instead'), { code: legacyNameCode })
}

const known = new WeakMap<object, CertificateFlaws>()

/** Worked out once for each connection. */
function flawsOf(socket: TLSSocket): CertificateFlaws | undefined {
  const found = known.get(socket)
  if (found !== undefined) return found
  const shown = socket.getPeerX509Certificate?.()
  if (shown === undefined) return undefined
  const flaws = { lacksNames: shown.subjectAltName === undefined, isSha1: signersOf(shown).some(isSignedWithSha1) }
  known.set(socket, flaws)
  return flaws
}

/** Longer chains are nobody's. */
const mostIssuers = 8

function signersOf(leaf: X509Certificate): readonly X509Certificate[] {
  const all: X509Certificate[] = []
  for (
    let current: X509Certificate | undefined = leaf;
    current !== undefined && all.length < mostIssuers;
    current = current.issuerCertificate
  ) {
    if (current.issuer === current.subject) break
    all.push(current)
  }
  return all
}

/** `sha1WithRSAEncryption` and `ecdsa-with-SHA1`. */
const sha1Names = ['2a864886f70d010105', '2a8648ce3d0401']

/** The name of the algorithm stands behind the part that is signed. */
export function isSignedWithSha1({ raw }: Pick<X509Certificate, 'raw'>): boolean {
  const signed = headOf(raw, headOf(raw, 0).start)
  const algorithm = headOf(raw, signed.end)
  const name = headOf(raw, algorithm.start)
  return sha1Names.includes(raw.subarray(name.start, name.end).toString('hex'))
}

/** Where the content of a value of DER begins and ends. */
function headOf(der: Buffer, at: number): { readonly start: number; readonly end: number } {
  const short = der[at + 1] ?? 0
  if (short < 0x80) return { start: at + 2, end: at + 2 + short }
  const bytes = short & 0x7f
  const start = at + 2 + bytes
  return { start, end: start + der.readUIntBE(at + 2, Math.min(bytes, 6)) }
}
