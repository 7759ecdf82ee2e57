// Approves CertificateSigningRequests for kubelet client certificates if the requester has the permission (csrapproving).

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import {
  type CertificateRequest,
  readCertificateRequest,
  SignedDataError,
} from '@cluster-apiserver/api/resources/certificates/certificate-der.js'
import type { CertificateSigningRequest } from '@cluster-apiserver/api/resources/certificates/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { type AccessAttributes, authorizeWith } from '../../auth/authorize.js'
import { partsOf } from '../../objects/object-keys.js'
import { type ControllerParts, KeyedController } from '../framework/controller.js'
import { ignoreErrors, internalPatch, notFoundOrConflict } from '../framework/internal-call.js'
import type { Outcome } from '../framework/work-queue.js'
import type { Controller } from '../leader-election/leader-election.js'
import { signerNames, signerRules } from './signer-rules.js'

export const certificateApproval = (parts: ControllerParts): Controller =>
  new KeyedController(parts, {
    name: 'csrapproving',
    backOff: { firstMs: 200, maxMs: 1_000_000 },
    sources: () => {
      const resource = requestsOf(parts)
      if (resource === undefined) return []
      return [
        { resource, namespace: '', keyOf: ({ key }, eventType) => (eventType === 'DELETED' ? undefined : partsOf(resource, key).name) },
      ]
    },
    work: (name) => approve(parts, name),
  })

export const requestsOf = ({ engine, catalogs }: ControllerParts) =>
  catalogs.current.find(engine.identity.group({ stem: 'certificates' }), 'v1', 'certificatesigningrequests')

/** Permission to create this subresource: `selfnodeclient` for the node's own certificate, `nodeclient` for that of any node. */
const approvalRules = [
  {
    subresource: 'selfnodeclient',
    applies: (username: string, { commonName }: CertificateRequest) => username === commonName,
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  },
  {
    subresource: 'nodeclient',
    applies: () => true,
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  },
] as const

async function approve(parts: ControllerParts, name: string): Promise<Outcome> {
  const { engine } = parts
  const resource = requestsOf(parts)
  const stored = resource && engine.store.read({ resource, namespace: '', name })
  const request = resource && stored && (stored.decode(resource) as CertificateSigningRequest)
  if (resource === undefined || request === undefined || isDecided(request)) return undefined
  const requested = readNodeClientRequest(engine.identity, request)
  if (requested === undefined) return undefined
  const { username = '', uid = '', groups = [], extra = {} } = request.spec ?? {}
  const user = { name: username, uid, groups, extra }
  for (const { subresource, applies, message } of approvalRules) {
    if (!applies(username, requested)) continue
    const info = accessTo(resource.group, subresource)
    const decision = await authorizeWith(engine.access.authorizers, { user, info })
    if (decision.verdict !== 'allow') continue
    await writeApproval(parts, { request, name, message })
    return undefined
  }
  // The permission may be granted later.
  return 'again'
}

function isDecided({ status: { conditions = [], certificate = '' } = {} }: CertificateSigningRequest): boolean {
  return certificate !== '' || conditions.some(({ type }) => type === 'Approved' || type === 'Denied')
}

function readNodeClientRequest(identity: Identity, { spec }: CertificateSigningRequest): CertificateRequest | undefined {
  const signer = signerNames(identity).nodeClient
  if (spec?.signerName !== signer) return undefined
  try {
    const requested = readCertificateRequest(spec.request ?? '')
    return signerRules(identity)
      .get(signer)
      ?.problemOf(requested, spec.usages ?? []) === undefined
      ? requested
      : undefined
  } catch (thrown) {
    if (thrown instanceof SignedDataError) return undefined
    throw thrown
  }
}

const accessTo = (group: string, subresource: string): AccessAttributes => ({
  isResource: true,
  verb: 'create',
  group,
  version: '*',
  namespace: '',
  resource: 'certificatesigningrequests',
  subresource,
  name: '',
  path: '',
})

interface Approval {
  readonly request: CertificateSigningRequest
  readonly name: string
  readonly message: string
}

async function writeApproval(parts: ControllerParts, { request, name, message }: Approval): Promise<void> {
  const { engine } = parts
  const resource = requestsOf(parts)
  if (resource === undefined) return
  const time = timeOf(engine.clock.now())
  const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message, lastUpdateTime: time, lastTransitionTime: time }
  const { uid = '', resourceVersion = '' } = request.metadata ?? {}
  const status = { conditions: [...(request.status?.conditions ?? []), approved] }
  await ignoreErrors(
    notFoundOrConflict,
    internalPatch(engine, { resource, name, subresource: 'approval' }, { metadata: { uid, resourceVersion }, status }),
  )
}
