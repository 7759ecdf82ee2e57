// Signs approved CertificateSigningRequests of the built-in signers (csrsigning).

import { createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import {
  type CertificateRequest,
  DerError,
  derMembers,
  readCertificateRequest,
  readDer,
  SignedDataError,
} from '@cluster-apiserver/api/resources/certificates/certificate-der.js'
import type { CertificateSigningRequest } from '@cluster-apiserver/api/resources/certificates/v1.schema.js'
import { encodeText } from '@cluster-apiserver/api/resources/core/base64-text.js'
import * as der from '../../net/tls/der.js'
import {
  type Authority,
  type CertificateRequest as Certificate,
  certifyKey,
  type KeyPair,
  type SigningAuthority,
} from '../../net/tls/issue-certificate.js'
import { partsOf } from '../../objects/object-keys.js'
import { type ControllerParts, KeyedController } from '../framework/controller.js'
import { ignoreErrors, internalPatch, notFoundOrConflict } from '../framework/internal-call.js'
import type { Controller } from '../leader-election/leader-election.js'
import { signerRules } from './signer-rules.js'

/** Minimum lifetime, as in kube-controller-manager. */
const minSeconds = 600
/** For clients whose clock is behind. */
const backdateMs = 300_000
/** From this lifetime on, the backdated time is subtracted from the end, as in kube-controller-manager. */
const shortSeconds = 8 * 3600

export interface Signer {
  readonly authority: Authority | SigningAuthority
  /** Expiry of the CA certificate, in milliseconds since 1970. */
  readonly endMs: number
}

interface SigningOptions {
  readonly signers: ReadonlyMap<string, Signer>
  readonly seconds: number
}

export const certificateSigning =
  (signing: SigningOptions) =>
  (parts: ControllerParts): Controller =>
    new KeyedController(parts, {
      name: 'csrsigning',
      sources: (catalog) => {
        const resource = catalog.find(parts.engine.identity.group({ stem: 'certificates' }), 'v1', 'certificatesigningrequests')
        if (resource === undefined) return []
        return [
          { resource, namespace: '', keyOf: ({ key }, eventType) => (eventType === 'DELETED' ? undefined : partsOf(resource, key).name) },
        ]
      },
      work: async (name) => {
        await signIfApproved(parts, signing, name)
        return undefined
      },
    })

async function signIfApproved({ engine, catalogs }: ControllerParts, signing: SigningOptions, name: string): Promise<void> {
  const { identity, clock } = engine
  const resource = catalogs.current.find(identity.group({ stem: 'certificates' }), 'v1', 'certificatesigningrequests')
  const stored = resource && engine.store.read({ resource, namespace: '', name })
  if (resource === undefined || stored === undefined) return
  const request = stored.decode(resource) as CertificateSigningRequest
  if (!isReadyToSign(request)) return
  const outcome = issue(identity, signing, { request, now: clock.now() })
  if (outcome === undefined) return
  const { uid = '', resourceVersion = '' } = request.metadata ?? {}
  await ignoreErrors(
    notFoundOrConflict,
    internalPatch(engine, { resource, name, subresource: 'status' }, { metadata: { uid, resourceVersion }, status: outcome(request) }),
  )
}

function isReadyToSign({ status: { conditions = [], certificate = '' } = {} }: CertificateSigningRequest): boolean {
  const has = (conditionType: string): boolean => conditions.some(({ type }) => type === conditionType)
  return certificate === '' && has('Approved') && !has('Denied') && !has('Failed')
}

type StatusChange = (request: CertificateSigningRequest) => object

function issue(
  identity: Identity,
  { signers, seconds: maxSeconds }: SigningOptions,
  { request, now }: { readonly request: CertificateSigningRequest; readonly now: number },
): StatusChange | undefined {
  const { signerName = '', usages = [], expirationSeconds } = request.spec ?? {}
  const rule = signerRules(identity).get(signerName)
  const signer = signers.get(signerName)
  if (rule === undefined || signer === undefined) return undefined
  try {
    const requested = readCertificateRequest(request.spec?.request ?? '')
    const publicKey = verifiedKey(requested)
    const problem = rule.problemOf(requested, usages)
    if (problem !== undefined) return failed(problem)
    const certificate: Certificate = {
      commonName: requested.commonName,
      organizations: requested.organizations,
      hosts: requested.hosts,
      emails: requested.emails,
      uris: requested.uris,
      use: rule.use,
      signsData: usages.includes('digital signature'),
      enciphersKeys: usages.includes('key encipherment'),
      ...validity({ seconds: secondsFor(expirationSeconds, maxSeconds), now, endMs: signer.endMs }),
    }
    const pem = certifyKey(certificate, publicKey, signer.authority)
    return () => ({ certificate: encodeText(pem) })
  } catch (thrown) {
    if (thrown instanceof SignedDataError) return failed(thrown.message)
    throw thrown
  }
}

function secondsFor(requested: number | undefined, maxSeconds: number): number {
  if (requested === undefined || requested > maxSeconds) return maxSeconds
  return Math.max(minSeconds, requested)
}

interface Lifetime {
  readonly seconds: number
  readonly now: number
  readonly endMs: number
}

/** No certificate outlives the CA certificate. Valid from real time on, because TLS checks real time also if a test kit moves the clock. */
export function validity({ seconds, now, endMs }: Lifetime): { readonly notBefore: number; readonly notAfter: number } {
  if (now >= endMs) throw new Error(`the CA certificate of the signer expired at ${new Date(endMs).toISOString()}; configure another one`)
  const requestedEndMs = now + seconds * 1000 - (seconds < shortSeconds ? 0 : backdateMs)
  return { notBefore: Math.min(now, systemClock.now()) - backdateMs, notAfter: Math.min(requestedEndMs, endMs) }
}

const failed =
  (message: string): StatusChange =>
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

/** Verifies the signature of the request, which proves possession of the private key. */
function verifiedKey({ signed, publicKey, signatureAlgorithm, signature }: CertificateRequest): KeyObject {
  const digest = digests[signatureAlgorithm]
  if (digest === undefined) throw new SignedDataError('the request is signed with an algorithm that is not known')
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
    if (verify(digest, signed, key, signature)) return key
  } catch {
    // Same error as for a wrong signature.
  }
  throw new SignedDataError('the request is not signed with the key that it asks a certificate for')
}

const versionTag = 0xa0

export function readAuthority({ cert, key }: KeyPair): SigningAuthority {
  const [certificate] = readDer(new X509Certificate(cert).raw)
  const [body] = derMembers(certificate)
  const parts = derMembers(body)
  // Optional version, serial number, algorithm, issuer, validity, subject.
  const subject = parts[parts[0]?.tag === versionTag ? 5 : 4]
  if (subject === undefined) throw new DerError('a certificate has no subject')
  return { key, name: der.sequence(Buffer.from(subject.content)) }
}
