// Requests of node agents for their client certificates are approved where whoever asks may have such a certificate without being asked.

import { ApiError } from '../../api/api-error.js'
import type { Identity } from '../../api/identity.js'
import { type AccessAttributes, authorizeWith } from '../../auth/authorize.js'
import { partsOf } from '../../objects/keys.js'
import { leanObject } from '../../objects/lean-object.js'
import { type CertificateRequest, readCertificateRequest, SignedDataError } from '../../resources/certificates/signed-data.js'
import type { CertificateSigningRequest } from '../../resources/certificates/v1.schema.js'
import { timeOf } from '../../schema/scalars.js'
import type { Outcome } from '../kit/keyed-queue.js'
import { KeyedLoop, type LoopParts } from '../kit/loop.js'
import type { Loop } from '../leader-election.js'
import { patchOwn } from '../own-write.js'
import { signerNames, signerRules } from '../signer-rules.js'

export const certificateApproval = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
    name: 'csrapproving',
    backOff: { firstMs: 200, mostMs: 1_000_000 },
    sources: () => {
      const resource = requestsOf(parts)
      if (resource === undefined) return []
      return [{ resource, namespace: '', keyOf: ({ key }, seen) => (seen === 'DELETED' ? undefined : partsOf(resource, key).name) }]
    },
    work: (name) => approve(parts, name),
  })

export const requestsOf = ({ engine, catalogs }: LoopParts) =>
  catalogs.current.find(engine.identity.group({ stem: 'certificates' }), 'v1', 'certificatesigningrequests')

/** Who may have which certificate is known by these two rights, the first for the own one, the second for any. */
const cases = [
  {
    subresource: 'selfnodeclient',
    isMeant: (username: string, { commonName }: CertificateRequest) => username === commonName,
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  },
  {
    subresource: 'nodeclient',
    isMeant: () => true,
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  },
] as const

async function approve(parts: LoopParts, name: string): Promise<Outcome> {
  const { engine } = parts
  const resource = requestsOf(parts)
  const stored = resource && engine.store.read({ resource, namespace: '', name })
  const request = resource && stored && (leanObject(stored, resource) as CertificateSigningRequest)
  if (resource === undefined || request === undefined || isDecided(request)) return undefined
  const wanted = nodeClient(engine.identity, request)
  if (wanted === undefined) return undefined
  const { username = '', uid = '', groups = [], extra = {} } = request.spec ?? {}
  const user = { name: username, uid, groups, extra }
  for (const { subresource, isMeant, message } of cases) {
    if (!isMeant(username, wanted)) continue
    const info = accessTo(resource.group, subresource)
    const decision = await authorizeWith(engine.access.authorizers, { user, info })
    if (decision.verdict !== 'allow') continue
    await write(parts, { request, name, message })
    return undefined
  }
  // Whoever is given the right later need not ask again.
  return 'again'
}

function isDecided({ status: { conditions = [], certificate = '' } = {} }: CertificateSigningRequest): boolean {
  return certificate !== '' || conditions.some(({ type }) => type === 'Approved' || type === 'Denied')
}

/** What is asked for, where that is the client certificate of a node agent. */
function nodeClient(identity: Identity, { spec }: CertificateSigningRequest): CertificateRequest | undefined {
  const signer = signerNames(identity).nodeClient
  if (spec?.signerName !== signer) return undefined
  try {
    const wanted = readCertificateRequest(spec.request ?? '')
    return signerRules(identity)
      .get(signer)
      ?.problemOf(wanted, spec.usages ?? []) === undefined
      ? wanted
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

async function write(parts: LoopParts, { request, name, message }: Approval): Promise<void> {
  const { engine } = parts
  const resource = requestsOf(parts)
  if (resource === undefined) return
  const time = timeOf(engine.clock.now())
  const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message, lastUpdateTime: time, lastTransitionTime: time }
  const { uid = '', resourceVersion = '' } = request.metadata ?? {}
  const status = { conditions: [...(request.status?.conditions ?? []), approved] }
  try {
    await patchOwn(engine, { resource, name, subresource: 'approval' }, { metadata: { uid, resourceVersion }, status })
  } catch (thrown) {
    // Somebody changed or deleted it meanwhile, of which the loop hears.
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
}
