// Requests for certificates that somebody approved are signed, as far as they are for the signers that this server is.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { ApiError } from '../api/api-error.js'
import type { Identity } from '../api/identity.js'
import { type Authority, type CertificateRequest as Certificate, certifyKey, type SigningAuthority } from '../net/issue-certificate.js'
import { partsOf } from '../objects/keys.js'
import { leanObject } from '../objects/lean-object.js'
import { type CertificateRequest, readCertificateRequest, SignedDataError } from '../resources/certificates/signed-data.js'
import type { CertificateSigningRequest } from '../resources/certificates/v1.schema.js'
import { encodeText } from '../resources/core/base64-text.js'
import { KeyedLoop, type LoopParts } from './kit/loop.js'
import type { Loop } from './leader-election.js'
import { patchOwn } from './own-write.js'
import { signerRules } from './signer-rules.js'

/** Nobody gets a certificate for less who asks for little. */
const leastSeconds = 600
/** For clients whose clock is behind. */
const backdateMs = 300_000
/** What is valid for longer than this is also shorter by what it was dated back. */
const shortSeconds = 8 * 3600

/** Who signs. */
export interface Signer {
  readonly authority: Authority | SigningAuthority
  /** When its own certificate ends, in milliseconds since 1970. */
  readonly endMs: number
}

export interface Signing {
  /** By the names of signers; those that are not there do not sign. */
  readonly signers: ReadonlyMap<string, Signer>
  /** How long certificates are valid at most. */
  readonly seconds: number
}

export const certificateSigning =
  (signing: Signing) =>
  (parts: LoopParts): Loop =>
    new KeyedLoop(parts, {
      name: 'csrsigning',
      sources: (catalog) => {
        const resource = catalog.find(parts.engine.identity.group({ stem: 'certificates' }), 'v1', 'certificatesigningrequests')
        if (resource === undefined) return []
        return [{ resource, namespace: '', keyOf: ({ key }, seen) => (seen === 'DELETED' ? undefined : partsOf(resource, key).name) }]
      },
      work: async (name) => {
        await signIfApproved(parts, signing, name)
        return undefined
      },
    })

async function signIfApproved({ engine, catalogs }: LoopParts, signing: Signing, name: string): Promise<void> {
  const { identity, clock } = engine
  const resource = catalogs.current.find(identity.group({ stem: 'certificates' }), 'v1', 'certificatesigningrequests')
  const stored = resource && engine.store.read({ resource, namespace: '', name })
  if (resource === undefined || stored === undefined) return
  const request = leanObject(stored, resource) as CertificateSigningRequest
  if (!isWaiting(request)) return
  const outcome = issue(identity, signing, { request, now: clock.now() })
  if (outcome === undefined) return
  const { uid = '', resourceVersion = '' } = request.metadata ?? {}
  try {
    await patchOwn(engine, { resource, name, subresource: 'status' }, { metadata: { uid, resourceVersion }, status: outcome(request) })
  } catch (thrown) {
    // Somebody changed or deleted it meanwhile, of which the loop hears.
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
}

function isWaiting({ status: { conditions = [], certificate = '' } = {} }: CertificateSigningRequest): boolean {
  const has = (wanted: string): boolean => conditions.some(({ type }) => type === wanted)
  return certificate === '' && has('Approved') && !has('Denied') && !has('Failed')
}

type Outcome = (request: CertificateSigningRequest) => object

/** What becomes of its status; undefined: it is for other signers. */
function issue(
  identity: Identity,
  { signers, seconds: most }: Signing,
  { request, now }: { readonly request: CertificateSigningRequest; readonly now: number },
): Outcome | undefined {
  const { signerName = '', usages = [], expirationSeconds } = request.spec ?? {}
  const rule = signerRules(identity).get(signerName)
  const signer = signers.get(signerName)
  if (rule === undefined || signer === undefined) return undefined
  try {
    const wanted = readCertificateRequest(request.spec?.request ?? '')
    const publicKey = ownedKey(wanted)
    const problem = rule.problemOf(wanted, usages)
    if (problem !== undefined) return failed(problem)
    const certificate: Certificate = {
      commonName: wanted.commonName,
      organizations: wanted.organizations,
      hosts: wanted.hosts,
      emails: wanted.emails,
      uris: wanted.uris,
      use: rule.use,
      signsData: usages.includes('digital signature'),
      enciphersKeys: usages.includes('key encipherment'),
      ...validity({ seconds: secondsFor(expirationSeconds, most), now, endMs: signer.endMs }),
    }
    const pem = certifyKey(certificate, publicKey, signer.authority)
    return () => ({ certificate: encodeText(pem) })
  } catch (thrown) {
    if (thrown instanceof SignedDataError) return failed(thrown.message)
    throw thrown
  }
}

function secondsFor(wanted: number | undefined, most: number): number {
  if (wanted === undefined || wanted > most) return most
  return Math.max(leastSeconds, wanted)
}

interface Span {
  readonly seconds: number
  readonly now: number
  readonly endMs: number
}

/** Nothing is valid for longer than the certificate of who signed it. */
export function validity({ seconds, now, endMs }: Span): { readonly notBefore: number; readonly notAfter: number } {
  if (now >= endMs) throw new Error(`the certificate of the signer has ended at ${new Date(endMs).toISOString()}`)
  const wantedMs = now + seconds * 1000 - (seconds < shortSeconds ? 0 : backdateMs)
  return { notBefore: now - backdateMs, notAfter: Math.min(wantedMs, endMs) }
}

const failed =
  (message: string): Outcome =>
  ({ status }) => ({
    conditions: [...(status?.conditions ?? []), { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message }],
  })

const digests: { readonly [signatureAlgorithm: string]: string | null } = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
}

/** Whoever asks must have the key: the request is signed with it. */
function ownedKey({ signed, publicKey, signatureAlgorithm, signature }: CertificateRequest): KeyObject {
  const digest = digests[signatureAlgorithm]
  if (digest === undefined) throw new SignedDataError('the request is signed with an algorithm that is not known')
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
    if (verify(digest, signed, key, signature)) return key
  } catch {
    // Falls through to the same sentence as a signature of another key.
  }
  throw new SignedDataError('the request is not signed with the key that it asks a certificate for')
}
